"""What counts: which answers, outcomes, marks and criteria of a study stand, said once.

Every screen, run, correction, method, report and export reads through here (large studies through
`columns`, which follows the same rules), so that no two of them can disagree. The rules:

- An answer belongs to a study where its sample and its candidate do, where it is no correction,
  and where it was typed, imported or asked for under the study's settings (what these leave open
  may be anything). Its first answer is the one of the smallest repeat that has a text, else the
  smallest.
- Of an answer's outcomes the imported one counts, then one by rule, then the judge's that is looked
  at, then another judge's.
- All people together (`PEOPLE`) are a judge whose repeats are the people.
- A judge's marks that count are those on the newest scale that any of its marks in the study is
  on; of several on one criterion and answer those under the study's settings, then the newest
  prompt's, in all repeats.
- A sample is quarantined where the replay that stands for it disagrees with its reference.
- The criteria of a sample are those of the set that stands for it, in the order of their positions.
- What only an import brought that didn't come to its end counts nowhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, TypeAlias, TypeVar

import sqlalchemy as sa

from atom.records import (
    APART,
    FIRMNESS_PROMPTS,
    HAND_MADE,
    Candidate,
    Checkpoint,
    CriteriaSet,
    Criterion,
    CriterionUse,
    Import,
    MarkState,
    Outcome,
    OutcomeHow,
    Preference,
    Replay,
    Response,
    Sample,
    Sampling,
    Scale,
    State,
    Study,
    StudyCandidate,
    StudySample,
    scale_of,
)
from atom.records import Mapping as LeafMapping
from atom.store.people import PEOPLE, one_after_another, persons
from atom.store.schema import import_links, table
from atom.store.store import Store
from taxonomy import Path

HOW_RANK: Mapping[OutcomeHow, int] = {
    "imported": 0, "choice": 1, "numeric": 1, "exact": 1, "judge": 2,
}  # fmt: skip
"""Which kind of outcome counts before which."""
OTHER_JUDGE = 3
"""The rank of an outcome by a judge that isn't looked at."""
SCALES: tuple[Scale, ...] = ("appendix_d", "firmness", "other")
"""From the newest to the oldest; only marks on one scale are counted together."""
REPEATS = 64
"""A mark of this repeat or a later one isn't one of a study's own."""
LinkKind = Literal[
    "sample", "response", "candidate", "place", "seat", "outcome", "preference", "annotation",
    "verdict",
]  # fmt: skip
_PART = 400
_BLIND, _BEFORE = " blind", 10_000
_T = TypeVar("_T")


def parts(names: Iterable[_T], size: int = _PART) -> Iterator[list[_T]]:
    """Cut names into lists that a statement can hold."""
    wanted = list(dict.fromkeys(names))
    for start in range(0, len(wanted), size):
        yield wanted[start : start + size]


# --- imports that didn't come to their end ------------------------------------------------------


def closed(
    connection: sa.Connection,
    kind: LinkKind,
    column: sa.ColumnElement[Any],
    study_id: str | None = None,
) -> tuple[sa.ColumnElement[bool], ...]:
    """Return conditions that leave out what only unfinished imports brought.

    Args:
        kind: the kind of record, as imports name it.
        column: where the record's id stands.
        study_id: only imports of this study: places and seats are one study's.

    Returns:
        Nothing where all imports came to their end, so that the usual case costs nothing.
    """
    imports, links = table(Import).c, import_links.c
    unfinished = sa.select(imports.id).where(imports.closed.is_(False))
    if study_id is not None:
        unfinished = unfinished.where(imports.study_id == study_id)
    if connection.execute(unfinished.limit(1)).first() is None:
        return ()
    brought = sa.select(links.record_id).where(links.kind == kind, links.import_id.in_(unfinished))
    # An unfinished import may have met what another one brought: that one's stays.
    kept = sa.select(links.record_id).where(links.kind == kind, links.import_id.not_in(unfinished))
    return (sa.or_(column.not_in(brought), column.in_(kept)),)


# --- answers ------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Answer:
    """An answer of a study, without its text.

    Args:
        id: the response.
        repeat: which of the candidate's answers.
        silent: whether it has no text.
    """

    id: str
    sample_id: str
    candidate_id: str
    repeat: int
    state: State
    silent: bool

    @property
    def judgeable(self) -> bool:
        """Whether a judge can be asked about it: it is there, and has a text.

        An outcome, vote or label on it counts all the same.
        """
        return self.state == "scored" and not self.silent


