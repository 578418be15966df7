"""Are the criteria sound, and does the ranking hang on their weights?

Reference: METHODS T9 (health of criteria); ATOM Table 5 (people on criteria), Eq. 2 (weights).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from atom.analysis.capability.criteria_health import criteria_health, near_duplicates
from atom.analysis.intervals import Floats
from atom.analysis.weights import weight_sensitivity
from atom.display import numbers
from atom.records import AnnotationKind, Criterion
from atom.store import Store
from atom.store.labels import labels_of
from atom.views.filters import Filters
from atom.views.people.annotations import standing
from atom.views.reading import score_rows_kept
from atom.views.study_data import StudyData
from taxonomy import Path

Kind = Literal["passed", "failed", "backwards", "apart", "doubted", "twins"]
TITLES: dict[Kind, str] = {
    "backwards": "Discriminate backwards",
    "apart": "Judges disagree on",
    "doubted": "People doubt the truth of",
    "passed": "Every model passes",
    "failed": "Every model fails",
    "twins": "Ask the same twice in one sample",
}
GAP = 0.25
"""Mean distance between the highest and the lowest judge from which on they disagree, of 0..1."""
ALIKE = 0.95
"""Share of words in common from which on two criteria ask the same."""
SHOWN = 60
"""Criteria of a kind that are listed."""
DRAWS = 100
MOST_DRAWN = 300_000
"""With more checkpoints, weights aren't shaken."""
MOST_READ = 20_000
"""With more criteria, twins aren't looked for."""
MOST_JUDGES = 4
SEED = 17
_LABELS: tuple[AnnotationKind, ...] = ("accuracy",)
Load = Callable[[str], StudyData]
"""Judge's id -> the study as that judge sees it."""


@dataclass(frozen=True, kw_only=True)
class SuspectCriterion:
    """A criterion that something is wrong with, and the door to its sample.

    Attributes:
        question: what it asks.
        truth: what is right.
        leaf: where it hangs; empty = nowhere.
        sample: the sample's place in the study, from 1.
        n: scored answers.
        mean: their mean, 0-100; NaN without any.
        why: what is wrong, in words with the number.
        filters: where the door leads.
    """

    criterion_id: str
    question: str
    truth: str
    leaf: Path
    sample: int
    n: int
    mean: float
    why: str
    filters: Filters


@dataclass(frozen=True, kw_only=True)
class SuspectGroup:
    """Criteria with one thing wrong.

    Attributes:
        n: how many there are.
        rows: the worst of them.
    """

    kind: Kind
    n: int
    rows: tuple[SuspectCriterion, ...]


@dataclass(frozen=True, kw_only=True)
class ShakenModel:
    """One model under other weights.

    Attributes:
        model: its place in the study.
        score: as weighted, 0-100.
        equal: with equal weights.
        lo: 2.5 % quantile under shaken weights.
        hi: 97.5 % quantile.
        worst: its lowest capability as weighted; empty = none can be named.
        equal_worst: the same with equal weights.
        same_worst: share of draws that keep it; NaN = none.
        filters: leads to its checkpoints there.
    """

    model: int
    name: str
    score: float
    equal: float
    lo: float
    hi: float
    worst: Path
    equal_worst: Path
    same_worst: float
    filters: Filters


@dataclass(frozen=True, kw_only=True)
class WeightRobustness:
    """Models under other weights, the best first.

    Attributes:
        rows: models with a score.
        same_first: share of draws that keep the first.
        same_order: share of draws that keep the whole order.
        kendall: rank agreement with equal weights.
        draws: how often weights were shaken.
    """

    rows: tuple[ShakenModel, ...]
    same_first: float
    same_order: float
    kendall: float
    draws: int


@dataclass(frozen=True, kw_only=True)
class CriteriaView:
    """The Criteria tab.

    Attributes:
        criteria: criteria with scores.
        judges: judges whose marks were compared.
        labelled: criteria that people gave a label on.
        groups: what is wrong, the gravest kind first; kinds without any are left out.
        sound: criteria that nothing is known against.
        shaken: models under other weights; None with under two models, or too many checkpoints.
    """

    criteria: int
    judges: int
    labelled: int
    groups: tuple[SuspectGroup, ...]
    sound: int
    shaken: WeightRobustness | None


