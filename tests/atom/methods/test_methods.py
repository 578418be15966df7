"""What methods ask, what they make of awkward replies, and the whole numbers that come of it."""

from __future__ import annotations

import json

import pytest

from atom.errors import UsageError
from atom.judge.request import TextPart
from atom.methods import (
    bare_criteria,
    batch_rank,
    pointwise,
    scan_criteria,
    scan_scoring,
    whole,
    worklists,
)
from atom.methods.base import MethodSample, letter, shown, shuffled, whole_number
from atom.methods.checkpoints import atom_scores
from atom.methods.registry import ASKED, METHODS, find_method
from atom.methods.scan_criteria import ScanCriterion
from atom.records import Sampling
from atom.stages import scoring
from tests.atom.analysis.conftest import make_table

SAMPLING = Sampling(temperature=0.0)


def text_of(request) -> str:
    return next(part.text for part in request.parts if isinstance(part, TextPart))


def data_of(request):
    lines = text_of(request).split("\n")
    start, end = lines.index("BEGIN DATA"), lines.index("END DATA")
    return json.loads("\n".join(lines[start + 1 : end]))


# --- requests ------------------------------------------------------------------------------------


def test_a_request_shows_what_it_should_and_no_more(plan, sample, responses, solved, pictures):
    one = data_of(pointwise.build(sample, pictures, responses[0], SAMPLING))
    assert one == {"question": "How many?", "choices": [], "answer": "Three."}
    held = data_of(whole.build(sample, pictures, solved, responses[0], SAMPLING))
    assert held["solution"] == {"steps": ["Three balls are seen."], "final_answer": "3"}
    bare = data_of(bare_criteria.build(sample, pictures, SAMPLING))
    assert set(bare) == {"question", "choices", "reference_answer"}


def test_hostile_answers_stay_inside_the_data(sample, responses, pictures):
    for request in (
        pointwise.build(sample, pictures, responses[1], SAMPLING),
        batch_rank.build(sample, pictures, responses, SAMPLING),
        scan_criteria.build(sample, pictures, responses, SAMPLING),
    ):
        assert text_of(request).split("\n").count("END DATA") == 1
        held = data_of(request)
        said = [held["answer"]] if "answer" in held else [one["answer"] for one in held["answers"]]
        assert responses[1].text in said


def test_the_order_is_drawn_by_the_answers_alone(sample, responses):
    order = shuffled(sample.id, responses, "batch")
    assert order == shuffled(sample.id, responses[::-1], "batch")
    firsts = {shuffled(f"s{n}", responses, "batch")[0].id for n in range(40)}
    assert firsts == {"r1", "r2", "r3"}


def test_letters_and_cuts():
    assert [letter(n) for n in (0, 25, 26, 701, 702)] == ["A", "Z", "AA", "ZZ", "AAA"]
    assert shown("x" * 60_000) == "x" * 60_000
    assert len(shown("x" * 60_000, 10)) < 6_100
    assert "54000 characters left out" in shown("x" * 60_000, 10)


@pytest.mark.parametrize(
    ("value", "read"),
    [(7, 7), (7.0, 7), ("7", 7), ("7/10", 7), (" 7.0 ", 7), (7.5, None), ("seven", None),
     (True, None), (None, None), ("²", None), (float("nan"), None), (1e300, None), ([], None)],
)  # fmt: skip
def test_whole_numbers(value, read):
    assert whole_number(value) == read


# --- replies -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "state", "value"),
    [
        ('{"reason": "good", "score": 8}', "scored", 8),
        ('Sure! {"reason": "good", "score": 10} Bye.', "scored", 10),
        ('{"reason": "good", "score": "8/10"}', "scored", 8),
        ('{"reason": "hm", "score": null}', "unscored", None),
        ('{"reason": "hm", "score": 11}', "unscored", None),
        ('{"reason": "hm", "score": 7.5}', "unscored", None),
        ('{"reason": "cut", "sco', "unscored", None),
        ('{"not_covered": "no probe"}', "unscored", None),
        ("8", "unscored", None),
        ("", "unscored", None),
    ],
)
def test_pointwise_replies(sample, responses, pictures, reply_of, empty, text, state, value):
    request = pointwise.build(sample, pictures, responses[0], SAMPLING)
    found = pointwise.parse(reply_of(request, text), empty)
    assert (found.state, found.value) == (state, value)
    assert state == "scored" or found.detail


def test_a_score_of_the_whole_ends_at_five(sample, responses, solved, pictures, reply_of, empty):
    request = whole.build(sample, pictures, solved, responses[0], SAMPLING)
    assert whole.parse(reply_of(request, '{"reason": "", "score": 5}'), empty).value == 5
    assert whole.parse(reply_of(request, '{"reason": "", "score": 6}'), empty).state == "unscored"
    blocked = solved.model_copy(update={"state": "unscored"})
    with pytest.raises(UsageError, match="replay it again"):
        whole.build(sample, pictures, blocked, responses[0], SAMPLING)


