"""A study loaded for the screens: its records' heads and its score table.

Pure reading: the result is immutable and depends on (store, study, judge, revision) alone, so that
pages share it. A large study has a million checkpoints, so rows are read as columns; where SQLite
can, it packs many rows into one text a column, since a row handed to Python costs more than
reading it from the disk.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import repeat
from typing import Any, TypeAlias

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from atom.analysis import FAILED, UNSCORED, Facet, ScoreTable
from atom.analysis.intervals import Ints
from atom.records import (
    Candidate,
    Checkpoint,
    CriteriaSet,
    Judge,
    Outcome,
    Replay,
    Response,
    Sample,
    Sampling,
    Study,
    StudyCandidate,
    StudySample,
    Tag,
    TreeRecord,
)
from atom.records import Mapping as MappingRecord
from atom.store import Store, find_study, study_candidates, table
from atom.store.schema import meta
from atom.views.preferences import Preferences, load_preferences, share_won
from taxonomy import Path, Tree, parse_tree

SOURCE_FACET = "source"
HAND_MADE = ("imported", "typed")
"""Prompts of responses that no endpoint of ours gave."""
_HOW_ORDER = {"imported": 0, "choice": 1, "numeric": 1, "exact": 1, "judge": 2}
_OTHER_JUDGE = 3
_SCORE = {**{str(score): score for score in range(1, 6)}, "unscored": UNSCORED, "failed": FAILED}
_CHUNK = 50_000
_SEPARATOR = "\x1f"
_SCAN_SHARE = 0.25
"""A study with this share of a store's samples is read by scans over whole tables."""


@dataclass(frozen=True, kw_only=True)
class StudyColumns:
    """What is read from the store row by row, and kept in a snapshot.

    Attributes:
        table: checkpoints and answers.
        pending: checkpoints that could be scored and aren't there yet.
        judge_ids: judges that scored anything of the study, the most first.
        votes: votes between answers; None without any.
    """

    table: ScoreTable
    pending: int
    judge_ids: tuple[str, ...]
    votes: Preferences | None


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
        judges: judges that scored anything of the study, the most first.
        votes: votes between answers; None without any.
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

    @property
    def has_process(self) -> bool:
        """Whether any checkpoint is scored; else the study is looked at by outcome."""
        return self.table.any_scored

    @property
    def has_outcome(self) -> bool:
        """Whether any final answer's outcome is known."""
        return self.table.any_outcome

    @property
    def has_preference(self) -> bool:
        """Whether any answer was voted on."""
        return self.table.any_preferred

    def model_index(self, model_id: str | None) -> int | None:
        """Return a candidate's index by id, or None."""
        for number, candidate in enumerate(self.candidates):
            if candidate.id == model_id:
                return number
        return None


def load_study(store: Store, study_id: str, judge_id: str | None = None) -> StudyData:
    """Read a study from the store.

    Args:
        store: where it is.
        study_id: its id or name.
        judge_id: whose checkpoints are looked at; the study's own judge's when None or unknown.

    Raises:
        UsageError: there is no such study.
    """
    study = find_study(store, study_id)
    judge = chosen_judge(store, study, judge_id)
    with store.read() as connection, _without_collector():
        revision = read_revision(connection)
        columns = read_columns(connection, study, judge)
    return assemble(store, study, judge, columns, revision)


@contextmanager
def _without_collector() -> Iterator[None]:
    """Keep the garbage collector from walking over millions of new objects, none of it garbage."""
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()


def chosen_judge(store: Store, study: Study, judge_id: str | None) -> str | None:
    """Return the id of the judge to look at: the one asked for if there is one, else the study's.

    Args:
        store: where the study is.
        study: the study.
        judge_id: the judge asked for.
    """
    if judge_id is not None and store.get(Judge, judge_id) is not None:
        return judge_id
    return study.judge_id


def read_revision(connection: sa.Connection) -> int:
    """Read the store's revision inside the transaction that reads the rest."""
    value = connection.execute(sa.select(meta.c.value).where(meta.c.key == "revision"))
    return int(value.scalar_one())


