"""Fidelity: how well each method's scores rank a study's answers as people do, and at what cost.

Reference: ATOM 4.1, Tables 1, 2 and 5, Figure 7; METHODS A6-A8, B9.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from atom.analysis.agreement.criteria_quality import (
    CriteriaQuality,
    HitRates,
    criteria_quality,
    dominant_root,
    hit_rates,
)
from atom.analysis.agreement.fidelity import (
    MethodAccuracy,
    PeoplePairs,
    Share,
    compare_methods,
    method_accuracy,
    orders_of,
    people_agreement,
    people_pairs,
)
from atom.analysis.compare.paired import PairedGap
from atom.analysis.intervals import Floats, Ints
from atom.analysis.score_table import ScoreTable
from atom.judgebench.vl_rewardbench.ask import HARD_PART
from atom.methods.base import Method, Scores
from atom.methods.checkpoints import atom_scores
from atom.methods.own_criteria import MATCH_PART
from atom.methods.registry import METHODS
from atom.methods.sight import SIGHT_PART
from atom.records import (
    Annotation,
    Judge,
    Study,
    Verdict,
)
from atom.store import Store, standing
from atom.store.labels import labels_of
from atom.store.reading.calls import paid_for, scoring_calls, solution_calls
from atom.store.standing import leaves_of, samples_of_criteria
from atom.store.verdicts import first_verdicts, judges_of_group
from atom.views.snapshot import open_study
from atom.views.study_data import StudyData, chosen_judge, judge_of_id
from taxonomy import Path, fold, parse_path

_SEED = 20_041
"""Of the halves that a tie tolerance is fitted on."""
_ATOM = "atom"
MIN_MET = 5
"""Samples on which two people must have met before their agreement bounds what a judge can do."""
UNMAPPED = "no capability"


@dataclass(frozen=True, kw_only=True)
class MethodCost:
    """What a method's calls took.

    Attributes:
        calls: calls, each once however many verdicts rest on it.
        tokens_in: tokens sent; None where the server told none.
        tokens_out: tokens received.
        usd: cost; None where a price is unknown.
        samples: samples that were asked about.
    """

    calls: int
    tokens_in: int | None
    tokens_out: int | None
    usd: float | None
    samples: int

    @property
    def calls_each(self) -> float:
        """Calls a sample."""
        return self.calls / self.samples if self.samples else math.nan

    @property
    def usd_each(self) -> float | None:
        """USD a sample."""
        return None if self.usd is None or not self.samples else self.usd / self.samples


@dataclass(frozen=True, kw_only=True)
class MethodRow:
    """A method beside people.

    Attributes:
        about: what it asks.
        removes: what of ATOM is taken away.
        samples: samples that people ranked and the method was asked about.
        accuracy: ties exact; None where there is nothing to compare.
        tolerant: ties within a tolerance that was fitted on the other half of the samples.
        by_root: root → share of pairs ordered as people do, unread ones wrong.
        against_atom: accuracy less ATOM's on pairs that both have numbers for; None for ATOM
            itself and without it.
        unscored: verdicts that couldn't be read, or checkpoints.
        failed: questions whose call failed.
        cost: of the samples that it was asked about.
    """

    name: str
    title: str
    about: str
    removes: str
    samples: int
    accuracy: MethodAccuracy | None
    tolerant: MethodAccuracy | None
    by_root: Mapping[str, Share]
    against_atom: PairedGap | None
    unscored: int
    failed: int
    cost: MethodCost


@dataclass(frozen=True, kw_only=True)
class Meeting:
    """Labels of one kind, and how far two of their givers agree.

    Attributes:
        planted: drawn from probes' truth, by no person.
        labels: rankings and preferences.
        agreed: share of two givers' orders of one pair that are equal, with its cluster interval.
        samples: samples on which two of them met.
    """

    planted: bool
    labels: int
    annotators: tuple[str, ...]
    agreed: Share
    samples: int

    @property
    def met(self) -> int:
        """Times that two gave the same pair an order."""
        return self.agreed.n

    def bounds(self, best: float) -> bool:
        """Whether their agreement may be called what a judge can't be expected to beat.

        Args:
            best: the best method's share of pairs in people's order; NaN = none is measured.
        """
        return not self.planted and self.samples >= MIN_MET and not best > self.agreed.hi


@dataclass(frozen=True, kw_only=True)
class People:
    """People's rankings.

    Attributes:
        labels: rankings and preferences.
        pairs: pairs of answers that somebody ordered.
        ties: share of pairs that are ties; NaN without any.
        kinds: people's labels, then planted ones, each with its own agreement; those there are.
        foreign: ranked answers that aren't among those compared.
        synthetic: some are drawn from probes' truth.
    """

    labels: int
    annotators: tuple[str, ...]
    pairs: int
    samples: int
    ties: float
    kinds: tuple[Meeting, ...]
    foreign: int
    synthetic: bool


@dataclass(frozen=True, kw_only=True)
class QualityRow:
    """People's labels of criteria under one root; `root` is empty for all."""

    root: str
    quality: CriteriaQuality


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
    def measured(self) -> tuple[MethodRow, ...]:
        """Rows that have an accuracy."""
        return tuple(row for row in self.rows if row.accuracy is not None)


