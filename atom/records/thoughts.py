"""What a model thinks aloud before it answers, told apart from what it says."""

from __future__ import annotations

import re
from typing import NamedTuple

_TAG = re.compile(r"<(/?)think(?:ing)?>|◁(/?)think▷", re.IGNORECASE)


class SplitReply(NamedTuple):
    """A reply in its two parts.

    Args:
        answer: what the model says, without the spaces around it.
        thoughts: what stands in think blocks, without their tags.
        unfinished: whether the last block never ends, so that nothing after it is an answer.
    """

    answer: str
    thoughts: str = ""
    unfinished: bool = False


def may_think(text: str) -> bool:
    """Whether a reply may hold thoughts; most hold nothing that a tag begins with."""
    return "<" in text or "◁" in text


def tell_apart(text: str) -> SplitReply:
    """Split a reply into its answer and its thoughts, in one pass.

    The first closing tag ends a block, whatever tags are thought of in it. A closing tag without
    an opening one means that the block was opened in the prompt: all before it is thought. A block
    that never closes leaves nothing behind it.

    Args:
        text: the raw reply; without tags all of it is the answer.
    """
    if not may_think(text):
        return SplitReply(answer=text.strip())
    said: list[str] = []
    thought: list[str] = []
    inside, at = False, 0
    for tag in _TAG.finditer(text):
        piece = text[at : tag.start()]
        at = tag.end()
        closing = bool(tag.group(1) or tag.group(2))
        if inside or not closing:
            (thought if inside else said).append(piece)
        else:
            thought += [*said, piece]
            said = []
        inside = not closing
    (thought if inside else said).append(text[at:])
    return SplitReply(
        answer="".join(said).strip(),
        thoughts="\n".join(part.strip() for part in thought if part.strip()),
        unfinished=inside,
    )
