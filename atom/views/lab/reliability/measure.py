"""How far a study's judge can be trusted: with itself, with others, and with the truth.

Everything is computed from what is stored: scorings asked more than once, other judges' scorings of
the same checkpoints, votes in both orders, and probes whose truth is known.

Reference: METHODS B12 (test-retest, position, verbosity), B13b (confusion), B20 (detectable
change); `design/013-judge-noise.md`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from atom.analysis.agreement.calibration import Calibration
from atom.analysis.agreement.coefficients import Agreement, agreement
from atom.analysis.agreement.judge_noise import Ratings, first_two
from atom.analysis.agreement.length_pull import LengthPull, length_pull
from atom.analysis.intervals import Floats, Ints
from atom.analysis.layout import Mask
from atom.analysis.score_table import ScoreTable, answer_scores
from atom.store import Store
from atom.store.reading.marks import answer_lengths
from atom.views.filters import Filters, answers_kept, rows_kept
from atom.views.lab.asked_again import asked_again
from atom.views.lab.calibrations import calibration_of
from atom.views.lab.reliability.family import same_family
from atom.views.lab.reliability.noise import misreading_judges, noise_of, telling_ratings
from atom.views.lab.reliability.position import lab_positions, study_positions
from atom.views.lab.reliability.ratings import LEAST, load_ratings
from atom.views.lab.reliability.tab import AgreementRow, JudgePair, Reliability
from atom.views.lab.reliability.words import with_words
from atom.views.study_data import StudyData, roots_of_rows

SEED = 12
MOST_PAIRS = 10
"""Pairs of judges that are compared, those with the study's own judge first."""
_MANY = 100_000
"""Checkpoints above which agreement has no interval: drawing them again takes too long."""


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
    aside = misreading_judges((store, *others), read)
    spread, judges = telling_ratings(read, aside)
    noise, separable = noise_of(data, spread, keep, root, roots) if usable else ((), False)
    length = _length(store, data, filters) if usable else _no_length()
    family = same_family(data.judge, data.candidates)
    position = (*study_positions(data), *lab_positions(store, data.judge, others))
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
    return with_words(made, data)


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


def _length(store: Store, data: StudyData, filters: Filters) -> LengthPull:
    table = data.table
    score = 1 + 4 * answer_scores(table).value
    size = answer_lengths(store)
    return length_pull(
        table.sample.astype(np.int64),
        np.where(answers_kept(data, filters), score, np.nan),
        np.array([size.get(name, 0) for name in table.response_ids], dtype=np.float64),
        table.outcome.astype(np.float64),
    )


def _no_length() -> LengthPull:
    nan = math.nan
    return LengthPull(n=0, clusters=0, slope=nan, lo=nan, hi=nan, controlled=False)


def _covered(view: Calibration, roots: Sequence[str]) -> int:
    tested = {one.path[0] for one in view.roots if one.tested}
    return len(tested & set(roots))
