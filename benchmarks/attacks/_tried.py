"""What a group of attacks gives back: what was tried, and what fell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from atom.errors import AtomError

_MOST_WORDS = 300


class CannotTryError(Exception):
    """A group needs something that this computer doesn't have; it says what."""


@dataclass(frozen=True, kw_only=True)
class Tried:
    """One attack.

    Args:
        name: what was tried; unique in its group.
        fell: what went wrong, in words; empty where it held.
    """

    name: str
    fell: str = ""


def refuses(name: str, act: Callable[[], object], *, may_pass: bool = False) -> Tried:
    """Try something that has to be refused with a sentence of ours.

    Args:
        name: what is tried.
        act: the attack.
        may_pass: whether it may also simply work.

    Returns:
        Held where an `AtomError` came, or nothing did and that is fine; fell for anything else.
    """
    try:
        act()
    except AtomError:
        return Tried(name=name)
    except Exception as error:  # noqa: BLE001 - any other exception is what is looked for
        return Tried(name=name, fell=f"{type(error).__name__}: {error}"[:_MOST_WORDS])
    return Tried(name=name, fell="" if may_pass else "it was taken without a word")
