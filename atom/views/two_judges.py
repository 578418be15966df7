"""A study's judges side by side, people among them: two at a time, mark by mark.

Two judges are compared on what both marked: over everything, by capability, by model, and by
question where one is asked of many samples. Each figure leads to its marks, those that lie furthest
apart first.

Reference: METHODS A7, B12 (agreement), B3 (intervals), T11 (marks on any scale).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from atom.analysis.exact import snapped
from atom.analysis.intervals import Floats, Ints
from atom.analysis.raters import alpha_interval, krippendorff_alpha
from atom.analysis.rubric import Unread
from atom.analysis.two_judges import Bounded, FigureName, JointMarks, TwoJudges, fleiss_kappa
from atom.records import UNSCORED, Checkpoint, Criterion, Judge, Sample
from atom.store import Store
from atom.store.people import ALL_PEOPLE, PEOPLE
from atom.store.standing import marks_of
from atom.views.filters import Filters, answers_kept
from atom.views.rubric import TITLES, Rule, marked, ruled, rules_declared
from atom.views.study_data import StudyData
from taxonomy import Path

Load = Callable[[str], StudyData]
"""Reads the study as a judge sees it."""
MOST_JUDGES = 12
"""Judges that are compared with each other, models and programs before people."""
MOST_PERSONS = 60
"""People that are read, those with the most marks first."""
LEAST = 10
"""Fewer marks than this in common make no row of their own."""
PAGE_SIZE = 20
_MOST_QUESTIONS = 60
_MOST_TEXTS = 50_000
_MANY = 200_000
"""Marks above which only the whole has an interval."""
_SEED = 27
_EXCERPT = 160
OF_MARKS: tuple[FigureName, ...] = (
    "exact", "kappa", "weighted_kappa", "alpha", "spearman", "shift",
)  # fmt: skip
"""Figures of marks; all of them stand for the two as a whole."""
OF_ANSWERS: tuple[FigureName, ...] = ("spearman", "kendall", "pearson", "shift", "rmse")
"""Figures of answers, whose values have no levels."""
QUESTION_CUT = 300
"""Letters of a question that a link holds."""
MOST_PEOPLE = "most-people"
"""Stands for what most people say."""
TOGETHER = (ALL_PEOPLE, Judge(id=MOST_PEOPLE, name="Most people", kind="person"))


@dataclass(frozen=True, kw_only=True)
class PairCell:
    """Two judges on everything that both marked.

    Attributes:
        first: one of them.
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
class Group:
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
        sample_id: the sample.
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
    alpha: Bounded
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
        second: with whom.
        names: the candidates' names.
        whole: the two on everything that the filters keep; None where they share nothing.
        nodes: by capability, parents before children.
        models: by model.
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
    nodes: tuple[Group, ...] = ()
    models: tuple[Group, ...] = ()
    questions: tuple[Group, ...] = ()
    answers: tuple[AnswerGroup, ...] = ()
    unread: int = 0
    marks: tuple[MarkPair, ...] = ()
    listed: int = 0
    apart: int = 0
    page: int = 0
    pages: int = 1


# --- marks of all judges -------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Given:
    """The marks of one judge that have a value, arrays of shape (n,).

    Attributes:
        key: answer x width + criterion, ascending.
        value: 0 to 1.
    """

    key: Ints
    value: Floats


