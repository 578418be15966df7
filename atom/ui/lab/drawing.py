"""Words in a drawing."""

from __future__ import annotations

from atom.ui.html import Html, el


def svg_text(word: str, x: float, y: float, anchor: str, kind: str) -> Html:
    """Write a word into a drawing."""
    return el("text", word, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor, class_=kind)
