import math

import pytest

from atom.views.failures.page import failures
from atom.views.filters import Filters
from atom.views.overview.more import overview_more


@pytest.fixture(scope="module")
def view(data):
    return overview_more(data, Filters(study=data.study.id))


def test_scores_fall_into_bins_of_ten(view):
    # Candidate A: 5, 4.8, 4.7, 4.5... of 5 -> 100, 95, 92.5, 87.5 and 100 of 100.
    first = view.distributions[0]
    assert (first.name, first.n, first.perfect) == ("Candidate A", 5, 2)
    assert first.counts == (0, 0, 0, 0, 0, 0, 0, 0, 1, 4)
    assert first.median == pytest.approx(95)


def test_a_distribution_has_as_many_answers_behind_its_door(store, data, view):
    for row in view.distributions:
        listed = failures(store, data, row.filters)
        assert sum(row.counts) == row.n
        assert listed.total - data.table.quarantined.sum() <= row.n <= listed.total


def test_equal_scores_share_a_rank(view):
    # Sample 3: B (25/5 = 5) before A (4.8); everywhere else A is first.
    # B and C: B is ahead on samples 0 and 4 (2.1 > 1, 3 > 2), C on 1 and 2 (4.4 > 4, 3 > 20/7).
    ranks = view.ranks
    assert [(row.name, row.counts) for row in ranks.rows] == [
        ("Candidate A", (4, 1, 0)),
        ("Candidate B", (1, 2, 2)),
        ("Candidate C", (0, 2, 3)),
    ]
    assert [(p.models, p.samples) for p in ranks.patterns] == [
        ((("Candidate A", 0),), 4),
        ((("Candidate B", 1),), 1),
    ]
    assert sum(p.samples for p in ranks.patterns) + ranks.others == ranks.samples == 5


def test_an_answer_breaks_at_its_first_failed_step(view):
    """Walk A5: once "most break at step 1" was said of a fifth."""
    # C fails step 1 with 1, 1, 2, 2 and holds on sample 2 only: 4 of 5; the rest holds on.
    curves = {curve.name: curve for curve in view.breaks}
    c = curves["Candidate C"]
    assert [(p.breaks, p.at_risk) for p in c.points] == [(4, 5), (0, 1), (0, 1)]
    assert [p.intact for p in c.points] == pytest.approx([20, 20, 20])
    assert c.worst.path[-1] == "Count all"
    assert (c.worst.breaks, c.worst.exposed) == (4, 5)
    # B: two answers are no longer followed (an unscored and a failed step); of the three that are
    # at step 2 one breaks: 1/3.
    b = curves["Candidate B"]
    assert b.lost == 2
    assert b.points[1].hazard == pytest.approx(100 / 3)
    assert curves["Candidate A"].worst is None
    # At step 1 break 4 of 15 answers (A 0 of 5, B 0 of 5, C 4 of 5), at step 2 one of the 9 that
    # are still followed: so few that the steps can't be told apart.
    assert view.weakest.place == 0
    assert view.weakest.share == pytest.approx(100 * 4 / 15)
    assert 1 in view.weakest.level


def test_a_door_to_the_worst_capability_holds_at_least_the_first_breaks(store, data, view):
    for curve in view.breaks:
        if curve.worst is not None:
            assert failures(store, data, curve.worst.filters).total >= curve.worst.breaks


def test_answers_chosen_by_outcome_take_no_rank(data):
    view = overview_more(data, Filters(outcome="right"))
    assert view.ranks is None
    assert all(row.n for row in view.distributions)


def test_a_root_narrows_scores_to_its_own_steps(data):
    # Under Perception C scores 1..2 of 5 on four of five samples: far below its whole score.
    whole = overview_more(data, Filters())
    root = overview_more(data, Filters(root="Perception"))
    of = {row.name: row.median for row in whole.distributions}
    under = {row.name: row.median for row in root.distributions}
    assert under["Candidate C"] <= of["Candidate C"]
    assert all(len(curve.points) <= len(whole.breaks[0].points) for curve in root.breaks)


def test_a_study_of_outcomes_has_no_steps_to_break(imported):
    view = overview_more(imported, Filters())
    assert view.measure == "outcome"
    assert view.distributions == ()
    assert view.breaks == ()
    assert view.weakest is None


def test_nothing_that_passes_the_filters_leaves_nothing(data):
    view = overview_more(data, Filters(tags=(("task", "no such value"),)))
    assert view.distributions == ()
    assert view.ranks is None
    assert all(math.isnan(p.hazard) for curve in view.breaks for p in curve.points)