@dataclass(frozen=True, kw_only=True)
class Everyone:
    """What all judges of a study gave, under one numbering of answers and criteria.

    Attributes:
        data: the study as it is looked at, whose answers are numbered.
        criterion_ids: criteria that any judge marked.
        leaf: where each hangs, as an index into `leaves`; -1 = nowhere.
        leaves: the capabilities.
        marks: judge's id -> its marks; `PEOPLE` and `MOST_PEOPLE` among them where there are
            several people.
        unread: judge's id -> how many of its marks couldn't be read.
        worth: (judge's id, rule) -> what each answer is worth, 0 to 1, NaN = not known; shape (R,).
    """

    data: StudyData
    criterion_ids: tuple[str, ...]
    leaf: Ints
    leaves: tuple[Path, ...]
    marks: Mapping[str, Given]
    unread: Mapping[str, int]
    worth: Mapping[tuple[str, Rule], Floats]

    @property
    def width(self) -> int:
        """Number of criteria, by which keys are made."""
        return max(len(self.criterion_ids), 1)

    def answer(self, key: Ints) -> Ints:
        """Return the answers that keys are about."""
        return key // self.width

    def criterion(self, key: Ints) -> Ints:
        """Return the criteria that keys are about."""
        return key % self.width

    def cluster(self, key: Ints) -> Ints:
        """Return what each mark shares its pictures with."""
        table = self.data.table
        return table.cluster[table.sample[self.answer(key)]].astype(np.int64)

    def kept(self, key: Ints, filters: Filters) -> NDArray[np.bool_]:
        """Say which marks the filters keep: of answers kept, under the root chosen."""
        keep = answers_kept(self.data, filters)[self.answer(key)]
        return keep & self.under((filters.root,), key) if filters.root else keep

    def under(self, node: Path, key: Ints) -> NDArray[np.bool_]:
        """Say which marks hang under a capability; all when the path is empty."""
        if not node:
            return np.ones(len(key), dtype=np.bool_)
        inside = np.array([leaf[: len(node)] == node for leaf in self.leaves] + [False])
        return np.asarray(inside[self.leaf[self.criterion(key)]])


def everyone(
    data: StudyData,
    seen: Mapping[str, StudyData],
    people: Collection[str],
    unread: Unread = "left out",
) -> Everyone:
    """Put the marks of a study's judges under one numbering.

    Args:
        data: the study as it is looked at.
        seen: judge's id -> the study as that judge sees it.
        people: ids of those judges who are people; several are put together, too.
        unread: how marks that couldn't be read count.
    """
    answers = {name: at for at, name in enumerate(data.table.response_ids)}
    criteria: dict[str, int] = {}
    leaves: dict[Path, int] = {}
    hangs: dict[int, int] = {}
    parts: dict[str, tuple[Ints, Ints, Floats]] = {}
    lost: dict[str, int] = {}
    worth: dict[tuple[str, Rule], Floats] = {}
    for judge, one in seen.items():
        table = one.table
        answer = np.array([answers.get(name, -1) for name in table.response_ids] or [-1])
        number = np.array([criteria.setdefault(name, len(criteria)) for name in table.criterion_ids]
                          or [-1])  # fmt: skip
        leaf = np.array([leaves.setdefault(path, len(leaves)) for path in table.leaves] + [-1])
        hangs.update(zip(number[table.criterion].tolist(), leaf[table.leaf].tolist(), strict=True))
        value = table.value
        silent = table.score == UNSCORED
        lost[judge] = int(silent.sum())
        if unread == "unmet":
            value = np.where(silent, table.penalty[table.criterion].astype(np.float64), value)
        marks_ = marked(one)
        for rule in rules_declared(one):
            whole = np.full(len(answers), np.nan)
            known = answer[: len(table.response_ids)] >= 0
            found = ruled(marks_, rule, unread).value
            whole[answer[: len(found)][known]] = found[known]
            worth[judge, rule] = whole
        if judge == PEOPLE:
            continue
        at = np.flatnonzero(np.isfinite(value) & (answer[table.response] >= 0))
        parts[judge] = answer[table.response[at]], number[table.criterion[at]], value[at]
    width = max(len(criteria), 1)
    marks = {
        judge: _given(answer.astype(np.int64) * width + criterion, value)
        for judge, (answer, criterion, value) in parts.items()
    }
    persons = [marks[judge] for judge in people if judge in marks]
    if len(persons) > 1:
        marks[PEOPLE] = _together(persons)
        marks[MOST_PEOPLE] = _majority(persons)
    return Everyone(
        data=data,
        criterion_ids=tuple(criteria),
        leaf=np.array([hangs.get(at, -1) for at in range(len(criteria))] or [-1], dtype=np.int64),
        leaves=tuple(leaves),
        marks=marks,
        unread=lost,
        worth=worth,
    )


