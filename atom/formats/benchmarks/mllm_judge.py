"""MLLM-as-a-Judge: pairs and batches of answers that people ordered, and a judge's scores.

A pair (`answer1`, `answer2`, `human_answer` A, B or C for a tie), a batch (`answers`, `human`
"CABD", best first), or a score (`answer`, `result.judge`) about one picture and instruction.

Reference: MLLM-as-a-Judge (Chen et al., 2024), repository Dongping-Chen/MLLM-Judge.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from atom.formats.base import Format, ImportFile, Reading, ReadOptions
from atom.formats.cells import to_name, to_number, to_text
from atom.formats.intake.batch import GivenLabel
from atom.formats.intake.by_row import SortedRow, names_keys, row_by_row, sort_rows
from atom.formats.intake.collector import Collector
from atom.formats.intake.maker import Maker, SourceQuestion, ranks_of, words
from atom.formats.intake.names import cut
from atom.records import Annotation, PreferenceVerdict

NAME = "mllm-judge"
DATASET = "MLLM-as-a-Judge"
PEOPLE = "people"
"""The annotator: the files don't tell one person from another."""
_LETTERS = "ABCDEFGHIJ"
_KINDS = {
    "pair": ("instruction", "answer1", "answer2"),
    "batch": ("instruction", "answers"),
    "score": ("instruction", "answer", "result"),
}
_EXPECTED = (
    "pairs (`answer1`, `answer2`, `human_answer`), batches (`answers`, `human`) or scores "
    "(`answer`, `result`)"
)
_VERDICTS: Mapping[str, PreferenceVerdict] = {"A": "a", "B": "b", "C": "tie"}
_BRACKETS = re.compile(r"\[\[\s*(\d+(?:\.\d+)?)\s*\]\]")


def sniff(head: bytes, name: str) -> float:
    """Say how likely it is that this is one of its files."""
    if not names_keys(head, "instruction", "image_path", "original_dataset"):
        return 0.0
    kinds = (("answer1", "answer2"), ("answers", "human"), ("answer", "result", "judge"))
    return 0.95 if any(names_keys(head, *keys) for keys in kinds) else 0.0


def read(files: Sequence[ImportFile], options: ReadOptions) -> Reading:
    """Read pairs, batches and scores, in any mixture.

    Raises:
        FormatError: a file has none of them.
    """
    collector = Collector(NAME, options.dataset or DATASET, [file.name for file in files])
    rows = sort_rows(files, collector, _KINDS, _EXPECTED)
    return row_by_row(rows, lambda found, maker: _row(found, options, maker), options, collector)


def _row(found: SortedRow, options: ReadOptions, maker: Maker) -> None:
    row, place = found.row.values, found.row.place
    text, identity = to_text(row["instruction"]), to_name(row.get("id"))
    if text is None or isinstance(row["instruction"], list | dict):
        maker.out.skip(place, "it has no instruction")
        return
    image = to_name(row.get("image_path"))
    source = to_name(row.get("original_dataset"))
    # Files of pairs and of scores number their pictures alike but name them in other folders.
    sample_id = maker.sample(
        place,
        found.file.name,
        identity,
        SourceQuestion(
            text=text,
            pictures=(image.replace("\\", "/").rsplit("/", 1)[-1],) if image else (),
            labels=(("original_dataset", source),) if source else (),
        ),
    )
    if sample_id is None:
        return
    if found.kind == "pair":
        _pair(found, sample_id, maker)
    elif found.kind == "batch":
        _batch(found, sample_id, maker)
    else:
        _score(found, sample_id, options, maker)


def _answer(value: object, place: str, sample_id: str, maker: Maker) -> str | None:
    told = value if isinstance(value, dict) else {}
    name = to_name(told.get("name"))
    if name is None:
        maker.out.skip(place, "an answer names no model")
        return None
    return maker.answer(place, sample_id, name, to_text(told.get("answer")))


def _pair(found: SortedRow, sample_id: str, maker: Maker) -> None:
    row, place = found.row.values, found.row.place
    a = _answer(row["answer1"], place, sample_id, maker)
    b = _answer(row["answer2"], place, sample_id, maker)
    if a is None or b is None:
        return
    if a == b:
        maker.out.skip(place, "both answers are of one model")
        return
    label = _VERDICTS.get((to_name(row.get("human_answer")) or "").upper())
    if label is None:
        maker.out.tally("a pair has no verdict by people (A, B or C)", place, "labels")
        return
    # A pair that stands once with each answer first is one pair: named in one order.
    if b < a:
        a, b = b, a
        label = {"a": "b", "b": "a", "tie": "tie"}[label]  # type: ignore[assignment]
    maker.label(
        place,
        GivenLabel(
            kind="preference", subject_id=Annotation.pair(a, b), annotator=PEOPLE, label=label
        ),
    )


def _batch(found: SortedRow, sample_id: str, maker: Maker) -> None:
    row, place = found.row.values, found.row.place
    answers = row["answers"] if isinstance(row["answers"], list) else []
    ids = [_answer(value, place, sample_id, maker) for value in answers]
    order = (to_name(row.get("human")) or "").upper()
    if sorted(order) != list(_LETTERS[: len(ids)]) or not ids or None in ids:
        maker.out.tally(
            "a batch's ranking doesn't name every answer once; it is left out", place, "labels"
        )
        return
    ranked = [ids[_LETTERS.index(letter)] or "" for letter in order]
    maker.label(
        place,
        GivenLabel(kind="ranking", subject_id=sample_id, annotator=PEOPLE, ranks=ranks_of(ranked)),
    )


def _score(found: SortedRow, sample_id: str, options: ReadOptions, maker: Maker) -> None:
    row, place = found.row.values, found.row.place
    result = row["result"] if isinstance(row["result"], dict) else {}
    response_id = _answer(row["answer"], place, sample_id, maker)
    if response_id is None:
        return
    text = to_text(result.get("analysis")) or ""
    number = to_number(result.get("judge"))
    if number is None:
        given = _BRACKETS.findall(text)
        number = to_number(given[-1]) if given else None
    maker.score(
        place,
        sample_id,
        f"score/{response_id}",
        options.candidates.get(found.file.name) or cut(to_name(result.get("name")) or ""),
        result.get("judge"),
        (1, 5),
        number=number,
        text=words(text),
    )


FORMAT = Format(
    name=NAME,
    about="MLLM-as-a-Judge: pairs and batches that people ordered, and a judge's scores.",
    patterns=("*.jsonl",),
    wanted="files with pairs, batches or scores",
    sniff=sniff,
    read=read,
)
