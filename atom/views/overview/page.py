"""Overview: who is ahead, and what breaks each of them?"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from atom.analysis.capability.quadrant import Quadrant, quadrant_of
from atom.analysis.compare.ranking import paired, rank_sets_of
from atom.analysis.intervals import NodeStats
from atom.analysis.nodes import index_nodes
from atom.display.estimate import Estimate
from atom.views.filters import Filters, Measure, measure_of
from atom.views.looks.early import HeldRanks, held_ranks
from atom.views.overview.accuracy import Accuracy, accuracies_of
from atom.views.overview.differing import Differing, differing
from atom.views.overview.sums import (
    FacetSums,
    OverviewSums,
    Wanted,
    collect,
    facet_sums,
    selection_words,
)
from atom.views.overview.weaknesses import (
    ModelWeaknesses,
    Weakness,
    Weaknesses,
    effect_words,
    frame_words,
    leading,
    node_means,
    weaknesses,
)
from atom.views.reading import model_said
from atom.views.study_data import StudyData, data_facets, dataset_facet
from taxonomy import Path

MOST_VALUES = 60
"""Values of a label that make a table."""
MIN_SAMPLES = 5
"""A node with fewer samples is `insufficient` (METHODS A9)."""


@dataclass(frozen=True, kw_only=True)
class SkillCell:
    """One model on one capability (or label)."""

    model_id: str
    estimate: Estimate
    filters: Filters
    """Where the cell's door leads."""


@dataclass(frozen=True, kw_only=True)
class SkillRow:
    """One capability (or label) across models."""

    name: str
    path: Path
    """Path in the tree; empty for a label."""
    label: tuple[str, str] | None
    """(facet, value) for a label; None for a capability."""
    depth: int
    """1 for a root ... 4 for a capability; 1 for a label."""
    samples: int
    cells: tuple[SkillCell, ...]


@dataclass(frozen=True, kw_only=True)
class RankRow:
    """One model in the ranking.

    Attributes:
        model_id: candidate id.
        colour: its place in the study, which is its colour on every screen.
        rank_best: best rank that the data allow; 0 = not ranked.
        rank_worst: worst rank that the data allow.
        score: mean sample score (process), share of right answers (outcome), or share of votes won
            (preference).
        right: share of right final answers of all that it was asked, 0-100.
        given: the same of the answers that it gave.
        accuracy: both with their counts, and what wasn't given by cause.
        lucky: share of right answers (terse ones left out) whose process fails, 0-100.
        said: share of its scored checkpoints that its answers speak of, 0-100; NaN without any.
        terse: answers that address less than half of their weight; accused of nothing.
        carried: checkpoints wrong only because an earlier step was; in no capability's mean.
        unscored: share of its checkpoints that are unscored or failed, 0-100; NaN without any.
        n_unscored: how many those are.
        n_aside: marks that say that their criterion doesn't apply: they are in no figure here.
        findings: its labelled weaknesses and strengths: confirmed, then suspected, then strengths.
        tested: capabilities (or labels) with enough evidence to look for a weakness.
        filters: where the row's door leads.
        judges: how far the panel's judges differ; None where the study has one judge.
        hit_all: share of questions that it got right every time, 0-100, where clusters ask one
            question several times; NaN elsewhere.
        hit_clusters: how many such questions there are.
    """

    model_id: str
    name: str
    colour: int
    rank_best: int
    rank_worst: int
    score: Estimate
    right: Estimate
    given: Estimate
    accuracy: Accuracy
    lucky: Estimate
    said: float
    terse: int
    carried: int
    unscored: float
    n_unscored: int
    findings: tuple[Weakness, ...]
    tested: int
    filters: Filters
    hit_all: float = math.nan
    hit_clusters: int = 0
    n_aside: int = 0
    judges: Differing | None = None


@dataclass(frozen=True, kw_only=True)
class Statement:
    """A sentence that stands out, and the door behind it."""

    text: str
    filters: Filters
    page: str
    """`failures` or `overview`."""


@dataclass(frozen=True, kw_only=True)
class ModelQuadrant:
    """A model's quadrant: right or wrong answers against the process behind them."""

    model_id: str
    name: str
    colour: int
    counts: Quadrant
    filters: Filters


