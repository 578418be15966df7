"""What an induction will probably ask and cost, before anything is sent."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from atom.display.facts import Facts
from atom.display.numbers import count, money
from atom.display.table import Column, Table
from atom.engine.clock import stamp, utc_now
from atom.engine.endpoints.price import cost_words
from atom.engine.induction.ground import InductionParts, InductionSpec, prepare
from atom.engine.induction.growing import LEAVES, PAIRS
from atom.engine.induction.mapper import SHORTLIST, SHORTLIST_FROM
from atom.engine.items import read_material
from atom.errors import PictureError
from atom.judge import Request
from atom.judge.usage import CostEstimate, estimate_request
from atom.records import Endpoint, total_cost
from atom.stages import mapping
from atom.stages.growing import propose, same, vague
from atom.stages.growing.induction import batches
from atom.store import Store
from taxonomy import Tree, load_anchors
from taxonomy.grow import only_leaves

CRITERIA_A_LEAF = 12
"""A judge proposes about one new leaf for so many criteria, as long as the tree is young."""
MOST_LEAVES = 400
"""Proposals reuse what is there, so the number of leaves levels off."""
PAIRS_A_LEAF = 6
"""Pairs of nodes that are compared for each leaf, over all rounds, second askings included."""
PLACE_TOKENS = 30
OPINION_TOKENS = 40
TRIED = 6
"""Requests of a phase that are built to see how long they are."""


@dataclass(frozen=True, kw_only=True)
class PhaseForecast:
    """One phase of an induction.

    Args:
        phase: `proposing`, `uniting`, `weeding` or `mapping`.
        calls: requests, about.
        tokens: tokens in and out, about.
        cost: USD, about; None where the endpoint has no prices.
    """

    phase: str
    calls: int
    tokens: int
    cost: float | None


@dataclass(frozen=True, kw_only=True)
class InductionForecast:
    """What an induction would do.

    Args:
        judge: the judge's endpoint.
        samples: samples that proposals are made from.
        criteria: criteria of those samples.
        mapped: criteria that are mapped in the end.
        phases: the work by phase.
    """

    judge: Endpoint
    samples: int
    criteria: int
    mapped: int
    phases: tuple[PhaseForecast, ...]

    @property
    def calls(self) -> int:
        """Requests in all; stored replies that are used again make it fewer."""
        return sum(phase.calls for phase in self.phases)

    @property
    def cost(self) -> float | None:
        """USD in all; None where the endpoint has no prices."""
        return total_cost(phase.cost for phase in self.phases)

    @property
    def facts(self) -> Facts:
        """Say what an induction would ask and cost."""
        price = cost_words(sum(one.tokens for one in self.phases), self.cost, [self.judge])
        return Facts(
            head=f"About {count(self.calls, 'call')} to {self.judge.name}, {price}.",
            more=(
                f"{count(self.criteria, 'criterion', 'criteria')} of "
                f"{count(self.samples, 'sample')} get a place, then {self.mapped:,} are mapped.",
            ),
            table=Table(
                label="By phase",
                columns=(
                    Column(title="Phase", of=lambda one: one.phase),
                    Column(title="Calls", of=lambda one: one.calls, number=True),
                    Column(title="Tokens, about", of=lambda one: one.tokens, number=True),
                    Column(title="Price, about", of=lambda one: money(one.cost), number=True),
                ),
                rows=self.phases,
            ),
        )


def forecast_induction(
    store: Store, spec: InductionSpec, endpoints: Mapping[str, Endpoint]
) -> InductionForecast:
    """Say what an induction would ask and cost.

    Raises:
        UsageError: it asks for something that isn't there.
    """
    ground = prepare(store, spec, endpoints, stamp(utc_now()))
    groups = batches(ground.subset, spec.grow.batch)
    criteria = sum(len(cut.criteria) for cut in ground.subset)
    leaves = min(MOST_LEAVES, math.ceil(criteria / CRITERIA_A_LEAF))
    phases = (
        _phase(ground, "proposing", len(groups) + math.ceil(len(groups) / 20), _proposals(ground)),
        _phase(
            ground, "uniting", math.ceil(leaves * PAIRS_A_LEAF / PAIRS) + 2, _comparisons(ground)
        ),
        _phase(ground, "weeding", math.ceil(leaves / LEAVES), _weedings(ground)),
        _phase(ground, "mapping", len(ground.cuts), _mappings(store, ground, leaves)),
    )
    return InductionForecast(
        judge=ground.judge,
        samples=len(ground.subset),
        criteria=criteria,
        mapped=sum(len(cut.criteria) for cut in ground.cuts),
        phases=phases,
    )


def _phase(
    ground: InductionParts, phase: str, calls: int, tried: Sequence[tuple[Request, int]]
) -> PhaseForecast:
    prices = [_price(ground.judge, request, reply) for request, reply in tried]
    if not prices:
        return PhaseForecast(phase=phase, calls=calls, tokens=0, cost=None)
    tokens = [price.prompt_tokens + price.completion_tokens for price in prices]
    costs = [price.cost for price in prices if price.cost is not None]
    return PhaseForecast(
        phase=phase,
        calls=calls,
        tokens=round(calls * sum(tokens) / len(tokens)),
        cost=calls * sum(costs) / len(costs) if len(costs) == len(prices) else None,
    )


def _price(judge: Endpoint, request: Request, reply: int) -> CostEstimate:
    return estimate_request(request, judge.prices, judge.pictures, typical_completion=reply)


def _usual_tree() -> Tree:
    """A tree of usual size stands in for the one that isn't there yet."""
    return load_anchors()


def _proposals(ground: InductionParts) -> list[tuple[Request, int]]:
    sampling = ground.members.judge_sampling
    return [
        (
            propose.build(group, _usual_tree(), sampling),
            PLACE_TOKENS * sum(len(cut.criteria) for cut in group),
        )
        for group in batches(ground.subset)[:TRIED]
    ]


def _comparisons(ground: InductionParts) -> list[tuple[Request, int]]:
    leaves = _usual_tree().leaves
    questions = [c.question for cut in ground.subset[: same.EXAMPLES] for c in cut.criteria]
    shown = [
        same.NodeSketch(path=leaf, examples=tuple(questions[: same.EXAMPLES])) for leaf in leaves
    ]
    near = itertools.pairwise(shown[: PAIRS + 1])
    pairs = [same.NodePair(first=one, second=other) for one, other in near]
    request = same.build(pairs, ground.members.judge_sampling)
    return [(request, OPINION_TOKENS * len(pairs))]


def _weedings(ground: InductionParts) -> list[tuple[Request, int]]:
    questions = tuple(c.question for cut in ground.subset[: same.EXAMPLES] for c in cut.criteria)
    leaves = [
        same.NodeSketch(path=leaf, examples=questions) for leaf in _usual_tree().leaves[:LEAVES]
    ]
    request = vague.build(leaves, ground.members.judge_sampling)
    return [(request, OPINION_TOKENS * len(leaves))]


def _mappings(store: Store, ground: InductionParts, leaves: int) -> list[tuple[Request, int]]:
    out = []
    tree = _usual_tree()
    if leaves > SHORTLIST_FROM:
        tree = only_leaves(tree, tree.leaves[: 2 * SHORTLIST])
    for cut in ground.cuts[:: max(1, len(ground.cuts) // TRIED)][:TRIED]:
        try:
            pictures = read_material(store, cut.sample).pictures
        except PictureError:
            pictures = ()
        request = mapping.build(
            cut.sample, pictures, cut.criteria, tree, ground.members.judge_sampling
        )
        out.append((request, PLACE_TOKENS * len(cut.criteria)))
    return out
