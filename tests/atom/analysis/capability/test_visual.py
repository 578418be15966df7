from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.analysis.capability.visual import BlindMarks, node_gains, text_answerable
from atom.analysis.nodes import index_nodes

NODES = index_nodes([("See", "Colour"), ("See", "Count"), ("Know", "Facts")])


def marks(rows: list[tuple[int, int, int, float]]) -> BlindMarks:
    """Make marks of (sample, criterion, model, value)."""
    table = np.array(rows, dtype=np.float64).reshape(-1, 4)
    whole = table[:, :3].astype(np.int64)
    return BlindMarks(
        sample=whole[:, 0], criterion=whole[:, 1], model=whole[:, 2], value=table[:, 3]
    )


def test_three_models_must_reach_every_criterion():
    # Question 0: a (1, .75, .75) is reached by 3, b (1, 1, .5) by 2: not from text.
    # Question 1: c (.75, 1, 1): from text. Question 2: d was put to two models only: not measured.
    values = {0: (1, 0.75, 0.75), 1: (1, 1, 0.5), 2: (0.75, 1, 1), 3: (1, 1)}
    of = {0: 0, 1: 0, 2: 1, 3: 2}
    rows = [(of[c], c, m, v) for c, given_ in values.items() for m, v in enumerate(given_)]
    found = text_answerable(marks(rows), 4, 3)
    assert found.reached.tolist() == [3, 2, 3, 2]
    assert found.criterion.tolist() == [True, False, True, False]
    assert found.measured.tolist() == [True, True, False]
    assert found.sample.tolist() == [False, True, False]


def test_a_model_counts_once_and_no_answer_reaches_nothing():
    # Model 0 answered three times: mean (1 + 1 + 0) / 3 = .67 doesn't reach; model 1 gave none.
    rows = [(0, 0, 0, 1), (0, 0, 0, 1), (0, 0, 0, 0), (0, 0, 1, np.nan), (0, 0, 2, 1), (0, 0, 3, 1)]
    found = text_answerable(marks(rows), 1, 1)
    assert (found.asked[0], found.reached[0], bool(found.sample[0])) == (4, 2, False)
    nothing = text_answerable(marks([]), 0, 2)
    assert nothing.sample.tolist() == nothing.measured.tolist() == [False, False]


def test_gains_roll_up_with_their_interval():
    # Colour: question 0 gains .5 and .5, question 1 gains 0: mean 1/3; residual sums
    # 1 - 2/3 = 1/3 and 0 - 1/3 = -1/3; V = 2/1 * (1/9 + 1/9) / 9 = 4/81, se = 2/9.
    # No node has five questions, so nothing is pooled: t with 1 df, q = 12.706.
    seen, blind = np.array([1, 0.75, 0.5]), np.array([0.5, 0.25, 0.5])
    leaf, cluster = np.array([0, 0, 0]), np.array([0, 0, 1])
    found = node_gains(seen, blind, leaf, cluster, NODES)
    at = NODES.paths.index(("See", "Colour"))
    assert found.gain[at] == pytest.approx(1 / 3)
    assert found.seen[at] - found.blind[at] == pytest.approx(1 / 3)
    assert (found.n[at], found.samples[at], found.need[at]) == (3, 2, "few")
    assert (found.lo[at], found.hi[at]) == (-1, 1)
    root = NODES.paths.index(("See",))
    assert found.gain[root] == pytest.approx(found.gain[at])
    empty = NODES.paths.index(("Know",))
    assert found.n[empty] == 0
    assert np.isnan(found.gain[empty])
    assert found.need[empty] == "few"


def test_what_isnt_mapped_is_left_out():
    found = node_gains(np.ones(2), np.zeros(2), np.array([-1, 2]), np.array([0, 1]), NODES)
    assert found.n[NODES.paths.index(("Know",))] == 1
    assert found.n.sum() == 2  # its leaf and its root


def test_what_the_picture_gives_is_told():
    rng = np.random.default_rng(3)
    cluster = np.repeat(np.arange(40), 3)
    seen = rng.uniform(0.6, 1, 120)
    leaf = np.tile([0, 1, 2], 40)
    blind = np.where(leaf == 2, seen, seen - 0.4)
    found = node_gains(seen, blind, leaf, cluster, NODES)
    told = dict(zip(NODES.paths, found.need, strict=True))
    assert told[("See",)] == told[("See", "Colour")] == "needs"
    assert told[("Know",)] == told[("Know", "Facts")] == "hardly"


@given(st.permutations(range(12)), st.integers(0, 5))
def test_the_order_of_rows_says_nothing(order, seed):
    rng = np.random.default_rng(seed)
    seen, blind = rng.integers(0, 5, 12) / 4, rng.integers(0, 5, 12) / 4
    leaf, cluster = rng.integers(-1, 3, 12), rng.integers(0, 4, 12)
    one = node_gains(seen, blind, leaf, cluster, NODES)
    p = np.array(order)
    two = node_gains(seen[p], blind[p], leaf[p], cluster[p], NODES)
    np.testing.assert_allclose(one.gain, two.gain)
    np.testing.assert_allclose(one.lo, two.lo)


def planted(rng: np.random.Generator) -> tuple[BlindMarks, np.ndarray]:
    """Make 200 questions, a fifth of which say what is in their picture, put to six models.

    Where the text says it a model gets a step right in 9 of 10 cases; elsewhere it is silent on a
    step (.25), wrong (0), or lucky with the last one in a quarter of the cases.
    """
    stated = rng.random(200) < 0.2
    rows = []
    for sample in range(200):
        steps = int(rng.integers(3, 6))
        for step in range(steps):
            for model in range(6):
                if stated[sample]:
                    value = float(rng.choice([1, 0.75, 0.25], p=[0.7, 0.2, 0.1]))
                elif step == steps - 1 and rng.random() < 0.25:
                    value = 1.0
                else:
                    value = float(rng.choice([0.25, 0.0, 0.5], p=[0.7, 0.2, 0.1]))
                rows.append((sample, sample * 8 + step, model, value))
    return marks(rows), stated


def test_planted_questions_are_found_and_others_are_not():
    hits = false = n_stated = n_other = 0
    for seed in range(5):
        given_, stated = planted(np.random.default_rng(seed))
        found = text_answerable(given_, 200 * 8, 200)
        assert found.measured.all()
        hits += int((found.sample & stated).sum())
        n_stated += int(stated.sum())
        false += int((found.sample & ~stated).sum())
        n_other += int((~stated).sum())
    assert hits / n_stated >= 0.95  # sensitivity (METHODS T8)
    assert 1 - false / n_other >= 0.95  # specificity


def test_the_interval_covers():
    rng = np.random.default_rng(8)
    covered = []
    truth = 0.3
    for _ in range(300):
        effect = truth + rng.normal(0, 0.2, 30)  # of a question: its steps share it
        cluster = np.repeat(np.arange(30), 8)
        gain = effect[cluster] + rng.normal(0, 0.15, 240)
        found = node_gains(gain, np.zeros(240), np.zeros(240, np.int64), cluster, NODES)
        covered.append(found.lo[0] <= truth <= found.hi[0])
    assert 0.92 <= np.mean(covered) <= 0.98  # 300 worlds: Monte Carlo error .0126
