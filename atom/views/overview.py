"""Overview: who is ahead, and what breaks each of them?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from atom.analysis import (
    AnswerScores,
    NodeStats,
    Quadrant,
    answer_scores,
    make_cells,
    node_stats,
    quadrant,
    rank_sets,
)
from atom.analysis.intervals import Floats, Ints
from atom.views.filters import Filters, Measure, answers_kept, measure_of
from atom.views.study_data import SOURCE_FACET, StudyData
from atom.views.weaknesses import (
    ModelWeaknesses,
    Weakness,
    Weaknesses,
    effect_words,
    frame_words,
    leading,
    weaknesses,
)
from taxonomy import Path

MIN_SAMPLES = 5
"""A node with fewer samples is `insufficient` (METHODS A9)."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A mean on the 0-100 scale with its 95 % interval.

    Attributes:
        value: NaN where there is nothing.
        lo: lower end.
        hi: upper end.
        n: values (checkpoints, or answers).
        samples: distinct samples (clusters).
    """

    value: float
    lo: float
    hi: float
    n: int
    samples: int

    @property
    def known(self) -> bool:
        """Whether there is a value at all."""
        return not math.isnan(self.value)


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
        name: what people call it.
        colour: its place in the study, which is its colour on every screen.
        rank_best: best rank that the data allow; 0 = not ranked.
        rank_worst: worst rank that the data allow.
        score: mean sample score (process), or share of right answers (outcome).
        right: share of right final answers, 0-100.
        lucky: share of right answers whose process fails, 0-100.
        unscored: share of its checkpoints that are unscored or failed, 0-100; NaN without any.
        n_unscored: how many those are.
        findings: its labelled weaknesses and strengths: confirmed, then suspected, then strengths.
        tested: capabilities (or labels) with enough evidence to look for a weakness.
        filters: where the row's door leads.
    """

    model_id: str
    name: str
    colour: int
    rank_best: int
    rank_worst: int
    score: Estimate
    right: Estimate
    lucky: Estimate
    unscored: float
    n_unscored: int
    findings: tuple[Weakness, ...]
    tested: int
    filters: Filters


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
        unanswered: answers that are missing or failed.
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


@dataclass(frozen=True, kw_only=True)
class _Kept:
    """The answers that count, with the values that the measure gives them."""

    answers: Ints
    """Indices of answer rows."""
    value: Floats
    """In [0, 1], a value an answer."""
    scores: AnswerScores


def overview(data: StudyData, filters: Filters, *, facet: str | None = None) -> Overview:
    """Compute the Overview page.

    Args:
        data: the study.
        filters: what narrows it; the chain (model, node) doesn't.
        facet: the label facet to tabulate; None = capabilities where there are any.

    Returns:
        The view-model.
    """
    table = data.table
    measure = measure_of(data, filters)
    keep = answers_kept(data, filters)
    scores = answer_scores(table)
    value = scores.value if measure == "process" else table.outcome.astype(np.float64)
    counted = np.flatnonzero(keep & np.isfinite(value))
    kept = _Kept(answers=counted, value=value[counted], scores=scores)
    facets = tuple(name for name, group in table.facets.items() if 2 <= len(group.values) <= 60)
    by_label = measure == "outcome" or facet is not None
    chosen = _choose_facet(data, facet, facets) if by_label else None
    labels = _label_rows(data, filters, kept, chosen) if by_label else ()
    nodes = _node_rows(data, filters, keep) if measure == "process" else ()
    skills = labels if by_label else nodes
    selected = selection_words(filters)
    looked = (
        None
        if selected
        else weaknesses(data, filters, measure, keep, chosen if measure == "outcome" else None)
    )
    ranking = _ranking(data, filters, kept, keep, looked)
    quadrants = _quadrants(data, filters, scores, keep, ranking)
    return Overview(
        measure=measure,
        statements=(
            _selected_statement(filters, ranking, selected)
            if selected
            else _statements(data, measure, ranking, quadrants, looked)
        ),
        selected=selected,
        ranking=ranking,
        skills=skills,
        facet=chosen,
        facets=facets,
        quadrants=quadrants,
        weaknesses=looked,
        samples=len(np.unique(table.sample[counted])),
        quarantined=int(table.quarantined.sum()),
        answers=len(counted),
        pending=data.pending,
        unanswered=int((~table.answered).sum()),
    )


def _choose_facet(data: StudyData, facet: str | None, facets: tuple[str, ...]) -> str | None:
    if facet in data.table.facets:
        return facet
    for name in ("skills", "skill", "capability", "category", "task"):
        if name in facets:
            return name
    rest = [name for name in facets if name != SOURCE_FACET]
    return rest[0] if rest else (facets[0] if facets else None)


