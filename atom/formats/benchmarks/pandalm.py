"""PandaLM's test set: pairs of answers, three people's labels a pair, and judges' verdicts.

`testset-v1.json` holds the pairs and labels (0 tie, 1, 2); files such as
`gpt-3.5-turbo-testset-v1.json` hold one judge's verdicts and may be given with it, not alone. A
verdict that is no verdict ("garbage") stays an unscored vote: how it is counted is for the analysis
to say. Each pair was judged in one order.

Reference: PandaLM (Wang et al., 2024), repository WeOpenML/PandaLM, `data/`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from atom.errors import FormatError
from atom.formats.base import Format, ImportFile, Reading, ReadOptions
from atom.formats.cells import to_name, to_text
from atom.formats.intake.batch import GivenLabel
from atom.formats.intake.by_row import Limit, SortedRow, in_batches, names_keys, sort_rows
from atom.formats.intake.collector import Collector
from atom.formats.intake.maker import Maker, SourceQuestion, words
from atom.formats.intake.names import cut
from atom.records import Annotation, PreferenceVerdict

NAME = "pandalm"
DATASET = "PandaLM"
_EXPECTED = (
    "pairs (`response1`, `response2`, `annotator1`) or a judge's verdicts (`idx`, `*_result`)"
)
_KINDS = {"pair": ("idx", "response1", "response2", "instruction"), "verdict": ("idx",)}
_RESULT = re.compile(r"(.+)_result\Z")
_VERDICTS: Mapping[str, PreferenceVerdict] = {"0": "tie", "tie": "tie", "1": "a", "2": "b"}


def sniff(head: bytes, name: str) -> float:
    """Say how likely it is that this is one of PandaLM's files."""
    if names_keys(head, "idx", "response1", "response2", "annotator1"):
        return 0.95
    text = head[:4096].decode("utf-8", "replace")
    return 0.9 if re.search(r'"idx":\s*\d+,\s*"\w+_result"', text) else 0.0


def read(files: Sequence[ImportFile], options: ReadOptions) -> Reading:
    """Read pairs and verdicts together.

    Raises:
        FormatError: a file is neither, or there are no pairs.
    """
    collector = Collector(NAME, options.dataset or DATASET, [file.name for file in files])
    pairs: list[SortedRow] = []
    verdicts: dict[str, list[SortedRow]] = {}
    for found in sort_rows(files, collector, _KINDS, _EXPECTED):
        if found.kind == "pair":
            pairs.append(found)
        else:
            verdicts.setdefault(to_name(found.row.values["idx"]) or "", []).append(found)
    if not pairs:
        raise FormatError(
            f"{files[0].name!r} holds a judge's verdicts without the answers that they are about; "
            "name testset-v1.json as well"
        )
    maker = Maker(collector, options)

    def end(whole: bool) -> None:
        known = {to_name(found.row.values["idx"]) or "" for found in pairs}
        for name, rows in verdicts.items() if whole else ():
            if name not in known:
                collector.skip(rows[0].row.place, f"no pair has the idx {cut(name, 60)!r}")

    return Reading(
        in_batches(
            pairs,
            lambda found: _pair(found, verdicts, options, maker),
            Limit(options, collector, "pairs"),
            end=end,
        ),
        collector,
    )


def _pair(
    found: SortedRow,
    verdicts: Mapping[str, Sequence[SortedRow]],
    options: ReadOptions,
    maker: Maker,
) -> None:
    row, place = found.row.values, found.row.place
    identity = to_name(row["idx"])
    texts = to_text(row["response1"]), to_text(row["response2"])
    asked = [to_text(row["instruction"]), to_text(row.get("input"))]
    question = "\n\n".join(text for text in asked if text is not None)
    if identity is None or not question:
        maker.out.skip(place, "it has no idx, or neither an instruction nor an input")
        return
    about = to_name(row.get("motivation_app"))
    sample_id = maker.sample(
        place,
        found.file.name,
        identity,
        SourceQuestion(
            text=question,
            cluster=question,
            labels=(("motivation_app", about),) if about else (),
        ),
    )
    if sample_id is None:
        return
    one, sign, two = (to_name(row.get("cmp_key")) or "").partition("_")
    if not sign or not one or not two or one == two:
        one, two = "answer 1", "answer 2"
        maker.out.tally("`cmp_key` doesn't name two models", place)
    a = maker.answer(place, sample_id, one, texts[0])
    b = maker.answer(place, sample_id, two, texts[1])
    if a is None or b is None:
        return
    _labels(found, (a, b), maker)
    for verdict in verdicts.get(identity, ()):
        _vote(verdict, sample_id, (a, b), options, maker)


def _labels(found: SortedRow, pair: tuple[str, str], maker: Maker) -> None:
    for key, value in found.row.values.items():
        if not key.startswith("annotator"):
            continue
        label = _VERDICTS.get((to_name(value) or "").casefold())
        if label is None:
            maker.out.tally(f"{cut(key, 60)}'s label is none of 0, 1, 2", found.row.place, "labels")
            continue
        maker.label(
            found.row.place,
            GivenLabel(
                kind="preference",
                subject_id=Annotation.pair(*pair),
                annotator=cut(key),
                label=label,
            ),
        )


def _vote(
    found: SortedRow, sample_id: str, pair: tuple[str, str], options: ReadOptions, maker: Maker
) -> None:
    row, place = found.row.values, found.row.place
    key = next((key for key in row if _RESULT.match(key)), None)
    said = None if key is None else to_name(row[key])
    prefix = "" if key is None else key.removesuffix("_result")
    judge = options.candidates.get(found.file.name) or re.sub(r"-testset.*", "", found.file.stem)
    verdict = _VERDICTS.get((said or "").casefold())
    detail = ""
    if verdict is None:
        detail = "the file holds no verdict" if said is None else f"the verdict is {said[:80]!r}"
        maker.out.tally(f"a verdict of {judge} can't be read; it stays unscored", place)
    maker.prefer(
        place,
        sample_id,
        pair,
        judge,
        verdict,
        reason=words(row.get(f"{prefix}_reason")),
        detail=detail,
    )


FORMAT = Format(
    name=NAME,
    about="PandaLM: pairs of answers, three people's labels a pair, and judges' verdicts.",
    patterns=("*testset-v1.json",),
    wanted="testset-v1.json and files with verdicts",
    sniff=sniff,
    read=read,
)
