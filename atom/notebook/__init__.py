"""Studies as data frames, for people who live in notebooks."""

from atom.notebook.opening import create, open, studies

__all__ = ["create", "open", "studies"]
