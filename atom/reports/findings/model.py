"""Findings about one model: where it stands, what it is weak and strong at, where it breaks."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from atom.analysis.intervals import make_cells, node_stats, wilson
from atom.display.estimate import Estimate
from atom.reports.findings.looking import OVERVIEW, StudyLook, make
from atom.reports.printed import (
    estimate_number,
    finite,
    p_words,
    plain,
    rank_number,
    share_number,
    with_interval,
)
from atom.reports.records import Finding, Kind, Number, Part
from atom.views.overview.more import BreakCurve
from atom.views.overview.quadrants import MIN_SAMPLES, ModelQuadrant
from atom.views.overview.ranking import RankRow
from atom.views.overview.weakness_words import effect_words, frame_words, more_words
from atom.views.overview.weaknesses import ORDER, Weakness
from atom.views.reading import score_rows_kept

_KINDS: dict[str, tuple[Kind, Part, float]] = {
    "confirmed": ("weakness", "weak", 60.0),
    "suspected": ("suspected", "weak", 30.0),
    "strength": ("strength", "strong", 40.0),
}
_MOST_EFFECT = 29.0
MOST_CLUSTERS = 6
"""Capabilities listed by how many of a model's failed criteria lie there."""


def model_findings(look: StudyLook, row: RankRow) -> Iterator[Finding]:
    """Look at one model."""
    yield _stands(look, row)
    yield from _labelled(look, row)
    yield from _lucky(look, row)
    yield from _first_break(look, row)
    yield from _clusters(look, row)


def _stands(look: StudyLook, row: RankRow) -> Finding:
    process = look.measure == "process"
    numbers = []
    if row.score.known:
        numbers.append(estimate_number("score", row.score, percent=not process, n_unit="answers"))
    if row.rank_best:
        numbers.append(rank_number(row))
        ranked = sum(other.rank_best > 0 for other in look.view.ranking)
        numbers.append(plain("models", ranked, "models"))
    if process and row.right.known and not look.base.outcome:
        numbers.append(estimate_number("right", row.right, percent=True, n_unit="answers"))
    if row.n_unscored:
        numbers.append(plain("unscored", row.n_unscored, "scores"))
    return make(
        id=f"stands:{row.model_id}",
        kind="ranking",
        part="stand",
        models=(row.name,),
        model_ids=(row.model_id,),
        owner=row.model_id,
        frame="absolute",
        numbers=numbers,
        facts={"anchor": "yes"} if _is_anchor(look, row) else {},
        salience=90.0,
        **look.listed(look.base.but(model=row.model_id)),
    )


# --- weaknesses and strengths --------------------------------------------------------------------


def _labelled(look: StudyLook, row: RankRow) -> Iterator[Finding]:
    looked = look.view.weaknesses
    if looked is None:
        return
    for item in row.findings:
        yield _weakness(look, row, item)
    confirmed = [item for item in row.findings if item.status == "confirmed"]
    if not confirmed:
        suspected = sum(item.status == "suspected" for item in row.findings)
        yield make(
            id=f"none_found:{row.model_id}",
            kind="none_found",
            part="weak",
            models=(row.name,),
            model_ids=(row.model_id,),
            owner=row.model_id,
            frame=frame_words(looked),
            facts={"anchor": "yes"} if _is_anchor(look, row) else {},
            numbers=[
                plain("tested", row.tested, "labels" if looked.facet else "capabilities"),
                plain("suspected", suspected, "suspicions"),
                plain("least", MIN_SAMPLES, "samples"),
            ],
            door=look.door(look.base.but(model=row.model_id), OVERVIEW),
            salience=59.0,
        )


def _is_anchor(look: StudyLook, row: RankRow) -> bool:
    anchor = look.view.anchor
    return anchor is not None and look.data.table.model_ids[anchor] == row.model_id


def _weakness(look: StudyLook, row: RankRow, item: Weakness) -> Finding:
    kind, part, base = _KINDS[item.status]
    assert item.status in ORDER
    unit = "answers" if item.label is not None else "criteria"
    effect = Number(
        name="effect",
        text=with_interval(item.effect, item.lo, item.hi),
        value=finite(item.effect),
        unit="points of 100",
        lo=finite(item.lo),
        hi=finite(item.hi),
        n=item.n,
        n_unit=unit,
        p=finite(item.p),
        q=finite(item.p_adjusted),
    )
    numbers = [
        effect,
        Number(name="mean", text=f"{item.mean:.1f}", value=finite(item.mean), unit="points of 100",
               n=item.n, n_unit=unit),
    ]  # fmt: skip
    if item.label is None:
        numbers.append(plain("samples", item.samples, "samples"))
    if item.status == "suspected" and math.isfinite(item.more_samples):
        numbers.append(plain("more", math.ceil(item.more_samples), "samples"))
    return make(
        id=f"{kind}:{row.model_id}:{'/'.join(item.label or item.path)}",
        kind=kind,
        part=part,
        models=(row.name,),
        model_ids=(row.model_id,),
        owner=row.model_id,
        place=item.label or item.path,
        label=item.label is not None,
        frame=frame_words(item),
        numbers=numbers,
        facts={
            "effect": effect_words(item),
            "more": more_words(item),
            "q": p_words(item.p_adjusted).replace("p", "adjusted p", 1),
        },
        salience=base + min(abs(item.pooled), _MOST_EFFECT),
        **look.listed(item.filters),
    )


