"""Results that are kept, and made once for all who ask at the same time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from threading import Event, Lock, get_ident
from typing import Any, TypeVar, cast

T = TypeVar("T")


@dataclass
class _Making:
    """A result that a thread is making.

    Attributes:
        by: the thread.
        over: set when it has ended.
        made: the result, as the one value of a list; empty where it came to nothing.
    """

    by: int = field(default_factory=get_ident)
    over: Event = field(default_factory=Event)
    made: list[object] = field(default_factory=list)


class ResultCache:
    """Results kept under a key, the most recently used ones; safe to share between threads.

    Of several threads that ask for the same missing result at once, one makes it, and the others
    wait for it and are given the same. Where the one fails, the next makes it.

    Args:
        most: so many are kept.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: OrderedDict[Hashable, object] = OrderedDict()
        self._under_way: dict[Hashable, _Making] = {}
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what is kept under a key, made now if it isn't there.

        Args:
            key: what the result depends on; one key always stands for one kind of result.
            make: makes it; it may ask for other keys, whose results don't ask for this one.
        """
        while True:
            with self._lock:
                if key in self._held:
                    self._held.move_to_end(key)
                    return cast("T", self._held[key])
                other = self._under_way.get(key)
                if other is None:
                    own = self._under_way[key] = _Making()
                    break
            if other.by == get_ident():
                raise RuntimeError(f"to make {key!r} it is needed itself")
            other.over.wait()
            if other.made:
                return cast("T", other.made[0])
        return self._make(key, make, own)

    def _make(self, key: Hashable, make: Callable[[], T], own: _Making) -> T:
        try:
            made = make()
            own.made.append(made)
            return made
        finally:
            with self._lock:
                del self._under_way[key]
                for result in own.made:
                    self._held[key] = result
                    while len(self._held) > self._most:
                        self._held.popitem(last=False)
            own.over.set()

    def has(self, key: Hashable) -> bool:
        """Say whether a result is kept under a key."""
        with self._lock:
            return key in self._held

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without what is kept: it can be made again."""
        return (ResultCache, (self._most,))
