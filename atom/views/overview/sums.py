"""What the Overview is made of: sums of one part of a study, which add up over all its parts.

Reference: METHODS A1, A2, B11, T3; design/063-sums-that-add-up.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from atom.analysis.compare.ranking import PairSums, pair_sums
from atom.analysis.grounds import Moments, cell_moments, unit_moments
from atom.analysis.intervals import Floats, Ints, make_cells
from atom.analysis.merged import Additive
from atom.analysis.nodes import NodeIndex, index_nodes
from atom.analysis.score_table import ScoreTable, answer_scores
from atom.views.facets import data_facets
from atom.views.filters import Filters, Measure, answer_values, answers_kept, processes_of
from atom.views.overview.accuracy import AccuracySums, accuracy_sums, answered_by_all
from atom.views.reading import mean_rows_at, models_at, rows_at
from atom.views.study_data import StudyData

Mask = NDArray[np.bool_]
FEW = 0.25
"""Of fewer answers than this share of models by clusters, clusters are numbered anew."""


@dataclass(frozen=True, kw_only=True)
class OverviewRequest:
    """What is collected.

    Attributes:
        filters: which answers count.
        measure: what they are worth.
        facet: the facet to tabulate; None = none is.
        nodes: whether the tree's nodes are tabulated.
    """

    filters: Filters
    measure: Measure
    facet: str | None
    nodes: bool


@dataclass(frozen=True, kw_only=True)
class FacetSums(Additive):
    """What labels put together, whatever is kept.

    Attributes:
        samples: facet -> how many different pairs of sample and label there are.
        models: facet -> whether a model has answers with a label, shape (K, labels).
    """

    samples: dict[str, int]
    models: dict[str, Mask]


@dataclass(frozen=True, kw_only=True)
class OverviewSums(Additive):
    """Sums of one part of a study, arrays of shape (K,) unless said otherwise.

    Attributes:
        score: values of answers, by model and cluster.
        right: outcomes of all answers, likewise.
        given: outcomes of the answers that were given.
        lucky: flawed processes among right answers.
        pairs: for the ranks; None where nobody is ranked.
        accuracy: how often answers are right, both ways.
        labels: values by (model, label) of the facet wanted, shape (K * labels,); None = no facet.
        labelled: samples of each label, shape (labels,).
        below: samples with a score below each node, shape (M,); empty where no nodes are wanted.
        kinds: answers by process and outcome: broken, lucky, slip, sound, shape (K, 4).
        terse: answers that say too little to have a process.
        graded: answers whose outcome is known.
        checkpoints: checkpoints of the answers kept.
        unscored: of these, those without a score.
        aside: marks that say that their criterion doesn't apply.
        panelled: checkpoints that two judges or more gave a value.
        differ: of these, those on which judges differ by a step or more.
        disagreement: sum of the standard deviations over the judges there, 0..1 each.
        asked_again: clusters in which a model answered one question several times.
        hit_all: of these, those in which it was right every time.
        samples: samples with an answer that counts and has a value.
        answers: such answers.
        quarantined: samples that are set aside.
        unanswered: answers that are missing or failed, and aren't graded.
        shared: samples that every model gave an answer to.
    """

    score: Moments
    right: Moments
    given: Moments
    lucky: Moments
    pairs: PairSums | None
    accuracy: AccuracySums
    labels: Moments | None
    labelled: Ints
    below: Ints
    kinds: Ints
    terse: Ints
    graded: int
    checkpoints: Ints
    unscored: Ints
    aside: Ints
    panelled: Ints
    differ: Ints
    disagreement: Floats
    asked_again: Ints
    hit_all: Ints
    samples: int
    answers: int
    quarantined: int
    unanswered: int
    shared: int


def collect(data: StudyData, wanted: OverviewRequest) -> OverviewSums:
    """Collect the sums of a part."""
    table, filters = data.table, wanted.filters
    k = table.n_models
    keep = answers_kept(data, filters)
    value = _values(data, filters, wanted.measure)
    counted = np.flatnonzero(keep & np.isfinite(value))
    total, count = _by_unit(table, value[counted], counted)
    known = np.flatnonzero(keep & np.isfinite(table.outcome))
    right = _outcomes(table, known)
    withheld = table.cause[known] > 0
    process = processes_of(data)
    lucky = known[(table.outcome[known] >= 0.5) & process.told[known]]
    terse = np.bincount(table.model[keep & process.terse], minlength=k)
    usable = known[process.told[known]]
    kind = 4 * table.model[usable].astype(np.int64) + 2 * process.sound[usable]
    kind += table.outcome[usable] >= 0.5
    n_rows, n_bad = _checkpoints(data, filters)
    asked_again, hit_all = _hit_all(data, np.flatnonzero(keep))
    labels, labelled = _labels(data, wanted.facet, counted, value)
    panelled, differ, disagreement = _by_panel(data, filters)
    return OverviewSums(
        score=unit_moments(total, count),
        right=right,
        given=_outcomes(table, known[~withheld]) if withheld.any() else right,
        lucky=unit_moments(*_by_unit(table, process.flawed[lucky].astype(np.float64), lucky)),
        pairs=None if selection_words(filters) else _pairs(total, count),
        accuracy=accuracy_sums(table, keep),
        labels=labels,
        labelled=labelled,
        below=_samples_below(data, filters) if wanted.nodes else np.zeros(0, dtype=np.int64),
        kinds=np.bincount(kind, minlength=4 * k).reshape(-1, 4),
        terse=terse,
        graded=len(known),
        checkpoints=n_rows,
        unscored=n_bad,
        aside=marks_aside(data, filters),
        panelled=panelled,
        differ=differ,
        disagreement=disagreement,
        asked_again=asked_again,
        hit_all=hit_all,
        samples=distinct(table.sample[counted], len(table.sample_ids)),
        answers=len(counted),
        quarantined=int(np.count_nonzero(table.quarantined)),
        unanswered=int(np.count_nonzero(~table.counts)),
        shared=int(np.count_nonzero(answered_by_all(table))),
    )


def _values(data: StudyData, filters: Filters, measure: Measure) -> Floats:
    """Return what `answer_values` does of the answers that a view counts; of others, anything."""
    if measure != "process" or filters.root is None:
        return answer_values(data, filters, measure)
    rows = rows_at(data, filters)
    if filters.reading == "said":
        rows = rows[data.table.addressed[rows]]
    return answer_scores(data.table, rows).value


def _by_panel(data: StudyData, filters: Filters) -> tuple[Ints, Ints, Floats]:
    """Count each model's checkpoints with several judges' marks, and how far these differ."""
    table = data.table
    k = table.n_models
    if table.apart is None or table.disagreement is None:
        nothing = np.zeros(k, dtype=np.int64)
        return nothing, nothing, np.zeros(k)
    rows = rows_at(data, filters)
    rows = rows[table.panelled[rows]]
    model = table.model[table.response[rows]]
    return (
        np.bincount(model, minlength=k),
        np.bincount(model[table.differ[rows]], minlength=k),
        np.bincount(model, weights=table.disagreement[rows], minlength=k).astype(np.float64),
    )


def facet_sums(data: StudyData) -> FacetSums:
    """Say what a part's labels put together."""
    table = data.table
    samples, models = {}, {}
    for name, group in data_facets(table.facets).items():
        values = len(group.values)
        sample = table.sample[group.response].astype(np.int64) * values + group.value
        samples[name] = len(np.unique(sample))
        seen = np.zeros((table.n_models, values), dtype=np.bool_)
        seen[table.model[group.response], group.value] = True
        models[name] = seen
    return FacetSums(samples=samples, models=models)


