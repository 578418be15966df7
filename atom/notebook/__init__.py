"""Studies as data frames, for people who live in notebooks."""

from atom.notebook.judging import judge_sample
from atom.notebook.opening import create, open, studies

__all__ = ["create", "judge_sample", "open", "studies"]
