"""A study's rows as columns, by the rules of `standing`: how a large study is read.

A study may have a million marks. Where it is a quarter of its store or more, whole tables are
scanned; smaller ones are looked up through the indexes (design/007-data-path.md).
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, islice, takewhile
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.json
import sqlalchemy as sa
from numpy.typing import NDArray

from atom.records import (
    CAUSES,
    FAILED,
    FIRMNESS_PROMPTS,
    HAND_MADE,
    JUDGING_STAGES,
    NOT_APPLICABLE,
    UNSCORED,
    Candidate,
    Checkpoint,
    CriteriaSet,
    Judge,
    MarkScale,
    Outcome,
    Preference,
    Replay,
    Response,
    Sample,
    Scale,
    Study,
    StudyCandidate,
    StudySample,
    Tag,
    TreeRecord,
)
from atom.records import Mapping as MappingRecord
from atom.store.people import PEOPLE, persons
from atom.store.reading import packed as fast
from atom.store.reading.packed import Ints
from atom.store.reading.scales import scales_within
from atom.store.schema import table
from atom.store.standing import (
    HOW_RANK,
    OTHER_JUDGE,
    REPEATS,
    closed,
    closed_outcomes,
    mark_rank,
    members,
    placed,
    read_sampling,
    sample_ids_of,
    seated,
    settings_of_study,
)
from atom.store.store import Store
from atom.store.together.revisions import read_mark
from taxonomy import Path, parse_tree

_VERDICTS = ("a", "b", "tie")
_STATES = ("scored", "unscored", "failed")
_SILENT = ("", " silent", " known of")
"""It has a text; it has none; it is known from votes or grades alone."""
_KINDS = tuple(
    f"{state}{silent} {cause}" for state in _STATES for silent in _SILENT for cause in CAUSES[:-1]
)
"""All that an answer may be, as the one text that is read of it."""
_SCORES = (*"12345", "unscored", "failed", "not_applicable", "scored")
_VALUED = 6
"""A mark on a scale that isn't our own judges': its value stands in a column of its own."""
_SCORE_CODES = np.array([1, 2, 3, 4, 5, UNSCORED, FAILED, NOT_APPLICABLE, _VALUED], dtype=np.int8)
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
_FAILED = _MARKS.index(f"failed {_SCALES[0]}")
_EACH = len(_MARKS) // len(_SCORES)
_WIDTH = 5
"""Rows of an array of marks: answer, use, mark, judge, repeat; what was asked with, where that is
wanted; value (as its bits) and scale, where there are scales of others."""
Floats = NDArray[np.float64]
_BATCH = 20
"""Chunks whose texts are looked up in one go."""
_JSON_BLOCK = 1 << 24
_USES = pa.schema(
    {
        "uses": pa.list_(
            pa.struct({"criterion_id": pa.string(), "position": pa.int64(), "weight": pa.float64()})
        )
    }
)
_RULES = ('"polarity"', '"parents"', '"gate"')
"""What a list of uses names where it declares more than weights."""
WHOLE = 10
"""What the weights of a sample's credits total."""
_MOST_JUDGES = 12
"""Judges whose marks are read to say where they differ, those with the most first."""
_SCAN_SHARE = 0.25
"""A study with this share of a store's samples is read by scans over whole tables."""


@dataclass(frozen=True, kw_only=True)
class Places:
    """A study's samples, shape (S,)."""

    ids: tuple[str, ...]
    dataset: tuple[str, ...]
    cluster: NDArray[np.int32]
    quarantined: NDArray[np.bool_]
    referenced: NDArray[np.bool_]
    """Whether the right answer is known."""

    @cached_property
    def at(self) -> dict[str, int]:
        """Index of each sample by its id."""
        return {name: at for at, name in enumerate(self.ids)}


@dataclass(frozen=True, kw_only=True)
class Answers:
    """A study's answers by model, sample and repeat, shape (R,)."""

    ids: tuple[str, ...]
    sample: NDArray[np.int32]
    model: NDArray[np.int16]
    repeat: NDArray[np.int16]
    scored: NDArray[np.bool_]
    """Whether there is an answer."""
    judgeable: NDArray[np.bool_]
    """Whether it is there and has a text."""
    cause: NDArray[np.int8]
    """Why there is none, as an index into `CAUSES`."""

    @cached_property
    def at(self) -> dict[str, int]:
        """Index of each answer by its id."""
        return {name: at for at, name in enumerate(self.ids)}


@dataclass(frozen=True, kw_only=True)
class Uses:
    """The criteria that stand for the samples, by sample and place, shape (U,)."""

    ids: tuple[str, ...]
    sample: Ints
    position: Ints
    weight: Ints | Floats
    """Shares of `WHOLE`, the total of a sample's credits; whole numbers where all are."""
    chained: NDArray[np.bool_]
    """Whether a sample's criteria are the steps of one solution, shape (S,)."""
    penalty: NDArray[np.bool_]
    """Whether a criterion takes points away."""
    gate: Floats
    """The most that an answer which misses the criterion can score, 0 to 1; 1 = it's no gate."""
    parents: Ints
    """Uses and those they were declared to rest on, shape (2, P)."""


