"""A study loaded for the screens: its records' heads and its score table.

Pure reading: the result is immutable and depends on (store, study, revision) alone, so that pages
share it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import sqlalchemy as sa

from atom.analysis import FAILED, UNSCORED, Facet, ScoreTable
from atom.records import (
    Candidate,
    Checkpoint,
    CriteriaSet,
    Judge,
    Mapping,
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
from atom.store import Store, find_study, study_candidates, table
from taxonomy import Path, Tree, parse_tree

SOURCE_FACET = "source"
HAND_MADE = ("imported", "typed")
"""Prompts of responses that no endpoint of ours gave."""
_HOW_ORDER = {"imported": 0, "choice": 1, "numeric": 1, "exact": 1, "judge": 2}


class Place(NamedTuple):
    """A sample's head in a study."""

    sample_id: str
    dataset: str
    cluster: str | None
    agrees: bool | None


class Answer(NamedTuple):
    """An answer's head in a study."""

    response_id: str
    sample_id: str
    candidate_id: str
    repeat: int
    state: str


@dataclass(frozen=True, kw_only=True)
class StudyData:
    """A study, ready to be looked at.

    Attributes:
        study: its record.
        revision: the store's revision that this was read at.
        judge: its judge, when it has one.
        candidates: in the study's order; a candidate's place is its colour.
        tree: its tree, when it has one.
        table: its checkpoints and answers.
        answers_expected: checkpoints that could be scored and aren't there yet.
        sample_position: sample id -> index in the table.
    """

    study: Study
    revision: int
    judge: Judge | None
    candidates: tuple[Candidate, ...]
    tree: Tree | None
    table: ScoreTable
    pending: int
    sample_position: dict[str, int]

    @property
    def has_process(self) -> bool:
        """Whether any checkpoint is scored; else the study is looked at by outcome."""
        return bool((self.table.score > 0).any())

    @property
    def has_outcome(self) -> bool:
        """Whether any final answer's outcome is known."""
        return bool(np.isfinite(self.table.outcome).any())

    @property
    def has_preference(self) -> bool:
        """Whether any answer was voted on."""
        return bool(np.isfinite(self.table.preferred).any())

    def model_index(self, model_id: str | None) -> int | None:
        """Return a candidate's index by id, or None."""
        for number, candidate in enumerate(self.candidates):
            if candidate.id == model_id:
                return number
        return None


def load_study(store: Store, study_id: str) -> StudyData:
    """Read a study from the store.

    Raises:
        UsageError: there is no such study.
    """
    revision = store.revision()
    study = find_study(store, study_id)
    candidates = tuple(study_candidates(store, study.id))
    with store.read() as connection:
        places = _places(connection, study.id)
        answers = _answers(connection, study)
        outcomes = _outcomes(connection, study.id)
        uses = _uses(connection, study.id)
        checkpoints = _checkpoints(connection, study)
        leaf_of = _leaves(connection, study)
        tags = _tags(connection, study.id)
    tree = _tree(store, study.tree_version)
    models = {candidate.id: number for number, candidate in enumerate(candidates)}
    sample_ids = tuple(row.sample_id for row in places)
    position = {sample_id: number for number, sample_id in enumerate(sample_ids)}
    clusters = {
        name: n
        for n, name in enumerate(dict.fromkeys(row.cluster or row.sample_id for row in places))
    }
    response_ids = tuple(row.response_id for row in answers)
    response_at = {response_id: number for number, response_id in enumerate(response_ids)}
    rows, criterion_ids, leaves, pending = _checkpoint_rows(
        answers, uses, checkpoints, leaf_of, response_at, tree
    )
    columns = np.array(rows, dtype=np.int64).reshape(-1, 6)
    score_table = ScoreTable(
        response=columns[:, 0].astype(np.int32),
        criterion=columns[:, 1].astype(np.int32),
        leaf=columns[:, 2].astype(np.int16),
        weight=columns[:, 3].astype(np.int8),
        position=columns[:, 4].astype(np.int8),
        score=columns[:, 5].astype(np.int8),
        sample=np.array([position[row.sample_id] for row in answers], dtype=np.int32),
        model=np.array([models[row.candidate_id] for row in answers], dtype=np.int16),
        repeat=np.array([row.repeat for row in answers], dtype=np.int16),
        outcome=np.array([outcomes.get(i, np.nan) for i in response_ids], dtype=np.float32),
        answered=np.array([row.state == "scored" for row in answers], dtype=np.bool_),
        cluster=np.array(
            [clusters[row.cluster or row.sample_id] for row in places], dtype=np.int32
        ),
        quarantined=np.array([row.agrees is False for row in places], dtype=np.bool_),
        sample_ids=sample_ids,
        model_ids=tuple(models),
        criterion_ids=criterion_ids,
        response_ids=response_ids,
        leaves=leaves,
        facets=_facets(tags, places, answers, response_at),
    )
    return StudyData(
        study=study,
        revision=revision,
        judge=store.get(Judge, study.judge_id) if study.judge_id else None,
        candidates=candidates,
        tree=tree,
        table=score_table,
        pending=pending,
        sample_position=position,
    )


