import math

import numpy as np
import pytest

from atom.judgebench.multi_crit.figures import measure
from atom.records import BenchItem, Sampling
from atom.stages.verdicts import blank

COLD, WARM = Sampling(temperature=0.0), Sampling(temperature=0.7)
KEYS = ("grounding", "logic", "hallucination", "exploration", "efficiency")


def pair(number, labels, split="reasoning", agreement=None):
    criteria = [
        {
            "key": key,
            "label": label,
            "row": f"s__select-{number}__{key}",
            "agreement": None if agreement is None else agreement[key],
        }
        for key, label in zip(KEYS, labels, strict=False)
    ]
    data = {
        "pair": f"{split} {number}",
        "prompt_id": "",
        "split": split,
        "question": "?",
        "pred_a": "x",
        "pred_b": "y",
        "model_a": "",
        "model_b": "",
        "criteria": criteria,
    }
    return BenchItem(set_id="set", id=f"{split} {number}", position=number, data=data)


def said(item, place, answer, *, repeat=0, order="ab", sampling=COLD, joint=False):
    """Make a verdict; `?` = unreadable, `!` = the call failed."""
    key = item.data["criteria"][place]["key"]
    part = "joint" if joint else f"single/{key}"
    start = blank(
        "set", item.id, part, "judge", "multi_crit/1", sampling, repeat=repeat, order=order
    )
    if answer in "?!":
        return start.model_copy(update={"state": "failed" if answer == "!" else "unscored"})
    return start.model_copy(update={"state": "scored", "label": answer})


def singles(item, answers, **how):
    return [said(item, place, answer, **how) for place, answer in enumerate(answers)]


def joint(item, answers, **how):
    labels = {
        entry["key"]: answer
        for entry, answer in zip(item.data["criteria"], answers, strict=True)
        if answer != "?"
    }
    state = "scored" if labels else "unscored"
    data = {"labels": labels}
    return said(item, 0, "?", joint=True, **how).model_copy(update={"state": state, "data": data})


def headline(result, metric, group="reasoning", rule=None):
    found = [
        row
        for row in result.headline
        if row.metric == metric and row.group == group and rule in (None, row.rule)
    ]
    assert len(found) == 1, found
    return found[0]


def table(result, title):
    return next(one for one in result.tables if one.title.startswith(title))


def toy():
    items = [pair(n, labels) for n, labels in enumerate(("aab", "ab", "bb"))]
    verdicts = [
        v
        for item, answers in zip(items, ("abb", "ab", "bb"), strict=True)
        for v in singles(item, answers)
    ]
    return items, verdicts


def test_the_toy_of_the_methods_goes_through():
    result = measure(*toy())
    assert headline(result, "pacc").value == pytest.approx(200 / 3)
    assert headline(result, "tos").value == 100
    assert headline(result, "cmr").value == pytest.approx(200 / 3)
    assert headline(result, "criterion_accuracy_micro").value == pytest.approx(600 / 7)
    # Chance as in A12: PAcc (1/8 + 1/4 + 1/4)/3, TOS (3/4 + 1/2)/2, CMR 1/4, accuracy 1/2.
    assert headline(result, "pacc").chance == pytest.approx(62.5 / 3)
    assert headline(result, "tos").chance == pytest.approx(62.5)
    assert headline(result, "cmr").chance == 25
    assert headline(result, "criterion_accuracy_avg").chance == 50
    # PAcc above chance: (2/3 - 5/24) / (19/24) = 11/19.
    assert table(result, "Above chance").rows[0].value == pytest.approx(1100 / 19)
    assert (result.items, result.verdicts, result.missing) == (3, 7, 0)


def test_tos_stands_beside_cmr_with_its_chance_level_everywhere():
    items, verdicts = toy()
    verdicts += [joint(item, "aab"[: len(item.data["criteria"])]) for item in items]
    result = measure(items, verdicts)
    for rows in (result.headline, *(one.rows for one in result.tables)):
        metrics = [row.metric for row in rows]
        for row in rows:
            if row.metric == "tos":
                assert "cmr" in metrics
                assert not math.isnan(row.chance)


