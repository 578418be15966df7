from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t

from atom.analysis.capability.diagnosis import (
    CONFIRMED,
    INSUFFICIENT,
    LABELS,
    STRENGTH,
    SUSPECTED,
    DiagnosisSettings,
)
from atom.analysis.capability.weaknesses import default_frame, diagnose
from atom.analysis.layout import facet_layout, tree_layout
from atom.analysis.score_table import Facet
from tests.planted import WorldSettings, plant

FLAT = (("x",), ("y",))


def world(seed=0, **changes):
    return plant(WorldSettings(**changes), np.random.default_rng(seed))


def shares(worlds, *, by_judge=True, **settings):
    """Return (false discovery proportion, power, share of models with any report)."""
    false, power, anything = [], [], []
    for drawn in worlds:
        layout = tree_layout(drawn.table(by_judge=by_judge))
        seen = diagnose(layout, settings=DiagnosisSettings(**settings))
        found = seen.label[:, layout.group_node] == CONFIRMED
        false.append((found & ~drawn.weak).sum(axis=1) / np.maximum(found.sum(axis=1), 1))
        anything.append(found.any(axis=1))
        if drawn.weak.any():
            power.append((found & drawn.weak).sum() / drawn.weak.sum())
    return np.mean(false), np.mean(power) if power else np.nan, np.mean(anything)


def test_the_default_frame_needs_four_models():
    assert [default_frame(k) for k in (1, 3, 4, 9)] == ["own", "own", "peer", "peer"]
    assert diagnose(tree_layout(world(samples=20, models=3).table())).confounded


def test_the_test_against_a_line_of_a_hand_worked_case(build):
    # Eight samples of one checkpoint each, x = 0 (six) and 1 (two): m = .25; V = 8/7 * 1.5/64.
    # phi = V n / (m(1-m)) = 8/7, and so is the pool's (one node a level); test at .5:
    # z = -.25 / sqrt(8/7 * .25 / 8), 10 + 7 degrees of freedom; leaf y is empty.
    rows = [(0, s, 0, 0, 1, 5 if s < 2 else 1) for s in range(8)]
    layout = tree_layout(build(rows, leaves=FLAT, models=1))
    seen = diagnose(layout, settings=DiagnosisSettings(frame="absolute"))
    z = -0.25 / np.sqrt(8 / 7 * 0.25 / 8)
    assert seen.p_weak[0, 0] == pytest.approx(t.cdf(z, 17), abs=1e-9)
    assert seen.effect[0, 0] == pytest.approx(-0.25)
    # p = .10, so no discovery at q = .10; but the pooled mean lies under the line with P >= .8.
    assert LABELS[seen.label[0, 0]] == "suspected"
    assert LABELS[seen.label[0, 1]] == "insufficient"


def test_the_margin_test_is_the_formula():
    layout = tree_layout(world(samples=80, models=4).table())
    seen = diagnose(layout)
    at = 1, int(layout.group_node[0])
    df = 10 + seen.samples[at] - 1
    expected = t.cdf((seen.effect[at] + 0.025) / seen.se[at], df)
    assert seen.p_weak[at] == pytest.approx(expected, abs=1e-9)
    mirrored = t.cdf((0.025 - seen.effect[at]) / seen.se[at], df)
    assert seen.p_strong[at] == pytest.approx(mirrored, abs=1e-9)


def test_every_label_and_the_numbers_that_go_with_it():
    drawn = world(3, samples=150)
    layout = tree_layout(drawn.table())
    seen = diagnose(layout)
    confirmed, suspected = seen.label == CONFIRMED, seen.label == SUSPECTED
    assert confirmed.any()
    assert suspected.any()
    assert (seen.adjusted_weak[confirmed] <= 0.10).all()
    assert (seen.probability[suspected] >= 0.8).all()
    assert (seen.more_samples[suspected] >= 1).all()
    assert np.isnan(seen.more_samples[~suspected]).all()
    strength = seen.label == STRENGTH
    assert (seen.effect[strength] > 0.025).all()
    assert (seen.effect[confirmed] < -0.025).all()
    small = (seen.n < 5) | (seen.samples < 5)
    assert (seen.label[small] == INSUFFICIENT).all()
    assert np.isnan(seen.p_weak[small]).all()
    known = np.isfinite(seen.effect)
    assert (seen.effect_lo[known] <= seen.effect[known]).all()
    for model in range(8):
        found = seen.findings(model, ("confirmed", "suspected"))
        assert [f.label for f in found].count("confirmed") == confirmed[model].sum()
        pooled = [abs(f.pooled) for f in found]
        assert pooled == sorted(pooled, reverse=True)
        for finding in found:
            assert finding.frame == "peer"
            assert finding.samples >= 5
            assert finding.lo <= finding.mean <= finding.hi
            assert finding.p <= finding.p_adjusted + 1e-12


