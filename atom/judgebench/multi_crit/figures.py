"""Multi-Crit's figures from one judge's verdicts.

A judge may have been asked in several ways (one criterion at a time or all at once, with other
settings, or elsewhere). The figures are of the way with the most verdicts, one criterion at a time
first; the others have a table of their own.

Reference: Multi-Crit 3.5, 4.2, Tables 3, 4, 18; METHODS A12, A13, B12.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from atom.analysis.compare.votes import position_bias
from atom.analysis.intervals import Ints, make_cells, node_stats
from atom.judgebench.base import BenchResult, MetricRow, MetricTable, rate_rows
from atom.judgebench.multi_crit.ask import JOINT, SINGLE
from atom.judgebench.multi_crit.criteria import in_order, names_of
from atom.judgebench.multi_crit.files import SPLITS, pair_of
from atom.judgebench.multi_crit.measures import (
    FIRST,
    SECOND,
    UNREAD,
    Bools,
    Frame,
    MultiCrit,
    Share,
    agreement_correlation,
    criteria_mean,
    make_frame,
    multi_crit,
    scale_votes,
    vote_verdicts,
)
from atom.judgebench.rates import Macro
from atom.judgebench.reading import IMPORTED
from atom.records import BenchItem, Sampling, Verdict

MISSING: Final = -2
"""A vote that isn't there: never asked for, or the call failed."""
_LABELS: Final[Mapping[str, int]] = {"a": FIRST, "b": SECOND}
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


@dataclass(frozen=True, kw_only=True)
class _Rows:
    """The set's rows: one a criterion of a pair.

    Args:
        item: index of the pair.
        criterion: its key.
        label: people's preference.
        split: split of the pair.
        agreement: how far people agree on the row; NaN where unknown.
    """

    item: Ints
    criterion: tuple[str, ...]
    label: Ints
    split: tuple[str, ...]
    agreement: tuple[float, ...]

    @property
    def splits(self) -> list[str]:
        """Splits, the published ones first."""
        known = set(self.split)
        return [*(s for s in SPLITS if s in known), *sorted(known - set(SPLITS))]

    def groups(self) -> list[tuple[str, Bools]]:
        """Return each split's name with its rows, and all together where there are several."""
        parts = [
            (SPLITS.get(split, split), np.array([one == split for one in self.split]))
            for split in self.splits
        ]
        if len(parts) > 1:
            parts.append(("", np.ones(len(self.item), dtype=bool)))
        return parts

    def whole(self, there: Bools) -> Bools:
        """Whether something is there for every criterion of a row's pair."""
        lacking = np.bincount(self.item[~there], minlength=1 + self.item.max())
        return np.equal(lacking[self.item], 0)

    def names(self, among: Bools) -> list[str]:
        """Return the criteria of some rows."""
        return [name for name, one in zip(self.criterion, among, strict=True) if one]


def _rows_of(items: Sequence[BenchItem]) -> _Rows:
    entries = [
        (place, pair.split, entry)
        for place, pair in enumerate(map(pair_of, items))
        for entry in pair.criteria
    ]
    return _Rows(
        item=np.array([place for place, _, _ in entries], dtype=np.int64),
        criterion=tuple(entry.key for _, _, entry in entries),
        label=np.array([_LABELS[entry.label] for _, _, entry in entries], dtype=np.int64),
        split=tuple(split for _, split, _ in entries),
        agreement=tuple(
            math.nan if entry.agreement is None else entry.agreement for _, _, entry in entries
        ),
    )