def ranking(*entries):
    rows = [{"id": name, "reason": "", "rank": rank} for name, rank in entries]
    return json.dumps({"ranking": rows})


@pytest.mark.parametrize(
    ("text", "ranks"),
    [
        (ranking(("A", 1), ("B", 2), ("C", 2)), {"r1": 1, "r2": 2, "r3": 2}),
        (ranking(("c", 1), ("Answer B", "3"), ("(A)", 2)), {"r1": 2, "r2": 3, "r3": 1}),
        (ranking(("A", 1), ("B", 2)), {"r1": 1, "r2": 2}),
        (ranking(("A", 1), ("B", 2), ("C", 9)), {"r1": 1, "r2": 2}),
        (ranking(("A", 1), ("A", 3), ("B", 2), ("C", 1)), {"r2": 2, "r3": 1}),
        (ranking(("A", 1), ("D", 2), ("C", 2)), {"r1": 1, "r3": 2}),
    ],
)
def test_batch_replies(sample, responses, pictures, reply_of, empty, text, ranks):
    request = batch_rank.build(sample, pictures, responses, SAMPLING)
    found = batch_rank.parse(reply_of(request, text), empty, responses)
    assert found.data["ranks"] == ranks
    assert found.data["order"] == ["r1", "r2", "r3"]
    assert batch_rank.ranks_of(found) == {name: -rank for name, rank in ranks.items()}
    assert len(ranks) == 3 or found.detail


@pytest.mark.parametrize("text", [ranking(("A", 1)), ranking(("A", 0), ("B", 7)), "[]", "no"])
def test_a_ranking_of_less_than_two_is_none(sample, responses, pictures, reply_of, empty, text):
    request = batch_rank.build(sample, pictures, responses, SAMPLING)
    found = batch_rank.parse(reply_of(request, text), empty, responses)
    assert found.state == "unscored"
    assert batch_rank.ranks_of(found) == {}


def test_scan_criteria_are_checked_one_by_one(sample, responses, pictures, reply_of, empty):
    request = scan_criteria.build(sample, pictures, responses, SAMPLING)
    rows = [
        {"name": "count", "criterion": "Gives three.", "weight": 4},
        {"name": "again", "criterion": "gives THREE", "weight": 2},
        {"name": "none", "criterion": "", "weight": 2},
        {"name": "heavy", "criterion": "Is heavy.", "weight": 40},
    ]
    found = scan_criteria.parse(reply_of(request, json.dumps({"criteria": rows})), empty)
    assert scan_criteria.criteria_of(found) == (
        ScanCriterion(name="count", criterion="Gives three.", weight=4),
    )
    assert "criterion 2" in found.detail
    assert "criterion 4" in found.detail
    none = scan_criteria.parse(reply_of(request, '{"criteria": []}'), empty)
    assert none.state == "unscored"
    assert scan_criteria.criteria_of(none) == scan_criteria.criteria_of(None) == ()


def test_scan_numbers_need_every_criterion(sample, responses, pictures, reply_of, empty):
    criteria = [ScanCriterion(name=n, criterion=n, weight=w) for n, w in (("x", 4), ("y", 3))]
    request = scan_scoring.build(sample, pictures, criteria, responses[0], SAMPLING)
    assert "weight" not in json.dumps(data_of(request))

    def parse(*scores):
        rows = [{"id": name, "reason": "", "score": score} for name, score in scores]
        reply = reply_of(request, json.dumps({"scores": rows}))
        return scan_scoring.parse(reply, empty, criteria)

    assert parse(("k1", 5), ("k2", 2)).value == 4 * 5 + 3 * 2
    assert parse(("k2", 2), ("K1", 5)).value == 26
    assert parse(("k1", 5)).state == "unscored"
    assert parse(("k1", 5), ("k2", None)).state == "unscored"
    assert "contradicts" in parse(("k1", 5), ("k2", 2), ("k2", 3)).detail


