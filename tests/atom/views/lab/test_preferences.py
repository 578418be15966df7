from __future__ import annotations

import numpy as np
import pytest

from atom.records import Preference, Response
from atom.store import Store
from atom.views.filters import Filters, measure_of
from atom.views.lab.preferences import Preferences, anchor_of, compare, compared, share_won
from atom.views.study_data import load_study
from tests.votes import ANCHOR, WINS, make_votes


@pytest.fixture(scope="module")
def voted(tmp_path_factory):
    return make_votes(tmp_path_factory.mktemp("votes"))


@pytest.fixture(scope="module")
def data(voted):
    with Store.open(voted.folder) as store:
        return load_study(store, "Votes")


def votes_of(*rows):
    """Make votes of (a, b, first, verdict, judge, repeat)."""
    columns = np.array(rows, dtype=np.int64).reshape(-1, 6)
    return Preferences(
        a=columns[:, 0].astype(np.int32),
        b=columns[:, 1].astype(np.int32),
        first=columns[:, 2].astype(np.int8),
        verdict=columns[:, 3].astype(np.int8),
        strength=np.ones(len(columns), np.int8),
        judge=columns[:, 4].astype(np.int16),
        repeat=columns[:, 5].astype(np.int32),
        judges=("j", "k"),
    )


def test_pairs_judges_and_repeats_are_comparisons_of_their_own():
    votes = votes_of(
        (0, 1, 0, 0, 0, 0), (0, 1, 1, 0, 0, 0),  # j: 0 wins twice
        (0, 1, 0, 1, 1, 0), (0, 1, 1, 0, 1, 0),  # k: the order decides
        (0, 1, 0, 1, 0, 1),  # j again, one order: 1 wins
        (0, 2, 0, -1, 0, 0),  # j on another pair: no vote
    )  # fmt: skip
    found = compare(votes)
    assert sorted(zip(found.b.tolist(), found.result.tolist(), strict=True)) == [
        (1, 0), (1, 1), (1, 3), (2, 4),
    ]  # fmt: skip
    # Answer 0: (1 + .5 + 0) / 3; answer 1 the rest; answer 2 undecided, 3 never compared.
    share = share_won(votes, 4)
    assert share[:2].tolist() == [0.5, 0.5]
    assert np.isnan(share[2:]).all()


def test_an_anchor_stands_in_every_comparison():
    model = np.array([0, 1, 2, 3], dtype=np.int16)
    assert anchor_of(compared(votes_of((0, 1, 0, 0, 0, 0), (1, 2, 0, 0, 0, 0)), model, 3)) == 1
    assert anchor_of(compared(votes_of((0, 1, 0, 0, 0, 0)), model, 3)) is None
    ring = votes_of((0, 1, 0, 0, 0, 0), (1, 2, 0, 0, 0, 0), (0, 2, 0, 0, 0, 0))
    assert anchor_of(compared(ring, model, 3)) is None


def test_a_study_loads_its_votes(voted, data):
    assert data.votes is not None
    assert data.votes.size == 45 * 3 * 2
    assert data.has_preference
    assert measure_of(data, Filters()) == "preference"
    for name, (won, lost, conflicts, undecided) in voted.counts.items():
        number = [c.name for c in data.candidates].index(name)
        mine = data.table.preferred[data.table.model == number]
        assert int(np.isnan(mine).sum()) == undecided
        assert np.nanmean(mine) == pytest.approx(
            (won + 0.5 * conflicts) / (won + lost + conflicts), abs=1e-6
        )


def test_the_anchor_has_the_other_side_of_all_votes(data):
    number = [c.name for c in data.candidates].index(ANCHOR)
    table = data.table
    for sample in range(len(table.sample_ids)):
        here = table.sample == sample
        mine = table.preferred[here & (table.model == number)][0]
        theirs = table.preferred[here & (table.model != number)]
        assert len(theirs) == len(WINS)
        if np.isfinite(theirs).any():
            assert mine == pytest.approx(1 - np.nanmean(theirs), abs=1e-6)
        else:
            assert np.isnan(mine)


def test_votes_turned_round_are_the_same_vote(voted, tmp_path):
    with Store.open(tmp_path / "s") as store:
        made = make_votes(tmp_path / "s")
        before = load_study(store, "Votes")
        vote = store.select(Preference)[0]
        ids = (vote.response_b, vote.response_a)
        other = {"a": "b", "b": "a"}
        turned = vote.model_copy(
            update={
                "response_a": ids[0],
                "response_b": ids[1],
                "first": other[vote.first],
                "verdict": vote.verdict and other[vote.verdict],
            }
        )
        store.replace([turned])
        after = load_study(store, made.imported.study.id)
    assert before.votes is not None
    assert after.votes is not None
    for field in ("a", "b", "first", "verdict"):
        assert np.array_equal(getattr(before.votes, field), getattr(after.votes, field))


def test_votes_on_answers_outside_the_study_are_left_out(voted, tmp_path):
    with Store.open(tmp_path / "s") as store:
        make_votes(tmp_path / "s")
        sample = store.select(Response)[0].sample_id
        store.put(
            [Preference(id="p", sample_id=sample, response_a="x", response_b="y", verdict="a")]
        )
        data = load_study(store, "Votes")
    assert data.votes is not None
    assert data.votes.size == 45 * 3 * 2
