"""Multi-Crit's figures from one judge's verdicts.

A judge may have been asked in several ways (one criterion at a time or all at once, with other
settings, or elsewhere). The figures are of the way with the most verdicts, one criterion at a time
first; the others have a table of their own.

Reference: Multi-Crit 3.5, 4.2, Tables 3, 4, 18; METHODS A12, A13, B12.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from atom.analysis.intervals import Ints
from atom.judgebench.base import BenchResult, MetricRow, MetricTable, rate_rows
from atom.judgebench.multi_crit.ask import JOINT, SINGLE
from atom.judgebench.multi_crit.criteria import in_order, names_of
from atom.judgebench.multi_crit.measures import (
    UNREAD,
    Bools,
    ChanceShare,
    MultiCrit,
    VerdictFrame,
    agreement_correlation,
    criteria_mean,
    make_frame,
    multi_crit,
    scale_votes,
)
from atom.judgebench.multi_crit.order import order_of_showing
from atom.judgebench.multi_crit.ways import MISSING, CriterionRows, Way, rows_of, ways_of
from atom.judgebench.rates import Macro
from atom.records import BenchItem, Verdict

CONFLICT: Final = "conflict_matched"
"""The metric of a pair of criteria; its label is both names with `AGAINST` between."""
AGAINST: Final = " against "
_PACC: Final = "Pairs with every criterion right (PAcc)"
_CMR: Final = "Conflicts of criteria resolved (CMR)"
_TOS: Final = "Pairs on which criteria are told apart (TOS)"
_AVERAGE: Final = "Right by criterion, mean of the criteria"
_MICRO: Final = "Right, all verdicts together"
_TOS_NOTE: Final = (
    "Two different verdicts on one pair are enough for TOS, right or wrong, and a coin gives them "
    "often: read it with CMR only."
)


def measure(items: Sequence[BenchItem], verdicts: Sequence[Verdict]) -> BenchResult:
    """Work out the figures.

    Args:
        verdicts: one judge's verdicts on them.

    Returns:
        PAcc, CMR, TOS and criterion accuracy by split, each with its chance level; then tables.
        Pairs of which a criterion has no vote count for criterion accuracy only. An unreadable
        verdict is wrong (`strict`); where there are any, `readable only` leaves out what can't be
        read.
    """
    rows = rows_of(items)
    known = {item.id for item in items}
    there = [v for v in verdicts if v.state != "failed" and v.subject_id in known]
    ways = ways_of(items, rows, there) if len(rows.item) else []
    result = BenchResult(
        headline=(),
        items=len(items),
        verdicts=len(there),
        missing=len(known - {v.subject_id for v in there}),
    )
    if not ways:
        return result
    main = ways[0]
    found = [(group, _score(main, among)) for group, among in rows.groups()]
    split = [(group, one) for group, one in found if group or len(found) == 1]
    both = [one for group, one in found if not group and len(found) > 1]
    tables = [
        *(MetricTable(title="Both splits together", rows=_together(one)) for one in both),
        _above(found),
        *(_criteria(group, one) for group, one in split),
        *(_conflicts(group, one) for group, one in split if one.prompt.conflicts),
        *_more_votes(main),
        *order_of_showing(main),
        *_single_or_joint(ways),
        *_other_ways(ways),
        *_people(main),
        _contents(rows),
    ]
    note = f"Asked: {main.words}."
    if left := len({*rows.item[main.asked & ~main.whole].tolist()}):
        note += (
            f" {left} {'pair' if left == 1 else 'pairs'} with a criterion that has no answer yet "
            "count for criterion accuracy only."
        )
    headline = [row for group, one in split for row in _overall(one, group)]
    return BenchResult(
        headline=(replace(headline[0], note=note), *headline[1:]),
        tables=tuple(tables),
        items=result.items,
        verdicts=result.verdicts,
        missing=result.missing,
    )


@dataclass(frozen=True, kw_only=True)
class _Scores:
    """What a judge reaches in a part of the data.

    Args:
        prompt: over pairs all of whose criteria have a vote.
        criterion: over all rows with a vote.
    """

    prompt: MultiCrit
    criterion: MultiCrit


def _score(way: Way, among: Bools) -> _Scores:
    def over(chosen: Bools) -> MultiCrit:
        names, rows = way.rows.names(chosen), way.rows
        return multi_crit(rows.item[chosen], names, rows.label[chosen], way.verdict[chosen])

    return _Scores(prompt=over(among & way.asked & way.whole), criterion=over(among & way.asked))


# --- the figures that come first ------------------------------------------------------------------


def _overall(scores: _Scores, group: str) -> tuple[MetricRow, ...]:
    prompt, criterion = scores.prompt, scores.criterion
    pacc, tos, cmr = prompt.readable
    return (
        *_share_rows("pacc", _PACC, prompt.pacc, pacc, group),
        *_share_rows("cmr", _CMR, prompt.cmr, cmr, group),
        *_share_rows("tos", _TOS, prompt.tos, tos, group, _TOS_NOTE),
        *_average_rows(criterion, group),
        *rate_rows("criterion_accuracy_micro", _MICRO, criterion.micro, group=group),
    )


def _together(scores: _Scores) -> tuple[MetricRow, ...]:
    """Leave out the mean of the criteria, which differ from split to split."""
    rows = _overall(scores, "")
    return tuple(row for row in rows if row.metric != "criterion_accuracy_avg")


def _share_rows(
    metric: str, label: str, share: ChanceShare, readable: ChanceShare, group: str, note: str = ""
) -> tuple[MetricRow, ...]:
    def row(one: ChanceShare, rule: str) -> MetricRow:
        return MetricRow(
            metric=metric,
            label=label,
            value=100 * one.value,
            lo=100 * one.lo,
            hi=100 * one.hi,
            chance=100 * one.chance,
            n=one.n,
            invalid=share.n - readable.n,
            rule=rule,
            group=group,
            note=note,
        )

    if share.n == readable.n:
        return (row(share, ""),)
    return row(share, "strict"), row(readable, "readable only")


def _average_rows(scores: MultiCrit, group: str) -> tuple[MetricRow, ...]:
    def row(one: Macro, n: int, rule: str) -> MetricRow:
        return MetricRow(
            metric="criterion_accuracy_avg",
            label=_AVERAGE,
            value=100 * one.value,
            lo=100 * one.lo,
            hi=100 * one.hi,
            chance=50.0,
            n=n,
            invalid=scores.invalid,
            rule=rule,
            group=group,
        )

    if not scores.invalid:
        return (row(scores.macro, scores.verdicts, ""),)
    return (
        row(scores.macro, scores.verdicts, "strict"),
        row(scores.macro_readable, scores.verdicts - scores.invalid, "readable only"),
    )


# --- the tables -----------------------------------------------------------------------------------


def _above(found: Sequence[tuple[str, _Scores]]) -> MetricTable:
    rows = [
        MetricRow(
            metric=f"{metric}_adjusted",
            label=label,
            value=100 * share.adjusted,
            lo=100 * share.above(share.lo),
            hi=100 * share.above(share.hi),
            chance=0.0,
            n=share.n,
            group=group,
        )
        for group, one in found
        for metric, label, share in (
            ("pacc", "PAcc above chance", one.prompt.pacc),
            ("cmr", "CMR above chance", one.prompt.cmr),
        )
    ]
    return MetricTable(
        title="Above chance",
        rows=tuple(rows),
        note=(
            "0 is what a coin reaches on the same pairs, 100 is all right. TOS has no such row: "
            "two different verdicts are enough for it, right or wrong, and a coin gives them on "
            "most pairs."
        ),
    )


def _criteria(group: str, scores: _Scores) -> MetricTable:
    rates = dict(scores.criterion.by_criterion)
    names = names_of(rates)
    rows = [
        row
        for key in in_order(rates)
        for row in rate_rows("criterion_accuracy", names[key], rates[key], group=group)
    ]
    return MetricTable(title=_titled("Right by criterion", group), rows=tuple(rows))


def _conflicts(group: str, scores: _Scores) -> MetricTable:
    keys = {key for pair in scores.prompt.conflicts for key in (pair.first, pair.second)}
    names = names_of(keys)
    rows = [
        row
        for pair in scores.prompt.conflicts
        for row in _share_rows(
            CONFLICT,
            AGAINST.join(names[key] for key in in_order((pair.first, pair.second))),
            pair.matched,
            pair.matched,
            group,
        )
    ]
    return MetricTable(
        title=_titled("Conflicts by pair of criteria", group),
        rows=tuple(rows),
        note=(
            "Pairs of answers on which people prefer one by the first criterion and the other by "
            "the second, and how often the judge does exactly so; an unreadable verdict is wrong."
        ),
    )


def _titled(title: str, group: str) -> str:
    return f"{title}: {group}" if group else title


def _more_votes(way: Way) -> Iterator[MetricTable]:
    """Say what fewer votes would have reached, where there are several."""
    count = way.votes.shape[1]
    whole = way.rows.whole((way.votes != MISSING).all(axis=1))
    if count < 2 or not whole.any():
        return
    rows: list[MetricRow] = []
    pairs = len(np.unique(way.rows.item[whole]))
    for one in scale_votes(
        way.rows.item[whole], way.rows.names(whole), way.rows.label[whole], way.votes[whole]
    ):
        group = f"{one.votes} {'vote' if one.votes == 1 else 'votes'}"
        rows += [
            MetricRow(metric=metric, label=label, value=100 * value, n=pairs, group=group)
            for metric, label, value in (
                ("pacc_at_votes", _PACC, one.pacc),
                ("cmr_at_votes", _CMR, one.cmr),
                ("tos_at_votes", _TOS, one.tos),
                ("criterion_accuracy_avg_at_votes", _AVERAGE, one.average),
            )
            if not math.isnan(value)
        ]
    yield MetricTable(
        title="More votes",
        rows=tuple(rows),
        note=(
            "The majority of so many votes, averaged over the ways to choose them from those there "
            "are; a tie of votes is wrong, so an even number does worse."
        ),
    )


def _single_or_joint(ways: Sequence[Way]) -> Iterator[MetricTable]:
    """Compare one criterion at a time with all at once, on pairs that have both."""
    single = next((way for way in ways if way.part == SINGLE), None)
    joint = next((way for way in ways if way.part == JOINT), None)
    if single is None or joint is None:
        return
    common = single.asked & single.whole & joint.asked & joint.whole
    rows: list[MetricRow] = []
    for group, among in single.rows.groups():
        chosen = among & common
        if chosen.any():
            rows += _compared(single, joint, chosen, group)
    if rows:
        yield MetricTable(
            title="One criterion at a time, or all at once",
            rows=tuple(rows),
            note=(
                f"Pairs that were asked both ways: {single.words}; {joint.words}. The difference "
                "is all at once minus one at a time, in percentage points."
            ),
        )


def _compared(single: Way, joint: Way, chosen: Bools, group: str) -> list[MetricRow]:
    rows = single.rows
    label, names = rows.label[chosen], rows.names(chosen)
    frame = make_frame(rows.item[chosen], label)
    _, place = np.unique(np.asarray(names, dtype=str), return_inverse=True)
    criterion = np.asarray(place, dtype=np.int64)
    one, all_ = (_units(frame, way.verdict[chosen], label) for way in (single, joint))
    at = frame.conflicting
    pairs = np.arange(frame.n)
    units = {
        "pacc": (_PACC, pairs, np.ones(frame.n, dtype=bool)),
        "cmr": (_CMR, frame.item[frame.first], np.ones(len(frame.first), dtype=bool)),
        "tos": (_TOS, pairs[at], at),
        "criterion_accuracy_avg": (_AVERAGE, frame.item, np.ones(len(frame.item), dtype=bool)),
    }
    found: list[MetricRow] = []
    for metric, (words, cluster, among) in units.items():
        if not len(cluster):
            continue
        kinds = (
            criterion
            if metric == "criterion_accuracy_avg"
            else np.zeros(len(cluster), dtype=np.int64)
        )
        values = [hits[metric][among].astype(np.float64) for hits in (one, all_)]
        means = [criteria_mean(value, kinds, cluster) for value in values]
        gap = criteria_mean(values[1] - values[0], kinds, cluster)
        found += [
            MetricRow(
                metric=f"{metric}_{name}",
                label=f"{words}: {how}",
                value=100 * mean.value,
                n=len(cluster),
                group=group,
            )
            for name, how, mean in (
                ("single", "one at a time", means[0]),
                ("joint", "all at once", means[1]),
            )
        ]
        found.append(
            MetricRow(
                metric=f"{metric}_delta",
                label=f"{words}: difference",
                value=100 * gap.value,
                lo=100 * gap.lo,
                hi=100 * gap.hi,
                n=len(cluster),
                unit="difference",
                group=group,
            )
        )
    return found


def _units(frame: VerdictFrame, verdict: Ints, label: Ints) -> dict[str, Bools]:
    right = (verdict == label) & (verdict != UNREAD)
    return {
        "pacc": frame.all_of(right),
        "cmr": frame.matched(right),
        "tos": frame.told(verdict),
        "criterion_accuracy_avg": right,
    }


def _other_ways(ways: Sequence[Way]) -> Iterator[MetricTable]:
    """Show the ways of asking that the figures above aren't of."""
    rows: list[MetricRow] = []
    everything = np.ones(len(ways[0].rows.item), dtype=bool)
    for way in ways[1:]:
        scores = _score(way, everything)
        rows += _overall(scores, way.words)
    if rows:
        yield MetricTable(
            title="Asked in other ways",
            rows=tuple(rows),
            note=f"The figures above: {ways[0].words}.",
        )