@dataclass(frozen=True, kw_only=True)
class _DoubtfulCriteria:
    """Criteria of one kind: index -> why, the worst first."""

    kind: Kind
    why: dict[int, str]


def criteria_view(store: Store, data: StudyData, filters: Filters, load: Load) -> CriteriaView:
    """Look at every criterion of a study over the answers that the filters keep.

    Args:
        store: where texts and labels are.
        filters: what narrows it; the chain doesn't.
        load: gives the study as another judge sees it.
    """
    table = data.table
    rows = score_rows_kept(data, filters)
    health = criteria_health(table, rows)
    judged = np.flatnonzero(health.n > 0)
    sample_of = np.zeros(max(len(table.criterion_ids), 1), dtype=np.int64)
    sample_of[table.criterion] = table.sample[table.response]
    accuracy = _accuracy(store, data)
    judges = [one for one in data.judges if one.kind != "person"][:MOST_JUDGES]
    found = [
        _DoubtfulCriteria(kind="backwards", why={
            int(at): f"correlation {numbers.signed(health.discrimination[at], 2)} with the "
            f"rest of the sample’s score over {health.n[at]} answers"
            for at in sorted(np.flatnonzero(health.backwards),
                             key=lambda at: health.discrimination[at])
        }),
        _DoubtfulCriteria(kind="apart", why=_apart([load(one.id) for one in judges], data)
                          if len(judges) > 1 else {}),
        _DoubtfulCriteria(kind="doubted", why={
            at: why for at, name in enumerate(table.criterion_ids)
            if (why := accuracy.get(name))
        }),
        _DoubtfulCriteria(kind="failed", why={
            int(at): (
                f"{numbers.share(health.floor[at])} of {health.n[at]:,} answers at the lowest "
                "mark"
            )
            for at in np.flatnonzero(health.failed_by_all)
        }),
        _DoubtfulCriteria(kind="passed", why={
            int(at): (
                f"{numbers.share(health.ceiling[at])} of {health.n[at]:,} answers at the best "
                "mark"
            )
            for at in np.flatnonzero(health.passed_by_all)
        }),
    ]  # fmt: skip
    texts = _texts(store, data, judged if len(judged) <= MOST_READ else _named(found))
    if len(judged) <= MOST_READ:
        names = [_question(texts, table.criterion_ids[int(at)]) for at in judged]
        twins = near_duplicates(names, sample_of[judged], least_overlap=ALIKE)
        pairs = zip(
            twins.first.tolist(), twins.second.tolist(), twins.overlap.tolist(), strict=True
        )
        found.append(_DoubtfulCriteria(kind="twins", why={
            int(judged[one]): f"“{names[other][:90]}” shares {numbers.share(share)} of its words"
            for one, other, share in pairs
        }))  # fmt: skip

    def suspect(at: int, why: str) -> SuspectCriterion:
        name, sample = table.criterion_ids[at], int(sample_of[at])
        text = texts.get(name)
        leaf = table.leaf[table.criterion == at][:1]
        return SuspectCriterion(
            criterion_id=name,
            question=text.question if text else name,
            truth=text.ground_truth if text else "",
            leaf=table.leaves[int(leaf[0])] if len(leaf) and leaf[0] >= 0 else (),
            sample=sample + 1,
            n=int(health.n[at]),
            mean=100 * float(health.mean[at]),
            why=why,
            filters=filters.but(
                model=None, node=(), show="all", sample=table.sample_ids[sample], criterion=name
            ),
        )

    groups = tuple(
        SuspectGroup(
            kind=one.kind,
            n=len(one.why),
            rows=tuple(suspect(at, why) for at, why in list(one.why.items())[:SHOWN]),
        )
        for one in found
        if one.why
    )
    wrong = {at for one in found for at in one.why}
    return CriteriaView(
        criteria=len(judged),
        judges=len(judges),
        labelled=len(accuracy),
        groups=groups,
        sound=len(set(judged.tolist()) - wrong),
        shaken=shaken_weights(data, filters),
    )


