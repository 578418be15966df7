"""MM-CRITIC replies that were made elsewhere: critiques, corrections, preferences and scores.

One row a reply, as JSON lines, JSON, CSV or Parquet, each with the item's `id` and one of:

- `critique`, with `correct` (the claim: true or false, Correct or Error) and `score` (its own
  rating, 0..10);
- `correction`;
- `preference` (a or b, as in the data) with `order` (ab or ba) where that is known;
- `scorer` (who), `of` (critique, correction, reference, paraphrase) and `score` (0..10), with
  `annotator` where the reference was another than the first;
- `reply`: a raw reply as the paper's prompts ask for it (`{"correct", "critique"}`,
  `{"modified answer"}`, `{"choice", "explanation"}`), read here.

`repeat` (0, 1, ...) tells several replies to one item apart.

Reference: MM-CRITIC appendix B (Figures 6-9: what replies look like).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from atom.formats.base import ImportFile
from atom.formats.cells import is_missing, to_name, to_text, to_verdict
from atom.formats.intake.collector import Collector
from atom.formats.rows import Row
from atom.judge.replies.objects import extract_object
from atom.judgebench.base import Replies
from atom.judgebench.mm_critic.ask import (
    MAX_WRITTEN,
    PARAPHRASE_PART,
    REFERENCE_PART,
    score_part,
    whole_score,
)
from atom.judgebench.reading import IMPORTED, Unusable, repeat_of, rows_of
from atom.judgebench.words import count
from atom.records import BenchItem, Sampling, Verdict
from atom.stages.verdicts import blank, unscored

LAYOUT: Final = (
    "each row needs the item's `id` and one of `critique` (with `correct`, `score`), "
    "`correction`, `preference`, `reply`, or `scorer` with `of` and `score`"
)
_KINDS: Final = ("scorer", "critique", "correction", "preference", "reply")
_FITS: Final = {"critique": "basic", "correction": "correction", "compare": "comparison"}
_ERRORS: Final = frozenset({"error", "incorrect answer"})


def read_replies(files: Sequence[ImportFile], items: Sequence[BenchItem], judge: str) -> Replies:
    """Read replies that were made elsewhere.

    Args:
        judge: the name of the judge whose critiques, corrections and preferences these are.

    Returns:
        Verdicts; a reply that can't be read is one, too, without a value. Rows that belong to no
        item, stood before, or score something that isn't there are left out and named.

    Raises:
        FormatError: a file can't be read at all.
    """
    out = Collector("mm_critic replies", "MM-CRITIC", [file.name for file in files])
    by_name = {str(item.data["id"]): item for item in items}
    found: dict[str, Verdict] = {}
    scores: list[tuple[Row, BenchItem]] = []
    for _, row in rows_of(files, out):
        item = by_name.get(to_name(row.values.get("id")) or "")
        if item is None:
            out.skip(row.place, f"the set has no item {str(row.values.get('id'))[:60]!r}")
        elif _has(row, "scorer"):
            scores.append((row, item))
        else:
            _take(out, found, row, item, judge)
    for row, item in scores:
        _take(out, found, row, item, judge)
    report = out.report()
    notes = list(report.notes)
    if report.n_skipped:
        notes.append(f"left out: {count(report.n_skipped, 'row')}")
    return Replies(verdicts=tuple(found.values()), skipped=report.skipped, notes=tuple(notes))


def _take(out: Collector, found: dict[str, Verdict], row: Row, item: BenchItem, judge: str) -> None:
    try:
        for verdict in _verdicts(row, item, judge, found):
            if verdict.key in found:
                raise Unusable(
                    f"item {item.data['id']!r:.60} has such a reply already; tell several apart by "
                    "`repeat`"
                )
            found[verdict.key] = verdict
    except Unusable as why:
        out.skip(row.place, str(why))


def _has(row: Row, name: str) -> bool:
    value = row.values.get(name)
    return not (isinstance(value, str | float | None) and is_missing(value))


def _verdicts(
    row: Row, item: BenchItem, judge: str, found: Mapping[str, Verdict]
) -> Iterator[Verdict]:
    kind = next((name for name in _KINDS if _has(row, name) or (name in row.values and
                 name in ("critique", "correction", "preference", "reply"))), None)  # fmt: skip
    if kind is None:
        raise Unusable(f"it holds no reply: {LAYOUT}")
    if kind == "scorer":
        yield _given(row, item, judge, found)
        return
    values: Mapping[str, object] = row.values
    if kind == "reply":
        text = to_text(row.values["reply"]) or ""
        raw = extract_object(text)
        part = {"basic": "critique", "correction": "correction", "comparison": "compare"}[
            item.data["dimension"]
        ]
        if raw.data is None:
            yield unscored(_blank(row, item, part, judge), raw.problem or "The reply is empty.")
            return
        values = _as_ours(raw.data)
    else:
        part = "compare" if kind == "preference" else kind
        if _FITS[part] != item.data["dimension"]:
            raise Unusable(
                f"a {kind} of an item of the dimension {item.data['dimension']!r} is no use"
            )
    yield _read(part, values, _blank(row, item, part, judge), row)


def _as_ours(data: Mapping[str, object]) -> dict[str, object]:
    """Name what the paper's prompts ask for as this layout does."""
    names = {"modified answer": "correction", "modified_answer": "correction",
             "choice": "preference", "verdict": "correct"}  # fmt: skip
    return {names.get(key, key): value for key, value in data.items()}


