from __future__ import annotations

import pytest

from atom.store import Store
from atom.views.failures.page import count_listed, failures
from atom.views.failures.sample import sample_view
from atom.views.failures.votes import sample_votes
from atom.views.filters import Filters
from atom.views.lab.preference_summary import preference_summary
from atom.views.overview.page import overview
from atom.views.study_data import load_study
from tests.factories import open_small
from tests.votes import ANCHOR, make_votes


@pytest.fixture(scope="module")
def voted(tmp_path_factory):
    return make_votes(tmp_path_factory.mktemp("votes"))


@pytest.fixture(scope="module")
def store(voted):
    with Store.open(voted.folder) as opened:
        yield opened


@pytest.fixture(scope="module")
def data(store):
    return load_study(store, "Votes")


@pytest.fixture(scope="module")
def view(store, data):
    return preference_summary(store, data, Filters(study="x"))


def test_counts_are_those_that_were_made(view, voted):
    found = {one.name: (one.won, one.lost, one.conflicts, one.undecided) for one in view.models}
    assert {name: found[name] for name in voted.counts} == voted.counts
    won, lost, conflicts, undecided = (sum(n) for n in zip(*voted.counts.values(), strict=True))
    assert found[ANCHOR] == (lost, won, conflicts, undecided)
    assert (view.comparisons, view.undecided, view.anchor) == (135, undecided, ANCHOR)
    assert view.conflict_rate.value == pytest.approx(100 * conflicts / 135)
    assert view.conflict_rate.lo < view.conflict_rate.value < view.conflict_rate.hi


def test_strengths_are_in_order_and_in_their_intervals(view):
    assert [one.name for one in view.models if not one.anchor] == ["strong", "middle", "weak"]
    assert sum(one.strength for one in view.models) == pytest.approx(0, abs=1e-6)
    assert all(one.lo < one.strength < one.hi for one in view.models)
    assert 0 < view.tie < 100
    assert not view.held


def test_the_judge_leans_to_the_first_place(view, voted):
    (judge,) = view.judges
    conflicts = sum(n[2] for n in voted.counts.values())
    assert (judge.name, judge.votes) == ("judge x", 270)
    assert judge.silent == 2 * sum(n[3] for n in voted.counts.values())
    # Every conflict in the files is the first place's.
    assert (judge.bias.first_twice, judge.bias.second_twice) == (conflicts, 0)
    assert judge.pull == "first"


def test_a_label_filter_narrows_the_votes(store, data, view):
    charts = preference_summary(store, data, Filters(study="x", tags=(("capability", "Charts"),)))
    strong = next(one for one in charts.models if one.name == "strong")
    assert (strong.won, strong.lost, charts.comparisons) == (0, 15, 45)
    none = Filters(study="x", tags=(("capability", "no such label"),))
    assert preference_summary(store, data, none) is None
    # A second look is the kept fit.
    again = preference_summary(store, data, Filters(study="x"))
    assert again == view


def test_no_votes_no_summary(tmp_path):
    with open_small(tmp_path / "s") as other:
        data = load_study(other, "Small study")
        assert preference_summary(other, data, Filters(study="x")) is None
        assert sample_votes(other, data, data.table.sample_ids[0]) == ()


def test_the_ranking_is_by_votes_won_and_leaves_the_anchor_out(data):
    view = overview(data, Filters(study="x"))
    assert (view.measure, view.facet) == ("preference", "capability")
    assert [row.name for row in view.ranking] == ["strong", "middle", "weak", ANCHOR]
    # The anchor takes no rank, so there are three.
    assert view.ranking[-1].rank_best == 0
    assert max(row.rank_worst for row in view.ranking) == 3
    assert data.candidates[view.anchor].name == ANCHOR
    assert f"% of its votes against {ANCHOR} won" in view.statements[0].text
    assert view.ranking[-1].tested == 0
    strong = view.ranking[0]
    assert ("confirmed", "Charts") in [(item.status, item.name) for item in strong.findings]
    assert "Charts" in view.statements[1].text


def test_counts_behind_doors_are_the_same(store, data, view):
    seen = overview(data, Filters(study="x"))
    for row in seen.ranking:
        listed = failures(store, data, row.filters)
        assert (listed.measure, listed.looked_at) == ("preference", row.score.samples)
        for item in row.findings:
            assert failures(store, data, item.filters).looked_at == item.samples
    for skill in seen.skills:
        for cell in skill.cells:
            assert failures(store, data, cell.filters).looked_at == cell.estimate.samples
    for one in view.models:
        assert count_listed(data, one.filters) == one.lost_samples
        assert one.anchor or one.lost == one.lost_samples


def test_lost_answers_are_the_failed_ones(store, data, voted):
    weak = next(c for c in data.candidates if c.name == "weak")
    listed = failures(store, data, Filters(study="x", model=weak.id))
    assert listed.total == voted.counts["weak"][1]
    chips = {chip.model_id: chip for chip in listed.rows[0].chips}
    assert chips[weak.id].won == 0.0
    everything = failures(store, data, Filters(study="x", model=weak.id, show="all"))
    assert (everything.total, everything.looked_at) == (45, 45)


def test_a_sample_shows_who_won_in_which_order(store, data):
    sample = data.table.sample_ids[1]
    view = sample_view(store, data, Filters(study="x", sample=sample))
    pairs = {(pair.a, pair.b): pair for pair in view.votes}
    assert len(pairs) == 3
    # Sample 1 is about charts: `strong` lost in both orders.
    strong = next(pair for names, pair in pairs.items() if "strong" in names)
    assert strong.name(strong.together) == ANCHOR
    assert [vote.first for vote in strong.orders] == ["a", "b"]
    assert {strong.name(vote.verdict) for vote in strong.orders} == {ANCHOR}
    assert strong.orders[0].reason == "<b>Words of 1</b>"
