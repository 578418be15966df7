"""CriticBench's figures: the four objective parts and their mean, the subjective scores.

Two rules are named wherever the released code and the strict reading differ. The overall scores
average parts with different chance levels, so the parts come first, each with its own.

Reference: CriticBench 4 and 5; METHODS A18, A19 and the flags on [CB].
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from scipy.stats import t as student

from atom.analysis.intervals import Floats
from atom.judgebench.base import BenchResult, MetricRow, MetricTable, rate_row
from atom.judgebench.critic_bench.ask import (
    COMPARE,
    CORRECTION,
    FEEDBACK,
    META,
    SCORED,
    SCORER,
    is_corrected,
)
from atom.judgebench.critic_bench.code import (
    CODE_RUN,
    OBJECTIVE_DOMAINS,
    PROGRAM_DOMAINS,
    run_codes,
    value_code,
)
from atom.judgebench.critic_bench.files import DOMAINS, QUALITIES
from atom.judgebench.critic_bench.measures import (
    OBJECTIVE_CHANCE,
    RELEASED_INVALID_SCORE,
    TIE,
    Rule,
    Spearman,
    comparison,
    correction,
    feedback_correlation,
    objective_overall,
    subjective_overall,
)
from atom.judgebench.rates import INVALID, RIGHT, WRONG, Rate, rate
from atom.records import BenchItem, Verdict

RULES: Final[tuple[Rule, ...]] = ("strict", "released")
READ_AS_RELEASED: Final = "released"
"""Key of a verdict's data: the number that the released code's parser would read."""
RANGE_NOTE: Final = (
    "Within one quality the people's scores hardly vary, so these correlations are lower than the "
    "pooled one for any judge: compare them with each other, never with it."
)
PARTS_NOTE: Final = (
    "The overall averages parts whose chance levels differ (50, 25, 0 and 50 of 100): a judge that "
    "flips coins reaches 31.25."
)
MEAN_NOTE: Final = "plain mean of the domains, as published"
_LEVELS: Final = ("easy", "hard")
_QUALITY_WORDS: Final = {"med": "medium", "super-high": "correct"}
_NAN: Final = math.nan


@dataclass(frozen=True, kw_only=True)
class _Row:
    """What a judge did with one item in one part."""

    domain: str
    quality: str
    value: float
    """The score, or the code 1, 0, -1; NaN = couldn't be read."""
    truth: float = _NAN
    """People's score."""
    released: float = _NAN
    """The score under the released code's reading."""
    second: float = _NAN
    """A comparison's verdict by position in the second order; `value` is that of the first."""


Rows = Sequence[_Row]
Grouping = tuple[str, Callable[[_Row], str], Sequence[str]]
BY_DOMAIN: Final[Grouping] = ("by domain", lambda row: row.domain, DOMAINS)


def measure(items: Sequence[BenchItem], verdicts: Sequence[Verdict]) -> BenchResult:
    """Work out one judge's figures.

    Args:
        verdicts: the judge's, a scorer's on what it wrote, and what came of running its programs.

    Returns:
        The parts and the overall scores first, then tables by response quality and by domain.
        A verdict whose call failed counts nowhere; one that couldn't be read counts as the rule
        says. Where questions were put several times, scores are averaged and verdicts decided by
        the majority.
    """
    by_item = _sorted(verdicts)
    feedback = _scores(items, by_item, "answer", FEEDBACK)
    meta = _scores(items, by_item, "critique", META)
    every_pair = _pairs(items, by_item)
    pairs = [row for row in every_pair if math.isfinite(row.truth)]
    corrected, waiting = _corrections(items, by_item)
    graded = {part: _grades(items, by_item, part) for part in SCORED}
    objective = [
        *_spearman_rows("Scores of answers against people's, Spearman x 100", FEEDBACK, feedback),
        *_comparison_rows(pairs),
        *_pass_rows(corrected, waiting),
        *_spearman_rows("Scores of critiques against people's, Spearman x 100", META, meta),
    ]
    headline = [row for row in objective if row.rule != "released"]
    headline.append(_objective(objective))
    headline += _subjective_rows(graded)
    judged = {
        v.subject_id for v in verdicts if v.state != "failed" and not v.part.startswith(SCORER)
    }
    return BenchResult(
        headline=tuple(headline),
        tables=tuple(
            table
            for table in (
                _rules_table(objective),
                _order_table(every_pair),
                *_quality_tables(feedback, meta, pairs, corrected),
                *_domain_tables(feedback, meta, pairs, corrected),
                *_graded_tables(graded),
            )
            if table.rows
        ),
        items=len(items),
        verdicts=len(verdicts),
        missing=sum(item.id not in judged for item in items),
    )


