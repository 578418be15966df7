"""A study's judges side by side, people among them: two at a time, mark by mark.

Two judges are compared on what both marked: over everything, by capability, by model, and by
question where one is asked of many samples. Each figure leads to its marks, those that lie furthest
apart first.

Reference: METHODS A7, B12 (agreement), B3 (intervals), T11 (marks on any scale).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from atom.analysis.agreement.raters import alpha_interval, krippendorff_alpha
from atom.analysis.agreement.rubric import UnreadRule
from atom.analysis.agreement.two_judges import BoundedFigure, JointMarks, fleiss_kappa
from atom.analysis.exact import snapped
from atom.records import Judge
from atom.store import Store
from atom.store.people import ALL_PEOPLE, PEOPLE
from atom.views.filters import Filters, answers_kept
from atom.views.judges.groups import (
    LEAST,
    GroupSources,
    asked_questions,
    by_model,
    by_node,
    by_question,
)
from atom.views.judges.listed import PAGE_SIZE, listed_marks, mark_pairs
from atom.views.judges.mark_groups import (
    OF_ANSWERS,
    OF_MARKS,
    AnswerGroup,
    JudgesView,
    PairCell,
    PeopleAlike,
)
from atom.views.judges.marks import (
    MOST_PEOPLE,
    TOGETHER,
    AllJudgesMarks,
    SharedMarks,
    everyone,
    shared_marks,
)
from atom.views.people.rubric import TITLES, Rule
from atom.views.study_data import StudyData

Load = Callable[[str], StudyData]
"""Reads the study as a judge sees it."""
MOST_JUDGES = 12
"""Judges that are compared with each other, models and programs before people."""
MOST_PERSONS = 60
"""People that are read, those with the most marks first."""
_MANY = 200_000
"""Marks above which only the whole has an interval."""
_SEED = 27


def judges_view(
    store: Store,
    data: StudyData,
    load: Load,
    filters: Filters,
    *,
    first: str | None = None,
    second: str | None = None,
    question: str = "",
    page: int = 0,
    unread: UnreadRule = "left out",
) -> JudgesView:
    """Compare a study's judges.

    Args:
        data: the study, as it is looked at.
        load: reads it as another judge sees it.
        filters: tags, root and the like narrow all figures; model and capability choose the marks.
        first: a judge's id or name; None = the one that is looked at.
        second: another's; None = the one that shares most marks with the first.
        question: keeps the list of marks to this question.
        page: of the list of marks, 0-based.
        unread: how marks that couldn't be read count.
    """
    single = [judge for judge in data.judges if judge.id != PEOPLE]
    known = sorted(single, key=lambda judge: judge.kind == "person")[:MOST_JUDGES]
    # People together are all of them, also those who aren't compared one by one.
    persons = [judge for judge in single if judge.kind == "person"][:MOST_PERSONS]
    people = [judge.id for judge in persons]
    read = {judge.id: judge for judge in (*known, *persons)}
    seen = {name: data if _same(data, one) else load(name) for name, one in read.items()}
    if len(people) > 1:
        seen[PEOPLE] = data if _same(data, ALL_PEOPLE) else load(PEOPLE)
    all_ = everyone(data, seen, people, unread)
    judges = (*known, *(judge for judge in TOGETHER if judge.id in all_.marks))
    cells = _cells(judges, all_, filters)
    one, other = _chosen(data, judges, cells, first, second)
    base = JudgesView(
        judges=judges,
        left_out=len(single) - len(known),
        cells=cells,
        people=_people(all_, people, filters),
        first=one,
        second=other,
        names=tuple(candidate.name for candidate in data.candidates),
    )
    if one is None or other is None:
        return base
    return _compared(store, base, all_, seen, filters, question, page)


def _same(data: StudyData, judge: Judge) -> bool:
    return data.judge is not None and data.judge.id == judge.id


def _chosen(
    data: StudyData,
    judges: Sequence[Judge],
    cells: Sequence[PairCell],
    first: str | None,
    second: str | None,
) -> tuple[Judge | None, Judge | None]:
    """Return the two that are compared: those asked for, else the pair that shares most."""

    def find(name: str | None) -> Judge | None:
        return next((one for one in judges if name and name in (one.id, one.name)), None)

    one, other = find(first), find(second)
    if one is not None and other is not None and one.id != other.id:
        return one, other
    fixed = one or (find(data.judge.id) if data.judge is not None else None)
    most = sorted(cells, key=lambda cell: -cell.found.n)
    pairs = [(cell.first, cell.second) for cell in most]
    near = [pair for pair in pairs if fixed is None or fixed.id in (pair[0].id, pair[1].id)]
    if not near:
        return pairs[0] if pairs else (None, None)
    a, b = near[0]
    return (b, a) if fixed is not None and b.id == fixed.id else (a, b)


def _cells(judges: Sequence[Judge], all_: AllJudgesMarks, filters: Filters) -> tuple[PairCell, ...]:
    found = []
    for one, other in combinations(judges, 2):
        if _part_of_other(one, other):
            continue
        shared = _kept(all_, one, other, filters)
        marks = JointMarks(shared.first, shared.second, all_.cluster(shared.key))
        answers = _answers(all_, one, other, filters).agreement(
            rng=np.random.default_rng(_SEED), figures=OF_ANSWERS[:1]
        )
        if len(shared.key) or answers.n:
            agreement = marks.agreement(rng=np.random.default_rng(_SEED), figures=OF_MARKS)
            found.append(PairCell(first=one, second=other, found=agreement, answers=answers))
    return tuple(found)


def _answers(
    all_: AllJudgesMarks, one: Judge, other: Judge, filters: Filters, rule: Rule = "plain"
) -> JointMarks:
    """Put two judges' values of answers together; most people give no value to an answer."""
    table = all_.data.table
    none = np.full(len(table.sample), np.nan)
    keep = answers_kept(all_.data, filters)
    first, second = (
        np.where(keep, all_.worth.get((judge.id, rule), none), np.nan) for judge in (one, other)
    )
    return JointMarks(first, second, table.cluster[table.sample].astype(np.int64))


