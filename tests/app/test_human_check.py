"""Human check: what a press does, what is on the page, and that answers stay nameless."""

from __future__ import annotations

import html
import json
import shutil
from dataclasses import replace

import pytest

from atom.errors import ReadOnlyError
from atom.records import Annotation
from atom.store import Store
from atom.ui.people import deck, progress
from atom.ui.people.acts import Act, read_acts
from atom.ui.people.desk import AHEAD, Desk
from atom.views.people.annotations import LEAST_SURE, load_annotations
from atom.views.people.page import ERROR_TYPES
from atom.views.study_data import load_study
from tests.app.conftest import markup_of
from tests.app.screen_store import HOSTILE

PAGE = "pages/trust/human_check.py"


@pytest.fixture
def fresh(made, tmp_path):
    """Return a judged study in a store of its own."""
    folder = shutil.copytree(made.folder, tmp_path / "own")
    return replace(made, folder=folder)


@pytest.fixture
def store(fresh):
    """Return its store."""
    with Store.open(fresh.folder) as store:
        yield store


@pytest.fixture(scope="module")
def data(made):
    """Read the study once; what people say of it isn't in it."""
    with Store.open(made.folder) as store:
        return load_study(store, made.study.id)


@pytest.fixture
def sit(store, data):
    """Return a function that sits somebody down: (queue, who="Ada", pick="random") -> Desk."""

    def sit_down(queue, who="Ada", pick="random", only=None):
        return Desk(store, data, queue, who, pick, only)

    return sit_down


class Hand:
    """Presses keys at a desk, as the browser does."""

    def __init__(self, desk):
        self.desk = desk
        self.number = desk.acknowledged

    def do(self, what, **more):
        self.number += 1
        item = self.desk.item.id if self.desk.item else ""
        act = Act(number=self.number, item=more.pop("item", item), do=what, **more)
        self.desk.take([act])

    def press(self, key):
        self.do("give", key=key)


def given(store, fresh, kind):
    return [one for one in load_annotations(store, fresh.study.id, kind) if one.state == "given"]


# --- presses ------------------------------------------------------------------------------------


def test_each_press_is_written_and_the_next_thing_comes(sit, store, fresh):
    desk = sit("scores")
    hand = Hand(desk)
    asked = []
    for key in "51423":
        asked.append(desk.item.subject_id)
        hand.press(key)
    found = {one.subject_id: one for one in given(store, fresh, "score")}
    assert [found[name].value for name in asked] == [5, 1, 4, 2, 3]
    assert desk.items.index(desk.item) == 5
    shown = found[asked[0]].shown
    assert len(shown) == len(set(shown)) >= 2
    assert desk.progress().mine == 5


def test_a_study_of_few_samples_promises_no_calibration(sit):
    desk = sit("scores")
    assert desk.progress().there < desk.progress().wanted == 30
    top = str(progress.top(desk))
    there, keys = desk.progress().there, desk.progress().keys
    assert f"0 of {there} samples labelled: about {keys:,} more labels, a key each;" in top
    assert "human calibration needs 30 samples, more than are here" in top
    assert "samples needed" not in top


def test_what_is_held_reaches_into_the_next_sample(sit):
    desk = sit("scores")
    hand = Hand(desk)
    of = desk.item.of
    for _ in range(of - 1):
        hand.press("3")
    # The last one of its sample: the next sample's are held before it is labelled.
    here = desk.item.sample_id
    ahead = [one for one in desk.window() if one.sample_id != here]
    assert len(ahead) >= min(AHEAD, of)
    assert all(desk.is_open(one) for one in ahead)
    # Gone back to the first one: items that have their label don't use up what is held.
    hand.do("go", item=desk.items[0].id)
    held = desk.window()
    assert sum(desk.is_open(one) for one in held) >= min(AHEAD, of)
    assert len({one.sample_id for one in held}) > 1


def test_a_closed_tab_goes_on_where_it_stopped(sit):
    hand = Hand(sit("scores"))
    for key in "123":
        hand.press(key)
    hand.do("skip")
    again = sit("scores")
    assert again.items.index(again.item) == 4
    assert (again.progress().mine, again.progress().skipped) == (3, 1)


def test_an_act_that_comes_twice_is_done_once_and_one_after_a_new_start_is_done(sit, store, fresh):
    desk = sit("scores")
    first = Act(number=7, item=desk.item.id, do="give", key="2")
    desk.take([first])
    desk.take([first, Act(number=8, item=desk.item.id, do="give", key="4")])
    assert [one.value for one in given(store, fresh, "score")] == [2, 4]
    # The server started anew: the browser sends what it doesn't know to be written.
    later = sit("scores")
    later.take([Act(number=9, item=later.items[2].id, do="give", key="5")])
    assert [one.value for one in given(store, fresh, "score")] == [2, 4, 5]


