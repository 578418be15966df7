"""Multi-Crit's files: rows of one criterion of one pair of answers.

A published row is `image, question_id, image_path, question, pred_a, pred_b, model_a, model_b,
split, criterion, preference, prompt_id`; `question_id` is `source__select-n__criterion` and
`preference` is `model_a` or `model_b`. Rows of one pair become one item, since PAcc, TOS and CMR
ask for all criteria of a pair. A judge's words come in an added field `critic`.

Reference: Multi-Crit 3.1, 3.3; the field names are the data set card's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from atom.errors import FormatError
from atom.formats.base import ImportFile
from atom.formats.cells import to_list, to_name, to_number, to_text
from atom.formats.pictures import PictureData, PictureFinder, place_picture
from atom.formats.rows import Row
from atom.judgebench.base import LoadedItems, LoadOptions
from atom.judgebench.multi_crit.criteria import find_criterion
from atom.judgebench.reading import ReadingNotes, rows_of
from atom.judgebench.words import count
from atom.records import BenchItem, PictureSlot, content_id

Label = Literal["a", "b"]

FIELDS: Final = (
    "question_id",
    "question",
    "pred_a",
    "pred_b",
    "model_a",
    "model_b",
    "split",
    "criterion",
    "preference",
    "prompt_id",
    "image",
    "image_path",
    "agreement",
    "critic",
    "repeat",
    "order",
    "part",
)
"""What a column map may name. `agreement` is ours: how far people agree on the row's criterion."""
SPLITS: Final[Mapping[str, str]] = {"open_ended": "open-ended", "reasoning": "reasoning"}
"""The published splits, and how people read them."""
_FIRST: Final = frozenset({"model_a", "pred_a", "response_a", "answer_a", "a"})
_SECOND: Final = frozenset({"model_b", "pred_b", "response_b", "answer_b", "b"})
_TIE: Final = frozenset({"tie", "both", "equal", "draw", "neither"})


@dataclass(frozen=True, kw_only=True)
class PreferredCriterion:
    """A criterion of a pair with people's preference.

    Args:
        key: the criterion.
        label: which answer people prefer on it.
        row: the published row's `question_id`; empty where it has none.
        agreement: how far people agree on it, where the file says.
    """

    key: str
    label: Label
    row: str = ""
    agreement: float | None = None


@dataclass(frozen=True, kw_only=True)
class CriteriaPair:
    """An item's own fields.

    Args:
        split: `open_ended`, `reasoning`, or what the file says.
        question: what was asked.
        answers: both texts.
        models: who wrote them; empty where unknown.
        criteria: what people compared them on.
    """

    split: str
    question: str
    answers: tuple[str, str]
    models: tuple[str, str]
    criteria: tuple[PreferredCriterion, ...]


def pair_of(item: BenchItem) -> CriteriaPair:
    """Read an item's own fields, as `load` wrote them."""
    data = item.data
    return CriteriaPair(
        split=data["split"],
        question=data["question"],
        answers=(data["pred_a"], data["pred_b"]),
        models=(data["model_a"], data["model_b"]),
        criteria=tuple(PreferredCriterion(**entry) for entry in data["criteria"]),
    )


@dataclass(kw_only=True)
class _Draft:
    """A pair while its rows come in."""

    place: str
    split: str
    question: str
    answers: tuple[str, str]
    models: tuple[str, str]
    prompt: str
    slots: tuple[PictureSlot, ...]
    criteria: dict[str, PreferredCriterion] = field(default_factory=dict)
    clashing: set[str] = field(default_factory=set)
    """Criteria with contradicting preferences: neither counts."""