def _people(way: Way) -> Iterator[MetricTable]:
    """Correlate accuracy by criterion with how far people agree, where the data say so."""
    rows = way.rows
    places: dict[tuple[str, str], list[int]] = {}
    for row in np.flatnonzero(way.asked).tolist():
        if not math.isnan(rows.agreement[row]):
            places.setdefault((rows.split[row], rows.criterion[row]), []).append(row)
    if not places:
        return
    right = way.verdict == rows.label
    judge = [float(right[found].mean()) for found in places.values()]
    people = [float(np.mean([rows.agreement[row] for row in found])) for found in places.values()]
    value = agreement_correlation(judge, people)
    lo = hi = math.nan
    if len(places) > 3 and abs(value) < 1:
        half = 1.96 / math.sqrt(len(places) - 3)
        lo, hi = math.tanh(math.atanh(value) - half), math.tanh(math.atanh(value) + half)
    yield MetricTable(
        title="The judge and people's agreement",
        rows=(
            MetricRow(
                metric="agreement_correlation",
                label="Accuracy by criterion against people's agreement on it (Pearson)",
                value=value,
                lo=lo,
                hi=hi,
                n=len(places),
                unit="correlation",
            ),
        ),
        note="One point a criterion of a split. High: the judge is good where people agree.",
    )


def _contents(rows: CriterionRows) -> MetricTable:
    """Count what the set holds, as the paper's Table 1 does."""
    found: list[MetricRow] = []
    for group, among in rows.groups():
        frame = make_frame(rows.item[among], rows.label[among])
        found += [
            MetricRow(metric=metric, label=label, value=count, n=count, unit="count", group=group)
            for metric, label, count in (
                ("n_prompts", "Pairs of answers", frame.n),
                (
                    "n_criterion_judgments",
                    "Preferences by criterion",
                    int(among.sum()),
                ),
                ("n_prompts_with_conflict", "Pairs with a conflict", int(frame.conflicting.sum())),
                ("n_conflicting_criterion_pairs", "Conflicts of criteria", len(frame.first)),
            )
        ]
    return MetricTable(title="What the set holds", rows=tuple(found))
