"""Best of n: files, the order of meetings, and what picks are worth, by hand."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atom.errors import UsageError
from atom.formats import ImportFile
from atom.judgebench.base import BenchPlan, LoadOptions
from atom.judgebench.best_of_n.asking import (
    ORDERS,
    POINT,
    PickWorklist,
    best_so_far,
    meeting,
    meeting_order,
    winner,
)
from atom.judgebench.best_of_n.benchmark import BENCH, load, measure, picks_of
from atom.judgebench.items import card_of, judged
from atom.records import BenchItem, Sampling
from atom.stages.verdicts import blank


def item(name, answers, position=0):
    listed = [{"text": text, "right": right} for text, right in answers]
    return BenchItem(set_id="s", id=name, position=position,
                     data={"question": "How many?", "answers": listed})  # fmt: skip


def said(name, part, order="", *, label="", value=None, repeat=0, state="scored", temperature=0.0):
    sampling = Sampling(temperature=temperature)
    made = blank("s", name, part, "j", "p@1", sampling, repeat=repeat, order=order)
    return made.model_copy(update={"state": state, "label": label, "value": value})


def met(one, better, other, **more):
    """Say in both orders that the answer `better` beats `other`."""
    label = "a" if better < other else "b"
    part = meeting(better, other)
    return [said(one.id, part, order, label=label, **more) for order in ORDERS]


def rows_of(result):
    tables = [result.headline, *(table.rows for table in result.tables)]
    return {row.metric: row for rows in tables for row in rows}


def read(*rows):
    text = "".join(json.dumps(row) + "\n" for row in rows)
    return load([ImportFile.from_bytes("x.jsonl", text.encode())], LoadOptions(set_id="s"))


def test_a_file_is_read_and_what_cannot_be_is_named():
    good = {"id": "q", "question": "Which?", "choices": ["red", "blue"],
            "answers": [{"text": "A", "right": True}, {"text": "B", "right": 0}]}  # fmt: skip
    found = read(
        good,
        {**good, "id": "alone", "answers": good["answers"][:1]},
        {**good, "id": "none", "question": None},
        {**good, "id": "vague", "answers": [{"text": "A"}, {"text": "B", "right": True}]},
        {**good, "id": "words", "answers": ["A", "B"]},
    )
    (one,) = found.items
    assert one.data["question"] == "Which?\nA. red\nB. blue"
    assert [each["right"] for each in one.data["answers"]] == [True, False]
    text = "\n".join(found.skipped)
    for words in ("1 `answers`; 2 to 64", "no `question`", "answer 1 has no", "isn't an object"):
        assert words in text


def test_who_goes_on_needs_more_votes_over_both_orders():
    votes = [said("q", "pair/1/4", order, label=label) for order, label in
             (("ab", "a"), ("ba", "a"))]  # fmt: skip
    assert winner(4, 1, votes) == 1
    # One vote each: who was ahead stays.
    votes[1] = votes[1].model_copy(update={"label": "b"})
    assert (winner(4, 1, votes), winner(1, 4, votes)) == (4, 1)
    # What can't be read is no vote.
    unread = [said("q", "pair/1/4", order, state="unscored") for order in ORDERS]
    assert winner(4, 1, unread) == 4


def test_equal_answers_meet_once_and_the_order_is_the_items_own():
    one = item("q", [("x", True), (" x ", True), ("y", False)])
    assert sorted(meeting_order(one)) == [0, 2]
    assert meeting_order(one) == meeting_order(item("q", [("x", True), ("x", True), ("y", False)]))


def test_picks_gains_and_their_interval_by_hand():
    items = [item(f"q{at}", [("good", True), ("bad", False)], at) for at in range(3)]
    verdicts = [
        *met(items[0], 0, 1),  # picks the right one
        *met(items[1], 0, 1),
        *met(items[2], 1, 0),  # picks the wrong one
    ]
    result = measure(items, verdicts)
    rows = rows_of(result)
    # 2 of 3 picks are right; a random pick is right half the time; one of both always is.
    assert rows["picked_accuracy"].value == pytest.approx(200 / 3)
    assert rows["picked_accuracy"].chance == pytest.approx(50)
    # Gains .5, .5, -.5: mean 1/6, sd sqrt(1/3), t(.975, 2) = 4.302653, half = 4.302653/3.
    gain = result.headline[0]
    assert gain.metric == "gain_over_random"
    assert gain.value == pytest.approx(100 / 6)
    assert gain.hi - gain.value == pytest.approx(100 * 4.302652729911275 / 3)
    assert rows["gain_of_best"].value == pytest.approx(50)
    # (1/6) / (1/2) = 1/3 of what could be gained.
    assert rows["share_of_gain"].value == pytest.approx(100 / 3)
    assert result.missing == 0


def test_ties_of_grades_share_the_pick_and_the_unsettled_are_counted():
    one = item("q", [("a", True), ("b", False), ("c", False)])
    grades = [said("q", f"{POINT}/{at}", value=value) for at, value in ((0, 8), (1, 8), (2, 3))]
    found = picks_of([one, item("other", [("a", True), ("b", False)], 1)], grades, POINT)
    # Two answers share the best grade, one of them right; one of three is right.
    assert found.picked[:, -1].tolist() == [0.5]
    assert found.random[:, -1].tolist() == pytest.approx([1 / 3])
    assert found.open == 1
    assert picks_of([one], grades[:2], POINT).open == 1


def test_verdicts_asked_in_another_way_never_mix():
    one = item("q", [("a", True), ("b", False)])
    cold = met(one, 0, 1)
    warm = [said("q", "pair/0/1", order, label="b", temperature=0.7, repeat=at)
            for order in ORDERS for at in range(1)]  # fmt: skip
    assert picks_of([one], [*cold, *warm[:1]], "pair").picked[0, -1] == 1


def plan(items, **more):
    return BenchPlan(set_id="s", items=items, pictures=lambda one: (), judge="j", **more)


def test_each_meeting_waits_for_the_one_before_and_all_are_counted_ahead():
    one = item("q", [("a", False), ("b", True), ("c", False), ("d", False)])
    worklist, have = PickWorklist(plan([one], votes=2)), {}
    rounds = 0
    while new := [ask for ask in worklist.asks(have) if ask.key not in have]:
        # Three meetings, two orders, two votes: 12 in all, however many are there already.
        assert len(have) + len(new) + worklist.later(have) == 12
        for ask in new:
            low, high = map(int, ask.blank.part.split("/")[1:])
            label = "a" if low == 1 else "b" if high == 1 else "a"
            have[ask.key] = ask.blank.model_copy(update={"state": "scored", "label": label})
        rounds += 1
    assert (rounds, len(have), worklist.later(have)) == (3, 12, 0)
    assert picks_of([one], list(have.values()), "pair").picked[0, -1] == 1
    assert PickWorklist(plan([one], parts=(POINT,))).later({}) == 0


def play(items, choose):
    """Let a judge that chooses `a` or `b` for (item, low, high) work through all meetings."""
    worklist, have = PickWorklist(plan(items)), {}
    held = {one.id: one for one in items}
    while new := [ask for ask in worklist.asks(have) if ask.key not in have]:
        for ask in new:
            low, high = map(int, ask.blank.part.split("/")[1:])
            label = choose(held[ask.blank.subject_id], low, high)
            have[ask.key] = ask.blank.model_copy(update={"state": "scored", "label": label})
    return list(have.values())


def knowing(one, low, high):
    right = [answer["right"] for answer in one.data["answers"]]
    return "b" if right[high] and not right[low] else "a"


@settings(max_examples=30)
@given(st.lists(st.booleans(), min_size=2, max_size=6))
def test_whoever_knows_always_finds_a_right_answer(rights):
    one = item("q", [(f"t{at}", right) for at, right in enumerate(rights)])
    found = picks_of([one], play([one], knowing), "pair")
    assert found.picked.tolist() == found.best.tolist()
    assert found.random[0, -1] == pytest.approx(np.mean(rights))


@pytest.mark.slow
def test_a_planted_judge_gains_as_much_as_it_sees_and_a_coin_nothing():
    rng = np.random.default_rng(7)
    items = [item(f"q{at}", [(f"t{n}", bool(rng.random() < 0.5)) for n in range(4)], at)
             for at in range(300)]  # fmt: skip

    def judge(sharp):
        return lambda one, low, high: (
            knowing(one, low, high) if rng.random() < sharp else "ab"[rng.integers(2)]
        )

    gains = {}
    for sharp in (0.0, 0.6, 1.0):
        gains[sharp] = rows_of(measure(items, play(items, judge(sharp))))["gain_over_random"]
    coin = gains[0.0]
    assert coin.lo < 0 < coin.hi
    # One of four is right in 15 of 16 questions, half of the answers are: 93.75 - 50 points.
    # 300 questions: the standard error of that gain is below 2 points.
    assert gains[1.0].value == pytest.approx(43.75, abs=6)
    assert coin.hi < gains[0.6].lo
    assert gains[0.6].hi < gains[1.0].value


def test_the_best_of_the_first_is_known_as_far_as_it_was_asked():
    one = item("q", [("a", True), ("b", False), ("c", False)])
    first, second, _ = meeting_order(one)
    found = {(v.part, v.order): [v] for v in met(one, first, second)}
    assert best_so_far(one, found) == [first, first]


def test_an_item_is_laid_open_with_what_each_meeting_said():
    one = item("q", [("three", True), ("four", False), ("3", True)])
    card = card_of(BENCH.name, one)
    assert card.texts[1] == ("Answer 2, wrong", "four")
    assert card.truth == (("Right answers", "1, 3"),)
    told = judged(BENCH.name, one, [*met(one, 0, 1), *met(one, 2, 0)])
    assert told.standing == "right"
    assert {(each.about, each.words) for each in told.said} == {
        ("answer 1 against answer 2", "answer 1"),
        ("answer 1 against answer 3", "answer 3"),
    }
    assert judged(BENCH.name, one, met(one, 1, 0)).standing == "wrong"
    # Between two right answers nobody is wrong.
    assert judged(BENCH.name, one, met(one, 2, 0)).standing == "marked"


def test_nothing_asked_gives_no_figure_and_replies_from_elsewhere_are_refused():
    one = item("q", [("a", True), ("b", False)])
    assert measure([one], []).headline == ()
    open_still = measure([one], met(one, 0, 1)[:1]).headline[1]
    assert math.isnan(open_still.value)
    assert "1 question isn't settled yet" in open_still.note
    with pytest.raises(UsageError, match="hangs on the meeting before"):
        BENCH.read_replies([], [one], "j")