def test_a_judge_that_always_prefers_one_answer_or_one_place_tells_nothing_apart():
    items = [pair(n, "aabba") for n in range(6)]
    constant = [v for item in items for v in singles(item, "aaaaa")]
    by_place = []
    for number, item in enumerate(items):
        for repeat in range(3):
            order = "ab" if (number + repeat) % 2 else "ba"
            by_place += singles(item, order[0] * 5, repeat=repeat, order=order)
    for verdicts in (constant, by_place):
        result = measure(items, verdicts)
        assert headline(result, "tos").value == headline(result, "cmr").value == 0
    votes = table(result, "More votes").rows
    assert {row.value for row in votes if row.metric in ("tos_at_votes", "cmr_at_votes")} == {0.0}
    order = {row.metric: row.value for row in table(result, "Order of showing").rows}
    assert order["first_shown"] == 100
    assert order["swap_consistency"] == order["swap_accuracy"] == 0
    assert order["position_bias"] > 1.5


def test_an_exact_judge_is_right_everywhere():
    items = [
        pair(n, labels, split)
        for n, (labels, split) in enumerate(
            [("ab", "reasoning"), ("abba", "open_ended"), ("bb", "reasoning")]
        )
    ]
    verdicts = [
        v for item in items for v in singles(item, [one["label"] for one in item.data["criteria"]])
    ]
    result = measure(items, verdicts)
    assert {row.value for row in result.headline} == {100.0}
    assert [row.group for row in result.headline][::5] == ["open-ended", "reasoning"]
    both = table(result, "Both splits together").rows
    assert {(row.metric, row.n) for row in both} == {
        ("pacc", 3),
        ("cmr", 5),
        ("tos", 2),
        ("criterion_accuracy_micro", 8),
    }
    counts = {(row.group, row.metric): row.value for row in table(result, "What the set").rows}
    assert counts["open-ended", "n_conflicting_criterion_pairs"] == 4
    assert counts["", "n_prompts_with_conflict"] == 2


def test_a_coin_sits_at_every_chance_level():
    rng = np.random.default_rng(5)
    items, verdicts = [], []
    for number in range(300):
        size = 2 + number % 4
        items.append(pair(number, ["ab"[one] for one in rng.integers(0, 2, size)]))
        for repeat, order in enumerate(("ab", "ba")):
            coin = ["ab"[one] for one in rng.integers(0, 2, size)]
            verdicts += singles(items[-1], coin, repeat=repeat, order=order)
    once = measure(items, [v for v in verdicts if v.repeat == 0])
    # PAcc: (2^-2 + 2^-3 + 2^-4 + 2^-5)/4.
    assert headline(once, "pacc").chance == pytest.approx(
        100 * (0.25 + 0.125 + 0.0625 + 0.03125) / 4
    )
    twice = measure(items, verdicts)
    rows = [*once.headline, *table(twice, "Order of showing").rows]
    assert len(rows) == 9
    for row in rows:
        if row.unit == "percent":
            error = 100 * math.sqrt(row.chance / 100 * (1 - row.chance / 100) / row.n)
            # Conflicts of one pair share verdicts: up to twice the error of as many single ones.
            slack = 2 if row.metric == "cmr" else 1
            assert abs(row.value - row.chance) < 3.5 * slack * error, row
        else:
            assert row.lo < 0 < row.hi


def test_an_unreadable_verdict_is_wrong_or_left_out_and_a_failed_call_neither():
    items = [pair(0, "ab"), pair(1, "ab"), pair(2, "ab"), pair(3, "ab")]
    verdicts = [
        *singles(items[0], "ab"),
        *singles(items[1], "a?"),
        *singles(items[2], "a!"),
    ]
    result = measure(items, verdicts)
    # Pairs 0 and 1 are whole; pair 2 counts for its criterion only; pair 3 was never asked.
    assert headline(result, "pacc", rule="strict").value == 50
    assert headline(result, "pacc", rule="readable only").value == 100
    assert headline(result, "pacc", rule="strict").n == 2
    assert headline(result, "criterion_accuracy_micro", rule="strict").value == 80
    assert headline(result, "criterion_accuracy_micro", rule="readable only").n == 4
    assert (result.items, result.verdicts, result.missing) == (4, 5, 1)
    assert "1 pair with a criterion that has no answer" in result.headline[0].note


