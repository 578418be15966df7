"""Silence, errors carried forward and terse answers, by hand and as laws."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.analysis.capability.weaknesses import diagnose
from atom.analysis.layout import tree_layout
from atom.analysis.readings import claim_rows, mean_rows, processes, reached_rows
from atom.analysis.score_table import answer_scores
from tests.planted import WorldSettings, plant


def said(table, addressed=None, carried=None, chained=True, parents=None, known=False):
    """Return a table with what a judge says beside its scores, a value a row."""
    n = len(table.score)
    return replace(
        table,
        addressed=np.ones(n, bool) if addressed is None else np.array(addressed, bool),
        carried=np.zeros(n, bool) if carried is None else np.array(carried, bool),
        carried_known=known or carried is not None,
        chained=np.full(len(table.sample_ids), chained),
        parents=np.zeros((2, 0), np.int32) if parents is None else np.array(parents, np.int32).T,
    )


# One model, one sample: four steps of weight 3, 2, 2, 3.
def chain(build, scores, weights=(3, 2, 2, 3)):
    rows = [(0, 0, at, at % 3, weight, score)
            for at, (weight, score) in enumerate(zip(weights, scores, strict=True))]  # fmt: skip
    return build(rows, models=1)


def test_a_bare_right_letter_is_terse_and_accused_of_nothing(build):
    # Truth A, answer "A.": 2 2 2 not addressed, the last 5. Weights 2 each but 4 for the last:
    # strict (2*2*3 + 4*5)/10 = 3.2; of what was said 5; addressed 4 of 10.
    table = said(chain(build, (2, 2, 2, 5), (2, 2, 2, 4)), (0, 0, 0, 1))
    strict = answer_scores(table).value[0]
    only = answer_scores(table, table.addressed).value[0]
    assert strict == pytest.approx((3.2 - 1) / 4)
    assert only == 1
    found = processes(table)
    assert found.said[0] == pytest.approx(0.4)
    assert found.terse.tolist() == [True]
    assert not found.flawed.any()
    assert not found.sound.any()
    assert not found.told.any()


def test_the_toy_of_methods_t1(build):
    # Equal weights: (2 + 2 + 2 + 5)/4 = 2.75 strict, 5 of what was said.
    table = said(chain(build, (2, 2, 2, 5), (1, 1, 1, 1)), (0, 0, 0, 1))
    assert 1 + 4 * answer_scores(table).value[0] == pytest.approx(2.75)
    assert 1 + 4 * answer_scores(table, table.addressed).value[0] == pytest.approx(5)


@pytest.mark.parametrize(
    ("scores", "weights", "addressed", "carried", "flawed"),
    [
        ((5, 2, 5, 5), (3, 2, 2, 3), (1, 1, 1, 1), (0, 0, 0, 0), True),
        ((5, 2, 5, 5), (4, 1, 2, 3), (1, 1, 1, 1), (0, 0, 0, 0), False),  # too light
        ((5, 2, 5, 5), (3, 2, 2, 3), (1, 0, 1, 1), (0, 0, 0, 0), False),  # silence
        ((5, 2, 5, 5), (3, 2, 2, 3), (1, 1, 1, 1), (0, 1, 0, 0), False),  # carried
        ((3, 3, 3, 3), (3, 2, 2, 3), (1, 1, 1, 1), (0, 0, 0, 0), False),  # in part
        ((1, 1, 2, 5), (3, 2, 2, 3), (1, 0, 0, 0), (0, 0, 0, 0), False),  # 3 of 10: terse
    ],
)
def test_what_makes_a_process_flawed(build, scores, weights, addressed, carried, flawed):
    found = processes(said(chain(build, scores, weights), addressed, carried))
    assert found.flawed.tolist() == [flawed]
    assert (found.flawed | found.sound | found.terse).all()


def test_half_of_the_weight_is_enough_and_unscored_steps_do_not_count(build):
    # Scored weight 3 + 2 + 2 = 7 with one unscored; addressed 3 + 2 = 5 of 7.
    table = said(chain(build, (5, 5, 2, 0)), (1, 1, 0, 1))
    assert processes(table).said[0] == pytest.approx(5 / 7)
    assert processes(table).sound.tolist() == [True]
    half = said(chain(build, (5, 5, 2, 2)), (1, 1, 0, 0))
    assert processes(half).said[0] == pytest.approx(0.5)
    assert not processes(half).terse.any()
    nothing = processes(said(chain(build, (0, 0, -1, 0))))
    assert np.isnan(nothing.said[0])
    assert not (nothing.terse | nothing.told).any()


def test_rows_of_means_and_claims_where_the_judge_marks_what_is_carried(build):
    table = said(chain(build, (1, 1, 2, 5)), (1, 1, 0, 1), (0, 1, 0, 0))
    assert mean_rows(table).tolist() == [True, False, True, True]
    assert mean_rows(table, "said").tolist() == [True, False, False, True]
    # What comes after the failed first step counts: the judge says that it isn't carried.
    assert claim_rows(table).tolist() == [True, False, False, True]


def test_without_carried_marks_a_claim_rests_on_what_was_reached(build):
    table = said(chain(build, (5, 2, 4, 1)))
    assert reached_rows(table).tolist() == [True, True, False, False]
    assert claim_rows(table).tolist() == [True, True, False, False]
    assert mean_rows(table).all()
    # A step that isn't spoken of breaks nothing; nor does one in part, or one without a score.
    assert reached_rows(said(chain(build, (5, 2, 4, 1)), (1, 0, 1, 1))).all()
    assert reached_rows(said(chain(build, (3, 0, -1, 1)))).all()
    # Without peers nothing says how hard a question is: then all that is said counts.
    assert claim_rows(table, peers=False).all()
    # A checklist's steps rest on nothing.
    assert reached_rows(said(chain(build, (5, 2, 4, 1)), chained=False)).all()


def test_declared_parents_replace_the_chain(build):
    # The third step rests on the first and the second, the fourth on nothing.
    table = said(chain(build, (5, 2, 4, 1)), parents=[(2, 0), (2, 1)])
    assert reached_rows(table).tolist() == [True, True, False, True]
    # The other model's failures are its own.
    rows = [(0, 0, 0, 0, 3, 1), (0, 0, 1, 1, 3, 5), (1, 0, 0, 0, 3, 5), (1, 0, 1, 1, 3, 5)]
    two = said(build(rows), parents=[(1, 0)])
    assert reached_rows(two).tolist() == [True, False, True, True]


@given(st.integers(0, 500))
def test_laws(seed):
    rng = np.random.default_rng(seed)
    table = plant(WorldSettings(samples=8, models=2, unscored=0.1), rng).table()
    n = len(table.score)
    addressed = rng.random(n) < 0.7
    table = replace(
        table,
        addressed=addressed,
        carried=addressed & (rng.random(n) < 0.2),
        carried_known=bool(seed % 2),
        chained=rng.random(8) < 0.7,
    )
    # A claim's rows are means' rows in either reading, and reading only takes away.
    assert (claim_rows(table) <= mean_rows(table, "said")).all()
    assert (mean_rows(table, "said") <= mean_rows(table)).all()
    # The first step of a chain is always reached; the order of rows doesn't matter.
    reached = reached_rows(table)
    assert reached[table.position == 0].all()
    order = rng.permutation(n)
    names = (
        "response", "criterion", "leaf", "weight", "position", "score", "addressed", "carried"
    )  # fmt: skip
    mixed = replace(table, **{name: getattr(table, name)[order] for name in names})
    assert (reached_rows(mixed) == reached[order]).all()
    one, other = processes(table), processes(mixed)
    assert (one.flawed == other.flawed).all()
    total = one.flawed.astype(int) + one.sound + one.terse
    assert set(total.tolist()) <= {0, 1}


def test_a_node_that_a_model_is_silent_on_is_not_said(build):
    world = plant(WorldSettings(samples=200, models=4), np.random.default_rng(1))
    table = world.table()
    layout = tree_layout(table)
    silent = np.zeros((4, layout.n_nodes), dtype=bool)
    plain = diagnose(layout)
    confirmed = np.argwhere(plain.label == 0)
    assert len(confirmed)
    silent[tuple(confirmed[0])] = True
    found = diagnose(layout, silent=silent)
    at = tuple(int(one) for one in confirmed[0])
    assert found.finding(*at).label == "not said"
    assert np.isnan(found.p_weak[at])
    # Nothing else is lost by it.
    others = ~silent
    assert (
        found.label[others & (plain.label >= 3)] == plain.label[others & (plain.label >= 3)]
    ).all()


def test_a_node_is_held_against_five_rows_or_more():
    table = plant(
        WorldSettings(samples=60, models=1, flat_leaves=2), np.random.default_rng(2)
    ).table()
    rest = np.flatnonzero(table.leaf == 1)
    rows = np.ones(len(table.leaf), dtype=bool)
    rows[rest[4:]] = False
    layout = tree_layout(table)
    leaf = layout.group_node[0]
    assert diagnose(layout, rows).finding(0, leaf).label == "insufficient"
    rows[rest[4:30]] = True
    assert diagnose(layout, rows).finding(0, leaf).label != "insufficient"