@dataclass(frozen=True, kw_only=True)
class _Read:
    """One method, read from the store: its numbers, and whom it was asked about."""

    scores: Mapping[str, int | Fraction]
    asked: frozenset[str]
    unscored: int
    failed: int
    calls: Mapping[str, frozenset[str]]
    """Sample's id → call ids."""


@dataclass(frozen=True, kw_only=True)
class Held:
    """A judge's methods and people's orders of the same answers, read.

    Attributes:
        labels: people's labels of any kind.
        ranking: those of them that order answers.
        sample_of: answer's id -> sample's id, of the answers that are compared.
        compared: samples with two answers.
        foreign: ranked answers that aren't among those.
        pairs: what people say of each pair.
        read: method's name -> what it says.
        shared: samples that people ranked and all these methods were asked about.
        roots: sample's id -> its capability.
    """

    labels: Sequence[Annotation]
    ranking: Sequence[Annotation]
    sample_of: Mapping[str, str]
    compared: int
    foreign: int
    pairs: PeoplePairs
    read: Mapping[str, _Read]
    shared: frozenset[str]
    roots: Mapping[str, str]

    def gaps(self, method: str) -> Floats:
        """Return a method's number of each pair's first answer less its second's; NaN unread."""
        return _gaps(self.read[method].scores, self.pairs)

    def counted(self, method: str) -> NDArray[np.bool_]:
        """Say which pairs a method's figures are of, shape (P,)."""
        asked = self.read[method].asked
        if not asked:
            return np.zeros(len(self.pairs.order), dtype=np.bool_)
        return _among(self.pairs, self.shared or asked)


@dataclass(frozen=True, kw_only=True)
class Ground:
    """What of a study is held against every judge.

    Attributes:
        responses: the answers that are ranked, by sample.
        labels: all that people said.
    """

    responses: Mapping[str, tuple[str, ...]]
    labels: Sequence[Annotation]


def ground_of(store: Store, study: Study) -> Ground:
    """Read what of a study is held against every judge; several judges share it."""
    return Ground(responses=_compared(store, study), labels=labels_of(store, study.id))