def test_undo_goes_back_and_restores(sit, store, fresh):
    desk = sit("scores")
    hand = Hand(desk)
    first = desk.item
    hand.press("2")
    hand.do("go", item=first.id)
    hand.press("5")
    hand.do("undo")
    assert desk.item == first
    assert [one.value for one in given(store, fresh, "score")] == [2]
    hand.do("undo")
    hand.do("undo")
    assert given(store, fresh, "score") == []
    assert desk.is_open(first)


def test_undo_works_after_a_reopened_tab(sit, store, fresh):
    hand = Hand(sit("scores"))
    hand.press("2")
    hand.press("3")
    again = sit("scores")
    last = again.items[1]
    Hand(again).do("undo")
    assert again.item == last
    assert [one.value for one in given(store, fresh, "score")] == [2]


def test_what_was_skipped_can_be_taken_up_at_the_end(sit):
    desk = sit("reports")
    hand = Hand(desk)
    for _ in range(3):
        hand.do("skip")
    assert desk.item is None
    assert "take up what was skipped" in progress.end(desk)
    hand.do("again")
    assert desk.item == desk.items[0]


def test_a_ranking_has_competition_ranks_and_keeps_the_order_shown(sit, store, fresh):
    desk = sit("ranking")
    hand = Hand(desk)
    while len(desk.item.response_ids) < 3:
        hand.do("skip")
    order = desk.item.response_ids
    hand.do("give", groups=((2,), (0,)))  # the one not named comes last
    while len(desk.item.response_ids) < 3:
        hand.do("skip")
    hand.do("give", groups=((1, 0),))
    hand.do("give", groups=((0, 1, 2),))
    first, tie, level = given(store, fresh, "ranking")
    assert {rank.response_id: rank.rank for rank in first.ranks} == {
        order[2]: 1, order[0]: 2, order[1]: 3,
    }  # fmt: skip
    assert first.shown == order
    assert sorted(rank.rank for rank in tie.ranks) == [1, 1, 3]
    assert {rank.rank for rank in level.ranks} == {1}


def test_criteria_are_labelled_by_number_and_leaf(sit, store, fresh):
    desk = sit("criteria")
    hand = Hand(desk)
    hand.press("3")
    hand.press("2")
    leaf = desk.judged_leaf(desk.item)
    hand.press("1")
    assert [one.value for one in given(store, fresh, "accuracy")] == [3]
    assert [one.value for one in given(store, fresh, "necessity")] == [2]
    hand.press("1")
    hand.press("1")
    other = next(at for at, name in enumerate(desk.leaves) if name != desk.judged_leaf(desk.item))
    hand.do("give", leaf=other)
    assert [one.label for one in given(store, fresh, "mapping")] == [leaf, desk.leaves[other]]


def test_a_key_that_means_nothing_here_labels_nothing(sit, store, fresh):
    desk = sit("criteria")
    hand = Hand(desk)
    for key in ("4", "0", "x", "", "²", "-1"):
        hand.press(key)
    hand.do("give", key="3", item="elsewhere")
    hand.do("format the disk")
    assert load_annotations(store, fresh.study.id) == ()


def test_what_comes_from_the_browser_is_not_trusted():
    assert read_acts(None) == ()
    assert read_acts({"acts": "x"}) == ()
    junk = [1, {}, {"n": "1"}, {"n": True}, {"n": 2, "groups": [["a"], [1, 2], 3], "leaf": "0"}]
    (act,) = read_acts({"acts": junk})
    assert (act.number, act.groups, act.leaf, act.do) == (2, ((1, 2),), None, "")


# --- two people and a third ---------------------------------------------------------------------


def test_two_people_label_the_same_things_and_a_third_settles(sit, store, fresh):
    ada, bo = sit("scores", "Ada"), sit("scores", "Bo")
    assert ada.item.sample_id == bo.item.sample_id
    n = ada.item.of
    for desk, key in ((ada, "5"), (bo, "1")):
        hand = Hand(desk)
        for _ in range(n):
            hand.press(key)
    ada.refresh()
    found = ada.agreement("score")
    assert (found.both, found.exact, found.conflicts) == (n, 0, n)
    assert ada.progress().whole == 0
    assert sit("conflicts", "Ada").own_conflicts == n
    third = sit("conflicts", "Cy")
    assert "One person says: 5 (right and whole); another: 1" in shown(third)
    hand = Hand(third)
    while third.item is not None:
        hand.press("4")
    labels = [one for one in given(store, fresh, "score") if one.adjudicates]
    assert {(one.annotator, one.value) for one in labels} == {("Cy", 4)}
    ada.refresh()
    assert ada.progress().whole == 1
    assert third.agreement("score").settled == n


def test_samples_picked_by_need_are_marked_and_dont_lift_the_scale(sit, store, fresh):
    desk = sit("scores", pick="unsure")
    hand = Hand(desk)
    first = desk.item.sample_id
    while desk.item.sample_id == first:
        hand.press("3")
    assert {one.note for one in given(store, fresh, "score")} == {LEAST_SURE}
    assert desk.progress().whole == 0