@dataclass(frozen=True, kw_only=True)
class Overview:
    """Everything on the Overview page.

    Attributes:
        measure: what the scores are.
        statements: what stands out, most important first.
        ranking: best first.
        skills: capabilities in the tree's order with their ancestors, or labels of `facet`.
        facet: the label facet that `skills` is made of; None = capabilities.
        facets: facets that can be chosen.
        quadrants: one a model, in the ranking's order; empty without outcome or process.
        selected: which answers are looked at, when they are chosen by how they went; then there
            are no ranks and no weaknesses.
        samples: samples counted.
        weaknesses: how weaknesses were looked for; None where there is nothing to look at.
        quarantined: samples left out because judge and reference disagree.
        answers: answers counted.
        pending: checkpoints still to be scored.
        unanswered: answers that are missing or failed, and aren't graded.
        shared: samples that every model gave an answer to.
        anchor: index of the model that all others were voted against, which isn't ranked; None
            where there is none, or another measure.
    """

    measure: Measure
    statements: tuple[Statement, ...]
    ranking: tuple[RankRow, ...]
    skills: tuple[SkillRow, ...]
    facet: str | None
    facets: tuple[str, ...]
    quadrants: tuple[ModelQuadrant, ...]
    weaknesses: Weaknesses | None
    selected: str
    samples: int
    quarantined: int
    answers: int
    pending: int
    unanswered: int
    shared: int = 0
    anchor: int | None = None


def overview(data: StudyData, filters: Filters, *, facet: str | None = None) -> Overview:
    """Compute the Overview page, from sums over the study's parts.

    Args:
        filters: what narrows it; the chain (model, node) doesn't.
        facet: the label facet to tabulate; None = capabilities where there are any.

    Returns:
        The view-model.
    """
    key = ("overview", filters, facet)
    return data.views.get(key, lambda: _overview(data, filters, facet))


def _overview(data: StudyData, filters: Filters, facet: str | None) -> Overview:
    table = data.table
    measure = measure_of(data, filters)
    anchor = data.anchor if measure == "preference" else None
    facets = _facets(data)
    by_label = measure != "process" or facet is not None
    chosen = _choose_facet(data, facet, facets) if by_label else None
    selected = selection_words(filters)
    sums: OverviewSums = data.adder(
        collect,
        Wanted(
            filters=filters,
            measure=measure,
            facet=chosen,
            nodes=measure == "process" and not by_label and bool(table.leaves),
        ),
    )
    labels = _label_rows(data, filters, sums, chosen) if by_label else ()
    nodes = _node_rows(data, filters, sums) if measure == "process" and not by_label else ()
    skills = labels if by_label else nodes
    looked = (
        None
        if selected
        else weaknesses(data, filters, measure, None if measure == "process" else chosen, anchor)
    )
    ranking = _ranking(data, filters, sums, looked, anchor)
    quadrants = _quadrants(filters, sums, ranking)
    return Overview(
        measure=measure,
        statements=(
            _selected_statement(filters, ranking, selected)
            if selected
            else _statements(data, measure, ranking, quadrants, looked, anchor, sums.quarantined)
        ),
        selected=selected,
        ranking=ranking,
        skills=skills,
        facet=chosen,
        facets=facets,
        quadrants=quadrants,
        weaknesses=looked,
        samples=sums.samples,
        quarantined=sums.quarantined,
        answers=sums.answers,
        pending=data.pending,
        unanswered=sums.unanswered,
        shared=sums.shared,
        anchor=anchor,
    )


def _facets(data: StudyData) -> tuple[str, ...]:
    """Return the facets that can be tabulated."""
    table = data.table
    found: FacetSums = table.kept.get("facet sums", lambda: data.adder(facet_sums))
    return tuple(
        name
        for name, group in data_facets(table.facets).items()
        if 2 <= len(group.values) <= MOST_VALUES and _groups(found, name)
    )


def _groups(sums: FacetSums, name: str) -> bool:
    """Whether a label puts samples together: neither one value a sample nor the model again."""
    seen = sums.models[name]
    values = seen.shape[1]
    if sums.samples[name] < 1.5 * values:
        return False
    return not np.count_nonzero(seen) == values == np.count_nonzero(seen.any(axis=1))


