"""Many readers at once: screens are drawn a few at a time, and memory that is done with goes back.

Streamlit looks through all objects for garbage after every script, while the reader's next step or
what is worked out for them waits. Here it's looked for every few seconds (`tidy`), for all at once.

Python computes in one thread at a time. Fifty scripts that take turns of five milliseconds all come
to their end at the end; worse, one that is stopped while it holds a lock makes all others queue for
it. Drawn a few at a time, each in its turn, the first stand early and all stand sooner.
"""

from __future__ import annotations

import ctypes
import gc
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Semaphore, Thread
from typing import Any, Final

_ARENA_MAX: Final = -8
_MMAP_THRESHOLD: Final = -3
_ARENAS: Final = 4
_LARGE: Final = 1 << 20
"""Bytes from which on an array has pages of its own, which go when it goes."""
TIDY_EVERY: Final = 3.0
"""Seconds between two looks for garbage."""
MOST: Final = 8 * (os.cpu_count() or 1)
"""Screens that are drawn at once: most of them wait, for the disk or for each other's results."""
_turns = Semaphore(MOST)


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


def tidy_behind(after: Thread) -> None:
    """Begin to look for garbage every few seconds, in a thread that ends with the process.

    Args:
        after: what makes the server ready; nothing is looked for while it works.
    """

    def work() -> None:
        after.join()
        seen = 0
        while True:
            time.sleep(TIDY_EVERY)
            seen = tidy(seen)

    Thread(target=work, name="atom-tidy", daemon=True).start()


def tidy(seen: int) -> int:
    """Look through all objects for garbage, where any were made since the last time.

    Args:
        seen: what the last call returned.

    Returns:
        How often Python has looked through the newest objects, which tells work from rest.
    """
    made = int(gc.get_stats()[0]["collections"])
    if made != seen:
        gc.collect()
    return made


@contextmanager
def turn() -> Iterator[None]:
    """Wait until a screen may be drawn."""
    with _turns:
        yield


def read_options_without_lock() -> None:
    """Let scripts read Streamlit's options, which don't change, without waiting for each other.

    Each piece of a page that is sent reads one, under a lock that all sessions share: of fifty
    sessions, most stood there at any moment.
    """
    from streamlit import config

    locked = config.get_option

    def get_option(key: str) -> Any:
        option = config.get_config_options().get(key)
        return locked(key) if option is None else option.value

    vars(config)["get_option"] = get_option