def load(files: Sequence[ImportFile], options: LoadOptions) -> LoadedItems:
    """Read the published flattened rows, or tables with a column map.

    Args:
        files: JSON lines, JSON, CSV or Parquet; both splits may be given together.
        options: the set, the column map (our field → column), and where pictures are.

    Returns:
        One item a pair of answers. Rows that can't be used are left out and named: without a
        criterion, preference or answer, ties, repeated rows, rows of one pair that contradict each
        other (neither counts), and rows whose answers aren't those of their pair. A row that names
        its pair's answers the other way round is turned.

    Raises:
        FormatError: a file is no table, or the column map names a field that there isn't.
    """
    if unknown := [name for name in options.columns if name not in FIELDS]:
        raise FormatError(
            f"the column map names {unknown[0]!r}; Multi-Crit has {', '.join(FIELDS)}"
        )
    notes = ReadingNotes()
    pictures: dict[str, PictureData] = {}
    drafts: dict[tuple[str, str], _Draft] = {}
    for file, row in rows_of(files, notes):
        _take(file, _renamed(row, options.columns), drafts, pictures, options.pictures, notes)
    items: list[BenchItem] = []
    for (split, stem), draft in drafts.items():
        if options.limit is not None and len(items) >= options.limit:
            break
        if not draft.criteria:
            notes.skip(draft.place, "no criterion of this pair has a preference that can be used")
            continue
        items.append(_item(options.set_id, len(items), split, stem, draft))
    if notes.skipped:
        notes.note(f"left out: {count(len(notes.skipped), 'row')}")
    shown = {slot.picture_id for item in items for slot in item.pictures}
    return LoadedItems(
        items=tuple(items),
        pictures=tuple(picture for key, picture in pictures.items() if key in shown),
        skipped=tuple(notes.skipped),
        notes=notes.notes(),
    )


def _renamed(row: Row, columns: Mapping[str, str]) -> Row:
    """Bring a row's cells under our names; a mapped field is taken from its column only."""
    if not columns:
        return row
    values: dict[str, object] = {
        name: value for name, value in row.values.items() if name not in columns
    }
    values.update({ours: row.values.get(theirs) for ours, theirs in columns.items()})
    return Row(place=row.place, values=values)


def _take(
    file: ImportFile,
    row: Row,
    drafts: dict[tuple[str, str], _Draft],
    pictures: dict[str, PictureData],
    finder: PictureFinder,
    notes: ReadingNotes,
) -> None:
    cells = row.values
    answers = texts_in(cells, "pred_a", "pred_b")
    criterion = find_criterion(name_in(cells, "criterion"))
    if lacking := [
        name
        for name in ("question", "pred_a", "pred_b", "criterion", "preference")
        if to_name(cells.get(name)) is None
    ]:
        notes.skip(row.place, f"it has no {lacking[0]!r}")
        return
    if not criterion.key:
        notes.skip(row.place, f"its criterion {name_in(cells, 'criterion')!r} has no word in it")
        return
    models = (name_in(cells, "model_a"), name_in(cells, "model_b"))
    label, trouble = _label(name_in(cells, "preference"), models)
    if label is None:
        notes.skip(row.place, trouble)
        return
    split, row_id = split_of(cells, file), name_in(cells, "question_id")
    question = to_text(cells["question"]) or ""
    stem = stem_of(row_id, name_in(cells, "criterion"), split, question, answers)
    draft = drafts.get((split, stem))
    if draft is None:
        draft = drafts[split, stem] = _Draft(
            place=row.place,
            split=split,
            question=question,
            answers=answers,
            models=models,
            prompt=name_in(cells, "prompt_id"),
            slots=_slots(row, pictures, finder, notes),
        )
    elif (question, answers) != (draft.question, draft.answers):
        turned = (answers[1], answers[0]) == draft.answers and question == draft.question
        if not turned:
            notes.skip(
                row.place,
                f"its question or answers aren't those of the other rows of {stem!r}",
            )
            return
        label = "b" if label == "a" else "a"
        notes.tally("named its pair's answers the other way round and was turned", row.place)
    entry = PreferredCriterion(
        key=criterion.key,
        label=label,
        row=row_id,
        agreement=to_number(cells.get("agreement")),
    )
    _label_criterion(draft, entry, row.place, stem, notes)


def _label_criterion(
    draft: _Draft, entry: PreferredCriterion, place: str, stem: str, notes: ReadingNotes
) -> None:
    """Add a criterion's label to its pair; two that contradict each other both go."""
    if entry.key in draft.clashing:
        notes.skip(place, f"{entry.key!r} of {stem!r} has contradicting preferences: none counts")
        return
    known = draft.criteria.get(entry.key)
    if known is None:
        draft.criteria[entry.key] = entry
    elif known.label == entry.label:
        notes.skip(place, f"it repeats {entry.key!r} of {stem!r}")
    else:
        del draft.criteria[entry.key]
        draft.clashing.add(entry.key)
        notes.skip(
            place, f"{entry.key!r} of {stem!r} has contradicting preferences: neither counts"
        )


