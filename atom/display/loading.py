"""Loads what libraries of charts look for, safely while another thread loads libraries, too."""

from __future__ import annotations

from importlib import import_module


def whole_pandas() -> None:
    """Load pandas to its end, before plotly or Altair looks whether it is there.

    Both look at the list of modules, where it stands from the moment that another thread begins to
    load it: half of it then has no `Series`. An import waits until that thread has ended.
    """
    import_module("pandas")