def hold(
    store: Store, data: StudyData, own: StudyData | None = None, ground: Ground | None = None
) -> Held:
    """Read what a judge's methods and people say of a study's answers; arguments as `fidelity`."""
    ground = ground or ground_of(store, data.study)
    responses, labels = ground.responses, ground.labels
    sample_of = {answer: sample for sample, answers in responses.items() for answer in answers}
    ranking = [label for label in labels if label.kind in ("ranking", "preference")]
    orders, foreign = orders_of(ranking, sample_of)
    pairs = people_pairs(orders)
    judge = data.judge
    read = {}
    if len(pairs.order):
        read = _read_methods(store, data, responses, judge.id if judge else None)
    having = [one for one in read.values() if one.asked]
    ranked = frozenset(pairs.sample)
    return Held(
        labels=labels,
        ranking=ranking,
        sample_of=sample_of,
        compared=len(responses),
        foreign=foreign,
        pairs=pairs,
        read=read,
        shared=ranked.intersection(*(one.asked for one in having)) if having else frozenset(),
        roots=_roots((own or data).table),
    )


def fidelity(
    store: Store, data: StudyData, own: StudyData | None = None, ground: Ground | None = None
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
    costs = _costs(store, {name: one.calls for name, one in read.items()}, shared)
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
            kinds=_kinds(ranking, sample_of, data),
            foreign=held.foreign,
            synthetic=any(_planted(label) for label in ranking),
        ),
        rows=_rows(read, pairs, shared, roots, data, costs),
        roots=_roots_of_pairs(pairs, shared, roots),
        shared=len(shared),
        uneven=any(one.asked for one in read.values()) and bool(ranked) and not shared,
        quality=quality,
        hits=hits,
        undecided=undecided,
        compared=held.compared,
        alike=_alike(read, pairs, shared),
    )


def _planted(label: Annotation) -> bool:
    return label.note.startswith("synthetic")


def _kinds(
    labels: Sequence[Annotation], sample_of: Mapping[str, str], data: StudyData
) -> tuple[Meeting, ...]:
    """Return people's labels and planted ones apart: a person's never meets a planted one."""
    found = []
    for planted in (False, True):
        mine = [one for one in labels if one.state == "given" and _planted(one) is planted]
        if not mine:
            continue
        pairs = people_pairs(orders_of(mine, sample_of)[0])
        met = {name for name, n in zip(pairs.sample, pairs.meetings, strict=True) if n}
        found.append(
            Meeting(
                planted=planted,
                labels=len(mine),
                annotators=tuple(sorted({label.annotator for label in mine})),
                agreed=people_agreement(pairs, data.clusters_of(pairs.sample)),
                samples=len(met),
            )
        )
    return tuple(found)


# --- what is compared ----------------------------------------------------------------------------


def _compared(store: Store, study: Study) -> dict[str, tuple[str, ...]]:
    """Return the answers that are ranked, by sample; the same ones as when they are asked about."""
    found = standing.compared_answers(store, study)
    return {
        sample: tuple(each.id for each in answers)
        for sample, answers in found.items()
        if len(answers) > 1
    }


def _judges(store: Store, data: StudyData) -> tuple[tuple[str, str], ...]:
    ids = judges_of_group(store, data.study.id, without=(HARD_PART, MATCH_PART, SIGHT_PART))
    found = dict.fromkeys([*(judge.id for judge in data.judges), *ids])
    names = {judge.id: judge.name for judge in (*store.get_many(Judge, found), *data.judges)}
    return tuple((name, names[name]) for name in found if name in names)


# --- methods -------------------------------------------------------------------------------------


def _read_methods(
    store: Store, data: StudyData, responses: Mapping[str, Sequence[str]], judge: str | None
) -> dict[str, _Read]:
    study = data.study
    verdicts = first_verdicts(store, study.id, judge, study.judge_sampling) if judge else {}
    own = _read_checkpoints(store, data, responses, judge)
    return {
        name: replace(own, scores=atom_scores(data.table, method.name))
        if method.source == "checkpoints"
        else _read_verdicts(store, method, responses, verdicts, data.study.id)
        for name, method in METHODS.items()
    }