def _item(set_id: str, position: int, split: str, stem: str, draft: _Draft) -> BenchItem:
    return BenchItem(
        set_id=set_id,
        id=content_id("multi_crit", set_id, split, stem),
        position=position,
        pictures=draft.slots,
        data={
            "pair": stem,
            "prompt_id": draft.prompt,
            "split": draft.split,
            "question": draft.question,
            "pred_a": draft.answers[0],
            "pred_b": draft.answers[1],
            "model_a": draft.models[0],
            "model_b": draft.models[1],
            "criteria": [
                {
                    "key": entry.key,
                    "label": entry.label,
                    "row": entry.row,
                    "agreement": entry.agreement,
                }
                for entry in draft.criteria.values()
            ],
        },
    )


def name_in(cells: Mapping[str, object], key: str) -> str:
    """Return a cell as a name; empty when it is missing."""
    return to_name(cells.get(key)) or ""


def texts_in(cells: Mapping[str, object], first: str, second: str) -> tuple[str, str]:
    """Return two cells as texts."""
    return to_text(cells.get(first)) or "", to_text(cells.get(second)) or ""


def split_of(cells: Mapping[str, object], file: ImportFile) -> str:
    """Return a row's split: by its own word, else by the file's name, else none."""
    own = _split_words(name_in(cells, "split"))
    if own:
        return own
    named = _split_words(file.stem)
    return named if named in SPLITS else ""


def _split_words(text: str) -> str:
    words = [word for word in re.split(r"[\W_]+", text.casefold()) if word]
    flat = "".join(words)
    if "openended" in flat:
        return "open_ended"
    return "reasoning" if "reasoning" in flat else "_".join(words)


def stem_of(
    row_id: str, criterion: str, split: str, question: str, answers: tuple[str, str]
) -> str:
    """Name a row's pair: by its id without the criterion, else by what the pair is."""
    head, mark, tail = row_id.rpartition("__")
    if mark and head and tail.strip().casefold() == criterion.casefold():
        return head
    return content_id("pair", split, question, *sorted(answers))[:16]


def _label(preference: str, models: tuple[str, str]) -> tuple[Label | None, str]:
    """Read a preference: `model_a`, `A`, ..., or a model's own name where the two differ."""
    word = re.sub(r"[\s\-]+", "_", preference.casefold())
    if word in _TIE:
        return None, "people saw a tie here, and no answer is right"
    by_name = models[0] != models[1]
    if word in _FIRST or (by_name and preference == models[0]):
        return "a", ""
    if word in _SECOND or (by_name and preference == models[1]):
        return "b", ""
    return None, f"its preference is {preference!r}; model_a or model_b is expected"


def _slots(
    row: Row, pictures: dict[str, PictureData], finder: PictureFinder, notes: ReadingNotes
) -> tuple[PictureSlot, ...]:
    """Fill the pair's picture places: from `image` where it holds one, else from `image_path`."""
    image = row.values.get("image")
    items = to_list(image) if not isinstance(image, bytes | dict) else None
    found = [
        slot
        for item in (items if items is not None else [image])
        if (slot := _slot(item, pictures, finder)) is not None
    ]
    path = to_name(row.values.get("image_path"))
    if path and not any(slot.picture_id for slot in found):
        slot = _slot(path, pictures, finder)
        found = [slot] if slot is not None and (slot.picture_id or not found) else found
    if not found:
        notes.tally("no picture is named", row.place)
    elif any(slot.picture_id is None for slot in found):
        notes.tally("its picture isn't there, or can't be read", row.place)
    return tuple(found)


def _slot(
    item: object, pictures: dict[str, PictureData], finder: PictureFinder
) -> PictureSlot | None:
    placed = place_picture(item, finder)
    if placed is None:
        return None
    picture = placed.look.picture
    if picture is not None:
        pictures.setdefault(picture.id, picture)
    return PictureSlot(name=placed.name, picture_id=picture.id if picture else None)
