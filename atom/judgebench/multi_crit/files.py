"""Multi-Crit's files: rows of one criterion of one pair of answers, and replies made elsewhere.

A published row is `image, question_id, image_path, question, pred_a, pred_b, model_a, model_b,
split, criterion, preference, prompt_id`; `question_id` is `source__select-n__criterion` and
`preference` is `model_a` or `model_b`. Rows of one pair become one item, since PAcc, TOS and CMR
ask for all criteria of a pair. A judge's words come in an added field `critic`.

Reference: Multi-Crit 3.1, 3.3; the field names are the data set card's.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from atom.errors import FormatError
from atom.formats.base import ImportFile
from atom.formats.cells import to_list, to_name, to_number, to_text
from atom.formats.pictures import PictureData, PictureFinder, place_picture
from atom.formats.rows import Row
from atom.judgebench.base import Loaded, LoadOptions, Replies
from atom.judgebench.multi_crit.criteria import find_criterion
from atom.judgebench.reading import IMPORTED, Notes, Unusable, repeat_of, rows_of
from atom.judgebench.words import count
from atom.records import BenchItem, PictureSlot, Sampling, Verdict, content_id
from atom.records.thoughts import tell_apart
from atom.stages.verdicts import blank, unscored

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
_LAST_LINES: Final = 3
_SENTENCE: Final = re.compile(r"\bresponse\s*([12])\s*is\s*(?:the\s+)?better\b", re.IGNORECASE)
_NO_SAMPLING: Final = Sampling()
_MAX_WORDS: Final = 4000
"""Characters of a judge's words that are kept with its verdict."""


@dataclass(frozen=True, kw_only=True)
class Labelled:
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
class Pair:
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
    criteria: tuple[Labelled, ...]


