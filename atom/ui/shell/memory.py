"""Memory that is done with goes back to the system."""

from __future__ import annotations

import ctypes
from typing import Final

_ARENA_MAX: Final = -8
_MMAP_THRESHOLD: Final = -3
_ARENAS: Final = 4
_LARGE: Final = 1 << 20
"""Bytes from which on an array has pages of its own, which go when it goes."""


def give_back() -> bool:
    """Have the C library give large arrays back when they are freed; call it before any thread.

    glibc takes the largest array that was freed, up to 32 MB, for what is usual from then on, and
    keeps all up to that size, in eight arenas a core. Streamlit runs each script in a thread of its
    own, and each takes another arena: a server that many look at grew by what each of them had
    looked at. See design/074.

    Returns:
        Whether it could: not on other systems, which have no such habit.
    """
    try:
        choose = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):
        return False
    return bool(choose(_MMAP_THRESHOLD, _LARGE)) and bool(choose(_ARENA_MAX, _ARENAS))