def of_settings(prompt: str, sampling: Sampling, wanted: Sampling) -> bool:
    """Say whether an answer was given under a study's settings.

    Args:
        prompt: the answer's prompt; what was imported or typed has no settings.
        wanted: what the study asks for; what it leaves open may be anything.
    """
    if prompt in HAND_MADE:
        return True
    asked, given = wanted.model_dump(), sampling.model_dump()
    return all(value is None or given[name] == value for name, value in asked.items())


def of_study(response: Response, study: Study) -> bool:
    """Say whether an answer to a sample of a study, by a candidate of it, counts there."""
    return response.arm is None and of_settings(
        response.prompt, response.sampling, study.answer_sampling
    )


@lru_cache(maxsize=512)
def read_sampling(text: str | None) -> Sampling:
    """Read settings as they are stored."""
    return Sampling.model_validate(json.loads(text or "{}"))


@lru_cache(maxsize=512)
def _same(sampling: str, wanted: Sampling) -> bool:
    return of_settings("", read_sampling(sampling), wanted)


def settings_of_study(connection: sa.Connection, study: Study) -> sa.ColumnElement[bool]:
    """Return the condition on answers that they count in a study, apart from whose they are."""
    response = table(Response).c
    first = response.arm.is_(None)
    there = connection.execute(sa.select(response.sampling).where(first).distinct()).scalars()
    same = [text for text in there if _same(text, study.answer_sampling)]
    return sa.and_(
        first,
        sa.or_(response.prompt.in_(HAND_MADE), response.sampling.in_(same)),
        *closed(connection, "response", response.id),
    )


def placed(connection: sa.Connection, study_id: str) -> sa.ColumnElement[bool]:
    """Return the condition on a study's places that they count there."""
    place = table(StudySample).c
    return sa.and_(
        place.study_id == study_id, *closed(connection, "place", place.sample_id, study_id)
    )


def seated(connection: sa.Connection, study_id: str) -> sa.ColumnElement[bool]:
    """Return the condition on a study's seats that they count there."""
    seat = table(StudyCandidate).c
    return sa.and_(
        seat.study_id == study_id, *closed(connection, "seat", seat.candidate_id, study_id)
    )


def study_candidates(store: Store, study_id: str) -> list[Candidate]:
    """Return a study's candidates in its order."""
    seats = table(StudyCandidate)
    with store.read() as connection:
        mine = seated(connection, study_id)
    rows = store.select(StudyCandidate, mine, order_by=[seats.c.position, seats.c.candidate_id])
    found = {c.id: c for c in store.get_many(Candidate, [row.candidate_id for row in rows])}
    return [found[row.candidate_id] for row in rows if row.candidate_id in found]


def study_places(store: Store, study_id: str) -> list[StudySample]:
    """Return a study's samples' places in its order."""
    places = table(StudySample)
    with store.read() as connection:
        mine = placed(connection, study_id)
    return store.select(StudySample, mine, order_by=[places.c.position, places.c.sample_id])


def sample_ids_of(connection: sa.Connection, study_id: str) -> sa.Select[tuple[str]]:
    """Return the selection of a study's samples."""
    return sa.select(table(StudySample).c.sample_id).where(placed(connection, study_id))


def candidate_ids_of(connection: sa.Connection, study_id: str) -> sa.Select[tuple[str]]:
    """Return the selection of a study's candidates."""
    return sa.select(table(StudyCandidate).c.candidate_id).where(seated(connection, study_id))


def members(
    connection: sa.Connection, study_id: str
) -> tuple[sa.ColumnElement[bool], sa.ColumnElement[bool]]:
    """Return the conditions on answers that their sample and their candidate are a study's."""
    response = table(Response).c
    return (
        response.sample_id.in_(sample_ids_of(connection, study_id)),
        response.candidate_id.in_(candidate_ids_of(connection, study_id)),
    )


