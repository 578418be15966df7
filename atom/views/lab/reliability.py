"""How far a study's judge can be trusted: with itself, with others, and with the truth.

Everything is computed from what is stored: scorings asked more than once, other judges' scorings of
the same checkpoints, votes in both orders, and probes whose truth is known.

Reference: METHODS B12 (test-retest, position, verbosity), B13b (confusion), B20 (detectable
change); `design/013-judge-noise.md`.
"""

from __future__ import annotations

import json
import math
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, groupby

import numpy as np

from atom.analysis.agreement.calibration import BLIND, FOLLOWS, Calibration
from atom.analysis.agreement.coefficients import Agreement, agreement
from atom.analysis.agreement.judge_noise import Advice, NoiseSplit, Ratings, first_two, split_noise
from atom.analysis.agreement.length_pull import LengthPull, length_pull
from atom.analysis.compare.votes import VOTE_A, VOTE_B, VOTE_TIE, PositionBias, position_bias
from atom.analysis.intervals import Floats, Ints
from atom.analysis.layout import Mask
from atom.analysis.score_table import ScoreTable, answer_scores
from atom.display import numbers
from atom.display.estimate import Estimate
from atom.judgebench.registry import BENCHES
from atom.records import BenchSet, Candidate, Judge
from atom.store import Store
from atom.store.reading.marks import answer_lengths, further_marks
from atom.store.verdicts import votes_in_orders
from atom.views.filters import Filters, answers_kept, rows_kept
from atom.views.lab.asked_again import Again, asked_again
from atom.views.lab.calibrations import Calibrated, calibration_of
from atom.views.lab.judge_marks import points
from atom.views.study_data import StudyData, roots_of_rows
from taxonomy import format_path

SEED = 12
WANTED_HALF = 3.0
"""Points of 0-100 on either side of a number that a forecast of samples aims at."""
MOST_PAIRS = 10
"""Pairs of judges that are compared, those with the study's own judge first."""
LEAST = 20
"""Fewer pairs than this say nothing about agreement."""
LEAST_JUDGES = 3
"""Fewer judges than this show no share of noise that could be called theirs."""
WANTED_PAIRS = 100
_MANY = 100_000
"""Checkpoints above which agreement has no interval: drawing them again takes too long."""
_UNIT = 1 << 20
"""Parts of a point that scores on other scales are read in."""
_VOTE = {"a": VOTE_A, "b": VOTE_B, "tie": VOTE_TIE}
_HELPS: Mapping[Advice, str] = {
    "judge": "a better judge (or more judges) would help more than twice the samples",
    "samples": "twice the samples would help more than a better judge",
    "either": "twice the samples and a better judge would help alike",
}
_WORD = re.compile(r"[a-z]+")
_MAKERS = {
    "gpt": "openai", "o": "openai", "chatgpt": "openai", "claude": "anthropic",
    "gemini": "google", "gemma": "google", "qwen": "alibaba", "qvq": "alibaba",
    "llama": "meta", "pixtral": "mistral", "mixtral": "mistral", "grok": "xai",
    "internvl": "opengvlab", "phi": "microsoft", "glm": "zhipu",
}  # fmt: skip


# --- values --------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class AgreementRow:
    """Two scorings compared, on everything or on one branch."""

    name: str
    found: Agreement


@dataclass(frozen=True, kw_only=True)
class JudgePair:
    """Two judges on the same checkpoints: over all, then by root."""

    first: str
    second: str
    rows: tuple[AgreementRow, ...]


@dataclass(frozen=True, kw_only=True)
class NoiseRow:
    """One model's number with all of its uncertainty, on 0-100.

    Attributes:
        model: index of the model.
        branch: the root; empty for all of the model's checkpoints.
        estimate: mean with the interval that holds the judge's noise.
        plain: the same without the judges' shift.
        samples: share of the variance that is the samples', 0..1; NaN where it can't be told.
        repeats: share of asking again; NaN where nobody was asked twice.
        judges: share of who judges; NaN with one judge.
        advice: what would narrow the interval more.
        needed: samples for plus or minus `WANTED_HALF` points; inf possible.
    """

    model: int
    name: str
    branch: str
    estimate: Estimate
    plain: Estimate
    samples: float
    repeats: float
    judges: float
    advice: Advice
    needed: float


