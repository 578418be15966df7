"""Atomscope in a notebook: `study = atom.open("My study")`; see docs/notebook.md."""

from atom.notebook import open, studies

__all__ = ["open", "studies"]