def assemble(
    store: Store, study: Study, judge_id: str | None, columns: StudyColumns, revision: int
) -> StudyData:
    """Put columns together with the few records that screens name things by.

    Args:
        store: where the study is.
        study: the study.
        judge_id: the judge whose checkpoints the columns hold.
        columns: what was read row by row.
        revision: the store's revision that they were read at.
    """
    judges = {judge.id: judge for judge in store.get_many(Judge, columns.judge_ids)}
    return StudyData(
        study=study,
        revision=revision,
        judge=store.get(Judge, judge_id) if judge_id else None,
        judges=tuple(judges[name] for name in columns.judge_ids if name in judges),
        candidates=tuple(study_candidates(store, study.id)),
        tree=_tree(store, study.tree_version),
        table=columns.table,
        pending=columns.pending,
        sample_position={name: at for at, name in enumerate(columns.table.sample_ids)},
        votes=columns.votes,
    )


@dataclass(frozen=True, kw_only=True)
class _Places:
    """A study's samples, shape (S,)."""

    ids: tuple[str, ...]
    dataset: tuple[str, ...]
    cluster: NDArray[np.int32]
    quarantined: NDArray[np.bool_]
    at: Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class _Answers:
    """A study's first answers by model, sample and repeat, shape (R,)."""

    ids: tuple[str, ...]
    sample: NDArray[np.int32]
    model: NDArray[np.int16]
    repeat: NDArray[np.int16]
    scored: NDArray[np.bool_]
    at: Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class _Uses:
    """The criteria that stand for the samples, by sample and place, shape (U,)."""

    ids: tuple[str, ...]
    sample: Ints
    position: Ints
    weight: Ints


@dataclass(frozen=True, kw_only=True)
class _Marks:
    """Checkpoints of one judge by answer and criterion, shape (N,)."""

    response: Ints
    use: Ints
    """Index into the uses."""
    code: Ints
    judge_ids: tuple[str, ...]


def read_columns(connection: sa.Connection, study: Study, judge_id: str | None) -> StudyColumns:
    """Read everything of a study that comes in rows.

    Args:
        connection: an open transaction.
        study: the study.
        judge_id: whose checkpoints.
    """
    models = _models(connection, study.id)
    places = _places(connection, study.id)
    scan = _scan(connection, study.id)
    answers = _answers(connection, study, places, models, scan=scan)
    uses = _uses(connection, study.id, places)
    marks = _marks(connection, study, judge_id, answers, uses, scan=scan)
    leaf_of_use, leaves = _leaves(connection, study, uses)
    votes = load_preferences(connection, study.id, answers.at)
    used = np.bincount(marks.use, minlength=len(uses.ids)) > 0
    seen, criterion = np.flatnonzero(used), (np.cumsum(used) - 1)[marks.use]
    table_ = ScoreTable(
        response=marks.response.astype(np.int32),
        criterion=criterion.astype(np.int32),
        leaf=leaf_of_use[marks.use].astype(np.int16),
        weight=uses.weight[marks.use].astype(np.int8),
        position=uses.position[marks.use].astype(np.int8),
        score=marks.code.astype(np.int8),
        sample=answers.sample,
        model=answers.model,
        repeat=answers.repeat,
        outcome=_outcomes(connection, study.id, answers, judge_id, scan=scan),
        answered=answers.scored,
        cluster=places.cluster,
        quarantined=places.quarantined,
        sample_ids=places.ids,
        model_ids=tuple(models),
        criterion_ids=tuple(uses.ids[at] for at in seen),
        response_ids=answers.ids,
        leaves=leaves,
        facets=_facets(connection, study.id, places, answers),
        preference=None if votes is None else share_won(votes, len(answers.ids)),
    )
    expected = np.bincount(uses.sample, minlength=len(places.ids))[answers.sample]
    there = np.bincount(marks.response, minlength=len(answers.ids))
    return StudyColumns(
        table=table_,
        pending=int((expected - there)[answers.scored].sum()),
        judge_ids=marks.judge_ids,
        votes=votes,
    )


def _tree(store: Store, version: str | None) -> Tree | None:
    record = store.get(TreeRecord, version) if version else None
    return parse_tree(record.body, depth=None) if record else None


Columns: TypeAlias = "list[list[Any]]"