def _stats(
    data: StudyData,
    value: Floats,
    answers: Ints,
    group: Ints | None = None,
    n_groups: int = 1,
    level: Ints | None = None,
) -> NodeStats:
    """Estimate every (model, group): node index = model * n_groups + group."""
    table = data.table
    node = table.model[answers].astype(np.int64) * n_groups + (0 if group is None else group)
    cluster = table.cluster[table.sample[answers]].astype(np.int64)
    n_nodes = table.n_models * n_groups
    cells = make_cells(value, node, cluster, n_nodes)
    levels = None if level is None else np.tile(level, table.n_models)
    return node_stats(cells, n_nodes, levels)


def _estimate(stats: NodeStats, index: int) -> Estimate:
    return Estimate(
        value=100 * float(stats.mean[index]),
        lo=100 * float(stats.lo[index]),
        hi=100 * float(stats.hi[index]),
        n=int(stats.n[index]),
        samples=int(stats.clusters[index]),
    )


def _node_rows(data: StudyData, filters: Filters, keep: NDArray[np.bool_]) -> tuple[SkillRow, ...]:
    """Make a row for every node of the tree that has checkpoints, parents before children."""
    table = data.table
    nodes = list(
        dict.fromkeys(leaf[:depth] for leaf in table.leaves for depth in range(1, len(leaf) + 1))
    )
    at = {path: number for number, path in enumerate(nodes)}
    good = np.flatnonzero(keep[table.response] & (table.score > 0) & (table.leaf >= 0))
    depths = range(1, max((len(leaf) for leaf in table.leaves), default=0) + 1)
    values, groups, answers = [], [], []
    for depth in depths:
        ancestor = np.array(
            [at[leaf[:depth]] if len(leaf) >= depth else -1 for leaf in table.leaves],
            dtype=np.int64,
        )
        group = ancestor[table.leaf[good]]
        inside = group >= 0
        groups.append(group[inside])
        values.append((table.score[good][inside].astype(np.float64) - 1) / 4)
        answers.append(table.response[good][inside].astype(np.int64))
    if not values:
        return ()
    level = np.array([len(path) - 1 for path in nodes], dtype=np.int64)
    all_answers = np.concatenate(answers)
    all_groups = np.concatenate(groups)
    n_groups = len(nodes)
    all_values = np.concatenate(values)
    stats = _stats(data, all_values, all_answers, all_groups, n_groups, level)
    samples = _samples_in(data, all_answers, all_groups, n_groups)
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
                    estimate=_estimate(stats, model * n_groups + number),
                    filters=filters.but(model=model_id, node=path, sample=None, criterion=None),
                )
                for model, model_id in enumerate(table.model_ids)
            ),
        )
        for number, path in enumerate(nodes)
        if samples[number]
    )


def _label_rows(
    data: StudyData, filters: Filters, kept: _Kept, facet: str | None
) -> tuple[SkillRow, ...]:
    """Make a row for every label of a facet; groups overlap where answers carry several."""
    if facet is None:
        return ()
    table = data.table
    group = table.facets[facet]
    value_of = np.full(len(table.sample), np.nan)
    value_of[kept.answers] = kept.value
    inside = np.isfinite(value_of[group.response])
    answers = group.response[inside].astype(np.int64)
    codes = group.value[inside].astype(np.int64)
    n_groups = len(group.values)
    stats = _stats(data, value_of[answers], answers, codes, n_groups)
    samples = _samples_in(data, answers, codes, n_groups)
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
                    estimate=_estimate(stats, model * n_groups + number),
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


def _samples_in(data: StudyData, answers: Ints, group: Ints, n_groups: int) -> list[int]:
    """Count the distinct samples of each group, over all models."""
    sample = data.table.sample[answers].astype(np.int64)
    pairs = np.unique(sample * n_groups + group)
    return [int(n) for n in np.bincount(pairs % n_groups, minlength=n_groups)]


def _ranking(
    data: StudyData,
    filters: Filters,
    kept: _Kept,
    keep: NDArray[np.bool_],
    looked: Weaknesses | None,
) -> tuple[RankRow, ...]:
    table = data.table
    models = table.n_models
    main = _stats(data, kept.value, kept.answers)
    known = np.flatnonzero(keep & np.isfinite(table.outcome))
    right = _stats(data, table.outcome[known].astype(np.float64), known)
    passes = kept.scores.passes
    both = np.flatnonzero(keep & (table.outcome >= 0.5) & (kept.scores.scored > 0))
    lucky = _stats(data, (~passes[both]).astype(np.float64), both)
    sets = rank_sets(*_by_cluster(data, kept))
    n_rows = np.bincount(table.model[table.response[keep[table.response]]], minlength=models)
    bad = keep[table.response] & (table.score <= 0)
    n_bad = np.bincount(table.model[table.response[bad]], minlength=models)
    found = looked.models if looked else (ModelWeaknesses(),) * models
    rows = [
        RankRow(
            model_id=candidate.id,
            name=candidate.name,
            colour=number,
            rank_best=0 if selection_words(filters) else int(sets.best[number]),
            rank_worst=0 if selection_words(filters) else int(sets.worst[number]),
            score=_estimate(main, number),
            right=_estimate(right, number),
            lucky=_estimate(lucky, number),
            unscored=100 * float(n_bad[number] / n_rows[number]) if n_rows[number] else math.nan,
            n_unscored=int(n_bad[number]),
            findings=found[number].found,
            tested=found[number].tested,
            filters=filters.but(model=candidate.id, sample=None, criterion=None, node=()),
        )
        for number, candidate in enumerate(data.candidates)
    ]
    return tuple(
        sorted(rows, key=lambda row: (-row.score.value if row.score.known else 1, row.name))
    )


