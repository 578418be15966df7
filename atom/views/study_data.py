"""A study loaded for the screens: its records' heads and its score table.

Pure reading: the result is immutable and depends on (store, study, judge, revision) alone, so that
pages share it. A large study has a million checkpoints, so rows are read as columns; where SQLite
can, it packs many rows into one text a column, since a row handed to Python costs more than
reading it from the disk.
"""

from __future__ import annotations

import gc
import json
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice, repeat, takewhile
from queue import Empty, Queue
from typing import Any, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json
import sqlalchemy as sa
from numpy.typing import NDArray

from atom.analysis import FAILED, UNSCORED, Facet, ScoreTable
from atom.analysis.intervals import Ints
from atom.records import (
    FIRMNESS_PROMPTS,
    HAND_MADE,
    JUDGING_STAGES,
    Candidate,
    Checkpoint,
    CriteriaSet,
    Judge,
    Outcome,
    Replay,
    Response,
    Sample,
    Sampling,
    Scale,
    Study,
    StudyCandidate,
    StudySample,
    Tag,
    TreeRecord,
)
from atom.records import Mapping as MappingRecord
from atom.store import Store, find_study, study_candidates, table
from atom.store.schema import meta
from atom.store.standing import of_settings
from atom.views.preferences import Preferences, load_preferences, share_won
from taxonomy import Path, Tree, parse_tree

SOURCE_FACET = "source"
_HOW_ORDER = {"imported": 0, "choice": 1, "numeric": 1, "exact": 1, "judge": 2}
_OTHER_JUDGE = 3
_SCORES = (*"12345", "unscored", "failed")
_SCORE_CODES = np.array([1, 2, 3, 4, 5, UNSCORED, FAILED], dtype=np.int8)
"""What the texts above stand for."""
_SAID = ("", " silent")
_CARRIED = ("", " own", " carried")
"""Wasn't asked; not carried; carried."""
_SCALES: tuple[Scale, ...] = ("appendix_d", "firmness", "other")
"""Of the scales that a judge's marks are on, the first is the one that is shown."""
_MARKS = tuple(
    f"{score}{said}{carried} {scale}"
    for score in _SCORES
    for said in _SAID
    for carried in _CARRIED
    for scale in _SCALES
)
"""All that a mark may be, as the one text that is read of it."""
_NO_SCORE, _FAILED = (_MARKS.index(f"{state} {_SCALES[0]}") for state in ("unscored", "failed"))
_CHUNK = 50_000
_BATCH = 20
"""Chunks whose texts are looked up in one go."""
_AHEAD = 24
"""Chunks that are fetched before they are asked for, at most."""
_SEPARATOR = "\x1f"
_MAPPED = 1 << 36
"""Most bytes of a store's file that are mapped; the system's own limits come first."""
_JSON_BLOCK = 1 << 24
_USES = pa.schema(
    {
        "uses": pa.list_(
            pa.struct({"criterion_id": pa.string(), "position": pa.int64(), "weight": pa.int64()})
        )
    }
)
_SCAN_SHARE = 0.25
"""A study with this share of a store's samples is read by scans over whole tables."""
T = TypeVar("T")


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
        scale: what the marks that are shown mean.
        left_out: marks on an older scale that no newer mark replaces; they don't count.
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
        if given is None or any(one.id == given for one in self.judges):
            return given
        found = [one.id for one in self.judges if one.name == given]
        return found[0] if len(found) == 1 else None

    def model_index(self, model_id: str | None) -> int | None:
        """Return a candidate's index by id, or None."""
        for number, candidate in enumerate(self.candidates):
            if candidate.id == model_id:
                return number
        return None


