"""Of a judge's marks, those that count."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import sqlalchemy as sa

from atom.records import (
    APART,
    FIRMNESS_PROMPTS,
    Checkpoint,
    MarkState,
    Response,
    Sampling,
    Scale,
    Study,
    scale_of,
)
from atom.store.people import PEOPLE, one_after_another, persons
from atom.store.schema import table
from atom.store.standing.answers import study_answers
from atom.store.standing.members import (
    members,
    of_settings,
    parts,
    read_sampling,
    sample_ids_of,
    settings_of_study,
)
from atom.store.store import Store

SCALES: tuple[Scale, ...] = ("appendix_d", "firmness", "other")
"""From the newest to the oldest; only marks on one scale are counted together."""
REPEATS = 64
"""A mark of this repeat or a later one isn't one of a study's own."""
_BLIND, _BEFORE = " blind", 10_000


def prompt_order(prompt: str) -> tuple[str, int]:
    """Order prompts of one stage from the oldest to the newest version.

    What a judge marked blind, without the pictures (`scoring/2 blind`), comes before all else.
    """
    name, _, version = prompt.removesuffix(_BLIND).rpartition("/")
    if not version.isdigit():
        return (prompt, 0)
    return (name, int(version) - _BEFORE * prompt.endswith(_BLIND))


def mark_rank(
    prompt: str, sampling: Sampling, wanted: Sampling
) -> tuple[bool, tuple[str, int], str]:
    """Order what a judge was asked with: the one whose marks count comes last.

    Args:
        wanted: the study's settings for its judge.
    """
    return (of_settings(prompt, sampling, wanted), prompt_order(prompt), sampling.key)


def has_marks(store: Store, study: Study, judge_id: str) -> bool:
    """Say whether a judge marked anything of a study."""
    point, response = table(Checkpoint).c, table(Response).c
    with store.read() as connection:
        found = connection.execute(
            sa.select(point.key)
            .where(
                point.judge_id == judge_id,
                point.state == "scored",
                point.response_id == response.id,
                response.sample_id.in_(sample_ids_of(connection, study.id)),
            )
            .limit(1)
        ).first()
    return found is not None


def shown_scale(store: Store, study: Study, judge_id: str) -> Scale:
    """Return the scale whose marks of a judge count in a study: the newest that any is on."""
    point, response = table(Checkpoint).c, table(Response).c
    with store.read() as connection:
        mine = sa.select(response.id).where(
            *members(connection, study.id), settings_of_study(connection, study)
        )
        prompts = connection.execute(
            sa.select(point.prompt)
            .where(point.judge_id == judge_id, point.state == "scored", point.response_id.in_(mine))
            .distinct()
        ).scalars()
        there = {scale_of(prompt) for prompt in prompts}
    return next((scale for scale in SCALES if scale in there), SCALES[0])


def marks_of(
    store: Store,
    study: Study,
    response_ids: Iterable[str],
    judge_id: str,
    *,
    repeats: Sequence[int] | None = (0,),
    scale: Scale | None = None,
) -> dict[tuple[str, int], dict[str, Checkpoint]]:
    """Read a judge's marks of some answers: (answer, repeat) -> criterion -> the mark that counts.

    Args:
        study: whose settings for the judge are preferred.
        repeats: which of its repeats; None = all. Of all people together (`PEOPLE`) each
            person's mark is a repeat.
        scale: only marks on this scale; None = on the newest there is, mark by mark.
    """
    if judge_id == PEOPLE:
        names = list(response_ids)
        with store.read() as connection:
            people = persons(connection)
        each = {one: marks_of(store, study, names, one, repeats=None) for one in people}
        found_ = one_after_another(each)
        return {key: one for key, one in found_.items() if repeats is None or key[1] in repeats}
    columns = table(Checkpoint).c
    chosen = [] if repeats is None else [columns.repeat.in_(_stored_repeats(repeats))]
    points: list[Checkpoint] = []
    for part in parts(response_ids):
        points += store.select(
            Checkpoint, columns.response_id.in_(part), columns.judge_id == judge_id, *chosen
        )
    if scale is not None:
        points = [point for point in points if scale_of(point.prompt) == scale]
    found: dict[tuple[str, int], dict[str, Checkpoint]] = {}
    for point in sorted(
        points,
        key=lambda one: (
            -SCALES.index(scale_of(one.prompt)),
            mark_rank(one.prompt, one.sampling, study.judge_sampling),
            one.key,
        ),
    ):
        repeat = repeat_of(point.prompt, point.repeat)
        if repeats is None or repeat in repeats:
            found.setdefault((point.response_id, repeat), {})[point.criterion_id] = point
    return found


RepeatedMarks: TypeAlias = dict[tuple[str, str], tuple[Checkpoint, ...]]
"""(Criterion, answer) -> the marks that count, one a repeat."""


def repeated_marks(
    store: Store, study: Study, response_ids: Iterable[str], judge_id: str, scale: Scale | None
) -> RepeatedMarks:
    """Read a judge's marks of some answers in all repeats; an experiment's own are left out.

    Arguments are those of `marks_of`.
    """
    found = marks_of(store, study, response_ids, judge_id, repeats=None, scale=scale)
    marks: RepeatedMarks = {}
    for (response, repeat), points in sorted(found.items()):
        for criterion, point in points.items():
            there = marks.get((criterion, response), ())
            same = (
                not there
                or judge_id == PEOPLE
                or (point.prompt, point.sampling)
                == (
                    there[0].prompt,
                    there[0].sampling,
                )
            )
            if repeat < APART and same:
                marks[criterion, response] = (*there, point)
    return marks


def repeat_of(prompt: str, repeat: int) -> int:
    """Return which repeat a mark is: `APART` for an experiment's second judgement.

    Under the first prompts experiments kept that as repeat 1.
    """
    return APART if repeat == 1 and prompt in FIRMNESS_PROMPTS else repeat


def _stored_repeats(wanted: Sequence[int]) -> list[int]:
    return sorted({*wanted, *([1] if APART in wanted else [])})


@dataclass(frozen=True, kw_only=True)
class OlderMarks:
    """A judge's marks of a study that only an older scale holds: a run marks their answers again.

    Args:
        answers: answers with such marks, and none on the newest scale.
        marks: these marks; each is one criterion on one answer.
        prompts: ids and versions of the prompts that brought them.
    """

    answers: int = 0
    marks: int = 0
    prompts: tuple[str, ...] = ()


def older_marks(store: Store, study: Study, judge_id: str) -> OlderMarks:
    """Count what a judge marked on an older scale and not yet on the newest one.

    Args:
        judge_id: the judge; marks of others, and of files and people, aren't counted.
    """
    columns = table(Checkpoint).c
    newest, answers, marks = SCALES[0], 0, 0
    prompts: set[str] = set()
    names = [answer.id for answer in study_answers(store, study)]
    with store.read() as connection:
        for part in parts(names):
            held: dict[str, dict[str, int]] = {}
            for row in connection.execute(
                sa.select(columns.response_id, columns.prompt, sa.func.count().label("n"))
                .where(
                    columns.response_id.in_(part),
                    columns.judge_id == judge_id,
                    columns.state == "scored",
                )
                .group_by(columns.response_id, columns.prompt)
            ):
                held.setdefault(row.response_id, {})[row.prompt] = row.n
            for found in held.values():
                scales = {scale_of(prompt) for prompt in found}
                older = [prompt for prompt in found if scale_of(prompt) not in (newest, "other")]
                if newest in scales or not older:
                    continue
                answers += 1
                marks += sum(found[prompt] for prompt in older)
                prompts.update(older)
    return OlderMarks(answers=answers, marks=marks, prompts=tuple(sorted(prompts)))


def scores_of(
    store: Store,
    study: Study,
    response_ids: Iterable[str],
    judge_id: str,
    *,
    repeats: Sequence[int] = (0,),
    scale: Scale | None = None,
) -> dict[tuple[str, int], dict[str, int]]:
    """Read a judge's scores of some answers: (answer, repeat) -> criterion -> 1 to 5.

    A criterion whose mark has no score is left out. Arguments are those of `marks_of`, but the
    marks' texts aren't read.
    """
    columns = table(Checkpoint).c
    best: dict[tuple[str, int, str], tuple[tuple[Any, ...], int | None]] = {}
    with store.read() as connection:
        for part in parts(response_ids):
            for row in connection.execute(
                sa.select(
                    columns.response_id,
                    columns.repeat,
                    columns.criterion_id,
                    columns.prompt,
                    columns.sampling,
                    columns.key,
                    columns.score,
                ).where(
                    columns.response_id.in_(part),
                    columns.judge_id == judge_id,
                    columns.repeat.in_(_stored_repeats(repeats)),
                )
            ):
                on, rank = _rank_of_text(row.prompt, row.sampling, study.judge_sampling)
                repeat = repeat_of(row.prompt, row.repeat)
                if repeat not in repeats or scale not in (None, on):
                    continue
                key = (row.response_id, repeat, row.criterion_id)
                order = (-SCALES.index(on), rank, row.key)
                if key not in best or order > best[key][0]:
                    best[key] = (order, row.score)
    found: dict[tuple[str, int], dict[str, int]] = {}
    for (name, repeat, criterion), (_, score) in best.items():
        if score is not None:
            found.setdefault((name, repeat), {})[criterion] = score
    return found


@lru_cache(maxsize=512)
def _rank_of_text(
    prompt: str, sampling: str, wanted: Sampling
) -> tuple[Scale, tuple[bool, tuple[str, int], str]]:
    return scale_of(prompt), mark_rank(prompt, read_sampling(sampling), wanted)


def mark_states(
    store: Store, response_ids: Iterable[str], judge_id: str
) -> dict[str, dict[str, MarkState]]:
    """Read which marks of a judge there are: answer -> key -> state."""
    columns = table(Checkpoint).c
    found: dict[str, dict[str, MarkState]] = {}
    with store.read() as connection:
        for part in parts(response_ids):
            for row in connection.execute(
                sa.select(columns.response_id, columns.key, columns.state).where(
                    columns.response_id.in_(part), columns.judge_id == judge_id
                )
            ):
                found.setdefault(row.response_id, {})[row.key] = row.state
    return found