def _choose_facet(data: StudyData, facet: str | None, facets: tuple[str, ...]) -> str | None:
    if facet in data_facets(data.table.facets):
        return facet
    for name in ("skills", "skill", "capability", "category", "task"):
        if name in facets:
            return name
    rest = [name for name in facets if name != dataset_facet(facets)]
    return rest[0] if rest else (facets[0] if facets else None)


def _estimates(stats: NodeStats) -> list[Estimate]:
    columns = (100 * stats.mean, 100 * stats.lo, 100 * stats.hi, stats.n, stats.clusters)
    return [
        Estimate(value=value, lo=lo, hi=hi, n=n, samples=samples)
        for value, lo, hi, n, samples in zip(*(one.tolist() for one in columns), strict=True)
    ]


def _node_rows(data: StudyData, filters: Filters, sums: OverviewSums) -> tuple[SkillRow, ...]:
    """Make a row for every node of the tree that has checkpoints, parents before children."""
    table = data.table
    if not table.leaves:
        return ()
    index = index_nodes(table.leaves)
    nodes, n_groups = index.paths, index.n_nodes
    estimates = _estimates(node_means(data, filters))
    samples = sums.below.tolist()
    return tuple(
        SkillRow(
            name=path[-1],
            path=path,
            label=None,
            depth=len(path),
            samples=samples[number],
            cells=tuple(
                SkillCell(
                    model_id=model_id,
                    estimate=estimates[model * n_groups + number],
                    filters=filters.but(model=model_id, node=path, sample=None, criterion=None),
                )
                for model, model_id in enumerate(table.model_ids)
            ),
        )
        for number, path in enumerate(nodes)
        if samples[number]
    )


def _label_rows(
    data: StudyData, filters: Filters, sums: OverviewSums, facet: str | None
) -> tuple[SkillRow, ...]:
    """Make a row for every label of a facet; groups overlap where answers carry several."""
    if facet is None or sums.labels is None:
        return ()
    table = data.table
    group = table.facets[facet]
    n_groups = len(group.values)
    estimates = _estimates(sums.labels.stats())
    samples = sums.labelled.tolist()
    return tuple(
        SkillRow(
            name=label,
            path=(),
            label=(facet, label),
            depth=1,
            samples=samples[number],
            cells=tuple(
                SkillCell(
                    model_id=model_id,
                    estimate=estimates[model * n_groups + number],
                    filters=filters.but(
                        model=model_id,
                        tags=tuple(dict.fromkeys((*filters.tags, (facet, label)))),
                        sample=None,
                        criterion=None,
                    ),
                )
                for model, model_id in enumerate(table.model_ids)
            ),
        )
        for number, label in enumerate(group.values)
        if samples[number]
    )


def _ranking(
    data: StudyData,
    filters: Filters,
    sums: OverviewSums,
    looked: Weaknesses | None,
    anchor: int | None,
) -> tuple[RankRow, ...]:
    models = data.table.n_models
    said = model_said(data, filters)
    ranked = np.flatnonzero(np.arange(models) != (-1 if anchor is None else anchor))
    best, worst = np.zeros(models, dtype=np.int64), np.zeros(models, dtype=np.int64)
    if sums.pairs is not None:
        sets = rank_sets_of(*paired(sums.pairs.of(ranked)))
        best[ranked], worst[ranked] = sets.best, sets.worst
    held = _held(data, filters)
    if held is not None:
        best, worst = held.sets.best, held.sets.worst
    found = looked.models if looked else (ModelWeaknesses(),) * models
    accuracy = accuracies_of(sums.accuracy)
    score, is_right, is_given, is_lucky = (
        _estimates(one.stats()) for one in (sums.score, sums.right, sums.given, sums.lucky)
    )
    if held is not None:
        score = [replace(one, value=float(held.mean[at]), lo=float(held.lo[at]),
                         hi=float(held.hi[at])) for at, one in enumerate(score)]  # fmt: skip
    rows = [
        RankRow(
            model_id=candidate.id,
            name=candidate.name,
            colour=number,
            rank_best=int(best[number]),
            rank_worst=int(worst[number]),
            score=score[number],
            right=is_right[number],
            given=is_given[number],
            accuracy=accuracy[number],
            lucky=is_lucky[number],
            said=float(said.share[number]),
            terse=int(said.terse[number]),
            carried=int(said.carried[number]),
            unscored=_share(sums.unscored[number], sums.checkpoints[number]),
            n_unscored=int(sums.unscored[number]),
            findings=found[number].found,
            tested=found[number].tested,
            filters=filters.but(model=candidate.id, sample=None, criterion=None, node=()),
            hit_all=_share(sums.hit_all[number], sums.asked_again[number]),
            hit_clusters=int(sums.asked_again[number]),
            n_aside=int(sums.aside[number]),
            judges=_differing(data, filters, sums, number),
        )
        for number, candidate in enumerate(data.candidates)
    ]
    return tuple(
        sorted(
            rows,
            key=lambda row: (
                row.colour == anchor,
                -row.score.value if row.score.known else 1,
                row.name,
            ),
        )
    )


