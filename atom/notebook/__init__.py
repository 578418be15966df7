"""Studies as data frames, for people who live in notebooks."""

from atom.notebook.opening import open, studies

__all__ = ["open", "studies"]
