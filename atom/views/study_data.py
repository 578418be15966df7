"""A study loaded for the screens: its records' heads and its score table.

Pure reading: the result is immutable and depends on (store, study, judge, revision) alone, so that
pages share it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from atom.analysis.agreement.panel import Spread, spread_of
from atom.analysis.agreement.repeats import MergedMarks, merge_repeats
from atom.analysis.intervals import Ints
from atom.analysis.kept import Kept
from atom.analysis.merged import Adder, Additive, of_one, total
from atom.analysis.score_table import Facet, ScoreTable
from atom.records import (
    CAUSES,
    NOT_APPLICABLE,
    TAG_FACET,
    Candidate,
    Judge,
    Scale,
    Study,
    TreeRecord,
)
from atom.store import Store, asks_again, find_study, study_candidates
from atom.store.people import ALL_PEOPLE, PEOPLE
from atom.store.reading.columns import Marks, StudyRows, Uses, read_study
from atom.views.lab.preferences import (
    Preferences,
    anchor_of,
    compared,
    preferences_of,
    share_won,
)
from atom.views.looks.early import Early, early_look
from taxonomy import Tree, parse_tree

_MOST_SEARCHED = 200_000
_MOST_PLACES = np.iinfo(np.int8).max
"""Places in a sample that are told apart; criteria beyond share the last."""
SOURCE_FACET = "source"
"""The labels that say which data set a question is of, unless the files have a `source` of their
own: then these are called `data set`, and never mixed with the files'."""
DATASET_FACET = "data set"


def dataset_facet(facets: Container[str]) -> str:
    """Return the name of the labels that say which data set a question is of."""
    return DATASET_FACET if DATASET_FACET in facets else SOURCE_FACET


def data_facets(facets: Mapping[str, Facet]) -> dict[str, Facet]:
    """Return the labels that came with the data.

    People's own tags narrow what is looked at, and nothing is tested by them: who tags failures
    would find that models fail there.
    """
    return {name: facet for name, facet in facets.items() if name != TAG_FACET}


@dataclass(frozen=True, kw_only=True)
class StudyColumns:
    """What is read from the store row by row, and kept in a snapshot.

    Attributes:
        table: checkpoints and answers.
        pending: checkpoints that could be scored and aren't there yet.
        judge_ids: judges that scored anything of the study, the most first.
        votes: votes between answers; None without any.
        scale: what the marks that are shown mean.
        left_out: marks on an older scale that no newer mark replaces; they don't count.
    """

    table: ScoreTable
    pending: int
    judge_ids: tuple[str, ...]
    votes: Preferences | None
    scale: Scale = "appendix_d"
    left_out: int = 0


S = TypeVar("S", bound=Additive)


class Shards(Protocol):
    """The parts of a study that is too large for one: no cluster is in two of them."""

    def collect(self, collect: Callable[..., S], given: tuple[Any, ...]) -> Iterator[S]:
        """Return `collect(part, *given)` of every part, in the parts' order."""

    def add(self, collect: Callable[..., S], given: tuple[Any, ...]) -> S:
        """Return the sum of `collect(part, *given)` over all parts."""
        return total(self.collect(collect, given))

    def forget(self) -> None:
        """Forget what was computed for single filters, as if none had been used yet."""