def _read_verdicts(
    store: Store,
    method: Method,
    responses: Mapping[str, Sequence[str]],
    verdicts: Mapping[str, Sequence[Verdict]],
    study_id: str,
) -> _Read:
    scores: dict[str, int | Fraction] = {}
    calls: dict[str, frozenset[str]] = {}
    asked = set()
    states: Counter[str] = Counter()
    prefix = f"{method.name}/"
    for sample, answers in responses.items():
        mine = [one for one in verdicts.get(sample, ()) if one.part.startswith(prefix)]
        if not mine or method.scores is None:
            continue
        asked.add(sample)
        states.update(one.state for one in mine)
        got: Scores = method.scores(answers, mine)
        scores.update({name: value for name, value in got.items() if value is not None})
        calls[sample] = frozenset(one.call_id for one in mine if one.call_id)
    if method.name == "no_decomposition":
        for sample, call in solution_calls(store, study_id, asked, criteria=False):
            calls[sample] = calls.get(sample, frozenset()) | {call}
    return _Read(
        scores=scores,
        asked=frozenset(asked),
        unscored=states["unscored"],
        failed=states["failed"],
        calls=calls,
    )


def _read_checkpoints(
    store: Store,
    data: StudyData,
    responses: Mapping[str, Sequence[str]],
    judge: str | None,
) -> _Read:
    """Read whom the study's own checkpoints are about, without the numbers made of them."""
    table = data.table
    ranked = {answer for answers in responses.values() for answer in answers}
    touched = {table.response_ids[at] for at in np.unique(table.response)} & ranked
    asked = {sample for sample, answers in responses.items() if touched.intersection(answers)}
    mine = np.array([name in ranked for name in table.response_ids], dtype=np.bool_)
    state = table.score[mine[table.response]] if len(table.response) else table.score
    calls: dict[str, set[str]] = {}
    if judge is not None:
        for sample, call in solution_calls(store, data.study.id, asked, criteria=True):
            calls.setdefault(sample, set()).add(call)
        sample_of = {answer: sample for sample in asked for answer in responses[sample]}
        for answer, call in scoring_calls(store, sample_of, judge):
            calls.setdefault(sample_of[answer], set()).add(call)
    return _Read(
        scores={},
        asked=frozenset(asked),
        unscored=int((state == 0).sum()),
        failed=int((state < 0).sum()),
        calls={sample: frozenset(ids) for sample, ids in calls.items()},
    )


def _costs(
    store: Store, calls: Mapping[str, Mapping[str, frozenset[str]]], shared: frozenset[str]
) -> dict[str, MethodCost]:
    """Add up what each method's calls took, over the shared samples where there are any."""
    wanted = {
        name: {sample: ids for sample, ids in mine.items() if sample in shared or not shared}
        for name, mine in calls.items()
    }
    every = sorted({call for mine in wanted.values() for ids in mine.values() for call in ids})
    took = paid_for(store, every)
    found = {}
    for name, mine in wanted.items():
        ids = {call for each in mine.values() for call in each if call in took}
        found[name] = MethodCost(
            calls=len(ids),
            tokens_in=_added([took[call].usage.prompt_tokens for call in ids]),
            tokens_out=_added([took[call].usage.completion_tokens for call in ids]),
            usd=_added_cost([took[call].cost for call in ids]),
            samples=len(mine),
        )
    return found