def test_planted_weaknesses_are_found_and_naive_ones_are_mostly_false():
    """METHODS D4 at 300 samples: power .55 or more, false discovery .10 or less."""
    worlds = [world(seed, samples=300) for seed in range(15)]
    false, power, _ = shares(worlds)
    assert power >= 0.55
    assert false <= 0.10
    own, _, _ = shares(worlds, frame="own")
    assert own > 0.3


def test_nothing_planted_nothing_reported_where_difficulty_alone_differs():
    """METHODS B5's global null: at most .10 with the margin; the own frame reports anyway."""
    null = {"weak": 0, "profile_sd": 0.0, "flat_leaves": 52, "samples": 500}
    worlds = [world(seed, **null) for seed in range(10)]
    assert shares(worlds)[2] <= 0.10
    assert shares(worlds, frame="own", margin=0.0)[2] > 0.8


@pytest.mark.slow
def test_errors_are_controlled_over_fifty_leaves():
    """METHODS B5: FDR at most .10, power .55 at 300 samples and .80 at 1000."""
    changes = {"flat_leaves": 52, "weak": 5, "drop": 1.2, "profile_sd": 0.0}
    for samples, least in ((300, 0.55), (1000, 0.80)):
        worlds = [world(seed, samples=samples, **changes) for seed in range(8)]
        false, power, _ = shares(worlds, by_judge=False)
        assert false <= 0.10
        assert power >= least
        assert shares(worlds, by_judge=False, multiplicity="by")[0] <= 0.10


def test_what_is_hard_for_everybody_is_no_weakness_to_peers_but_misses_the_line():
    """METHODS D5: shared weakness: the peer frame is silent, the absolute one fires."""
    drawn = world(1, samples=600, weak=0, profile_sd=0.0, shared_weak=(0, 4), drop=1.5)
    layout = tree_layout(drawn.table())
    shared = layout.group_node[[0, 4]]
    assert not (diagnose(layout).label[:, shared] == CONFIRMED).any()
    line = DiagnosisSettings(frame="absolute", line=0.6)
    found = diagnose(layout, settings=line).label[:, shared] == CONFIRMED
    assert found[np.argsort(drawn.ability)[:4]].all()


@pytest.mark.parametrize(
    "changes",
    [{"missing": 0.3}, {"unscored": 0.1}, {"per_picture": 5}],
    ids=lambda c: next(iter(c)),
)
def test_missing_answers_unscored_checkpoints_and_shared_pictures_are_survived(changes):
    """METHODS D5."""
    worlds = [world(seed, samples=400, **changes) for seed in range(6)]
    false, power, _ = shares(worlds)
    assert false <= 0.10
    assert power >= 0.5


def test_row_order_and_model_order_do_not_matter(build):
    rng = np.random.default_rng(2)
    rows = [
        (m, s, p, (s + p) % 2, 1, int(rng.integers(1, 6)))
        for m in range(4) for s in range(12) for p in range(3)
    ]  # fmt: skip
    shuffled = [rows[at] for at in rng.permutation(len(rows))]
    turned = [(3 - m, *rest) for m, *rest in rows]
    one, two, three = (diagnose(tree_layout(build(r, leaves=FLAT, models=4))) for r in
                       (rows, shuffled, turned))  # fmt: skip
    for name in ("mean", "effect", "se", "p_weak", "pooled", "probability"):
        assert getattr(two, name) == pytest.approx(getattr(one, name), abs=1e-9, nan_ok=True)
        assert getattr(three, name)[::-1] == pytest.approx(
            getattr(one, name), abs=1e-9, nan_ok=True
        )