def study_answers(
    store: Store,
    study: Study,
    *,
    sample_ids: Iterable[str] | None = None,
    candidate_ids: Sequence[str] | None = None,
) -> list[Answer]:
    """Return a study's answers, by sample, candidate, repeat and id.

    Args:
        sample_ids: only answers to these of its samples; None = to all.
        candidate_ids: only answers of these of its candidates; None = of all.
    """
    response = table(Response).c
    with store.read() as connection:
        of_samples, of_candidates = members(connection, study.id)
        if candidate_ids is not None:
            of_candidates = response.candidate_id.in_(list(candidate_ids))
        chosen = (
            [of_samples]
            if sample_ids is None
            else [response.sample_id.in_(part) for part in parts(sample_ids)]
        )
        return _answers(connection, study.answer_sampling, of_candidates, chosen)


def answers_apart(store: Store, study_id: str, arm: str) -> list[Response]:
    """Return answers of a study's candidates that are none of its own, by sample and candidate.

    Args:
        arm: what keeps them apart, as `blind`.
    """
    response = table(Response).c
    with store.read() as connection:
        mine = members(connection, study_id)
    return store.select(
        Response,
        response.arm == arm,
        *mine,
        order_by=[response.sample_id, response.candidate_id, response.id],
    )


def answers_under(
    store: Store, wanted: Sampling, sample_ids: Iterable[str], candidate_ids: Sequence[str]
) -> list[Answer]:
    """Return answers as a run sees them, which asks candidates before they have a seat.

    Args:
        wanted: the settings that the study asks for.

    Returns:
        By sample, candidate, repeat and id.
    """
    response = table(Response).c
    with store.read() as connection:
        return _answers(
            connection,
            wanted,
            response.candidate_id.in_(list(candidate_ids)),
            [response.sample_id.in_(part) for part in parts(sample_ids)],
        )


def _answers(
    connection: sa.Connection,
    wanted: Sampling,
    of_candidates: sa.ColumnElement[bool],
    of_samples: Sequence[sa.ColumnElement[bool]],
) -> list[Answer]:
    response = table(Response).c
    statement = (
        sa.select(
            response.id,
            response.sample_id,
            response.candidate_id,
            response.repeat,
            response.prompt,
            response.sampling,
            response.state,
            (response.text == "").label("silent"),
        )
        .where(of_candidates, response.arm.is_(None), *closed(connection, "response", response.id))
        .order_by(response.sample_id, response.candidate_id, response.repeat, response.id)
    )
    return [
        Answer(
            id=row.id,
            sample_id=row.sample_id,
            candidate_id=row.candidate_id,
            repeat=row.repeat,
            state=row.state,
            silent=bool(row.silent),
        )
        for where in of_samples
        for row in connection.execute(statement.where(where))
        if row.prompt in HAND_MADE or _same(row.sampling, wanted)
    ]


def answers_to(
    store: Store, study: Study, sample_id: str, candidate_id: str | None = None
) -> list[Response]:
    """Return a study's answers to one of its samples as records, by candidate, repeat and id.

    Args:
        candidate_id: only this one's; None = everybody's.
    """
    response = table(Response).c
    with store.read() as connection:
        seats = candidate_ids_of(connection, study.id)
        conditions = closed(connection, "response", response.id)
    rows = store.select(
        Response,
        response.sample_id == sample_id,
        response.candidate_id.in_(seats),
        response.arm.is_(None),
        *([] if candidate_id is None else [response.candidate_id == candidate_id]),
        *conditions,
        order_by=[response.candidate_id, response.repeat, response.id],
    )
    return [row for row in rows if of_study(row, study)]


def first_answers(answers: Iterable[Answer]) -> dict[tuple[str, str], Answer]:
    """Return each candidate's first answer to each sample: (sample, candidate) -> answer.

    Args:
        answers: by repeat and id, as `study_answers` gives them.
    """
    found: dict[tuple[str, str], Answer] = {}
    for answer in answers:
        key = (answer.sample_id, answer.candidate_id)
        there = found.get(key)
        if there is None or (answer.judgeable and not there.judgeable):
            found[key] = answer
    return found