def _given(key: Ints, value: Floats) -> Given:
    order = np.argsort(key, kind="stable")
    return Given(key=key[order], value=value[order])


def _together(persons: Sequence[Given]) -> Given:
    """Return the mean of people's marks of each criterion on each answer."""
    key, of = np.unique(np.concatenate([one.key for one in persons]), return_inverse=True)
    total = np.bincount(of, weights=np.concatenate([one.value for one in persons]))
    return Given(key=key, value=total / np.bincount(of))


def _majority(persons: Sequence[Given]) -> Given:
    """Return the value that most people give; nothing where two values share the lead."""
    key, of = np.unique(np.concatenate([one.key for one in persons]), return_inverse=True)
    values, code = np.unique(np.concatenate([one.value for one in persons]), return_inverse=True)
    cell, count = np.unique(of * len(values) + code, return_counts=True)
    thing = cell // max(len(values), 1)
    most = np.zeros(len(key), dtype=np.int64)
    np.maximum.at(most, thing, count)
    leads = count == most[thing]
    alone = np.bincount(thing[leads], minlength=len(key)) == 1
    chosen = cell[leads & alone[thing]]
    return Given(key=key[chosen // len(values)], value=values[chosen % len(values)])


@dataclass(frozen=True, kw_only=True)
class Shared:
    """What two judges both marked, arrays of shape (n,): the key, and the value of each."""

    key: Ints
    first: Floats
    second: Floats

    def only(self, rows: NDArray[np.bool_] | Ints) -> Shared:
        """Keep some."""
        return Shared(key=self.key[rows], first=self.first[rows], second=self.second[rows])


def shared_marks(first: Given, second: Given) -> Shared:
    """Find the criteria of answers that two judges both gave a value."""
    key, one, other = np.intersect1d(first.key, second.key, return_indices=True)
    return Shared(key=key, first=first.value[one], second=second.value[other])


# --- the tab -------------------------------------------------------------------------------------


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
    unread: Unread = "left out",
) -> JudgesView:
    """Compare a study's judges.

    Args:
        store: where the study is.
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


def _cells(judges: Sequence[Judge], all_: Everyone, filters: Filters) -> tuple[PairCell, ...]:
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
    all_: Everyone, one: Judge, other: Judge, filters: Filters, rule: Rule = "plain"
) -> JointMarks:
    """Put two judges' values of answers together; most people give no value to an answer."""
    table = all_.data.table
    none = np.full(len(table.sample), np.nan)
    keep = answers_kept(all_.data, filters)
    first, second = (
        np.where(keep, all_.worth.get((judge.id, rule), none), np.nan) for judge in (one, other)
    )
    return JointMarks(first, second, table.cluster[table.sample].astype(np.int64))


def _by_rule(all_: Everyone, one: Judge, other: Judge, filters: Filters) -> tuple[AnswerGroup, ...]:
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


def _kept(all_: Everyone, one: Judge, other: Judge, filters: Filters) -> Shared:
    shared = shared_marks(all_.marks[one.id], all_.marks[other.id])
    return shared.only(all_.kept(shared.key, filters))


def _people(all_: Everyone, people: Sequence[str], filters: Filters) -> PeopleAlike | None:
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
        alpha=Bounded(value=krippendorff_alpha(ratings), lo=lo, hi=hi),
        fleiss=fleiss_kappa(ratings),
    )