def _added(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


def _added_cost(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.fsum(known) if len(known) == len(values) else None


# --- rows ----------------------------------------------------------------------------------------


def _rows(
    read: Mapping[str, _Read],
    pairs: PeoplePairs,
    shared: frozenset[str],
    roots: Mapping[str, str],
    data: StudyData,
    costs: Mapping[str, MethodCost],
) -> tuple[MethodRow, ...]:
    code = {name: at for at, name in enumerate(dict.fromkeys(pairs.sample))}
    sample = np.array([code[name] for name in pairs.sample], dtype=np.int64)
    cluster = data.clusters_of(pairs.sample)
    gaps = {name: _gaps(one.scores, pairs) for name, one in read.items()}
    atom_gap = gaps[_ATOM] if _ATOM in read and read[_ATOM].asked else None
    rows = []
    for name, one in read.items():
        here = _among(pairs, shared or one.asked)
        if not one.asked:
            here = np.zeros(len(pairs.order), dtype=np.bool_)
        given = (gaps[name][here], pairs.order[here], sample[here], cluster[here])
        some = bool(here.any())
        against = None
        if some and name != _ATOM and atom_gap is not None:
            both = here & _among(pairs, read[_ATOM].asked)
            against = compare_methods(
                gaps[name][both], atom_gap[both], pairs.order[both], cluster[both]
            )
        method = METHODS[name]
        rows.append(
            MethodRow(
                name=name,
                title=method.title,
                about=method.about,
                removes=method.removes,
                samples=len(set(sample[here].tolist())),
                accuracy=method_accuracy(*given) if some else None,
                tolerant=method_accuracy(*given, rng=np.random.default_rng(_SEED))
                if some
                else None,
                by_root=_by_root(gaps[name], pairs, here, roots, sample, cluster),
                against_atom=against if against is not None and against.n else None,
                unscored=one.unscored,
                failed=one.failed,
                cost=costs[name],
            )
        )
    return tuple(rows)


def _alike(
    read: Mapping[str, _Read], pairs: PeoplePairs, shared: frozenset[str]
) -> tuple[str, ...]:
    """Name the most methods that order every shared pair alike; one asking twice is no news."""
    here = _among(pairs, shared)
    if not here.any():
        return ()
    groups: dict[tuple[float, ...], list[str]] = {}
    for name, one in read.items():
        gap = _gaps(one.scores, pairs)[here]
        if one.asked and not np.isnan(gap).any():
            groups.setdefault(tuple(np.sign(gap).tolist()), []).append(name)
    most = max(groups.values(), key=len, default=[])
    stored = [name for name in most if METHODS[name].source == "checkpoints"]
    if len(most) - max(len(stored) - 1, 0) < 2:
        return ()
    return tuple(METHODS[name].title for name in most)


def _gaps(scores: Mapping[str, int | Fraction], pairs: PeoplePairs) -> Floats:
    return np.array(
        [
            float(scores[one] - scores[other]) if one in scores and other in scores else math.nan
            for one, other in zip(pairs.first, pairs.second, strict=True)
        ],
        dtype=np.float64,
    )


def _among(pairs: PeoplePairs, samples: frozenset[str]) -> NDArray[np.bool_]:
    return np.array([name in samples for name in pairs.sample], dtype=np.bool_)


def _by_root(
    gap: Floats,
    pairs: PeoplePairs,
    here: NDArray[np.bool_],
    roots: Mapping[str, str],
    sample: Ints,
    cluster: Ints,
) -> dict[str, Share]:
    names = np.array([roots.get(name, UNMAPPED) for name in pairs.sample], dtype=object)
    found = {}
    for root in dict.fromkeys(names[here].tolist()):
        mine = here & (names == root)
        accuracy = method_accuracy(gap[mine], pairs.order[mine], sample[mine], cluster[mine])
        found[root] = accuracy.strict
    return found


def _roots_of_pairs(
    pairs: PeoplePairs, shared: frozenset[str], roots: Mapping[str, str]
) -> tuple[str, ...]:
    count = Counter(
        roots.get(name, UNMAPPED) for name in pairs.sample if name in shared or not shared
    )
    order = sorted(count, key=lambda root: (root == UNMAPPED, -count[root], root))
    return tuple(order)


def _roots(table: ScoreTable) -> dict[str, str]:
    """Return each sample's capability: the root with most of its criteria's weight."""
    _, first = np.unique(table.criterion, return_index=True)
    parts: dict[int, list[tuple[int, str, int]]] = {}
    for at in first.tolist():
        leaf = int(table.leaf[at])
        root = table.leaves[leaf][0] if leaf >= 0 else ""
        sample = int(table.sample[table.response[at]])
        parts.setdefault(sample, []).append((int(table.position[at]), root, int(table.weight[at])))
    found = {}
    for sample, rows in parts.items():
        rows.sort()
        root = dominant_root([row[1] for row in rows], [row[2] for row in rows])
        if root:
            found[table.sample_ids[sample]] = root
    return found


# --- labels of criteria --------------------------------------------------------------------------


def labels_of_criteria(
    store: Store, labels: Sequence[Annotation], own: StudyData
) -> tuple[tuple[QualityRow, ...], HitRates | None, int]:
    """Say what people's labels of criteria and of their capabilities say.

    Args:
        labels: labels of any kind.

    Returns:
        Criteria quality, all first, then by root; hit rates, None without labels of leaves; and on
        how many leaves people don't agree.
    """
    given = [label for label in labels if label.state == "given"]
    about = {
        label.subject_id for label in given if label.kind in ("accuracy", "necessity", "mapping")
    }
    if not about:
        return (), None, 0
    leaves = leaves_of(store, own.study.tree_version, about)
    sample_of = samples_of_criteria(store, about)
    quality = _quality(given, sample_of, leaves, own)
    chosen, undecided = _people_leaves(given)
    names = [name for name in sorted(chosen) if name in sample_of]
    if not names:
        return quality, None, undecided
    hits = hit_rates(
        [leaves.get(name, ()) for name in names],
        [chosen[name] for name in names],
        own.clusters_of([sample_of[name] for name in names]),
    )
    return quality, hits, undecided


def _quality(
    labels: Sequence[Annotation],
    sample_of: Mapping[str, str],
    leaves: Mapping[str, Path],
    own: StudyData,
) -> tuple[QualityRow, ...]:
    values: dict[str, dict[str, list[float]]] = {}
    for label in labels:
        known = label.kind in ("accuracy", "necessity") and label.subject_id in sample_of
        if known and label.value is not None and label.value in (1, 2, 3):
            kinds = values.setdefault(label.subject_id, {})
            if label.adjudicates:
                kinds[f"{label.kind} settled"] = [label.value]
            kinds.setdefault(label.kind, []).append(label.value)
    names = sorted(values)
    if not names:
        return ()
    cluster = own.clusters_of([sample_of[name] for name in names])

    def column(kind: str) -> Floats:
        found = [values[name].get(f"{kind} settled") or values[name].get(kind) for name in names]
        return np.array([np.mean(each) if each else math.nan for each in found], dtype=np.float64)

    right, needed = column("accuracy"), column("necessity")
    own_root = [leaves[name][0] if name in leaves else UNMAPPED for name in names]
    rows = [QualityRow(root="", quality=criteria_quality(right, needed, cluster))]
    for root, _ in Counter(own_root).most_common():
        here = np.array([each == root for each in own_root], dtype=np.bool_)
        found = criteria_quality(right[here], needed[here], cluster[here])
        rows.append(QualityRow(root=root, quality=found))
    return tuple(rows)


def _people_leaves(labels: Sequence[Annotation]) -> tuple[dict[str, Path], int]:
    """Return people's leaf of each criterion: the most named one; and how many have none."""
    named: dict[str, Counter[Path]] = {}
    settled: dict[str, Path] = {}
    spelled: dict[Path, Path] = {}
    for label in labels:
        if label.kind != "mapping" or not label.label.strip():
            continue
        path = parse_path(label.label)
        path = spelled.setdefault(fold(path), path)
        if label.adjudicates:
            settled[label.subject_id] = path
        named.setdefault(label.subject_id, Counter())[path] += 1
    chosen = dict(settled)
    undecided = 0
    for name, count in named.items():
        ranked = count.most_common(2)
        if name in chosen:
            continue
        if len(ranked) > 1 and ranked[0][1] == ranked[1][1]:
            undecided += 1
        else:
            chosen[name] = ranked[0][0]
    return chosen, undecided


def fidelity_of(
    store: Store, data: StudyData, judge_id: str | None, ground: Ground | None = None
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
