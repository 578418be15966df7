"""VL-RewardBench: the figures of one judge, from its verdicts.

Reference: VL-RewardBench 3.2, 3.3, 4.1-4.3, Figure 3; METHODS A13-A16, B12.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from scipy.stats import binomtest

from atom.analysis.agreement.coefficients import nominal_kappa
from atom.analysis.compare.votes import VOTE_NONE, position_bias
from atom.analysis.intervals import Floats, Ints, wilson
from atom.judgebench.base import BenchResult, MetricRow, MetricTable, rate_row
from atom.judgebench.rates import INVALID, RIGHT, majority, mean_interval, rate
from atom.judgebench.vl_rewardbench.data import answer_length
from atom.judgebench.vl_rewardbench.measures import (
    ABSENT,
    CHANCE,
    SIZES,
    CategoryAccuracy,
    accuracy,
    closed_form,
    error_types,
    pointwise_codes,
    released_accuracy,
    scaling,
)
from atom.judgebench.vl_rewardbench.votes import Grades, JudgeVotes, gather_grades, gather_votes
from atom.records import BenchItem, Verdict

STRICT: Final = "strict"
RELEASED: Final = "released"
Q: Final = 0.05


def measure(items: Sequence[BenchItem], verdicts: Sequence[Verdict]) -> BenchResult:
    """Compute a judge's figures on a set.

    Args:
        verdicts: one judge's verdicts, in any order.

    Returns:
        Headline figures and tables; pairs without a verdict are counted as missing, not as wrong.
    """
    votes, grades = gather_votes(items, verdicts), gather_grades(items, verdicts)
    answered = {item.id for item in (*votes.items, *grades.items)}
    head, tables = _pair_tables(votes) if votes.items else ((), ())
    more = _point_tables(votes, grades) if grades.items else ()
    if not head and more:
        head = more[0].rows[:2]
    return BenchResult(
        headline=head,
        tables=(*tables, *more),
        items=len(items),
        verdicts=len(verdicts),
        missing=sum(item.id not in answered for item in items),
    )


# --- one against the other ----------------------------------------------------------------------


def _pair_tables(votes: JudgeVotes) -> tuple[tuple[MetricRow, ...], tuple[MetricTable, ...]]:
    strict = accuracy(votes.codes, votes.category)
    released = released_accuracy(votes.released, votes.category)
    voted = _voted(votes.counts)
    head = (
        *_overall_rows(strict, voted, STRICT, dropped=0),
        *_overall_rows(released, voted, RELEASED, dropped=len(votes.items) - released.overall.n),
        _invalid_row(votes.codes),
    )
    tables = (
        _category_table(votes, strict, released, voted),
        _scaling_table(votes),
        _error_table(votes),
        _length_table(votes),
        _order_table(votes),
    )
    return head, tuple(table for table in tables if table.rows)


def _voted(counts: Ints) -> str:
    """Say how votes become a verdict: `majority of 5 votes`."""
    least, most = int(counts.min()), int(counts.max())
    if most == 1:
        return "one vote"
    return f"majority of {most} votes" if least == most else f"majority of {least} to {most} votes"


def _overall_rows(
    found: CategoryAccuracy, voted: str, rule: str, *, dropped: int
) -> tuple[MetricRow, MetricRow]:
    """Lay out the two headline figures; the macro's interval is put together from Wilson's."""
    overall, macro = found.overall, found.macro
    each = found.by_category
    below = math.hypot(*(one.strict - one.lo for one in each)) / len(each) if each else math.nan
    above = math.hypot(*(one.hi - one.strict for one in each)) / len(each) if each else math.nan
    one = rate_row("overall_accuracy", "Overall accuracy", overall, rule, note=voted)
    chances = [one.chance for one in each]
    return (
        replace(one, invalid=dropped or overall.invalid),
        MetricRow(
            metric="macro_average_accuracy",
            label="Macro average over categories",
            value=100 * macro.value,
            lo=100 * (macro.value - below),
            hi=100 * (macro.value + above),
            chance=100 * float(np.mean(chances)) if chances else math.nan,
            n=overall.n,
            invalid=dropped or overall.invalid,
            rule=rule,
            note=f"{voted}; unweighted mean of {', '.join(found.categories)}",
        ),
    )


def _invalid_row(codes: Ints) -> MetricRow:
    told = codes[codes != ABSENT]
    found = rate((told == INVALID).astype(np.int64))
    row = rate_row("invalid_rate", "Votes that couldn't be read", found)
    return replace(row, invalid=found.right, note="of all votes, each counted by itself")


def _category_table(
    votes: JudgeVotes, strict: CategoryAccuracy, released: CategoryAccuracy, voted: str
) -> MetricTable:
    left = dict(zip(released.categories, released.by_category, strict=True))
    rows: list[MetricRow] = []
    for name, found in zip(strict.categories, strict.by_category, strict=True):
        rows.append(rate_row("accuracy", "Accuracy", found, STRICT, group=name))
        kept = left.get(name)
        if kept is not None:
            row = rate_row("accuracy", "Accuracy", kept, RELEASED, group=name)
            rows.append(replace(row, invalid=found.n - kept.n))
    notes = [
        f"{voted[0].upper()}{voted[1:]}. strict: a pair without a majority, or without any "
        "readable vote, counts as wrong. released: as the benchmark's own code counts, a pair with "
        "any unreadable vote, or with a tie, leaves the denominator (unread says how many did)."
    ]
    if (votes.counts % 2 == 0).any():
        notes.append(
            "Some pairs have an even number of votes, which may tie; ask an odd number instead."
        )
    if votes.left_out:
        notes.append(
            f"{votes.left_out} votes were asked in another way (other prompt or sampling settings) "
            "and are left out."
        )
    if votes.failed:
        notes.append(f"{votes.failed} votes failed and can be asked again.")
    return MetricTable(title="By category", rows=tuple(rows), note=" ".join(notes))


def _scaling_table(votes: JudgeVotes) -> MetricTable:
    """Measure K = 1, 3, 5, 7, 9 on the pairs that have all their votes."""
    full = votes.counts == votes.codes.shape[1]
    codes = votes.codes[full]
    category = [name for name, keep in zip(votes.category, full, strict=True) if keep]
    rows: list[MetricRow] = []
    kinds = (("overall_accuracy", "Overall", None), ("macro_average_accuracy", "Macro", category))
    for metric, name, groups in kinds:
        measured = {point.votes: point for point in scaling(codes, SIZES, groups)}
        for size in SIZES:
            point = measured.get(size)
            if point is not None:
                row = _scaling_row(f"{metric}_k{size}", f"{name}, {_k(size)}", point.measured)
                rows.append(
                    replace(row, lo=100 * point.lo, hi=100 * point.hi, n=len(codes), group="")
                )
            closed = _closed(codes, category if groups else None, size)
            if size == 1 or math.isnan(closed):
                continue
            row = _scaling_row(
                f"{metric}_k{size}_closed_form", f"{name}, {_k(size)}, closed form", closed
            )
            beyond = "" if point is not None else "beyond the votes that there are"
            rows.append(replace(row, n=len(codes), group="if independent", note=beyond))
    return MetricTable(
        title="What more votes bring",
        rows=tuple(rows),
        note=(
            "Measured over all ways to take K of the votes that there are. The closed form tells "
            "what K independent votes would give if pairs differ in how hard they are (a Beta "
            "distribution that fits the votes), beyond the votes that there are, too. On pairs "
            "that a judge gets wrong more often than right, more votes make it worse."
        ),
    )


def _k(size: int) -> str:
    return "1 vote" if size == 1 else f"{size} votes"


def _scaling_row(metric: str, label: str, value: float) -> MetricRow:
    return MetricRow(metric=metric, label=label, value=100 * value, chance=100 * CHANCE)


def _closed(codes: Ints, category: Sequence[str] | None, size: int) -> float:
    if not codes.size:
        return math.nan
    if category is None:
        return closed_form(codes, size)
    label = np.asarray(category, dtype=object)
    return float(
        np.mean([closed_form(codes[label == name], size) for name in sorted(set(category))])
    )


def _error_table(votes: JudgeVotes) -> MetricTable:
    """Lay out error rates by what people found wrong; all of reasoning is a type of its own."""
    tags = [
        (*item.data["tags"], *(("reasoning",) if item.data["category"] == "reasoning" else ()))
        for item in votes.items
    ]
    found = error_types(majority(votes.codes), tags)
    if not any(item.data["tags"] for item in votes.items):
        return MetricTable(title="By kind of error", rows=())
    rows = []
    for one in found:
        said = f"against its mean: p = {one.p:.3f}, adjusted {one.adjusted:.3f}"
        row = rate_row("error_rate", "Error rate", one.rate, STRICT, group=one.name, note=said)
        invalid = _unread(votes, [one.name in each for each in tags])
        rows.append(replace(row, chance=100 * (1 - CHANCE), invalid=invalid))
    apart = [one.name for one in found if one.adjusted <= Q]
    claim = f"differ from the judge's mean error: {', '.join(apart)}" if apart else "none differs"
    return MetricTable(
        title="By kind of error",
        rows=tuple(rows),
        note=(
            "Share of pairs judged wrongly among those whose worse answer has the error; a pair "
            "may have several. After Benjamini-Hochberg at 5 %, "
            f"{claim}. In the published data the tagged pairs were chosen because small models "
            "fail on them and those of reasoning weren't, so the two don't compare."
        ),
    )


def _unread(votes: JudgeVotes, mask: Sequence[bool]) -> int:
    """Count the pairs of a kind that have no readable vote."""
    return int(((majority(votes.codes) == INVALID) & np.asarray(mask, dtype=bool)).sum())


def _length_table(votes: JudgeVotes) -> MetricTable:
    """Check data and judge for a leaning towards long answers."""
    better, worse = _lengths(votes.items)
    codes = majority(votes.codes)
    mean, lo, hi = mean_interval((better - worse).astype(np.float64))
    longer, shorter = better > worse, better < worse
    unequal = longer | shorter
    n_longer, n_unequal = int(longer.sum()), int(unequal.sum())
    sign_p = binomtest(n_longer, n_unequal).pvalue if n_unequal else math.nan
    label = rate(longer[unequal].astype(np.int64), CHANCE)
    wrong = (codes != RIGHT).astype(np.int64)
    below, above = rate(wrong[shorter], CHANCE), rate(wrong[longer], CHANCE)
    gap = below.strict - above.strict
    rows = (
        MetricRow(
            metric="length_difference",
            label="Better less worse answer, mean length",
            value=mean,
            lo=lo,
            hi=hi,
            chance=0.0,
            n=len(codes),
            unit="words",
        ),
        rate_row(
            "better_is_longer", "Better answer is the longer one", label,
            note=f"sign test p = {sign_p:.3f}",
        ),
        rate_row(
            "error_rate_better_shorter", "Errors where the better one is shorter", below, STRICT
        ),
        rate_row(
            "error_rate_better_longer", "Errors where the better one is longer", above, STRICT
        ),
        MetricRow(
            metric="length_pull",
            label="Difference of these two error rates",
            value=100 * gap,
            lo=100 * (gap - math.hypot(below.strict - below.lo, above.hi - above.strict)),
            hi=100 * (gap + math.hypot(below.hi - below.strict, above.strict - above.lo)),
            chance=0.0,
            n=below.n + above.n,
            rule=STRICT,
            unit="points",
        ),
    )  # fmt: skip
    return MetricTable(
        title="Length",
        rows=rows,
        note=(
            "The first two rows are about the data alone. A judge that leans towards long answers "
            "errs more where the better answer is the shorter one."
        ),
    )


def _lengths(items: Sequence[BenchItem]) -> tuple[Ints, Ints]:
    """Return the lengths of each pair's better and worse answer, in words."""
    both = np.array(
        [
            [answer_length(text) for text in item.data["responses"]][
                :: 1 if item.data["better"] == "a" else -1
            ]
            for item in items
        ],
        dtype=np.int64,
    ).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def _share_interval(values: Floats) -> tuple[float, float, float]:
    """Return mean and 95 % interval; where all values are the same, as wide as Wilson's of none."""
    mean, lo, hi = mean_interval(values)
    if len(values) and np.ptp(values) == 0:
        half = wilson(0, len(values))[1]
        lo, hi = mean - half, mean + half
    return mean, lo, hi