def selection_words(filters: Filters) -> str:
    """Say which answers are chosen by how they went; empty where none are.

    Such answers are another selection of samples for every model, so they rank nobody.
    """
    words = [f"{filters.outcome} answers" if filters.outcome else "answers"]
    words += [f"with {filters.process} steps"] if filters.process else []
    return " ".join(words) if filters.outcome or filters.process else ""


def marks_aside(data: StudyData, filters: Filters) -> Ints:
    """Count each model's marks that say that a criterion doesn't apply, shape (K,)."""
    table = data.table
    answer, _, leaf = table.aside
    kept = answers_kept(data, filters)[answer]
    if filters.root:
        of_root = np.array([path[0] == filters.root for path in table.leaves], dtype=np.bool_)
        kept &= (leaf >= 0) & np.append(of_root, False)[leaf]
    return np.bincount(table.model[answer[kept]], minlength=table.n_models).astype(np.int64)


def _outcomes(table: ScoreTable, answers: Ints) -> Moments:
    return unit_moments(*_by_unit(table, table.outcome[answers].astype(np.float64), answers))


def _pairs(total: Floats, count: Floats) -> PairSums:
    there = count.any(axis=0)
    return pair_sums(total[:, there], count[:, there])


def distinct(codes: NDArray[np.integer], size: int) -> int:
    """Count different codes below a size."""
    seen = np.zeros(size, dtype=bool)
    seen[codes] = True
    return int(np.count_nonzero(seen))


