"""Weaknesses and strengths, each with its frame, its numbers and what may be claimed.

Three frames say what a node is held against. `absolute`: a line that it should reach. `own`: the
rest of the same model; a node that is hard for everybody looks weak. `peer`: what the other models'
scores predict for this one; only this frame takes out how hard the node is.

Reference: METHODS B4 (frames, margin test), B5 (multiplicity), B7 (suspected), B10 (samples
needed), F (decisions).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from atom.analysis.capability.diagnosis import (
    CONFIRMED,
    INSUFFICIENT,
    MIN_ROWS,
    NOT_SAID,
    NOTHING,
    PEER_MODELS,
    STRENGTH,
    SUSPECTED,
    Diagnosis,
    DiagnosisSettings,
    Frame,
)
from atom.analysis.capability.replication import LIKELY, replication_probability, samples_to_settle
from atom.analysis.compare.contrasts import ContrastSums, contrast_sums, contrasts_of
from atom.analysis.compare.peers import PeerFit, PeerResiduals, fit_peers, residuals
from atom.analysis.grounds import CountedRows, NodeSums, find_grounds
from atom.analysis.intervals import (
    MIN_CLUSTERS,
    PRIOR_DF,
    Floats,
    Ints,
    NodeStats,
    moderate_dispersion,
)
from atom.analysis.layout import Layout, Mask
from atom.analysis.merged import Adder, Additive, of_one
from atom.analysis.multiplicity import adjust, tree_bh
from atom.analysis.power import needed_samples
from atom.analysis.shrinkage import ShrunkEstimates, shrink_flat, shrink_to_zero
from atom.analysis.sums import group_sums


@dataclass(frozen=True, kw_only=True)
class _FramedDepartures:
    """Departures and the standard error that tests use."""

    effect: Floats
    se: Floats
    test_se: Floats
    df: Floats
    lo: Floats
    hi: Floats
    pooled: ShrunkEstimates
    without_peers: Ints
    margin: float


def default_frame(n_models: int) -> Frame:
    """Return `peer` from four models on, else `own`."""
    return "peer" if n_models >= PEER_MODELS else "own"


def diagnose(
    layout: Layout,
    rows: Mask | None = None,
    settings: DiagnosisSettings | None = None,
    silent: Mask | None = None,
) -> Diagnosis:
    """Label every model on every node of a study in one part (`diagnose_parts`).

    Args:
        layout: rows and nodes (`tree_layout`, `facet_layout`).
        rows: bool, shape (n,): rows that count; all when None.
        settings: how to look; the defaults are METHODS F.
        silent: nodes of which a model addresses less than half, shape (K, M); none when None.
    """
    which = None if rows is None else np.flatnonzero(rows)
    return diagnose_parts(layout, of_one(find_grounds(layout, which)), settings, silent)


def diagnose_parts(
    layout: Layout,
    adder: Adder,
    settings: DiagnosisSettings | None = None,
    silent: Mask | None = None,
) -> Diagnosis:
    """Label every model on every node.

    A node with under five samples or five rows (or that leaves under five to be held against) is
    `insufficient` and not tested, nor is one that the model is silent on (`not said`). The others
    are tested one-sided against the margin, `p = T((d + margin) / se)`, with control for
    multiplicity within the model and level of the tree. `confirmed` = a discovery that is likely
    to hold again (probability of replication at least one half); `strength` = the same of the
    mirrored test; `suspected` = a discovery that isn't, or none yet, but the pooled departure lies
    beyond the margin with probability 0.8 or more.

    Three passes over the parts: means; the peers' regression; the contrasts. (Labels that overlap
    take one more, labels of several benchmarks another.)

    Args:
        layout: models and nodes; its rows aren't read.
        adder: adds up over the parts' `CountedRows`.
        settings: how to look; the defaults are METHODS F.
        silent: nodes of which a model addresses less than half, shape (K, M); none when None.

    Returns:
        The diagnosis. Time and memory are linear in rows and cells; no sort.

    Reference:
        METHODS B4, B5, B7, B10, F, T1 (not said), T6.
    """
    settings = settings or DiagnosisSettings()
    frame = settings.frame or default_frame(layout.n_models)
    sums: NodeSums = adder(sums_of)
    stats = sums.nodes.stats(np.tile(layout.level, layout.n_models), settings.confidence)
    framed = (
        _against_line(layout, stats, settings)
        if frame == "absolute"
        else _against_rest(layout, adder, sums.means, settings, frame)
    )
    shape = layout.n_models, layout.n_nodes
    n, samples = stats.n.reshape(shape), stats.clusters.reshape(shape)
    enough = (n >= MIN_ROWS) & (samples >= MIN_CLUSTERS) & np.isfinite(framed.test_se)
    if frame != "absolute":
        enough &= sums.rows[:, None] - n >= MIN_ROWS
    if silent is not None:
        enough &= ~silent
    p_weak, p_strong = _tests(framed, enough)
    adjusted_weak = _control(layout, p_weak, settings)
    adjusted_strong = _control(layout, p_strong, settings)
    probability = framed.pooled.probability_below(-framed.margin).reshape(shape)
    error = np.where(np.isfinite(framed.test_se), framed.se, np.nan).reshape(-1)
    replication = replication_probability(framed.pooled, error).reshape(shape)
    likely = replication >= LIKELY
    discovery = adjusted_weak <= settings.q
    label = np.full(shape, NOTHING, dtype=np.int8)
    label[enough & ((probability >= settings.suspect) | discovery)] = SUSPECTED
    label[enough & likely & (adjusted_strong <= settings.q)] = STRENGTH
    label[enough & likely & discovery] = CONFIRMED
    label[~enough] = INSUFFICIENT
    if silent is not None:
        label[silent] = NOT_SAID
    pooled = framed.pooled.value.reshape(shape)
    more = np.where(
        label == SUSPECTED, _more_samples(layout, framed, pooled, label, samples, settings), np.nan
    )
    return Diagnosis(
        frame=frame,
        settings=settings,
        n=n,
        samples=samples,
        mean=stats.mean.reshape(shape),
        lo=stats.lo.reshape(shape),
        hi=stats.hi.reshape(shape),
        effect=framed.effect,
        se=framed.se,
        effect_lo=framed.lo,
        effect_hi=framed.hi,
        pooled=pooled,
        p_weak=p_weak,
        p_strong=p_strong,
        adjusted_weak=adjusted_weak,
        adjusted_strong=adjusted_strong,
        probability=probability,
        replication=replication,
        more_samples=more,
        label=label,
        without_peers=framed.without_peers,
    )


def sums_of(grounds: CountedRows) -> NodeSums:
    """Return a part's sums by node."""
    return grounds.sums


