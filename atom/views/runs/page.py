"""Runs: each as one line of words and numbers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from atom.display import numbers
from atom.display.numbers import money
from atom.methods.registry import METHODS
from atom.records import (
    BenchTask,
    BlindTask,
    Candidate,
    CriteriaTask,
    Endpoint,
    Experiment,
    ExperimentTask,
    Judge,
    MethodsTask,
    PairsTask,
    Run,
    Sampling,
    SightTask,
    StageName,
    StudyTask,
    TreeTask,
)
from atom.store import Store

STATE_WORDS = {
    "running": "running",
    "stopping": "stopping: calls in flight end first",
    "stopped": "stopped",
    "done": "done",
    "failed": "failed",
}
LostState: TypeAlias = Literal["unscored", "failed"]
_LEAST_SECONDS = 1.0
"""A pace that was watched for less is no pace."""


class UnscoredCounts(Protocol):
    """What counts items of which some ended without a score."""

    @property
    def unscored(self) -> int:
        """Items with an unusable reply."""

    @property
    def failed(self) -> int:
        """Items that failed."""


@dataclass(frozen=True, kw_only=True)
class RunView:
    """A run as it is shown.

    Attributes:
        run: its row; one whose process is gone says so.
        alive: whether a process works on it.
        rate: items a second, as watched; None while that isn't known.
        label: what it does where its stages don't say so.
        unpriced: endpoints that it asks and whose prices aren't known.
        sharing: who works at it and what they share, in words.
    """

    run: Run
    alive: bool
    rate: float | None = None
    label: str = ""
    unpriced: tuple[str, ...] = ()
    sharing: tuple[str, ...] = ()

    @property
    def spent(self) -> str:
        """What it has cost, in words."""
        return spent_words(self.run.cost, self.unpriced if self.run.done else ())

    @property
    def far(self) -> str:
        """How far it is; nothing while it is being counted, or where there was nothing."""
        return f"{self.run.done:,} of {self.run.total:,}" if self.run.total else numbers.NONE

    def facts(self, what: str = "") -> list[str]:
        """Say beside its state how far it is, how fast, how much longer, and what it has cost.

        Args:
            what: what is counted, where the words shall say it, `steps`.
        """
        said = [f"{self.far} {what}".rstrip() + " done" * (self.run.state != "done")]
        if not self.run.total:
            said = ["counting what is left" if self.alive else "there was nothing to do"]
        if self.alive:
            said += pace_words(self.rate, self.left)
        elif self.left:
            said.append(f"{self.left:,} left")
        most = "" if self.run.budget is None else f" of at most {money(self.run.budget)}"
        return [*said, self.spent + most]

    @property
    def lost(self) -> list[tuple[LostState, str]]:
        """What of it ended without a score, in words; nothing where all of it has one."""
        return lost(self.run)

    @property
    def words(self) -> str:
        """Its state in words."""
        if self.run.state == "done" and self.run.failed:
            return "done, with failures"
        return STATE_WORDS[self.run.state]

    @property
    def left(self) -> int:
        """Items that are still to be done."""
        return max(self.run.total - self.run.done, 0)

    @property
    def can_stop(self) -> bool:
        """Whether it can be stopped."""
        return self.alive and self.run.state == "running"

    @property
    def can_resume(self) -> bool:
        """Whether something of it is still to be done and nobody does it."""
        return not self.alive and self.run.state != "done"

    @property
    def can_retry(self) -> bool:
        """Whether failed items can be asked for again."""
        return not self.alive and self.run.failed > 0

    @property
    def can_retry_unscored(self) -> bool:
        """Whether what a server's fault left unscored can be asked for again."""
        return not self.alive and self.run.unscored > 0 and self.run.kind == "study"

    @property
    def what(self) -> str:
        """What it does, in words."""
        return self.label or task_words(self.run)


@dataclass(frozen=True, kw_only=True)
class ProgressSample:
    """How far a run was when somebody looked."""

    moment: float
    """Seconds on a clock that never goes back."""
    done: int


def run_view(
    run: Run,
    *,
    alive: bool,
    seen: Sequence[ProgressSample] = (),
    label: str = "",
    endpoints: Mapping[str, Endpoint] | None = None,
    sharing: tuple[str, ...] = (),
) -> RunView:
    """Make a run's view.

    Args:
        alive: whether a process works on it.
        seen: how far it was in the last seconds, oldest first.
        label: what it does, see `run_labels`.
        endpoints: endpoints by name, for what it is known to cost.
        sharing: who works at it and what they share, in words.
    """
    return RunView(
        run=run,
        alive=alive,
        rate=pace(seen) if alive else None,
        label=label,
        unpriced=unpriced(run, endpoints or {}),
        sharing=sharing,
    )


def task_words(run: Run) -> str:
    """Say what a run does, in words."""
    match run.task:
        case BenchTask(parts=parts, votes=votes, scorer=scorer):
            often = f", {votes} votes" if votes > 1 else ""
            by = f", scored by {scorer}" if scorer else ""
            return f"Judge benchmark: {', '.join(parts)}{often}{by}"
        case MethodsTask(methods=methods):
            return f"Methods: {', '.join(METHODS[name].title for name in methods)}"
        case ExperimentTask():
            return f"Self-correction: {', '.join(run.candidates[:1])}"
        case TreeTask():
            return "The tree grows from the study's criteria"
        case BlindTask(samples=samples):
            return f"Without the picture · {samples} questions, {_named(run.candidates)}"
        case PairsTask(pairs=pairs, weak=weak):
            return f"Hard pairs · {numbers.count(len(pairs), 'pair')}, {_named(weak)}"
        case SightTask(samples=samples):
            return f"The judge with the picture and without · {samples} questions"
        case CriteriaTask():
            return "People’s own criteria, matched by the judge"
        case StudyTask(stages=stages):
            named = ", ".join(stages)
            return f"{named} · {_named(run.candidates)}" if run.candidates else named


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - 4:,} more" if len(names) > 4 else ""
    return f"{', '.join(names[:4])}{more}"


