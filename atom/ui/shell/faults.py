"""What a screen says where a store, a disk or a command fails: a sentence, never a traceback.

Streamlit shows what a callback or a fragment raises as a traceback of its own. `install` puts our
sentence in its place, once a process, for everything that `atom.views.stores.fault_of` knows.
"""

from __future__ import annotations

from streamlit import error_util

from atom.errors import AtomError
from atom.ui import kit
from atom.ui.shell import stores
from atom.views.stores import fault_of

_MARK = "_atomscope"


def fault(error: Exception) -> AtomError | None:
    """Return what went wrong, in words; None where it is a bug."""
    return fault_of(error, stores.settings())


def install() -> None:
    """Let what isn't caught anywhere be said in words, where there are any."""
    usual = error_util.show_uncaught_app_exception
    if hasattr(usual, _MARK):
        return

    def show(ex: BaseException) -> None:
        found = fault(ex) if isinstance(ex, Exception) else None
        if found is None:
            usual(ex)
        else:
            kit.show(kit.fault(found), key="fault_uncaught")

    setattr(show, _MARK, True)
    error_util.show_uncaught_app_exception = show
