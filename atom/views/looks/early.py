"""What may be said at an early look: names and ranks that hold although one looked before.

Reference: METHODS T7; design/052.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from atom.analysis.capability.diagnosis import INSUFFICIENT, NOT_SAID, Diagnosis
from atom.analysis.compare.ranking import RankSets, rank_sets_of
from atom.analysis.intervals import Floats
from atom.analysis.looks.spending import early_quantile
from atom.analysis.looks.standing import EarlyStanding, LookMarks, earlier_shares, stand
from atom.records import Study
from atom.store import Store
from atom.store.reading.eligible import EligibleAnswers, read_looks, read_pool
from taxonomy import Path

_USUAL = 1.959963984540054
"""The quantile of a 95 % interval that is looked at once: the normal distribution's at .975."""


@dataclass(frozen=True, kw_only=True)
class Early:
    """A study between two looks.

    Attributes:
        number: looks that were taken.
        answers: answers that are marked.
        planned: answers that could be.
        standing: what holds at every look.
        pool: what it is about.
    """

    number: int
    answers: int
    planned: int
    standing: EarlyStanding
    pool: EligibleAnswers

    def rank_sets(self) -> RankSets:
        """Bound every model's rank, in the pool's order, over all looks together."""
        p = 2 * np.minimum(self.standing.ahead, self.standing.ahead.T)
        gap = self.standing.overall[:, None] - self.standing.overall[None, :]
        return rank_sets_of(np.where(np.isfinite(p), np.minimum(p, 1), 1.0), gap)


def early_look(store: Store, study: Study, judge_id: str | None) -> Early | None:
    """Return where a study stands that is judged in looks; None at the end, and without looks."""
    looks = read_looks(store, study.id)
    if not looks or judge_id is None:
        return None
    pool = read_pool(store, study, judge_id)
    planned, answers = int(pool.there.sum()), int(pool.judged.sum())
    if not answers or answers >= planned:
        return None
    marks = LookMarks.of(pool)
    shares = earlier_shares(marks, pool.judged, [pool.of(look.asked.items()) for look in looks])
    return Early(
        number=len(looks),
        answers=answers,
        planned=planned,
        standing=stand(marks, shares),
        pool=pool,
    )


def held_early(seen: Diagnosis, early: Early, paths: tuple[Path, ...], *, whole: bool) -> Diagnosis:
    """Put what holds at every look in a diagnosis's place.

    Whole capabilities at the tree's ends get the look's own labels, departures and intervals. Inner
    nodes, labels and parts of a study are claimed nothing of before the end, and their intervals
    are widened as looks need it.

    Args:
        seen: the diagnosis as if this were the only look; models as in the pool.
        early: where the study stands.
        paths: the nodes, in the diagnosis's order; empty for a label.
        whole: whether it is of the whole study, by its criteria.
    """
    share = np.clip(early.standing.share.mean(axis=1), 0, 1)
    wider = (early_quantile([share]) / _USUAL)[:, None]

    def wide(centre: Floats, end: Floats) -> Floats:
        return centre + (end - centre) * np.maximum(wider, 1)

    label = np.where(seen.label == NOT_SAID, NOT_SAID, INSUFFICIENT).astype(np.int8)
    found = {
        "lo": np.maximum(wide(seen.mean, seen.lo), 0),
        "hi": np.minimum(wide(seen.mean, seen.hi), 1),
        "effect": seen.effect.copy(),
        "effect_lo": wide(seen.effect, seen.effect_lo),
        "effect_hi": wide(seen.effect, seen.effect_hi),
        "pooled": seen.pooled.copy(),
        "mean": seen.mean.copy(),
    }
    if whole:
        at = {leaf: node for node, leaf in enumerate(early.pool.leaves)}
        pairs = [(here, at[path]) for here, path in enumerate(paths) if path in at]
        here, there = [one for one, _ in pairs], [other for _, other in pairs]
        said = seen.label[:, here] == NOT_SAID
        label[:, here] = np.where(said, NOT_SAID, early.standing.label[:, there])
        for name, values in found.items():
            values[:, here] = getattr(early.standing, name)[:, there]
    return replace(
        seen,
        label=label,
        more_samples=np.full(seen.more_samples.shape, np.nan),
        mean=found["mean"],
        lo=found["lo"],
        hi=found["hi"],
        effect=found["effect"],
        effect_lo=found["effect_lo"],
        effect_hi=found["effect_hi"],
        pooled=found["pooled"],
    )


@dataclass(frozen=True, kw_only=True)
class HeldRanks:
    """Scores and ranks that hold at every look, by model in the study's order; scores 0-100."""

    mean: Floats
    lo: Floats
    hi: Floats
    sets: RankSets


def held_ranks(early: Early) -> HeldRanks:
    """Return the ranking of an early look: every capability at its planned share."""
    standing = early.standing
    return HeldRanks(
        mean=100 * standing.overall,
        lo=100 * standing.overall_lo,
        hi=100 * standing.overall_hi,
        sets=early.rank_sets(),
    )
