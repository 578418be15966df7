"""MM-CRITIC's data: critiques, corrections and comparisons to be made, with what they're held to.

The published field names aren't established, so this reads a layout of our own, and anything else
by a column map. One row an item, as JSON lines, JSON, CSV or Parquet:

- all: `id`, `dimension` (basic, correction, comparison; told by the other fields when left out),
  `subset` (core, core_single_image, open, open_single_image), `task_type` (one of eight), `task`,
  `question`, `choices`, `images` (names, data URLs or bytes), `reference_answer`.
- basic: `response`, `model`, `correct` (is its final answer right), `quality` (0..10),
  `reference_critique`, `annotator` (who wrote that), `paraphrase` (the same in other words),
  `more_references` (a list of `{annotator, critique, paraphrase}`).
- correction: `response`, `model`, `quality`, `reference_correction`, `annotator`, `paraphrase`.
- comparison: `response_a`, `response_b`, `model_a`, `model_b`, `quality_a`, `quality_b` (0..10 or
  low, medium, high), `preferred` (a or b; the one of higher quality when left out).

A row with `rubric` and no `question` says by what items of its `task_type` are scored, those of all
types where it names none; an item's own `rubric` goes before. They are the paper's Table 10, with
your own words. Files with "rubric" in their name are read first.

A column map says for a field of ours which column of the file holds it, or `=core` for a value
that all rows share.

Reference: MM-CRITIC 3, Tables 5-7 and 10, appendix B; METHODS A17.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, Literal

from atom.errors import FormatError, UsageError
from atom.formats.base import ImportFile
from atom.formats.cells import (
    is_missing,
    to_choices,
    to_list,
    to_name,
    to_number,
    to_text,
    to_verdict,
)
from atom.formats.intake.collector import Collector
from atom.formats.pictures import PICTURE_SUFFIXES
from atom.formats.rows import Row
from atom.judgebench.base import LoadedItems, LoadOptions
from atom.judgebench.mm_critic.measures import BandScheme, band
from atom.judgebench.reading import ItemReader, Unusable
from atom.records import BenchItem, PictureSlot, content_id

NAME: Final = "mm_critic"
Dimension = Literal["basic", "correction", "comparison"]
DIMENSIONS: Final[tuple[Dimension, ...]] = ("basic", "correction", "comparison")
SUBSETS: Final[Mapping[str, str]] = {
    "core": "Core",
    "core_single_image": "Core, single image",
    "open": "Open",
    "open_single_image": "Open, single image",
}
"""Sub-datasets as published tables name them, and in words."""
TASK_TYPES: Final = (
    "perception",
    "planning",
    "knowledge",
    "information_extraction",
    "mathematics",
    "coding",
    "science",
    "metric",
)
"""The eight task types, in the order of the paper's tables."""
PAIRINGS: Final[Mapping[tuple[str, str], str]] = {
    ("low", "medium"): "G1",
    ("medium", "high"): "G2",
    ("low", "high"): "G3",
}
"""Quality bands of two responses, the worse first, and the paper's name for such pairs."""
PAIRING_WORDS: Final[Mapping[str, str]] = {
    "G1": "low and medium",
    "G2": "medium and high",
    "G3": "low and high",
}
FIELDS: Final = (
    "id",
    "dimension",
    "subset",
    "task_type",
    "task",
    "question",
    "choices",
    "images",
    "reference_answer",
    "response",
    "model",
    "correct",
    "quality",
    "reference_critique",
    "reference_correction",
    "annotator",
    "paraphrase",
    "more_references",
    "response_a",
    "response_b",
    "model_a",
    "model_b",
    "quality_a",
    "quality_b",
    "preferred",
    "rubric",
)
LAYOUT: Final = (
    "each row needs `id`, `question` and either `response` with `correct` or `reference_critique` "
    "(basic), `response` with `reference_correction` (correction), or `response_a`, `response_b`, "
    "`quality_a`, `quality_b` (comparison); name other columns in a column map, for example "
    '{"question": "query", "subset": "=core"}'
)
_MAX_NAME = 500
_MAX_RUBRIC: Final = 4000
_ALL: Final = "all"
"""Stands for every task type where a rubric names none."""
_WORDS: Final = ("low", "medium", "high")
_OTHER_WORDS: Final[Mapping[str, str]] = {"med": "medium", "mid": "medium"}
_SAME_DIMENSION: Final[Mapping[str, Dimension]] = {
    "basic": "basic",
    "basic_critique": "basic",
    "correction": "correction",
    "correction_critique": "correction",
    "comparison": "comparison",
    "comparative": "comparison",
    "comparative_critique": "comparison",
}
_SAME_SUBSET: Final[Mapping[str, str]] = {
    "core_single": "core_single_image",
    "open_single": "open_single_image",
}
_SAME_SIDE: Final[Mapping[str, str]] = {
    "a": "a", "b": "b", "response_a": "a", "response_b": "b", "1": "a", "2": "b",
}  # fmt: skip
_SAME_TYPE: Final[Mapping[str, str]] = {
    "information_extract": "information_extraction",
    "math": "mathematics",
    "metrics": "metric",
}
_JOINTS = re.compile(r"[\s\-/,]+")
_ERROR_WORDS: Final = frozenset({"error", "incorrect answer"})


