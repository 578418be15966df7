"""Markup built from values: every string is escaped unless it was made here.

Model and judge output is hostile text. Pages never write tags themselves; they call `el`, so text
can't become markup.
"""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import TypeAlias

from atom.display.numbers import middle
from atom.display.shown import level

_VOID = frozenset(
    (
        "br", "circle", "col", "hr", "img", "input", "line", "meta", "path", "polygon", "polyline",
        "rect", "use",
    )
)  # fmt: skip
_BESIDE = frozenset(("data-tip", "title", "aria-label"))
_MOST_BESIDE = 600
"""Letters of what stands in every cell of a table for whoever points at it."""


class Html(str):
    """Markup that is safe to show as it is."""

    __slots__ = ()

    def __html__(self) -> str:
        """Say to templates that this is markup already."""
        return str(self)


Child: TypeAlias = "Html | str | int | float | Iterable[Child] | None"
Attribute: TypeAlias = "str | int | float | bool | None"


def escape(text: str) -> Html:
    """Turn text into markup that shows exactly this text, and lets what follows be (`level`)."""
    if text.isascii() and text.isalnum():
        return Html(text)
    clean = level(text.encode("utf-8", "replace").decode("utf-8"))
    return Html(html.escape(clean, quote=True))


def join(*children: Child) -> Html:
    """Put children one after the other; strings are escaped, None is nothing."""
    return Html("".join(_pieces(children)))


def _pieces(children: Iterable[Child]) -> Iterable[str]:
    for child in children:
        if child is None:
            continue
        if isinstance(child, Html):
            yield child
        elif isinstance(child, str):
            yield escape(child)
        elif isinstance(child, int | float):
            yield str(child)
        else:
            yield from _pieces(child)


def el(tag: str, *children: Child, **attributes: Attribute) -> Html:
    """Make an element.

    Args:
        tag: its name, written in code.
        children: strings (escaped), markup, numbers, None (nothing), or iterables of these.
        attributes: `class_` and `for_` lose their underscore, other underscores become hyphens;
            True writes the bare name, False and None leave it out. What is said beside an
            element (a tip, a title, a label) is cut in its middle where it is far too long.

    Returns:
        The element as markup.
    """
    parts = []
    for name, value in attributes.items():
        if value is None or value is False:
            continue
        name = name.rstrip("_").replace("_", "-")
        if name in _BESIDE and isinstance(value, str):
            value = middle(value, _MOST_BESIDE)
        parts.append(f" {name}" if value is True else f' {name}="{escape(str(value))}"')
    opening = f"<{tag}{''.join(parts)}"
    if tag in _VOID:
        return Html(f"{opening}/>")
    return Html(f"{opening}>{join(*children)}</{tag}>")