def compared_answers(store: Store, study: Study) -> dict[str, tuple[Answer, ...]]:
    """Return the answers that are ranked against each other: sample -> its answers.

    Returns:
        Each candidate's first answer that can be judged, in the study's order of samples and of
        candidates.
    """
    firsts = first_answers(study_answers(store, study))
    usable = {key: one for key, one in firsts.items() if one.judgeable}
    names = [one.id for one in study_candidates(store, study.id)]
    samples = [one.sample_id for one in study_places(store, study.id)]
    return {
        sample: tuple(usable[sample, name] for name in names if (sample, name) in usable)
        for sample in samples
    }


def votes_on(store: Store, sample_id: str) -> list[Preference]:
    """Read the votes between answers to a sample, by id."""
    vote = table(Preference).c
    with store.read() as connection:
        done = closed(connection, "preference", vote.id)
    return store.select(Preference, vote.sample_id == sample_id, *done, order_by=[vote.id])


# --- outcomes -----------------------------------------------------------------------------------


def outcome_rank(how: OutcomeHow, judge_id: str, looked_at: str | None) -> int:
    """Say how soon an outcome counts, the smallest first.

    Args:
        judge_id: who found it, for `how = judge`.
        looked_at: the judge that is looked at.
    """
    return OTHER_JUDGE if how == "judge" and judge_id != (looked_at or "") else HOW_RANK[how]


def ranked_outcomes(
    outcomes: Iterable[Outcome], looked_at: str | None
) -> dict[str, tuple[Outcome, ...]]:
    """Order the outcomes of each answer: the one that counts first, those without a value last.

    Args:
        outcomes: of any answers.
        looked_at: the judge that is looked at.
    """
    found: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        found.setdefault(outcome.response_id, []).append(outcome)
    return {
        name: tuple(
            sorted(
                own,
                key=lambda one: (
                    one.value is None,
                    outcome_rank(one.how, one.judge_id, looked_at),
                    one.how,
                    one.judge_id,
                ),
            )
        )
        for name, own in found.items()
    }


def outcomes_of(
    store: Store, response_ids: Iterable[str], looked_at: str | None
) -> dict[str, tuple[Outcome, ...]]:
    """Read the outcomes of some answers: the one that counts first, those without a value last."""
    return ranked_outcomes(all_outcomes(store, response_ids), looked_at)


def all_outcomes(store: Store, response_ids: Iterable[str]) -> list[Outcome]:
    """Read all outcomes of some answers, those of unfinished imports left out."""
    columns = table(Outcome).c
    found: list[Outcome] = []
    with store.read() as connection:
        conditions = closed_outcomes(connection)
    for part in parts(response_ids):
        found += store.select(
            Outcome,
            columns.response_id.in_(part),
            *conditions,
            order_by=[columns.response_id, columns.how, columns.judge_id],
        )
    return found


def closed_outcomes(connection: sa.Connection) -> tuple[sa.ColumnElement[bool], ...]:
    """An import names its outcomes by their answer; what else was found of that answer stays."""
    columns = table(Outcome).c
    left = closed(connection, "outcome", columns.response_id)
    return (sa.or_(columns.how != "imported", *left),) if left else ()


def values_of(store: Store, response_ids: Iterable[str], looked_at: str | None) -> dict[str, float]:
    """Read whether answers are right, 0 to 1, where that is known."""
    columns = table(Outcome).c
    best: dict[str, tuple[tuple[int, str, str], float]] = {}
    with store.read() as connection:
        conditions = closed_outcomes(connection)
        for part in parts(response_ids):
            for name, how, judge, value in connection.execute(
                sa.select(columns.response_id, columns.how, columns.judge_id, columns.value).where(
                    columns.response_id.in_(part), columns.value.is_not(None), *conditions
                )
            ):
                order = (outcome_rank(how, judge, looked_at), how, judge)
                if name not in best or order < best[name][0]:
                    best[name] = (order, float(value))
    return {name: value for name, (_, value) in best.items()}


def settled_outcomes(store: Store, response_ids: Iterable[str], judge_id: str) -> dict[str, State]:
    """Say which answers need no outcome by a judge, and in which state theirs is.

    Args:
        judge_id: the judge that would be asked; another judge's outcome settles nothing for it.
    """
    columns = table(Outcome).c
    found: dict[str, State] = {}
    with store.read() as connection:
        conditions = closed_outcomes(connection)
        for part in parts(response_ids):
            for row in connection.execute(
                sa.select(columns.response_id, columns.state).where(
                    columns.response_id.in_(part),
                    columns.judge_id.in_(["", judge_id]),
                    *conditions,
                )
            ):
                if found.get(row.response_id) != "scored":
                    found[row.response_id] = row.state
    return found