def _chunks(connection: sa.Connection, statement: sa.Select[Any]) -> Iterator[Columns]:
    """Read rows as columns, in chunks, as the database's own cursor gives them."""
    cursor = connection.execute(statement).cursor
    while rows := cursor.fetchmany(_CHUNK):
        yield [list(column) for column in zip(*rows, strict=True)]


def _scanned(
    connection: sa.Connection,
    source: sa.Table,
    columns: Sequence[sa.ColumnElement[Any]],
    *where: sa.ColumnElement[bool],
) -> Iterator[Columns]:
    """Read columns of a whole table, in chunks; SQLite packs each chunk into texts.

    Values come as texts where they are packed. A chunk with a value that holds the separator, or
    with none at all, is read row by row.
    """
    plain = sa.select(*columns).select_from(source).where(*where)
    if connection.dialect.name != "sqlite":
        yield from _chunks(connection, plain)
        return
    rowid = sa.literal_column(f"{source.name}.rowid", sa.Integer)
    packed = [sa.func.group_concat(column, _SEPARATOR) for column in columns]
    first, last = connection.execute(
        sa.select(sa.func.min(rowid), sa.func.max(rowid)).select_from(source)
    ).one()
    for start in range(first or 0, (last or -1) + 1, _CHUNK):
        inside = (rowid >= start, rowid < start + _CHUNK)
        count, *texts = connection.execute(
            sa.select(sa.func.count(), *packed).select_from(source).where(*where, *inside)
        ).one()
        split = [str(text).split(_SEPARATOR) for text in texts]
        if all(len(column) == count for column in split):
            yield split
        elif count:
            yield from _chunks(connection, plain.where(*inside))


def _codes(keys: Sequence[str], at: Mapping[str, int]) -> Ints:
    """Look keys up; -1 where one isn't known."""
    return np.fromiter(map(at.get, keys, repeat(-1)), dtype=np.int64, count=len(keys))


def _whole(chunks: Iterable[Columns], width: int) -> Columns:
    """Put chunks together, into so many columns."""
    found: Columns = [[] for _ in range(width)]
    for chunk in chunks:
        for column, part in zip(found, chunk, strict=True):
            column += part
    return found


def _models(connection: sa.Connection, study_id: str) -> dict[str, int]:
    seat, candidate = table(StudyCandidate), table(Candidate)
    rows = connection.execute(
        sa.select(seat.c.candidate_id)
        .select_from(seat.join(candidate, candidate.c.id == seat.c.candidate_id))
        .where(seat.c.study_id == study_id)
        .order_by(seat.c.position, seat.c.candidate_id)
    ).scalars()
    return {str(name): number for number, name in enumerate(rows)}


def _places(connection: sa.Connection, study_id: str) -> _Places:
    """Read a study's samples in its order; those that share pictures get one cluster."""
    place, sample, replay = table(StudySample), table(Sample), table(Replay)
    statement = (
        sa.select(place.c.sample_id, sample.c.dataset, sample.c.cluster, replay.c.agrees)
        .select_from(
            place.join(sample, sample.c.id == place.c.sample_id).outerjoin(
                replay, replay.c.id == place.c.replay_id
            )
        )
        .where(place.c.study_id == study_id)
        .order_by(place.c.position, place.c.sample_id)
    )
    ids, datasets, clusters, agree = _whole(_chunks(connection, statement), 4)
    names = [cluster or name for cluster, name in zip(clusters, ids, strict=True)]
    number = {name: at for at, name in enumerate(dict.fromkeys(names))}
    return _Places(
        ids=tuple(ids),
        dataset=tuple(datasets),
        cluster=_codes(names, number).astype(np.int32),
        quarantined=np.array([said is not None and not said for said in agree], dtype=np.bool_),
        at={name: at for at, name in enumerate(ids)},
    )


def _of_study(child: sa.Table, study_id: str) -> sa.Select[tuple[object, ...]]:
    """Select from a table with `sample_id` and `candidate_id`, kept to a study's members."""
    place, seat = table(StudySample), table(StudyCandidate)
    return (
        sa.select()
        .select_from(child)
        .where(
            child.c.sample_id.in_(sa.select(place.c.sample_id).where(place.c.study_id == study_id)),
            child.c.candidate_id.in_(
                sa.select(seat.c.candidate_id).where(seat.c.study_id == study_id)
            ),
        )
    )