def _blank(row: Row, item: BenchItem, part: str, judge: str, order: str = "") -> Verdict:
    repeat = repeat_of(row.values.get("repeat")) or 0
    shown = (to_name(row.values.get("order")) or order).casefold()
    if part != "compare" or shown not in ("ab", "ba"):
        shown = ""
    return blank(
        item.set_id, item.id, part, judge, IMPORTED, Sampling(), repeat=repeat, order=shown
    )


def _read(part: str, values: Mapping[str, object], made: Verdict, row: Row) -> Verdict:
    if part == "compare":
        word = (to_name(values.get("preference")) or "").casefold().strip("[]().")
        if word not in ("a", "b"):
            return unscored(made, f"The preference is {word[:40]!r}, not a or b.")
        if "reply" in row.values and made.order == "ba":
            word = "b" if word == "a" else "a"
        return made.model_copy(update={"state": "scored", "label": word})
    text = (to_text(values.get(part)) or "").strip()[:MAX_WRITTEN]
    if part == "correction":
        if not text:
            return unscored(made, "The correction is empty.")
        return made.model_copy(update={"state": "scored", "text": text})
    claim = _claim(values.get("correct"))
    if not text and not claim:
        return unscored(made, "It has neither a critique nor a claim.")
    rating = whole_score(values.get("score"))
    detail = "" if claim else "The reply has no readable claim."
    return made.model_copy(
        update={"state": "scored", "text": text, "label": claim, "value": rating, "detail": detail}
    )


def _claim(value: object) -> str:
    if isinstance(value, str) and value.strip().casefold() in _ERRORS:
        return "wrong"
    verdict = to_verdict(value)
    if verdict is None or verdict.value not in (0.0, 1.0):
        return ""
    return "right" if verdict.value else "wrong"


def _given(row: Row, item: BenchItem, judge: str, found: Mapping[str, Verdict]) -> Verdict:
    """Read a score that a scorer gave."""
    scorer = (to_name(row.values.get("scorer")) or "")[:200]
    kind = (to_name(row.values.get("of")) or "critique").casefold()
    references = item.data.get("references", [])
    if not references:
        raise Unusable("its item has no reference that a score could be held to")
    writer = (to_name(row.values.get("annotator")) or references[0]["annotator"]).strip()
    number = next((at for at, one in enumerate(references) if one["annotator"] == writer), None)
    if number is None:
        raise Unusable(f"its item has no reference by the annotator {writer[:40]!r}")
    about: dict[str, object] = {"annotator": writer}
    if kind in ("reference", "paraphrase"):
        part = REFERENCE_PART if kind == "reference" else PARAPHRASE_PART
        made = _blank(row, item, part, scorer)
    elif kind in ("critique", "correction"):
        text = _blank(row, item, kind, judge)
        if text.key not in found:
            raise Unusable(f"it scores a {kind} that isn't among these replies")
        about["of"] = text.key
        made = _blank(
            row,
            item,
            score_part(judge, "critique" if kind == "critique" else "correction", number),
            scorer,
        )
    else:
        raise Unusable(
            f"`of` is {kind[:40]!r}; critique, correction, reference, paraphrase are allowed"
        )
    made = made.model_copy(update={"data": {**about, "model": scorer}})
    score = whole_score(row.values.get("score"))
    if score is None:
        return unscored(made, f"The score is {str(row.values.get('score'))[:40]!r}, not 0 to 10.")
    return made.model_copy(update={"state": "scored", "value": score})