def test_a_mask_is_the_same_as_leaving_rows_out(build):
    rng = np.random.default_rng(3)
    rows = [
        (m, s, p, (s + p) % 2, 1, int(rng.integers(1, 6)))
        for m in range(4) for s in range(12) for p in range(3)
    ]  # fmt: skip
    mask = rng.random(len(rows)) < 0.8
    masked = diagnose(tree_layout(build(rows, leaves=FLAT, models=4)), mask)
    left = [row for row, kept in zip(rows, mask, strict=True) if kept]
    alone = diagnose(tree_layout(build(left, leaves=FLAT, models=4)))
    assert masked.effect == pytest.approx(alone.effect, abs=1e-9)
    assert (masked.label == alone.label).all()


def test_an_empty_leaf_changes_nothing_else(build):
    rng = np.random.default_rng(4)
    rows = [(m, s, 0, s % 2, 1, int(rng.integers(1, 6))) for m in range(4) for s in range(30)]
    few = diagnose(tree_layout(build(rows, leaves=FLAT, models=4)))
    many = diagnose(tree_layout(build(rows, leaves=(*FLAT, ("z",)), models=4)))
    assert many.p_weak[:, :2] == pytest.approx(few.p_weak)
    assert (many.label[:, :2] == few.label).all()
    assert (many.label[:, 2] == INSUFFICIENT).all()


@pytest.mark.parametrize("frame", ["absolute", "own", "peer"])
@pytest.mark.parametrize("score", [1, 3, 5])
@pytest.mark.filterwarnings("error")
def test_constant_scores_have_intervals_and_no_false_claims(build, frame, score):
    rows = [(m, s, 0, s % 2, 1, score) for m in range(4) for s in range(12)]
    layout = tree_layout(build(rows, leaves=FLAT, models=4))
    seen = diagnose(layout, settings=DiagnosisSettings(frame=frame))
    assert (seen.hi > seen.lo).all()
    assert np.isfinite(seen.mean).all()
    if frame != "absolute":
        assert set(seen.label.ravel()) <= {3, 4}


@pytest.mark.parametrize("frame", [None, "absolute", "own", "peer"])
@pytest.mark.filterwarnings("error")
def test_one_sample_no_rows_and_no_models_are_sane(build, frame):
    settings = DiagnosisSettings(frame=frame)
    one = diagnose(tree_layout(build([(0, 0, 0, 0, 1, 4)], leaves=FLAT)), settings=settings)
    assert (one.label == INSUFFICIENT).all()
    assert one.n[0, 0] == 1
    for models in (0, 2):
        none = tree_layout(build([], leaves=FLAT, models=models, samples=0))
        assert diagnose(none, settings=settings).label.shape == (models, 2)
    bare = tree_layout(build([], leaves=(), samples=0))
    assert diagnose(bare, settings=settings).label.shape == (2, 0)


def test_a_model_without_peers_is_not_claimed_about_and_is_counted(build):
    rng = np.random.default_rng(5)
    rows = [(m, s, 0, s % 2, 1, int(rng.integers(1, 6))) for m in range(3) for s in range(12)]
    rows += [(3, s, 0, s % 2, 1, int(rng.integers(1, 6))) for s in range(12, 24)]
    seen = diagnose(tree_layout(build(rows, leaves=FLAT, models=4)))
    assert seen.without_peers.tolist() == [0, 0, 0, 12]
    assert (seen.label[3] == INSUFFICIENT).all()
    assert np.isfinite(seen.mean[3]).all()


def test_the_node_with_everything_in_it_is_not_tested():
    layout = tree_layout(world(samples=60, models=4, flat_leaves=10).table())
    seen = diagnose(layout)
    assert (seen.label[:, layout.level == 0] == INSUFFICIENT).all()
    assert np.isnan(seen.effect[:, layout.level == 0]).all()