@dataclass(frozen=True, kw_only=True)
class Marks:
    """Marks of one judge by answer, criterion and repeat, shape (N,)."""

    response: Ints
    use: Ints
    """Index into the uses."""
    repeat: Ints
    mark: Ints
    judge_ids: tuple[str, ...]
    """Judges that marked anything of the study, the most first."""
    scale: Scale
    left_out: int
    """Marks on an older scale that no newer one replaces."""
    value: Floats | None = None
    """What each mark is worth on its scale, 0 to 1; None where all are on our own judges'."""
    on: Ints | None = None
    """The declared scale of each mark, as an index into `scales`; None likewise."""
    scales: tuple[MarkScale, ...] = ()

    @property
    def score(self) -> NDArray[np.int8] | Floats:
        """1..5, 0 = unscored, -1 = failed, -2 = not applicable.

        A value on a scale that isn't our own judges' stands where it would on theirs, at
        `1 + 4 value`.
        """
        code = np.asarray(_SCORE_CODES[self.mark // _EACH])
        if self.value is None:
            # "scored", but without a score: whatever that is, it's no mark.
            return np.where(code == _VALUED, np.int8(FAILED), code)
        known = (self.value >= 0) & (self.value <= 1)
        valued = np.where(known, 1 + 4 * self.value, FAILED)
        return np.where(code == _VALUED, valued, code.astype(np.float64))

    @property
    def addressed(self) -> NDArray[np.bool_]:
        """Whether the answer says anything about the step; True where the judge wasn't asked."""
        each = len(_CARRIED) * len(_SCALES)
        return np.asarray(self.mark // each % len(_SAID) == 0)

    @property
    def carried(self) -> NDArray[np.bool_]:
        """Whether the step is wrong only because an earlier one was."""
        return np.asarray(self.mark // len(_SCALES) % len(_CARRIED) == _CARRIED.index(" carried"))

    @property
    def carried_known(self) -> bool:
        """Whether the judge was asked which steps are carried."""
        return bool((self.mark // len(_SCALES) % len(_CARRIED) > 0).any())


@dataclass(frozen=True, kw_only=True)
class Votes:
    """Votes between a study's answers, in the order of their ids, shape (V,)."""

    a: Ints
    """Index of an answer."""
    b: Ints
    first: Ints
    """Who was shown first: 0 = a, 1 = b."""
    verdict: Ints
    """0 = a, 1 = b, 2 = tie, -1 = none."""
    strength: Ints
    judge: Ints
    """Index into `judges`."""
    repeat: Ints
    judges: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class StudyRows:
    """A study's rows.

    Attributes:
        models: ids of the candidates, in the study's order.
        places: its samples.
        outcome: float32, shape (R,), 0..1: each answer's outcome that counts; NaN = not known.
        uses: the criteria that stand for its samples.
        leaf: int64, shape (U,): where each use hangs, as an index into `leaves`; -1 = nowhere.
        leaves: leaves of the tree that anything hangs on, in its order.
        marks: the marks of the judge that is looked at.
        panel: the marks of each judge, people left out; empty where fewer than two marked anything.
        votes: votes between its answers; None = no vote at all.
        sample_tags: (index of a sample, facet, value).
        answer_tags: (index of an answer, facet, value).
    """

    models: tuple[str, ...]
    places: Places
    answers: Answers
    outcome: NDArray[np.float32]
    uses: Uses
    leaf: Ints
    leaves: tuple[Path, ...]
    marks: Marks
    votes: Votes | None
    sample_tags: tuple[tuple[int, str, str], ...]
    answer_tags: tuple[tuple[int, str, str], ...]
    panel: tuple[Marks, ...] = ()

    @property
    def pending(self) -> int:
        """Marks that could be made and aren't there yet."""
        per_sample = np.bincount(self.uses.sample, minlength=len(self.places.ids))
        expected = per_sample[self.answers.sample]
        response, use = self.marks.response, self.marks.use
        again = (response[1:] == response[:-1]) & (use[1:] == use[:-1])
        first = np.append(True, ~again)[: len(use)]
        there = np.bincount(response[first], minlength=len(self.answers.ids))
        return int((expected - there)[self.answers.judgeable].sum())


def read_study(store: Store, study: Study, judge_id: str | None) -> tuple[StudyRows, int]:
    """Read everything of a study that comes in rows, and the store's revision that it is of.

    Args:
        judge_id: whose marks.
    """
    with ExitStack() as stack:
        connection, beside = (stack.enter_context(store.read()) for _ in range(2))
        stack.enter_context(fast.without_collector())
        for one in (connection, beside):
            stack.enter_context(fast.mapped(one))
        revision = read_mark(connection, study.id).revision
        # A writer may have come between the two: then they don't see the same store.
        same = read_mark(beside, study.id).revision == revision
        return read_rows(connection, study, judge_id, beside=beside if same else None), revision


def newest_rows(store: Store, study_id: str) -> tuple[int, list[Any]]:
    """Return a study's revision, and name the last rows of the tables that are read.

    A store put back from a backup may count as many changes as another one.
    """
    found: list[Any] = []
    with store.read() as connection:
        revision = read_mark(connection, study_id).revision
        if connection.dialect.name != "sqlite":
            return revision, found
        for record in (Response, Checkpoint, Outcome, MappingRecord, Tag):
            source = table(record)
            rowid = sa.literal_column("rowid", sa.Integer)
            last = sa.select(rowid, next(iter(source.primary_key))).select_from(source)
            row = connection.execute(last.order_by(rowid.desc()).limit(1)).first()
            found.append(list(row) if row is not None else None)
    return revision, found


def read_rows(
    connection: sa.Connection,
    study: Study,
    judge_id: str | None,
    *,
    beside: sa.Connection | None = None,
) -> StudyRows:
    """Read everything of a study that comes in rows.

    Args:
        judge_id: whose marks.
        beside: another one that sees the same; the marks are scanned through it meanwhile.
    """
    models = _models(connection, study.id)
    scan = _scan(connection, study.id)
    source = beside or connection
    between: list[list[pa.Array]] = [[]]
    scanned = (
        chain(_scanned_marks(source), between, _scanned_outcomes(source)) if scan else iter(())
    )
    with fast.ahead(scanned, at_once=scan and beside is not None) as rows:
        places = _places(connection, study.id)
        answers = _answers(connection, study, places, models, scan=scan)
        uses = _uses(connection, study.id, places)
        leaf, leaves = _leaves(connection, study, uses, scan=scan)
        chunks = takewhile(bool, rows)
        marks, panel = _marks(connection, study, judge_id, answers, uses, chunks if scan else None)
        # Where nothing was wanted of them, some are left.
        deque(chunks, maxlen=0)
        outcome = _outcomes(connection, study.id, answers, judge_id, list(rows) if scan else None)
    return StudyRows(
        models=tuple(models),
        places=places,
        answers=answers,
        outcome=outcome,
        uses=uses,
        leaf=leaf,
        leaves=leaves,
        marks=marks,
        votes=_votes(connection, study.id, answers),
        sample_tags=tuple(_tags_of_samples(connection, study.id, places)),
        answer_tags=tuple(_tags_of_answers(connection, study.id, answers)),
        panel=panel,
    )


def _models(connection: sa.Connection, study_id: str) -> dict[str, int]:
    seat, candidate = table(StudyCandidate), table(Candidate)
    rows = connection.execute(
        sa.select(seat.c.candidate_id)
        .select_from(seat.join(candidate, candidate.c.id == seat.c.candidate_id))
        .where(seated(connection, study_id))
        .order_by(seat.c.position, seat.c.candidate_id)
    ).scalars()
    return {str(name): number for number, name in enumerate(rows)}


def _places(connection: sa.Connection, study_id: str) -> Places:
    """Read a study's samples in its order; those that share pictures get one cluster."""
    place, sample, replay = table(StudySample), table(Sample), table(Replay)
    statement = (
        sa.select(
            place.c.sample_id,
            sample.c.dataset,
            sample.c.cluster,
            sample.c.reference.is_not(None),
            replay.c.agrees,
        )
        .select_from(
            place.join(sample, sample.c.id == place.c.sample_id).outerjoin(
                replay, replay.c.id == place.c.replay_id
            )
        )
        .where(placed(connection, study_id))
        .order_by(place.c.position, place.c.sample_id)
    )
    ids, datasets, clusters, known, agree = fast.whole(fast.chunks(connection, statement), 5)
    names = [cluster or name for cluster, name in zip(clusters, ids, strict=True)]
    number = {name: at for at, name in enumerate(dict.fromkeys(names))}
    return Places(
        ids=tuple(ids),
        dataset=tuple(datasets),
        cluster=fast.codes(names, number).astype(np.int32),
        quarantined=np.array([said is not None and not said for said in agree], dtype=np.bool_),
        referenced=np.array(known, dtype=np.bool_),
    )


def _of_study(connection: sa.Connection, study_id: str) -> sa.Select[tuple[object, ...]]:
    """Select from answers, kept to a study's members."""
    return sa.select().select_from(table(Response)).where(*members(connection, study_id))


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
    places: Places,
    models: Mapping[str, int],
    *,
    scan: bool,
) -> Answers:
    """Read the answers that count in the study."""
    response = table(Response)
    wanted = settings_of_study(connection, study)
    columns = (
        response.c.id,
        response.c.sample_id,
        response.c.candidate_id,
        response.c.repeat,
        _kind_column(),
    )
    chunks = (
        fast.packed(connection, response, columns, wanted)
        if scan
        else fast.chunks(
            connection, _of_study(connection, study.id).add_columns(*columns).where(wanted)
        )
    )
    names, samples, candidates, repeats, kinds = fast.arrays(chunks, 5)
    ids = fast.texts(names)
    sample = fast.look_up(samples, fast.array(places.ids))
    model = fast.look_up(candidates, fast.array([*models]))
    times = fast.numbers(repeats, pa.int64())
    kind = fast.look_up(kinds, fast.array(_KINDS))
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
    state, rest = np.divmod(kind[order], len(_SILENT) * (len(CAUSES) - 1))
    silent, cause = np.divmod(rest, len(CAUSES) - 1)
    return Answers(
        ids=tuple(map(ids.__getitem__, order.tolist())),
        sample=sample[order].astype(np.int32),
        model=model[order].astype(np.int16),
        repeat=times[order].astype(np.int16),
        scored=state == _STATES.index("scored"),
        judgeable=(state == _STATES.index("scored")) & (silent == 0),
        cause=_causes(state, silent, cause, model[order], len(models)),
    )


def _kind_column() -> sa.ColumnElement[Any]:
    """Say of an answer in one text whether it is there, whether it has a text, and why not.

    Older answers tell the cause in the words of their detail.
    """
    response = table(Response).c
    known_of = sa.and_(response.state == "scored", response.prompt == HAND_MADE[0])
    silent = sa.case((response.text != "", _SILENT[0]), (known_of, _SILENT[2]), else_=_SILENT[1])
    cause = sa.case(
        (response.cause != "", response.cause),
        (response.state != "unscored", ""),
        *(
            (response.detail.startswith(words), cause)
            for words, cause in (
                ("The model refused", "refused"), ("A content filter", "filtered"),
                ("The token limit", "cut"), ("The reply was cut", "cut"), ("Cut by", "cut"),
            )
        ),
        else_="",
    )  # fmt: skip
    return sa.cast(response.state, sa.Text).concat(silent).concat(" ").concat(cause)


def _causes(state: Ints, silent: Ints, cause: Ints, model: Ints, n_models: int) -> NDArray[np.int8]:
    """Say why answers weren't given.

    An answer without a text is empty, unless nothing is known of any text of its model: a file of
    grades alone says nothing of texts.
    """
    found = cause.copy()
    speaks = np.bincount(model[silent == 0], minlength=n_models) > 0
    found[(found == 0) & (state == _STATES.index("failed"))] = CAUSES.index("failed")
    found[(found == 0) & (silent == 1) & speaks[model]] = CAUSES.index("empty")
    return found.astype(np.int8)


def _outcomes(
    connection: sa.Connection,
    study_id: str,
    answers: Answers,
    judge_id: str | None,
    scanned: Sequence[list[pa.Array]] | None,
) -> NDArray[np.float32]:
    """Read each answer's outcome that counts.

    Args:
        judge_id: the judge looked at.
        scanned: the columns of all of the store's outcomes; None = the study's are looked up.
    """
    chunks = _outcomes_of_study(connection, study_id) if scanned is None else scanned
    names, hows, values, judges = fast.arrays(chunks, 4)
    at = fast.look_up(names, fast.array(answers.ids))
    rank = np.array([*HOW_RANK.values()])[fast.look_up(hows, fast.array([*HOW_RANK]))]
    others = fast.look_up(judges, fast.array([judge_id or ""])) < 0
    rank[others & (rank == HOW_RANK["judge"])] = OTHER_JUDGE
    found = np.full(len(answers.ids), np.nan, dtype=np.float32)
    mine = at >= 0
    times = np.bincount(at[mine], minlength=len(answers.ids))
    number = fast.numbers(values, pa.float64())
    if times.max(initial=0) < 2:
        found[at[mine]] = number[mine]
        return found
    # The one that counts comes last, so that it stays; names decide between equals, whatever the
    # order of reading.
    rest = np.flatnonzero(mine)
    tie = list(zip(fast.texts(hows), fast.texts(judges), strict=True))
    several = rest[times[at[rest]] > 1].tolist()
    single = rest[times[at[rest]] == 1]
    order = [
        *single.tolist(),
        *sorted(several, key=lambda one: (rank[one], tie[one]), reverse=True),
    ]
    found[at[order]] = number[order]
    return found


def _outcome_columns() -> tuple[sa.ColumnElement[Any], ...]:
    outcome = table(Outcome)
    return (outcome.c.response_id, outcome.c.how, outcome.c.value, outcome.c.judge_id)


def _scanned_outcomes(connection: sa.Connection) -> Iterator[list[pa.Array]]:
    """Read the columns of all outcomes of a store that have a value, in chunks."""
    outcome = table(Outcome)
    for chunk in fast.packed(connection, outcome, _outcome_columns(), *_with_value(connection)):
        yield [fast.array(column) for column in chunk]


def _outcomes_of_study(connection: sa.Connection, study_id: str) -> Iterator[fast.Columns]:
    """Read the columns of a study's outcomes that have a value, in chunks."""
    return fast.chunks(
        connection,
        _of_study(connection, study_id)
        .add_columns(*_outcome_columns())
        .where(*_with_value(connection), table(Outcome).c.response_id == table(Response).c.id),
    )


def _with_value(connection: sa.Connection) -> tuple[sa.ColumnElement[bool], ...]:
    return (table(Outcome).c.value.is_not(None), *closed_outcomes(connection))


def _uses(connection: sa.Connection, study_id: str, places: Places) -> Uses:
    """Read the criteria that stand for each sample."""
    place, criteria = table(StudySample), table(CriteriaSet)
    statement = (
        sa.select(
            place.c.sample_id, criteria.c.uses, criteria.c.replay_id.is_not(None), criteria.c.source
        )
        .select_from(place.join(criteria, criteria.c.id == place.c.criteria_set_id))
        .where(placed(connection, study_id), criteria.c.state == "scored")
        .order_by(place.c.position, place.c.sample_id)
    )
    samples, texts, solved, sources = fast.whole(fast.chunks(connection, statement), 4)
    size, ids, position, weight = _read_uses(texts)
    at = fast.codes(samples, places.at)
    chained = np.zeros(len(places.ids), dtype=np.bool_)
    chained[at] = np.array(solved, dtype=np.bool_)
    penalty, gate, parents = _declared(texts, size, ids)
    return Uses(
        ids=ids,
        sample=np.repeat(at, size),
        position=position,
        weight=_shares(weight, size, np.array(sources, dtype=object) == "imported", penalty),
        chained=chained,
        penalty=penalty,
        gate=gate,
        parents=parents,
    )


def _shares(weight: Floats, size: Ints, imported: NDArray[np.bool_], penalty: Any) -> Ints | Floats:
    """Bring the weights of imported criteria to shares of `WHOLE`, sample by sample.

    A penalty's is its share of the credits, too. Our judges' weights total that already.

    Args:
        weight: as declared, shape (U,).
        size: how many each list has.
        imported: whether a list was imported.
        penalty: whether a use takes points away, shape (U,).
    """
    of = np.repeat(np.arange(len(size)), size)
    credit = np.bincount(of, weights=np.where(penalty, 0, weight), minlength=len(size))
    # Where there are penalties alone, they share among themselves.
    total = np.where(credit > 0, credit, np.bincount(of, weights=weight, minlength=len(size)))
    odd = imported & (total != WHOLE)
    if odd.any():
        weight = np.where(odd[of], weight * WHOLE / np.where(odd, total, 1)[of], weight)
    whole = bool((weight == np.rint(weight)).all() and weight.max(initial=0) < 1 << 7)
    return weight.astype(np.int64) if whole else weight


def _declared(
    texts: Sequence[str], size: Ints, ids: Sequence[str]
) -> tuple[NDArray[np.bool_], Floats, Ints]:
    """Read what few lists of uses declare beyond weights: penalties, gates and parents."""
    penalty = np.zeros(len(ids), dtype=np.bool_)
    gate = np.ones(len(ids))
    parents: list[tuple[int, int]] = []
    start = np.cumsum(size) - size
    for number, text in enumerate(texts):
        if not any(word in text for word in _RULES):
            continue
        first, uses = int(start[number]), json.loads(text)
        at = {use["criterion_id"]: first + nth for nth, use in enumerate(uses)}
        for place, use in enumerate(uses, first):
            penalty[place] = use.get("polarity") == "penalty"
            if use.get("gate"):
                gate[place] = use["gate_cap"] if use["gate"] == "cap" else 0
            parents += [(place, at[name]) for name in use.get("parents", ()) if name in at]
    return penalty, gate, np.array(parents, dtype=np.int64).reshape(-1, 2).T


def _read_uses(texts: Sequence[str]) -> tuple[Ints, tuple[str, ...], Ints, Floats]:
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
    return (
        np.array([len(one) for one in lists_], dtype=np.int64),
        tuple(use["criterion_id"] for use in uses),
        np.array([use["position"] for use in uses], dtype=np.int64),
        np.array([use["weight"] for use in uses], dtype=np.float64),
    )


def _marks(
    connection: sa.Connection,
    study: Study,
    judge_id: str | None,
    answers: Answers,
    uses: Uses,
    scanned: Iterable[list[pa.Array]] | None,
) -> tuple[Marks, tuple[Marks, ...]]:
    """Read the marks that count: the newest scale's, then the newest prompt's, all its repeats.

    Args:
        scanned: all of the store's marks; None = the study's are looked up.

    Returns:
        The marks of the judge, and of the study's panel (see `StudyRows.panel`).
    """
    judge = table(Judge)
    judges = [str(name) for name in connection.execute(sa.select(judge.c.id)).scalars()]
    if study.judge_id is not None and study.judge_id not in judges:
        judges.append(study.judge_id)
    scales = scales_within(connection)
    chunks = _marks_of_study(connection, study.id) if scanned is None else scanned
    found = _read_marks(chunks, judges, answers, uses, scales)
    counts = np.bincount(found[3], minlength=len(judges))
    names = tuple(judges[at] for at in np.argsort(-counts, kind="stable") if counts[at])
    people = persons(connection)

    def asked(prompts: Sequence[str]) -> Ints:
        chunks = _marks_of_study(connection, study.id, prompts)
        return _read_marks(chunks, judges, answers, uses, scales, prompts)

    def marks_of(behind: Sequence[str | None]) -> Marks:
        parts = [
            _of_judge(connection, study, judges, judges.index(one) if one in judges else -1, found,
                      asked, len(uses.ids))
            for one in behind or [None]
        ]  # fmt: skip
        return _together(parts, names, scales, len(uses.ids))

    mine = marks_of(people if judge_id == PEOPLE else [judge_id])
    panel = [one for one in names if one not in people][:_MOST_JUDGES]
    if len(panel) < 2:
        return mine, ()
    return mine, tuple(mine if one == judge_id else marks_of([one]) for one in panel)


def _together(
    parts: Sequence[tuple[Ints, Scale, int]],
    names: tuple[str, ...],
    scales: Sequence[MarkScale],
    n_uses: int,
) -> Marks:
    """Put what `_of_judge` chose of one judge, or of several people, in the order of marks."""
    mine = np.concatenate([one for one, _, _ in parts], axis=1)
    _, scale, _ = parts[0]
    place = mine[0].astype(np.int64) * max(n_uses, 1) + mine[1]
    mine = mine[:, np.argsort(place * REPEATS + mine[4], kind="stable")]
    value, on, used = _valued(mine, scales)
    response, use, mark, _, repeat = mine[:_WIDTH].astype(np.int64)
    return Marks(
        response=response,
        use=use,
        repeat=repeat,
        mark=mark,
        judge_ids=names,
        scale=scale,
        left_out=sum(left for _, _, left in parts),
        value=value,
        on=on,
        scales=used,
    )


def _of_judge(
    connection: sa.Connection,
    study: Study,
    judges: Sequence[str],
    at: int,
    found: Ints,
    asked: Callable[[Sequence[str]], Ints],
    n_uses: int,
) -> tuple[Ints, Scale, int]:
    """Choose the marks of one judge that count.

    Args:
        judges: ids of all judges.
        at: which of them; -1 = none.
        found: (answer, use, mark, judge, repeat, ...), shape (..., N), of all judges.
        asked: reads them anew with what they were asked with, in a row of its own.

    Returns:
        Its marks, in the rows of `found`; the scale that they are on; and how many criteria on
        answers have a score on an older scale alone.
    """
    mine = found[:, found[3] == at]
    several = _several(mine, n_uses)
    if several:
        again = asked(_prompts_of(connection, study, judges[at]))
        mine = again[:, again[3] == at]
    mine, scale, left_out = _newest_scale(mine, n_uses)
    if several:
        mine = np.delete(_newest_prompt(mine, n_uses), _WIDTH, axis=0)
    if scale == "firmness":
        # Under the old prompt a second mark may be the baseline of an experiment, made of failed
        # answers alone.
        mine = mine[:, mine[4] == 0]
    return mine, scale, left_out


def _valued(
    mine: Ints, scales: Sequence[MarkScale]
) -> tuple[Floats | None, Ints | None, tuple[MarkScale, ...]]:
    """Return marks' values and scales, and the scales that are used; nothing where all are ours."""
    if len(scales) < 2 or not mine.shape[1]:
        return None, None, ()
    number = np.maximum(mine[-1], 0)
    used = np.unique(number)
    if used.tolist() == [0]:
        return None, None, ()
    value = np.ascontiguousarray(mine[-2]).view(np.float64)
    return value, np.searchsorted(used, number), tuple(scales[at] for at in used)


def _newest_scale(found: Ints, n_uses: int) -> tuple[Ints, Scale, int]:
    """Leave out marks on older scales than the newest that any is on.

    Args:
        found: (answer, use, mark, ...), shape (..., N), of one judge.

    Returns:
        What is left, the scale it is on, and how many criteria on answers have a score on an older
        scale alone.
    """
    scored = _SCORE_CODES[found[2] // _EACH] > 0
    scale = found[2] % len(_SCALES)
    newest = int(scale[scored].min(initial=len(_SCALES) - 1)) if scored.any() else 0
    shown = (scale == newest) | ~scored.any()
    key = _keys(found, n_uses)
    left_out = scored & ~shown & ~np.isin(key, key[shown])
    return found[:, shown], _SCALES[newest], len(np.unique(key[left_out]))


def _newest_prompt(found: Ints, n_uses: int) -> Ints:
    """Keep of each criterion on each answer the marks of the prompt and settings that count.

    Args:
        found: (answer, use, mark, judge, repeat, prompt), shape (6, N), of one judge.
    """
    if not found.shape[1]:
        return found
    key = _keys(found, n_uses)
    order = np.argsort(key, kind="stable")
    starts = np.flatnonzero(np.append(True, key[order][1:] != key[order][:-1]))
    best = np.maximum.reduceat(found[5][order], starts)
    newest = np.repeat(best, np.diff(np.append(starts, len(order))))
    return np.asarray(found[:, order[found[5][order] == newest]])


def _keys(found: Ints, n_uses: int) -> Ints:
    return np.asarray(found[0].astype(np.int64) * max(n_uses, 1) + found[1])


def _several(found: Ints, n_uses: int) -> bool:
    """Say whether any criterion was marked more than once on an answer."""
    key = np.sort(_keys(found, n_uses))
    return bool((key[1:] == key[:-1]).any())


def _prompt_column() -> sa.ColumnElement[Any]:
    checkpoint = table(Checkpoint).c
    return (
        sa.cast(checkpoint.prompt, sa.Text)
        .concat(" ")
        .concat(sa.func.coalesce(sa.cast(checkpoint.sampling, sa.Text), ""))
    )


def _prompts_of(connection: sa.Connection, study: Study, judge_id: str) -> list[str]:
    """Return what a judge was asked with, prompt and settings: the one that counts last."""
    column = table(Checkpoint).c
    rows = connection.execute(
        sa.select(column.prompt, column.sampling, _prompt_column())
        .where(column.judge_id == judge_id, column.repeat < REPEATS)
        .distinct()
    ).all()
    ranked = sorted(
        (mark_rank(prompt, read_sampling(sampling), study.judge_sampling), text)
        for prompt, sampling, text in rows
    )
    return [text for _, text in ranked]


def _mark_columns(connection: sa.Connection) -> tuple[sa.ColumnElement[Any], ...]:
    """Return what is read of a mark; its value and scale only where there are others' scales."""
    checkpoint = table(Checkpoint)
    value: sa.ColumnElement[Any] = sa.func.coalesce(checkpoint.c.value, -1)
    if connection.dialect.name == "sqlite":
        # Its own way of writing a number drops the last digits.
        value = sa.func.printf("%!.17g", value)
    of_others = (value, checkpoint.c.scale) if len(scales_within(connection)) > 1 else ()
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
    again = sa.case(
        (checkpoint.c.repeat > 0, sa.literal(" ").concat(sa.cast(checkpoint.c.repeat, sa.Text))),
        else_="",
    )
    return (
        checkpoint.c.response_id,
        checkpoint.c.criterion_id,
        checkpoint.c.judge_id,
        mark.concat(said).concat(carried).concat(scale).concat(again),
        *of_others,
    )


def _scanned_marks(connection: sa.Connection) -> Iterator[list[pa.Array]]:
    """Read the columns of all marks of a store, in chunks."""
    checkpoint = table(Checkpoint)
    first = checkpoint.c.repeat < REPEATS
    for chunk in fast.packed(connection, checkpoint, _mark_columns(connection), first):
        yield [fast.array(column) for column in chunk]


def _marks_of_study(
    connection: sa.Connection, study_id: str, prompts: Sequence[str] = ()
) -> Iterator[list[pa.Array]]:
    """Read the columns of a study's marks, in chunks.

    Args:
        prompts: what the judge was asked with; given where that is to be read, too.
    """
    checkpoint = table(Checkpoint)
    statement = (
        _of_study(connection, study_id)
        .add_columns(*_mark_columns(connection), *([_prompt_column()] if prompts else []))
        .where(checkpoint.c.repeat < REPEATS, checkpoint.c.response_id == table(Response).c.id)
    )
    for chunk in fast.chunks(connection, statement):
        yield [fast.array(column) for column in chunk]


def _read_marks(
    chunks: Iterable[list[pa.Array]],
    judges: Sequence[str],
    answers: Answers,
    uses: Uses,
    scales: Sequence[MarkScale],
    prompts: Sequence[str] = (),
) -> Ints:
    """Read marks as (answer, use, mark, judge, repeat, ...), shape (5 or more, N), of any judge.

    Args:
        chunks: columns of marks, any order, other studies' among them.
        judges: ids of all judges.
        scales: all scales of the store; where there are others than ours, two more rows say what
            a mark is worth, as the bits of a float, and on which scale.
        prompts: what the judge was asked with; where they are given, a sixth row says with which.
    """
    valued = len(scales) > 1
    width = _WIDTH + bool(prompts) + 2 * valued
    if not judges or not answers.ids or not uses.ids:
        return np.zeros((width, 0), dtype=np.int64)
    known = [fast.array(names) for names in (answers.ids, uses.ids, judges, _all_marks())]
    named = fast.array([scale.id for scale in scales])
    asked_with = fast.array(prompts) if prompts else None
    parts = []
    rows = iter(chunks)
    while batch := list(islice(rows, _BATCH)):
        columns = [[chunk[at] for chunk in batch] for at in range(len(batch[0]))]
        answer, use, judge_at, mark = (
            fast.look_up(column, among) for column, among in zip(columns, known, strict=False)
        )
        more = [] if asked_with is None else [fast.look_up(columns[-1], asked_with)]
        if valued:
            number = fast.numbers(columns[4], pa.float64())
            more += [number.view(np.int64), fast.look_up(columns[5], named)]
        mark = np.where(mark < 0, _FAILED, mark)
        repeat, mark = np.divmod(mark, len(_MARKS))
        part = np.stack([answer, use, mark, judge_at, repeat, *more])
        part = part[:, (part[[0, 1, 3]] >= 0).all(axis=0)]
        part = part[:, answers.sample[part[0]] == uses.sample[part[1]]]
        parts.append(part if valued else part.astype(np.int32))
    return np.concatenate([np.zeros((width, 0), dtype=np.int64), *parts], axis=1)


@lru_cache(maxsize=1)
def _all_marks() -> tuple[str, ...]:
    """Return all that a mark may be in any repeat: repeat by repeat."""
    return tuple(
        f"{mark} {repeat}" if repeat else mark for repeat in range(REPEATS) for mark in _MARKS
    )


def _leaves(
    connection: sa.Connection, study: Study, uses: Uses, *, scan: bool
) -> tuple[Ints, tuple[Path, ...]]:
    """Read each use's leaf (-1 = none), and the leaves in the tree's order."""
    code = np.full(len(uses.ids), -1, dtype=np.int64)
    if study.tree_version is None:
        return code, ()
    mapping, record = table(MappingRecord), table(TreeRecord)
    mapped = (mapping.c.tree_version == study.tree_version, mapping.c.leaf.is_not(None))
    columns = (mapping.c.criterion_id, mapping.c.leaf)
    chunks = (
        fast.scanned(connection, mapping, columns, *mapped)
        if scan
        else fast.chunks(connection, sa.select(*columns).where(*mapped))
    )
    text_of = dict(zip(*fast.whole(chunks, 2), strict=True))
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
    return fast.codes(texts, number_of), leaves


def _votes(connection: sa.Connection, study_id: str, answers: Answers) -> Votes | None:
    """Read a study's votes; None where there is none."""
    vote = table(Preference).c
    rows = connection.execute(
        sa.select(
            vote.response_a,
            vote.response_b,
            vote.first,
            vote.verdict,
            vote.strength,
            vote.judge,
            vote.repeat,
        )
        .where(
            vote.sample_id.in_(sample_ids_of(connection, study_id)),
            *closed(connection, "preference", vote.id),
        )
        .order_by(vote.id)
    ).all()
    judges: dict[str, int] = {}
    found: list[tuple[int, ...]] = []
    for id_a, id_b, first, verdict, strength, judge, repeat in rows:
        a, b = answers.at.get(id_a), answers.at.get(id_b)
        if a is None or b is None or a == b:
            continue
        code = _VERDICTS.index(verdict) if verdict in _VERDICTS else -1
        number = judges.setdefault(judge, len(judges))
        found.append((a, b, int(first == "b"), code, strength, number, repeat))
    if not found:
        return None
    a_, b_, first_, verdict_, strength_, judge_, repeat_ = np.array(found, dtype=np.int64).T
    return Votes(
        a=a_, b=b_, first=first_, verdict=verdict_, strength=strength_, judge=judge_,
        repeat=repeat_, judges=tuple(judges),
    )  # fmt: skip


def _tags_of_samples(
    connection: sa.Connection, study_id: str, places: Places
) -> Iterator[tuple[int, str, str]]:
    tag, place = table(Tag), table(StudySample)
    statement = (
        sa.select(tag.c.subject_id, tag.c.facet, tag.c.value)
        .select_from(tag.join(place, place.c.sample_id == tag.c.subject_id))
        .where(placed(connection, study_id), tag.c.subject == "sample")
    )
    for chunk in fast.chunks(connection, statement):
        for sample_id, facet, value in zip(*chunk, strict=True):
            if sample_id in places.at:
                yield places.at[sample_id], facet, value


def _tags_of_answers(
    connection: sa.Connection, study_id: str, answers: Answers
) -> Iterator[tuple[int, str, str]]:
    tag, response = table(Tag), table(Response)
    statement = (
        _of_study(connection, study_id)
        .add_columns(tag.c.subject_id, tag.c.facet, tag.c.value)
        .where(tag.c.subject_id == response.c.id, tag.c.subject == "response")
    )
    for chunk in fast.chunks(connection, statement):
        for response_id, facet, value in zip(*chunk, strict=True):
            if response_id in answers.at:
                yield answers.at[response_id], facet, value