@dataclass(frozen=True, kw_only=True)
class Facts(Additive):
    """What there is of a study at all.

    Attributes:
        process: any checkpoint is scored.
        outcome: any final answer's outcome is known.
        preference: any answer was voted on.
        compared: whether two models were voted on side by side, shape (K, K).
    """

    process: bool
    outcome: bool
    preference: bool
    compared: NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class StudyData:
    """A study, ready to be looked at.

    Attributes:
        study: its record.
        revision: the store's revision that this was read at.
        judge: the judge whose scores are looked at: the one asked for, else the study's own.
        candidates: in the study's order; a candidate's place is its colour.
        tree: its tree, when it has one.
        table: its checkpoints and answers.
        pending: checkpoints that could be scored and aren't there yet.
        sample_position: sample id -> index in the table.
        judges: judges that scored anything of the study, the most first; all people together at
            last, where there are several.
        votes: votes between answers; None without any.
        scale: what the marks that are shown mean.
        left_out: marks on an older scale that no newer mark replaces; they don't count.
        asks_again: whether clusters ask one question several times (a picture at four rotations).
        early: where it stands while it is judged in looks; None at the end, and without looks.
        shards: its parts, where it is too large for one.
    """

    study: Study
    revision: int
    judge: Judge | None
    candidates: tuple[Candidate, ...]
    tree: Tree | None
    table: ScoreTable
    pending: int
    sample_position: dict[str, int]
    judges: tuple[Judge, ...] = ()
    votes: Preferences | None = None
    scale: Scale = "appendix_d"
    left_out: int = 0
    asks_again: bool = False
    early: Early | None = None
    shards: Shards | None = None

    @property
    def adder(self) -> Adder:
        """Adds up what is collected of each part of the study: of itself, where it has none."""
        shards = self.shards
        if shards is None:
            return of_one(self)
        return lambda collect, *given: shards.add(collect, given)

    @cached_property
    def views(self) -> Kept:
        """What whole screens show, for the filters used last: shared by all who look."""
        return Kept(8)

    def forget(self) -> None:
        """Forget what was computed for single filters, as if none had been used yet."""
        self.table.forget()
        self.__dict__.pop("views", None)
        if self.shards is not None:
            self.shards.forget()

    @property
    def facts(self) -> Facts:
        """What there is of it at all."""
        return self.table.kept.get("facts", lambda: self.adder(_facts_of))

    @property
    def has_process(self) -> bool:
        """Whether any checkpoint is scored; else the study is looked at by outcome."""
        return self.facts.process

    @property
    def has_outcome(self) -> bool:
        """Whether any final answer's outcome is known."""
        return self.facts.outcome

    @property
    def has_preference(self) -> bool:
        """Whether any answer was voted on."""
        return self.facts.preference

    @property
    def anchor(self) -> int | None:
        """The model that all others were voted against; None where there is none.

        Its votes are the others' votes turned round, so it is held against nobody itself.
        """
        return anchor_of(self.facts.compared)

    def clusters_of(self, samples: Sequence[str]) -> Ints:
        """Return what each sample shares its pictures with; a foreign one stands alone.

        Args:
            samples: ids, some of them several times.
        """
        cluster = self.table.cluster
        code = {name: int(cluster[at]) for name, at in self.sample_position.items()}
        free = int(cluster.max(initial=-1)) + 1
        foreign = [name for name in dict.fromkeys(samples) if name not in code]
        code.update((name, free + at) for at, name in enumerate(foreign))
        return np.array([code[name] for name in samples], dtype=np.int64)

    def judge_id(self, given: str | None) -> str | None:
        """Return the id of the judge that a link names, by its id or its name; None = none, or two.

        Args:
            given: what stands in the link.
        """
        return _named(self.judges, given)

    def model_id(self, given: str | None) -> str | None:
        """Return the id of the model that a link names, as `judge_id` does.

        Args:
            given: what stands in the link.
        """
        return _named(self.candidates, given)

    def model_index(self, model_id: str | None) -> int | None:
        """Return a candidate's index by id, or None."""
        for number, candidate in enumerate(self.candidates):
            if candidate.id == model_id:
                return number
        return None


def _facts_of(data: StudyData) -> Facts:
    table, k = data.table, data.table.n_models
    nothing = np.zeros((k, k), dtype=np.bool_)
    return Facts(
        process=table.any_scored,
        outcome=table.any_outcome,
        preference=table.any_preferred,
        compared=nothing if data.votes is None else compared(data.votes, table.model, k),
    )


def _named(records: Sequence[Judge | Candidate], given: str | None) -> str | None:
    if given is None or any(one.id == given for one in records):
        return given
    found = [one.id for one in records if one.name == given]
    return found[0] if len(found) == 1 else None


