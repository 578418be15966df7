"""Makes a fresh server ready before its first reader is, while their browser still loads the page.

What the first screen needs (libraries, the study, its ranking) takes seconds of processor time once
a process; a browser takes as long to load Streamlit's own parts. Done at the same time, in a thread
beside the server, the first page waits for the longer of the two and not for both. What the other
screens import comes after it.
"""

from __future__ import annotations

import ast
import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from threading import Thread, current_thread

from atom.errors import AtomError
from atom.settings import PROJECT_ROOT

NAME = "atom-warm"
_OWN = "atom."
_NO_SESSION = "streamlit.runtime.scriptrunner_utils.script_run_context"


def start() -> Thread:
    """Begin in a thread that ends with the process."""
    thread = Thread(target=warm, name=NAME, daemon=True)
    thread.start()
    return thread


def warm() -> None:
    """Import what the screens need, and look at the study that opens first.

    A store that can't be opened or read is left to the screen, which says what to do about it.
    """
    from atom.ui.pages import OVERVIEW, SCREENS

    import_module("atom.ui.shell.frame")
    _import_screen(PROJECT_ROOT / OVERVIEW.file)
    with suppress(AtomError), _without_session():
        _first_study()
    for screen in SCREENS:
        _import_screen(PROJECT_ROOT / screen.file)


def _first_study() -> None:
    from atom.ui.shell import stores
    from atom.views.filters import Filters
    from atom.views.overview.page import overview
    from atom.views.overview.welcome import picked_case

    entry = stores.shelf().first
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
