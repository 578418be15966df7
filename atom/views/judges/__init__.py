"""A study's judges side by side, people among them."""

from atom.views.judges.compared import judges_view
from atom.views.judges.given import MOST_PEOPLE, TOGETHER, ValuedMarks, everyone, shared_marks
from atom.views.judges.listed import PAGE_SIZE
from atom.views.judges.shown import JudgesView, MarkGroup, MarkPair, PairCell

__all__ = [
    "JudgesView",
    "MOST_PEOPLE",
    "MarkGroup",
    "MarkPair",
    "PAGE_SIZE",
    "PairCell",
    "TOGETHER",
    "ValuedMarks",
    "everyone",
    "judges_view",
    "shared_marks",
]