def plain_key(text: str) -> str:
    """Return a name in lower case with underscores: `Core Single-image` → `core_single_image`."""
    return _JOINTS.sub("_", text.strip().casefold()).strip("_")


def quality_band(quality: object, scheme: BandScheme) -> str:
    """Return the band of a quality as items keep it: a number's by the scheme, a word as it is."""
    if isinstance(quality, str):
        return quality
    return band(quality, scheme) if isinstance(quality, int) else ""


def pairing(item: BenchItem, scheme: BandScheme) -> str:
    """Return which quality pairing a comparison is of: G1, G2, G3; else empty.

    Reference:
        MM-CRITIC 3.4 and Table 4.
    """
    found = [quality_band(item.data[f"quality_{side}"], scheme) for side in "ab"]
    better = str(item.data["preferred"])
    worse, best = found if better == "b" else reversed(found)
    return PAIRINGS.get((worse, best), "")


def load(files: Sequence[ImportFile], options: LoadOptions) -> LoadedItems:
    """Read MM-CRITIC's items.

    Args:
        files: any of them together.
        options: set, column map, pictures, limit.

    Returns:
        The items, in the files' order. What can't be used is named, row by row.

    Raises:
        UsageError: the column map names a field that there is none of.
        FormatError: a file can't be read at all, or no row has the columns that are needed.
    """
    unknown = [name for name in options.columns if name not in FIELDS]
    if unknown:
        raise UsageError(f"the column map names {unknown[0]!r}; MM-CRITIC has {', '.join(FIELDS)}")
    out = Collector(NAME, "MM-CRITIC", [file.name for file in files])
    reader = _Reader(options, out)
    reader.read(sorted(files, key=lambda file: "rubric" not in file.name.casefold()))
    columns = reader.columns
    there = {options.columns.get(name, name) for name in ("id", "question")}
    lacking = [name for name in there if not name.startswith("=") and name not in columns]
    if columns and lacking:
        raise FormatError(
            f"no row has the column {sorted(lacking)[0]!r} (there are "
            f"{', '.join(list(columns)[:12])}); MM-CRITIC's published field names aren't known, "
            f"so {LAYOUT}"
        )
    return reader.with_rubrics(reader.finish())


