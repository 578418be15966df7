"""Votes as a whole: strengths, order conflicts, and how far the place of an answer decides.

Reference: METHODS B11 (Davidson), B12 (position bias); Lu et al. 2024, "WildVision" (five levels).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from atom.analysis.agreement.fidelity import FidelityShare as VoteShare
from atom.analysis.agreement.fidelity import share_of
from atom.analysis.compare.paired import PairedGap, paired_gap
from atom.analysis.compare.preference import (
    Games,
    StrengthIntervals,
    Strengths,
    davidson,
    strength_intervals,
    tally,
)
from atom.analysis.compare.votes import (
    CONFLICT,
    UNDECIDED,
    VOTE_A,
    VOTE_B,
    VOTE_NONE,
    VOTE_TIE,
    PositionBias,
    position_bias,
)
from atom.analysis.intervals import Floats, Ints, wilson
from atom.analysis.levels import LEVEL_WORTH, UNREAD_LEVEL, LevelCounts, count_levels
from atom.records import Judge
from atom.store import Store
from atom.views.failures.page import count_listed
from atom.views.filters import Filters, answers_kept
from atom.views.lab.preferences import (
    Comparisons,
    Preferences,
    anchor_of,
    compare,
    compared,
)
from atom.views.study_data import StudyData

_SEED = 20_070
_DRAWS = 200
_FEW_DRAWS = 50
_MANY_MODELS = 20


@dataclass(frozen=True, kw_only=True)
class WilsonShare:
    """A share in percent with its 95 % Wilson interval."""

    value: float
    lo: float
    hi: float
    n: int


@dataclass(frozen=True, kw_only=True)
class VotedModel:
    """One model's votes.

    Attributes:
        model_id: candidate id.
        colour: its place in the study.
        strength: log-strength, 0 = the mean of all models; NaN without decided comparisons.
        lo: lower end of its 95 % interval.
        won: comparisons won.
        tied: comparisons that the judge called a tie.
        lost: comparisons lost.
        lost_samples: samples that the list behind `filters` holds.
        conflicts: comparisons that the order decided.
        undecided: comparisons without any vote for either.
        conflict_rate: share of its comparisons that the order decided.
        judges: names of the judges that voted on it.
        anchor: whether every comparison is against this model.
        filters: where its lost comparisons are.
    """

    model_id: str
    name: str
    colour: int
    strength: float
    lo: float
    hi: float
    won: int
    tied: int
    lost: int
    lost_samples: int
    conflicts: int
    undecided: int
    conflict_rate: WilsonShare
    judges: tuple[str, ...]
    anchor: bool
    filters: Filters

    @property
    def comparisons(self) -> int:
        """All its comparisons, undecided ones included."""
        return self.won + self.tied + self.lost + self.conflicts + self.undecided


@dataclass(frozen=True, kw_only=True)
class VotingJudge:
    """One judge's votes.

    Attributes:
        name: what it is called; empty when the files don't say.
        votes: votes in single orders.
        silent: votes that name no winner and no tie: unable, unread or failed.
        bias: how far the place of an answer decides.
    """

    name: str
    votes: int
    silent: int
    bias: PositionBias

    @property
    def pull(self) -> str:
        """`first` or `second` where the place pulls beyond chance, else empty."""
        if not self.bias.pairs:
            return ""
        return "first" if self.bias.lo > 0 else "second" if self.bias.hi < 0 else ""


@dataclass(frozen=True, kw_only=True)
class LevelRow:
    """One model's votes in five levels, in one way of counting those that couldn't be read.

    Attributes:
        model_id: candidate id.
        colour: its place in the study.
        counts: how often it was much better, better, ...; single votes, each order on its own.
        win: share of votes for it, a tie being no win; interval over samples.
        reward: mean worth of a vote, -100 to 100; interval over samples.
        filters: where its samples are.
    """

    model_id: str
    name: str
    colour: int
    counts: LevelCounts
    win: VoteShare
    reward: PairedGap
    filters: Filters


@dataclass(frozen=True, kw_only=True)
class PreferenceSummary:
    """A study's votes as a whole.

    Attributes:
        models: strongest first; the order is by strength.
        tie: share of comparisons in which two equally strong models would tie, 0-100.
        comparisons: pairs of answers compared, both orders taken together.
        undecided: those without any vote for either.
        conflict_rate: share of all comparisons that the order decided.
        judges: who voted, the most votes first.
        anchor: name of the model that all others were compared with; None where there is none.
        held: whether a penalty holds the strengths, because some model always won or never met
            the rest.
        levels: votes by how strong they are, the highest win rate first; a model with votes that
            couldn't be read stands twice, once for each way of counting them. Empty where no
            judge told better from much better. The anchor's would be all others' turned round,
            so it has none.
        both_orders: whether any pair was judged in both orders.
    """

    models: tuple[VotedModel, ...]
    tie: float
    comparisons: int
    undecided: int
    conflict_rate: WilsonShare
    judges: tuple[VotingJudge, ...]
    anchor: str | None
    held: bool
    levels: tuple[LevelRow, ...]
    both_orders: bool


@dataclass(frozen=True, kw_only=True)
class _Fit:
    strengths: Strengths
    intervals: StrengthIntervals


def preference_summary(store: Store, data: StudyData, filters: Filters) -> PreferenceSummary | None:
    """Compute what all votes say together.

    Args:
        store: where judges' names are read.
        filters: tags, outcome and process narrow; the chain doesn't.

    Returns:
        The view-model; None where no vote is left.
    """
    votes = data.votes
    if votes is None:
        return None
    table = data.table
    kept = answers_kept(data, filters)
    model = table.model.astype(np.int64)
    counted = kept[votes.a] & kept[votes.b] & (model[votes.a] != model[votes.b])
    found = compare(votes)
    mine = np.zeros(len(found.a), dtype=bool)
    mine[found.group[counted]] = True
    if not mine.any():
        return None
    key = ("votes", hashlib.blake2b(np.packbits(mine).tobytes(), digest_size=16).digest())
    fit = table.recent.get(key, lambda: _fit(data, found, mine))
    names = _judge_names(store, votes)
    anchor = anchor_of(compared(votes, table.model, table.n_models))
    models = [
        _model(data, filters, found, mine, number, fit, names, anchor)
        for number in range(table.n_models)
    ]
    seen = [one for one in models if one.comparisons]
    conflicts = int((found.result[mine] == CONFLICT).sum())
    total = int(mine.sum())
    nu = fit.strengths.tie
    return PreferenceSummary(
        models=tuple(
            sorted(seen, key=lambda one: (-np.nan_to_num(one.strength, nan=-99), one.name))
        ),
        tie=100 * nu / (2 + nu),
        comparisons=total,
        undecided=int((found.result[mine] == UNDECIDED).sum()),
        conflict_rate=_share(conflicts, total),
        judges=_judges(votes, counted, found, names),
        anchor=None if anchor is None else data.candidates[anchor].name,
        held=fit.strengths.penalised,
        levels=_levels(data, filters, votes, counted, anchor),
        both_orders=_both_orders(votes, counted, found),
    )


def _both_orders(votes: Preferences, counted: NDArray[np.bool_], found: Comparisons) -> bool:
    shown = found.group[counted] * 2 + votes.first[counted]
    return len(np.unique(shown)) > len(np.unique(found.group[counted]))


def _levels(
    data: StudyData,
    filters: Filters,
    votes: Preferences,
    counted: NDArray[np.bool_],
    anchor: int | None,
) -> tuple[LevelRow, ...]:
    """Count votes by strength; empty where all are of one strength."""
    if not (votes.strength[counted] > 1).any():
        return ()
    table = data.table
    model = table.model
    cluster = table.cluster[table.sample[votes.a]].astype(np.int64)
    strength = votes.strength.astype(np.int64)
    for_a = np.where(votes.verdict == VOTE_A, strength, -strength)
    for_a = np.where(votes.verdict == VOTE_TIE, 0, for_a)
    silent = votes.verdict == VOTE_NONE
    models = []
    for number, candidate in enumerate(data.candidates):
        as_a = counted & (model[votes.a] == number)
        mine = as_a | (counted & (model[votes.b] == number))
        if number == anchor or not mine.any():
            continue
        level = np.where(as_a, for_a, -for_a)
        level = np.where(silent, UNREAD_LEVEL, level)[mine]
        where = filters.but(
            model=candidate.id, measure="preference", sample=None, criterion=None, node=(),
            show="all",
        )  # fmt: skip
        ways = (True, False) if (level == UNREAD_LEVEL).any() else (True,)
        rows = [
            _level_row(candidate.id, candidate.name, number, level, cluster[mine], where, ties=ties)
            for ties in ways
        ]
        models.append(rows)
    models.sort(key=lambda rows: (-rows[0].counts.win_rate, -rows[0].counts.reward, rows[0].name))
    return tuple(row for rows in models for row in rows)


def _level_row(
    model_id: str, name: str, number: int, level: Ints, cluster: Ints, where: Filters, *, ties: bool
) -> LevelRow:
    kept = np.ones(len(level), dtype=np.bool_) if ties else level != UNREAD_LEVEL
    read, group = level[kept], cluster[kept]
    worth: Floats = np.array([LEVEL_WORTH.get(one, 0.0) for one in read.tolist()], dtype=np.float64)
    return LevelRow(
        model_id=model_id,
        name=name,
        colour=number,
        counts=count_levels(level, unread="tie" if ties else "left out"),
        win=share_of(read > 0, group),
        reward=paired_gap(worth, group, bound=100.0),
        filters=where,
    )


def _share(number: int, n: int) -> WilsonShare:
    lo, hi = wilson(number, n) if n else (float("nan"), float("nan"))
    value = 100 * number / n if n else float("nan")
    return WilsonShare(value=value, lo=100 * lo, hi=100 * hi, n=n)


def _model(
    data: StudyData,
    filters: Filters,
    found: Comparisons,
    mine: NDArray[np.bool_],
    number: int,
    fit: _Fit,
    names: tuple[str, ...],
    anchor: int | None,
) -> VotedModel:
    model = data.table.model
    as_a, as_b = mine & (model[found.a] == number), mine & (model[found.b] == number)
    result = found.result

    def count(a_code: int, b_code: int) -> int:
        return int((result[as_a] == a_code).sum() + (result[as_b] == b_code).sum())

    conflicts = count(CONFLICT, CONFLICT)
    won, lost = count(VOTE_A, VOTE_B), count(VOTE_B, VOTE_A)
    tied, undecided = count(VOTE_TIE, VOTE_TIE), count(UNDECIDED, UNDECIDED)
    decided = won + lost + tied + conflicts
    nan = float("nan")
    candidate = data.candidates[number]
    door = filters.but(
        model=candidate.id, measure="preference", sample=None, criterion=None, node=(),
        show="failed",
    )  # fmt: skip
    return VotedModel(
        model_id=candidate.id,
        name=candidate.name,
        colour=number,
        strength=float(fit.strengths.strength[number]) if decided else nan,
        lo=float(fit.intervals.lo[number]) if decided else nan,
        hi=float(fit.intervals.hi[number]) if decided else nan,
        won=won,
        tied=tied,
        lost=lost,
        lost_samples=count_listed(data, door),
        conflicts=conflicts,
        undecided=undecided,
        conflict_rate=_share(conflicts, decided + undecided),
        judges=tuple(names[code] for code in np.unique(found.judge[as_a | as_b])),
        anchor=number == anchor,
        filters=door,
    )


def _judges(
    votes: Preferences,
    counted: NDArray[np.bool_],
    found: Comparisons,
    names: tuple[str, ...],
) -> tuple[VotingJudge, ...]:
    judges = []
    for code, name in enumerate(names):
        mine = counted & (votes.judge == code)
        if not mine.any():
            continue
        verdict = votes.verdict[mine]
        judges.append(
            VotingJudge(
                name=name,
                votes=int(mine.sum()),
                silent=int((verdict == VOTE_NONE).sum()),
                bias=position_bias(verdict, votes.first[mine], found.group[mine], len(found.a)),
            )
        )
    return tuple(sorted(judges, key=lambda judge: (-judge.votes, judge.name)))


def _judge_names(store: Store, votes: Preferences) -> tuple[str, ...]:
    """Name the judges: ours have a record, imported ones are kept by name."""
    known = {judge.id: judge.name for judge in store.get_many(Judge, votes.judges)}
    return tuple(known.get(judge, judge) for judge in votes.judges)


def _fit(data: StudyData, found: Comparisons, mine: NDArray[np.bool_]) -> _Fit:
    table = data.table
    decided = mine & (found.result != UNDECIDED)
    a, b = found.a[decided], found.b[decided]
    games = Games(
        first=table.model[a].astype(np.int64),
        second=table.model[b].astype(np.int64),
        result=np.minimum(found.result[decided], VOTE_TIE).astype(np.int64),
        cluster=table.cluster[table.sample[a]].astype(np.int64),
        n_models=table.n_models,
    )
    draws = _DRAWS if table.n_models <= _MANY_MODELS else _FEW_DRAWS
    return _Fit(
        strengths=davidson(*tally(games)),
        intervals=strength_intervals(games, np.random.default_rng(_SEED), draws=draws),
    )
