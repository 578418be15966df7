"""VL-RewardBench's files: pairs of answers to a question about a picture, and which one is better.

Read are the published rows (`id, query, response, image, human_ranking, ...`, as JSON, JSON lines,
Parquet or CSV), the repository's `data.jsonl` (`image_path`, `human_error_analysis`), and tables
that name things otherwise, by a column map.

Reference: VL-RewardBench 2 and Table 1; METHODS A13-A16.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from atom.errors import UsageError
from atom.formats.base import ImportFile
from atom.formats.cells import is_missing, to_list, to_name, to_number, to_text
from atom.formats.intake.collector import Collector
from atom.formats.rows import Row
from atom.judgebench.base import LoadedItems, LoadOptions
from atom.judgebench.reading import ItemReader, Unusable
from atom.judgebench.words import count
from atom.records import BenchItem, PictureSlot, content_id

NAME: Final = "vl_rewardbench"
Side = Literal["a", "b"]
"""An answer by its place in the file: a = the first."""

CATEGORIES: Final = ("general", "hallucination", "reasoning")
CHOSEN: Final = "chosen for what these judges fail at:"
"""How the note of such a set begins."""
_PREFIXES: Final = {
    "rlaif": "hallucination",
    "rlhf": "hallucination",
    "hallucination": "hallucination",
    "mathverse": "reasoning",
    "mmmu": "reasoning",
}
"""Category by the id's text before its first `_` or `-`; anything else is general."""
_FOLDERS: Final = {
    "vlfeedback": "general",
    "wildvision-battle": "general",
    "povid": "hallucination",
    "rlhf-v": "hallucination",
    "rlaif-v": "hallucination",
    "reasoning_tasks": "reasoning",
}
"""Category by the picture's folder, where the rows name one: only a check on the rule above."""

COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "id": ("id",),
    "query": ("query",),
    "response": ("response",),
    "response_a": ("response_a",),
    "response_b": ("response_b",),
    "chosen": ("chosen",),
    "rejected": ("rejected",),
    "image": ("image", "image_path"),
    "ranking": ("human_ranking", "ranking"),
    "better": ("better",),
    "category": (),
    "tags": ("human_error_analysis",),
    "models": ("models",),
    "source": ("query_source",),
    "ground_truth": ("ground_truth",),
    "rationale": ("rationale",),
    "chosen_by": ("chosen_by",),
}
"""Our field → the published columns that hold it, the first one there counts. A column map may name
others: a pair is `response`, or `response_a` and `response_b`, or `chosen` and `rejected`.
`chosen_by` is ours: the judges that a pair was chosen for failing at, whom it can't rank."""

ERROR_TYPES: Final = ("existence", "recognition", "attribute", "counting", "other")
_KINDS: Final = (
    ("hallucination", "existence"),
    ("existence", "existence"),
    ("recognition", "recognition"),
    ("attribute", "attribute"),
    ("visual attribute", "attribute"),
    ("counting", "counting"),
)
_KIND_DETAIL = re.compile(r"recognition\s*\(\s*(\w{1,20})")
_FIRST_WORD = re.compile(r"[_-]")
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\s\u3040-\u30ff\u3400-\u9fff]+")
_PICTURE_MARK = re.compile(r"<image>\n?")
_FIRST: Final = frozenset({"a", "1", "first", "response_a", "model_a", "answer 1"})
_SECOND: Final = frozenset({"b", "2", "second", "response_b", "model_b", "answer 2"})
_DIGITS = re.compile(r"[\[(]?\s*([01])(?:\.0*)?[\s,;]+([01])(?:\.0*)?\s*[\])]?")


def category_of(source_id: str) -> str:
    """Return an item's category by its id, as the released code groups them.

    Reference:
        VL-RewardBench 2.1; its evaluation code.
    """
    return _PREFIXES.get(_FIRST_WORD.split(source_id.strip(), 1)[0].lower(), "general")


def error_tags(value: object) -> tuple[str, ...]:
    """Read the error types that people gave a pair's worse answer.

    Args:
        value: a list of words, or one written as text; free words after a comma are left out.

    Returns:
        Types of `ERROR_TYPES`, each once, and `recognition: text` and the like beside
        `recognition` where the file says what wasn't recognised.
    """
    found: dict[str, None] = {}
    items = to_list(value)
    for item in [value] if items is None else items:
        text = (to_name(item) or "").lower()
        if not text or text in ("none", "null"):
            continue
        kind = next((kind for start, kind in _KINDS if text.startswith(start)), "other")
        found[kind] = None
        detail = _KIND_DETAIL.match(text)
        if detail:
            found[f"recognition: {detail[1]}"] = None
    return tuple(found)