def _named(found: Sequence[_DoubtfulCriteria]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array([at for one in found for at in list(one.why)[:SHOWN]], dtype=np.int64)


def _texts(store: Store, data: StudyData, wanted: Sequence[int] | object) -> dict[str, Criterion]:
    names = [data.table.criterion_ids[int(at)] for at in np.asarray(wanted)]
    return {one.id: one for one in store.get_many(Criterion, names)}


def _question(texts: dict[str, Criterion], name: str) -> str:
    return texts[name].question if name in texts else name


def _accuracy(store: Store, data: StudyData) -> dict[str, str]:
    """Return what people doubt: criterion -> in words, empty where they find it right."""
    words = {1: "people call it wrong", 2: "people call it partly right, or unclear"}
    found: dict[str, str] = {}
    for (_, subject), one in standing(labels_of(store, data.study.id, _LABELS)).items():
        values = [label.value for label in one.given if label.value is not None]
        if one.state == "conflict":
            found[subject] = f"people disagree: {', '.join(f'{v:g}' for v in sorted(values))} of 3"
        elif one.label is not None and one.label.value is not None:
            found[subject] = "" if one.label.value > 2.5 else words[max(1, int(one.label.value))]
    return found


def _apart(seen: Sequence[StudyData], data: StudyData) -> dict[int, str]:
    """Return the criteria on which judges lie apart on the same answers, the farthest first."""
    answers = {name: at for at, name in enumerate(data.table.response_ids)}
    criteria = {name: at for at, name in enumerate(data.table.criterion_ids)}
    width = max(len(criteria), 1)
    keys, values = [], []
    for one in seen:
        table = one.table
        answer = np.array([answers.get(name, -1) for name in table.response_ids] or [-1])
        number = np.array([criteria.get(name, -1) for name in table.criterion_ids] or [-1])
        value: Floats = np.asarray(table.value, dtype=np.float64)
        good = np.isfinite(value) & (answer[table.response] >= 0) & (number[table.criterion] >= 0)
        keys.append(answer[table.response[good]] * width + number[table.criterion[good]])
        values.append(value[good])
    key, of, n = np.unique(np.concatenate(keys), return_inverse=True, return_counts=True)
    lowest, highest = np.full(len(key), np.inf), np.full(len(key), -np.inf)
    np.minimum.at(lowest, of, np.concatenate(values))
    np.maximum.at(highest, of, np.concatenate(values))
    both = n > 1
    criterion, gap = key[both] % width, (highest - lowest)[both]
    met = np.bincount(criterion, minlength=width)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(criterion, weights=gap, minlength=width) / met
    far = np.flatnonzero(np.nan_to_num(mean) >= GAP)
    return {
        int(at): f"judges lie {100 * mean[at]:.0f} points of 100 apart on {met[at]} answers"
        for at in sorted(far, key=lambda at: -mean[at])
    }


def shaken_weights(data: StudyData, filters: Filters) -> WeightRobustness | None:
    """Rank the models under equal and under shaken weights.

    Returns:
        The models; None with under two models with scores, or with too many checkpoints.
    """
    table, rows = data.table, score_rows_kept(data, filters)
    if not 0 < int(rows.sum()) <= MOST_DRAWN:
        return None
    seen = weight_sensitivity(table, np.random.default_rng(SEED), rows, draws=DRAWS)
    known = [
        int(at) for at in np.argsort(-seen.score, kind="stable") if np.isfinite(seen.score[at])
    ]
    if len(known) < 2:
        return None

    def path(place: int) -> Path:
        return table.leaves[place] if place >= 0 else ()

    return WeightRobustness(
        rows=tuple(
            ShakenModel(
                model=at,
                name=data.candidates[at].name,
                score=100 * float(seen.score[at]),
                equal=100 * float(seen.equal_score[at]),
                lo=100 * float(seen.score_lo[at]),
                hi=100 * float(seen.score_hi[at]),
                worst=path(int(seen.worst[at])),
                equal_worst=path(int(seen.equal_worst[at])),
                same_worst=float(seen.same_worst[at]),
                filters=filters.but(
                    model=data.candidates[at].id,
                    node=path(int(seen.worst[at])),
                    sample=None,
                    criterion=None,
                ),
            )
            for at in known
        ),
        same_first=seen.same_first,
        same_order=seen.same_order,
        kendall=seen.kendall_equal if math.isfinite(seen.kendall_equal) else math.nan,
        draws=seen.draws,
    )
