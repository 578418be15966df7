"""VL-RewardBench's figures on toys that are counted by hand, and with a coin for a judge."""

import math

import numpy as np
import pytest

from atom.judgebench.vl_rewardbench.breakdown import measure
from atom.judgebench.vl_rewardbench.votes import gather_votes
from atom.records import BenchItem, Sampling, Verdict

WARM, COLD = Sampling(temperature=0.7), Sampling(temperature=0.0)


def item(number, category="general", better="a", tags=(), answers=("one", "one two")):
    data = {"id": f"x-{number}", "query": "?", "responses": list(answers), "better": better,
            "category": category, "tags": list(tags)}  # fmt: skip
    return BenchItem(set_id="s", id=f"i{number}", position=number, data=data)


def vote(number, repeat, label, order="ab", **more):
    """Make a vote; no label = unreadable, `!` = the call failed."""
    state = {"": "unscored", "!": "failed"}.get(label, "scored")
    fields = {"group": "s", "subject_id": f"i{number}", "part": "pair", "judge": "j",
              "prompt": "vlrb_pair/1", "sampling": WARM, "repeat": repeat, "order": order,
              "state": state, "label": label.strip("!"), **more}  # fmt: skip
    return Verdict(key=f"{fields['part']}/{number}/{repeat}/{order}/{fields['sampling'].key}",
                   **fields)  # fmt: skip


def grade(number, part, value, repeat=0):
    return vote(number, repeat, "x", order="", part=part, value=value)


def rows(result, metric):
    found = [row for row in result.headline if row.metric == metric]
    found += [row for table in result.tables for row in table.rows if row.metric == metric]
    return {(row.group, row.rule): row for row in found}


def test_strict_and_released_counting_side_by_side():
    items = [item(0), item(1), item(2, "reasoning"), item(3, "reasoning")]
    said = ["aaa", "aa", "bba", "aab"]
    verdicts = [vote(n, k, word) for n, words in enumerate(said) for k, word in enumerate(words)]
    verdicts.append(vote(1, 2, ""))
    result = measure(items, verdicts)
    overall = rows(result, "overall_accuracy")
    # Strict: items 0, 1, 3 right: 3/4. Released: item 1 has an unreadable vote and goes: 2/3.
    assert overall["", "strict"].value == pytest.approx(75)
    assert overall["", "released"].value == pytest.approx(200 / 3)
    assert (overall["", "strict"].n, overall["", "released"].n) == (4, 3)
    assert (overall["", "strict"].invalid, overall["", "released"].invalid) == (0, 1)
    macro = rows(result, "macro_average_accuracy")
    # Strict: general 2/2, reasoning 1/2: 75. Released: general 1/1, reasoning 1/2: 75.
    assert macro["", "strict"].value == macro["", "released"].value == pytest.approx(75)
    each = rows(result, "accuracy")
    assert each["reasoning", "strict"].value == pytest.approx(50)
    assert each["general", "released"].invalid == 1
    invalid = rows(result, "invalid_rate")["", ""]
    assert (invalid.value, invalid.n, invalid.invalid) == (pytest.approx(100 / 12), 12, 1)
    assert (result.items, result.verdicts, result.missing) == (4, 12, 0)


def test_failed_calls_and_votes_asked_otherwise_are_no_votes():
    items = [item(0), item(1), item(2)]
    verdicts = [
        *(vote(0, k, "a") for k in range(3)),
        *(vote(1, k, "b") for k in range(2)),
        vote(1, 2, "!"),
        vote(2, 0, "!"),
        vote(0, 0, "b", sampling=COLD),
    ]
    votes = gather_votes(items, verdicts)
    assert votes.codes.tolist() == [[1, 1, 1], [0, 0, -2]]
    assert (votes.left_out, votes.failed) == (1, 2)
    result = measure(items, verdicts)
    assert result.missing == 1
    note = next(table.note for table in result.tables if table.title == "By category")
    assert "1 votes were asked in another way" in note
    assert "2 votes failed" in note
    assert "even number" in note


def test_order_of_showing_is_read_from_both_orders():
    # Item 0: a in both orders. Item 1: whoever is first, twice. Item 2: unreadable once.
    verdicts = [
        vote(0, 0, "a", "ab"), vote(0, 1, "a", "ba"),
        vote(1, 0, "a", "ab"), vote(1, 1, "b", "ba"),
        vote(2, 0, "a", "ab"), vote(2, 1, "", "ba"),
    ]  # fmt: skip
    result = measure([item(n) for n in range(3)], verdicts)
    same = rows(result, "swap_consistency")["", "strict"]
    assert (same.value, same.invalid, same.chance) == (pytest.approx(100 / 3), 1, 50)
    assert rows(result, "swap_consistent_accuracy")["", "strict"].chance == 25
    first = rows(result, "first_share")["", "readable only"]
    assert (first.value, first.n) == (pytest.approx(75), 2)  # (1/2 + 2/2) / 2
    # beta = .5 ln((1 + .5)/(0 + .5)) = .5 ln 3.
    assert rows(result, "position_bias")["", "readable only"].value == pytest.approx(
        0.5 * math.log(3)
    )