def _order_table(votes: JudgeVotes) -> MetricTable:
    """Compare each pair's first vote in one order with its first in the other."""
    there = votes.codes != ABSENT
    forward, backward = there & ~votes.swapped, there & votes.swapped
    kept = np.flatnonzero(forward.any(axis=1) & backward.any(axis=1))
    if not len(kept):
        return MetricTable(title="Order of showing", rows=())
    places = np.stack([forward[kept].argmax(axis=1), backward[kept].argmax(axis=1)], axis=1)
    side = np.take_along_axis(votes.side[kept], places, axis=1)
    codes = np.take_along_axis(votes.codes[kept], places, axis=1)
    readable = (side != VOTE_NONE).all(axis=1)
    same = np.where(readable, (side[:, 0] == side[:, 1]).astype(np.int64), INVALID)
    right = np.where(readable, (codes == RIGHT).all(axis=1).astype(np.int64), INVALID)
    n = len(kept)
    bias = position_bias(
        side.ravel(), np.tile(np.array([0, 1], np.int8), n), np.repeat(np.arange(n), 2), n
    )
    first = (side == np.array([0, 1]))[readable].mean(axis=1)
    mean, lo, hi = _share_interval(np.asarray(first, dtype=np.float64))
    rows = (
        rate_row("swap_consistency", "Same answer in both orders", rate(same, 0.5), STRICT),
        rate_row("swap_consistent_accuracy", "Right in both orders", rate(right, 0.25), STRICT),
        MetricRow(
            metric="first_share",
            label="Votes for the answer shown first",
            value=100 * mean,
            lo=100 * lo,
            hi=100 * hi,
            chance=50.0,
            n=len(first),
            invalid=n - len(first),
            rule="readable only",
        ),
        MetricRow(
            metric="position_bias",
            label="Pull of the first place (beta)",
            value=bias.beta,
            lo=bias.lo,
            hi=bias.hi,
            chance=0.0,
            n=bias.pairs,
            invalid=n - bias.pairs,
            rule="readable only",
            unit="difference",
            note=f"first place twice {bias.first_twice}, second place twice {bias.second_twice}",
        ),
    )
    return MetricTable(
        title="Order of showing",
        rows=rows,
        note=(
            "Each pair's first vote in either order. Beta is half the log odds of choosing the "
            "first place twice against the second place twice: 0 = no pull, positive = towards "
            "the first."
        ),
    )