def roots_of_rows(data: StudyData) -> tuple[Ints, tuple[str, ...]]:
    """Return each checkpoint's root, -1 = not mapped, and the roots' names."""
    names = tuple(dict.fromkeys(leaf[0] for leaf in data.table.leaves))
    of_leaf = np.array([names.index(leaf[0]) for leaf in data.table.leaves] + [-1], dtype=np.int64)
    return of_leaf[data.table.leaf], names


def load_study(store: Store, study_id: str, judge_id: str | None = None) -> StudyData:
    """Read a study from the store.

    Args:
        study_id: its id or name.
        judge_id: whose checkpoints are looked at; the study's own judge's when None or unknown.

    Raises:
        UsageError: there is no such study.
    """
    study = find_study(store, study_id)
    judge = chosen_judge(store, study, judge_id)
    rows, revision = read_study(store, study, judge)
    return assemble(store, study, judge, to_columns(rows), revision)


def chosen_judge(store: Store, study: Study, judge_id: str | None) -> str | None:
    """Return the id of the judge to look at: the one asked for if there is one, else the study's.

    Args:
        judge_id: the judge asked for, by its id, or by its name where only one has it.
    """
    if judge_id is None:
        return study.judge_id
    if judge_id in (PEOPLE, ALL_PEOPLE.name):
        return PEOPLE
    if store.get(Judge, judge_id) is not None:
        return judge_id
    named = [judge for judge in store.select(Judge) if judge.name == judge_id]
    return named[0].id if len(named) == 1 else study.judge_id


def judge_of_id(store: Store, judge_id: str | None) -> Judge | None:
    """Return a judge's record, that of all people together among them; None without one."""
    if judge_id == PEOPLE:
        return ALL_PEOPLE
    return store.get(Judge, judge_id) if judge_id else None


def assemble(
    store: Store, study: Study, judge_id: str | None, columns: StudyColumns, revision: int
) -> StudyData:
    """Put columns together with the few records that screens name things by.

    Args:
        judge_id: the judge whose checkpoints the columns hold.
        columns: what was read row by row.
        revision: the store's revision that they were read at.
    """
    known = {judge.id: judge for judge in store.get_many(Judge, columns.judge_ids)}
    judges = [known[name] for name in columns.judge_ids if name in known]
    if sum(one.kind == "person" for one in judges) > 1:
        judges.append(ALL_PEOPLE)
    return StudyData(
        study=study,
        revision=revision,
        judge=judge_of_id(store, judge_id),
        judges=tuple(judges),
        candidates=tuple(study_candidates(store, study.id)),
        tree=_tree(store, study.tree_version),
        table=columns.table,
        pending=columns.pending,
        sample_position={name: at for at, name in enumerate(columns.table.sample_ids)},
        votes=columns.votes,
        scale=columns.scale,
        left_out=columns.left_out,
        asks_again=_may_ask_again(columns.table) and asks_again(store, study.id),
        early=_early(store, study, judge_id, columns),
    )


def _early(store: Store, study: Study, judge_id: str | None, columns: StudyColumns) -> Early | None:
    """Return where a study stands between two looks; one that is marked whole isn't asked after."""
    if not columns.pending and not (columns.table.score <= 0).any():
        return None
    return early_look(store, study, judge_id)


def _may_ask_again(table: ScoreTable) -> bool:
    """Whether clusters hold several samples; a very large study isn't searched for texts."""
    n = len(table.sample_ids)
    return n <= _MOST_SEARCHED and len(np.unique(table.cluster)) < n