def _by_cluster(data: StudyData, kept: _Kept) -> tuple[Floats, Floats]:
    """Sum the kept values by (cluster, model)."""
    table = data.table
    shape = (int(table.cluster.max(initial=-1)) + 1, table.n_models)
    key = (
        table.cluster[table.sample[kept.answers]].astype(np.int64) * table.n_models
        + table.model[kept.answers]
    )
    size = shape[0] * shape[1]
    total = np.bincount(key, weights=kept.value, minlength=size).astype(np.float64)
    count = np.bincount(key, minlength=size).astype(np.float64)
    return total.reshape(shape), count.reshape(shape)


def _quadrants(
    data: StudyData,
    filters: Filters,
    scores: AnswerScores,
    keep: NDArray[np.bool_],
    ranking: tuple[RankRow, ...],
) -> tuple[ModelQuadrant, ...]:
    table = data.table
    usable = keep & np.isfinite(table.outcome) & (scores.scored > 0)
    if not usable.any():
        return ()
    found = []
    for row in ranking:
        mine = usable & (table.model == row.colour)
        counts = quadrant(table.outcome[mine] >= 0.5, scores.passes[mine])
        if counts.n:
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


def selection_words(filters: Filters) -> str:
    """Say which answers are chosen by how they went; empty where none are.

    Such answers are another selection of samples for every model, so they rank nobody.
    """
    words = [f"{filters.outcome} answers" if filters.outcome else "answers"]
    words += [f"with {filters.process} steps"] if filters.process else []
    return " ".join(words) if filters.outcome or filters.process else ""


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
) -> tuple[Statement, ...]:
    """Say in words what stands out; every sentence names its numbers."""
    known = [row for row in ranking if row.score.known]
    found: list[Statement] = []
    if not known:
        return ()
    first = known[0]
    what = "a mean score of" if measure == "process" else "right answers in"
    unit = " of 100" if measure == "process" else " %"
    rivals = [row for row in known[1:] if row.rank_best == 1]
    lead = f"{first.name} leads with {what} {first.score.value:.1f}{unit}"
    if rivals and len(known) > 1:
        names = rivals[0].name if len(rivals) == 1 else f"{len(rivals)} others"
        lead += f", but not surely: {names} can't be told apart from it"
    elif len(known) > 1:
        others = known[1].name if len(known) == 2 else f"all {len(known) - 1} others"
        lead += f", ahead of {others} beyond chance"
    found.append(Statement(text=lead + ".", filters=first.filters, page="failures"))
    if looked is not None:
        found += _weakness_statements(known, looked)
    if quadrants:
        luckiest = max(quadrants, key=lambda q: q.counts.lucky_share if q.counts.lucky else -1.0)
        counts = luckiest.counts
        n_right = counts.sound + counts.lucky
        if counts.lucky:
            found.append(
                Statement(
                    text=(
                        f"{luckiest.name} reaches {counts.lucky} of its {n_right} "
                        "right answers although its steps don't hold: right answer, wrong reason."
                    ),
                    filters=luckiest.filters,
                    page="failures",
                )
            )
    n_out = int(data.table.quarantined.sum())
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
    return Statement(
        text=f"{start} {item.name}: {effect_words(item)} ({frame_words(item)}; n {n}).",
        filters=item.filters,
        page="failures",
    )


def _nothing_confirmed(known: list[RankRow], looked: Weaknesses) -> Statement:
    """Say plainly that there is no confirmed weakness; the door leads to the surest suspicion."""
    what = "capability" if looked.facet is None else "label"
    if not any(row.tested for row in known):
        return Statement(
            text=(
                "No weakness can be confirmed: the evidence is insufficient, no "
                f"{what} can be compared on {MIN_SAMPLES} samples or more."
            ),
            filters=known[0].filters.but(model=None),
            page="failures",
        )
    by = "" if looked.facet is None else f", by {looked.facet}"
    text = f"No weakness is confirmed in any model{by} ({frame_words(looked)})"
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
