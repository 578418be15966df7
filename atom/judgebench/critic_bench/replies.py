"""Replies to CriticBench that were made elsewhere: published prediction files, or our own lines.

A published file is `<split>_<domain>_<dimension>_<obj|sub>[_reverse|_correction_part].json`, an
object `{"0": {"origin_prompt": ..., "prediction": ...}, ...}` whose keys are the data file's rows.
Our own form is a JSON line a reply: `item` (the item's id), `part`, `order`, `repeat`, `reply`.

Reference: CriticBench appendix G; METHODS A18, flags.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from atom.errors import FormatError
from atom.formats.base import ImportFile
from atom.formats.rows import Row
from atom.judgebench.base import Replies
from atom.judgebench.critic_bench.ask import (
    COMPARE,
    CORRECTION,
    FEEDBACK,
    MAX_WRITTEN,
    META,
    is_corrected,
)
from atom.judgebench.critic_bench.files import CriticPlace, expand
from atom.judgebench.critic_bench.rows import READ_AS_RELEASED
from atom.judgebench.reading import IMPORTED, ReadingNotes, Unusable, repeat_of, rows_of
from atom.records import BenchItem, Sampling, Verdict
from atom.records.thoughts import tell_apart
from atom.stages.verdicts import blank, unscored

_FILE = re.compile(
    r"(?:(?P<split>dev|test|train)_)?(?P<domain>\w+?)_"
    r"(?P<what>comp_feedback|meta_feedback|feedback|correction)_(?P<flag>obj|sub)"
    r"(?P<rest>_reverse|_correction_part)?"
)
_PARTS: Final = {
    "feedback": FEEDBACK,
    "comp_feedback": COMPARE,
    "meta_feedback": META,
    "correction": CORRECTION,
}
_OPTION = re.compile(r"Decision:\s*([ABC])\b")
_NUMBER = re.compile(r"(?:Decision|Score):\s*(-?\d+(?:\.\d+)?)(?![\w.]*\d)")
_FIRST_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_KINDS: Final = {FEEDBACK: "answer", CORRECTION: "answer", COMPARE: "pair", META: "critique"}


class _RepliesRead(ReadingNotes):
    """What was read so far."""

    def __init__(self, items: Mapping[str, BenchItem], judge: str) -> None:
        super().__init__()
        self.items = items
        self.judge = judge
        self.verdicts: dict[str, Verdict] = {}


@dataclass(frozen=True, kw_only=True)
class _FileName:
    """What a prediction file's name says."""

    split: str
    domain: str
    part: str
    what: str
    flag: str
    order: str


def read_replies(files: Sequence[ImportFile], items: Sequence[BenchItem], judge: str) -> Replies:
    """Read replies and join them to the set.

    Args:
        files: prediction files, a folder of them, or our own lines.

    Returns:
        A verdict a reply. The last verdict that was offered counts, `Decision: A|B|C` or a score
        from 1 to 7; a reply without one is unscored. A file of scores and one of texts about the
        same item become one verdict.

    Raises:
        FormatError: no file can be read.
    """
    read = _RepliesRead({item.id: item for item in items}, judge)
    rows = _rows_of(items)
    every, broken = list(expand(files)), []
    for file in every:
        named = _named(file.stem)
        try:
            for _, row in rows_of([file], read):
                if named is not None and "prediction" in row.values:
                    _published(read, rows, named, row)
                else:
                    _own(read, row)
        except FormatError as error:
            broken.append(error)
            read.skipped.append(f"{file.name}: {error.message}")
    if broken and len(broken) == len(every):
        raise broken[0]
    return Replies(
        verdicts=tuple(read.verdicts.values()),
        skipped=tuple(read.skipped),
        notes=read.notes(),
    )


def _named(stem: str) -> _FileName | None:
    match = _FILE.fullmatch(stem)
    if match is None:
        return None
    part, rest = _PARTS[match["what"]], match["rest"] or ""
    what = {FEEDBACK: "feedback", CORRECTION: "feedback", COMPARE: "comp_feedback"}.get(part, part)
    backward = rest == "_reverse"
    return _FileName(
        split=match["split"] or "",
        domain=match["domain"],
        part=part,
        what="correction_part" if rest == "_correction_part" else what,
        flag=match["flag"],
        order="" if part != COMPARE else "ba" if backward else "ab",
    )


Rows = Mapping[tuple[str, str, int], Sequence[tuple[CriticPlace, BenchItem]]]


def _rows_of(items: Sequence[BenchItem]) -> Rows:
    """Index items by domain, file and row."""
    found: dict[tuple[str, str, int], list[tuple[CriticPlace, BenchItem]]] = {}
    for item in items:
        for text in item.data.get("places", ()):
            place = CriticPlace.parse(text)
            key = (item.data["domain"], place.what, place.row)
            found.setdefault(key, []).append((place, item))
    return found


def _published(read: _RepliesRead, rows: Rows, named: _FileName, row: Row) -> None:
    """Join a row of a prediction file by its number, and check that it asks the item's question."""
    number = str(row.values.get("id", ""))
    if not number.isdecimal() or len(number) > 9:
        read.skip(row.place, f"its key {number[:40]!r} is no row number")
        return
    fitting = [
        item
        for place, item in rows.get((named.domain, named.what, int(number)), ())
        if place.flag in ("", named.flag)
        and (not place.split or not named.split or place.split == named.split)
    ]
    if not fitting:
        read.skip(row.place, f"the set has no row {number} of {named.domain} ({named.what})")
        return
    asked = _prompt(row.values.get("origin_prompt"))
    mine = [item for item in fitting if not asked or _shows(asked, item)]
    if len(mine) != 1:
        reason = "its prompt shows another question" if not mine else "several rows of the set fit"
        read.skip(row.place, reason)
        return
    reply = row.values.get("prediction")
    text = reply if isinstance(reply, str) else ""
    scored = named.flag == "obj"
    _take(read, row, mine[0], named.part, named.order, 0, text, wants=scored)