# --- how its answers break -----------------------------------------------------------------------


def _lucky(look: StudyLook, row: RankRow) -> Iterator[Finding]:
    found = next((q for q in look.view.quadrants if q.model_id == row.model_id), None)
    if found is None or not found.counts.sound + found.counts.lucky:
        return
    yield _lucky_of(look, row, found)


def _lucky_of(look: StudyLook, row: RankRow, found: ModelQuadrant) -> Finding:
    counts = found.counts
    right = counts.sound + counts.lucky
    return make(
        id=f"lucky:{row.model_id}",
        kind="lucky",
        part="break",
        models=(row.name,),
        model_ids=(row.model_id,),
        owner=row.model_id,
        frame="counts",
        numbers=[
            plain("lucky", counts.lucky, "answers"),
            plain("right", right, "answers"),
            share_number("share", counts.lucky, right, counts.lucky_lo, counts.lucky_hi,
                         n_unit="right answers"),
            plain("slip", counts.slip, "answers"),
            plain("passing", counts.sound + counts.slip, "answers"),
        ],
        salience=20.0 + (counts.lucky_lo if math.isfinite(counts.lucky_lo) else 0.0),
        **look.listed(found.filters, "samples right for a wrong reason"),
    )  # fmt: skip


def _first_break(look: StudyLook, row: RankRow) -> Iterator[Finding]:
    curve = next((c for c in look.more.breaks if c.model_id == row.model_id), None)
    if curve is None or curve.worst is None:
        return
    yield _break_of(look, row, curve)


def _break_of(look: StudyLook, row: RankRow, curve: BreakCurve) -> Finding:
    worst = curve.worst
    assert worst is not None
    lo, hi = wilson(worst.breaks, worst.exposed)
    return make(
        id=f"first_break:{row.model_id}",
        kind="first_break",
        part="break",
        models=(row.name,),
        model_ids=(row.model_id,),
        owner=row.model_id,
        place=worst.path,
        frame="counts",
        numbers=[
            plain("breaks", worst.breaks, "answers"),
            plain("exposed", worst.exposed, "criteria"),
            share_number(
                "share", worst.breaks, worst.exposed, lo, hi, n_unit="criteria reached unbroken"
            ),
        ],
        salience=25.0 + worst.share / 100,
        **look.listed(worst.filters),
    )


def _clusters(look: StudyLook, row: RankRow) -> Iterator[Finding]:
    """Count where a model's failed criteria lie, and how often it fails there."""
    table = look.data.table
    leaves = len(table.leaves)
    if look.measure != "process" or not leaves:
        return
    mine = score_rows_kept(look.data, look.base) & (table.score > 0) & (table.leaf >= 0)
    mine &= table.model[table.response] == row.colour
    rows = np.flatnonzero(mine)
    if not len(rows):
        return
    failed = table.fails[rows].astype(np.float64)
    leaf = table.leaf[rows].astype(np.int64)
    cluster = table.cluster[table.sample[table.response[rows]]].astype(np.int64)
    stats = node_stats(make_cells(failed, leaf, cluster, leaves), leaves)
    hits = np.bincount(leaf, weights=failed, minlength=leaves).astype(np.int64)
    total = int(hits.sum())
    usable = np.flatnonzero((hits > 0) & (stats.clusters >= MIN_SAMPLES))
    for at in usable[np.argsort(-hits[usable], kind="stable")][:MOST_CLUSTERS]:
        path = table.leaves[at]
        rate = Estimate(
            value=100 * float(stats.mean[at]),
            lo=100 * float(stats.lo[at]),
            hi=100 * float(stats.hi[at]),
            n=int(stats.n[at]),
            samples=int(stats.clusters[at]),
        )
        yield make(
            id=f"cluster:{row.model_id}:{'/'.join(path)}",
            kind="cluster",
            part="break",
            models=(row.name,),
            model_ids=(row.model_id,),
            owner=row.model_id,
            place=path,
            frame="counts",
            numbers=[
                plain("failed", int(hits[at]), "criteria"),
                plain("all_failed", total, "criteria"),
                estimate_number("rate", rate, percent=True, n_unit="criteria"),
            ],
            salience=15.0 + float(hits[at]) / max(total, 1),
            **look.listed(look.base.but(model=row.model_id, node=path)),
        )