def roots_of_rows(data: StudyData) -> tuple[Ints, tuple[str, ...]]:
    """Return each checkpoint's root, -1 = not mapped, and the roots' names."""
    names = tuple(dict.fromkeys(leaf[0] for leaf in data.table.leaves))
    of_leaf = np.array([names.index(leaf[0]) for leaf in data.table.leaves] + [-1], dtype=np.int64)
    return of_leaf[data.table.leaf], names


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
    with ExitStack() as stack:
        connection, beside = (stack.enter_context(store.read()) for _ in range(2))
        stack.enter_context(_without_collector())
        for one in (connection, beside):
            stack.enter_context(_mapped(one))
        revision = read_revision(connection)
        # A writer may have come between the two: then they don't see the same store.
        same = read_revision(beside) == revision
        columns = read_columns(connection, study, judge, beside=beside if same else None)
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


@contextmanager
def _mapped(connection: sa.Connection) -> Iterator[None]:
    """Let SQLite read its file as memory: a scan then copies no pages, and takes half the time.

    Only for this reading: while it lasts, no writer can make the file shorter.
    """
    if connection.dialect.name != "sqlite":
        yield
        return
    connection.exec_driver_sql(f"PRAGMA mmap_size = {_MAPPED}").close()
    try:
        yield
    finally:
        connection.exec_driver_sql("PRAGMA mmap_size = 0").close()


def chosen_judge(store: Store, study: Study, judge_id: str | None) -> str | None:
    """Return the id of the judge to look at: the one asked for if there is one, else the study's.

    Args:
        store: where the study is.
        study: the study.
        judge_id: the judge asked for, by its id, or by its name where only one has it.
    """
    if judge_id is None:
        return study.judge_id
    if store.get(Judge, judge_id) is not None:
        return judge_id
    named = store.select(Judge, table(Judge).c.name == judge_id)
    return named[0].id if len(named) == 1 else study.judge_id


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
        scale=columns.scale,
        left_out=columns.left_out,
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
    blank: NDArray[np.bool_]
    """Imported without a text, so that there is nothing to score."""

    @cached_property
    def at(self) -> dict[str, int]:
        """Index of each answer by its id."""
        return {name: at for at, name in enumerate(self.ids)}


@dataclass(frozen=True, kw_only=True)
class _Uses:
    """The criteria that stand for the samples, by sample and place, shape (U,)."""

    ids: tuple[str, ...]
    sample: Ints
    position: Ints
    weight: Ints
    chained: NDArray[np.bool_]
    """Whether a sample's criteria are the steps of one solution, shape (S,)."""