def to_columns(rows: StudyRows) -> StudyColumns:
    """Put a study's rows together as its score table."""
    marks, answers, places, uses = rows.marks, rows.answers, rows.places, rows.uses
    merged = _merged(marks, len(uses.ids))
    use = marks.use[merged.first]
    used = np.bincount(use, minlength=len(uses.ids)) > 0
    seen, number = np.flatnonzero(used), np.cumsum(used) - 1
    criterion, leaf, response = number[use], rows.leaf[use], marks.response[merged.first]
    there = merged.score != NOT_APPLICABLE
    aside = np.stack([response, criterion, leaf])[:, ~there].astype(np.int32)
    kept = slice(None) if there.all() else there
    use, score = use[kept], merged.score[kept]
    penalty = uses.penalty[seen]
    if penalty.any():
        turned = penalty[criterion[kept]] & (score > 0)
        score = np.where(turned, 6 - score, score)
    score, weight = _narrow(score), _narrow(uses.weight[use])
    spread = _spread(rows, merged)
    votes = None if rows.votes is None else preferences_of(rows.votes)
    table = ScoreTable(
        response=response[kept].astype(np.int32),
        criterion=criterion[kept].astype(np.int32),
        leaf=leaf[kept].astype(np.int16),
        weight=weight,
        position=np.minimum(uses.position[use], _MOST_PLACES).astype(np.int8),
        score=score,
        addressed=merged.addressed[kept],
        carried=merged.carried[kept],
        scale=_scales(marks, merged.first, kept),
        scales=marks.scales,
        penalty=penalty,
        gate=uses.gate[seen].astype(np.float32),
        parents=_parents(uses, used, number),
        aside=aside,
        carried_known=marks.carried_known,
        chained=uses.chained,
        sample=answers.sample,
        model=answers.model,
        repeat=answers.repeat,
        outcome=_graded(rows),
        answered=answers.scored,
        cause=answers.cause,
        cluster=places.cluster,
        quarantined=places.quarantined,
        sample_ids=places.ids,
        model_ids=rows.models,
        criterion_ids=tuple(uses.ids[at] for at in seen),
        response_ids=answers.ids,
        leaves=rows.leaves,
        facets=_facets(rows),
        preference=None if votes is None else share_won(votes, len(answers.ids)),
        apart=None if spread is None else spread.apart[kept],
        disagreement=None if spread is None else spread.disagreement[kept],
    )
    return StudyColumns(
        table=table,
        pending=rows.pending,
        judge_ids=marks.judge_ids,
        votes=votes,
        scale=marks.scale,
        left_out=marks.left_out,
    )


def _merged(marks: Marks, n_uses: int) -> MergedMarks:
    """Put a judge's repeats together, answer by answer and use by use."""
    return merge_repeats(_keys(marks, n_uses), marks.score, marks.addressed, marks.carried)


def _keys(marks: Marks, n_uses: int) -> Ints:
    return marks.response * max(n_uses, 1) + marks.use


def _spread(rows: StudyRows, merged: MergedMarks) -> Spread | None:
    """Say how far the panel's judges differ on each checkpoint; None where there is no panel."""
    if not rows.panel:
        return None
    n = len(rows.uses.ids)
    key = _keys(rows.marks, n)[merged.first]
    values = np.full((len(rows.panel), len(key)), np.nan)
    for row, marks in zip(values, rows.panel, strict=True):
        each = merged if marks is rows.marks else _merged(marks, n)
        _, at, of = np.intersect1d(
            key, _keys(marks, n)[each.first], assume_unique=True, return_indices=True
        )
        score = each.score[of]
        row[at] = np.where(score > 0, (score - 1) / 4, np.nan)
    return spread_of(values)


def _narrow(values: NDArray[Any]) -> NDArray[np.int8] | NDArray[np.float64]:
    """Keep whole numbers in a byte each."""
    if np.issubdtype(values.dtype, np.integer) or (values == np.rint(values)).all():
        return values.astype(np.int8)
    return values.astype(np.float64)


def _scales(marks: Marks, first: NDArray[np.int64], kept: Any) -> NDArray[np.int8]:
    """Say on which scale each checkpoint is; repeats of one are on one."""
    if marks.on is None:
        return np.zeros(len(first[kept]), dtype=np.int8)
    return np.asarray(marks.on[first[kept]].astype(np.int8))


