"""One side of two texts that are compared, what only it says marked by more than a colour."""

from __future__ import annotations

from collections.abc import Iterable

from atom.ui import kit, said
from atom.ui.html import Html, el, join
from atom.views.correction.case import DiffPart


def diff_side(parts: Iterable[DiffPart], kind: str) -> Html:
    """Draw one side of a comparison; beyond so many characters it's folded away.

    Args:
        parts: pieces of both texts.
        kind: whose side it is: `gone`, the first's, or `new`, the second's.
    """
    shown: list[Html] = []
    rest: list[Html] = []
    size = 0
    for part in parts:
        if part.kind not in ("same", kind):
            continue
        text, more = part.text, ""
        if size < said.CUT < size + len(text):
            text, more = text[: said.CUT - size], text[said.CUT - size :]
        for piece in filter(None, (text, more)):
            tag = {"gone": "del", "new": "ins"}.get(part.kind)
            made = el(tag, piece) if tag and piece.strip() else join(piece)
            (shown if size < said.CUT else rest).append(made)
            size += len(piece)
    if not size:
        return el("div", kit.quiet("(empty)"), class_="said")
    body = el("div", shown, class_="said")
    if not rest:
        return body
    more_ = el("summary", f"Show all ({size:,} characters)")
    return join(body, el("details", more_, el("div", rest, class_="said"), class_="fold"))
