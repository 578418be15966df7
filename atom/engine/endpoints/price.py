"""What asking endpoints costs and where it goes, in words."""

from __future__ import annotations

from collections.abc import Iterable

from atom.display.numbers import money
from atom.records import Endpoint


def cost_words(tokens: int | None, cost: float | None, asked: Iterable[Endpoint]) -> str:
    """Write `about 1,900 tokens, $0.0040, to api.host`.

    Args:
        tokens: tokens in and out, about; None = they aren't said.
        cost: USD; None where a price is unknown.
        asked: the endpoints that are asked.
    """
    asked = list(asked)
    about = "" if tokens is None else f"about {_round(tokens):,} tokens, "
    if all(endpoint.is_probe and not endpoint.url for endpoint in asked):
        return f"{about}free, offline"
    hosts = ", ".join(dict.fromkeys(endpoint.host for endpoint in asked if endpoint.url))
    return f"{about}{money(cost)}, to {hosts}"


def _round(tokens: int) -> int:
    return tokens if tokens < 1000 else round(tokens, -2)
