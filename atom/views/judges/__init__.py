"""A study's judges side by side, people among them."""

from atom.views.judges.compared import judges_view
from atom.views.judges.listed import PAGE_SIZE
from atom.views.judges.mark_groups import JudgesView, MarkGroup, MarkPair, PairCell
from atom.views.judges.marks import MOST_PEOPLE, TOGETHER, ValuedMarks, everyone, shared_marks

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