def _differing(
    data: StudyData, filters: Filters, sums: OverviewSums, model: int
) -> Differing | None:
    if not sums.panelled.any():
        return None
    return differing(
        sums.panelled[model], sums.differ[model], sums.disagreement[model],
        filters.but(model=data.table.model_ids[model], node=()),
    )  # fmt: skip


def _share(part: float, whole: float) -> float:
    """Return a share of 100; NaN of nothing."""
    return 100 * float(part / whole) if whole else math.nan


def _held(data: StudyData, filters: Filters) -> HeldRanks | None:
    """Return the scores and ranks of an early look; None at the end, and of a part of the study."""
    if data.early is None or filters.active or measure_of(data, filters) != "process":
        return None
    return held_ranks(data.early)


def _quadrants(
    filters: Filters, sums: OverviewSums, ranking: tuple[RankRow, ...]
) -> tuple[ModelQuadrant, ...]:
    terse = sums.terse
    if not sums.graded or not (sums.kinds.any() or terse.any()):
        return ()
    sizes = sums.kinds.tolist()
    found = []
    for row in ranking:
        broken, lucky, slip, sound = sizes[row.colour]
        counts = quadrant_of(
            sound=sound, lucky=lucky, slip=slip, broken=broken, terse=int(terse[row.colour])
        )
        if counts.n or counts.terse:
            found.append(
                ModelQuadrant(
                    model_id=row.model_id,
                    name=row.name,
                    colour=row.colour,
                    counts=counts,
                    filters=filters.but(
                        model=row.model_id,
                        outcome="right",
                        process="flawed",
                        show="all",
                        sample=None,
                        criterion=None,
                        node=(),
                    ),
                )
            )
    return tuple(found)


def _selected_statement(
    filters: Filters, ranking: tuple[RankRow, ...], selected: str
) -> tuple[Statement, ...]:
    if not any(row.score.known for row in ranking):
        return ()
    text = (
        f"Only {selected} are looked at, which are other samples for every model: "
        "the scores below describe them, and rank nobody."
    )
    door = filters.but(model=None, node=(), sample=None, criterion=None, show="all")
    return (Statement(text=text, filters=door, page="failures"),)


def _statements(
    data: StudyData,
    measure: Measure,
    ranking: tuple[RankRow, ...],
    quadrants: tuple[ModelQuadrant, ...],
    looked: Weaknesses | None,
    anchor: int | None,
    n_out: int,
) -> tuple[Statement, ...]:
    """Say in words what stands out; every sentence names its numbers."""
    known = [row for row in ranking if row.score.known and row.colour != anchor]
    found: list[Statement] = []
    if not known:
        return ()
    first = known[0]
    rivals = [row for row in known[1:] if row.rank_best == 1]
    verb = "leads with" if len(known) > 1 else "has"
    lead = f"{first.name} {verb} {_lead_words(data, measure, first, anchor)}"
    if len(known) == 1:
        lead += "; with one model there is nobody to rank it against"
    elif rivals:
        names = rivals[0].name if len(rivals) == 1 else f"{len(rivals):,} others"
        lead += f", but not surely: {names} can't be told apart from it"
    else:
        others = known[1].name if len(known) == 2 else f"all {len(known) - 1:,} others"
        lead += f", ahead of {others} beyond chance"
    found.append(Statement(text=lead + ".", filters=first.filters, page="failures"))
    if looked is not None:
        if looked.benchmarks > 1:
            found.append(_benchmarks_statement(known[0], looked))
        found += _weakness_statements(known, looked)
    if quadrants:
        luckiest = max(quadrants, key=lambda q: q.counts.lucky_share if q.counts.lucky else -1.0)
        counts = luckiest.counts
        n_right = counts.sound + counts.lucky
        if counts.lucky:
            found.append(
                Statement(
                    text=(
                        f"{luckiest.name} reaches {counts.lucky:,} of its {n_right} "
                        "right answers although its steps don't hold: right answer, wrong reason."
                    ),
                    filters=luckiest.filters,
                    page="failures",
                )
            )
    if n_out:
        found.append(
            Statement(
                text=(
                    f"{n_out} {'sample is' if n_out == 1 else 'samples are'} set aside: there the "
                    "judge's own solution disagrees with "
                    "the reference answer."
                ),
                filters=Filters(study=first.filters.study, show="all"),
                page="failures",
            )
        )
    return tuple(found[:5])