def _prompt(value: object) -> str:
    """Return a prompt's text; it may be a conversation."""
    if isinstance(value, str):
        return value
    turns = value if isinstance(value, list) else []
    texts = [turn.get("prompt") for turn in turns if isinstance(turn, Mapping)]
    return "\n".join(text for text in texts if isinstance(text, str))


def _shows(prompt: str, item: BenchItem) -> bool:
    data = item.data
    texts = [data["question"], data["first"], data["second"]] if data["kind"] == "pair" else [
        data["question"], data["answer"]]  # fmt: skip
    flat = "".join(prompt.split())
    return all("".join(text.split()) in flat for text in texts)


def _own(read: _RepliesRead, row: Row) -> None:
    """Take in one of our own lines."""
    values = row.values
    item = read.items.get(str(values.get("item", "")))
    part, order = str(values.get("part", "")), str(values.get("order") or "")
    if item is None:
        named = str(values.get("item", ""))[:60]
        read.skip(row.place, f"the set has no item {named!r}; give `item`, `part` and `reply`")
        return
    if _KINDS.get(part) != item.data["kind"] or (
        part == CORRECTION and not is_corrected(item.data)
    ):
        read.skip(row.place, f"this item has no part {part[:40]!r}")
        return
    if (part == COMPARE) != (order in ("ab", "ba")):
        read.skip(row.place, "the order is `ab` or `ba` for comparisons, and empty for the rest")
        return
    try:
        repeat = repeat_of(values.get("repeat")) or 0
    except Unusable as why:
        read.skip(row.place, str(why))
        return
    reply = values.get("reply")
    text = reply if isinstance(reply, str) else ""
    _take(read, row, item, part, order, repeat, text, wants=True)


def _take(
    read: _RepliesRead,
    row: Row,
    item: BenchItem,
    part: str,
    order: str,
    repeat: int,
    reply: str,
    *,
    wants: bool,
) -> None:
    """Make the verdict of a reply; one that is there already is completed, or replaced.

    Args:
        read: what was read so far.
        row: where the reply stands.
        part: what was asked.
        order: how a pair was shown.
        repeat: 0-based.
        reply: the text.
        wants: whether it should hold a verdict; a text of the subjective part needs none.
    """
    empty = blank(
        item.set_id, item.id, part, read.judge, IMPORTED, Sampling(), repeat=repeat, order=order
    )
    verdict = _verdict(empty, reply, wants=wants and part != CORRECTION)
    there = read.verdicts.get(empty.key)
    if there is not None:
        if _is_text(there) == _is_text(verdict):
            read.tally("the same question again: the last one counts", row.place)
        elif _is_text(verdict):
            verdict = there.model_copy(update={"text": verdict.text})
        else:
            verdict = verdict.model_copy(update={"text": there.text})
    read.verdicts[empty.key] = verdict


def _is_text(verdict: Verdict) -> bool:
    """Whether it is a text without a verdict in it."""
    return verdict.state == "scored" and verdict.value is None and not verdict.label


def _verdict(empty: Verdict, reply: str, *, wants: bool) -> Verdict:
    said = tell_apart(reply).answer[:MAX_WRITTEN]
    if not said.strip():
        return unscored(empty, "there is no reply")
    found: dict[str, object] = {"state": "scored", "text": said.strip()}
    if not wants:
        return empty.model_copy(update=found)
    if empty.part == COMPARE:
        letter = read_option(said)
        if letter is None:
            return _unread(empty, said, "no `Decision: A`, `B` or `C` in it")
        shown = {"A": empty.order[0], "B": empty.order[1], "C": "tie"}
        return empty.model_copy(update={**found, "label": shown[letter]})
    data = {} if (released := read_released(said)) is None else {READ_AS_RELEASED: released}
    score = read_score(said)
    if score is None:
        return _unread(empty, said, "no `Decision:` or `Score:` from 1 to 7 in it", data)
    return empty.model_copy(update={**found, "value": score, "data": data})


def _unread(
    empty: Verdict, said: str, reason: str, data: Mapping[str, object] | None = None
) -> Verdict:
    return unscored(empty, reason).model_copy(update={"text": said, "data": dict(data or {})})


def read_option(text: str) -> str | None:
    """Return the last option that a reply decides for: `A`, `B` or `C` (neither)."""
    found = _OPTION.findall(text)
    return str(found[-1]) if found else None


def read_score(text: str) -> float | None:
    """Return the last score from 1 to 7 that a reply gives after `Decision:` or `Score:`."""
    scores = [float(number) for number in _NUMBER.findall(text)]
    good = [score for score in scores if 1 <= score <= 7]
    return good[-1] if good else None


def read_released(text: str) -> float | None:
    """Return the number that the released parser makes of a reply.

    It takes what follows the first `Decision:` or `Score:` on its line, else the last number
    anywhere, and lets numbers beyond 7 stand.

    Reference:
        METHODS flags on [CB] (invalid scores stay in the Spearman input).
    """
    for mark in ("Decision: ", "Score: "):
        _, found, rest = text.partition(mark)
        match = _FIRST_NUMBER.match(rest.lstrip()) if found else None
        if match:
            return _finite(match[0])
    words = [one for one in text.replace("=", "= ").split() if _FIRST_NUMBER.fullmatch(one)]
    return _finite(words[-1]) if words else None


def _finite(digits: str) -> float | None:
    number = float(digits)
    return number if math.isfinite(number) else None