def _scan(connection: sa.Connection, study_id: str) -> bool:
    """Say whether to read whole tables, leaving out other studies' rows, or to look rows up.

    A scan reads pages in order, which is far faster where most of what it reads is wanted.
    """
    place, sample = table(StudySample), table(Sample)
    count = sa.func.count
    mine = sa.select(count()).select_from(place).where(place.c.study_id == study_id)
    everything = connection.execute(sa.select(count()).select_from(sample)).scalar_one()
    return int(connection.execute(mine).scalar_one()) >= _SCAN_SHARE * everything


def _answers(
    connection: sa.Connection,
    study: Study,
    places: _Places,
    models: Mapping[str, int],
    *,
    scan: bool,
) -> _Answers:
    """Read first answers, corrections left out.

    Answers under other sampling settings than the study's are left out, too.
    """
    response = table(Response)
    first = response.c.arm.is_(None)
    settings = connection.execute(sa.select(response.c.sampling).where(first).distinct()).scalars()
    same = [
        text
        for text in settings
        if Sampling.model_validate(json.loads(text)) == study.answer_sampling
    ]
    wanted = sa.and_(first, sa.or_(response.c.prompt.in_(HAND_MADE), response.c.sampling.in_(same)))
    columns = (
        response.c.id,
        response.c.sample_id,
        response.c.candidate_id,
        response.c.repeat,
        response.c.state,
    )
    chunks = (
        _scanned(connection, response, columns, wanted)
        if scan
        else _chunks(connection, _of_study(response, study.id).add_columns(*columns).where(wanted))
    )
    ids, samples, candidates, repeats, states = _whole(chunks, 5)
    model, sample = _codes(candidates, models), _codes(samples, places.at)
    times = np.array(repeats, dtype=np.int64)
    scored = np.array([state == "scored" for state in states], dtype=np.bool_)
    known = (model >= 0) & (sample >= 0)
    order = np.lexsort((times, sample, model))
    order = order[known[order]]
    key = np.stack([model, sample, times])[:, order]
    if (key[:, 1:] == key[:, :-1]).all(axis=0).any():
        # Several prompts answered the same: their ids decide, so that the order is always one.
        by_id = np.zeros(len(ids), dtype=np.int64)
        by_id[sorted(range(len(ids)), key=ids.__getitem__)] = np.arange(len(ids))
        order = np.lexsort((by_id, times, sample, model))
        order = order[known[order]]
    ordered = tuple(ids[at] for at in order)
    return _Answers(
        ids=ordered,
        sample=sample[order].astype(np.int32),
        model=model[order].astype(np.int16),
        repeat=times[order].astype(np.int16),
        scored=scored[order],
        at={name: at for at, name in enumerate(ordered)},
    )


def _outcomes(
    connection: sa.Connection,
    study_id: str,
    answers: _Answers,
    judge_id: str | None,
    *,
    scan: bool,
) -> NDArray[np.float32]:
    """Read each answer's outcome: an imported one first, then ours by rule, then a judge's.

    Of several judges' the one looked at comes first.
    """
    outcome, response = table(Outcome), table(Response)
    columns = (outcome.c.response_id, outcome.c.how, outcome.c.value, outcome.c.judge_id)
    known = outcome.c.value.is_not(None)
    chunks = (
        _scanned(connection, outcome, columns, known)
        if scan
        else _chunks(
            connection,
            _of_study(response, study_id)
            .add_columns(*columns)
            .where(known, outcome.c.response_id == response.c.id),
        )
    )
    found = np.full(len(answers.ids), np.nan, dtype=np.float32)
    best = np.full(len(answers.ids), _OTHER_JUDGE + 1, dtype=np.int64)
    for names, hows, values, judges in chunks:
        at = _codes(names, answers.at)
        rank = np.array(
            [
                _OTHER_JUDGE if how == "judge" and judge != judge_id else _HOW_ORDER[how]
                for how, judge in zip(hows, judges, strict=True)
            ]
        )
        value = np.array(values, dtype=np.float64)
        # The best rank of each answer last, so that it is the one that stays.
        order = np.argsort(-rank, kind="stable")
        order = order[at[order] >= 0]
        order = order[rank[order] < best[at[order]]]
        found[at[order]], best[at[order]] = value[order], rank[order]
    return found