# --- marks --------------------------------------------------------------------------------------


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


# --- samples ------------------------------------------------------------------------------------


def with_reference(store: Store, sample_ids: Iterable[str]) -> set[str]:
    """Return which of some samples have a reference answer."""
    columns = table(Sample).c
    found: set[str] = set()
    with store.read() as connection:
        for part in parts(sample_ids):
            known = sa.select(columns.id).where(
                columns.id.in_(part), columns.reference.is_not(None)
            )
            found |= set(connection.execute(known).scalars())
    return found


def quarantined(store: Store, places: Iterable[StudySample]) -> set[str]:
    """Return samples whose own replay disagrees with the reference: they enter no figure."""
    sample_of = {place.replay_id: place.sample_id for place in places if place.replay_id}
    columns = table(Replay).c
    found: set[str] = set()
    with store.read() as connection:
        for part in parts(sample_of):
            rows = connection.execute(
                sa.select(columns.id).where(columns.id.in_(part), columns.agrees.is_(False))
            ).scalars()
            found.update(sample_of[name] for name in rows)
    return found


def in_order(criteria: CriteriaSet) -> tuple[CriterionUse, ...]:
    """Return a set's criteria in the order of their positions."""
    return tuple(sorted(criteria.uses, key=lambda use: use.position))


def standing_sets(store: Store, places: Iterable[StudySample]) -> dict[str, CriteriaSet]:
    """Return the criteria that stand for samples: sample -> its set, where that is usable."""
    pointed = {place.criteria_set_id: place.sample_id for place in places if place.criteria_set_id}
    found = store.get_many(CriteriaSet, pointed)
    return {pointed[one.id]: one for one in found if one.state == "scored"}


def samples_of_criteria(store: Store, criterion_ids: Iterable[str]) -> dict[str, str]:
    """Return which sample each of some criteria is about."""
    column = table(Criterion).c
    return read_by_id(store, column.id, column.sample_id, criterion_ids)


def replay_states(store: Store, replay_ids: Iterable[str]) -> dict[str, State]:
    """Read in which state replays are."""
    column = table(Replay).c
    return read_by_id(store, column.id, column.state, replay_ids)


def mapping_states(
    store: Store, tree_version: str, criterion_ids: Iterable[str]
) -> dict[str, State]:
    """Read in which state criteria's mappings to a tree are."""
    column = table(LeafMapping).c
    of_tree = column.tree_version == tree_version
    return read_by_id(store, column.criterion_id, column.state, criterion_ids, of_tree)


def read_by_id(
    store: Store,
    key: sa.ColumnElement[Any],
    value: sa.ColumnElement[Any],
    ids: Iterable[str],
    *conditions: sa.ColumnElement[bool],
) -> dict[str, Any]:
    """Read one column of the rows that have these ids: id -> value."""
    statement = sa.select(key, value).where(*conditions)
    found: dict[str, Any] = {}
    with store.read() as connection:
        for part in parts(ids):
            rows = connection.execute(statement.where(key.in_(part)))
            found.update((row[0], row[1]) for row in rows)
    return found


def leaves_of(
    store: Store, tree_version: str | None, criterion_ids: Iterable[str] | None = None
) -> dict[str, Path]:
    """Read where criteria hang in a tree: criterion -> leaf; those that hang nowhere are left out.

    Args:
        tree_version: the tree; None = there is none.
        criterion_ids: only these; None = all that hang in the tree.
    """
    if tree_version is None:
        return {}
    columns = table(LeafMapping).c
    statement = sa.select(columns.criterion_id, columns.leaf).where(
        columns.tree_version == tree_version, columns.leaf.is_not(None)
    )
    chosen = (
        [statement]
        if criterion_ids is None
        else [statement.where(columns.criterion_id.in_(part)) for part in parts(criterion_ids)]
    )
    found: dict[str, Path] = {}
    with store.read() as connection:
        for one in chosen:
            for criterion_id, leaf in connection.execute(one):
                found[criterion_id] = tuple(json.loads(leaf))
    return found