def _compared(
    store: Store,
    base: JudgesView,
    all_: Everyone,
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
    parts = _Parts(
        all_=all_,
        key=shared.key,
        marks=marks,
        chain=filters.but(node=(), model=None, criterion=None, sample=None),
        rng=rng if len(shared.key) <= _MANY else None,
        node=filters.node,
        model=all_.data.model_index(filters.model),
    )
    asked = _questions(store, all_, shared.key)
    listed = _listed(all_, shared, filters, asked, question)
    pages = max(1, -(-len(listed) // PAGE_SIZE))
    page = min(max(page, 0), pages - 1)
    here = shared.only(listed[page * PAGE_SIZE : (page + 1) * PAGE_SIZE])
    return replace(
        base,
        whole=whole,
        nodes=_by_node(parts),
        models=_by_model(parts),
        questions=_by_question(parts, asked),
        marks=_pairs(store, base, all_, seen, here, filters),
        listed=len(listed),
        apart=int((shared.first != shared.second)[listed].sum()),
        page=page,
        pages=pages,
    )


# --- parts ---------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _Parts:
    """What groups are cut from."""

    all_: Everyone
    key: Ints
    marks: JointMarks
    chain: Filters
    rng: Generator | None
    node: Path
    model: int | None

    @property
    def of_model(self) -> NDArray[np.bool_]:
        """Which marks are about the chosen model; all without one."""
        if self.model is None:
            return np.ones(len(self.key), dtype=np.bool_)
        table = self.all_.data.table
        return np.asarray(table.model[self.all_.answer(self.key)] == self.model)


def _by_node(parts: _Parts) -> tuple[Group, ...]:
    order = sorted(parts.all_.leaves)
    paths = dict.fromkeys(leaf[:size] for leaf in order for size in range(1, len(leaf) + 1))
    found = []
    for path in paths:
        rows = parts.all_.under(path, parts.key) & parts.of_model
        if rows.sum() >= LEAST:
            agreement = parts.marks.agreement(rows, parts.rng, figures=OF_MARKS)
            chain = parts.chain.but(node=path, model=_model_id(parts))
            found.append(Group(name=path[-1], path=path, found=agreement, filters=chain))
    return tuple(found)


def _by_model(parts: _Parts) -> tuple[Group, ...]:
    data = parts.all_.data
    model = data.table.model[parts.all_.answer(parts.key)]
    under = parts.all_.under(parts.node, parts.key)
    return tuple(
        Group(
            name=candidate.name,
            model=at,
            found=parts.marks.agreement(rows, parts.rng, figures=OF_MARKS),
            filters=parts.chain.but(model=candidate.id, node=parts.node),
        )
        for at, candidate in enumerate(data.candidates)
        if (rows := under & (model == at)).sum() >= LEAST
    )


def _model_id(parts: _Parts) -> str | None:
    return None if parts.model is None else parts.all_.data.candidates[parts.model].id


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """Which question each shared mark is about, -1 = asked once; and the texts."""

    code: Ints
    texts: tuple[str, ...]


def _questions(store: Store, all_: Everyone, key: Ints) -> _Asked:
    criterion = all_.criterion(key)
    used = np.unique(criterion)
    if len(used) > _MOST_TEXTS:
        return _Asked(code=np.full(len(key), -1, dtype=np.int64), texts=())
    names = [all_.criterion_ids[at] for at in used]
    records = {one.id: one for one in store.get_many(Criterion, names)}
    about: dict[str, set[str]] = {}
    for one in records.values():
        about.setdefault(one.question, set()).add(one.sample_id)
    texts = tuple(text for text, samples in about.items() if len(samples) > 1)[:_MOST_QUESTIONS]
    at = {text: number for number, text in enumerate(texts)}
    codes = np.full(all_.width, -1, dtype=np.int64)
    for place, name in zip(used, names, strict=True):
        if name in records:
            codes[place] = at.get(records[name].question, -1)
    return _Asked(code=codes[criterion], texts=texts)


def _by_question(parts: _Parts, asked: _Asked) -> tuple[Group, ...]:
    return tuple(
        Group(
            name=text,
            question=text,
            found=parts.marks.agreement(rows, parts.rng, figures=OF_MARKS),
            filters=parts.chain.but(model=_model_id(parts)),
        )
        for at, text in enumerate(asked.texts)
        if (rows := (asked.code == at) & parts.of_model).sum() >= LEAST
    )


# --- marks ---------------------------------------------------------------------------------------


def _listed(all_: Everyone, shared: Shared, filters: Filters, asked: _Asked, question: str) -> Ints:
    """Return places among the shared marks that the chain keeps, those furthest apart first."""
    keep = all_.under(filters.node, shared.key)
    number = all_.data.model_index(filters.model)
    if number is not None:
        keep = keep & (all_.data.table.model[all_.answer(shared.key)] == number)
    named = [text[:QUESTION_CUT] for text in asked.texts]
    if question and question in named:
        keep = keep & (asked.code == named.index(question))
    at = np.flatnonzero(keep)
    gap = np.abs(shared.first - shared.second)[at]
    return at[np.argsort(-gap, kind="stable")]


def _pairs(
    store: Store,
    base: JudgesView,
    all_: Everyone,
    seen: Mapping[str, StudyData],
    here: Shared,
    filters: Filters,
) -> tuple[MarkPair, ...]:
    assert base.first is not None
    assert base.second is not None
    table = all_.data.table
    answer = all_.answer(here.key)
    answers = [table.response_ids[at] for at in answer]
    criteria = [all_.criterion_ids[at] for at in all_.criterion(here.key)]
    samples = [table.sample_ids[at] for at in table.sample[answer]]
    asked = {one.id: one.question for one in store.get_many(Sample, dict.fromkeys(samples))}
    texts = {one.id: one.question for one in store.get_many(Criterion, dict.fromkeys(criteria))}
    said = [_records(store, seen, judge, answers) for judge in (base.first, base.second)]
    found = []
    for at, (name, criterion, sample) in enumerate(zip(answers, criteria, samples, strict=True)):
        model = int(table.model[answer[at]])
        door = filters.but(
            sample=sample,
            criterion=criterion,
            model=all_.data.candidates[model].id,
            show="all",
        )
        found.append(
            MarkPair(
                sample_id=sample,
                sample=_cut(asked.get(sample, "")),
                model=model,
                criterion=texts.get(criterion, criterion),
                first=float(here.first[at]),
                second=float(here.second[at]),
                first_marks=said[0].get((name, criterion), ()),
                second_marks=said[1].get((name, criterion), ()),
                first_door=door.but(judge=_seen_as(base.first)),
                second_door=door.but(judge=_seen_as(base.second)),
            )
        )
    return tuple(found)


def _seen_as(judge: Judge) -> str:
    """Return through whom a study is looked at for a judge's mark: most people are all people."""
    return PEOPLE if judge.id == MOST_PEOPLE else judge.id


def _records(
    store: Store, seen: Mapping[str, StudyData], judge: Judge, answers: Sequence[str]
) -> dict[tuple[str, str], tuple[Checkpoint, ...]]:
    """Read a judge's marks of some answers: (answer, criterion) -> one a repeat, or a person."""
    together = judge.id in (PEOPLE, MOST_PEOPLE)
    seen = {name: data for name, data in seen.items() if name != PEOPLE}
    found: dict[tuple[str, str], tuple[Checkpoint, ...]] = {}
    for name, data in seen.items():
        one = data.judge
        if one is None or (one.kind != "person" if together else name != judge.id):
            continue
        marks = marks_of(
            store, data.study, dict.fromkeys(answers), name, repeats=None, scale=data.scale
        )
        for (answer, _), points in sorted(marks.items()):
            for criterion, point in points.items():
                found[answer, criterion] = (*found.get((answer, criterion), ()), point)
    return found


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _EXCERPT else f"{text[: _EXCERPT - 1]}…"
