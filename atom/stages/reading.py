"""What all stages share when they read a judge's reply."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from atom.judge.replies.objects import extract_object
from atom.judge.replies.values import stated_number
from atom.judge.reply import Reply

MAX_REASON = 1000
"""Characters of a reason or quote that are kept."""
MISFIT_NOTE = "The reply broke its schema; every item was checked one by one."
CUT_NOTE = "The reply was cut; what was whole by then was read."

_NOT_COVERED = {
    "type": "object",
    "properties": {"not_covered": {"type": "string", "minLength": 1}},
    "required": ["not_covered"],
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Usable:
    """The object in a reply, or why there is none.

    Args:
        data: the object that the gate examines; None when the reply is unusable.
        reason: one sentence, when there is none.
        note: what had to be overlooked; empty as a rule.
        cut: whether the reply ended inside the object: `data` holds what was whole by then.
    """

    data: Mapping[str, object] | None
    reason: str = ""
    note: str = ""
    cut: bool = False


def read_reply(reply: Reply, key: str, *, partial: bool = False) -> Usable:
    """Take the object out of a reply.

    Args:
        reply: what the judge client brought.
        key: the list or text that the object can't be without.
        partial: whether the whole items of a list that was cut are of use, each by itself. They
            aren't where the items make up one thing together, as steps and criteria do.

    Returns:
        The object. A reply that breaks the schema even after the client's repair turn isn't
        thrown away whole: if its object holds the key, the gate looks at it item by item, so that
        one impossible score costs one checkpoint. A refused reply is never read.
    """
    data = reply.data if reply.ok else None
    note = ""
    cut = False
    if reply.state == "unreadable" or (reply.state == "cut" and partial):
        lines = reply.state != "cut"
        loose = {"type": "object", "required": [key]}
        found = extract_object(reply.text, loose, lines=lines, partial=partial)
        data, cut = found.data, found.cut
        if data is None and reply.state == "unreadable":
            data = extract_object(reply.text, _NOT_COVERED).data
        note = CUT_NOTE if cut else MISFIT_NOTE
    if data is None:
        return Usable(data=None, reason=reply.reason or f"The reply can't be used: {reply.state}.")
    if key not in data:
        declined_text = str(data.get("not_covered", "")).strip()
        if declined_text:
            return Usable(data=None, reason=f"not covered: {one_line(declined_text)}")
        return Usable(data=None, reason=f"The reply has no {key!r}.")
    return Usable(data=data, note=note, cut=cut)


def one_line(text: str, limit: int = MAX_REASON) -> str:
    """Return a text on one line, shortened where it's too long."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def text_of(value: object) -> str:
    """Return a text value without the spaces around it; a number as written; else nothing."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return ""


def number_of(value: object) -> float | None:
    """Return a plain number that was stated, NaN for its name; None for anything else."""
    stated = stated_number(value)
    return None if stated is None or stated.of is not None or stated.unit else stated.number