def _tree(store: Store, version: str | None) -> Tree | None:
    record = store.get(TreeRecord, version) if version else None
    return parse_tree(record.body, depth=None) if record else None


def _places(connection: sa.Connection, study_id: str) -> list[Place]:
    """Read (sample id, data set, cluster, replay agrees) in the study's order."""
    place, sample, replay = table(StudySample), table(Sample), table(Replay)
    rows = connection.execute(
        sa.select(place.c.sample_id, sample.c.dataset, sample.c.cluster, replay.c.agrees)
        .select_from(
            place.join(sample, sample.c.id == place.c.sample_id).outerjoin(
                replay, replay.c.id == place.c.replay_id
            )
        )
        .where(place.c.study_id == study_id)
        .order_by(place.c.position, place.c.sample_id)
    ).all()
    return [Place(*row) for row in rows]


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


def _answers(connection: sa.Connection, study: Study) -> list[Answer]:
    """Read (id, sample, candidate, repeat, state) of first answers, corrections left out.

    Answers under other sampling settings than the study's are left out, too.
    """
    response = table(Response)
    wanted = study.answer_sampling
    rows = connection.execute(
        _of_study(response, study.id)
        .add_columns(
            response.c.id,
            response.c.sample_id,
            response.c.candidate_id,
            response.c.repeat,
            response.c.state,
            response.c.prompt,
            response.c.sampling,
        )
        .where(response.c.arm.is_(None))
        .order_by(response.c.sample_id, response.c.candidate_id, response.c.repeat, response.c.id)
    ).all()
    same = {}
    for text in {str(row.sampling) for row in rows}:
        same[text] = Sampling.model_validate(json.loads(text)) == wanted
    return [
        Answer(row.id, row.sample_id, row.candidate_id, row.repeat, row.state)
        for row in rows
        if row.prompt in HAND_MADE or same[str(row.sampling)]
    ]


def _outcomes(connection: sa.Connection, study_id: str) -> dict[str, float]:
    """Read each answer's outcome: an imported one first, then ours by rule, then a judge's."""
    outcome, response = table(Outcome), table(Response)
    rows = connection.execute(
        _of_study(response, study_id)
        .add_columns(outcome.c.response_id, outcome.c.how, outcome.c.value)
        .where(outcome.c.response_id == response.c.id, outcome.c.value.is_not(None))
    ).all()
    best: dict[str, tuple[int, float]] = {}
    for response_id, how, value in rows:
        entry = (_HOW_ORDER[how], float(value))
        if response_id not in best or entry[0] < best[response_id][0]:
            best[response_id] = entry
    return {response_id: value for response_id, (_, value) in best.items()}


def _uses(connection: sa.Connection, study_id: str) -> dict[str, list[tuple[str, int, int]]]:
    """Read the criteria that stand for each sample: (criterion id, position, weight)."""
    place, criteria = table(StudySample), table(CriteriaSet)
    rows = connection.execute(
        sa.select(place.c.sample_id, criteria.c.uses)
        .select_from(place.join(criteria, criteria.c.id == place.c.criteria_set_id))
        .where(place.c.study_id == study_id, criteria.c.state == "scored")
    ).all()
    return {
        sample_id: [
            (use["criterion_id"], use["position"], use["weight"]) for use in json.loads(text)
        ]
        for sample_id, text in rows
    }


def _checkpoints(connection: sa.Connection, study: Study) -> dict[tuple[str, str], int]:
    """Read (criterion, response) -> score code; the first repeat, the newest prompt."""
    if study.judge_id is None:
        return {}
    checkpoint, response = table(Checkpoint), table(Response)
    rows = connection.execute(
        _of_study(response, study.id)
        .add_columns(
            checkpoint.c.criterion_id,
            checkpoint.c.response_id,
            checkpoint.c.state,
            checkpoint.c.score,
        )
        .where(
            checkpoint.c.response_id == response.c.id,
            checkpoint.c.judge_id == study.judge_id,
            checkpoint.c.repeat == 0,
        )
        .order_by(checkpoint.c.prompt)
    ).all()
    code = {"unscored": UNSCORED, "failed": FAILED}
    return {(row[0], row[1]): row[3] if row[2] == "scored" else code[row[2]] for row in rows}