def _family(layout: Layout, *, joint: bool) -> Ints:
    """Number the (model, level) of every (model, node), or the level alone when joint."""
    levels = int(layout.level.max(initial=0)) + 1
    model = np.zeros_like(layout.node_model) if joint else layout.node_model
    return np.asarray(model * levels + np.tile(layout.level, layout.n_models))


@dataclass(frozen=True, kw_only=True)
class StratumSums(Additive):
    """Rows and their values by (model, stratum), shape (K * strata,)."""

    n: Floats
    total: Floats


def stratum_sums(grounds: CountedRows, fit: PeerFit | None) -> StratumSums:
    """Sum what a part's rows are held against by model and stratum (benchmark).

    Args:
        fit: of the models on their peers; None = rows' own values count.
    """
    held, key = _held(grounds, fit), _strata(grounds.layout)
    size = grounds.layout.n_models * grounds.layout.n_strata
    return StratumSums(
        n=group_sums(key, held.keep, size),
        total=group_sums(key, np.where(held.keep, held.value, 0.0), size),
    )


def rest_sums(grounds: CountedRows, fit: PeerFit | None, strata: Floats | None) -> ContrastSums:
    """Form a part's sums of every node against the rest.

    Args:
        fit: of the models on their peers; None = rows' own values count.
        strata: mean by model and stratum over all parts, shape (K * strata,). It is taken off: how
            a model does on a benchmark as a whole becomes 0, so that a label that stands in one is
            held against the rest of that one, whatever the others are like. None = nothing is.
    """
    held, counted = _held(grounds, fit), grounds.counted
    value = held.value if strata is None else held.value - strata[_strata(grounds.layout)]
    if held.without_peers.any():
        counted = None
    return contrast_sums(grounds.layout, np.where(held.keep, value, 0.0), held.keep, counted)


def _held(grounds: CountedRows, fit: PeerFit | None) -> PeerResiduals:
    """Return what of a part's rows is held against the rest."""
    if fit is not None:
        return residuals(grounds, fit)
    nobody = np.zeros(grounds.layout.n_models, dtype=np.int64)
    return PeerResiduals(value=grounds.values, keep=grounds.keep, without_peers=nobody)


def _strata(layout: Layout) -> Ints:
    assert layout.stratum is not None
    return layout.model.astype(np.int64) * layout.n_strata + layout.stratum


def _against_rest(
    nodes: Layout, adder: Adder, means: Floats, settings: DiagnosisSettings, frame: Frame
) -> _FramedDepartures:
    fit = fit_peers(adder, means) if frame == "peer" else None
    strata = None
    if nodes.stratum is not None:
        by_stratum: StratumSums = adder(stratum_sums, fit)
        strata = by_stratum.total / np.maximum(by_stratum.n, 1)
    sums: ContrastSums = adder(rest_sums, fit, strata)
    found = contrasts_of(nodes, sums)
    lo, hi = found.interval(settings.confidence)
    family = _family(nodes, joint=False)
    # Small nodes are pooled, too, but the spread is read from nodes that can be tested.
    usable = (found.n >= MIN_ROWS) & (found.clusters >= MIN_CLUSTERS)
    variance = np.where(usable, found.se**2, np.nan).reshape(-1)
    return _FramedDepartures(
        effect=found.effect,
        se=found.se,
        test_se=np.where(usable, found.se, np.nan),
        df=found.df,
        lo=lo,
        hi=hi,
        pooled=shrink_to_zero(found.effect.reshape(-1), variance, family),
        without_peers=np.zeros(nodes.n_models, dtype=np.int64) if fit is None else fit.without,
        margin=settings.margin,
    )