def item_key(source_id: str, query: str, responses: Sequence[str]) -> str:
    """Name a pair as the released code tells pairs apart: by id, question and both answers.

    An id alone isn't enough: nothing keeps two pairs from sharing one.
    """
    return content_id("vl_rewardbench pair", source_id, query, sorted(responses))


def chosen_by(items: Sequence[BenchItem]) -> tuple[str, ...]:
    """Return the judges that pairs were chosen for failing at, by name; most sets have none."""
    return tuple(dict.fromkeys(name for one in items for name in one.data.get("chosen_by", ())))


def plain_query(text: str) -> str:
    """Return a question without the mark for the picture's place, which the judge doesn't need."""
    return _PICTURE_MARK.sub("", text).strip()


def load(files: Sequence[ImportFile], options: LoadOptions) -> LoadedItems:
    """Read VL-RewardBench's rows.

    Args:
        files: any of them together; a pair that stood before is left out.
        options: set, column map, pictures, limit.

    Returns:
        The pairs, in the files' order. What can't be used is named, row by row.

    Raises:
        UsageError: the column map names a field that there is none of.
        FormatError: a file can't be read at all.
    """
    unknown = [name for name in options.columns if name not in COLUMNS]
    if unknown:
        raise UsageError(
            f"the column map names {unknown[0]!r}; VL-RewardBench has {', '.join(COLUMNS)}"
        )
    out = Collector(NAME, "VL-RewardBench", [file.name for file in files])
    reader = _Reader(options, out)
    reader.read(files)
    return reader.finish()


@dataclass(frozen=True, kw_only=True)
class _Pair:
    """A row's two answers, in the file's order."""

    responses: tuple[str, str]
    better: Side