@dataclass(frozen=True, kw_only=True)
class _Marks:
    """Checkpoints of one judge by answer and criterion, shape (N,)."""

    response: Ints
    use: Ints
    """Index into the uses."""
    mark: Ints
    """Index into `_MARKS`."""
    judge_ids: tuple[str, ...]
    scale: Scale
    left_out: int

    @property
    def score(self) -> NDArray[np.int8]:
        """1..5, 0 = unscored, -1 = failed."""
        each = len(_MARKS) // len(_SCORES)
        return np.asarray(_SCORE_CODES[self.mark // each])

    @property
    def addressed(self) -> NDArray[np.bool_]:
        """Whether the answer says anything about the step."""
        each = len(_CARRIED) * len(_SCALES)
        return np.asarray(self.mark // each % len(_SAID) == 0)

    @property
    def carried(self) -> Ints:
        """Index into `_CARRIED`."""
        return np.asarray(self.mark // len(_SCALES) % len(_CARRIED))


def read_columns(
    connection: sa.Connection,
    study: Study,
    judge_id: str | None,
    *,
    beside: sa.Connection | None = None,
) -> StudyColumns:
    """Read everything of a study that comes in rows.

    Args:
        connection: an open transaction.
        study: the study.
        judge_id: whose checkpoints.
        beside: another one that sees the same; the checkpoints are scanned through it meanwhile.
    """
    models = _models(connection, study.id)
    scan = _scan(connection, study.id)
    source = beside or connection
    between: list[list[pa.Array]] = [[]]
    scanned = (
        chain(_scanned_marks(source), between, _scanned_outcomes(source)) if scan else iter(())
    )
    with _ahead(scanned, at_once=scan and beside is not None) as rows:
        places = _places(connection, study.id)
        answers = _answers(connection, study, places, models, scan=scan)
        uses = _uses(connection, study.id, places)
        leaf_of_use, leaves = _leaves(connection, study, uses, scan=scan)
        chunks = takewhile(bool, rows)
        marks = _marks(connection, study, judge_id, answers, uses, chunks if scan else None)
        # Where nothing was wanted of them, some are left.
        deque(chunks, maxlen=0)
        outcome = _outcomes(connection, study.id, answers, judge_id, list(rows) if scan else None)
    votes = load_preferences(connection, study.id, answers.at)
    used = np.bincount(marks.use, minlength=len(uses.ids)) > 0
    seen, criterion = np.flatnonzero(used), (np.cumsum(used) - 1)[marks.use]
    table_ = ScoreTable(
        response=marks.response.astype(np.int32),
        criterion=criterion.astype(np.int32),
        leaf=leaf_of_use[marks.use].astype(np.int16),
        weight=uses.weight[marks.use].astype(np.int8),
        position=uses.position[marks.use].astype(np.int8),
        score=marks.score,
        addressed=marks.addressed,
        carried=marks.carried == _CARRIED.index(" carried"),
        carried_known=bool((marks.carried > 0).any()),
        chained=uses.chained,
        sample=answers.sample,
        model=answers.model,
        repeat=answers.repeat,
        outcome=outcome,
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
        pending=int((expected - there)[answers.scored & ~answers.blank].sum()),
        judge_ids=marks.judge_ids,
        votes=votes,
        scale=marks.scale,
        left_out=marks.left_out,
    )


@contextmanager
def _ahead(items: Iterator[T], *, at_once: bool) -> Iterator[Iterator[T]]:
    """Let a thread of its own fetch items before they are asked for, a few dozen at most.

    SQLite and Arrow work outside of Python's lock, so both of two cores are used.

    Args:
        items: what is fetched; nobody else may touch it, nor what it reads from, meanwhile.
        at_once: whether to do so at all.
    """
    if not at_once:
        yield items
        return
    fetched: Queue[T | BaseException | None] = Queue(_AHEAD)
    leave = threading.Event()

    def fetch() -> None:
        end: BaseException | None = None
        try:
            for item in items:
                if leave.is_set():
                    break
                fetched.put(item)
        except BaseException as error:  # noqa: BLE001 - raised again where the items are used
            end = error
        fetched.put(end)

    def given() -> Iterator[T]:
        while (item := fetched.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item

    thread = threading.Thread(target=fetch, name="atom-read", daemon=True)
    thread.start()
    try:
        yield given()
    finally:
        leave.set()
        while thread.is_alive():
            with suppress(Empty):
                fetched.get_nowait()
            thread.join(0.01)


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
    for chunk in _packed(connection, source, columns, *where):
        if isinstance(chunk[0], str):
            yield [text[:-1].split(_SEPARATOR) for text in chunk]
        else:
            yield chunk


def _packed(
    connection: sa.Connection,
    source: sa.Table,
    columns: Sequence[sa.ColumnElement[Any]],
    *where: sa.ColumnElement[bool],
) -> Iterator[list[Any]]:
    """Read columns of a whole table, in chunks: a text of all values a column, else lists.

    In a text each value has a separator after it.
    """
    plain = sa.select(*columns).select_from(source).where(*where)
    if connection.dialect.name != "sqlite":
        yield from _chunks(connection, plain)
        return
    rowid = sa.literal_column(f"{source.name}.rowid", sa.Integer)
    packed = [sa.func.group_concat(column, _SEPARATOR) for column in columns]
    # Each by itself: SQLite finds one end of a table at once, but both together by a scan.
    first, last = (
        connection.execute(sa.select(end(rowid)).select_from(source)).scalar()
        for end in (sa.func.min, sa.func.max)
    )
    for start in range(first or 0, (last or -1) + 1, _CHUNK):
        inside = (rowid >= start, rowid < start + _CHUNK)
        count, *texts = connection.execute(
            sa.select(sa.func.count(), *packed).select_from(source).where(*where, *inside)
        ).one()
        if not count:
            continue
        whole = [f"{text}{_SEPARATOR}" for text in texts]
        if all(text.count(_SEPARATOR) == count for text in whole):
            yield whole
        else:
            yield from _chunks(connection, plain.where(*inside))


def _array(values: str | Sequence[Any]) -> pa.Array:
    """Return texts, each with its separator after it, as Arrow has them: cut up, but not copied."""
    text = values if isinstance(values, str) else _SEPARATOR.join([*map(str, values), ""])
    if not isinstance(values, str) and text.count(_SEPARATOR) != len(values):
        # A text that holds the separator itself is written with another sign, wherever it is.
        plain = (str(one).replace(_SEPARATOR, "\ufffd") for one in values)
        text = _SEPARATOR.join([*plain, ""])
    body = np.frombuffer(text.encode(), dtype=np.uint8)
    ends = np.flatnonzero(body == ord(_SEPARATOR)) + 1
    offsets = np.append(0, ends).astype(np.int64)
    return pa.LargeStringArray.from_buffers(len(ends), pa.py_buffer(offsets), pa.py_buffer(body))


def _arrays(chunks: Iterable[Sequence[Any]], width: int) -> list[list[pa.Array]]:
    """Read chunks as so many columns of Arrow arrays, one array a chunk."""
    made = [
        [one if isinstance(one, pa.Array) else _array(one) for one in chunk] for chunk in chunks
    ]
    return [[chunk[at] for chunk in made] for at in range(width)]


def _plain(parts: Sequence[pa.Array]) -> pa.ChunkedArray:
    """Take the separators off again."""
    return pc.utf8_rtrim(pa.chunked_array(parts, pa.large_string()), _SEPARATOR)


def _texts(parts: Sequence[pa.Array]) -> list[str]:
    return list(_plain(parts).to_pylist())


def _numbers(parts: Sequence[pa.Array], kind: pa.DataType) -> NDArray[Any]:
    """Read texts as numbers of a kind; "None" is none where the kind has one."""
    return np.asarray(pc.cast(_plain(parts), kind).to_numpy())


def _look_up(parts: Sequence[pa.Array], among: pa.Array) -> Ints:
    """Look texts up in an array; -1 where one isn't there. All arrays are made by `_array`."""
    found = pc.index_in(pa.chunked_array(parts, pa.large_string()), value_set=among)
    return np.asarray(pc.fill_null(found, -1).to_numpy(), dtype=np.int64)


def _codes(keys: Sequence[Any], at: Mapping[str, int]) -> Ints:
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
        if of_settings("", Sampling.model_validate(json.loads(text)), study.answer_sampling)
    ]
    blank = sa.and_(
        response.c.state == "scored", response.c.prompt == HAND_MADE[0], response.c.text == ""
    )
    wanted = sa.and_(first, sa.or_(response.c.prompt.in_(HAND_MADE), response.c.sampling.in_(same)))
    columns = (
        response.c.id,
        response.c.sample_id,
        response.c.candidate_id,
        response.c.repeat,
        sa.case((blank, "blank"), else_=response.c.state),
    )
    chunks = (
        _packed(connection, response, columns, wanted)
        if scan
        else _chunks(connection, _of_study(response, study.id).add_columns(*columns).where(wanted))
    )
    names, samples, candidates, repeats, states = _arrays(chunks, 5)
    ids = _texts(names)
    sample, model = _look_up(samples, _array(places.ids)), _look_up(candidates, _array([*models]))
    times = _numbers(repeats, pa.int64())
    state = _look_up(states, _array(["blank", "scored"]))
    blanks, scored = state == 0, state >= 0
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
    ordered = tuple(map(ids.__getitem__, order.tolist()))
    return _Answers(
        ids=ordered,
        sample=sample[order].astype(np.int32),
        model=model[order].astype(np.int16),
        repeat=times[order].astype(np.int16),
        scored=scored[order],
        blank=blanks[order],
    )


def _outcomes(
    connection: sa.Connection,
    study_id: str,
    answers: _Answers,
    judge_id: str | None,
    scanned: Sequence[list[pa.Array]] | None,
) -> NDArray[np.float32]:
    """Read each answer's outcome: an imported one first, then ours by rule, then a judge's.

    Of several judges' the one looked at comes first; of equals the one read last.

    Args:
        connection: an open transaction.
        study_id: the study.
        answers: its answers.
        judge_id: the judge looked at.
        scanned: the columns of all of the store's outcomes; None = the study's are looked up.
    """
    chunks = _outcomes_of_study(connection, study_id) if scanned is None else scanned
    names, hows, values, judges = _arrays(chunks, 4)
    at = _look_up(names, _array(answers.ids))
    rank = np.array([*_HOW_ORDER.values()])[_look_up(hows, _array([*_HOW_ORDER]))]
    others = _look_up(judges, _array([judge_id or ""])) < 0
    rank[others & (rank == _HOW_ORDER["judge"])] = _OTHER_JUDGE
    # The best rank of each answer last, so that it is the one that stays.
    order = np.argsort(-rank, kind="stable")
    order = order[at[order] >= 0]
    found = np.full(len(answers.ids), np.nan, dtype=np.float32)
    found[at[order]] = _numbers(values, pa.float64())[order]
    return found


def _outcome_columns() -> tuple[sa.ColumnElement[Any], ...]:
    outcome = table(Outcome)
    return (outcome.c.response_id, outcome.c.how, outcome.c.value, outcome.c.judge_id)


def _scanned_outcomes(connection: sa.Connection) -> Iterator[list[pa.Array]]:
    """Read the columns of all outcomes of a store that have a value, in chunks."""
    outcome = table(Outcome)
    for chunk in _packed(connection, outcome, _outcome_columns(), outcome.c.value.is_not(None)):
        yield [_array(column) for column in chunk]


def _outcomes_of_study(connection: sa.Connection, study_id: str) -> Iterator[Columns]:
    """Read the columns of a study's outcomes that have a value, in chunks."""
    outcome, response = table(Outcome), table(Response)
    return _chunks(
        connection,
        _of_study(response, study_id)
        .add_columns(*_outcome_columns())
        .where(outcome.c.value.is_not(None), outcome.c.response_id == response.c.id),
    )


def _uses(connection: sa.Connection, study_id: str, places: _Places) -> _Uses:
    """Read the criteria that stand for each sample."""
    place, criteria = table(StudySample), table(CriteriaSet)
    statement = (
        sa.select(place.c.sample_id, criteria.c.uses, criteria.c.replay_id.is_not(None))
        .select_from(place.join(criteria, criteria.c.id == place.c.criteria_set_id))
        .where(place.c.study_id == study_id, criteria.c.state == "scored")
        .order_by(place.c.position, place.c.sample_id)
    )
    samples, texts, solved = _whole(_chunks(connection, statement), 3)
    size, ids, position, weight = _read_uses(texts)
    at = _codes(samples, places.at)
    chained = np.zeros(len(places.ids), dtype=np.bool_)
    chained[at] = np.array(solved, dtype=np.bool_)
    return _Uses(
        ids=ids,
        sample=np.repeat(at, size),
        position=position,
        weight=weight,
        chained=chained,
    )


def _read_uses(texts: Sequence[str]) -> tuple[Ints, tuple[str, ...], Ints, Ints]:
    """Read lists of uses: how many each list has; then all ids, positions and weights.

    Arrow parses all of them at once, a list a line, twenty times as fast as one at a time; what it
    finds odd is read the plain way.
    """
    lines = "\n".join(f'{{"uses":{text}}}' for text in texts).encode()
    try:
        read = pa.json.read_json(
            pa.BufferReader(lines),
            read_options=pa.json.ReadOptions(block_size=_JSON_BLOCK),
            parse_options=pa.json.ParseOptions(
                explicit_schema=_USES, newlines_in_values=True, unexpected_field_behavior="ignore"
            ),
        )
        lists = read["uses"].combine_chunks()
        ids, position, weight = lists.flatten().flatten()
        if len(lists) == len(texts) and not lists.flatten().null_count + sum(
            part.null_count for part in (lists, ids, position, weight)
        ):
            size = np.diff(lists.offsets.to_numpy()).astype(np.int64)
            return size, tuple(ids.to_pylist()), position.to_numpy(), weight.to_numpy()
    except pa.ArrowException:
        pass
    lists_ = [json.loads(text) for text in texts]
    uses = [use for one in lists_ for use in one]
    numbers = np.array([(use["position"], use["weight"]) for use in uses], dtype=np.int64)
    return (
        np.array([len(one) for one in lists_], dtype=np.int64),
        tuple(use["criterion_id"] for use in uses),
        *numbers.reshape(-1, 2).T,
    )


def _marks(
    connection: sa.Connection,
    study: Study,
    judge_id: str | None,
    answers: _Answers,
    uses: _Uses,
    scanned: Iterable[list[pa.Array]] | None,
) -> _Marks:
    """Read (answer, criterion, mark): the first repeat, the newest prompt, the newest scale.

    Args:
        connection: an open transaction.
        study: the study.
        judge_id: whose checkpoints.
        answers: the study's answers.
        uses: its criteria.
        scanned: all of the store's checkpoints; None = the study's are looked up.
    """
    judge = table(Judge)
    judges = [str(name) for name in connection.execute(sa.select(judge.c.id)).scalars()]
    if study.judge_id is not None and study.judge_id not in judges:
        judges.append(study.judge_id)
    chunks = _marks_of_study(connection, study.id) if scanned is None else scanned
    found = _read_marks(chunks, judges, answers, uses)
    wanted = judges.index(judge_id) if judge_id in judges else -1
    counts = np.bincount(found[3], minlength=len(judges))
    names = [judges[at] for at in np.argsort(-counts, kind="stable") if counts[at]]
    if _twice(found[:, found[3] == wanted], len(uses.ids)):
        found = _read_marks(
            _marks_of_study(connection, study.id, by_prompt=True), judges, answers, uses
        )
    found, scale, left_out = _newest_scale(found[:, found[3] == wanted], len(uses.ids))
    response, use, mark, _ = found
    key = response * max(len(uses.ids), 1) + use
    order = np.argsort(key, kind="stable")
    last = np.append(key[order][1:] != key[order][:-1], True)[: len(order)]
    order = order[last]
    return _Marks(
        response=response[order],
        use=use[order],
        mark=mark[order],
        judge_ids=tuple(names),
        scale=scale,
        left_out=left_out,
    )


def _newest_scale(found: Ints, n_uses: int) -> tuple[Ints, Scale, int]:
    """Leave out marks on older scales than the newest that any is on.

    Args:
        found: (answer, use, mark, judge), shape (4, N), of one judge.
        n_uses: number of uses.

    Returns:
        What is left, the scale it is on, and how many of the marks left out no newer one replaces.
    """
    scored = found[2] < _NO_SCORE
    scale = found[2] % len(_SCALES)
    newest = int(scale[scored].min(initial=len(_SCALES) - 1)) if scored.any() else 0
    shown = (scale == newest) | ~scored.any()
    key = found[0].astype(np.int64) * max(n_uses, 1) + found[1]
    left_out = scored & ~shown & ~np.isin(key, key[shown])
    return found[:, shown], _SCALES[newest], int(np.count_nonzero(left_out))


def _twice(found: Ints, n_uses: int) -> bool:
    """Say whether a criterion was scored on an answer under several prompts or settings."""
    key = np.sort(found[0] * max(n_uses, 1) + found[1])
    return bool((key[1:] == key[:-1]).any())


def _mark_columns() -> tuple[sa.ColumnElement[Any], ...]:
    checkpoint = table(Checkpoint)
    mark = sa.func.coalesce(sa.cast(checkpoint.c.score, sa.Text), checkpoint.c.state)
    said = sa.case((checkpoint.c.addressed.is_(False), _SAID[1]), else_=_SAID[0])
    carried = sa.case(
        (checkpoint.c.carried.is_(True), _CARRIED[2]),
        (checkpoint.c.carried.is_(False), _CARRIED[1]),
        else_=_CARRIED[0],
    )
    stages = (checkpoint.c.prompt.startswith(f"{stage}/") for stage in sorted(JUDGING_STAGES))
    scale = sa.case(
        (checkpoint.c.prompt.in_(sorted(FIRMNESS_PROMPTS)), " firmness"),
        (sa.or_(*stages), " appendix_d"),
        else_=" other",
    )
    return (
        checkpoint.c.response_id,
        checkpoint.c.criterion_id,
        checkpoint.c.judge_id,
        mark.concat(said).concat(carried).concat(scale),
    )


def _scanned_marks(connection: sa.Connection) -> Iterator[list[pa.Array]]:
    """Read the columns of all first checkpoints of a store, in chunks."""
    checkpoint = table(Checkpoint)
    for chunk in _packed(connection, checkpoint, _mark_columns(), checkpoint.c.repeat == 0):
        yield [_array(column) for column in chunk]


def _marks_of_study(
    connection: sa.Connection, study_id: str, *, by_prompt: bool = False
) -> Iterator[list[pa.Array]]:
    """Read the columns of a study's first checkpoints, in chunks.

    Args:
        connection: an open transaction.
        study_id: the study.
        by_prompt: whether rows come by prompt (a sort that is seldom needed).
    """
    checkpoint, response = table(Checkpoint), table(Response)
    statement = (
        _of_study(response, study_id)
        .add_columns(*_mark_columns())
        .where(checkpoint.c.repeat == 0, checkpoint.c.response_id == response.c.id)
    )
    if by_prompt:
        statement = statement.order_by(checkpoint.c.prompt, checkpoint.c.key)
    for chunk in _chunks(connection, statement):
        yield [_array(column) for column in chunk]


def _read_marks(
    chunks: Iterable[list[pa.Array]],
    judges: Sequence[str],
    answers: _Answers,
    uses: _Uses,
) -> Ints:
    """Read checkpoints as (answer, use, mark, judge), shape (4, N), of any judge.

    Args:
        chunks: columns of checkpoints, any order, other studies' among them.
        judges: ids of all judges.
        answers: the study's answers.
        uses: its criteria.
    """
    if not judges or not answers.ids or not uses.ids:
        return np.zeros((4, 0), dtype=np.int64)
    known = [_array(names) for names in (answers.ids, uses.ids, judges, _MARKS)]
    parts = []
    rows = iter(chunks)
    while batch := list(islice(rows, _BATCH)):
        answer, use, judge_at, mark = (
            _look_up([chunk[at] for chunk in batch], among) for at, among in enumerate(known)
        )
        # "scored", but without a score: whatever that is, it's no mark.
        mark = np.where(mark < 0, _FAILED, mark)
        part = np.stack([answer, use, mark, judge_at])
        part = part[:, (part[[0, 1, 3]] >= 0).all(axis=0)]
        parts.append(part[:, answers.sample[part[0]] == uses.sample[part[1]]].astype(np.int32))
    return np.concatenate([np.zeros((4, 0), dtype=np.int64), *parts], axis=1)


def _leaves(
    connection: sa.Connection, study: Study, uses: _Uses, *, scan: bool
) -> tuple[Ints, tuple[Path, ...]]:
    """Read each use's leaf (-1 = none), and the leaves in the tree's order."""
    code = np.full(len(uses.ids), -1, dtype=np.int64)
    if study.tree_version is None:
        return code, ()
    mapping, record = table(MappingRecord), table(TreeRecord)
    mapped = (mapping.c.tree_version == study.tree_version, mapping.c.leaf.is_not(None))
    columns = (mapping.c.criterion_id, mapping.c.leaf)
    chunks = (
        _scanned(connection, mapping, columns, *mapped)
        if scan
        else _chunks(connection, sa.select(*columns).where(*mapped))
    )
    text_of = dict(zip(*_whole(chunks, 2), strict=True))
    texts = list(map(text_of.get, uses.ids))
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
    return _codes(texts, number_of), leaves


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