def _benchmarks_statement(first: RankRow, looked: Weaknesses) -> Statement:
    """Say that labels are compared within their benchmark, and how to compare across."""
    return Statement(
        text=(
            f"The study holds {looked.benchmarks:,} benchmarks: each label of {looked.facet} is "
            "compared within its own. Choose the labels “source” to compare the benchmarks."
        ),
        filters=Filters(study=first.filters.study, show="all"),
        page="failures",
    )


def _lead_words(data: StudyData, measure: Measure, first: RankRow, anchor: int | None) -> str:
    """Write what a model's score is."""
    value = f"{first.score.value:.1f}"
    if measure == "process":
        return f"a mean score of {value} of 100"
    if measure == "outcome":
        return f"right answers in {value} %"
    against = "" if anchor is None else f" against {data.candidates[anchor].name}"
    return f"{value} % of its votes{against} won (a tie counts half)"


def _weakness_statements(known: list[RankRow], looked: Weaknesses) -> list[Statement]:
    """Name the leader's own largest confirmed weakness, and the largest of any other model."""
    first, *others = known
    own = _confirmed(first)
    rest = [(row, item) for row in others for item in _confirmed(row)]
    found = []
    if own:
        found.append(_weakness_statement(f"{first.name}'s largest confirmed weakness is", own[0]))
    if rest:
        row, item = max(rest, key=lambda pair: abs(pair[1].pooled))
        if own and abs(own[0].pooled) > abs(item.pooled):
            start = f"Among the others, the largest is {row.name}'s"
        else:
            start = f"The largest confirmed weakness of any model is {row.name}'s"
        found.append(_weakness_statement(start, item))
    return found or [_nothing_confirmed(known, looked)]


def _confirmed(row: RankRow) -> list[Weakness]:
    return [item for item in leading(row.findings) if item.status == "confirmed"]


def _weakness_statement(start: str, item: Weakness) -> Statement:
    n = "1 sample" if item.samples == 1 else f"{item.samples:,} samples"
    # What peers predict is said in the effect's own words; a doubt about it isn't left out.
    notes = f"{frame_words(item)}; n {n}" if item.confounded else n
    return Statement(
        text=f"{start} {item.name}: {effect_words(item)} ({notes}).",
        filters=item.filters,
        page="failures",
    )


def _nothing_confirmed(known: list[RankRow], looked: Weaknesses) -> Statement:
    """Say plainly that there is no confirmed weakness; the door leads to the surest suspicion."""
    by = "" if looked.facet is None else f"by {looked.facet}"
    what = f"{by} nothing" if by else "no capability"
    if not any(row.tested for row in known):
        return Statement(
            text=(
                "No weakness can be confirmed: the evidence is insufficient, "
                f"{what} can be compared on {MIN_SAMPLES} samples or more."
            ),
            filters=known[0].filters.but(model=None),
            page="failures",
        )
    text = f"No weakness is confirmed in any model{by and f', {by}'} ({frame_words(looked)})"
    suspected = [item for row in known for item in leading(row.findings)]
    if not suspected:
        return Statement(
            text=f"{text}, and none is suspected.",
            filters=known[0].filters.but(model=None),
            page="failures",
        )
    number = len(suspected)
    surest = max(suspected, key=lambda item: abs(item.pooled))
    return Statement(
        text=f"{text}; {number} {'is' if number == 1 else 'are'} suspected.",
        filters=surest.filters,
        page="failures",
    )