def test_kinds_of_error_may_overlap_and_reasoning_is_one():
    items = [item(0, tags=["existence"]), item(1, tags=["existence", "counting"]),
             item(2, "reasoning")]  # fmt: skip
    result = measure(items, [vote(0, 0, "a"), vote(1, 0, "b"), vote(2, 0, "b")])
    found = {group: row for (group, _), row in rows(result, "error_rate").items()}
    assert {name: (row.value, row.n) for name, row in found.items()} == {
        "existence": (50, 2), "counting": (100, 1), "reasoning": (100, 1),
    }  # fmt: skip
    untagged = measure([item(0)], [vote(0, 0, "a")])
    assert "By kind of error" not in [table.title for table in untagged.tables]


def test_length_is_checked_in_data_and_judge():
    # The better answer is longer by a word in items 0 and 1, shorter in item 2, which is missed.
    items = [item(0, better="b"), item(1, better="b"), item(2, better="a")]
    result = measure(items, [vote(n, 0, "b") for n in range(3)])
    assert rows(result, "length_difference")["", ""].value == pytest.approx(1 / 3)
    assert rows(result, "better_is_longer")["", ""].value == pytest.approx(200 / 3)
    # Two of three are longer; by chance alone so, or further from the middle, always: p = 1.
    assert rows(result, "better_is_longer")["", ""].note == "sign test p = 1.000"
    assert rows(result, "error_rate_better_shorter")["", "strict"].value == 100
    assert rows(result, "error_rate_better_longer")["", "strict"].value == 0
    pull = rows(result, "length_pull")["", "strict"]
    assert pull.value == 100
    assert pull.lo < 100


def test_pointwise_against_pairwise_on_the_same_pairs():
    items = [item(n) for n in range(4)]
    grades = [(8, 3), (5, 5), (2, 6), (7, None)]
    verdicts = [vote(n, 0, label) for n, label in enumerate("abaa")]
    for number, pair in enumerate(grades):
        for part, value in zip(("point/a", "point/b"), pair, strict=True):
            made = grade(number, part, value)
            verdicts.append(made if value else made.model_copy(update={"state": "unscored"}))
    result = measure(items, verdicts)
    alone = rows(result, "accuracy_pointwise")
    # Right, tied, wrong, unreadable: strict 1/4, of the decided 1/2.
    assert (alone["", "strict"].value, alone["", "strict"].invalid) == (25, 1)
    assert (alone["", "ties left out"].value, alone["", "ties left out"].n) == (50, 2)
    # Grades 8 3 5 5 2 6 7: P(equal) = (6 x 1 + 4)/49 = 9/49 (5 twice: 4/49, five others 5/49).
    assert alone["", "strict"].chance == pytest.approx(50 * (1 - 9 / 49))
    assert rows(result, "pointwise_ties")["", ""].value == 25
    assert rows(result, "accuracy_pairwise")["", "strict"].value == 75
    assert rows(result, "pointwise_minus_pairwise")["", "strict"].value == pytest.approx(-50)
    # Read in both: right/right, tied = wrong/wrong, wrong/right: 2 of 3 alike; 4 asked.
    assert rows(result, "pointwise_agreement")["", "strict"].value == pytest.approx(50)


def test_grades_alone_make_a_headline_of_their_own():
    verdicts = [grade(0, "point/a", 9, k) for k in range(2)] + [grade(0, "point/b", 4)]
    result = measure([item(0), item(1)], verdicts)
    assert result.headline[0].metric == "accuracy_pointwise"
    assert "mean of up to 2 grades" in result.headline[0].label
    assert result.missing == 1


def test_nothing_said_gives_nothing():
    empty = measure([item(0)], [])
    assert (empty.headline, empty.tables, empty.missing) == ((), (), 1)
    failed = measure([item(0)], [vote(0, 0, "!")])
    assert (failed.headline, failed.missing) == ((), 1)
    unread = measure([item(0)], [vote(0, k, "") for k in range(3)])
    overall = rows(unread, "overall_accuracy")
    assert (overall["", "strict"].value, overall["", "strict"].invalid) == (0, 1)
    assert overall["", "released"].n == 0
    assert math.isnan(overall["", "released"].value)


def test_a_coin_stands_at_chance_everywhere():
    rng = np.random.default_rng(17)
    names = ("general", "hallucination", "reasoning")
    items = [
        item(n, names[n % 3], "ab"[int(rng.integers(2))], ["existence"] if n % 2 else ["counting"],
             ("w " * int(rng.integers(1, 40)), "v " * int(rng.integers(1, 40))))
        for n in range(400)
    ]  # fmt: skip
    verdicts = [
        vote(n, k, "ab"[int(rng.integers(2))], "ab" if k % 2 else "ba")
        for n in range(400)
        for k in range(5)
    ]
    verdicts += [
        grade(n, part, float(rng.integers(1, 11)))
        for n in range(400)
        for part in ("point/a", "point/b")
    ]
    result = measure(items, verdicts)
    checked = 0
    for row in (*result.headline, *(row for table in result.tables for row in table.rows)):
        if math.isnan(row.chance) or math.isnan(row.lo) or row.metric.startswith("length_diff"):
            continue
        half = max(row.hi - row.lo, 1e-9) / 2
        assert abs(row.value - row.chance) <= 3.5 / 1.96 * half + 1e-9, row
        checked += 1
    assert checked > 30
