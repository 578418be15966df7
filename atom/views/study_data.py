"""A study loaded for the screens: its records' heads and its score table.

Pure reading: the result is immutable and depends on (store, study, judge, revision) alone, so that
pages share it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from atom.analysis.intervals import Ints
from atom.analysis.merged import Adder, Additive, of_one, total
from atom.analysis.result_cache import ResultCache
from atom.analysis.score_table import ScoreTable
from atom.records import Candidate, Judge, Scale, Study, TreeRecord
from atom.store import Store, asks_again, find_study, study_candidates
from atom.store.people import ALL_PEOPLE, PEOPLE
from atom.store.reading.columns.rows import read_study
from atom.views.columns import StudyColumns, to_columns
from atom.views.lab.preferences import Preferences, anchor_of, compared
from atom.views.looks.early import Early, early_look
from taxonomy import Tree, parse_tree

_MOST_SEARCHED = 200_000


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
class StudyContents(Additive):
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
    def views(self) -> ResultCache:
        """What whole screens show, for the filters used last: shared by all who look."""
        return ResultCache(8)

    def forget(self) -> None:
        """Forget what was computed for single filters, as if none had been used yet."""
        self.table.forget()
        self.__dict__.pop("views", None)
        if self.shards is not None:
            self.shards.forget()

    @property
    def facts(self) -> StudyContents:
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


def _facts_of(data: StudyData) -> StudyContents:
    table, k = data.table, data.table.n_models
    nothing = np.zeros((k, k), dtype=np.bool_)
    return StudyContents(
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


def _tree(store: Store, version: str | None) -> Tree | None:
    record = store.get(TreeRecord, version) if version else None
    return parse_tree(record.body, depth=None) if record else None


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