@dataclass(frozen=True, kw_only=True)
class _Way:
    """One way in which a judge was asked, with all that it said.

    Args:
        part: `single` or `joint`.
        prompt: template and version, or `imported`.
        votes: by row and vote: 0, 1, -1 unreadable, -2 missing.
        shown: by row and vote: which answer came first; 0 or 1, -2 missing.
        rows: the set's rows.
    """

    part: str
    prompt: str
    sampling: Sampling
    votes: Ints
    shown: Ints
    rows: _Rows

    @property
    def asked(self) -> Bools:
        """Whether a row has a vote."""
        return np.asarray((self.votes != MISSING).any(axis=1))

    @property
    def whole(self) -> Bools:
        """Whether every criterion of a row's pair has a vote."""
        return self.rows.whole(self.asked)

    @property
    def verdict(self) -> Ints:
        """The majority of each row's votes."""
        return vote_verdicts(self.votes)

    @property
    def words(self) -> str:
        """The way in words."""
        how = "one criterion at a time" if self.part == SINGLE else "all criteria at once"
        count = self.votes.shape[1]
        words = [how] if count == 1 else [how, f"majority of {count} votes"]
        if self.prompt == IMPORTED:
            words.append("asked elsewhere")
        elif self.sampling.temperature is not None:
            words.append(f"temperature {self.sampling.temperature:g}")
        return ", ".join(words)


def _ways(items: Sequence[BenchItem], rows: _Rows, verdicts: Sequence[Verdict]) -> list[_Way]:
    """Sort verdicts by how they were asked for; the way that the figures are of comes first."""
    places: dict[str, dict[str, int]] = {}
    for row, (item, key) in enumerate(zip(rows.item.tolist(), rows.criterion, strict=True)):
        places.setdefault(items[item].id, {})[key] = row
    kinds: dict[tuple[str, str, str], list[Verdict]] = {}
    for verdict in verdicts:
        part = verdict.part.partition("/")[0]
        if verdict.state != "failed" and part in (SINGLE, JOINT):
            kinds.setdefault((part, verdict.prompt, verdict.sampling.key), []).append(verdict)
    ways = []
    for (part, prompt, _), found in kinds.items():
        column = {key: at for at, key in enumerate(sorted({(v.repeat, v.order) for v in found}))}
        votes = np.full((len(rows.item), len(column)), MISSING, dtype=np.int64)
        shown = votes.copy()
        for verdict in found:
            at = column[verdict.repeat, verdict.order]
            mine = places.get(verdict.subject_id, {})
            for key, code in _said(verdict, mine).items():
                votes[mine[key], at] = code
                shown[mine[key], at] = {"ab": 0, "ba": 1}.get(verdict.order, MISSING)
        kept = [at for at in range(len(column)) if (votes[:, at] != MISSING).any()]
        if kept:
            ways.append(
                _Way(
                    part=part,
                    prompt=prompt,
                    sampling=found[0].sampling,
                    votes=_packed(votes[:, kept]),
                    shown=_packed(shown[:, kept], votes[:, kept]),
                    rows=rows,
                )
            )
    return sorted(
        ways, key=lambda way: (way.part != SINGLE, -int(way.asked.sum()), -way.votes.shape[1])
    )


def _packed(values: Ints, votes: Ints | None = None) -> Ints:
    """Move each row's votes to the left and drop columns that are left empty.

    Orders alternate from item to item, so that the k-th vote of one item stands in another column
    than that of the next.
    """
    there = (values if votes is None else votes) != MISSING
    order = np.argsort(~there, axis=1, kind="stable")
    width = int(there.sum(axis=1).max())
    return np.take_along_axis(np.where(there, values, MISSING), order, axis=1)[:, :width]


def _said(verdict: Verdict, keys: Iterable[str]) -> dict[str, int]:
    """Return what a verdict says by criterion; what can't be read is -1.

    Args:
        verdict: on one criterion (`single/<key>`, `joint/<key>`), or on all of its pair (`joint`).
        keys: the pair's criteria.
    """
    _, _, key = verdict.part.partition("/")
    if key:
        said = _LABELS.get(verdict.label, UNREAD) if verdict.state == "scored" else UNREAD
        return {key: said} if key in keys else {}
    labels = verdict.data.get("labels", {}) if verdict.state == "scored" else {}
    return {one: _LABELS.get(labels.get(one, ""), UNREAD) for one in keys}


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
    rows = _rows_of(items)
    known = {item.id for item in items}
    there = [v for v in verdicts if v.state != "failed" and v.subject_id in known]
    ways = _ways(items, rows, there) if len(rows.item) else []
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
        *_order(main),
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