def _uses(connection: sa.Connection, study_id: str, places: _Places) -> _Uses:
    """Read the criteria that stand for each sample."""
    place, criteria = table(StudySample), table(CriteriaSet)
    statement = (
        sa.select(place.c.sample_id, criteria.c.uses)
        .select_from(place.join(criteria, criteria.c.id == place.c.criteria_set_id))
        .where(place.c.study_id == study_id, criteria.c.state == "scored")
        .order_by(place.c.position, place.c.sample_id)
    )
    ids: list[str] = []
    numbers: list[int] = []
    size: list[int] = []
    samples, texts = _whole(_chunks(connection, statement), 2)
    for text in texts:
        uses = json.loads(text)
        size.append(len(uses))
        for use in uses:
            ids.append(use["criterion_id"])
            numbers += (use["position"], use["weight"])
    position, weight = np.array(numbers, dtype=np.int64).reshape(-1, 2).T
    return _Uses(
        ids=tuple(ids),
        sample=np.repeat(_codes(samples, places.at), np.array(size, dtype=np.int64)),
        position=position,
        weight=weight,
    )


def _marks(
    connection: sa.Connection,
    study: Study,
    judge_id: str | None,
    answers: _Answers,
    uses: _Uses,
    *,
    scan: bool,
) -> _Marks:
    """Read (answer, criterion, score code): the first repeat, the newest prompt."""
    judge = table(Judge)
    judges = [str(name) for name in connection.execute(sa.select(judge.c.id)).scalars()]
    if study.judge_id is not None and study.judge_id not in judges:
        judges.append(study.judge_id)
    found = _read_marks(connection, study, judges, answers, uses, scan=scan)
    wanted = judges.index(judge_id) if judge_id in judges else -1
    counts = np.bincount(found[3], minlength=len(judges))
    names = [judges[at] for at in np.argsort(-counts, kind="stable") if counts[at]]
    if _twice(found[:, found[3] == wanted], len(uses.ids)):
        found = _read_marks(connection, study, judges, answers, uses, scan=scan, by_prompt=True)
    response, use, code, _ = found[:, found[3] == wanted]
    key = response * max(len(uses.ids), 1) + use
    order = np.argsort(key, kind="stable")
    last = np.append(key[order][1:] != key[order][:-1], True)[: len(order)]
    order = order[last]
    return _Marks(
        response=response[order], use=use[order], code=code[order], judge_ids=tuple(names)
    )


def _twice(found: Ints, n_uses: int) -> bool:
    """Say whether a criterion was scored on an answer under several prompts or settings."""
    key = np.sort(found[0] * max(n_uses, 1) + found[1])
    return bool((key[1:] == key[:-1]).any())


def _read_marks(
    connection: sa.Connection,
    study: Study,
    judges: Sequence[str],
    answers: _Answers,
    uses: _Uses,
    *,
    scan: bool,
    by_prompt: bool = False,
) -> Ints:
    """Read checkpoints as (answer, use, code, judge), shape (4, N), of any judge.

    Args:
        connection: an open transaction.
        study: the study.
        judges: ids of all judges.
        answers: the study's answers.
        uses: its criteria.
        scan: whether all of the store's checkpoints are read.
        by_prompt: whether rows come by prompt (a sort that is seldom needed).
    """
    if not judges or not answers.ids or not uses.ids:
        return np.zeros((4, 0), dtype=np.int64)
    checkpoint, response = table(Checkpoint), table(Response)
    columns = (
        checkpoint.c.response_id,
        checkpoint.c.criterion_id,
        sa.func.coalesce(sa.cast(checkpoint.c.score, sa.Text), checkpoint.c.state),
        checkpoint.c.judge_id,
    )
    first = checkpoint.c.repeat == 0
    statement = sa.select() if scan else _of_study(response, study.id)
    statement = statement.add_columns(*columns).where(first)
    if not scan:
        statement = statement.where(checkpoint.c.response_id == response.c.id)
    if by_prompt:
        statement = statement.order_by(checkpoint.c.prompt, checkpoint.c.key)
    chunks = (
        _scanned(connection, checkpoint, columns, first)
        if scan and not by_prompt
        else _chunks(connection, statement)
    )
    use_at = {name: at for at, name in enumerate(uses.ids)}
    judge_at = {name: at for at, name in enumerate(judges)}
    parts = []
    for names, criteria, scores, who in chunks:
        part = np.stack(
            [
                _codes(names, answers.at),
                _codes(criteria, use_at),
                np.fromiter(map(_SCORE.__getitem__, scores), dtype=np.int64, count=len(scores)),
                _codes(who, judge_at),
            ]
        )
        part = part[:, (part[[0, 1, 3]] >= 0).all(axis=0)]
        parts.append(part[:, answers.sample[part[0]] == uses.sample[part[1]]].astype(np.int32))
    return np.concatenate([np.zeros((4, 0), dtype=np.int64), *parts], axis=1)


