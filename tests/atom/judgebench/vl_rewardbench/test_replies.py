"""Replies from elsewhere: the released code's files, and our own verdicts."""

import json

import pytest

from atom.formats import ImportFile
from atom.judgebench.vl_rewardbench.data import item_key
from atom.judgebench.vl_rewardbench.replies import read_judgment, read_replies, released_flag
from atom.judgebench.vl_rewardbench.votes import gather_votes
from atom.records import BenchItem

ANSWERS = ["left", "right"]


def item(number=1, better="a", source=None, answers=ANSWERS):
    name = source or f"x-{number}"
    data = {"id": name, "query": "What?", "responses": list(answers), "better": better,
            "category": "general", "tags": [], "key": item_key(name, "What?", answers)}  # fmt: skip
    return BenchItem(set_id="s", id=f"item-{number}", position=number, data=data)


def line(number=1, said=1, swapped=0, text=None, **more):
    text = f"Overall Judgment: Answer {said} is better." if text is None else text
    meta = {"filter_choice": text, "random_number": swapped, **more.pop("meta", {})}
    return {"id": f"x-{number}", "query": "What?", "response": ANSWERS, "ranking": [0, 1],
            "meta": meta, **more}  # fmt: skip


def read(*rows, items=None, name="judge.jsonl"):
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    return read_replies([ImportFile.from_bytes(name, data)], items or [item()], "judge z")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("Overall Judgment: Answer 1 is better.", 1),
        ("**Overall Judgment**\n- **Answer 2** is slightly better", 2),
        ("Therefore, I find that answer 1 is the better one.", 1),
        ("Therefore Answer 1 is better here. But overall, Answer 2 is better.", 2),
        ("Overall Judg\nment: Answer2is\nbetter", 2),
        ("Answer 1 is better.", None),
        ("Overall Judgment: Answer 1 is superior.", None),
        ("Answer 1 is better. Therefore", None),
        ("", None),
        ("Overall Judgment: Answer 3 is better", 3),
        ("Overall Judgment: Answer " + "9" * 5000 + " is better", 999_999),
    ],
)
def test_the_released_wording_is_found(text, place):
    assert read_judgment(text).place == place
    assert (place is None) == bool(read_judgment(text).detail)


def test_a_hostile_text_is_read_in_one_pass():
    # The released pattern would try every way to stretch its gaps: hours for this text.
    text = "Therefore" + " -" * 40_000 + "Answer " * 20_000 + "Overall Judgment" * 5_000
    assert read_judgment(text).place is None


def test_the_released_flag_asks_only_for_the_worse_place():
    # The better answer is a, so the worse one is shown second, or first when swapped.
    assert [released_flag(place, False, "a") for place in (1, 2, 3, None)] == [
        "agree", "reject", "agree", "doesntMatch",
    ]  # fmt: skip
    assert [released_flag(place, True, "a") for place in (1, 2)] == ["reject", "agree"]
    assert [released_flag(place, False, "b") for place in (1, 2)] == ["reject", "agree"]


def test_several_runs_of_a_pair_are_its_votes():
    found = read(line(said=1), line(said=1, swapped=1), line(text="No idea."))
    assert [(v.repeat, v.order, v.state, v.label) for v in found.verdicts] == [
        (0, "ab", "scored", "a"), (1, "ba", "scored", "b"), (2, "ab", "unscored", ""),
    ]  # fmt: skip
    assert [v.data["flag"] for v in found.verdicts] == ["agree", "reject", "doesntMatch"]
    assert {v.judge for v in found.verdicts} == {"judge z"}
    assert {v.prompt for v in found.verdicts} == {"imported"}
    votes = gather_votes([item()], found.verdicts)
    assert votes.codes.tolist() == [[1, 0, -1]]


def test_wrapped_lines_read_the_same():
    rows = [line(said=1), line(said=2, swapped=1)]
    plain = read(*rows)
    assert read(*({"0": row} for row in rows)).verdicts == plain.verdicts
    assert read({"0": rows[0], "1": rows[1]}).verdicts == plain.verdicts
    assert read({"0": None}, *rows).verdicts == plain.verdicts


def test_a_flag_counts_where_there_is_no_text_and_the_text_where_both_are():
    bare = line()
    bare["meta"] = {"flag_status": "reject", "random_number": 0}
    found = read(bare, line(said=2, meta={"flag_status": "agree"}))
    assert [v.label for v in found.verdicts] == ["b", "b"]
    assert any("the text counts" in note for note in found.notes)


def test_an_answer_that_there_is_none_of_is_unread_here_and_right_there():
    found = read(line(said=3))
    votes = gather_votes([item()], found.verdicts)
    assert votes.codes.tolist() == [[-1]]
    assert votes.released.tolist() == [[1]]


def test_answers_in_another_order_are_turned_round():
    found = read(line(said=1, response=["right", "left"], ranking=[1, 0]))
    assert (found.verdicts[0].label, found.verdicts[0].order) == ("b", "ba")
    assert not found.notes
    assert any("unlike the set" in note for note in read(line(ranking=[1, 0])).notes)


def test_what_belongs_to_nothing_is_named():
    found = read(
        line(), line(7), line(response=["other", "right"]), {"id": "x-1"},
        line(meta={"random_number": None}), {"meta": {"filter_choice": "x", "random_number": 0}},
    )  # fmt: skip
    assert len(found.verdicts) == 1
    reasons = ("no pair 'x-7'", "no pair 'x-1'", "no reply", "order", "names no pair")
    for said, why in zip(found.skipped, reasons, strict=True):
        assert why in said
    twins = [item(1, source="x-1"), item(2, source="x-1", answers=["p", "q"])]
    assert read(line(), items=twins).verdicts[0].subject_id == "item-1"
    assert "2 pairs" in read({"id": "x-1", "label": "a"}, items=twins).skipped[0]


def test_our_own_verdicts_come_back():
    rows = [
        {"subject_id": "item-1", "part": "pair", "repeat": 3, "order": "ba", "label": "b"},
        {"id": "x-1", "label": "", "detail": "nothing said"},
        {"id": "x-1", "part": "point/a", "value": 7},
        {"id": "x-1", "part": "point/b", "value": 70},
        {"id": "x-1", "label": "a", "state": "unscored"},
    ]
    found = read(*rows)
    assert [(v.part, v.state, v.label, v.value) for v in found.verdicts] == [
        ("pair", "scored", "b", None), ("pair", "unscored", "", None),
        ("point/a", "scored", "", 7.0), ("point/b", "unscored", "", None),
        ("pair", "unscored", "", None),
    ]  # fmt: skip
    assert (found.verdicts[0].repeat, found.verdicts[0].order) == (3, "ba")
    again = read(*(v.model_dump() for v in found.verdicts))
    assert [(v.repeat, v.label) for v in again.verdicts] == [
        (v.repeat, v.label) for v in found.verdicts
    ]
    bad = read({"id": "x-1", "part": "other", "label": "a"}, rows[0], rows[0],
               {"id": "x-1", "label": "a", "order": "xy"}, {"id": "x-1", "state": "failed"},
               {"id": "x-1", "label": "a", "repeat": 1.5})  # fmt: skip
    assert len(bad.verdicts) == 1
    assert len(bad.skipped) == 5
