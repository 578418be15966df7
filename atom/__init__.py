"""Atomscope in a notebook: `study = atom.open("My study")`; see docs/notebook.md."""

from atom.notebook import create, open, studies

__all__ = ["create", "open", "studies"]