def _parents(uses: Uses, used: NDArray[np.bool_], number: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return who rests on whom among the criteria that were marked."""
    both = uses.parents[:, used[uses.parents].all(axis=0)]
    return number[both].astype(np.int32)


def _graded(rows: StudyRows) -> NDArray[np.float32]:
    """Return each answer's outcome; one that the model didn't give isn't right.

    A model that declines, is filtered, cut off or silent was asked all the same. A call that
    failed says nothing of the model, and where nothing is graded nothing is.
    """
    answers, outcome = rows.answers, rows.outcome
    withheld = (answers.cause > 0) & (answers.cause != CAUSES.index("failed"))
    withheld &= np.isnan(outcome) & rows.places.referenced[answers.sample]
    if not withheld.any() or not np.isfinite(outcome).any():
        return outcome
    graded = outcome.copy()
    graded[withheld] = 0.0
    return graded


def _tree(store: Store, version: str | None) -> Tree | None:
    record = store.get(TreeRecord, version) if version else None
    return parse_tree(record.body, depth=None) if record else None


def _facets(rows: StudyRows) -> dict[str, Facet]:
    """Bring all labels down to answers; an answer's own labels beat its sample's in a facet."""
    places, answers = rows.places, rows.answers
    taken = any(facet == SOURCE_FACET for _, facet, _ in (*rows.sample_tags, *rows.answer_tags))
    ours = DATASET_FACET if taken else SOURCE_FACET
    shared: dict[str, list[tuple[int, str]]] = {
        ours: list(enumerate(places.dataset)) if answers.ids else []
    }
    own: dict[str, list[tuple[int, str]]] = {}
    for at, facet, value in rows.sample_tags:
        shared.setdefault(facet, []).append((at, value))
    for at, facet, value in rows.answer_tags:
        own.setdefault(facet, []).append((at, value))
    by_sample = np.argsort(answers.sample, kind="stable")
    count = np.bincount(answers.sample, minlength=len(places.ids))
    start = np.cumsum(count) - count
    facets = {}
    for name in sorted({*own, *shared}):
        mine, theirs = own.get(name, []), shared.get(name, [])
        texts = sorted({text for _, text in (*mine, *theirs)})
        code = {text: at for at, text in enumerate(texts)}
        of = np.array([at for at, _ in theirs], dtype=np.int64)
        label = np.array([code[text] for _, text in theirs], dtype=np.int64)
        # Each label of a sample, once for every answer to it.
        size = count[of]
        nth = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
        answer = by_sample[np.repeat(start[of], size) + nth]
        labelled = np.zeros(len(answers.ids), dtype=bool)
        labelled[[at for at, _ in mine]] = True
        inherited = np.stack([answer, np.repeat(label, size)])[:, ~labelled[answer]]
        said = np.array([(at, code[text]) for at, text in mine], dtype=np.int64).reshape(-1, 2).T
        both = np.concatenate([said, inherited], axis=1)
        key = np.sort(both[0] * max(len(texts), 1) + both[1])
        key = key[np.append(True, key[1:] != key[:-1])[: len(key)]]
        response, value_ = np.divmod(key, max(len(texts), 1))
        times = np.bincount(value_, minlength=len(texts))
        order = [at for at in np.argsort(-times, kind="stable") if times[at]]
        place = np.zeros(max(len(texts), 1), dtype=np.int64)
        place[order] = np.arange(len(order))
        facets[name] = Facet(
            values=tuple(texts[at] for at in order),
            response=response.astype(np.int32),
            value=place[value_].astype(np.int32),
        )
    return facets


def rows_about(data: StudyData, about: Sequence[tuple[str, str] | None]) -> Ints:
    """Return the row of the score table of each checkpoint, shape (len(about),); -1 without one.

    Args:
        about: (answer, criterion); None = not known any more.
    """
    table = data.table
    answers = {name: at for at, name in enumerate(table.response_ids)}
    criteria = {name: at for at, name in enumerate(table.criterion_ids)}
    width = max(len(criteria), 1)
    wanted = [
        -1
        if one is None or one[0] not in answers or one[1] not in criteria
        else answers[one[0]] * width + criteria[one[1]]
        for one in about
    ]
    key = table.response.astype(np.int64) * width + table.criterion
    near = np.flatnonzero(np.isin(key, wanted))
    row_at = dict(zip(key[near].tolist(), near.tolist(), strict=True))
    return np.array([row_at.get(one, -1) for one in wanted], dtype=np.int64)
