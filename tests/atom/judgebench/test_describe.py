"""What sets hold, counted by hand."""

from __future__ import annotations

import math

import pytest

from atom.judgebench.describe import describe, histogram
from atom.records import BenchItem


def items(*datas):
    return [
        BenchItem(set_id="s", id=f"i{at}", position=at, data=data) for at, data in enumerate(datas)
    ]


def cells(table):
    return {name: [cell.value for cell in row] for name, row in table.rows}


def test_a_histogram_holds_all_values_and_has_an_edge_at_zero():
    found = histogram([-3, -1, 0, 0, 2, 8], "t", "p")
    # 12 values from -3 to 8 in at most 11 steps: width 2.
    assert found.edges == (-4, -2, 0, 2, 4, 6, 8, 10)
    assert found.counts == (1, 1, 2, 1, 0, 0, 1)
    assert found.quartiles == (-0.75, 0, 1.5)
    assert sum(histogram([5, 5], "t", "p").counts) == 2


def test_pairs_of_vl_rewardbench():
    pair = {"query": "q", "category": "general", "tags": ["counting"]}
    found = describe("vl_rewardbench", items(
        {**pair, "responses": ["one two three", "one"], "better": "a"},
        {**pair, "responses": ["one two three", "one"], "better": "b", "tags": []},
    ))  # fmt: skip
    gap, chosen = found.spreads
    # 3 - 1 and 1 - 3 words; the better ones have 3 and 1.
    assert (gap.quartiles[1], sum(gap.counts)) == (0, 2)
    assert chosen.quartiles[1] == 2
    assert cells(found.tables[0]) == {
        "pairs of answers": [2], "category: general": [2], "kind of error: counting": [1],
    }  # fmt: skip


def test_pairs_of_multi_crit():
    def pair(labels, a, b, split="open_ended", source="WildVision_1"):
        entries = [{"key": key, "label": label} for key, label in labels.items()]
        return {"split": split, "model_a": a, "model_b": b, "criteria": entries,
                "prompt_id": source, "question": "q"}  # fmt: skip

    found = describe("multi_crit", items(
        pair({"efficiency": "a", "clarity": "b"}, "m1", "m2"),
        pair({"efficiency": "a", "clarity": "b", "logic": "a"}, "m1", "m1"),
        pair({"efficiency": "a", "clarity": "a"}, "m1", "m2"),
        pair({"efficiency": "b"}, "m1", "m2", split="reasoning", source="mathverse-3"),
    ))  # fmt: skip
    wrote, criteria, sources, together, alone = found.tables
    # Open-ended: two of two models and one of one; reasoning: one of two.
    assert cells(wrote) == {
        "by two models": [2, 1, 3], "twice by the same model": [1, 0, 1], "all": [3, 1, 4],
    }  # fmt: skip
    assert cells(criteria)["all"] == [7, 1, 8]
    assert cells(sources)["WildVision"] == [3, 0, 3]
    assert cells(sources)["mathverse"] == [0, 1, 1]
    # Of the two pairs with a conflict clarity never says what efficiency says; logic always does.
    shown = {(name, column): row[at].value for name, row in together.rows
             for at, column in enumerate(together.columns)}  # fmt: skip
    values = {frozenset(key): value for key, value in shown.items() if key[0] != key[1]}
    assert sorted(values.values()) == [-1, -1, 1]
    assert all(math.isnan(value) for key, value in shown.items() if key[0] == key[1])
    assert alone.rows == ()


def test_items_of_mm_critic():
    one = {"subset": "core", "task_type": "coding", "task": "t1", "dimension": "basic"}
    found = describe("mm_critic", items(
        one, {**one, "task": "t2"}, {**one, "task_type": "planning", "dimension": "correction"},
    ))  # fmt: skip
    tasks, responses, more = found.tables
    assert cells(tasks) == {"coding": [2], "planning": [1], "all": [3]}
    assert cells(responses) == {"coding": [2], "planning": [0], "all": [2]}
    assert cells(more) == {"coding": [0], "planning": [1], "all": [1]}


def test_items_of_criticbench():
    one = {"kind": "answer", "domain": "qa", "quality": "low", "score": 2.0, "corrected": True}
    found = describe("critic_bench", items(
        one, {**one, "score": 3.0, "corrected": False}, {**one, "quality": "high", "score": 7.0},
        {"kind": "pair", "domain": "chat", "quality": "easy", "score": None},
    ))  # fmt: skip
    people, held = found.tables
    # qa: (2 + 3) / 2, 7, and (2 + 3 + 7) / 3 of all; nobody scored an answer of chat.
    assert cells(people)["qa"] == pytest.approx([2.5, 7, 4])
    assert all(math.isnan(value) for value in cells(people)["chat"])
    assert cells(held) == {"qa": [3, 0, 0, 2], "chat": [0, 1, 0, 0], "all": [3, 1, 0, 2]}
    assert [spread.counts for spread in found.spreads] == [
        (0, 1, 1, 0, 0, 0, 0), (0, 0, 0, 0, 0, 0, 1),
    ]  # fmt: skip


def test_nothing_is_told_of_what_no_paper_describes():
    assert describe("calibration", items({"question": "q"})).tables == ()
    assert describe("mm_critic", []).tables == ()
    assert describe("vl_rewardbench", items({"query": "of another version"})).tables == ()
