"""What the comparison of judges shows: cells, groups and pairs of marks."""

from __future__ import annotations

from dataclasses import dataclass

from atom.analysis.agreement.two_judges import BoundedFigure, FigureName, TwoJudges
from atom.records import Checkpoint, Judge
from atom.views.filters import Filters
from atom.views.people.rubric import Rule
from taxonomy import Path

OF_MARKS: tuple[FigureName, ...] = (
    "exact", "kappa", "weighted_kappa", "alpha", "spearman", "shift",
)  # fmt: skip
"""Figures of marks; all of them stand for the two as a whole."""
OF_ANSWERS: tuple[FigureName, ...] = ("spearman", "kendall", "pearson", "shift", "rmse")
"""Figures of answers, whose values have no levels."""
QUESTION_CUT = 300
"""Letters of a question that a link holds."""


@dataclass(frozen=True, kw_only=True)
class PairCell:
    """Two judges on everything that both marked.

    Attributes:
        second: the other.
        found: on the marks that both gave.
        answers: on the values of the answers that both marked, by whatever criteria.
    """

    first: Judge
    second: Judge
    found: TwoJudges
    answers: TwoJudges


@dataclass(frozen=True, kw_only=True)
class AnswerGroup:
    """Two judges' values of answers, by a rule; of one model, or of all (-1)."""

    rule: Rule
    model: int
    found: TwoJudges


@dataclass(frozen=True, kw_only=True)
class MarkGroup:
    """Two judges on a part of the marks.

    Attributes:
        name: what the part is called.
        path: the capability; empty for others.
        model: index of the model; -1 for others.
        found: the figures.
        filters: the chain that leads to the part's marks.
        question: the question's text; empty for others.
    """

    name: str
    found: TwoJudges
    filters: Filters
    path: Path = ()
    model: int = -1
    question: str = ""


@dataclass(frozen=True, kw_only=True)
class MarkPair:
    """One criterion of one answer, as two judges marked it.

    Attributes:
        sample: its question, cut.
        model: index of the candidate.
        criterion: the criterion's text.
        first: the first judge's mark, 0 to 1.
        second: the second's.
        first_marks: its records, one a repeat (or a person).
        second_marks: the second judge's.
        first_door: leads to the mark as the first judge sees the study.
        second_door: as the second does.
    """

    sample_id: str
    sample: str
    model: int
    criterion: str
    first: float
    second: float
    first_marks: tuple[Checkpoint, ...]
    second_marks: tuple[Checkpoint, ...]
    first_door: Filters
    second_door: Filters


@dataclass(frozen=True, kw_only=True)
class PeopleAlike:
    """How far people agree among themselves.

    Attributes:
        people: how many marked.
        n: criteria of answers that two or more of them marked.
        alpha: Krippendorff's alpha for ordered values.
        fleiss: Fleiss' kappa; NaN unless as many people marked each.
    """

    people: int
    n: int
    alpha: BoundedFigure
    fleiss: float


@dataclass(frozen=True, kw_only=True)
class JudgesView:
    """The tab.

    Attributes:
        judges: who marked anything of the study, people after all others, together at last.
        left_out: how many further ones aren't compared.
        cells: every two of them that share marks.
        people: people among themselves; None with fewer than two.
        first: the one that is compared; None where no two share marks.
        names: the candidates' names.
        whole: the two on everything that the filters keep; None where they share nothing.
        nodes: by capability, parents before children.
        questions: by question, where one is asked of several samples.
        answers: their values of whole answers, by every rule that the criteria declare, then by
            model.
        unread: marks of the two that couldn't be read, of those kept.
        marks: a page of marks, those furthest apart first.
        listed: how many there are in the list.
        apart: how many of them differ.
        page: 0-based.
        pages: number of pages.
    """

    judges: tuple[Judge, ...]
    left_out: int
    cells: tuple[PairCell, ...]
    people: PeopleAlike | None
    first: Judge | None
    second: Judge | None
    names: tuple[str, ...]
    whole: TwoJudges | None = None
    nodes: tuple[MarkGroup, ...] = ()
    models: tuple[MarkGroup, ...] = ()
    questions: tuple[MarkGroup, ...] = ()
    answers: tuple[AnswerGroup, ...] = ()
    unread: int = 0
    marks: tuple[MarkPair, ...] = ()
    listed: int = 0
    apart: int = 0
    page: int = 0
    pages: int = 1
