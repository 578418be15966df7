"""Makes a fresh server ready before its first reader is.

What the first screen needs (libraries, the study, its ranking) takes seconds of processor time once
a process. It is done in a thread beside the server, whose address is said when it is there: who
comes early, as a proxy may, is served and waits no longer. What the other screens import waits
until the first reader has their screen, or nobody came for a while.
"""

from __future__ import annotations

import ast
import gc
import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from threading import Event, Thread, current_thread

from atom.errors import AtomError
from atom.settings import PROJECT_ROOT

NAME = "atom-warm"
HAND_OVER = 0.0005
"""Seconds until a busy thread lets the others go on, while this one works: at Python's 5 ms, each
file that the browser asks for waits several times."""
NOBODY_CAME = 20.0
DRAWN = 1.5
"""Seconds a browser needs to draw what it was sent, on the same processor perhaps."""
LATER = ("PIL.Image", "PIL.WebPImagePlugin", "plotly.graph_objects", "pandas", "scipy.sparse",
         "scipy.optimize", "threadpoolctl", "openai")  # fmt: skip
"""Libraries that other screens load when they are first looked at, the likeliest first.

The client of models is among them: as long as it is loaded, half of the processor is gone.
"""
_served = Event()
_OWN = "atom."
_NO_SESSION = "streamlit.runtime.scriptrunner_utils.script_run_context"


def start(ready: Callable[[], None]) -> Thread:
    """Begin in a thread that ends with the process.

    Args:
        ready: called there when the first screen can be opened.
    """
    thread = Thread(target=warm, kwargs={"ready": ready}, name=NAME, daemon=True)
    thread.start()
    return thread


def served() -> None:
    """Say that a screen was sent to a reader."""
    _served.set()


def until_served() -> None:
    """Wait until a reader has their screen, or nobody came for a while."""
    if _served.wait(NOBODY_CAME):
        time.sleep(DRAWN)


def warm(wait: Callable[[], None] = until_served, ready: Callable[[], None] = lambda: None) -> None:
    """Import what the screens need, and look at the study that opens first.

    A store that can't be opened or read is left to the screen, which says what to do about it.

    Args:
        wait: called between what the first screen needs and what the others do.
        ready: called before that, whatever happened.
    """
    from atom.ui.pages import OVERVIEW, SCREENS

    usual = sys.getswitchinterval()
    sys.setswitchinterval(HAND_OVER)
    try:
        try:
            gc.disable()  # Modules are no garbage, and looking through them takes a quarter.
            import_module("atom.ui.shell.frame")
            _import_screen(PROJECT_ROOT / OVERVIEW.file)
            gc.enable()
            with suppress(AtomError), _without_session():
                _first_study()
        finally:
            ready()
        wait()
        for screen in SCREENS:
            _import_screen(PROJECT_ROOT / screen.file)
        for library in LATER:
            import_module(library)
        import_module("atom.ui.shell.stores").settle()
    finally:
        gc.enable()
        sys.setswitchinterval(usual)


def _first_study() -> None:
    from atom.ui.shell import stores
    from atom.views.filters import Filters
    from atom.views.overview.page import overview
    from atom.views.overview.welcome import picked_case

    entry = stores.all_studies().first
    if entry is None:
        return
    data = stores.study_data(entry)
    overview(data, Filters(study=entry.key))
    picked_case(stores.store_of(entry), data)


def _import_screen(file: Path) -> None:
    """Import the modules of ours that a screen's script imports."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith(_OWN):
            continue
        module = import_module(str(node.module))
        for one in node.names:
            if not hasattr(module, one.name):
                import_module(f"{node.module}.{one.name}")


@contextmanager
def _without_session() -> Iterator[None]:
    """Silence Streamlit's advice that this thread belongs to nobody's session, which is so."""
    here = current_thread().name

    def others(record: logging.LogRecord) -> bool:
        return record.threadName != here

    logger = logging.getLogger(_NO_SESSION)
    logger.addFilter(others)
    try:
        yield
    finally:
        logger.removeFilter(others)