@dataclass(frozen=True, kw_only=True)
class PositionRow:
    """How the place of an answer decides, of one judge on one kind of pairs."""

    judge: str
    where: str
    found: PositionBias


@dataclass(frozen=True, kw_only=True)
class NextStep:
    """What would tell more.

    Attributes:
        text: what to do, and what it would tell.
        command: on the command line; empty where there is none.
        calibrates: whether it is the calibration, for which there is a button.
        runs: whether it can be started on the Runs page.
    """

    text: str
    command: str = ""
    calibrates: bool = False
    runs: bool = False


@dataclass(frozen=True, kw_only=True)
class Reliability:
    """Everything on the tab.

    Attributes:
        judge: whose scores the study shows; None while nothing is judged.
        others: names of other judges that scored checkpoints of the study.
        statements: the answer in plain words, the most important first.
        repeats: how often the checkpoint that was asked most often was scored by this judge.
        retest: the judge with itself, over all and by root; empty without repeats.
        again: checkpoints that it scored more than once, what changed most first.
        pairs: judges with each other.
        noise: intervals that hold the judge's noise: each model over all, then by root.
        separable: whether the judge's noise can be told from the samples'.
        judges: judges whose differences could tell how kind this one is, itself included.
        aside: names of judges whose scores don't follow the truth: they are left out of that.
        position: pull of the place.
        family: candidates of the judge's own family.
        calibrated: the judge against the truth; None where it was never asked.
        covered: roots of the study's tree that were calibrated.
        roots: roots of the study's tree.
        steps: what to do next.
        synthetic: whether the judge is simulated.
        cold: whether it is asked at temperature 0, where repeats are the same request.
    """

    judge: str | None
    others: tuple[str, ...]
    statements: tuple[str, ...]
    repeats: int
    retest: tuple[AgreementRow, ...]
    again: tuple[Again, ...]
    pairs: tuple[JudgePair, ...]
    noise: tuple[NoiseRow, ...]
    separable: bool
    judges: int
    aside: tuple[str, ...]
    position: tuple[PositionRow, ...]
    length: LengthPull
    family: tuple[str, ...]
    calibrated: Calibrated | None
    covered: int
    roots: int
    steps: tuple[NextStep, ...]
    synthetic: bool
    cold: bool


# --- reading -------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class RatingData:
    """A study's scorings beside those that its table holds.

    Attributes:
        ratings: items are the table's checkpoint rows; judge 0 is the one looked at.
        names: of the judges.
        cold: which ratings were asked for at temperature 0, as far as they aren't the table's own,
            shape (V,).
    """

    ratings: Ratings
    names: tuple[str, ...]
    judge_ids: tuple[str, ...]
    cold: Mask

    @property
    def cold_again(self) -> bool:
        """Whether what the judge looked at was asked again was asked at temperature 0."""
        return bool((self.cold & (self.ratings.judge == 0) & (self.ratings.repeat > 0)).any())

    @property
    def telling(self) -> Ratings:
        """The ratings that can show a judge's noise.

        At temperature 0 a second request is the first one again: equal repeats would read as a
        judge without noise, which they can't show.

        Reference:
            METHODS T3.
        """
        told = (self.ratings.repeat == 0) | ~self.cold
        columns = ("item", "judge", "repeat", "score")
        parts = {name: getattr(self.ratings, name)[told] for name in columns}
        return replace(self.ratings, **parts)