# --- verdicts to rows ----------------------------------------------------------------------------

Sorted = Mapping[tuple[str, str, str], Sequence[Verdict]]


def _sorted(verdicts: Sequence[Verdict]) -> Sorted:
    """Group verdicts by item, part (a scorer's by the part that it scored) and order."""
    groups: dict[tuple[str, str, str], list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        if verdict.state == "failed":
            continue
        part = verdict.part
        if part.startswith(SCORER):
            part = SCORER + part.rpartition("/")[2]
        groups[verdict.subject_id, part, verdict.order].append(verdict)
    return groups


def _mean(values: Sequence[float]) -> float:
    readable = [value for value in values if math.isfinite(value)]
    return sum(readable) / len(readable) if readable else _NAN


def _value(verdict: Verdict) -> float:
    readable = verdict.state == "scored" and verdict.value is not None
    return float(verdict.value or 0) if readable else _NAN


def _released(verdict: Verdict) -> float:
    number = verdict.data.get(READ_AS_RELEASED)
    if isinstance(number, int | float) and math.isfinite(number):
        return float(number)
    return _value(verdict)


def _scores(items: Sequence[BenchItem], by_item: Sorted, kind: str, part: str) -> Rows:
    """Return an item's score beside people's, where both were asked for."""
    rows = []
    for item in items:
        mine = [one for one in by_item.get((item.id, part, ""), ()) if _has_verdict(one)]
        truth = item.data.get("score")
        if item.data["kind"] == kind and mine and truth is not None:
            rows.append(
                _Row(
                    domain=item.data["domain"],
                    quality=item.data["quality"],
                    value=_mean([_value(one) for one in mine]),
                    released=_mean([_released(one) for one in mine]),
                    truth=float(truth),
                )
            )
    return rows


def _has_verdict(verdict: Verdict) -> bool:
    """Whether a verdict was asked for; a text alone, taken in from elsewhere, holds none."""
    return verdict.state != "scored" or verdict.value is not None or bool(verdict.label)


def _pairs(items: Sequence[BenchItem], by_item: Sorted) -> Rows:
    """Return a pair's verdicts by position, in both orders; pairs asked in one order are left."""
    rows = []
    for item in items:
        forward, backward = (
            [one for one in by_item.get((item.id, COMPARE, order), ()) if _has_verdict(one)]
            for order in ("ab", "ba")
        )
        preference = item.data.get("preference")
        if item.data["kind"] == "pair" and forward and backward:
            rows.append(
                _Row(
                    domain=item.data["domain"],
                    quality=item.data["quality"],
                    value=_position(forward, "ab"),
                    second=_position(backward, "ba"),
                    truth="ab".index(preference) if preference else _NAN,
                )
            )
    return rows


def _position(verdicts: Sequence[Verdict], order: str) -> int:
    """Return the position that most votes name: 0, 1, 2 for neither, -1 if none can be read."""
    places = {order[0]: 0, order[1]: 1, "tie": TIE}
    said = [places[v.label] for v in verdicts if v.state == "scored" and v.label in places]
    if not said:
        return INVALID
    counts = [said.count(place) for place in (0, 1, TIE)]
    best = max(counts)
    return counts.index(best) if counts.count(best) == 1 else TIE


def _corrections(items: Sequence[BenchItem], by_item: Sorted) -> tuple[Rows, int]:
    """Return what became of corrections that can be checked, and how many programs wait."""
    rows, waiting = [], 0
    ran = any(part == CODE_RUN for _, part, _ in by_item)
    for item in items:
        data = item.data
        mine = by_item.get((item.id, CORRECTION, ""), ())
        if not mine or data["domain"] not in OBJECTIVE_DOMAINS or not is_corrected(data):
            continue
        if data["domain"] in PROGRAM_DOMAINS:
            if not ran:
                waiting += 1
                continue
            codes = run_codes(mine, by_item.get((item.id, CODE_RUN, ""), ()))
            waiting += not codes
        else:
            codes = [
                value_code(data["truth"], one) if one.state == "scored" else INVALID for one in mine
            ]
        if codes:
            rows.append(
                _Row(domain=data["domain"], quality=data["quality"], value=_majority(codes))
            )
    return rows, waiting


def _majority(codes: Sequence[int]) -> int:
    right, wrong = codes.count(RIGHT), codes.count(WRONG)
    return INVALID if not right + wrong else RIGHT if right > wrong else WRONG


def _grades(items: Sequence[BenchItem], by_item: Sorted, part: str) -> Rows:
    """Return a scorer's grades of what the judge wrote."""
    rows = []
    for item in items:
        for order in ("", "ab"):
            mine = by_item.get((item.id, SCORER + part, order), ())
            if mine:
                value = _mean([_value(one) for one in mine])
                data: Mapping[str, Any] = item.data
                rows.append(_Row(domain=data["domain"], quality=data["quality"], value=value))
    return rows


# --- rows to figures -----------------------------------------------------------------------------


def _correlation(rows: Rows, rule: Rule) -> Spearman:
    scores = [row.value if rule == "strict" else row.released for row in rows]
    truth = np.array([row.truth for row in rows], dtype=np.float64)
    return feedback_correlation(np.array(scores, dtype=np.float64), truth, rule)


def _spearman_row(label: str, group: str, rows: Rows, rule: Rule, note: str = "") -> MetricRow:
    found = _correlation(rows, rule)
    constant = len(rows) > 2 and math.isnan(found.value)
    return MetricRow(
        metric="spearman",
        label=label,
        value=found.value,
        lo=found.lo,
        hi=found.hi,
        chance=0.0,
        n=found.n,
        invalid=found.invalid,
        rule=rule,
        unit="correlation",
        group=group,
        note="one side never varies: there is no correlation" if constant else note,
    )


def _spearman_rows(label: str, group: str, rows: Rows) -> list[MetricRow]:
    released = (
        f"an unreadable score enters as {RELEASED_INVALID_SCORE:g}, any number it held as it is"
    )
    notes = {"strict": "unreadable scores are left out and counted", "released": released}
    return [_spearman_row(label, group, rows, rule, notes[rule]) for rule in RULES]


def _compared(rows: Rows, rule: Rule) -> Rate:
    forward, backward, truth = (
        np.array([getattr(row, name) for row in rows], dtype=np.int64)
        for name in ("value", "second", "truth")
    )
    return comparison(forward, backward, truth, rule)


def _comparison_rows(rows: Rows) -> list[MetricRow]:
    notes = {
        "strict": "right in both orders; a judge locked to one position gets 0",
        "released": "right in the first order, and not the same again in the second",
    }
    return [
        rate_row("accuracy", "Comparisons: right in both orders", _compared(rows, rule), rule,
                 group="comp_feedback", note=notes[rule])
        for rule in RULES
    ]  # fmt: skip


def _passed(rows: Rows) -> Rate:
    return correction(np.array([row.value for row in rows], dtype=np.int64))


def _by(rows: Rows, grouping: Grouping) -> dict[str, list[_Row]]:
    """Split rows, the groups in their own order, others after them, those without a name left."""
    _, name_of, order = grouping
    groups: dict[str, list[_Row]] = {name: [] for name in order}
    for row in rows:
        groups.setdefault(name_of(row), []).append(row)
    return {name: group for name, group in groups.items() if name and group}


def _plain_mean(parts: Sequence[tuple[float, float, float]]) -> tuple[float, float, float]:
    """Average independent figures with their intervals, each counting the same (MOVER).

    `lo = v - sqrt(sum (v_c - lo_c)^2) / C`, and `hi` likewise: for one figure its own interval.
    """
    if not parts:
        return _NAN, _NAN, _NAN
    value = sum(v for v, _, _ in parts) / len(parts)
    below = math.hypot(*(v - lo for v, lo, _ in parts)) / len(parts)
    above = math.hypot(*(hi - v for v, _, hi in parts)) / len(parts)
    return value, value - below, value + above


def _pass_rows(rows: Rows, waiting: int) -> list[MetricRow]:
    """Lay the pass rate out: the plain mean of the domains, as published."""
    groups = _by(rows, BY_DOMAIN)
    rates = {name: _passed(group) for name, group in groups.items()}
    value, lo, hi = _plain_mean([(one.strict, one.lo, one.hi) for one in rates.values()])
    notes = [MEAN_NOTE]
    if missing := [name for name in OBJECTIVE_DOMAINS if name not in rates]:
        notes.append(f"without {', '.join(missing)}")
    if waiting:
        notes.append(f"{waiting} programs weren't run: ask for the part run_code")
    return [
        MetricRow(
            metric="pass_rate",
            label="Corrections that pass",
            value=100 * value,
            lo=100 * lo,
            hi=100 * hi,
            chance=0.0,
            n=len(rows),
            invalid=sum(row.value == INVALID for row in rows),
            rule="strict",
            group="correction",
            note="; ".join(notes),
        )
    ]


def _objective(rows: Sequence[MetricRow], rule: Rule = "strict") -> MetricRow:
    """Average the parts; the interval joins theirs as if they were independent (MOVER)."""
    order = (FEEDBACK, "comp_feedback", CORRECTION, META)
    parts = {row.group: row for row in rows if row.rule in (rule, "strict")}
    parts |= {row.group: row for row in rows if row.rule == rule}
    known = [parts[name] for name in order]
    value = objective_overall(*(row.value for row in known))
    weights = (0.125, 0.25, 0.25, 0.125)
    below = math.hypot(*(w * (row.value - row.lo) for w, row in zip(weights, known, strict=True)))
    above = math.hypot(*(w * (row.hi - row.value) for w, row in zip(weights, known, strict=True)))
    missing = [row.label for row in known if math.isnan(row.value)]
    note = f"not defined without: {'; '.join(missing)}" if missing else PARTS_NOTE
    return MetricRow(
        metric="objective_overall",
        label="Objective overall, the mean of the four",
        value=value,
        lo=value - below,
        hi=value + above,
        chance=OBJECTIVE_CHANCE,
        n=sum(row.n for row in known),
        invalid=sum(row.invalid for row in known),
        rule=rule,
        note=note,
    )


def _rules_table(objective: Sequence[MetricRow]) -> MetricTable:
    """Show what the released code's rules make of the same replies."""
    if not any(row.n for row in objective):
        return MetricTable(title="", rows=())
    rows = [row for row in objective if row.rule == "released"]
    rows.append(_objective(objective, "released"))
    return MetricTable(
        title="Counted as the released code counts",
        rows=tuple(rows),
        note="The same replies under the rules of the benchmark's own scripts, for comparison with "
        "published figures. Corrections are compared by value here, not as equal floats.",
    )


def _order_table(rows: Rows) -> MetricTable:
    """Show what the order of showing does, right or wrong verdicts alike."""
    if not rows:
        return MetricTable(title="", rows=())
    readable = [row for row in rows if INVALID not in (row.value, row.second)]

    # A coin has two outcomes. How often a guesser would call a tie, nothing says.
    coin = not any(TIE in (row.value, row.second) for row in readable)

    def share(hits: Sequence[bool], metric: str, label: str, note: str, chance: float) -> MetricRow:
        codes = np.array(hits, dtype=np.int64)
        found = replace(rate(codes, chance if coin else _NAN), invalid=len(rows) - len(readable))
        return rate_row(metric, label, found, "readable only", group="comp_feedback", note=note)

    same = [(row.value, row.second) in ((0, 1), (1, 0), (TIE, TIE)) for row in readable]
    first = [row.value == row.second == 0 for row in readable]
    second = [row.value == row.second == 1 for row in readable]
    return MetricTable(
        title="What the order of showing does",
        rows=(
            share(same, "swap_consistency", "Same verdict in both orders", "right or wrong", 0.5),
            share(first, "first_both", "The first one both times", "", 0.25),
            share(second, "second_both", "The second one both times", "", 0.25),
        ),
        note="Of the pairs that could be read in both orders; people's preference isn't needed.",
    )


def _word(quality: str) -> str:
    return _QUALITY_WORDS.get(quality, quality)


def _quality_tables(
    feedback: Rows, meta: Rows, pairs: Rows, corrected: Rows
) -> tuple[MetricTable, ...]:
    by_quality: Grouping = ("by response quality", lambda row: row.quality, QUALITIES)
    by_level: Grouping = ("by difficulty", lambda row: row.quality, _LEVELS)
    rhos = [
        _spearman_row(label, f"{part}, {_word(name)}", group, "strict")
        for part, label, rows in (
            (FEEDBACK, "Scores of answers", feedback),
            (META, "Scores of critiques", meta),
        )
        for name, group in _by(rows, by_quality).items()
    ]
    passes = [
        rate_row("pass_rate", "Corrections that pass", _passed(group), "strict",
                 group=f"correction, {_word(name)}")
        for name, group in _by(corrected, by_quality).items()
    ]  # fmt: skip
    levels = [
        rate_row(
            "accuracy", "Comparisons", _compared(group, rule), rule, group=f"comp_feedback, {name}"
        )
        for name, group in _by(pairs, by_level).items()
        for rule in RULES
    ]
    easy = "Easy: a low answer beside a high one; hard: every other pair."
    return (
        MetricTable(title="Correlation by response quality", rows=tuple(rhos), note=RANGE_NOTE),
        MetricTable(title="Corrections by response quality", rows=tuple(passes)),
        MetricTable(title="Comparisons by difficulty", rows=tuple(levels), note=easy),
    )


def _domain_tables(
    feedback: Rows, meta: Rows, pairs: Rows, corrected: Rows
) -> tuple[MetricTable, ...]:
    rows: list[MetricRow] = []
    for name, group in _by(feedback, BY_DOMAIN).items():
        rows.append(_spearman_row("Scores of answers", f"feedback, {name}", group, "strict"))
    for name, group in _by(pairs, BY_DOMAIN).items():
        found = _compared(group, "strict")
        about = f"comp_feedback, {name}"
        rows.append(rate_row("accuracy", "Comparisons", found, "strict", group=about))
    for name, group in _by(corrected, BY_DOMAIN).items():
        found = _passed(group)
        about = f"correction, {name}"
        rows.append(rate_row("pass_rate", "Corrections that pass", found, "strict", group=about))
    for name, group in _by(meta, BY_DOMAIN).items():
        rows.append(_spearman_row("Scores of critiques", f"meta_feedback, {name}", group, "strict"))
    return (MetricTable(title="By domain", rows=tuple(rows)),)


# --- subjective scores ---------------------------------------------------------------------------

_WRITTEN: Final = {FEEDBACK: "Critiques", COMPARE: "Comparisons", CORRECTION: "Corrections"}
_GROUPS: Final = {FEEDBACK: "feedback", COMPARE: "comp_feedback", CORRECTION: "correction"}


def _mean_interval(values: Floats) -> tuple[float, float, float]:
    """Return mean and 95 % Student interval; no ends without two values that differ."""
    n = len(values)
    if n < 2 or np.ptp(values) == 0:
        return float(values.mean()) if n else _NAN, _NAN, _NAN
    value, half = float(values.mean()), float(values.std(ddof=1)) / math.sqrt(n)
    half *= float(student.ppf(0.975, n - 1))
    return value, max(value - half, 1.0), min(value + half, 10.0)


def _graded_row(part: str, group: str, rows: Rows) -> MetricRow:
    readable = np.array([row.value for row in rows if math.isfinite(row.value)], dtype=np.float64)
    value, lo, hi = _mean_interval(readable)
    return MetricRow(
        metric="subjective_score",
        label=f"{_WRITTEN[part]}, graded beside a reference worth 8",
        value=value,
        lo=lo,
        hi=hi,
        n=len(readable),
        invalid=len(rows) - len(readable),
        unit="points",
        group=group,
    )


def _by_domains(part: str, rows: Rows) -> MetricRow:
    """Average grades over the domains, each counting the same, as published."""
    each = [_graded_row(part, name, group) for name, group in _by(rows, BY_DOMAIN).items()]
    row = _graded_row(part, _GROUPS[part], rows)
    if not each:
        return row
    value, lo, hi = _plain_mean([(one.value, one.lo, one.hi) for one in each])
    return replace(row, value=value, lo=lo, hi=hi, note=MEAN_NOTE)


def _subjective_rows(graded: Mapping[str, Rows]) -> list[MetricRow]:
    """Return the three subjective parts and their mean; nothing where nobody graded."""
    if not any(graded.values()):
        return []
    rows = [_by_domains(part, graded[part]) for part in SCORED]
    parts = {row.group: row for row in rows}
    known = [parts[_GROUPS[part]] for part in (FEEDBACK, COMPARE, CORRECTION)]
    value = subjective_overall(*(row.value for row in known))
    _, lo, hi = _plain_mean([(row.value, row.lo, row.hi) for row in known])
    missing = [row.group for row in known if math.isnan(row.value)]
    rows.append(
        MetricRow(
            metric="subjective_overall",
            label="Subjective overall, the mean of the three",
            value=value,
            lo=lo,
            hi=hi,
            n=sum(row.n for row in known),
            invalid=sum(row.invalid for row in known),
            unit="points",
            note=f"not defined without: {', '.join(missing)}" if missing else "1 to 10",
        )
    )
    return rows


def _graded_tables(graded: Mapping[str, Rows]) -> tuple[MetricTable, ...]:
    order = (*QUALITIES, *_LEVELS)
    by_quality: Grouping = ("by response quality", lambda row: row.quality, order)
    rows = [
        _graded_row(part, f"{_GROUPS[part]}, {_word(name)}", group)
        for part in SCORED
        for grouping in (by_quality, BY_DOMAIN)
        for name, group in _by(graded[part], grouping).items()
    ]
    note = "A reference is worth 8 by definition; what guessing gives isn't defined."
    return (
        MetricTable(title="Grades by response quality and domain", rows=tuple(rows), note=note),
    )