def test_tree_control_selects_no_leaf_without_its_ancestors():
    drawn = world(7, samples=600)
    layout = tree_layout(drawn.table())
    seen = diagnose(layout, settings=DiagnosisSettings(multiplicity="tree"))
    found = seen.label == CONFIRMED
    assert (found[:, layout.group_node] & drawn.weak).sum() / drawn.weak.sum() > 0.5
    selected = seen.adjusted_weak <= 0.10
    child = np.flatnonzero(layout.parent >= 0)
    assert (selected[:, layout.parent[child]] | ~selected[:, child]).all()


def test_labels_of_a_facet_are_diagnosed_by_outcome(build):
    rng = np.random.default_rng(8)
    outcome, labels = {}, {}
    for sample in range(120):
        for model in range(4):
            weak = model == 2 and sample % 3 == 0
            outcome[model, sample] = float(rng.random() < (0.25 if weak else 0.75))
            labels[model, sample] = ["abc"[sample % 3], *(["even"] if sample % 2 == 0 else [])]
    table = build([], models=4, samples=120, outcome=outcome, labels=labels)
    seen = diagnose(facet_layout(table, "kind"))
    assert seen.label[2, 0] == CONFIRMED
    assert np.unravel_index(seen.pooled.argmin(), seen.pooled.shape) == (2, 0)
    assert seen.n[0].tolist() == [40, 40, 40, 60]


def test_one_family_for_all_models_is_no_more_lenient_than_the_whole():
    layout = tree_layout(world(9, samples=200).table())
    joint = diagnose(layout, settings=DiagnosisSettings(joint=True))
    leaves = joint.adjusted_weak[:, layout.level == 3]
    raw = joint.p_weak[:, layout.level == 3]
    tested = np.isfinite(raw)
    order = np.argsort(raw[tested])
    assert (np.diff(leaves[tested][order]) >= -1e-15).all()


def test_a_discovery_that_is_unlikely_to_hold_again_is_only_suspected():
    """METHODS T6: of many small nodes the largest departure is one that luck made large."""
    found = [diagnose(tree_layout(world(seed, samples=80).table())) for seed in range(6)]
    thin = kept = 0
    for seen in found:
        discovery = np.nan_to_num(seen.adjusted_weak, nan=1.0) <= seen.settings.q
        confirmed = seen.label == CONFIRMED
        assert (seen.replication[confirmed] >= 0.5).all()
        assert (seen.label[discovery & ~confirmed] == SUSPECTED).all()
        assert (seen.more_samples[discovery & ~confirmed] >= 1).all()
        thin += int((discovery & ~confirmed).sum())
        kept += int(confirmed.sum())
    assert thin > 0
    assert kept > 0


def test_a_label_is_held_against_its_own_benchmark(build):
    """One easy and one hard benchmark of four labels each; label e0 is a true weakness."""
    rng = np.random.default_rng(3)
    right = {f"e{n}": 0.9 for n in range(4)} | {f"h{n}": 0.3 for n in range(4)} | {"e0": 0.5}
    labels = sorted(right)
    of = [label for label in labels for _ in range(120)]
    rows = [(0, s, 0, 0, 1, 5 if rng.random() < right[label] else 1) for s, label in enumerate(of)]
    table = build(rows, leaves=FLAT, models=1)
    value = (table.score[np.argsort(table.response)] - 1) / 4.0
    answer = np.arange(len(of), dtype=np.int32)
    label_of = np.array([labels.index(label) for label in of], dtype=np.int32)
    facets = {
        "label": Facet(values=tuple(labels), response=answer, value=label_of),
        "source": Facet(values=("easy", "hard"), response=answer, value=label_of // 4),
    }
    table = replace(table, facets=facets)

    def weak(**how):
        seen = diagnose(facet_layout(table, "label", value, **how))
        return {labels[n] for n in np.flatnonzero(seen.label[0] == CONFIRMED)}

    assert weak(within="source") == {"e0"}
    assert weak() >= {"h0", "h1", "h2", "h3"}
    means = diagnose(facet_layout(table, "label", value, within="source")).mean[0]
    assert means == pytest.approx([value[label_of == n].mean() for n in range(8)], abs=1e-6)
