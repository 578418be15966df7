"""What a self-correction experiment would ask and cost, before anything is sent."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import get_args

from atom.display import numbers
from atom.display.facts import Facts
from atom.display.numbers import money
from atom.display.table import Column, Table
from atom.engine.correction.cohorts import CohortAnswer, find_subjects
from atom.engine.correction.ground import CorrectionSpec, ExperimentParts, prepare
from atom.engine.correction.have import load_have
from atom.engine.correction.plan import MOST_HINTS, RemainingCalls, asked_about, outlook
from atom.engine.correction.trials import KINDS, Rules, StepKind, Trial, trials_of
from atom.engine.endpoints.price import cost_words
from atom.engine.items import read_material
from atom.errors import PictureError
from atom.judge import CostEstimate, PicturePart, Request
from atom.judge.usage import estimate_request
from atom.records import Arm, Cohort, Endpoint, Experiment, total_cost
from atom.stages import correction, hint, outcome, scoring
from atom.store import Store

TRIED = 6
"""Answers whose requests are built to see how long they are."""
REPLY_TOKENS: Mapping[StepKind, int] = {
    "retry": 200,
    "hint": 60,
    "scoring": 260,
    "outcome": 60,
    "rejudge": 60,
}
"""Tokens of a usual reply."""


@dataclass(frozen=True, kw_only=True)
class CallForecast:
    """What one kind of step asks one endpoint.

    Args:
        calls: requests at least: one round, one attempt at each hint.
        most: requests at most: all rounds, all attempts.
        tokens: tokens in and out of a request, about.
        price: USD for a request, about; None where the endpoint has no prices.
    """

    kind: StepKind
    endpoint: Endpoint
    calls: int
    most: int
    tokens: int
    price: float | None


@dataclass(frozen=True, kw_only=True)
class ArmForecast:
    """What one arm would do.

    Args:
        cohort: on failed or on right answers.
        trials: answers in it.
        over: those that are done already.
        skipped: those that nothing can be asked about, by reason; they cost nothing.
        calls: the work by kind of step and endpoint. Hints that two arms share stand in the first.
    """

    arm: Arm
    cohort: Cohort
    trials: int
    over: int
    skipped: Mapping[str, int]
    calls: tuple[CallForecast, ...]

    def calls_words(self) -> str:
        """Say how many requests it makes, at least and at most."""
        return _span(sum(one.calls for one in self.calls), sum(one.most for one in self.calls))

    def price_words(self) -> str:
        """Say what these cost at least."""
        if not self.calls:
            return numbers.NONE
        costs = [None if p.price is None else p.price * p.calls for p in self.calls if p.calls]
        return money(total_cost(costs))


def _span(least: int, most: int) -> str:
    return f"{least:,}" if least == most else numbers.spanned(f"{least:,}", f"{most:,}")


@dataclass(frozen=True, kw_only=True)
class CorrectionForecast:
    """What an experiment would do.

    Args:
        experiment: what it asks for; it may be there already.
        answers: the model's answers in all.
        failed: how many failed, before the limit.
        right: how many are right, before the limit.
        left_out: why others are left out, and how many.
        failed_subjects: failed answers that take part.
        right_subjects: right answers that take part.
        arms: the work by arm.
    """

    experiment: Experiment
    model: str
    answers: int
    failed: int
    right: int
    left_out: Mapping[str, int]
    failed_subjects: int
    right_subjects: int
    arms: tuple[ArmForecast, ...]

    @property
    def calls(self) -> int:
        """Requests at least, about: stored replies that are used again, and feedback that a leak
        gate holds back, make it fewer.
        """
        return sum(part.calls for arm in self.arms for part in arm.calls)

    @property
    def most_calls(self) -> int:
        """Requests at most."""
        return sum(part.most for arm in self.arms for part in arm.calls)

    @property
    def cost(self) -> float | None:
        """USD at least, about; None where a price is unknown."""
        return self._sum(lambda part: part.calls)

    @property
    def most_cost(self) -> float | None:
        """USD at most, about; None where a price is unknown."""
        return self._sum(lambda part: part.most)

    @property
    def endpoints(self) -> list[Endpoint]:
        """Every endpoint that it would ask."""
        return list({p.endpoint.name: p.endpoint for arm in self.arms for p in arm.calls}.values())

    @property
    def price(self) -> str:
        """What it would cost at least and at most, and where it goes, in words."""
        tokens = sum(part.tokens * part.calls for arm in self.arms for part in arm.calls)
        words = cost_words(tokens, self.cost, self.endpoints)
        if self.most_cost and self.cost is not None and self.most_cost > self.cost:
            words += f", at most {money(self.most_cost)}"
        return words

    def facts(self, names: Callable[[Arm], str]) -> Facts:
        """Say what an experiment would do and cost.

        Args:
            names: what an arm is called.
        """
        who = (
            f"{self.failed:,} of {self.model}'s {numbers.count(self.answers, 'answer')} failed; "
            f"{self.failed_subjects:,} take part"
        )
        if self.right_subjects:
            who += f", and {self.right_subjects:,} right ones"
        if not self.failed_subjects and not self.right_subjects:
            return Facts(head=f"{who}. Choose another rule, place or model.")
        price = self.price if self.endpoints else "nothing to pay"
        left = sorted(self.left_out.items(), key=lambda item: -item[1])
        said = "; ".join(f"{n:,} ({reason})" for reason, n in left)
        return Facts(
            head=f"{who}. {_span(self.calls, self.most_calls)} calls: {price}.",
            more=(f"Left out: {said}.",) if said else (),
            table=self._table(names),
        )

    def _table(self, names: Callable[[Arm], str]) -> Table[ArmForecast]:
        return Table(
            label="Calls and price by what is tried",
            columns=(
                Column(
                    title="What is tried",
                    of=lambda arm: names(arm.arm) + ", on right answers" * (arm.cohort == "right"),
                    width="34%",
                ),
                Column(title="Answers", of=lambda arm: arm.trials, number=True),
                Column(title="Done already", of=lambda arm: arm.over, number=True),
                Column(title="Calls", of=ArmForecast.calls_words, number=True),
                Column(title="Price, about", of=ArmForecast.price_words, number=True),
                Column(
                    title="Nothing to ask", of=lambda arm: sum(arm.skipped.values()), number=True
                ),
                Column(
                    title="Why",
                    of=lambda arm: "; ".join(f"{n:,}: {why}" for why, n in arm.skipped.items()),
                    spare=True,
                ),
            ),
            rows=self.arms,
        )

    def _sum(self, count: Callable[[CallForecast], int]) -> float | None:
        total = 0.0
        for part in (part for arm in self.arms for part in arm.calls if count(part)):
            if part.price is None:
                return None
            total += count(part) * part.price
        return total


def forecast_experiment(
    store: Store, spec: CorrectionSpec, endpoints: Mapping[str, Endpoint]
) -> CorrectionForecast:
    """Say what an experiment would find, ask and cost; nothing is written.

    Raises:
        UsageError: it asks for something that isn't there.
    """
    ground = prepare(store, spec, endpoints)
    found = find_subjects(store, ground)
    rules = Rules.of(ground)
    trials = trials_of(found.subjects, ground.experiment.arms)
    have = load_have(store, rules, trials)
    groups: defaultdict[tuple[Arm, Cohort], list[tuple[Trial, RemainingCalls]]] = defaultdict(list)
    for trial in trials:
        work = outlook(trial, have, rules)
        groups[trial.arm, trial.subject.cohort].append((trial, work))
    pricer = _Pricer(store=store, ground=ground, rules=rules, subjects=found.subjects)
    foreseen: set[str] = set()
    cohorts: tuple[Cohort, ...] = get_args(Cohort)
    order = [(arm, cohort) for cohort in cohorts for arm in ground.experiment.arms]
    return CorrectionForecast(
        experiment=ground.experiment,
        model=ground.candidate.name,
        answers=found.answers,
        failed=found.failed,
        right=found.right,
        left_out=found.left_out,
        failed_subjects=sum(s.cohort == "failed" for s in found.subjects),
        right_subjects=sum(s.cohort == "right" for s in found.subjects),
        arms=tuple(
            _arm(arm, cohort, groups[arm, cohort], pricer, foreseen)
            for arm, cohort in order
            if groups.get((arm, cohort))
        ),
    )


def _arm(
    arm: Arm,
    cohort: Cohort,
    group: Sequence[tuple[Trial, RemainingCalls]],
    pricer: _Pricer,
    foreseen: set[str],
) -> ArmForecast:
    now: Counter[StepKind] = Counter()
    later: Counter[StepKind] = Counter()
    hints: Counter[str] = Counter()
    skipped = Counter(work.problem for _, work in group if work.problem)
    for trial, work in group:
        now.update(work.now)
        later.update(work.later)
        for criterion_id in set(work.hints) - foreseen:
            hints[trial.subject.peers[criterion_id].peer_id] += 1
            foreseen.add(criterion_id)
    parts = [
        pricer.part(kind, pricer.endpoint(kind), arm, now[kind], now[kind] + later[kind])
        for kind in KINDS
        if now[kind] + later[kind]
    ]
    parts += [
        pricer.part("hint", pricer.ground.peers[peer_id], arm, n, n * MOST_HINTS)
        for peer_id, n in sorted(hints.items())
    ]
    return ArmForecast(
        arm=arm,
        cohort=cohort,
        trials=len(group),
        over=sum(not work.remaining and not work.problem for _, work in group),
        skipped=dict(skipped),
        calls=tuple(sorted(parts, key=lambda part: KINDS.index(part.kind))),
    )


@dataclass(frozen=True, kw_only=True)
class _Pricer:
    """Prices steps by the requests of a few answers."""

    store: Store
    ground: ExperimentParts
    rules: Rules
    subjects: Sequence[CohortAnswer]

    def endpoint(self, kind: StepKind) -> Endpoint:
        return self.ground.endpoint if kind == "retry" else self.ground.judge_endpoint

    def part(
        self, kind: StepKind, endpoint: Endpoint, arm: Arm, calls: int, most: int
    ) -> CallForecast:
        prices = [
            estimate_request(
                request,
                endpoint.prices,
                endpoint.pictures,
                typical_completion=REPLY_TOKENS[kind],
            )
            for request in self._requests(kind, arm)
        ]
        costs = [price.cost for price in prices if price.cost is not None]
        return CallForecast(
            kind=kind,
            endpoint=endpoint,
            calls=calls,
            most=most,
            tokens=_mean_tokens(prices),
            price=sum(costs) / len(costs) if costs and len(costs) == len(prices) else None,
        )

    def _requests(self, kind: StepKind, arm: Arm) -> list[Request]:
        chosen = self.subjects[:: max(1, len(self.subjects) // TRIED)][:TRIED]
        made = (self._request(kind, arm, subject) for subject in chosen)
        return [request for request in made if request is not None]

    def _request(self, kind: StepKind, arm: Arm, subject: CohortAnswer) -> Request | None:
        """Build a request as it will be; what isn't there yet is left out."""
        sample, first, rules = subject.sample, subject.first, self.rules
        pictures: tuple[PicturePart, ...] = ()
        with suppress(PictureError):
            pictures = read_material(self.store, sample).pictures
        if kind == "retry":
            wanted = asked_about(subject, subject.checkpoints, arm, rules.experiment.threshold)
            sampling = rules.answer_sampling
            criteria = [subject.criteria[c] for c in wanted]
            arm = "guided" if arm in correction.HINTED else arm
            built = correction.build(sample, pictures, first, arm, sampling, criteria=criteria)
            told = (
                built.request or correction.build(sample, pictures, first, "told", sampling).request
            )
            return told
        criteria = list(subject.criteria.values())
        if kind == "hint" and criteria:
            return hint.build(sample, pictures, criteria[0], first, rules.answer_sampling)
        if kind == "scoring" and subject.criteria_set is not None:
            return scoring.build(
                sample, pictures, subject.criteria_set, criteria, first, rules.judge_sampling
            )
        if kind in ("outcome", "rejudge") and sample.reference is not None:
            return outcome.build(sample, pictures, first, rules.judge_sampling)
        return None


def _mean_tokens(prices: Sequence[CostEstimate]) -> int:
    tokens = [price.prompt_tokens + price.completion_tokens for price in prices]
    return round(sum(tokens) / len(tokens)) if tokens else 0