def test_votes_go_by_majority_and_fewer_are_shown_beside():
    items = [pair(0, "ab"), pair(1, "ab")]
    verdicts = []
    for item in items:
        for repeat, answers in enumerate(("ab", "ab", "bb")):
            verdicts += singles(
                item, answers, repeat=repeat, order="ab" if repeat % 2 else "ba", sampling=WARM
            )
    result = measure(items, verdicts)
    assert headline(result, "pacc").value == 100
    votes = {(row.metric, row.group): row.value for row in table(result, "More votes").rows}
    assert votes["pacc_at_votes", "1 vote"] == pytest.approx(200 / 3)
    assert votes["pacc_at_votes", "3 votes"] == 100
    assert "majority of 3 votes, temperature 0.7" in result.headline[0].note


def test_one_at_a_time_is_compared_with_all_at_once_on_the_same_pairs():
    items = [pair(n, "ab") for n in range(4)]
    verdicts = [v for item in items for v in singles(item, "ab")]
    verdicts += [
        joint(item, answers) for item, answers in zip(items[:3], ("ab", "aa", "a?"), strict=True)
    ]
    rows = {row.metric: row for row in table(measure(items, verdicts), "One criterion").rows}
    # Three pairs have both: singly all right; jointly 1 of 3, the unreadable one wrong.
    assert rows["pacc_single"].value == 100
    assert rows["pacc_joint"].value == pytest.approx(100 / 3)
    assert rows["pacc_delta"].value == pytest.approx(-200 / 3)
    # d = 0, -1, -1: V = 3/2 * (4/9 + 1/9 + 1/9)/9 = 1/9.
    assert rows["pacc_delta"].hi - rows["pacc_delta"].lo == pytest.approx(200 * 1.96 / 3, abs=0.01)
    assert rows["tos_delta"].n == 3
    assert rows["criterion_accuracy_avg_delta"].value == pytest.approx(-100 / 3)
    other = table(measure(items, verdicts), "Asked in other ways")
    assert other.rows[0].group.startswith("all criteria at once")


def test_a_joint_reply_that_nobody_can_read_is_wrong_on_every_criterion():
    items = [pair(0, "ab")]
    result = measure(items, [joint(items[0], "??")])
    micro = headline(result, "criterion_accuracy_micro", rule="strict")
    assert (micro.value, micro.invalid, micro.n) == (0, 2, 2)


def test_conflicts_are_listed_by_pair_of_criteria():
    items = [pair(0, "abb"), pair(1, "aba")]
    verdicts = [*singles(items[0], "abb"), *singles(items[1], "aab")]
    rows = table(measure(items, verdicts), "Conflicts by pair").rows
    # Pair 0: grounding with logic and with hallucination, both matched. Pair 1: logic with
    # grounding and with hallucination, neither.
    assert {row.label: (row.value, row.n) for row in rows} == {
        "Visual grounding against Logic and consistency": (50.0, 2),
        "Visual grounding against Factuality, no hallucination": (100.0, 1),
        "Factuality, no hallucination against Logic and consistency": (0.0, 1),
    }


def test_accuracy_is_correlated_with_people_s_agreement_where_it_is_given():
    agreement = dict(zip(KEYS, (0.9, 0.8, 0.7, 0.6, 0.5), strict=True))
    items = [pair(n, "aaaaa", agreement=agreement) for n in range(4)]
    verdicts = [
        v
        for item, answers in zip(items, ("aaaab", "aaabb", "aabbb", "abbbb"), strict=True)
        for v in singles(item, answers)
    ]
    row = table(measure(items, verdicts), "The judge and people").rows[0]
    # Accuracy 1, .75, .5, .25, 0 falls with agreement along a straight line.
    assert (row.value, row.n) == (pytest.approx(1.0), 5)
    assert not [one for one in measure(*toy()).tables if one.title.startswith("The judge and")]


def test_without_verdicts_there_are_no_figures():
    items = [pair(0, "ab")]
    result = measure(items, [])
    assert (result.headline, result.tables, result.missing) == ((), (), 1)
    assert measure([], []).items == 0
