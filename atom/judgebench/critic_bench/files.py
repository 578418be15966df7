"""CriticBench's files: answers with people's scores, pairs with preferences, scored critiques.

The published layout is read as its own scripts read it: folders `obj_dev_data`, `sub_test_data`,
..., in them `<domain>_feedback_correction.json`, `<domain>_comp_feedback.json`,
`correction_part/<domain>_feedback.json` and
`meta_feedback_single/meta_feedback_singlewise_<domain>.json`. Other names are read by their rows'
keys. A row that stands in the objective and in the subjective part becomes one item.

Reference: CriticBench 3, appendix D; the field names and what they rest on: METHODS A18, flags.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from atom.errors import FormatError, UsageError
from atom.foreign import files_in
from atom.formats.base import ImportFile
from atom.formats.cells import to_list
from atom.formats.pictures import PictureData, place_picture
from atom.formats.rows import Row
from atom.judgebench.base import LoadedItems, LoadOptions
from atom.judgebench.reading import ReadingNotes, Unusable, rows_of
from atom.judgebench.words import count
from atom.records import BenchItem, PictureSlot, content_id

Kind = Literal["answer", "pair", "critique"]
"""What an item asks about: one answer, two answers, or a critique of an answer."""

DOMAINS: Final = (
    "translate", "chat", "qa", "harmlessness", "summary", "math_cot", "math_pot", "code_exec",
    "code_not_exec",
)  # fmt: skip
LOWEST, HIGHEST = 1.0, 7.0
"""Ends of people's scale for answers and critiques."""
QUALITIES: Final = ("low", "med", "high", "super-high")
FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "domain": ("domain",),
    "question": ("question",),
    "article": ("article",),
    "unit_test": ("unit_test",),
    "data_source": ("data_source",),
    "pictures": ("pictures", "images", "picture", "image"),
    "quality": ("metadata.quality", "raw_quality", "quality"),
    "quality_a": ("metadata.quality_a_sub", "metadata.quality_a", "quality_a"),
    "quality_b": ("metadata.quality_b_sub", "metadata.quality_b", "quality_b"),
    "generation": ("generation",),
    "exec_rest": ("exec_rest",),
    "feedback": ("feedback",),
    "feedback_score": ("feedback_score",),
    "correction": ("correction",),
    "ground_truth_answer": ("ground_truth_answer",),
    "preference": ("preference",),
    "generation_a": ("generation_a",),
    "generation_b": ("generation_b",),
    "exec_rest_a": ("exec_rest_a",),
    "exec_rest_b": ("exec_rest_b",),
    "meta_feedback_score": ("meta_feedback_score",),
    "evaluated_feedback": ("evaluated_feedback",),
    "ground_truth_feedback": ("ground_truth_feedback", "feedback"),
}
"""Our field → where rows have it; a column map names another place. Dots lead into objects."""
_FILE = re.compile(r"(?P<domain>\w+?)_(?P<what>feedback_correction|comp_feedback|feedback)")
_META = re.compile(r"meta_feedback_singlewise_(?P<domain>\w+)")
_FOLDER = re.compile(r"(?P<flag>obj|sub)_(?P<split>[a-z]+)_data")
_PREFERENCE = re.compile(r"(?:^|[^A-Za-z])([ABC])\W*$", re.IGNORECASE)
_WHAT: Final[Mapping[str, tuple[Kind, str]]] = {
    "feedback_correction": ("answer", "feedback"),
    "feedback": ("answer", "correction_part"),
    "comp_feedback": ("pair", "comp_feedback"),
    "meta_feedback": ("critique", "meta_feedback"),
}
_NO_FOLDER: Final = ("", "")


@dataclass(frozen=True, kw_only=True)
class CriticPlace:
    """Where a row stands, so that replies made elsewhere find it by its number.

    Args:
        flag: `obj`, `sub`, or empty where the folder doesn't say.
        split: `dev`, `test`, or empty.
        what: `feedback`, `correction_part`, `comp_feedback` or `meta_feedback`.
        row: from 0.
    """

    flag: str
    split: str
    what: str
    row: int

    def __str__(self) -> str:
        return f"{self.flag}/{self.split}/{self.what}/{self.row}"

    @classmethod
    def parse(cls, text: str) -> CriticPlace:
        """Read what `str` wrote."""
        flag, split, what, row = text.split("/")
        return cls(flag=flag, split=split, what=what, row=int(row))


