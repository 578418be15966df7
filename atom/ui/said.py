"""Words of models as plain text, with parts of them marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from atom.ui.html import Html, el, join

CUT = 2000
"""Characters of a model's text that are shown at first."""


_MOST = 100_000


@dataclass(frozen=True, kw_only=True)
class Span:
    """A part of an answer that is marked."""

    start: int
    end: int
    light: str | None = None
    on: bool = False


def said(text: str, spans: Sequence[Span] = (), *, lights: bool = True) -> Html:
    """Show a model's text as plain text, with parts of it marked.

    Text beyond 2,000 characters is folded away, unless a mark lies in it.

    Args:
        text: hostile text; it is escaped.
        spans: parts to mark; overlapping ones are cut at the first.
        lights: whether marks answer to what is hovered.
    """
    if not text.strip():
        return el("div", el("span", "(empty)", class_="quiet"), class_="said")
    text = text[:_MOST]
    pieces, at = [], 0
    for span in sorted(spans, key=lambda item: (item.start, item.end)):
        start, end = max(span.start, at), min(span.end, len(text))
        if start >= end:
            continue
        pieces.append(join(text[at:start]))
        pieces.append(
            el("mark", text[start:end], data_light=span.light, data_on="1" if span.on else None)
        )
        at = end
    shown = max(at, CUT)
    rest = text[shown:]
    pieces.append(join(text[at:shown]))
    body = el("div", pieces, class_="said", data_lights=lights)
    if not rest:
        return body
    more = el("summary", f"Show all ({len(text):,} characters)")
    return join(body, el("details", more, el("div", rest, class_="said"), class_="fold"))