def test_one_models_labels_lift_its_own_scale(sit, fresh):
    desk = sit("scores", only=fresh.candidate_ids[1])
    hand = Hand(desk)
    for _ in range(3):
        hand.press("3")
    assert desk.progress().whole == 1
    assert sit("scores").progress().whole == 0


def test_errors_come_from_labels_that_differ(sit, store, fresh):
    desk = sit("scores")
    hand = Hand(desk)
    for _ in range(9):
        hand.press("1" if desk.item.at % 2 else "5")
    errors = sit("errors")
    assert errors.items
    assert "people say" in shown(errors)
    Hand(errors).press("6")
    assert [one.label for one in given(store, fresh, "error_type")] == [ERROR_TYPES[5]]


# --- what is drawn ------------------------------------------------------------------------------


def shown(desk):
    return str(deck.deck_item(desk, desk.item).html)


def test_scores_are_asked_blind(sit, fresh):
    desk = sit("scores")
    for _ in range(40):
        if desk.item is None:
            break
        plain = json.dumps(deck.deck_item(desk, desk.item).plain())
        for secret in ("model-a", "model-b", "model-c", *fresh.candidate_ids, "against the truth"):
            assert secret not in plain
        Hand(desk).do("go", item=desk.items[min(desk.at + 1, len(desk.items) - 1)].id)
        desk._reach(desk.at + 1)


def test_hostile_texts_stay_texts(sit, store, fresh):
    for queue in ("scores", "ranking", "criteria"):
        desk = sit(queue)
        while desk.item is not None and desk.item.sample_id != fresh.sample_ids[5]:
            desk.at += 1
            desk._reach(desk.at)
        text = shown(desk)
        assert "<script" not in text
        assert 'src="http' not in text
        assert "&lt;script&gt;" in text


def test_a_sealed_store_refuses_and_says_so(fresh):
    with Store.open(fresh.folder, read_only=True) as sealed:
        desk = Desk(sealed, load_study(sealed, fresh.study.id), "scores", "Ada", "random")
        with pytest.raises(ReadOnlyError):
            Hand(desk).press("1")
        assert desk.acknowledged == 0
        assert desk.progress().mine == 0


# --- the page -----------------------------------------------------------------------------------


def data_of(seen):
    for element in seen.test.get("bidi_component"):
        data = json.loads(element.proto.json)
        if "desk" in data:
            return data
    return None


def test_the_page_asks_for_a_name_first(open_app, fresh):
    seen = open_app(fresh.folder, PAGE)
    assert not seen.test.exception
    assert "Who labels?" in seen.markup
    seen.test.text_input(key="human_name").set_value("  ")
    seen.test.button(key="human_start").click().run()
    assert "can't be the name on labels" in html.unescape(markup_of(seen.test))
    seen.test.text_input(key="human_name").set_value("Ada").run()
    assert seen.test.query_params["who"] in ("Ada", ["Ada"])
    assert data_of(seen)["items"]


@pytest.mark.slow
@pytest.mark.parametrize("queue", ["scores", "ranking", "criteria", "errors", "reports"])
def test_each_queue_opens_with_its_keys(open_app, made, queue):
    seen = open_app(made.folder, PAGE, {"who": "Ada", "queue": queue})
    assert not seen.test.exception
    data = data_of(seen)
    assert data["at"] == data["items"][0]["id"]
    assert "<kbd>U</kbd>undo" in data["foot"]
    assert "Guidelines" in data["foot"]


@pytest.mark.slow
def test_empty_queues_say_what_to_do(open_app, made, made_outcomes):
    seen = open_app(made.folder, PAGE, {"who": "Ada", "queue": "conflicts"})
    assert "No conflicts" in data_of(seen)["end"]
    seen = open_app(made_outcomes.folder, PAGE, {"who": "Ada"})
    assert "Nothing to label yet" in data_of(seen)["end"]
    seen = open_app(made_outcomes.folder, PAGE, {"who": "Ada", "queue": "reports"})
    assert "No reports to match" in data_of(seen)["end"]


def test_no_study_and_odd_addresses(open_app, made):
    assert "There is no study yet" in open_app(None, PAGE).markup
    odd = {"who": "x" * 200, "queue": HOSTILE, "pick": "?"}
    seen = open_app(made.folder, PAGE, odd)
    assert not seen.test.exception
    assert "Who labels?" in seen.markup


def test_the_bundled_study_offers_a_copy(open_app, made, tmp_path):
    seen = open_app(tmp_path / "mine", PAGE, {"who": "Ada"}, demo=made.folder)
    assert not seen.test.exception
    assert "The bundled study is sealed" in seen.markup
    assert seen.test.button(key="human_copy")


def test_labels_can_be_saved(open_app, sit, fresh, store):
    Hand(sit("scores")).press("3")
    seen = open_app(fresh.folder, PAGE, {"who": "Ada"})
    assert not seen.test.exception
    assert seen.test.get("download_button")
    assert "1 label" in data_of(seen)["html"]
    assert len(store.select(Annotation)) == 1