def _by_unit(table: ScoreTable, value: Floats, answers: Ints) -> tuple[Floats, Floats]:
    """Sum values and count answers by (model, cluster), shape (K, clusters) each.

    Of few answers only the clusters that they are in are told apart, by new numbers. Where a model
    answered a sample several times, its mean there counts as one answer.

    Reference:
        METHODS T3.
    """
    clusters = int(table.cluster.max(initial=-1)) + 1
    unit = table.kept.get(
        "unit of answer",
        lambda: table.model.astype(np.int64) * clusters + table.cluster[table.sample],
    )[answers]
    if len(answers) < FEW * table.n_models * clusters:
        model, cluster = np.divmod(unit, clusters)
        seen = np.zeros(clusters, dtype=bool)
        seen[cluster] = True
        clusters = int(np.count_nonzero(seen))
        unit = model * clusters + (np.cumsum(seen) - 1)[cluster]
    shape = (table.n_models, clusters)
    size = shape[0] * shape[1]
    if table.repeat[answers].any():
        samples = len(table.sample_ids)
        once = table.model[answers].astype(np.int64) * samples + table.sample[answers]
        share = 1 / np.bincount(once)[once]
        total = np.bincount(unit, weights=value * share, minlength=size).astype(np.float64)
        count = np.bincount(unit, weights=share, minlength=size).astype(np.float64).round(9)
    else:
        total = np.bincount(unit, weights=value, minlength=size).astype(np.float64)
        count = np.bincount(unit, minlength=size).astype(np.float64)
    return total.reshape(shape), count.reshape(shape)


def _hit_all(data: StudyData, answers: Ints) -> tuple[Ints, Ints]:
    """Count each model's clusters with several answers, and those in which every one is right.

    Only where clusters ask one question several times.
    """
    table = data.table
    several, all_right = np.zeros((2, table.n_models), dtype=np.int64)
    if not data.asks_again:
        return several, all_right
    known = answers[np.isfinite(table.outcome[answers])]
    for model in range(table.n_models):
        mine = known[table.model[known] == model]
        units, of, count = np.unique(
            table.cluster[table.sample[mine]], return_inverse=True, return_counts=True
        )
        least = np.ones(len(units))
        np.minimum.at(least, of, table.outcome[mine])
        several[model] = np.count_nonzero(count > 1)
        all_right[model] = np.count_nonzero((count > 1) & (least == 1))
    return several, all_right


def _labels(
    data: StudyData, facet: str | None, answers: Ints, value: Floats
) -> tuple[Moments | None, Ints]:
    """Sum values by (model, label), and count the distinct samples of each label."""
    if facet is None:
        return None, np.zeros(0, dtype=np.int64)
    table = data.table
    group = table.facets[facet]
    counts = np.zeros(len(table.sample), dtype=bool)
    counts[answers] = True
    inside = counts[group.response]
    mine = group.response[inside].astype(np.int64)
    code = group.value[inside].astype(np.int64)
    n_groups = len(group.values)
    node = table.model[mine].astype(np.int64) * n_groups + code
    cluster = table.cluster[table.sample[mine]].astype(np.int64)
    n_nodes = table.n_models * n_groups
    seen = np.zeros(len(table.sample_ids) * n_groups, dtype=bool)
    seen[table.sample[mine].astype(np.int64) * n_groups + code] = True
    return (
        cell_moments(make_cells(value[mine], node, cluster, n_nodes), n_nodes),
        seen.reshape(-1, n_groups).sum(axis=0).astype(np.int64),
    )


def _samples_below(data: StudyData, filters: Filters) -> Ints:
    """Count the distinct samples with a score under each node, over all models, shape (M,)."""
    table = data.table
    nodes = index_nodes(table.leaves)
    places = table.kept.get("places of criteria", lambda: _places_of_criteria(table, nodes))
    scored = np.zeros(len(table.criterion_ids), dtype=bool)
    rows = mean_rows_at(data, filters)
    scored[table.criterion[rows[table.score[rows] > 0]]] = True
    found = np.flatnonzero(scored)
    seen = np.zeros((nodes.n_nodes + 1) * len(table.sample_ids), dtype=bool)
    for place in places:
        seen[place[found]] = True
    by_node = np.count_nonzero(seen.reshape(nodes.n_nodes + 1, -1), axis=1)
    return np.asarray(by_node[:-1], dtype=np.int64)


def _places_of_criteria(table: ScoreTable, nodes: NodeIndex) -> Ints:
    """Return `node * samples + sample` of each criterion at each depth, shape (D, criteria).

    The node after the last stands for none.
    """
    sample = np.zeros(len(table.criterion_ids), dtype=np.int64)
    leaf = np.full(len(table.criterion_ids), -1, dtype=np.int64)
    sample[table.criterion] = table.sample[table.response]
    leaf[table.criterion] = table.leaf
    none = np.full((len(nodes.ancestor), 1), -1)
    above = np.concatenate([nodes.ancestor, none], axis=1)[:, leaf]
    return np.where(above < 0, nodes.n_nodes, above) * len(table.sample_ids) + sample


def _checkpoints(data: StudyData, filters: Filters) -> tuple[Ints, Ints]:
    """Count each model's checkpoints, and those of them that have no score, shape (K,) each."""
    table, model = data.table, models_at(data, filters)
    bad = model[~(table.score[rows_at(data, filters)] > 0)]
    return np.bincount(model, minlength=table.n_models), np.bincount(bad, minlength=table.n_models)
