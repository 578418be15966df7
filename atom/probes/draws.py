"""Random draws that are pure functions of what they are drawn for.

No global state: the same key gives the same draw in every process, thread
and order of calls, so an answer depends on its model, program and repeat alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from random import Random
from statistics import NormalDist
from typing import TypeVar

T = TypeVar("T")
Key = str | int | float | None

_NORMAL = NormalDist()


class Draws:
    """Draws below one key, the *prefix*, e.g. (world seed, model, sample, repeat).

    Args:
        prefix: what every draw of this object depends on.
    """

    def __init__(self, *prefix: Key) -> None:
        self._state = blake2b(digest_size=8)
        for part in prefix:
            _feed(self._state, part)

    def below(self, *key: Key) -> Draws:
        """Return draws below the longer key (prefix, key)."""
        made = Draws()
        made._state = self._state.copy()
        for part in key:
            _feed(made._state, part)
        return made

    def uniform(self, *key: Key) -> float:
        """Draw from the open interval (0, 1)."""
        state = self._state.copy()
        for part in key:
            _feed(state, part)
        return (int.from_bytes(state.digest(), "big") + 0.5) / 2.0**64

    def normal(self, *key: Key) -> float:
        """Draw from the standard normal distribution (inverse of its distribution function)."""
        return _NORMAL.inv_cdf(min(max(self.uniform(*key), 1e-12), 1 - 1e-12))

    def integer(self, below: int, *key: Key) -> int:
        """Draw from 0 .. below - 1."""
        return min(int(self.uniform(*key) * below), below - 1)

    def pick(self, items: Sequence[T], *key: Key) -> T:
        """Draw one of the items."""
        return items[self.integer(len(items), *key)]

    def generator(self, *key: Key) -> Random:
        """Return a private generator that is seeded by the key, for many draws in one place."""
        return Random(int(self.uniform(*key) * 2**53))

    def shuffled(self, items: Sequence[T], *key: Key) -> list[T]:
        """Return the items in a drawn order."""
        order = sorted(range(len(items)), key=lambda i: self.uniform(*key, "place", i))
        return [items[i] for i in order]


def _feed(state: blake2b, part: Key) -> None:
    text = f"{type(part).__name__}:{part}".encode("utf-8", errors="surrogatepass")
    state.update(len(text).to_bytes(4, "big"))
    state.update(text)