# --- each answer by itself ----------------------------------------------------------------------


def _point_tables(votes: JudgeVotes, grades: Grades) -> tuple[MetricTable, ...]:
    better, worse = grades.scores[:, 0], grades.scores[:, 1]
    codes = pointwise_codes(better, worse)
    chance = _shuffled_chance(grades.scores)
    names = [str(item.data["category"]) for item in grades.items]
    how = "one grade an answer" if grades.repeats <= 1 else f"mean of up to {grades.repeats} grades"
    tied = (codes != INVALID) & (better == worse)
    decided = rate(codes[(codes != INVALID) & ~tied], CHANCE)
    rows = [
        rate_row("accuracy_pointwise", f"Pointwise accuracy, {how}", rate(codes, chance), STRICT),
        replace(
            rate_row("accuracy_pointwise", "Pointwise accuracy", decided, "ties left out"),
            invalid=len(codes) - decided.n,
        ),
        *(
            rate_row(
                "accuracy_pointwise", "Pointwise accuracy",
                rate(codes[np.array([name == one for one in names])], chance), STRICT, group=name,
            )
            for name in sorted(set(names))
        ),
        rate_row("pointwise_ties", "Both answers graded alike",
                  rate(np.where(codes == INVALID, INVALID, tied.astype(np.int64)))),
        *_against_pairwise(votes, grades, codes),
    ]  # fmt: skip
    return (
        MetricTable(
            title="Pointwise against pairwise",
            rows=tuple(rows),
            note=(
                "Each answer is graded by itself from 1 to 10; the better one must get the higher "
                "grade. Strict counts equal grades as wrong, and its chance level is what the "
                "judge's own grades give when they are dealt out at random, ties included."
            ),
        ),
    )