def load_ratings(store: Store, data: StudyData) -> RatingData:
    """Read all scorings of a study's checkpoints: repeats, and other judges'.

    Only what the score table doesn't hold is read. Scorings of one checkpoint by one judge count
    together only under the same prompt and sampling settings: those that were used most often.

    Args:
        data: the study, as one judge sees it.
    """
    score_table = data.table
    judge_id = data.judge.id if data.judge else None
    n = len(score_table.score)
    width = max(len(score_table.criterion_ids), 1)
    row_key = score_table.response.astype(np.int64) * width + score_table.criterion
    order = np.argsort(row_key, kind="stable")
    judges: dict[str, int] = {} if judge_id is None else {judge_id: 0}
    extra, cold = _further(store, data, judge_id, judges)
    place = np.searchsorted(row_key[order], extra[:, 0])
    there = place < len(order)
    there[there] = row_key[order[place[there]]] == extra[there, 0]
    extra = np.column_stack([order[place[there]], extra[there, 1:]])
    extra = _one_setting(extra, max(len(judges), 1))
    # What was read of the judge itself holds the first scoring, too.
    kept = np.ones(n, dtype=bool)
    kept[extra[extra[:, 1] == 0, 0]] = False
    base = np.flatnonzero(kept)
    zero = np.zeros(len(base), dtype=np.int64)
    names = {row.id: row.name for row in store.get_many(Judge, list(judges))}
    return RatingData(
        ratings=Ratings(
            item=np.concatenate([base, extra[:, 0]]),
            judge=np.concatenate([zero, extra[:, 1]]),
            repeat=np.concatenate([zero, extra[:, 2]]),
            score=_scores(score_table, base, extra[:, 3]),
            cluster=score_table.cluster[score_table.sample[score_table.response]].astype(np.int64),
            judges=max(len(judges), 1),
        ),
        names=tuple(names.get(judge, judge) for judge in judges) or ("",),
        judge_ids=tuple(judges) or ("",),
        cold=np.concatenate([np.zeros(len(base), dtype=bool), cold[extra[:, 4]]]),
    )


def _scores(table: ScoreTable, base: Ints, extra: Ints) -> Ints | Floats:
    """Return the table's own scores and those read beside it; whole numbers on our own scale."""
    if table.ours:
        return np.concatenate([table.score[base].astype(np.int64), extra])
    return np.concatenate([table.score[base].astype(np.float64), extra / _UNIT])


def _further(
    store: Store, data: StudyData, judge_id: str | None, judges: dict[str, int]
) -> tuple[Ints, Mask]:
    """Read rows of (checkpoint key, judge, repeat, score, setting), shape (V, 5).

    Also returns which settings are at temperature 0.

    Of the judge looked at, answers that were scored more than once are read whole.
    """
    table = data.table
    response_at = {name: at for at, name in enumerate(table.response_ids)}
    criterion_at = {name: at for at, name in enumerate(table.criterion_ids)}
    width = max(len(criterion_at), 1)
    settings: dict[tuple[str, str], int] = {}
    found: list[tuple[int, int, int, int, int]] = []
    for mark in further_marks(store, judge_id or "", data.scale):
        at, use = response_at.get(mark.response_id), criterion_at.get(mark.criterion_id)
        if at is None or use is None:
            continue
        setting = settings.setdefault(mark.setting, len(settings))
        number = judges.setdefault(mark.judge_id, len(judges))
        score = int(mark.score) if table.ours else _turned(table, use, mark.score)
        found.append((at * width + use, number, mark.repeat, score, setting))
    cold = [json.loads(sampling).get("temperature") == 0 for _, sampling in settings]
    return np.array(found, dtype=np.int64).reshape(-1, 5), np.array(cold, dtype=bool)


def _turned(table: ScoreTable, criterion: int, score: float) -> int:
    """Return a score on another scale as the table keeps it, in whole parts."""
    return round(_UNIT * (6 - score if table.penalty[criterion] else score))


