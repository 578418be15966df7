"""Addresses of screens: the chain and the filters live in the URL, and so do moves.

A door's address is relative to the app, so that it works behind any base path. Addresses that come
back from the browser are read as untrusted text.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import parse_qs, quote_plus, urlsplit

from atom.views.filters import KEYS, Filters
from atom.views.node_links import LONGEST

Query = Mapping[str, str | list[str]]

LOCAL_KEYS = (
    "facet", "at", "tab", "by", "run", "endpoint", "colour", "depth", "support",
    "find", "old", "new", "left", "right", "other", "of", "cases", "whole",
    "writer", "pick", "rows", "cols",
    "experiment", "round", "arm", "cohort", "effect", "came", "under",
    "set", "who", "queue", "group", "verdict", "item", "order",
    "beside", "layer",
    "tour", "welcome",
    "vs", "lay",
    "slice", "slice_model", "slice2", "slice2_model",
)  # fmt: skip
"""Keys that belong to one page (a table, a page of a list, whose answer) and not to the chain."""
_MAX_VALUES = 40


def clean_query(query: Query, *, local: bool = True) -> dict[str, list[str]]:
    """Keep the keys that screens know, with values of sane size; drop the rest.

    Args:
        query: what the URL holds.
        local: whether keys of one page stay, too.
    """
    wanted = (*KEYS, *LOCAL_KEYS) if local else KEYS
    found: dict[str, list[str]] = {}
    for key in wanted:
        value = query.get(key, [])
        items = [value] if isinstance(value, str) else list(value)
        kept = [item[:LONGEST] for item in items if isinstance(item, str) and item.strip()]
        if kept:
            found[key] = kept[:_MAX_VALUES]
    return found


def address(page: str, filters: Filters, **local: str | None) -> str:
    """Write the address of a screen.

    Args:
        page: its url path; empty for the first screen.
        local: keys of that page alone (see `LOCAL_KEYS`); None leaves a key out.

    Returns:
        An address relative to the app, `failures?study=...&model=...`.
    """
    query: dict[str, str | list[str]] = dict(filters.to_query())
    query.update({key: value for key, value in local.items() if value})
    pairs = (
        f"{key}={_quoted(one[:LONGEST])}"
        for key, value in query.items()
        for one in ([value] if isinstance(value, str) else value)
    )
    text = "&".join(pairs)
    return f"./{page}?{text}" if text else f"./{page}"


_quoted = lru_cache(4096)(quote_plus)
"""A page holds hundreds of doors, and most of what they say stands in all of them."""


def read_address(text: str) -> tuple[str, dict[str, list[str]]] | None:
    """Read a door's address as it came back from the browser.

    Returns:
        (url path, query), or None when it leads out of the app or isn't an address.
    """
    try:
        parts = urlsplit(text)
    except ValueError:
        return None
    if parts.scheme or parts.netloc:
        return None
    page = parts.path.removeprefix("./").strip("/")
    return page, clean_query(parse_qs(parts.query))