def run_labels(store: Store, runs: Sequence[Run]) -> dict[str, str]:
    """Say what the runs of self-correction experiments do, by run id."""
    names = {run.id: run.experiment_id for run in runs if run.experiment_id}
    if not names:
        return {}
    experiments = {e.id: e for e in store.get_many(Experiment, names.values())}
    models = {
        c.id: c.name
        for c in store.get_many(Candidate, [e.candidate_id for e in experiments.values()])
    }
    labels = {}
    for run_id, name in names.items():
        experiment = experiments.get(name)
        if experiment is None:
            continue
        model = models.get(experiment.candidate_id, experiment.candidate_id)
        one = len(experiment.sample_ids) == 1
        arms = len(experiment.arms)
        rounds = f", up to {experiment.rounds:,} rounds" if experiment.rounds > 1 else ""
        labels[run_id] = (
            f"Self-correction: {model}, {'one answer, ' if one else ''}"
            f"{numbers.count(arms, 'kind')} of feedback{rounds}"
        )
    return labels


def pace(seen: Sequence[ProgressSample]) -> float | None:
    """Return items a second over what was seen, or None when it was watched too shortly."""
    if len(seen) < 2:
        return None
    first, last = seen[0], seen[-1]
    span = last.moment - first.moment
    if span < _LEAST_SECONDS or last.done < first.done:
        return None
    return (last.done - first.done) / span


def pace_words(rate: float | None, left: int) -> list[str]:
    """Say how fast a run is, and how much longer it takes; nothing while that isn't known."""
    if not rate:
        return []
    return [f"{rate:.1f} a second", *([f"about {duration(left / rate)} left"] if left else [])]


def lost(of: UnscoredCounts) -> list[tuple[LostState, str]]:
    """Say what ended without a score: `3 unscored`, `1 failed`."""
    counts: tuple[tuple[LostState, int], ...] = (("unscored", of.unscored), ("failed", of.failed))
    return [(kind, f"{n:,} {kind}") for kind, n in counts if n]


def duration(seconds: float) -> str:
    """Write a time span: `12 s`, `3 min`, `2 h 5 min`."""
    if seconds < 90:
        return f"{max(round(seconds), 1)} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest} min" if rest else f"{hours} h"


def unpriced(run: Run, endpoints: Mapping[str, Endpoint]) -> tuple[str, ...]:
    """Return the endpoints that a run asks and whose prices nobody has given.

    Args:
        endpoints: endpoints by name, as they are set up now.
    """
    return without_prices(run.asked, run.cost, endpoints)


def without_prices(
    names: Iterable[str], cost: float, endpoints: Mapping[str, Endpoint]
) -> tuple[str, ...]:
    """Return the endpoints whose prices aren't known; of one that is gone, where nothing was noted.

    Args:
        names: endpoints that were asked.
        cost: USD that were noted.
        endpoints: endpoints by name, as they are set up now; empty = not known.
    """
    return tuple(
        name
        for name in dict.fromkeys(names)
        if (endpoints[name].prices.unknown if name in endpoints else endpoints and not cost)
    )


def spent_words(cost: float, without_prices: Sequence[str]) -> str:
    """Say what a run has cost; where an endpoint has no prices, that it isn't known."""
    if not without_prices:
        return money(cost) if cost else "nothing spent"
    if not cost:
        return "price unknown"
    return f"{money(cost)}, and what {' and '.join(without_prices)} cost isn't known"


def log_tail(store: Store, run_id: str, *, lines: int = 30) -> str:
    """Return the last lines that a run's process wrote; empty when it wrote none."""
    log = store.folder / "runs" / f"{run_id}.log"
    try:
        text = log.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return "\n".join(text[-20_000:].splitlines()[-lines:]).strip()


def judge_endpoint(store: Store, judge_id: str | None) -> str | None:
    """Return the name of the endpoint that served a study's judge, where it is known."""
    judge = store.get(Judge, judge_id) if judge_id else None
    return judge.endpoint if judge else None


@dataclass(frozen=True, kw_only=True)
class RunForm:
    """What a run is asked to do, as the form holds it."""

    judge: str = ""
    candidates: tuple[str, ...] = ()
    stages: tuple[StageName, ...] = ()
    limit: int | None = None
    repeats: int = 1
    answer_repeats: int = 1
    budget: float | None = None
    retry_failed: bool = False
    retry_unscored: bool = False
    show_reference: bool = False
    blind: bool = False
    """Whether the judge scores without the pictures."""
    judge_sampling: Sampling | None = None
    """None = as the study says; likewise the next."""
    answer_sampling: Sampling | None = None
    processes: int = 1
    cluster: bool = False
    """Whether they start on the cluster that the settings name."""

    def problem(self, judged: Collection[StageName]) -> str:
        """Say what is missing or wrong, in words; empty when it can be started.

        Args:
            judged: the stages in which a judge is asked, not a model.
        """
        if not self.stages:
            return "Choose at least one stage."
        asks_models = any(stage not in judged for stage in self.stages)
        if asks_models and not self.candidates:
            return "The stage answer needs models that are asked: choose some, or leave it out."
        if self.candidates and not asks_models:
            return "Models are chosen but the stage answer isn't: add it, or clear the models."
        if not self.judge and any(stage in judged for stage in self.stages):
            return "Choose a judge."
        return ""
