"""The next look at a study: which answers, why, and what that costs.

A plan isn't stored by itself: every look is a run of the study's own stages that names its answers,
so that looks stop, resume, go by batch and are archived like any other run, and what was looked at
when is read from them.

Reference: METHODS T7.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from atom.analysis.capability.diagnosis import LABELS, Label
from atom.analysis.intervals import Floats
from atom.analysis.layout import Mask
from atom.analysis.looks.choice import (
    MOST_LOOKS,
    Aim,
    Goal,
    chances,
    draw,
    first_look,
    leader_settled,
    look_sizes,
    need_of,
    unsettled,
)
from atom.analysis.looks.standing import EarlyStanding, LookMarks, earlier_shares, stand
from atom.engine.forecast import Forecast, forecast
from atom.engine.study.spec import JUDGE_STAGES, STAGES, RunSpec
from atom.errors import UsageError
from atom.records import Endpoint, Look, content_id
from atom.store import Store, find_study
from atom.store.reading.eligible import EligibleAnswers, read_looks, read_pool, unfinished_look
from taxonomy import Path

SHARE = 0.6
"""Share of all answers that a plan may mark, where no budget is given."""
MOST_REASONS = 6
GONE_ON = "The last look isn't at its end: its rest comes first, so that what is marked is random."


@dataclass(frozen=True, kw_only=True)
class SettleSpec:
    """What is to be settled, and for how much.

    Args:
        goal: who leads, which weaknesses there are, or every node to within `within`.
        within: half of the widest interval that is let pass, in points of 0-100.
        calls: answers that all looks together may mark; None = `SHARE` of all there are.
        judge: the judge's endpoint; None = the study's own.
        models: only these models (ids) are asked about; empty = all.
        nodes: only these capabilities; empty = all.
    """

    study_id: str
    goal: Goal = "weaknesses"
    within: float = 5.0
    calls: int | None = None
    judge: str | None = None
    models: tuple[str, ...] = ()
    nodes: tuple[Path, ...] = ()


@dataclass(frozen=True, kw_only=True)
class LookReason:
    """Why a look goes where it goes.

    Args:
        node: the capability; empty = all of them.
        label: what is said of it now; empty at the first look.
        need: how much it calls for more, in [0, 1].
        answers: answers of this look that touch it.
    """

    model_id: str
    node: Path
    label: Label | Literal[""]
    need: float
    answers: int


@dataclass(frozen=True, kw_only=True)
class NextLook:
    """How a study stands on the way to a goal, and the next look.

    Args:
        standing: how it stands now; None before anything is judged.
        pool: what could be judged.
        settled: whether what was asked for is settled.
        why: why there is no next look, or how it was chosen, in words.
        spec: the run that carries it out; None where there is none.
        forecast: what it asks and costs.
        reasons: where it goes, the most needed first.
        sizes: answers of the looks to come, this one first.
        open: (model, node) that the goal still waits for; models for the leader.
        number: which look it would be.
        spent: answers marked so far.
        budget: answers that may be marked in all.
    """

    standing: EarlyStanding | None
    pool: EligibleAnswers
    settled: bool
    why: str
    spec: RunSpec | None = None
    forecast: Forecast | None = None
    reasons: tuple[LookReason, ...] = ()
    sizes: tuple[int, ...] = ()
    open: int = 0
    number: int = 1
    spent: int = 0
    budget: int = 0


def plan_look(store: Store, spec: SettleSpec, endpoints: Mapping[str, Endpoint]) -> NextLook:
    """Say how a study stands, and what the next look asks and costs; nothing is sent.

    Raises:
        UsageError: it asks for something that isn't there; the message says what to do.
    """
    study = find_study(store, spec.study_id)
    pool = read_pool(store, study, _judge_id(store, spec, endpoints))
    marks = LookMarks.of(pool)
    _check(spec, pool)
    looks = read_looks(store, study.id)
    answers, spent = int(pool.there.sum()), int(pool.judged.sum())
    budget = spec.calls if spec.calls is not None else round(SHARE * answers)
    aim = _aim(spec, pool)
    shares = earlier_shares(marks, pool.judged, [pool.of(x.asked.items()) for x in looks])
    standing = stand(marks, shares) if spent else None
    number = len(looks) + 1
    now = NextLook(standing=standing, pool=pool, settled=False, why="", number=number, spent=spent,
                   budget=budget)  # fmt: skip
    open_ = None if standing is None else unsettled(standing, aim)
    free = pool.there & ~pool.judged
    begun = unfinished_look(store, study.id)
    if begun is not None:
        rest = pool.of(begun.asked.items()) & free
        if 0 < rest.sum() <= budget - spent:
            now = replace(now, number=begun.number, why=GONE_ON)
            return _with_run(store, now, spec, begun, rest, endpoints)
    if standing is not None and open_ is not None:
        now = replace(now, open=_count_open(open_, aim))
        if _is_settled(standing, aim, open_):
            return replace(now, settled=True, why="What was asked for is settled.")
    if not free.any():
        return replace(now, why="Everything is judged: more samples would have to come.")
    if spent >= budget:
        return replace(
            now, why=f"The budget of {budget:,} answers is spent; what is open stays open."
        )
    left = max(MOST_LOOKS - len(looks), 1)
    sizes = tuple(look_sizes(answers, budget - spent, left, begun=spent > 0))
    rng = np.random.default_rng(int(content_id("look", study.id, number, spent)[:12], 16))
    if standing is None:
        need = np.ones((len(pool.model_ids), len(pool.leaves)))
        taken = first_look(free, sizes[0], rng)
        why = "The first look takes whole questions at random, all models."
    else:
        need = need_of(standing, aim)
        chance = chances(need, marks, free, sizes[0])
        taken = draw(chance, sizes[0], rng)
        why = "Answers are drawn where they may settle most; a fifth goes to all alike."
    if not taken.any():
        return replace(now, why="The budget left is too small for one more answer.")
    look = Look(
        goal=spec.goal,
        within=spec.within / 100 if spec.goal == "nodes" else None,
        number=number,
        budget=budget,
        asked=_asked(pool, taken),
    )
    now = replace(now, why=why, reasons=_reasons(pool, standing, need, taken), sizes=sizes)
    return _with_run(store, now, spec, look, taken, endpoints)


def _with_run(
    store: Store, now: NextLook, spec: SettleSpec, look: Look, taken: Mask,
    endpoints: Mapping[str, Endpoint],
) -> NextLook:  # fmt: skip
    """Add the run that carries a look out, and what it costs; `taken` is what it marks, (K, N)."""
    run = RunSpec(
        study_id=spec.study_id,
        stages=tuple(stage for stage in STAGES if stage in JUDGE_STAGES),
        judge=spec.judge,
        look=look,
    )
    return replace(
        now,
        spec=run,
        forecast=forecast(store, run, endpoints),
        sizes=now.sizes or (int(taken.sum()),),
    )


def _judge_id(store: Store, spec: SettleSpec, endpoints: Mapping[str, Endpoint]) -> str | None:
    endpoint = endpoints.get(spec.judge or "")
    if endpoint is None:
        return find_study(store, spec.study_id).judge_id
    return content_id("judge", endpoint.model)


def _check(spec: SettleSpec, pool: EligibleAnswers) -> None:
    if not pool.criterion_ids:
        raise UsageError(
            "no question of this study has criteria on the tree: cut and map criteria first (a run "
            "of the stages replay, criteria and mapping), or import some"
        )
    if not pool.there.any():
        raise UsageError("this study has no answers to judge: let models answer, or import some")
    if spec.calls is not None and spec.calls < 1:
        raise UsageError(f"the budget is {spec.calls:,} answers: at least 1 is needed")
    if not 0 < spec.within <= 50:
        raise UsageError(f"within {spec.within:g} points: above 0 and up to 50 are allowed")
    for wanted, there, what in (
        (spec.models, pool.model_ids, "model"),
        (spec.nodes, pool.leaves, "capability with criteria"),
    ):
        for one in wanted:
            if one not in there:
                raise UsageError(f"{one!r} is no {what} of this study")


def _aim(spec: SettleSpec, pool: EligibleAnswers) -> Aim:
    pairs: Mask = np.ones((len(pool.model_ids), len(pool.leaves)), dtype=bool)
    if spec.models:
        pairs &= np.isin(pool.model_ids, spec.models)[:, None]
    if spec.nodes:
        pairs &= np.array([leaf in spec.nodes for leaf in pool.leaves])[None, :]
    return Aim(goal=spec.goal, within=spec.within / 100, pairs=pairs)


def _is_settled(standing: EarlyStanding, aim: Aim, open_: Mask) -> bool:
    return leader_settled(standing) if aim.goal == "leader" else not open_.any()


def _count_open(open_: Mask, aim: Aim) -> int:
    return int(open_.any(axis=1).sum() if aim.goal == "leader" else open_.sum())


def _asked(pool: EligibleAnswers, taken: Mask) -> dict[str, tuple[str, ...]]:
    return {
        pool.sample_ids[at]: tuple(pool.model_ids[model] for model in np.flatnonzero(taken[:, at]))
        for at in np.flatnonzero(taken.any(axis=0))
    }


def _reasons(
    pool: EligibleAnswers, standing: EarlyStanding | None, need: Floats, taken: Mask
) -> tuple[LookReason, ...]:
    """Name where the look goes; a first look goes everywhere and gives its share by model."""
    marks = LookMarks.of(pool)
    if standing is None:
        count = Counter(np.nonzero(taken)[0].tolist())
        return tuple(
            LookReason(model_id=name, node=(), label="", need=1.0, answers=count[at])
            for at, name in enumerate(pool.model_ids)
        )
    touched = marks.clusters(taken[:, marks.sample])
    order = np.argsort(-(need * (touched > 0)).reshape(-1), kind="stable")[:MOST_REASONS]
    pairs = [divmod(int(at), marks.n_nodes) for at in order]
    return tuple(
        LookReason(
            model_id=pool.model_ids[model],
            node=pool.leaves[node],
            label=LABELS[int(standing.label[model, node])],
            need=float(need[model, node]),
            answers=int(touched[model, node]),
        )
        for model, node in pairs
        if need[model, node] > 0
    )
