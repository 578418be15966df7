"""Fidelity: how well each method's scores rank a study's answers as people do, and at what cost.

Reference: ATOM 4.1, Tables 1, 2 and 5, Figure 7; METHODS A6-A8, B9.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from atom.analysis.agreement.criteria_quality import HitRates
from atom.display import numbers
from atom.judgebench.vl_rewardbench.ask import HARD_PART
from atom.methods.own_criteria import MATCH_PART
from atom.methods.sight import SIGHT_PART
from atom.records import Judge
from atom.store import Store
from atom.store.verdicts import judges_of_group
from atom.views.lab.fidelity.comparison import FidelityGround, hold
from atom.views.lab.fidelity.costs import costs_of
from atom.views.lab.fidelity.criteria_labels import QualityRow, labels_of_criteria
from atom.views.lab.fidelity.people import People, is_planted, kinds_of
from atom.views.lab.fidelity.rows import MethodRow, alike_methods, method_rows, roots_of_pairs
from atom.views.snapshot import open_study
from atom.views.study_data import StudyData, chosen_judge, judge_of_id


@dataclass(frozen=True, kw_only=True)
class FidelityView:
    """What the tab shows.

    Attributes:
        synthetic: whether it is made of probes.
        judge: the judge whose methods are looked at; None without any.
        judges: judges with checkpoints or methods here: (id, name).
        people: people's rankings.
        rows: the methods, in their order.
        roots: roots with pairs, the most first.
        shared: samples that all methods with numbers were asked about; the rows rest on these
            where there are any.
        uneven: the methods were asked about different samples and share none.
        quality: people's labels of criteria, all first; empty without labels.
        hits: people's leaves against the judge's; None without labels.
        undecided: criteria on whose leaf people don't agree; left out of `hits`.
        compared: samples with two answers.
        alike: titles of methods that order all pairs of the shared samples in the same way though
            the judge was asked differently; empty without.
    """

    study_id: str
    synthetic: bool
    judge: Judge | None
    judges: tuple[tuple[str, str], ...]
    people: People
    rows: tuple[MethodRow, ...]
    roots: tuple[str, ...]
    shared: int
    uneven: bool
    quality: tuple[QualityRow, ...]
    hits: HitRates | None
    undecided: int
    compared: int
    alike: tuple[str, ...] = ()

    @property
    def rest(self) -> str:
        """What the rows rest on, in a sentence; empty where nothing was asked."""
        if self.shared:
            samples = numbers.count(self.shared, "sample")
            return (
                f"All rows rest on the {samples} that people ranked and all these methods were "
                "asked about."
            )
        if self.uneven:
            return "The methods were asked about different samples, so the rows can’t be compared."
        return ""

    @property
    def measured(self) -> tuple[MethodRow, ...]:
        """Rows that have an accuracy."""
        return tuple(row for row in self.rows if row.accuracy is not None)


def fidelity(
    store: Store,
    data: StudyData,
    own: StudyData | None = None,
    ground: FidelityGround | None = None,
) -> FidelityView:
    """Hold a judge's methods against people's rankings.

    Args:
        data: the study, with the checkpoints of the judge that is looked at.
        own: the study with its own judge's checkpoints, which say what capability a sample is of;
            None = the same.
        ground: what is held against every judge; read when None.
    """
    own = own or data
    held = hold(store, data, own, ground)
    study, judge = data.study, data.judge
    read, pairs, shared, roots = held.read, held.pairs, held.shared, held.roots
    labels, ranking, sample_of = held.labels, held.ranking, held.sample_of
    ranked = frozenset(pairs.sample)
    costs = costs_of(store, {name: one.calls for name, one in read.items()}, shared)
    quality, hits, undecided = labels_of_criteria(store, labels, own)
    return FidelityView(
        study_id=study.id,
        synthetic=study.synthetic,
        judge=judge,
        judges=_judges(store, data),
        people=People(
            labels=len(ranking),
            annotators=tuple(sorted({label.annotator for label in ranking})),
            pairs=len(pairs.order),
            samples=len(ranked),
            ties=float((pairs.order == 0).mean()) if len(pairs.order) else math.nan,
            kinds=kinds_of(ranking, sample_of, data),
            foreign=held.foreign,
            synthetic=any(is_planted(label) for label in ranking),
        ),
        rows=method_rows(read, pairs, shared, roots, data, costs),
        roots=roots_of_pairs(pairs, shared, roots),
        shared=len(shared),
        uneven=any(one.asked for one in read.values()) and bool(ranked) and not shared,
        quality=quality,
        hits=hits,
        undecided=undecided,
        compared=held.compared,
        alike=alike_methods(read, pairs, shared),
    )


def _judges(store: Store, data: StudyData) -> tuple[tuple[str, str], ...]:
    ids = judges_of_group(store, data.study.id, without=(HARD_PART, MATCH_PART, SIGHT_PART))
    found = dict.fromkeys([*(judge.id for judge in data.judges), *ids])
    names = {judge.id: judge.name for judge in (*store.get_many(Judge, found), *data.judges)}
    return tuple((name, names[name]) for name in found if name in names)


def fidelity_of(
    store: Store, data: StudyData, judge_id: str | None, ground: FidelityGround | None = None
) -> FidelityView:
    """Return the tab for any judge that was asked about the study.

    Args:
        data: the study, as it is looked at.
        judge_id: the judge, by id or name; None, or one that isn't known, = the one that `data` is
            of.
        ground: what is held against every judge; read when None.
    """
    return fidelity(store, as_judged(store, data, judge_id), data, ground)


def as_judged(store: Store, data: StudyData, judge_id: str | None) -> StudyData:
    """Return the study with another judge's checkpoints; arguments as `fidelity_of`."""
    other = chosen_judge(store, data.study, judge_id)
    judge = None if judge_id is None or other is None else judge_of_id(store, other)
    same = data.judge is not None and judge is not None and judge.id == data.judge.id
    if judge is None or same or judge_id not in (judge.id, judge.name):
        return data
    return open_study(store, data.study.id, judge.id)
