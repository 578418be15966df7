"""Atomscope in a notebook: `study = atom.open("My study")`; see docs/notebook.md."""

from atom.notebook import create, judge_sample, open, studies

__all__ = ["create", "judge_sample", "open", "studies"]
