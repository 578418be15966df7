"""A study's samples, answers and outcomes as columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.json
import sqlalchemy as sa
from numpy.typing import NDArray

from atom.records import CAUSES, HAND_MADE, Outcome, Replay, Response, Sample, Study, StudySample
from atom.store.reading import packed as fast
from atom.store.reading.packed import Ints
from atom.store.schema import table
from atom.store.standing.members import members, placed, settings_of_study
from atom.store.standing.outcomes import HOW_RANK, OTHER_JUDGE, closed_outcomes

_STATES = ("scored", "unscored", "failed")
_SILENT = ("", " silent", " known of")
"""It has a text; it has none; it is known from votes or grades alone."""
_KINDS = tuple(
    f"{state}{silent} {cause}" for state in _STATES for silent in _SILENT for cause in CAUSES[:-1]
)
"""All that an answer may be, as the one text that is read of it."""


@dataclass(frozen=True, kw_only=True)
class SampleColumns:
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
class AnswerColumns:
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


def read_places(connection: sa.Connection, study_id: str) -> SampleColumns:
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
    return SampleColumns(
        ids=tuple(ids),
        dataset=tuple(datasets),
        cluster=fast.codes(names, number).astype(np.int32),
        quarantined=np.array([said is not None and not said for said in agree], dtype=np.bool_),
        referenced=np.array(known, dtype=np.bool_),
    )


def answers_of_study(connection: sa.Connection, study_id: str) -> sa.Select[tuple[object, ...]]:
    """Select from answers, kept to a study's members."""
    return sa.select().select_from(table(Response)).where(*members(connection, study_id))


def read_answers(
    connection: sa.Connection,
    study: Study,
    places: SampleColumns,
    models: Mapping[str, int],
    *,
    scan: bool,
) -> AnswerColumns:
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
            connection, answers_of_study(connection, study.id).add_columns(*columns).where(wanted)
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
    return AnswerColumns(
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


def read_outcomes(
    connection: sa.Connection,
    study_id: str,
    answers: AnswerColumns,
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


def scanned_outcomes(connection: sa.Connection) -> Iterator[list[pa.Array]]:
    """Read the columns of all outcomes of a store that have a value, in chunks."""
    outcome = table(Outcome)
    for chunk in fast.packed(connection, outcome, _outcome_columns(), *_with_value(connection)):
        yield [fast.array(column) for column in chunk]


def _outcomes_of_study(connection: sa.Connection, study_id: str) -> Iterator[fast.Columns]:
    """Read the columns of a study's outcomes that have a value, in chunks."""
    return fast.chunks(
        connection,
        answers_of_study(connection, study_id)
        .add_columns(*_outcome_columns())
        .where(*_with_value(connection), table(Outcome).c.response_id == table(Response).c.id),
    )


def _with_value(connection: sa.Connection) -> tuple[sa.ColumnElement[bool], ...]:
    return (table(Outcome).c.value.is_not(None), *closed_outcomes(connection))
