"""Findings about a study as a whole: who is ahead, what sets models apart, what is hard."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from atom.analysis.capability.criteria_health import criteria_health, near_duplicates
from atom.analysis.compare.paired import paired_gap, paired_nodes
from atom.analysis.nodes import index_nodes
from atom.analysis.weights import weight_sensitivity
from atom.display import numbers
from atom.records import Criterion
from atom.reports.findings.looking import COMPARE, OVERVIEW, StudyLook, make
from atom.reports.printed import estimate_number, finite, p_words, plain, rank_number, with_interval
from atom.reports.records import Finding, Number
from atom.views.facets import dataset_facet
from atom.views.fingerprints.shape import shape
from atom.views.fingerprints.told_apart import told_apart
from atom.views.overview.page import SkillCell, SkillRow
from atom.views.overview.quadrants import MIN_SAMPLES
from atom.views.overview.ranking import RankRow
from atom.views.reading import score_rows_kept

Q = 0.10
"""False discovery rate of differences between two models, by node."""
DRAWS = 20
MOST_READ = 20_000
"""Criteria whose texts are compared; reading more would take longer than the report is worth."""
MOST_DRAWN = 300_000
"""Checkpoints up to which weights are shaken."""
CRITERIA_SHOWN = 6


def study_findings(look: StudyLook) -> Iterator[Finding]:
    """Look at the study as a whole.

    Answers chosen by how they went are other samples for every model: nobody is compared by them,
    and nothing is called hard.
    """
    yield _coverage(look)
    known = [row for row in look.view.ranking if row.score.known]
    ranks = sum(1 for row in known if row.rank_best)
    for place, row in enumerate(known):
        yield _ranked(look, row, place, ranks)
    if look.view.selected:
        yield from _criteria(look)
        return
    ranked = [row for row in known if row.rank_best]
    if len(ranked) > 1:
        yield from _first(look, ranked)
        yield from _apart(look, ranked)
    yield from _together(look)
    yield from _told_apart(look)
    yield from _hard(look)
    yield from _criteria(look)
    yield from _weights(look, known)


# --- who is ahead --------------------------------------------------------------------------------


def _coverage(look: StudyLook) -> Finding:
    table = look.data.table
    kept = look.rows & (table.score > 0)
    numbers = [
        plain("samples", look.view.samples, "samples"),
        plain("models", len(look.view.ranking), "models"),
        plain("answers", look.view.answers, "answers"),
    ]
    if look.measure == "process":
        criteria = len(np.unique(table.criterion[kept]))
        numbers.append(plain("criteria", criteria, "criteria"))
        numbers.append(plain("checkpoints", int(kept.sum()), "scores"))
    return make(
        id="coverage",
        kind="coverage",
        part="ahead",
        frame="counts",
        numbers=numbers,
        facts={"datasets": "; ".join(_datasets(look))},
        salience=99.0,
    )


def _datasets(look: StudyLook) -> list[str]:
    facet = look.data.table.facets.get(dataset_facet(look.data.table.facets))
    return [] if facet is None else sorted(facet.values)


def _ranked(look: StudyLook, row: RankRow, place: int, ranks: int) -> Finding:
    process = look.measure == "process"
    unit = "answers"
    numbers = [estimate_number("score", row.score, percent=not process, n_unit=unit)]
    if row.rank_best:
        numbers += [rank_number(row), plain("models", ranks, "models")]
    if process and row.right.known and not look.base.outcome:
        numbers.append(estimate_number("right", row.right, percent=True, n_unit=unit))
    mine = look.base.but(model=row.model_id)
    return make(
        id=f"ranking:{row.model_id}",
        kind="ranking",
        part="ahead",
        models=(row.name,),
        model_ids=(row.model_id,),
        frame="absolute",
        numbers=numbers,
        salience=90.0 - place / 10,
        **look.listed(mine),
    )


def _first(look: StudyLook, known: list[RankRow]) -> Iterator[Finding]:
    first = known[0]
    rivals = [row for row in known[1:] if row.rank_best == 1]
    together = (first, *rivals)
    percent = look.measure != "process"
    yield make(
        id="tie" if rivals else "lead",
        kind="tie" if rivals else "lead",
        part="ahead",
        models=[row.name for row in together],
        model_ids=[row.model_id for row in together],
        frame="rank sets: all pairs of models, Holm-corrected at 5 %",
        numbers=[
            estimate_number("score", first.score, percent=percent, n_unit="answers"),
            *([plain("together", len(together), "models")] if rivals else []),
            plain("models", len(known), "models"),
        ],
        door=look.door(look.base, OVERVIEW),
        salience=98.0,
    )


def _together(look: StudyLook) -> Iterator[Finding]:
    ranks = look.more.ranks
    if ranks is None or not ranks.patterns:
        return
    for pattern in ranks.patterns:
        if len(pattern.models) < 2 and ranks.measure == "process":
            continue
        yield make(
            id="top_tie:" + "+".join(str(place) for _, place in pattern.models),
            kind="top_tie",
            part="apart",
            models=[name for name, _ in pattern.models],
            model_ids=[look.data.table.model_ids[place] for _, place in pattern.models],
            frame="counts",
            numbers=[
                Number(
                    name="share",
                    text=with_interval(
                        pattern.share, pattern.lo, pattern.hi, 1 if ranks.samples >= 200 else 0
                    )
                    + " %",
                    value=pattern.share,
                    unit="%",
                    lo=pattern.lo,
                    hi=pattern.hi,
                    n=ranks.samples,
                    n_unit="samples",
                ),
                plain("samples", pattern.samples, "samples"),
                plain("models", look.data.table.n_models, "models"),
            ],
            facts={"measure": ranks.measure},
            door=look.door(look.base, OVERVIEW),
            salience=14.0 + pattern.share / 100,
        )


# --- what sets models apart ----------------------------------------------------------------------


def _apart(look: StudyLook, known: list[RankRow]) -> Iterator[Finding]:
    """Compare the first model with every other, and node by node with the next one."""
    table = look.data.table
    first = known[0]
    own = look.pivot[:, first.colour]
    for place, other in enumerate(known[1:]):
        difference = own - look.pivot[:, other.colour]
        shared = np.isfinite(difference)
        cluster = table.cluster[shared].astype(np.int64)
        gap = paired_gap(difference[shared], cluster, bound=1.0)
        if not gap.n or math.isnan(gap.lo):
            continue
        yield make(
            id=f"comparison:{first.model_id}:{other.model_id}",
            kind="comparison",
            part="apart",
            models=(first.name, other.name),
            model_ids=(first.model_id, other.model_id),
            frame="paired: the samples that both answered",
            numbers=[
                Number(
                    name="gap",
                    text=with_interval(100 * gap.gap, 100 * gap.lo, 100 * gap.hi),
                    value=100 * gap.gap,
                    unit="points of 100",
                    lo=100 * gap.lo,
                    hi=100 * gap.hi,
                    n=gap.n,
                    n_unit="samples",
                    p=gap.p,
                )
            ],
            facts={
                "p": p_words(gap.p),
                "tied": "yes" if other.rank_best == 1 else "",
            },
            door=look.door(look.base.but(model=first.model_id, peers=(other.model_id,)), COMPARE),
            salience=60.0 - place,
        )
    yield from _node_gaps(look, first, known[1])


def _node_gaps(look: StudyLook, first: RankRow, other: RankRow) -> Iterator[Finding]:
    if look.layout is None:
        return
    seen = paired_nodes(look.layout, first.colour, other.colour, look.layout_rows)
    table = look.data.table
    process = look.measure == "process"
    facet = look.view.facet
    places = (
        index_nodes(table.leaves).paths
        if process or facet is None
        else tuple((facet, value) for value in table.facets[facet].values)
    )
    with np.errstate(invalid="ignore"):
        clear = np.flatnonzero((seen.adjusted <= Q) & (seen.clusters >= MIN_SAMPLES))
    for node in clear:
        gap = 100 * float(seen.gap[node])
        better, worse = (first, other) if gap > 0 else (other, first)
        place = places[node]
        sign = 1 if gap > 0 else -1
        lo, hi = sorted((sign * 100 * float(seen.lo[node]), sign * 100 * float(seen.hi[node])))
        filters = look.base.but(model=worse.model_id)
        filters = filters.but(node=place) if process else filters.but(tags=(*filters.tags, place))
        yield make(
            id=f"separates:{better.model_id}:{worse.model_id}:{'/'.join(place)}",
            kind="separates",
            part="apart",
            models=(better.name, worse.name),
            model_ids=(better.model_id, worse.model_id),
            place=place,
            label=not process,
            frame=f"paired: the items that both have; false discovery rate {numbers.share(Q)}",
            numbers=[
                Number(
                    name="gap",
                    text=with_interval(abs(gap), lo, hi),
                    value=abs(gap),
                    unit="points of 100",
                    lo=lo,
                    hi=hi,
                    n=int(seen.n[node]),
                    n_unit="criteria" if process else "samples",
                    p=finite(float(seen.p[node])),
                    q=finite(float(seen.adjusted[node])),
                )
            ],
            facts={
                "q": p_words(float(seen.adjusted[node])).replace("p", "adjusted p", 1),
                "rate": numbers.share(Q),
                "measure": look.measure,
            },
            salience=40.0 + min(abs(gap), 40.0) / 4,
            **look.listed(filters, look.failed_by(worse.name)),
        )


def _told_apart(look: StudyLook) -> Iterator[Finding]:
    """Ask whether half of the samples recognises each model by its profile in the other half."""
    seen = told_apart(look.data, shape(look.data, look.base))
    if seen.why:
        return
    yield make(
        id="fingerprint",
        kind="fingerprint",
        part="apart",
        frame="split halves of the samples",
        numbers=[
            Number(name="recognised", text=numbers.share(seen.first), value=100 * seen.first,
                   unit="%", n=seen.splits, n_unit="random halvings"),
            Number(name="chance", text=numbers.share(seen.chance), value=100 * seen.chance,
                   unit="%"),
        ],
        door=look.door(look.base, "fingerprints"),
        salience=10.0 + seen.first,
    )  # fmt: skip


# --- what is hard --------------------------------------------------------------------------------


def _hard(look: StudyLook) -> Iterator[Finding]:
    """Find where even the best model is low: leaves of the tree, or labels.

    Votes are relative to other answers, so they can't say what is hard; neither can one model, of
    which nobody knows whether it is the model or the question. Low is where even the best model
    stays under the score that leads the study.
    """
    if look.measure == "preference":
        return
    top = max((r.score.value for r in look.view.ranking if r.score.known), default=100.0)
    leaves = set(look.data.table.leaves)
    rows = [row for row in look.view.skills if row.label is not None or row.path in leaves]
    for row in rows:
        cells = [c for c in row.cells if c.estimate.known and c.estimate.samples >= MIN_SAMPLES]
        if len(cells) < 2 or 2 * len(cells) < len(row.cells):
            continue
        if max(cell.estimate.value for cell in cells) < top:
            yield _hard_row(look, row, cells)


def _hard_row(look: StudyLook, row: SkillRow, cells: list[SkillCell]) -> Finding:
    names = dict(zip(look.data.table.model_ids, look.names, strict=True))
    best = max(cells, key=lambda cell: cell.estimate.value)
    worst = min(cells, key=lambda cell: cell.estimate.value)
    process = look.measure == "process"
    unit = "criteria" if process else "answers"
    place = row.label or row.path
    filters = look.base.but(node=row.path) if process else look.base
    if row.label is not None:
        filters = filters.but(tags=tuple(dict.fromkeys((*look.base.tags, row.label))))
    words = look.failed_words.replace("it lost", "some model lost")
    return make(
        id=f"hard:{'/'.join(place)}",
        kind="hard",
        part="hard",
        models=(names[best.model_id], names[worst.model_id]),
        model_ids=(best.model_id, worst.model_id),
        place=place,
        label=row.label is not None,
        frame="absolute",
        numbers=[
            estimate_number("best", best.estimate, percent=not process, n_unit=unit),
            estimate_number("worst", worst.estimate, percent=not process, n_unit=unit),
        ],
        salience=30.0 + (100 - best.estimate.value) / 10,
        **look.listed(filters, f"{words} by some model"),
    )


# --- are the criteria sound ----------------------------------------------------------------------


def _criteria(look: StudyLook) -> Iterator[Finding]:
    table = look.data.table
    if look.measure != "process":
        return
    health = criteria_health(table, look.rows)
    judged = health.n > 0
    if not judged.any():
        return
    top, floor, turned = health.passed_by_all, health.failed_by_all, health.backwards
    figures = [
        plain("criteria", int(judged.sum()), "criteria"),
        plain("ceiling", int(top.sum()), "criteria"),
        plain("floor", int(floor.sum()), "criteria"),
    ]
    if not look.view.selected:
        figures.append(plain("reversed", int(turned.sum()), "criteria"))
    ids = table.criterion_ids
    sample_of = np.zeros(len(ids), dtype=np.int64)
    sample_of[table.criterion] = table.sample[table.response]
    read = np.flatnonzero(judged)
    if len(read) <= MOST_READ:
        names = [ids[int(at)] for at in read]
        texts = {c.id: c.question for c in look.store.get_many(Criterion, names)}
        twins = near_duplicates([texts.get(name, name) for name in names], sample_of[read])
        figures.append(plain("twins", len(twins.first), "pairs of criteria"))
    yield make(
        id="criteria",
        kind="criteria",
        part="health",
        frame="counts",
        numbers=figures,
        salience=20.0,
    )
    if look.view.selected:
        return
    order = np.argsort(np.nan_to_num(health.discrimination, nan=9.0), kind="stable")
    shown = [int(at) for at in order if turned[at]][:CRITERIA_SHOWN]
    texts = {c.id: c.question for c in look.store.get_many(Criterion, [ids[at] for at in shown])}
    for at in shown:
        value = float(health.discrimination[at])
        filters = look.base.but(
            sample=table.sample_ids[int(sample_of[at])], criterion=ids[at], show="all"
        )
        yield make(
            id=f"criterion:{ids[at]}",
            kind="criterion",
            part="health",
            frame="correlation with the rest of its sample's score, over answers",
            numbers=[
                Number(name="discrimination", text=f"{value:.2f}", value=value, unit="correlation",
                       n=int(health.n[at]), n_unit="answers")
            ],
            facts={"question": " ".join(texts.get(ids[at], "").split())[:200]},
            door=look.door(filters),
            salience=5.0 - value,
        )  # fmt: skip


def _weights(look: StudyLook, known: list[RankRow]) -> Iterator[Finding]:
    if look.measure != "process" or len(known) < 2 or look.rows.sum() > MOST_DRAWN:
        return
    rng = np.random.default_rng(look.seed)
    seen = weight_sensitivity(
        look.data.table, rng, score_rows_kept(look.data, look.base), draws=DRAWS
    )
    if math.isnan(seen.kendall_equal):
        return
    kept = round(seen.same_first * seen.draws)
    whole = round(seen.same_order * seen.draws)
    yield make(
        id="weights",
        kind="weights",
        part="care",
        models=(known[0].name,),
        model_ids=(known[0].model_id,),
        frame="the judge's weights, shaken at random",
        numbers=[
            plain("draws", seen.draws, "draws"),
            plain("same_first", kept, "draws"),
            plain("same_order", whole, "draws"),
            Number(name="kendall", text=f"{seen.kendall_equal:.2f}", value=seen.kendall_equal,
                   unit="rank agreement"),
        ],
        salience=12.0,
    )  # fmt: skip