class _ReadItems(ReadingNotes):
    """What was read so far."""

    def __init__(self, options: LoadOptions) -> None:
        super().__init__()
        self.options = options
        self.items: dict[str, dict[str, Any]] = {}
        self.slots: dict[str, tuple[PictureSlot, ...]] = {}
        self.pictures: dict[str, PictureData] = {}
        self.seen: Counter[tuple[str, str, str]] = Counter()

    @property
    def full(self) -> bool:
        """Whether there are as many items as asked for; later rows may only complete them."""
        return self.options.limit is not None and len(self.items) >= self.options.limit


def load(files: Sequence[ImportFile], options: LoadOptions) -> LoadedItems:
    """Read CriticBench's files, or a folder of them.

    Args:
        files: JSON lists, JSON lines or tables; a folder stands for the JSON files in it.
        options: set, columns, pictures, limit.

    Returns:
        The items: answers (feedback, correction), pairs (comparison), critiques (meta-feedback).

    Raises:
        UsageError: the column map names a field that there isn't.
        DataError: no file of it can be read.
    """
    if unknown := sorted(set(options.columns) - set(FIELDS)):
        raise UsageError(f"CriticBench has no field {unknown[0]!r}; there are {', '.join(FIELDS)}")
    found = _ReadItems(options)
    broken: list[FormatError] = []
    every = list(expand(files))
    for file in every:
        try:
            _read_file(found, file)
        except FormatError as error:
            broken.append(error)
            found.skipped.append(f"{file.name}: {error.message}")
    if broken and len(broken) == len(every):
        raise broken[0]
    return _loaded(found)


def expand(files: Sequence[ImportFile]) -> Iterator[ImportFile]:
    """Put the JSON files of a folder, and of the folders in it, in the folder's place."""
    for file in files:
        path = file.folder / file.name if file.folder is not None else None
        if path is None or not path.is_dir():
            yield file
            continue
        inside = files_in(path, lambda one: one.suffix in (".json", ".jsonl"))
        if not inside:
            raise UsageError(f"the folder {file.name!r} holds no JSON file")
        yield from (ImportFile.from_path(one) for one in inside)


def folder_of(file: ImportFile) -> tuple[str, str]:
    """Return flag (`obj` or `sub`) and split of the nearest folder that says so; else nothing."""
    for name in reversed(file.folder.parts if file.folder is not None else ()):
        match = _FOLDER.fullmatch(name)
        if match:
            return match["flag"], match["split"]
    return _NO_FOLDER


def _read_file(found: _ReadItems, file: ImportFile) -> None:
    meta, named = _META.fullmatch(file.stem), _FILE.fullmatch(file.stem)
    what, domain = "", ""
    if meta:
        what, domain = "meta_feedback", meta["domain"]
    elif named:
        what, domain = named["what"], named["domain"]
    flag, split = folder_of(file)
    for number, (_, row) in enumerate(rows_of([file], found)):
        kind, place_of = _WHAT[what] if what else _WHAT[_guess(row.values)]
        place = CriticPlace(flag=flag, split=split, what=place_of, row=number)
        _READERS[kind](found, file, row, place, domain)


def _guess(row: Mapping[str, object]) -> str:
    if "meta_feedback_score" in row or "evaluated_feedback" in row:
        return "meta_feedback"
    if (
        "generation_a" in row
        or isinstance(row.get("obj"), dict)
        or isinstance(row.get("sub"), dict)
    ):
        return "comp_feedback"
    return "feedback_correction"


# --- one row -------------------------------------------------------------------------------------


def _get(options: LoadOptions, row: Mapping[str, object], name: str) -> object:
    """Return a field's value, None where the row has none."""
    places = (options.columns[name],) if name in options.columns else FIELDS[name]
    for place in places:
        value: object = row.get(place)
        if value is None and "." in place:
            value = row
            for key in place.split("."):
                value = value.get(key) if isinstance(value, Mapping) else None
        if value is not None:
            return value
    return None


def _text(options: LoadOptions, row: Mapping[str, object], name: str) -> str:
    """Return a field's text, of an object the one in it; nothing where there is none."""
    value = _get(options, row, name)
    if isinstance(value, Mapping):
        texts = [value.get(key) for key in ("detail", "Rationale", "rationale", "Answer")]
        value = next((text for text in texts if isinstance(text, str)), None)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return str(value).strip() if value == value else ""


