"""What all stages share when they read a judge's reply."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from atom.judge.reply import Reply
from atom.judge.reply_json import extract_object

MAX_REASON = 1000
"""Characters of a reason or quote that are kept."""
MISFIT_NOTE = "The reply broke its schema; every item was checked one by one."

_NOT_COVERED = {
    "type": "object",
    "properties": {"not_covered": {"type": "string", "minLength": 1}},
    "required": ["not_covered"],
}
_NUMBER = re.compile(r"\s*[+-]?[0-9]{1,12}(?:\.[0-9]{1,12})?\s*")
_THINK = re.compile(r"<(think(?:ing)?)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_THINK_TAIL = re.compile(r"\A.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_THINK_OPEN = re.compile(r"<think(?:ing)?>", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Usable:
    """The object in a reply, or why there is none.

    Args:
        data: the object that the gate examines; None when the reply is unusable.
        reason: one sentence, when there is none.
        note: what had to be overlooked; empty as a rule.
    """

    data: Mapping[str, object] | None
    reason: str = ""
    note: str = ""


def read_reply(reply: Reply, key: str) -> Usable:
    """Take the object out of a reply.

    Args:
        reply: what the judge client brought.
        key: the list or text that the object can't be without.

    Returns:
        The object. A reply that breaks the schema even after the client's repair turn isn't
        thrown away whole: if its object holds the key, the gate looks at it item by item, so that
        one impossible score costs one checkpoint. A cut or refused reply is never read.
    """
    data = reply.data if reply.ok else None
    note = ""
    if reply.state == "unreadable":
        declined = extract_object(reply.text, _NOT_COVERED).data
        loose = {"type": "object", "required": [key]}
        data = extract_object(reply.text, loose).data or declined
        note = MISFIT_NOTE
    if data is None:
        return Usable(data=None, reason=reply.reason or f"The reply can't be used: {reply.state}.")
    if key not in data:
        declined_text = str(data.get("not_covered", "")).strip()
        if declined_text:
            return Usable(data=None, reason=f"not covered: {one_line(declined_text)}")
        return Usable(data=None, reason=f"The reply has no {key!r}.")
    return Usable(data=data, note=note)


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


def without_thoughts(text: str) -> str:
    """Leave out think blocks: an answer is what a model says after thinking.

    A closing tag alone means that the block was opened in the prompt; a block that never closes
    leaves nothing after it.
    """
    text = _THINK.sub("", text)
    text = _THINK_TAIL.sub("", text)
    opened = _THINK_OPEN.search(text)
    return (text[: opened.start()] if opened else text).strip()


def number_of(value: object) -> float | None:
    """Return a number that was stated as one or as its digits; NaN for its name, else None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value) if abs(value) < 1e300 else math.inf
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        return float(value)
    if isinstance(value, str) and value.strip().casefold() in ("nan", "inf", "infinity"):
        return math.nan
    return None
