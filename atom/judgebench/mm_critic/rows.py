"""MM-CRITIC: a judge's claims, picks and scored texts as rows of figures."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from atom.analysis.intervals import Floats, Ints
from atom.display.numbers import count
from atom.judgebench.base import MetricRow, rate_rows
from atom.judgebench.mm_critic.data import (
    PAIRING_WORDS,
    pairing,
)
from atom.judgebench.mm_critic.measures import (
    BandScheme,
    CritiqueScore,
    critique_accuracy,
    critique_score,
    preference_accuracy,
)
from atom.judgebench.rates import INVALID, RIGHT, WRONG, majority
from atom.records import BenchItem, Verdict

FEW = 30
"""Under so many items a figure says little."""


@dataclass(frozen=True, kw_only=True)
class Text:
    """A critique or correction, with the score that one scorer gave it."""

    item: BenchItem
    code: int
    readable: bool
    """Whether the judge's reply held a text."""
    length: int
    score: float
    """NaN where the scorer's reply couldn't be read; 0 never stands for that."""


def texts_of(
    known: Mapping[str, BenchItem],
    written: Sequence[Verdict],
    given: Sequence[Verdict],
    ending: str,
) -> dict[str, list[Text]]:
    """Join texts with their scores, by scorer; one that nobody scored yet isn't among them."""
    place = {item_id: at for at, item_id in enumerate(known)}
    keyed = {one.key: one for one in written}
    found: dict[str, list[Text]] = {}
    for score in given:
        if not score.part.endswith(ending):
            continue
        text = keyed.get(str(score.data.get("of", "")))
        if text is None or text.state != "scored":
            continue
        value = score.value if score.state == "scored" and score.value is not None else math.nan
        item = known[text.subject_id]
        found.setdefault(score.judge, []).append(
            Text(item=item, code=place[item.id], readable=True, length=len(text.text), score=value)
        )
    for texts in found.values():
        texts += [
            Text(item=known[one.subject_id], code=place[one.subject_id], readable=False,
                  length=0, score=math.nan)
            for one in written
            if one.state == "unscored"
        ]  # fmt: skip
    return dict(sorted(found.items()))


def scores_of(texts: Sequence[Text]) -> Floats:
    """Return the texts' scores."""
    return np.array([one.score for one in texts], dtype=np.float64)


def codes_of(texts: Sequence[Text]) -> Ints:
    """Return the places of the texts' items."""
    return np.array([one.code for one in texts], dtype=np.int64)


def item_codes(votes: Mapping[str, list[int]]) -> Ints:
    """Bring each item's votes down to one code."""
    most = max((len(found) for found in votes.values()), default=0)
    table = np.full((len(votes), most), INVALID, dtype=np.int64)
    for row, found in enumerate(votes.values()):
        table[row, : len(found)] = found
    return majority(table) if most else np.array([], dtype=np.int64)


def _claim_votes(known: Mapping[str, BenchItem], claims: Sequence[Verdict]) -> dict[str, list[int]]:
    votes: dict[str, list[int]] = {}
    for one in claims:
        truth = "right" if known[one.subject_id].data["correct"] else "wrong"
        code = INVALID
        if one.state == "scored" and one.label:
            code = RIGHT if one.label == truth else WRONG
        votes.setdefault(one.subject_id, []).append(code)
    return votes


def claim_rows(
    known: Mapping[str, BenchItem], claims: Sequence[Verdict], group: str = ""
) -> tuple[MetricRow, ...]:
    """Lay out how often the judge's claim about an answer is right."""
    codes = item_codes(_claim_votes(known, claims))
    if not len(codes):
        return ()
    # Right or wrong code against a truth of all ones is Eq. 1 on the majority's claim.
    found = critique_accuracy(codes, np.ones(len(codes), dtype=np.int64))
    return rate_rows(
        "acc_critic", "Critique accuracy", found,
        group=group, note=_always_note(known, claims) if not group else "",
    )  # fmt: skip


def _always_note(known: Mapping[str, BenchItem], claims: Sequence[Verdict]) -> str:
    truth = [bool(known[key].data["correct"]) for key in {one.subject_id for one in claims}]
    share = 100 * max(sum(truth), len(truth) - sum(truth)) / len(truth)
    word = "right" if 2 * sum(truth) >= len(truth) else "wrong"
    return f"always saying {word!r} would reach {share:.1f}"


def score_rows(
    by_scorer: Mapping[str, Sequence[Text]],
    metric: str,
    label: str,
    names: Mapping[str, str],
    *,
    group: str = "",
    keep: Callable[[BenchItem], bool] = lambda _: True,
) -> list[MetricRow]:
    """Lay mean scores out: a scorer each, under both ways of counting."""
    rows = []
    for scorer, texts in by_scorer.items():
        some = [one for one in texts if keep(one.item)]
        if not some:
            continue
        whose = f"scorer {names[scorer]}" if len(by_scorer) > 1 else ""
        where = ", ".join(part for part in (group, whose) if part)
        readable = [one for one in some if one.readable]
        lost = len(some) - len(readable)
        found = critique_score(scores_of(readable), codes_of(readable))
        if lost:
            zeros = [one if one.readable else replace(one, score=0.0) for one in some]
            strict = critique_score(scores_of(zeros), codes_of(zeros))
            rows.append(score_row(metric, label, strict, where, lost + found.invalid, "strict"))
        rule = "readable only" if lost or found.invalid else ""
        rows.append(score_row(metric, label, found, where, lost + found.invalid, rule))
    return rows


def score_row(
    metric: str, label: str, found: CritiqueScore, group: str, invalid: int, rule: str
) -> MetricRow:
    """Lay out one mean score."""
    return MetricRow(
        metric=metric,
        label=label,
        value=found.mean,
        lo=float(np.clip(found.lo, 0, 10)),
        hi=float(np.clip(found.hi, 0, 10)),
        n=found.n,
        invalid=invalid,
        rule=rule,
        unit="points",
        group=group,
    )


def _pick_votes(known: Mapping[str, BenchItem], picks: Sequence[Verdict]) -> dict[str, list[int]]:
    votes: dict[str, list[int]] = {}
    for one in picks:
        code = INVALID
        if one.state == "scored" and one.label in ("a", "b"):
            code = RIGHT if one.label == known[one.subject_id].data["preferred"] else WRONG
        votes.setdefault(one.subject_id, []).append(code)
    return votes


def preference_rows(
    known: Mapping[str, BenchItem], picks: Sequence[Verdict], scheme: BandScheme
) -> list[MetricRow]:
    """Lay out how often the better answer is preferred, by pairing."""
    votes = _pick_votes(known, picks)
    if not votes:
        return []
    by_pairing = preference_accuracy(
        item_codes(votes), [pairing(known[key], scheme) for key in votes]
    )
    rows: list[MetricRow] = []
    for name, words in PAIRING_WORDS.items():
        if name in by_pairing:
            found = by_pairing[name]
            group = words if scheme == "analysis" else f"{words}, {scheme} bands"
            rows += rate_rows(
                "acc_prefer", f"Preference accuracy {name}", found, group=group, note=few(found.n)
            )
    return rows


def few(n: int) -> str:
    """Say so where a figure is of few items."""
    return f"only {count(n, 'item')}" if n < FEW else ""