class _Reader(ItemReader):
    """Turns rows into items."""

    def __init__(self, options: LoadOptions, out: Collector) -> None:
        super().__init__(options, out)
        self.columns: dict[str, None] = {}
        self._seen: dict[str, str] = {}
        self._turns: Counter[str] = Counter()
        self._rubrics: dict[str, str] = {}

    def _cell(self, row: Row, name: str) -> object:
        named = self._options.columns.get(name, name)
        if named.startswith("="):
            return named[1:]
        value = row.values.get(named)
        return None if isinstance(value, str | float | None) and is_missing(value) else value

    def _text(self, row: Row, name: str) -> str:
        return (to_text(self._cell(row, name)) or "").strip()

    def with_rubrics(self, loaded: LoadedItems) -> LoadedItems:
        """Give every item of a set that has rubrics its own: the scorer is asked alike of all."""
        own = any(item.data["rubric"] for item in loaded.items)
        there = bool(self._rubrics) or own

        def given(item: BenchItem) -> dict[str, object]:
            data = dict(item.data)
            rubric = data.pop("rubric") or "\n\n".join(
                self._rubrics[name] for name in (_ALL, data["task_type"]) if name in self._rubrics
            )
            return {**data, "rubric": rubric} if there else data

        items = tuple(one.model_copy(update={"data": given(one)}) for one in loaded.items)
        if not there:
            return replace(loaded, items=items)
        n = sum(bool(one.data["rubric"]) for one in items)
        note = f"{n:,} of {len(items):,} items have a rubric, which the scorer is shown"
        unused = sorted(set(self._rubrics) - {_ALL} - {one.data["task_type"] for one in items})
        more = (f"rubrics of task types without an item: {', '.join(unused)}",) if unused else ()
        return replace(loaded, items=items, notes=(*loaded.notes, note, *more))

    def _keep_rubric(self, row: Row, text: str) -> None:
        kind = plain_key(to_name(self._cell(row, "task_type")) or "")[:80]
        kind = _SAME_TYPE.get(kind, kind) or _ALL
        if kind in self._rubrics:
            text = f"{self._rubrics[kind]}\n\n{text}"
        self._rubrics[kind] = text[:_MAX_RUBRIC]

    def _item(self, row: Row) -> BenchItem | None:
        rubric = self._text(row, "rubric")[:_MAX_RUBRIC]
        if rubric and not self._text(row, "question"):
            self._keep_rubric(row, rubric)
            return None
        if len(self.columns) < _MAX_NAME:
            self.columns.update(dict.fromkeys(row.values))
        source = (to_name(self._cell(row, "id")) or "")[:_MAX_NAME]
        if not source:
            raise Unusable("it has no `id`")
        if source in self._seen:
            raise Unusable(f"item {source!r:.60} stood before, at {self._seen[source]}")
        dimension = self._dimension(row)
        question = self._text(row, "question")
        if not question:
            raise Unusable(f"item {source!r:.60} has no `question`")
        read = {"basic": self._basic, "correction": self._correction, "comparison": self._pair}
        choices = to_choices(self._cell(row, "choices"))
        data: dict[str, object] = {
            "id": source,
            "dimension": dimension,
            "subset": self._subset(row),
            "task_type": self._task_type(row),
            "task": self._text(row, "task")[:_MAX_NAME],
            "question": question,
            "choices": list(choices.texts) if choices else [],
            "reference_answer": self._text(row, "reference_answer"),
            "rubric": rubric,
            **read[dimension](row),
        }
        slots = self._slots(row)
        self._seen[source] = row.place
        return BenchItem(
            set_id=self._options.set_id,
            id=content_id("bench_item", self._options.set_id, source),
            position=len(self.items),
            pictures=slots,
            data=data,
        )

    def _dimension(self, row: Row) -> Dimension:
        named = to_name(self._cell(row, "dimension"))
        if named is not None:
            known = _SAME_DIMENSION.get(plain_key(named))
            if known is None:
                raise Unusable(
                    f"`dimension` is {named[:40]!r}; {', '.join(DIMENSIONS)} are allowed"
                )
            return known
        if self._text(row, "response_a") and self._text(row, "response_b"):
            return "comparison"
        if self._text(row, "reference_correction") and not self._text(row, "reference_critique"):
            return "correction"
        return "basic"

    def _subset(self, row: Row) -> str:
        key = plain_key(to_name(self._cell(row, "subset")) or "")[:80]
        key = _SAME_SUBSET.get(key, key)
        if key and key not in SUBSETS:
            self._out.tally(
                f"`subset` is none of {', '.join(SUBSETS)}; it is kept as it is", row.place
            )
        return key

    def _task_type(self, row: Row) -> str:
        key = plain_key(to_name(self._cell(row, "task_type")) or "")[:80]
        key = _SAME_TYPE.get(key, key)
        if key not in TASK_TYPES:
            self._out.tally(
                "`task_type` is missing or none of the eight; such items have rows of their own",
                row.place,
            )
        return key or "untyped"

    def _response(self, row: Row, name: str = "response") -> str:
        text = self._text(row, name)
        if not text:
            raise Unusable(f"it has no text in `{name}`")
        return text

    def _quality(self, row: Row, name: str) -> int | str | None:
        value = self._cell(row, name)
        if value is None:
            return None
        word = plain_key(to_name(value) or "")
        word = _OTHER_WORDS.get(word, word)
        if word in _WORDS:
            return word
        number = to_number(value)
        if number is None or not number.is_integer() or not 0 <= number <= 10:
            raise Unusable(
                f"`{name}` is {str(value)[:40]!r}; a whole number from 0 to 10, or low, medium or "
                "high, is expected"
            )
        return int(number)

    def _correct(self, row: Row) -> bool | None:
        value = self._cell(row, "correct")
        if value is None:
            return None
        if isinstance(value, str) and value.strip().casefold() in _ERROR_WORDS:
            return False
        verdict = to_verdict(value)
        if verdict is None or verdict.value not in (0.0, 1.0):
            raise Unusable(f"`correct` is {str(value)[:40]!r}; true or false is expected")
        return verdict.value == 1.0

    def _references(self, row: Row, name: str) -> list[dict[str, str]]:
        found: list[dict[str, str]] = []
        text = self._text(row, name)
        if text:
            found.append(
                {
                    "annotator": self._text(row, "annotator")[:_MAX_NAME],
                    "text": text,
                    "paraphrase": self._text(row, "paraphrase"),
                }
            )
        for more in to_list(self._cell(row, "more_references")) or []:
            text = (to_text(more.get("critique")) or "").strip() if isinstance(more, dict) else ""
            if not isinstance(more, dict) or not text:
                self._out.tally("an entry of `more_references` has no `critique`", row.place)
                continue
            found.append(
                {
                    "annotator": (to_name(more.get("annotator")) or "")[:_MAX_NAME],
                    "text": text,
                    "paraphrase": (to_text(more.get("paraphrase")) or "").strip(),
                }
            )
        return found

    def _basic(self, row: Row) -> dict[str, object]:
        references = self._references(row, "reference_critique")
        correct = self._correct(row)
        if correct is None and not references:
            raise Unusable("it has neither `correct` nor `reference_critique` to be held to")
        if correct is None:
            self._out.tally("no `correct`: only the critique's text is scored", row.place)
        if not references:
            self._out.tally("no `reference_critique`: only the claim is scored", row.place)
        return {
            "response": self._response(row),
            "model": self._text(row, "model")[:_MAX_NAME],
            "correct": correct,
            "quality": self._quality(row, "quality"),
            "references": references,
        }

    def _correction(self, row: Row) -> dict[str, object]:
        references = self._references(row, "reference_correction")
        if not references:
            raise Unusable("it has no `reference_correction` to be held to")
        quality = self._quality(row, "quality")
        if quality_band(quality, "analysis") == "high":
            self._out.tally(
                "a response of high quality is to be corrected (the paper takes low and medium)",
                row.place,
            )
        return {
            "response": self._response(row),
            "model": self._text(row, "model")[:_MAX_NAME],
            "quality": quality,
            "references": references,
        }

    def _pair(self, row: Row) -> dict[str, object]:
        first, second = self._response(row, "response_a"), self._response(row, "response_b")
        if first == second:
            raise Unusable("`response_a` and `response_b` are the same text")
        a, b = self._quality(row, "quality_a"), self._quality(row, "quality_b")
        if a is None or b is None:
            raise Unusable("it lacks `quality_a` or `quality_b`, which say what pairing it is of")
        better = _better(a, b)
        if better is None:
            raise Unusable(f"both responses are of quality {a!r}: neither is better")
        named = to_name(self._cell(row, "preferred"))
        if named is not None and _SAME_SIDE.get(plain_key(named)) is None:
            raise Unusable(f"`preferred` is {named[:40]!r}; a or b is expected")
        if named is not None and _SAME_SIDE[plain_key(named)] != better:
            raise Unusable(f"`preferred` is {named!r}, but the qualities are {a!r} and {b!r}")
        group = " ".join(sorted(quality_band(one, "analysis") for one in (a, b)))
        self._turns[group] += 1
        shown_first = better if self._turns[group] % 2 else "ab".replace(better, "")
        return {
            "response_a": first,
            "response_b": second,
            "model_a": self._text(row, "model_a")[:_MAX_NAME],
            "model_b": self._text(row, "model_b")[:_MAX_NAME],
            "quality_a": a,
            "quality_b": b,
            "preferred": better,
            "turn": "ab" if shown_first == "a" else "ba",
        }

    def _slots(self, row: Row) -> tuple[PictureSlot, ...]:
        cells = _picture_items(self._cell(row, "images"))
        slots = tuple(slot for cell in cells if (slot := self._slot(cell)) is not None)
        if not slots:
            self._out.tally("no picture (`images`)", row.place)
        return slots


def _better(a: int | str, b: int | str) -> str | None:
    """Return the side of higher quality; None where neither can be told to be."""
    if isinstance(a, int) and isinstance(b, int):
        return None if a == b else "a" if a > b else "b"
    places = [_WORDS.index(quality_band(one, "analysis")) for one in (a, b)]
    return None if places[0] == places[1] else "a" if places[0] > places[1] else "b"


def _picture_items(value: object) -> list[object]:
    if value is None:
        return []
    items = to_list(value)
    if items is not None:
        return list(items)
    if isinstance(value, str) and ";" in value and not value.startswith("data:"):
        parts = [part.strip() for part in value.split(";") if part.strip()]
        if all(part.lower().endswith(PICTURE_SUFFIXES) for part in parts):
            return list(parts)
    return [value]
