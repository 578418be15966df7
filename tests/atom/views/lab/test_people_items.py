"""The items behind figures about people are as many, and as often right, as the figures say."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from atom.engine.imports.importing import import_reading
from atom.formats import read
from atom.store import Store
from atom.views.lab.fidelity.comparison import hold
from atom.views.lab.fidelity.tab import as_judged, fidelity_of
from atom.views.lab.items import item_list
from atom.views.lab.people_items import (
    SAMPLE,
    label_items,
    method_items,
    method_reasons,
    rating_items,
)
from atom.views.people.pair_labels import labelled, pair_labels
from atom.views.people.ratings import RatedThings, RatingJudge
from atom.views.study_data import load_study
from tests.atom.views.test_people_labels import PAIR, SAID
from tests.imports import uploaded
from tests.judged import STUDY, open_judged, sample_id

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with open_judged(tmp_path_factory.mktemp("judged") / "s") as opened:
        yield opened


@pytest.mark.parametrize("judge", ["judge-x", "person-ann"])
def test_a_methods_share_is_the_share_of_its_pairs_that_are_right(store, judge):
    data = load_study(store, STUDY)
    mine = as_judged(store, data, judge)
    held = hold(store, mine, data)
    view = fidelity_of(store, data, judge)
    for row in view.measured:
        items = method_items(store, mine, held, row.name)
        strict = row.accuracy.strict
        counts = item_list(items).counts
        assert (counts["all"], counts["right"]) == (strict.n, round(strict.value * strict.n))
        assert counts["unread"] == row.accuracy.invalid
        for root, share in row.by_root.items():
            counts = item_list(items, root).counts
            assert (counts["all"], counts["right"]) == (share.n, round(share.value * share.n))
        assert method_reasons(store, mine, row.name, items[0]) == ()  # made of checkpoints
    assert method_items(store, mine, held, "no such method") == ()


def test_a_pair_shows_both_answers_and_who_said_what(store):
    data = load_study(store, STUDY)
    items = method_items(store, data, hold(store, data), "atom")
    first = items[0]
    assert [heading[:9] for heading, _ in first.card.texts] == ["Answer a,", "Answer b,"]
    assert first.card.truth[0][0] == "People together"
    assert len(first.card.truth) >= 2
    assert first.item.data[SAMPLE] in {sample_id(number) for number in range(24)}
    assert len({row.item.id for row in items}) == len(items)


def test_labels_of_pairs_by_hand(tmp_path):
    """Most people: first, second, tie, none; the judge: first, unread, second, second."""
    pairs = [
        {**PAIR, "idx": at, "instruction": f"Do {at}.",
         **{f"annotator{n + 1}": label for n, label in enumerate(labels)}}
        for at, labels in enumerate(SAID)
    ]  # fmt: skip
    verdicts = [{"idx": at, "j_result": said} for at, said in enumerate(["1", "junk", "2", "2"])]
    files = [uploaded("testset-v1.json", pairs), uploaded("j-testset-v1.json", verdicts)]
    with Store.open(tmp_path / "s") as store:
        import_reading(store, read(None, files), "Small", MOMENT)
        data = load_study(store, "Small")
        found = labelled(store, data)
        (judge,) = {row.judge for row in pair_labels(store, data).judges}
        rows = sorted(label_items(store, data, found, judge), key=lambda row: row.card.question)
    # Right; unread; wrong; people have no majority, so nothing is right or wrong.
    assert [row.found.standing for row in rows] == ["right", "unread", "wrong", "marked"]
    assert [dict(row.card.facets)["People"] for row in rows] == [
        "they differ", "all agree", "they differ", "they differ",
    ]  # fmt: skip
    assert rows[2].card.truth[0] == ("People together", "a tie")
    assert rows[2].found.said[0].words == "b is better"


def test_ratings_by_hand(store):
    data = load_study(store, STUDY)
    ratings = np.array([[4.0, 1.0], [5.0, np.nan]])
    things = RatedThings(
        at={(sample_id(0), "alignment"): 0, (sample_id(1), "colour"): 1},
        ratings=ratings, mean=np.array([4.5, 1.0]), criterion=("alignment", "colour"),
        cluster=np.array([0, 1]),
    )  # fmt: skip
    who = (RatingJudge(name="j", shared=1, unread=0),)
    judged = ((np.array([2.0, np.nan]),), who)
    rows = rating_items(store, data, things, judged, "j")
    # 2 less (4 + 5) / 2; the other thing wasn't scored.
    assert [row.found.apart for row in rows] == [-2.5, None]
    assert [row.found.standing for row in rows] == ["marked", "silent"]
    assert rows[0].card.truth == (("People’s mean", "4.50"), ("Each", "4, 5"))
    assert [len(item_list(rows, group).rows) for group in ("", "alignment", "colour")] == [2, 1, 1]