def _by_rule(
    all_: AllJudgesMarks, one: Judge, other: Judge, filters: Filters
) -> tuple[AnswerGroup, ...]:
    """Compare two judges' values of answers: all by every rule, then model by model as marked."""
    rng = np.random.default_rng(_SEED)
    rules = [rule for rule in TITLES if {(one.id, rule), (other.id, rule)} & all_.worth.keys()]
    found = []
    for rule in rules:
        # A judge whose criteria declare no such rule is as it marked.
        worth = {
            (judge.id, rule): all_.worth[
                judge.id, rule if (judge.id, rule) in all_.worth else "plain"
            ]
            for judge in (one, other)
            if (judge.id, "plain") in all_.worth
        }
        both = _answers(replace(all_, worth=worth), one, other, filters, rule)
        found.append(
            AnswerGroup(rule=rule, model=-1, found=both.agreement(rng=rng, figures=OF_ANSWERS))
        )
    both = _answers(all_, one, other, filters)
    for number in range(all_.data.table.n_models):
        rows = np.asarray(all_.data.table.model == number)
        found.append(
            AnswerGroup(
                rule="plain", model=number, found=both.agreement(rows, rng, figures=OF_ANSWERS)
            )
        )
    return tuple(one for one in found if one.found.n >= LEAST)


def _part_of_other(one: Judge, other: Judge) -> bool:
    """Say whether a person would be held against people among whom they are."""
    together = {PEOPLE, MOST_PEOPLE}
    return bool({one.id, other.id} & together) and one.kind == other.kind == "person"


def _kept(all_: AllJudgesMarks, one: Judge, other: Judge, filters: Filters) -> SharedMarks:
    shared = shared_marks(all_.marks[one.id], all_.marks[other.id])
    return shared.only(all_.kept(shared.key, filters))


def _people(all_: AllJudgesMarks, people: Sequence[str], filters: Filters) -> PeopleAlike | None:
    """Say how far people agree among themselves, all of them together."""
    marks = [all_.marks[name] for name in people if name in all_.marks]
    if len(marks) < 2:
        return None
    keys = np.unique(np.concatenate([one.key for one in marks]))
    keys = keys[all_.kept(keys, filters)]
    ratings = np.full((len(marks), len(keys)), np.nan)
    for at, one in enumerate(marks):
        here = np.isin(one.key, keys)
        ratings[at, np.searchsorted(keys, one.key[here])] = one.value[here]
    twice = np.isfinite(ratings).sum(axis=0) > 1
    if not twice.any():
        return None
    ratings, cluster = snapped(ratings[:, twice]), all_.cluster(keys[twice])
    lo, hi = alpha_interval(ratings, cluster, np.random.default_rng(_SEED))
    return PeopleAlike(
        people=len(marks),
        n=int(twice.sum()),
        alpha=BoundedFigure(value=krippendorff_alpha(ratings), lo=lo, hi=hi),
        fleiss=fleiss_kappa(ratings),
    )


def _compared(
    store: Store,
    base: JudgesView,
    all_: AllJudgesMarks,
    seen: Mapping[str, StudyData],
    filters: Filters,
    question: str,
    page: int,
) -> JudgesView:
    assert base.first is not None
    assert base.second is not None
    shared = _kept(all_, base.first, base.second, filters)
    base = replace(
        base,
        answers=_by_rule(all_, base.first, base.second, filters),
        unread=sum(all_.unread.get(judge.id, 0) for judge in (base.first, base.second)),
    )
    if not len(shared.key):
        return base
    marks = JointMarks(shared.first, shared.second, all_.cluster(shared.key))
    rng = np.random.default_rng(_SEED)
    whole = marks.agreement(rng=rng)
    parts = GroupSources(
        all_=all_,
        key=shared.key,
        marks=marks,
        chain=filters.but(node=(), model=None, criterion=None, sample=None),
        rng=rng if len(shared.key) <= _MANY else None,
        node=filters.node,
        model=all_.data.model_index(filters.model),
    )
    asked = asked_questions(store, all_, shared.key)
    listed = listed_marks(all_, shared, filters, asked, question)
    pages = max(1, -(-len(listed) // PAGE_SIZE))
    page = min(max(page, 0), pages - 1)
    here = shared.only(listed[page * PAGE_SIZE : (page + 1) * PAGE_SIZE])
    return replace(
        base,
        whole=whole,
        nodes=by_node(parts),
        models=by_model(parts),
        questions=by_question(parts, asked),
        marks=mark_pairs(store, base, all_, seen, here, filters),
        listed=len(listed),
        apart=int((shared.first != shared.second)[listed].sum()),
        page=page,
        pages=pages,
    )
