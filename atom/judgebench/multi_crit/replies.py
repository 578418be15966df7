"""Multi-Crit's replies that were made elsewhere: published rows with an added `critic`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, Literal

from atom.formats.base import ImportFile
from atom.formats.cells import to_text
from atom.formats.rows import Row
from atom.judgebench.base import Replies
from atom.judgebench.multi_crit.criteria import find_criterion
from atom.judgebench.multi_crit.files import (
    CriteriaPair,
    Label,
    PreferredCriterion,
    name_in,
    pair_of,
    split_of,
    stem_of,
    texts_in,
)
from atom.judgebench.reading import IMPORTED, ReadingNotes, Unusable, repeat_of, rows_of
from atom.records import BenchItem, Sampling, Verdict
from atom.records.thoughts import tell_apart
from atom.stages.verdicts import blank, unscored

_LAST_LINES: Final = 3
_SENTENCE: Final = re.compile(r"\bresponse\s*([12])\s*is\s*(?:the\s+)?better\b", re.IGNORECASE)
_NO_SAMPLING: Final = Sampling()
_MAX_WORDS: Final = 4000
"""Characters of a judge's words that are kept with its verdict."""


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
    notes = ReadingNotes()
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


_Place = tuple[BenchItem, CriteriaPair, PreferredCriterion]


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
    split, row_id = split_of(cells, file), name_in(cells, "question_id")
    if (split, row_id) in places:
        return places[split, row_id]
    answers, question = texts_in(cells, "pred_a", "pred_b"), to_text(cells.get("question")) or ""
    stem = stem_of(row_id, name_in(cells, "criterion"), split, question, answers)
    found = places.get((stem, find_criterion(name_in(cells, "criterion")).key))
    if found is None and not split:
        known = [place for (_, name), place in places.items() if row_id and name == row_id]
        return known[0] if len(known) == 1 else None
    return found if found is None or not split or found[1].split == split else None


def _part(row: Row, entry: PreferredCriterion) -> str:
    return f"{'joint' if name_in(row.values, 'part') == 'joint' else 'single'}/{entry.key}"


def _reply(
    row: Row, item: BenchItem, pair: CriteriaPair, part: str, judge: str, repeat: int
) -> Verdict:
    cells = row.values
    answers = texts_in(cells, "pred_a", "pred_b")
    turned = answers == (pair.answers[1], pair.answers[0]) and answers[0] != answers[1]
    if name_in(cells, "order") == "ba":
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