def _against_line(
    layout: Layout, stats: NodeStats, settings: DiagnosisSettings
) -> _FramedDepartures:
    """Hold means against the line: a score test at the line's own binomial variance."""
    shape = layout.n_models, layout.n_nodes
    groups = stats.clusters.astype(np.float64)
    binomial = stats.mean * (1 - stats.mean)
    with np.errstate(divide="ignore", invalid="ignore"):
        dispersion = np.where(binomial > 1e-12, stats.se**2 * stats.n / binomial, np.nan)
        phi = moderate_dispersion(
            dispersion, binomial, groups, np.tile(layout.level, layout.n_models)
        )
        se = np.sqrt(phi * settings.line * (1 - settings.line) / stats.n)
        own_se = np.sqrt(phi * np.maximum(binomial, 1e-4) / stats.n)
    effect = stats.mean - settings.line
    known = stats.n > 0
    variance = np.where(known & (groups >= MIN_CLUSTERS), own_se**2, np.nan)
    return _FramedDepartures(
        effect=effect.reshape(shape),
        se=np.where(known, own_se, np.nan).reshape(shape),
        test_se=np.where(known, se, np.nan).reshape(shape),
        df=(np.maximum(groups, 1) - 1 + PRIOR_DF).reshape(shape),
        lo=(stats.lo - settings.line).reshape(shape),
        hi=(stats.hi - settings.line).reshape(shape),
        pooled=shrink_flat(effect, variance, _family(layout, joint=False)),
        without_peers=np.zeros(layout.n_models, dtype=np.int64),
        margin=0.0,
    )


def _tests(framed: _FramedDepartures, enough: Mask) -> tuple[Floats, Floats]:
    """Test for a weakness and for a strength beyond the margin; certain where the error is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        weak = scipy.special.stdtr(framed.df, _ratio(framed.effect + framed.margin, framed.test_se))
        strong = scipy.special.stdtr(
            framed.df, _ratio(framed.margin - framed.effect, framed.test_se)
        )
    return np.where(enough, weak, np.nan), np.where(enough, strong, np.nan)


def _ratio(distance: Floats, se: Floats) -> Floats:
    """Divide; no departure over no error is no evidence."""
    return np.where((se <= 0) & (np.abs(distance) < 1e-12), 0.0, distance / se)


def _control(layout: Layout, p: Floats, settings: DiagnosisSettings) -> Floats:
    if settings.multiplicity != "tree":
        family = _family(layout, joint=settings.joint)
        return adjust(p.reshape(-1), family, settings.multiplicity).reshape(p.shape)
    inner = np.isin(np.arange(layout.n_nodes), layout.parent)
    adjusted = np.full_like(p, np.nan)
    for model, row in enumerate(np.where(inner, np.nan, p)):
        found = tree_bh(row, layout.parent, layout.level, settings.q)
        tested = np.where(found.selected, settings.q, 1.0)
        adjusted[model] = np.where(np.isfinite(found.p), tested, np.nan)
    return adjusted


def _more_samples(
    layout: Layout,
    framed: _FramedDepartures,
    pooled: Floats,
    label: np.ndarray[tuple[int, ...], np.dtype[np.int8]],
    samples: Ints,
    settings: DiagnosisSettings,
) -> Floats:
    """Forecast from the pooled departure, which isn't flattered by having been noticed.

    The level to reach is that of the family's next discovery, `q (discoveries + 1) / tests`, and
    the claim has to be likely to hold again: whichever takes more.
    """
    family = _family(layout, joint=settings.joint)

    def in_family(mask: Mask) -> Floats:
        counts = group_sums(family, mask.reshape(-1), int(family.max(initial=-1)) + 1)
        return np.asarray(counts[family].reshape(mask.shape))

    tests = np.maximum(in_family(label < INSUFFICIENT), 1)
    needed = needed_samples(
        pooled,
        framed.test_se,
        samples.astype(np.float64),
        alpha=settings.q * np.minimum(in_family(label == CONFIRMED) + 1, tests) / tests,
        margin=framed.margin,
    )
    settled = samples_to_settle(
        framed.effect.reshape(-1),
        framed.pooled,
        framed.se.reshape(-1),
        samples.reshape(-1).astype(np.float64),
    ).reshape(pooled.shape)
    return np.asarray(np.maximum(np.maximum(needed, settled) - samples, 1))