def _leaves(connection: sa.Connection, study: Study, uses: _Uses) -> tuple[Ints, tuple[Path, ...]]:
    """Read each use's leaf (-1 = none), and the leaves in the tree's order."""
    code = np.full(len(uses.ids), -1, dtype=np.int64)
    if study.tree_version is None:
        return code, ()
    mapping, record = table(MappingRecord), table(TreeRecord)
    statement = sa.select(mapping.c.criterion_id, mapping.c.leaf).where(
        mapping.c.tree_version == study.tree_version, mapping.c.leaf.is_not(None)
    )
    text_of = dict(zip(*_whole(_chunks(connection, statement), 2), strict=True))
    texts = [text_of.get(name) for name in uses.ids]
    path_of = {text: tuple(json.loads(text)) for text in {*texts} if text is not None}
    body = connection.execute(
        sa.select(record.c.body).where(record.c.version == study.tree_version)
    ).scalar()
    tree = parse_tree(body, depth=None) if body else None
    place_of = {leaf: number for number, leaf in enumerate(tree.leaves)} if tree else {}
    leaves = tuple(
        sorted({*path_of.values()}, key=lambda leaf: (place_of.get(leaf, len(place_of)), leaf))
    )
    at = {leaf: number for number, leaf in enumerate(leaves)}
    number_of = {text: at[path] for text, path in path_of.items()}
    return np.array([number_of.get(text, -1) for text in texts], dtype=np.int64), leaves


def _facets(
    connection: sa.Connection, study_id: str, places: _Places, answers: _Answers
) -> dict[str, Facet]:
    """Bring all labels down to answers; an answer's own labels beat its sample's in a facet."""
    shared: dict[str, list[tuple[int, str]]] = {
        SOURCE_FACET: list(enumerate(places.dataset)) if answers.ids else []
    }
    own: dict[str, list[tuple[int, str]]] = {}
    for at, facet, value in _tags_of_samples(connection, study_id, places):
        shared.setdefault(facet, []).append((at, value))
    for at, facet, value in _tags_of_answers(connection, study_id, answers):
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


def _tags_of_samples(
    connection: sa.Connection, study_id: str, places: _Places
) -> Iterator[tuple[int, str, str]]:
    tag, place = table(Tag), table(StudySample)
    statement = (
        sa.select(tag.c.subject_id, tag.c.facet, tag.c.value)
        .select_from(tag.join(place, place.c.sample_id == tag.c.subject_id))
        .where(place.c.study_id == study_id, tag.c.subject == "sample")
    )
    for chunk in _chunks(connection, statement):
        for sample_id, facet, value in zip(*chunk, strict=True):
            if sample_id in places.at:
                yield places.at[sample_id], facet, value


def _tags_of_answers(
    connection: sa.Connection, study_id: str, answers: _Answers
) -> Iterator[tuple[int, str, str]]:
    tag, response = table(Tag), table(Response)
    statement = (
        _of_study(response, study_id)
        .add_columns(tag.c.subject_id, tag.c.facet, tag.c.value)
        .where(tag.c.subject_id == response.c.id, tag.c.subject == "response")
    )
    for chunk in _chunks(connection, statement):
        for response_id, facet, value in zip(*chunk, strict=True):
            if response_id in answers.at:
                yield answers.at[response_id], facet, value
