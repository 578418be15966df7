"""A study's judges side by side, people among them."""

from atom.views.judges.compared import judges_view
from atom.views.judges.given import MOST_PEOPLE, TOGETHER, Given, everyone, shared_marks
from atom.views.judges.listed import PAGE_SIZE
from atom.views.judges.shown import Group, JudgesView, MarkPair, PairCell

__all__ = [
    "MOST_PEOPLE",
    "PAGE_SIZE",
    "TOGETHER",
    "Given",
    "Group",
    "JudgesView",
    "MarkPair",
    "PairCell",
    "everyone",
    "judges_view",
    "shared_marks",
]