def _one_setting(rows: Ints, judges: int) -> Ints:
    """Keep, of each checkpoint and judge, the setting with the most repeats; the last if several.

    Args:
        rows: (checkpoint, judge, repeat, score, setting), shape (V, 5).
        judges: number of judges.

    Returns:
        The rows that are left.
    """
    if not len(rows):
        return rows
    settings = int(rows[:, 4].max()) + 1
    unit = rows[:, 0] * judges + rows[:, 1]
    _, of_unit = np.unique(unit, return_inverse=True)
    key, group, count = np.unique(
        of_unit * settings + rows[:, 4], return_inverse=True, return_counts=True
    )
    best = np.zeros(int(of_unit.max()) + 1, dtype=np.int64)
    order = np.lexsort((key % settings, count))
    best[key[order] // settings] = order
    kept: Ints = rows[group == best[of_unit]]
    return kept


def _lengths(store: Store, data: StudyData) -> Floats:
    """Return the characters of each answer, shape (R,); 0 where there is none."""
    size = answer_lengths(store)
    return np.array([size.get(name, 0) for name in data.table.response_ids], dtype=np.float64)


# --- all of it -----------------------------------------------------------------------------------


def _spread(read: RatingData, aside: Sequence[int]) -> tuple[Ratings, int]:
    """Return the ratings whose differences may be called the judges', and by how many judges.

    Two judges show one difference, which has one degree of freedom: no share of anything can be
    told from it, so fewer than `LEAST_JUDGES` leave the shown judge's own ratings only. So does a
    judge whose scores don't follow the truth, since its noise isn't what another judge would bring.

    Args:
        aside: judges that are left out.

    Returns:
        (the ratings, judges that are left before that rule).
    """
    told = read.telling
    left = [one for one in range(told.judges) if one not in aside]
    kept = left if len(left) >= LEAST_JUDGES else left[:1]
    number = np.full(told.judges, -1, dtype=np.int64)
    number[kept] = np.arange(len(kept))
    rows = number[told.judge] >= 0
    columns = {name: getattr(told, name)[rows] for name in ("item", "repeat", "score")}
    return replace(told, judge=number[told.judge[rows]], judges=len(kept), **columns), len(left)


def _misread(stores: Sequence[Store], read: RatingData) -> tuple[int, ...]:
    """Return the other judges whose scores don't follow the truth where it is known."""
    found = []
    for number, judge_id in enumerate(read.judge_ids[1:], start=1):
        held = calibration_of(stores, judge_id)
        whole = None if held is None else held.view.whole
        if whole is None or whole.n < LEAST:
            continue
        mute = math.isnan(whole.follows) and whole.accuracy_hi < BLIND
        if whole.follows < FOLLOWS or mute:
            found.append(number)
    return tuple(found)


def reliability(
    store: Store, data: StudyData, filters: Filters, *, others: Sequence[Store] = ()
) -> Reliability:
    """Compute the tab.

    Args:
        data: the study, as one judge sees it.
        others: further stores in which the judge may have been calibrated.
    """
    read = load_ratings(store, data)
    keep = rows_kept(data, filters)
    root, roots = roots_of_rows(data)
    calibrated = calibration_of((store, *others), data.judge.id if data.judge else None)
    times = _times(read.ratings, keep)
    cluster = read.ratings.cluster
    both = list(combinations(range(len(read.names)), 2))[:MOST_PAIRS]
    said = [
        _levels(data.table, first_two(read.ratings, judge))
        for judge in range(max((b for _, b in both), default=0) + 1)
    ]
    again = _agreements(said[0][:, 0], said[0][:, 1], cluster, keep, root, roots)
    pairs = tuple(
        JudgePair(first=read.names[a], second=read.names[b], rows=rows)
        for a, b in both
        if (rows := _agreements(said[a][:, 0], said[b][:, 0], cluster, keep, root, roots))
    )
    usable = data.table.any_scored
    aside = _misread((store, *others), read)
    spread, judges = _spread(read, aside)
    noise, separable = _noise(data, spread, keep, root, roots) if usable else ((), False)
    length = _length(store, data, filters) if usable else _no_length()
    family = same_family(data.judge, data.candidates)
    position = (*_study_positions(data), *_lab_positions(store, data.judge, others))
    made = Reliability(
        judge=data.judge.name if data.judge else None,
        others=read.names[1:],
        statements=(),
        repeats=times,
        retest=again,
        again=asked_again(store, data, read.ratings, keep),
        pairs=pairs,
        noise=noise,
        separable=separable,
        judges=judges,
        aside=tuple(read.names[one] for one in aside),
        position=position,
        length=length,
        family=family,
        calibrated=calibrated,
        covered=0 if calibrated is None else _covered(calibrated.view, roots),
        roots=len(roots),
        steps=(),
        synthetic=bool(data.judge and data.judge.synthetic),
        cold=read.cold_again if times > 1 else data.study.judge_sampling.temperature == 0,
    )
    return _with_words(made, data)


def _levels(table: ScoreTable, scores: Ints | Floats) -> Ints:
    """Return scores as whole levels; all 0, which is none, where scales have no common levels."""
    return scores.astype(np.int64) if table.ours else table.level_codes(scores)


def _times(ratings: Ratings, keep: Mask) -> int:
    """Return how often the judge scored the checkpoint that it scored most often."""
    mine = (ratings.judge == 0) & (ratings.score > 0) & keep[ratings.item]
    return int(np.bincount(ratings.item[mine], minlength=1).max())


def _agreements(
    one: Ints, other: Ints, cluster: Ints, keep: Mask, root: Ints, roots: Sequence[str]
) -> tuple[AgreementRow, ...]:
    """Compare two scorings, over all and by root; a root of fewer than `LEAST` pairs is left out.

    Args:
        one: a score of each checkpoint, 0 = none.
        other: another one.
        cluster: of each checkpoint.
        keep: checkpoints that count.
        root: of each checkpoint.
        roots: names.
    """
    rng = np.random.default_rng(SEED) if len(cluster) <= _MANY else None

    def compare(rows: Mask) -> Agreement:
        return agreement(one[rows], other[rows], cluster[rows], rng=rng)

    whole = compare(keep)
    if not whole.n:
        return ()
    rows = [AgreementRow(name="Everything", found=whole)]
    for at, name in enumerate(roots):
        found = compare(keep & (root == at))
        if found.n >= LEAST:
            rows.append(AgreementRow(name=name, found=found))
    return tuple(rows)


def _noise(
    data: StudyData, ratings: Ratings, keep: Mask, root: Ints, roots: Sequence[str]
) -> tuple[tuple[NoiseRow, ...], bool]:
    """Return each model's number over all and by root, and whether noise can be told apart."""
    model = data.table.model[data.table.response].astype(np.int64)
    names = [one.name for one in data.candidates]
    whole = split_noise(ratings, np.where(keep, model, -1), len(names), judge=0)
    rows = _noise_rows(whole, names, ("",))
    if roots:
        inside = keep & (root >= 0)
        node = np.where(inside, model * len(roots) + root, -1)
        rows += _noise_rows(
            split_noise(ratings, node, len(names) * len(roots), judge=0), names, roots
        )
    return tuple(row for row in rows if row.estimate.n), whole.separable


def _noise_rows(split: NoiseSplit, names: Sequence[str], branches: Sequence[str]) -> list[NoiseRow]:
    """Write a row for every model on every branch, which is the order of the split's nodes."""
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = [
            np.where(split.total > 0, part / split.total, np.nan)
            for part in (split.samples, split.repeats, split.judges)
        ]
    advice, needed = split.advice, split.needed(WANTED_HALF / 100)

    def estimate(at: int, lo: Floats, hi: Floats) -> Estimate:
        return Estimate(
            value=100 * float(split.mean[at]),
            lo=100 * float(lo[at]),
            hi=100 * float(hi[at]),
            n=int(split.n[at]),
            samples=int(split.clusters[at]),
        )

    return [
        NoiseRow(
            model=at // len(branches),
            name=names[at // len(branches)],
            branch=branches[at % len(branches)],
            estimate=estimate(at, split.lo, split.hi),
            plain=estimate(at, split.plain_lo, split.plain_hi),
            samples=float(shares[0][at]) if split.separable else math.nan,
            repeats=float(shares[1][at]),
            judges=float(shares[2][at]),
            advice=advice[at],
            needed=float(needed[at]),
        )
        for at in range(len(names) * len(branches))
    ]


def _length(store: Store, data: StudyData, filters: Filters) -> LengthPull:
    table = data.table
    score = 1 + 4 * answer_scores(table).value
    kept = answers_kept(data, filters)
    return length_pull(
        table.sample.astype(np.int64),
        np.where(kept, score, np.nan),
        _lengths(store, data),
        table.outcome.astype(np.float64),
    )


def _no_length() -> LengthPull:
    nan = math.nan
    return LengthPull(n=0, clusters=0, slope=nan, lo=nan, hi=nan, controlled=False)


def _covered(view: Calibration, roots: Sequence[str]) -> int:
    tested = {one.path[0] for one in view.roots if one.tested}
    return len(tested & set(roots))


# --- votes ---------------------------------------------------------------------------------------


def _study_positions(data: StudyData) -> tuple[PositionRow, ...]:
    """Measure the pull of the place from the study's own votes, by judge."""
    votes = data.votes
    if votes is None:
        return ()
    names = {one.id: one.name for one in data.judges}
    rows = []
    for at, judge in enumerate(votes.judges):
        mine = votes.judge == at
        key = np.stack([votes.a, votes.b, votes.repeat], axis=1)[mine]
        _, group = np.unique(key, axis=0, return_inverse=True)
        group = group.reshape(-1).astype(np.int64)
        found = position_bias(
            votes.verdict[mine], votes.first[mine], group, int(group.max(initial=-1)) + 1
        )
        if found.pairs:
            rows.append(
                PositionRow(judge=names.get(judge, judge), where="votes of this study", found=found)
            )
    return tuple(rows)


def _lab_positions(
    store: Store, judge: Judge | None, others: Sequence[Store]
) -> tuple[PositionRow, ...]:
    """Measure the pull of the place from pairs that this judge compared in the Judge lab."""
    if judge is None:
        return ()
    rows = []
    for place in {one.url: one for one in (store, *others)}.values():
        found = votes_in_orders(place, judge.id, tuple(_VOTE))
        sets = {row.id: row for row in place.select(BenchSet)} if found else {}
        for group, votes in groupby(found, key=lambda row: row.group):
            mine = list(votes)
            pair: dict[tuple[str, str], int] = {}
            bias = position_bias(
                np.array([_VOTE[row.label] for row in mine], dtype=np.int8),
                np.array([row.order == "ba" for row in mine], dtype=np.int8),
                np.array([pair.setdefault((row.subject_id, row.part), len(pair)) for row in mine]),
                len(pair),
            )
            if bias.pairs:
                of = sets.get(group)
                where = f"{BENCHES[of.benchmark].title}: {of.name}" if of else "pairs of this study"
                rows.append(PositionRow(judge=judge.name, where=where, found=bias))
    return tuple(rows)


# --- family --------------------------------------------------------------------------------------


def family_of(name: str, family: str = "") -> str:
    """Return a family's plain name: what is said, else the first word of the model's name.

    `Qwen2-VL-72B` and `qwen` are one family; `gpt-4o` and `OpenAI` as well.

    Args:
        name: the model's name, with or without the maker in front (`openai/gpt-4o`).
        family: the family, where one is given.
    """
    for text in (family, name.rsplit("/", 1)[-1]):
        found = _WORD.search(text.casefold())
        if found:
            return _MAKERS.get(found.group(), found.group())
    return ""


def same_family(judge: Judge | None, candidates: Iterable[Candidate]) -> tuple[str, ...]:
    """Name the candidates of a judge's own family; simulated ones have none."""
    if judge is None or judge.synthetic:
        return ()
    own = {family_of(judge.name), family_of(judge.name, judge.family)} - {""}
    return tuple(
        one.name
        for one in candidates
        if not one.synthetic
        and own & ({family_of(one.name), family_of(one.name, one.family)} - {""})
    )


# --- words ---------------------------------------------------------------------------------------


def _with_words(made: Reliability, data: StudyData) -> Reliability:
    said = [
        *_about_itself(made),
        *_about_truth(made),
        *_about_others(made),
        *_about_noise(made),
        *_about_pulls(made),
    ]
    return replace(made, statements=tuple(said), steps=tuple(_steps(made, data)))


def _about_itself(made: Reliability) -> Iterable[str]:
    if not made.retest:
        return
    found = made.retest[0].found
    if found.n < LEAST:
        yield f"Only {found.n:,} checkpoints were scored twice: too few to say how steady it is."
        return
    words = (
        f"Asked twice, the judge gives the same score {numbers.share(found.exact)} of the time "
        f"({numbers.ends(100 * found.exact_lo, 100 * found.exact_hi, 0)} %)"
        f" and one at most a point away {numbers.share(found.adjacent)} ({found.n:,} checkpoints)"
    )
    if found.noise > 0:
        words += (
            f"; a single score has to change by {found.detectable_change:.1f} points of 1–5 "
            "before it is more than noise"
        )
    if made.cold:
        words += (
            ". It was asked at temperature 0, where a second request is the first one again, so "
            "this shows only the server's own wobble"
        )
    yield f"{words}."


def _about_truth(made: Reliability) -> Iterable[str]:
    if made.calibrated is None:
        return
    view = made.calibrated.view
    whole = view.whole
    if not whole.n:
        yield "It scored probes whose truth is known, but none of its scores could be read."
        return
    yield (
        f"Where the truth is known it is exactly right {numbers.share(whole.accuracy)} of the "
        "time, "
        f"{_off(whole.bias)} on average ({whole.n:,} steps of {made.calibrated.probes:,} probes)."
    )
    shown = [one for one in view.roots if one.flaw] or [one for one in view.leaves if one.flaw]
    for one in shown:
        name = format_path(one.path)
        if one.flaw == "blind":
            yield (
                f"On {name} its scores don't follow the truth: right only "
                f"{numbers.share(one.accuracy)} of the time, and hardly higher for better steps. "
                "That "
                "branch is marked in every fingerprint."
            )
        else:
            way = "high" if one.flaw == "lenient" else "low"
            yield (
                f"It reads {name} {points(one.bias)} too {way} on 1–5; that branch is marked in "
                "every fingerprint."
            )
    if not shown:
        yield (
            f"No branch of the {sum(one.tested for one in view.roots)} that could be looked at "
            "stands out as one that it misreads."
        )


def _off(bias: float) -> str:
    if abs(bias) < 0.05:
        return "neither kind nor strict"
    return f"{points(bias)} too {'high' if bias > 0 else 'low'} on 1–5"


def _about_others(made: Reliability) -> Iterable[str]:
    own = [pair for pair in made.pairs if pair.first == made.judge]
    for pair in own[:3]:
        found = pair.rows[0].found
        if found.n < LEAST:
            continue
        words = (
            f"{pair.first} and {pair.second} give the same score "
            f"{numbers.share(found.exact)} of the time (agreement alpha {found.alpha:.2f}, "
            f"{found.n:,} checkpoints)"
        )
        if abs(found.shift) >= 0.05:
            kinder = pair.second if found.shift > 0 else pair.first
            words += f"; {kinder} is kinder by {points(found.shift)} on 1–5"
        yield f"{words}."


def _about_pulls(made: Reliability) -> Iterable[str]:
    for row in made.position:
        bias = row.found
        if bias.lo > 0 or bias.hi < 0:
            seat = "first" if bias.beta > 0 else "second"
            yield (
                f"Of two answers, {row.judge} leans to the one shown {seat}: the winner stays the "
                f"same in {numbers.share(bias.consistent / bias.pairs)} of {bias.pairs:,} pairs "
                "when "
                f"they are swapped ({row.where})."
            )
    pull = made.length
    if math.isfinite(pull.slope) and (pull.lo > 0 or pull.hi < 0):
        held = ", the final answer's outcome held equal" if pull.controlled else ""
        way = "more" if pull.slope > 0 else "less"
        yield (
            "An answer twice as long as another to the same question scores "
            f"{abs(pull.slope):.2f} points of 1–5 {way}{held}; longer answers may also say more, "
            "so this is a warning, not a proof."
        )
    if made.family:
        names = ", ".join(made.family[:4])
        yield (
            f"The judge is of the same family as {names}: it may be kinder to its own kind. Have "
            "another family's judge score the same samples."
        )


def _about_noise(made: Reliability) -> Iterable[str]:
    whole = [row for row in made.noise if not row.branch]
    if not whole:
        return
    if made.aside:
        yield (
            f"{', '.join(made.aside)} {'is' if len(made.aside) == 1 else 'are'} left out of the "
            "judges' noise: where the truth is known, such scores don't follow it."
        )
    if made.judges == LEAST_JUDGES - 1:
        yield (
            "Two judges show one difference between them, from which no share of the uncertainty "
            f"can be told: it takes {LEAST_JUDGES} judges of the same checkpoints. How kind this "
            "one is beside others isn't in the intervals."
        )
        if not made.separable:
            return
    if not made.separable:
        if made.cold and made.retest:
            yield (
                "One judge, asked at temperature 0: asking it again shows nothing of its noise, so "
                "the noise can't be told from the samples'. How kind it is beside other judges "
                "isn't in the intervals at all."
            )
            return
        yield (
            "One judge, asked once: its noise is inside the intervals, but can't be told from the "
            "samples', and how kind it is beside other judges isn't in them at all."
        )
        return
    shares = [1 - row.samples for row in whole if math.isfinite(row.samples)]
    if not shares:
        return
    words = (
        f"Of the uncertainty of a model's number {numbers.share(float(np.mean(shares)))} is the "
    )
    yield f"{words}judge's; {_helps(whole)}."


def _helps(rows: Sequence[NoiseRow]) -> str:
    """Say what would help more, as the rows say it one by one."""
    kinds = [row.advice for row in rows if row.advice != "unknown"]
    found = {kind: kinds.count(kind) for kind in _HELPS if kind in kinds}
    if not found:
        return "what would help more can't be told"
    if len(found) == 1:
        return _HELPS[next(iter(found))]
    told = [
        f"for {count:,} of {len(kinds):,} models {_HELPS[kind]}" for kind, count in found.items()
    ]
    return "; ".join(told)


def _steps(made: Reliability, data: StudyData) -> Iterable[NextStep]:
    name = data.study.name
    own = data.judge is None or data.judge.id == data.study.judge_id
    whose = "" if own else f" --judge {_endpoint(data)}"
    if made.judge is None:
        yield NextStep(
            text="Nothing is judged yet: let a judge score the answers first.",
            command=run_command(name),
            runs=True,
        )
        return
    pairs = made.retest[0].found.n if made.retest else 0
    if not pairs or made.cold:
        drawn = " At temperature 0 that would be the same request." if made.cold else ""
        yield NextStep(
            text="Find out how steady it is: have it score the first 100 samples twice"
            f"{', drawing freely' if made.cold else ''}.{drawn}",
            command=f"python -m atom run start --study {shlex.quote(name)}{whose} --stages scoring "
            f"--repeat 2 --limit 100{' --judge-temperature 0.7' if made.cold else ''}",
            runs=True,
        )
    elif made.retest[0].found.clusters < WANTED_PAIRS:
        yield NextStep(
            text=f"{made.retest[0].found.clusters:,} samples were scored twice; "
            f"{WANTED_PAIRS} tell how steady it is on every branch.",
            command=f"python -m atom run start --study {shlex.quote(name)}{whose} --stages scoring "
            f"--repeat 2 --limit {WANTED_PAIRS}",
            runs=True,
        )
    if made.calibrated is None:
        yield NextStep(
            text="Find out where it misreads: let it score answers to probes whose truth is known.",
            command=f"python -m atom judge calibrate --judge {_endpoint(data)}",
            calibrates=True,
        )
    if not made.others:
        yield NextStep(
            text="Find out how much depends on who judges: have a judge of another family score "
            "the same samples.",
            command=f"python -m atom run start --study {shlex.quote(name)} --stages scoring "
            "--judge ANOTHER_ENDPOINT --limit 100",
            runs=True,
        )


def run_command(study: str) -> str:
    """Return the command by which a judge scores a study."""
    return f"python -m atom run start --study {shlex.quote(study)} --judge ENDPOINT"


def _endpoint(data: StudyData) -> str:
    known = data.judge.endpoint if data.judge else None
    return shlex.quote(known) if known else "ENDPOINT"