def _shuffled_chance(scores: Floats) -> float:
    """Return `(1 - P(two grades are equal)) / 2`, grades drawn from all that the judge gave."""
    known = scores[np.isfinite(scores)]
    if not len(known):
        return math.nan
    _, counts = np.unique(np.round(known, 9), return_counts=True)
    share = counts / counts.sum()
    return float(1 - (share**2).sum()) / 2


def _against_pairwise(votes: JudgeVotes, grades: Grades, codes: Ints) -> list[MetricRow]:
    """Compare both ways of judging on the pairs that have both."""
    pairwise = dict(zip((item.id for item in votes.items), majority(votes.codes), strict=True))
    both = [row for row, item in enumerate(grades.items) if item.id in pairwise]
    if not both:
        return []
    alone = codes[both]
    compared = np.array([pairwise[grades.items[row].id] for row in both], dtype=np.int64)
    gap = (alone == RIGHT).astype(np.float64) - (compared == RIGHT)
    mean, lo, hi = _share_interval(gap)
    read = (alone != INVALID) & (compared != INVALID)
    same = np.where(read, (alone == compared).astype(np.int64), INVALID)
    p, q = ((side[read] == RIGHT).mean() if read.any() else math.nan for side in (alone, compared))
    table = np.zeros((2, 2), dtype=np.int64)
    np.add.at(table, (alone[read], compared[read]), 1)
    return [
        rate_row("accuracy_pairwise", "Pairwise accuracy, same pairs", rate(compared, CHANCE),
                  STRICT),
        MetricRow(
            metric="pointwise_minus_pairwise",
            label="Pointwise less pairwise",
            value=100 * mean,
            lo=100 * lo,
            hi=100 * hi,
            chance=0.0,
            n=len(gap),
            invalid=int((~read).sum()),
            rule=STRICT,
            unit="points",
        ),
        rate_row("pointwise_agreement", "Both right or both wrong",
                  rate(same, float(p * q + (1 - p) * (1 - q))), STRICT),
        MetricRow(
            metric="pointwise_kappa",
            label="Agreement beyond chance (kappa)",
            value=nominal_kappa(table),
            chance=0.0,
            n=int(read.sum()),
            invalid=int((~read).sum()),
            rule="readable only",
            unit="correlation",
        ),
    ]  # fmt: skip