def _score(options: LoadOptions, row: Mapping[str, object], name: str) -> float | None:
    """Return a person's score.

    Raises:
        Unusable: it is there, but no number from 1 to 7.
    """
    value = _get(options, row, name)
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    try:
        number = float(value) if isinstance(value, str | int | float) else math.nan
    except ValueError:
        number = math.nan
    if isinstance(value, bool) or not LOWEST <= number <= HIGHEST:
        raise Unusable(f"the score {str(value)[:40]!r} ({name}) is no number from 1 to 7")
    return number


def _common(
    found: _ReadItems, row: Row, place: CriticPlace, domain: str, kind: Kind
) -> dict[str, Any]:
    options = found.options
    domain = domain or _text(options, row.values, "domain")
    question = _text(options, row.values, "question")
    if not question:
        raise Unusable("it has no question")
    if not domain:
        raise Unusable("neither the file's name nor the row says which domain it is of")
    if domain not in DOMAINS:
        found.tally(f"the domain {domain!r} isn't one of the nine; it is kept", row.place)
    quality = _text(options, row.values, "quality").lower()
    if quality == "medium":
        quality = "med"
    return {
        "kind": kind,
        "domain": domain,
        "quality": quality,
        "question": question,
        "article": _text(options, row.values, "article"),
        "tests": _text(options, row.values, "unit_test"),
        "source": _text(options, row.values, "data_source").lower(),
        "places": [str(place)],
    }


def _answer_row(
    found: _ReadItems, file: ImportFile, row: Row, place: CriticPlace, domain: str
) -> None:
    """Take in an answer with people's score, the reference critique and correction."""
    options, values = found.options, row.values
    try:
        data = _common(found, row, place, domain, "answer")
        answer = _text(options, values, "generation")
        if not answer:
            raise Unusable("it has no answer (generation)")
        score = _score(options, values, "feedback_score") if place.flag != "sub" else None
    except Unusable as error:
        found.skip(row.place, str(error))
        return
    truth = _text(options, values, "ground_truth_answer")
    critique, correction = (_text(options, values, name) for name in ("feedback", "correction"))
    if score is None and place.flag != "sub":
        found.tally("no human score: it can be asked, but counts for no correlation", row.place)
    data |= {
        "answer": answer,
        "execution": _text(options, values, "exec_rest"),
        "score": score,
        "critique": critique,
        "correction": correction,
        "truth": truth,
        "corrected": place.what != "correction_part" and data["quality"] != "super-high",
        "references": place.flag != "obj",
    }
    _take(found, file, row, data, answer)


def _pair_row(
    found: _ReadItems, file: ImportFile, row: Row, place: CriticPlace, domain: str
) -> None:
    """Take in a pair; a row may hold one for its preference and one for its reference critique."""
    options, values = found.options, row.values
    blocks = {
        flag: {**values, **block}
        for flag in ("obj", "sub")
        if isinstance(block := values.get(flag), dict) and place.flag in ("", flag)
    } or {place.flag: values}
    for flag, block in blocks.items():
        try:
            data = _common(found, row, place, domain, "pair")
            first, second = (_text(options, block, f"generation_{side}") for side in "ab")
            if not first or not second:
                raise Unusable("one of its two answers (generation_a, generation_b) is missing")
        except Unusable as error:
            found.skip(row.place, str(error))
            return
        preference = _preference(found, row, _get(options, block, "preference"), flag)
        qualities = {_text(options, values, f"quality_{side}").lower() for side in "ab"}
        level = "easy" if qualities == {"low", "high"} else "hard"
        data |= {
            "first": first,
            "second": second,
            "first_execution": _text(options, block, "exec_rest_a"),
            "second_execution": _text(options, block, "exec_rest_b"),
            "preference": preference,
            "critique": _text(options, block, "feedback") if flag != "obj" else "",
            "quality": level if "" not in qualities else "",
            "references": flag != "obj",
        }
        _take(found, file, row, data, first, second, block=flag)


def _preference(found: _ReadItems, row: Row, value: object, flag: str) -> str:
    if value is None or flag == "sub":
        return ""
    match = _PREFERENCE.search(str(value))
    letter = match[1].lower() if match else ""
    if letter in ("a", "b"):
        return letter
    reason = "people prefer neither answer" if letter == "c" else f"preference {value!r} isn't read"
    found.tally(f"{reason[:80]}: the pair counts for no accuracy", row.place)
    return ""