def test_bare_criteria_pass_the_gate_and_are_scored_like_atoms(
    sample, responses, pictures, reply_of, empty
):
    request = bare_criteria.build(sample, pictures, SAMPLING)
    rows = [
        {"question": "How many balls?", "ground_truth": "3", "weight": 1},
        {"question": "Which colour?", "ground_truth": "red", "weight": 1},
    ]
    made = bare_criteria.parse(reply_of(request, json.dumps({"criteria": rows})), empty)
    criteria_set, criteria = bare_criteria.criteria_of(made, sample)
    assert [use.weight for use in criteria_set.uses] == [5, 5]
    ask = scoring.build(sample, pictures, criteria_set, criteria, responses[0], SAMPLING)
    scores = [{"id": c.id, "quote": "", "reason": "", "score": s}
              for c, s in zip(criteria, (4, 3), strict=True)]  # fmt: skip
    said = reply_of(ask, json.dumps({"scores": scores}))
    found = bare_criteria.parse_scores(said, empty, criteria_set, criteria, responses[0])
    assert found.value == 5 * 4 + 5 * 3
    half = reply_of(ask, json.dumps({"scores": scores[:1]}))
    part = bare_criteria.parse_scores(half, empty, criteria_set, criteria, responses[0])
    assert part.state == "unscored"
    one = bare_criteria.parse(reply_of(request, json.dumps({"criteria": rows[:1]})), empty)
    assert one.state == "unscored"
    assert bare_criteria.criteria_of(one, sample) is None


# --- worklists ------------------------------------------------------------------------------------


def test_each_method_asks_what_it_should(plan):
    first = {name: len(METHODS[name].worklist(plan).asks({})) for name in ASKED}
    assert first == {"pointwise": 3, "batch": 1, "scan": 1, "no_replay": 1, "no_decomposition": 3}


def test_scores_are_asked_once_the_criteria_are_there(plan):
    for name, data in (
        ("scan", {"criteria": [{"name": "n", "criterion": "c", "weight": 3}]}),
        ("no_replay", {"criteria": [{"question": "q", "ground_truth": "g", "weight": 5},
                                    {"question": "p", "ground_truth": "h", "weight": 5}]}),
    ):  # fmt: skip
        worklist = METHODS[name].worklist(plan)
        (ask,) = worklist.asks({})
        made = ask.blank.model_copy(update={"state": "scored", "data": data})
        assert len(worklist.asks({ask.key: made})) == 4
        failed = ask.blank.model_copy(update={"state": "failed"})
        assert len(worklist.asks({ask.key: failed})) == 1


def test_no_solution_means_nothing_to_hold_an_answer_against(plan, sample, responses):
    bare = MethodSample(sample=sample, responses=responses)
    without = plan.__class__(**{**plan.__dict__, "samples": [bare]})
    assert METHODS["no_decomposition"].worklist(without).asks({}) == []


def test_an_answer_that_joins_makes_a_new_ranking(plan, sample, responses):
    few = MethodSample(sample=sample, responses=responses[:2])
    smaller = plan.__class__(**{**plan.__dict__, "samples": [few]})
    (one,) = METHODS["batch"].worklist(smaller).asks({})
    (other,) = METHODS["batch"].worklist(plan).asks({})
    assert one.key != other.key
    old = one.blank.model_copy(update={"state": "scored", "data": {"ranks": {"r1": 1, "r2": 2}}})
    assert METHODS["batch"].scores(["r2", "r1"], [old]) == {"r1": -1, "r2": -2}
    assert METHODS["batch"].scores(["r1", "r2", "r3"], [old]) == dict.fromkeys(("r1", "r2", "r3"))


def test_values_are_whole_numbers_or_none(plan):
    asks = METHODS["pointwise"].worklist(plan).asks({})
    verdicts = [
        ask.blank.model_copy(update={"state": state, "value": value})
        for ask, state, value in zip(asks, ("scored", "unscored", "failed"), (7.0, None, None),
                                     strict=True)
    ]  # fmt: skip
    assert METHODS["pointwise"].scores(["r1", "r2", "r3"], verdicts) == {
        "r1": 7, "r2": None, "r3": None,
    }  # fmt: skip
    assert worklists.value_scores("no_decomposition", ["r1"], verdicts) == {"r1": None}


def test_an_unknown_method_is_refused():
    with pytest.raises(UsageError, match="no method 'best'"):
        find_method("best")


# --- checkpoints ---------------------------------------------------------------------------------


def test_atoms_own_numbers_are_numerators_and_need_every_criterion():
    # Model 0: w (2,2,5,1), s (5,4,1,3): 26, unweighted 13. Model 1 lacks a score: no number.
    rows = [(0, 0, place, 0, w, s) for place, (w, s) in enumerate(((2, 5), (2, 4), (5, 1), (1, 3)))]
    rows += [(1, 0, place, 0, w, s) for place, (w, s) in enumerate(((2, 5), (2, 0), (5, 1)))]
    table = make_table(rows)
    assert atom_scores(table, "atom") == {"r0": 26}
    assert atom_scores(table, "no_weights") == {"r0": 13}
    assert atom_scores(make_table([], samples=1), "atom") == {}
