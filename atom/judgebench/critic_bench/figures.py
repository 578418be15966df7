"""CriticBench's figures: the four objective parts and their mean, the subjective scores.

Two rules are named wherever the released code and the strict reading differ. The overall scores
average parts with different chance levels, so the parts come first, each with its own.

Reference: CriticBench 4 and 5; METHODS A18, A19 and the flags on [CB].
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

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
)
from atom.judgebench.critic_bench.code import (
    OBJECTIVE_DOMAINS,
)
from atom.judgebench.critic_bench.files import QUALITIES
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
from atom.judgebench.critic_bench.rows import (
    BY_DOMAIN,
    NAN,
    Grouping,
    Rows,
    by_group,
    corrections_of,
    grades_of,
    pairs_of,
    scores_of,
    sort_verdicts,
)
from atom.judgebench.rates import INVALID, Rate, rate
from atom.records import BenchItem, Verdict

RULES: Final[tuple[Rule, ...]] = ("strict", "released")
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
    by_item = sort_verdicts(verdicts)
    feedback = scores_of(items, by_item, "answer", FEEDBACK)
    meta = scores_of(items, by_item, "critique", META)
    every_pair = pairs_of(items, by_item)
    pairs = [row for row in every_pair if math.isfinite(row.truth)]
    corrected, waiting = corrections_of(items, by_item)
    graded = {part: grades_of(items, by_item, part) for part in SCORED}
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


def _plain_mean(parts: Sequence[tuple[float, float, float]]) -> tuple[float, float, float]:
    """Average independent figures with their intervals, each counting the same (MOVER).

    `lo = v - sqrt(sum (v_c - lo_c)^2) / C`, and `hi` likewise: for one figure its own interval.
    """
    if not parts:
        return NAN, NAN, NAN
    value = sum(v for v, _, _ in parts) / len(parts)
    below = math.hypot(*(v - lo for v, lo, _ in parts)) / len(parts)
    above = math.hypot(*(hi - v for v, _, hi in parts)) / len(parts)
    return value, value - below, value + above


def _pass_rows(rows: Rows, waiting: int) -> list[MetricRow]:
    """Lay the pass rate out: the plain mean of the domains, as published."""
    groups = by_group(rows, BY_DOMAIN)
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
        found = replace(rate(codes, chance if coin else NAN), invalid=len(rows) - len(readable))
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
        for name, group in by_group(rows, by_quality).items()
    ]
    passes = [
        rate_row("pass_rate", "Corrections that pass", _passed(group), "strict",
                 group=f"correction, {_word(name)}")
        for name, group in by_group(corrected, by_quality).items()
    ]  # fmt: skip
    levels = [
        rate_row(
            "accuracy", "Comparisons", _compared(group, rule), rule, group=f"comp_feedback, {name}"
        )
        for name, group in by_group(pairs, by_level).items()
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
    for name, group in by_group(feedback, BY_DOMAIN).items():
        rows.append(_spearman_row("Scores of answers", f"feedback, {name}", group, "strict"))
    for name, group in by_group(pairs, BY_DOMAIN).items():
        found = _compared(group, "strict")
        about = f"comp_feedback, {name}"
        rows.append(rate_row("accuracy", "Comparisons", found, "strict", group=about))
    for name, group in by_group(corrected, BY_DOMAIN).items():
        found = _passed(group)
        about = f"correction, {name}"
        rows.append(rate_row("pass_rate", "Corrections that pass", found, "strict", group=about))
    for name, group in by_group(meta, BY_DOMAIN).items():
        rows.append(_spearman_row("Scores of critiques", f"meta_feedback, {name}", group, "strict"))
    return (MetricTable(title="By domain", rows=tuple(rows)),)


# --- subjective scores ---------------------------------------------------------------------------

_WRITTEN: Final = {FEEDBACK: "Critiques", COMPARE: "Comparisons", CORRECTION: "Corrections"}
_GROUPS: Final = {FEEDBACK: "feedback", COMPARE: "comp_feedback", CORRECTION: "correction"}


def _mean_interval(values: Floats) -> tuple[float, float, float]:
    """Return mean and 95 % Student interval; no ends without two values that differ."""
    n = len(values)
    if n < 2 or np.ptp(values) == 0:
        return float(values.mean()) if n else NAN, NAN, NAN
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
    each = [_graded_row(part, name, group) for name, group in by_group(rows, BY_DOMAIN).items()]
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
        for name, group in by_group(graded[part], grouping).items()
    ]
    note = "A reference is worth 8 by definition; what guessing gives isn't defined."
    return (
        MetricTable(title="Grades by response quality and domain", rows=tuple(rows), note=note),
    )