def _critique_row(
    found: _ReadItems, file: ImportFile, row: Row, place: CriticPlace, domain: str
) -> None:
    """Take in a critique that people scored."""
    options, values = found.options, row.values
    try:
        data = _common(found, row, place, domain, "critique")
        answer = _text(options, values, "generation")
        critique = _text(options, values, "evaluated_feedback")
        if not answer or not critique:
            raise Unusable("it has no answer (generation) or no critique (evaluated_feedback)")
        score = _score(options, values, "meta_feedback_score")
        if score is None:
            score = _mean(values.get("annotated_scores"))
    except Unusable as error:
        found.skip(row.place, str(error))
        return
    if score is None:
        found.tally("no human score: it can be asked, but counts for no correlation", row.place)
    data |= {
        "answer": answer,
        "execution": _text(options, values, "exec_rest"),
        "evaluated": critique,
        "critique": _text(options, values, "ground_truth_feedback"),
        "score": score,
    }
    _take(found, file, row, data, answer, critique)


def _mean(scores: object) -> float | None:
    """Return the mean of several people's scores, where each is from 1 to 7."""
    if not isinstance(scores, list) or not scores:
        return None
    good = [
        float(one)
        for one in scores
        if isinstance(one, int | float) and not isinstance(one, bool) and LOWEST <= one <= HIGHEST
    ]
    return sum(good) / len(good) if len(good) == len(scores) else None


_RowReader = Callable[[_ReadItems, ImportFile, Row, CriticPlace, str], None]
_READERS: Final[Mapping[Kind, _RowReader]] = {
    "answer": _answer_row,
    "pair": _pair_row,
    "critique": _critique_row,
}


def _take(
    found: _ReadItems,
    file: ImportFile,
    row: Row,
    data: dict[str, Any],
    *texts: str,
    block: str = "",
) -> None:
    """Make an item of a row, or complete the one that another file made of the same row."""
    content = content_id(data["kind"], data["domain"], data["question"], *texts)
    where = str(file.folder / file.name) if file.folder is not None else file.name
    found.seen[where, content, block] += 1
    nth = found.seen[where, content, block]
    item_id = content_id("critic_bench", found.options.set_id, content, nth)[:24]
    if nth > 1:
        found.tally("the same row again in one file: each counts", row.place)
    there = found.items.get(item_id)
    if there is None and found.full:
        found.note(f"only the first {found.options.limit} items were read, as asked")
        return
    if there is None:
        found.items[item_id] = data
        found.slots[item_id] = _slots(found, row)
        return
    for name, value in data.items():
        if name in ("places", "corrected", "references"):
            continue
        if there.get(name) in ("", None):
            there[name] = value
        elif value not in ("", None) and value != there[name]:
            found.tally(f"two files differ in {name}: the first counts", row.place)
    there["places"] += [place for place in data["places"] if place not in there["places"]]
    there["corrected"] = bool(there.get("corrected")) or bool(data.get("corrected"))
    there["references"] = bool(there.get("references")) or bool(data.get("references"))


def _slots(found: _ReadItems, row: Row) -> tuple[PictureSlot, ...]:
    value = _get(found.options, row.values, "pictures")
    listed = to_list(value)
    slots = []
    for item in [value] if listed is None and value is not None else listed or ():
        placed = place_picture(item, found.options.pictures)
        if placed is None:
            found.tally("a picture has no name", row.place)
            continue
        picture = placed.look.picture
        if picture is None:
            found.tally(f"a picture is missing: {placed.look.reason}", row.place)
        else:
            found.pictures[picture.id] = picture
        slots.append(PictureSlot(name=placed.name, picture_id=picture.id if picture else None))
    return tuple(slots)


def _loaded(found: _ReadItems) -> LoadedItems:
    items = tuple(
        BenchItem(
            set_id=found.options.set_id,
            id=item_id,
            position=position,
            pictures=found.slots[item_id],
            data=data,
        )
        for position, (item_id, data) in enumerate(found.items.items())
    )
    kinds = Counter(item.data["kind"] for item in items)
    notes = list(found.notes())
    if items:
        notes.insert(
            0,
            f"{count(kinds['answer'], 'answer')}, {count(kinds['pair'], 'pair')}, "
            f"{count(kinds['critique'], 'critique')} of "
            f"{count(len({item.data['domain'] for item in items}), 'domain')}",
        )
    if found.skipped:
        left_out = f"left out: {count(len(found.skipped), 'row or file', 'rows or files')}"
        notes.insert(bool(items), left_out)
    return LoadedItems(
        items=items,
        pictures=tuple(found.pictures.values()),
        skipped=tuple(found.skipped),
        notes=tuple(notes),
    )


# --- the leaderboard -----------------------------------------------------------------------------