def _leaves(connection: sa.Connection, study: Study) -> dict[str, Path]:
    if study.tree_version is None:
        return {}
    mapping = table(Mapping)
    rows = connection.execute(
        sa.select(mapping.c.criterion_id, mapping.c.leaf).where(
            mapping.c.tree_version == study.tree_version, mapping.c.leaf.is_not(None)
        )
    ).all()
    known: dict[str, Path] = {}
    return {
        criterion_id: known.setdefault(text, tuple(json.loads(text))) for criterion_id, text in rows
    }


def _checkpoint_rows(
    answers: list[Answer],
    uses: dict[str, list[tuple[str, int, int]]],
    checkpoints: dict[tuple[str, str], int],
    leaf_of: dict[str, Path],
    response_at: dict[str, int],
    tree: Tree | None,
) -> tuple[list[tuple[int, ...]], tuple[str, ...], tuple[Path, ...], int]:
    criterion_at: dict[str, int] = {}
    used = {leaf_of[c] for group in uses.values() for c, *_ in group if c in leaf_of}
    place_of = {leaf: number for number, leaf in enumerate(tree.leaves)} if tree else {}
    leaves = tuple(sorted(used, key=lambda leaf: (place_of.get(leaf, len(place_of)), leaf)))
    leaf_at = {leaf: number for number, leaf in enumerate(leaves)}
    rows: list[tuple[int, ...]] = []
    pending = 0
    for response_id, sample_id, _, _, state in answers:
        for criterion_id, place, weight in uses.get(sample_id, ()):
            score = checkpoints.get((criterion_id, response_id))
            if score is None:
                pending += state == "scored"
                continue
            code = criterion_at.setdefault(criterion_id, len(criterion_at))
            leaf = leaf_of.get(criterion_id)
            leaf_code = -1 if leaf is None else leaf_at[leaf]
            rows.append((response_at[response_id], code, leaf_code, weight, place, score))
    return rows, tuple(criterion_at), leaves, pending


def _tags(connection: sa.Connection, study_id: str) -> list[tuple[str, str, str, str]]:
    tag, place, response = table(Tag), table(StudySample), table(Response)
    of_samples = connection.execute(
        sa.select(tag.c.subject, tag.c.subject_id, tag.c.facet, tag.c.value)
        .select_from(tag.join(place, place.c.sample_id == tag.c.subject_id))
        .where(place.c.study_id == study_id, tag.c.subject == "sample")
        .distinct()
    ).all()
    of_responses = connection.execute(
        _of_study(response, study_id)
        .add_columns(tag.c.subject, tag.c.subject_id, tag.c.facet, tag.c.value)
        .where(tag.c.subject_id == response.c.id, tag.c.subject == "response")
        .distinct()
    ).all()
    return [(str(a), str(b), str(c), str(d)) for a, b, c, d in (*of_samples, *of_responses)]


def _facets(
    tags: Iterable[tuple[str, str, str, str]],
    places: list[Place],
    answers: list[Answer],
    response_at: dict[str, int],
) -> dict[str, Facet]:
    """Bring all labels down to answers; an answer's own labels beat its sample's in a facet."""
    by_sample: dict[str, list[int]] = {}
    for row in answers:
        by_sample.setdefault(row.sample_id, []).append(response_at[row.response_id])
    own: dict[str, set[tuple[int, str]]] = {}
    shared: dict[str, set[tuple[int, str]]] = {
        SOURCE_FACET: {
            (answer, place.dataset)
            for place in places
            for answer in by_sample.get(place.sample_id, ())
        }
    }
    for subject, subject_id, facet, value in tags:
        if subject == "response":
            if subject_id in response_at:
                own.setdefault(facet, set()).add((response_at[subject_id], value))
        else:
            shared.setdefault(facet, set()).update(
                (answer, value) for answer in by_sample.get(subject_id, ())
            )
    facets: dict[str, Facet] = {}
    for name in sorted({*own, *shared}):
        mine = own.get(name, set())
        labelled = {answer for answer, _ in mine}
        pairs = sorted(mine | {p for p in shared.get(name, set()) if p[0] not in labelled})
        counts = Counter(value for _, value in pairs)
        values = tuple(sorted(counts, key=lambda value: (-counts[value], value)))
        code = {value: number for number, value in enumerate(values)}
        facets[name] = Facet(
            values=values,
            response=np.array([answer for answer, _ in pairs], dtype=np.int32),
            value=np.array([code[value] for _, value in pairs], dtype=np.int32),
        )
    return facets