def _score(way: _Way, among: Bools) -> _Scores:
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
    metric: str, label: str, share: Share, readable: Share, group: str, note: str = ""
) -> tuple[MetricRow, ...]:
    def row(one: Share, rule: str) -> MetricRow:
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


def _more_votes(way: _Way) -> Iterator[MetricTable]:
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


def _order(way: _Way) -> Iterator[MetricTable]:
    """Say how far the place in which an answer is shown decides."""
    read = (way.votes >= 0) & (way.shown >= 0)
    if not read.any():
        return
    item = np.broadcast_to(way.rows.item[:, None], way.votes.shape)
    rows = [
        _shared(
            "first_shown",
            "Verdicts for the answer shown first",
            (way.votes == way.shown)[read],
            item[read],
            50.0,
        )
    ]
    seats = np.full((len(way.rows.item), 2), MISSING, dtype=np.int64)
    for votes, shown in zip(way.votes.T, way.shown.T, strict=True):
        for order in (0, 1):
            fresh = (shown == order) & (votes != MISSING) & (seats[:, order] == MISSING)
            seats[fresh, order] = votes[fresh]
    asked = (seats != MISSING).all(axis=1)
    if asked.any():
        both = (seats >= 0).all(axis=1)
        same = seats[:, 0] == seats[:, 1]
        right = same & (seats[:, 0] == way.rows.label)
        rows += [
            _shared("swap_consistency", "Same answer in both orders", same[both],
                    way.rows.item[both], 50.0, invalid=int((asked & ~both).sum())),
            _shared("swap_accuracy", "Right in both orders", right[asked],
                    way.rows.item[asked], 25.0, invalid=int((asked & ~both).sum())),
        ]  # fmt: skip
        row, first = np.nonzero(seats >= 0)
        bias = position_bias(
            seats[row, first].astype(np.int8),
            first.astype(np.int8),
            row.astype(np.int64),
            len(seats),
        )
        rows.append(
            MetricRow(
                metric="position_bias",
                label="Pull of the first place (log-odds)",
                value=bias.beta,
                lo=bias.lo,
                hi=bias.hi,
                chance=0.0,
                n=bias.pairs,
                unit="difference",
                note="Above 0: towards the answer shown first; below 0: towards the second.",
            )
        )
    yield MetricTable(
        title="Order of showing",
        rows=tuple(rows),
        note="All criteria of a pair are shown in the same order; half of the pairs are swapped.",
    )


def _shared(
    metric: str, label: str, hits: Bools, item: Ints, chance: float, invalid: int = 0
) -> MetricRow:
    """Lay out a share of rows, pairs of answers being the clusters."""
    value, lo, hi = math.nan, math.nan, math.nan
    if len(hits):
        nodes = np.zeros(len(hits), dtype=np.int64)
        stats = node_stats(make_cells(hits.astype(np.float64), nodes, item, 1), 1)
        value, lo, hi = float(stats.mean[0]), float(stats.lo[0]), float(stats.hi[0])
    return MetricRow(
        metric=metric,
        label=label,
        value=100 * value,
        lo=100 * lo,
        hi=100 * hi,
        chance=chance,
        n=len(hits),
        invalid=invalid,
    )


def _single_or_joint(ways: Sequence[_Way]) -> Iterator[MetricTable]:
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


def _compared(single: _Way, joint: _Way, chosen: Bools, group: str) -> list[MetricRow]:
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


def _units(frame: Frame, verdict: Ints, label: Ints) -> dict[str, Bools]:
    right = (verdict == label) & (verdict != UNREAD)
    return {
        "pacc": frame.all_of(right),
        "cmr": frame.matched(right),
        "tos": frame.told(verdict),
        "criterion_accuracy_avg": right,
    }


def _other_ways(ways: Sequence[_Way]) -> Iterator[MetricTable]:
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


def _people(way: _Way) -> Iterator[MetricTable]:
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


def _contents(rows: _Rows) -> MetricTable:
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