def pair_of(item: BenchItem) -> Pair:
    """Read an item's own fields, as `load` wrote them."""
    data = item.data
    return Pair(
        split=data["split"],
        question=data["question"],
        answers=(data["pred_a"], data["pred_b"]),
        models=(data["model_a"], data["model_b"]),
        criteria=tuple(Labelled(**entry) for entry in data["criteria"]),
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
    criteria: dict[str, Labelled] = field(default_factory=dict)
    clashing: set[str] = field(default_factory=set)
    """Criteria with contradicting preferences: neither counts."""


def load(files: Sequence[ImportFile], options: LoadOptions) -> Loaded:
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
    notes = Notes()
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
    return Loaded(
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
    notes: Notes,
) -> None:
    cells = row.values
    answers = _texts(cells, "pred_a", "pred_b")
    criterion = find_criterion(_name(cells, "criterion"))
    if lacking := [
        name
        for name in ("question", "pred_a", "pred_b", "criterion", "preference")
        if to_name(cells.get(name)) is None
    ]:
        notes.skip(row.place, f"it has no {lacking[0]!r}")
        return
    if not criterion.key:
        notes.skip(row.place, f"its criterion {_name(cells, 'criterion')!r} has no word in it")
        return
    models = (_name(cells, "model_a"), _name(cells, "model_b"))
    label, trouble = _label(_name(cells, "preference"), models)
    if label is None:
        notes.skip(row.place, trouble)
        return
    split, row_id = _split(cells, file), _name(cells, "question_id")
    question = to_text(cells["question"]) or ""
    stem = _stem(row_id, _name(cells, "criterion"), split, question, answers)
    draft = drafts.get((split, stem))
    if draft is None:
        draft = drafts[split, stem] = _Draft(
            place=row.place,
            split=split,
            question=question,
            answers=answers,
            models=models,
            prompt=_name(cells, "prompt_id"),
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
    entry = Labelled(
        key=criterion.key,
        label=label,
        row=row_id,
        agreement=to_number(cells.get("agreement")),
    )
    _label_criterion(draft, entry, row.place, stem, notes)


def _label_criterion(draft: _Draft, entry: Labelled, place: str, stem: str, notes: Notes) -> None:
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


def _name(cells: Mapping[str, object], key: str) -> str:
    return to_name(cells.get(key)) or ""


def _texts(cells: Mapping[str, object], first: str, second: str) -> tuple[str, str]:
    return to_text(cells.get(first)) or "", to_text(cells.get(second)) or ""


def _split(cells: Mapping[str, object], file: ImportFile) -> str:
    """Return a row's split: by its own word, else by the file's name, else none."""
    own = _split_words(_name(cells, "split"))
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


def _stem(row_id: str, criterion: str, split: str, question: str, answers: tuple[str, str]) -> str:
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
    row: Row, pictures: dict[str, PictureData], finder: PictureFinder, notes: Notes
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


def read_critic(text: str) -> Literal[1, 2] | None:
    """Read which response a judge's text calls better.

    Args:
        text: the whole reply, think blocks included.

    Returns:
        1 or 2 from the last `Response X is better` in the last three lines that aren't empty (the
        rule of the benchmark's public ports, which then ask a small model; here such a reply is
        unreadable); else None.
    """
    plain = re.sub(r"[*_`#]+", "", tell_apart(text).answer)
    lines = [line for line in plain.splitlines() if line.strip()][-_LAST_LINES:]
    found = [int(match[1]) for line in lines for match in _SENTENCE.finditer(line)]
    if not found:
        return None
    return 1 if found[-1] == 1 else 2


def read_replies(files: Sequence[ImportFile], items: Sequence[BenchItem], judge: str) -> Replies:
    """Read replies that were made elsewhere: published rows with an added `critic`.

    `Response 1` is `pred_a`. A row whose answers stand the other way round, or that says `order` =
    `ba`, is turned. A row that several files hold is one more vote in each of them; within a file
    it counts once, unless `repeat` tells its occurrences apart.

    Args:
        files: JSON lines, JSON, CSV or Parquet.
        judge: the judge's name.

    Returns:
        A verdict a row; unscored where the text holds no verdict. Rows of other sets, without a
        `critic`, and repeated ones are left out and named.

    Raises:
        FormatError: a file is no table.
    """
    places = _places(items)
    notes = Notes()
    verdicts: dict[str, Verdict] = {}
    seen: Counter[str] = Counter()
    for file in files:
        here: dict[str, int] = {}
        for _, row in rows_of([file], notes):
            found = _place(row, places, file)
            if found is None:
                notes.skip(row.place, "it belongs to no row of this set")
                continue
            item, pair, entry = found
            if "critic" not in row.values:
                notes.skip(row.place, "it has no 'critic'")
                continue
            part = _part(row, entry)
            name = f"{item.id}/{part}"
            try:
                given = repeat_of(row.values.get("repeat"))
            except Unusable as why:
                notes.skip(row.place, str(why))
                continue
            if given is None and name in here:
                notes.skip(row.place, f"it repeats {entry.row or entry.key!r}")
                continue
            repeat = seen[name] if given is None else given
            here[name] = max(repeat, here.get(name, 0))
            verdict = _reply(row, item, pair, part, judge, repeat)
            if verdict.key in verdicts:
                notes.skip(row.place, f"it repeats {entry.row or entry.key!r}, repeat {repeat}")
                continue
            verdicts[verdict.key] = verdict
        for name, repeat in here.items():
            seen[name] = max(seen[name], repeat + 1)
    unread = sum(verdict.state == "unscored" for verdict in verdicts.values())
    if unread:
        notes.note(f"{unread} of {len(verdicts)} replies hold no verdict that can be read")
    return Replies(
        verdicts=tuple(verdicts.values()), skipped=tuple(notes.skipped), notes=notes.notes()
    )


_Place = tuple[BenchItem, Pair, Labelled]


def _places(items: Sequence[BenchItem]) -> dict[tuple[str, str], _Place]:
    """Where a row belongs: by (split, its id), and by (pair, criterion)."""
    places: dict[tuple[str, str], _Place] = {}
    for item in items:
        pair = pair_of(item)
        for entry in pair.criteria:
            if entry.row:
                places[pair.split, entry.row] = (item, pair, entry)
            places[item.data["pair"], entry.key] = (item, pair, entry)
    return places


def _place(row: Row, places: Mapping[tuple[str, str], _Place], file: ImportFile) -> _Place | None:
    cells = row.values
    split, row_id = _split(cells, file), _name(cells, "question_id")
    if (split, row_id) in places:
        return places[split, row_id]
    answers, question = _texts(cells, "pred_a", "pred_b"), to_text(cells.get("question")) or ""
    stem = _stem(row_id, _name(cells, "criterion"), split, question, answers)
    found = places.get((stem, find_criterion(_name(cells, "criterion")).key))
    if found is None and not split:
        known = [place for (_, name), place in places.items() if row_id and name == row_id]
        return known[0] if len(known) == 1 else None
    return found if found is None or not split or found[1].split == split else None


def _part(row: Row, entry: Labelled) -> str:
    return f"{'joint' if _name(row.values, 'part') == 'joint' else 'single'}/{entry.key}"


def _reply(row: Row, item: BenchItem, pair: Pair, part: str, judge: str, repeat: int) -> Verdict:
    cells = row.values
    answers = _texts(cells, "pred_a", "pred_b")
    turned = answers == (pair.answers[1], pair.answers[0]) and answers[0] != answers[1]
    if _name(cells, "order") == "ba":
        turned = not turned
    order = "ba" if turned else "ab"
    start = blank(
        item.set_id, item.id, part, judge, IMPORTED, _NO_SAMPLING, repeat=repeat, order=order
    )
    text = to_text(cells.get("critic")) or ""
    side = read_critic(text)
    kept = start.model_copy(update={"text": text[:_MAX_WORDS]})
    if side is None:
        why = "says nothing" if not text.strip() else "names no response in its last three lines"
        return unscored(kept, f"The reply {why}.")
    return kept.model_copy(update={"state": "scored", "label": shown_label(side, order)})


def shown_label(side: Literal[1, 2], order: str) -> Label:
    """Return which answer was shown in a place: in order `ba` the second one comes first."""
    return "a" if (side == 1) == (order != "ba") else "b"