class _Reader(ItemReader):
    """Turns rows into items."""

    noun = "pair"

    def __init__(self, options: LoadOptions, out: Collector) -> None:
        super().__init__(options, out)
        self._seen: dict[str, str] = {}
        self._ids: dict[str, str] = {}
        self._repeats = 0

    def finish(self) -> LoadedItems:
        """Return what came of it all."""
        if self._repeats:
            self._out.note(
                f"{count(self._repeats, 'row')} with a pair that stood before (older revisions "
                "hold each pair twice, as `train` and `test`); each pair is kept once"
            )
        if judges := chosen_by(self.items):
            self._out.note(f"{CHOSEN} {', '.join(judges)}: it can't rank them, and more votes "
                           "make them worse on it")  # fmt: skip
        there = {str(item.data["category"]) for item in self.items}
        missing = [name for name in CATEGORIES if name not in there]
        if self.items and missing:
            self._out.note(
                f"there is no item of {' or '.join(missing)}: the macro average is of "
                f"{count(len(there), 'category', 'categories')}"
            )
        return super().finish()

    def _cell(self, row: Row, name: str) -> object:
        named = self._options.columns.get(name)
        for column in (named,) if named else COLUMNS[name]:
            value = row.values.get(column)
            if not (isinstance(value, str | float | None) and is_missing(value)):
                return value
        return None

    def _item(self, row: Row) -> BenchItem:
        source_id = to_name(self._cell(row, "id"))
        if source_id is None:
            raise Unusable("it has no id")
        query = to_text(self._cell(row, "query"))
        if query is None:
            raise Unusable(f"pair {source_id!r:.60} has no question (`query`)")
        pair = self._pair(row, source_id)
        key = item_key(source_id, query, pair.responses)
        if key in self._seen:
            self._repeats += 1
            raise Unusable(f"pair {source_id!r:.60} stood before, at {self._seen[key]}")
        slots = self._slots(row, source_id)
        self._seen[key] = row.place
        if self._ids.setdefault(source_id, row.place) != row.place:
            self._out.tally("another pair has the same id; both are kept", row.place)
        return BenchItem(
            set_id=self._options.set_id,
            id=content_id("bench_item", self._options.set_id, key),
            position=len(self.items),
            pictures=slots,
            data={
                "id": source_id,
                "query": plain_query(query),
                "responses": list(pair.responses),
                "better": pair.better,
                "category": self._category(row, source_id),
                "tags": list(error_tags(self._cell(row, "tags"))),
                "key": key,
                **self._more(row),
            },
        )

    def _more(self, row: Row) -> dict[str, object]:
        """Return what else is known of a pair; no judge is shown it."""
        found: dict[str, object] = {}
        names = to_list(self._cell(row, "models"))
        if names is not None and len(names) == 2:
            found["models"] = [to_name(name) or "" for name in names]
        judges = to_list(self._cell(row, "chosen_by"))
        if judges:
            found["chosen_by"] = [name for one in judges[:20] if (name := to_name(one))]
        for name in ("source", "ground_truth", "rationale"):
            text = to_text(self._cell(row, name))
            if text is not None and not text.startswith("placeholder"):
                found[name] = text
        return found

    def _category(self, row: Row, source_id: str) -> str:
        named = to_name(self._cell(row, "category"))
        if named is not None:
            return named.lower()
        found = category_of(source_id)
        cell = self._cell(row, "image")
        path = cell.get("path") if isinstance(cell, dict) else cell
        parts = path.lower().split("/") if isinstance(path, str) and len(path) < 1000 else []
        folder = next((_FOLDERS[part] for part in parts if part in _FOLDERS), found)
        if folder != found:
            self._out.tally(
                "the picture's folder and the id stand for different categories; the id counts",
                row.place,
            )
        return found

    def _pair(self, row: Row, source_id: str) -> _Pair:
        name = f"pair {source_id!r:.60}"
        chosen, rejected = (to_text(self._cell(row, key)) for key in ("chosen", "rejected"))
        if chosen is not None and rejected is not None:
            return _checked(name, (chosen, rejected), "a")
        value = self._cell(row, "response")
        if value is None:
            texts = [to_text(self._cell(row, key)) for key in ("response_a", "response_b")]
        else:
            listed = to_list(value)
            if listed is None:
                raise Unusable(f"{name}: `response` is no list of two answers")
            if len(listed) != 2:
                raise Unusable(f"{name} has {len(listed)} answers (`response`), not two")
            texts = [item if isinstance(item, str) else None for item in listed]
        if any(is_missing(text) for text in texts):
            raise Unusable(f"{name} doesn't have two answers with text (`response`)")
        return _checked(name, (str(texts[0]), str(texts[1])), self._better(row, name))

    def _better(self, row: Row, name: str) -> Side:
        value = self._cell(row, "ranking")
        if value is not None:
            ranks = _ranks(value)
            if ranks == (0, 1):
                return "a"
            if ranks == (1, 0):
                return "b"
            shown = str(value)[:40]
            raise Unusable(f"{name}: `human_ranking` is {shown!r}; [0, 1] or [1, 0] is expected")
        word = (to_name(self._cell(row, "better")) or "").lower()
        if word in _FIRST:
            return "a"
        if word in _SECOND:
            return "b"
        if word:
            raise Unusable(f"{name}: `better` is {word!r:.40}; a or b is expected")
        raise Unusable(f"{name}: nothing says which answer is better (`human_ranking`)")

    def _slots(self, row: Row, source_id: str) -> tuple[PictureSlot, ...]:
        value = self._cell(row, "image")
        listed = to_list(value)
        items = [one for one in ([value] if listed is None else listed) if one is not None]
        if not items:
            self._out.missing_picture(source_id)
            return (PictureSlot(name=source_id),)
        slots = (self._slot(item, source_id) for item in items)
        return tuple(slot for slot in slots if slot is not None)


def _checked(name: str, responses: tuple[str, str], better: Side) -> _Pair:
    if responses[0].strip() == responses[1].strip():
        raise Unusable(f"{name}: both answers are the same")
    return _Pair(responses=responses, better=better)


def _ranks(value: object) -> tuple[int, int] | None:
    """Read two ranks: a list, or one written as text, as CSV files and numpy have it."""
    listed = to_list(value)
    if listed is None and isinstance(value, str):
        match = _DIGITS.fullmatch(value.strip())
        listed = list(match.groups()) if match else None
    numbers = [to_number(item) for item in listed or ()]
    if len(numbers) != 2 or any(n not in (0.0, 1.0) for n in numbers):
        return None
    return int(numbers[0] or 0), int(numbers[1] or 0)


def answer_length(text: str) -> int:
    """Count an answer's words; a letter of a script without spaces counts as one."""
    return len(_WORD.findall(text))
