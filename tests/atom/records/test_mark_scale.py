"""A mark is read by its declared scale, or it is no mark."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from atom.records import JUDGE_SCALE, Checkpoint, Criterion, CriterionUse, MarkScale, own_mark

YES_NO = MarkScale.of_levels({"yes": 1, "no": 0}, na=["n/a"], unreadable=["content blocked"])
TEN = MarkScale.of_numbers(1, 10)


def mark(**told) -> Checkpoint:
    given_ = {"key": "k", "criterion_id": "c", "response_id": "r", "judge_id": "j", "prompt": "p"}
    return Checkpoint(**{**given_, "state": "scored", **told})


@pytest.mark.parametrize(
    ("raw", "state", "value"),
    [
        ("yes", "scored", 1.0),
        (" NO ", "scored", 0.0),
        ("N/A", "not_applicable", None),
        ("maybe", "unscored", None),
        ("", "unscored", None),
        (None, "unscored", None),
        (float("nan"), "unscored", None),
        ("content blocked: yes", "unscored", None),
    ],
)
def test_words_are_read_as_declared(raw, state, value):
    read = YES_NO.read(raw)
    assert (read.state, read.value) == (state, value)
    assert bool(read.detail) == (state != "scored")


@pytest.mark.parametrize(
    ("raw", "value"), [(1, 0.0), ("10", 1.0), (5.5, 0.5), (" 4.0 ", 1 / 3), (0, None), ("11", None),
                       ("ten", None), ("nan", None), ("inf", None)]
)  # fmt: skip
def test_numbers_lie_between_the_ends_or_are_unscored(raw, value):
    read = TEN.read(raw)
    assert read.value == (None if value is None else pytest.approx(value))
    assert read.state == ("unscored" if value is None else "scored")


def test_a_smaller_number_may_be_better():
    errors = MarkScale.of_numbers(0, 4, lower_is_better=True)
    assert [errors.read(n).value for n in (0, 1, 4)] == [1.0, 0.75, 0.0]


@given(st.integers(1, 5))
def test_our_own_scale_is_worth_its_score_less_one_in_quarters(score):
    assert JUDGE_SCALE.read(score).value == (score - 1) / 4
    assert JUDGE_SCALE.read(f"{score}.0").value == (score - 1) / 4
    point = mark(score=score)
    assert (point.value, point.raw, point.scale) == ((score - 1) / 4, str(score), "judge")
    assert mark(**own_mark(score)) == point
    # 1 and 2 fail (METHODS A2), 4 and 5 pass.
    assert (point.value <= JUDGE_SCALE.fails_at) == (score <= 2)
    assert (point.value >= JUDGE_SCALE.passes_at) == (score >= 4)


def test_what_fails_and_passes_is_the_scale_s_own():
    assert (YES_NO.fails_at, YES_NO.passes_at) == (0, 1)
    three = MarkScale.of_levels({"0": 0, "1": 0.5, "2": 1})
    assert (three.fails_at, three.passes_at) == (0, 1)
    assert (TEN.fails_at, TEN.passes_at) == (0.25, 0.75)
    assert MarkScale.of_levels({"fine": 0.6, "great": 1}).fails_at == 0.6


@given(st.dictionaries(st.sampled_from(["a", "b b", "7", "0.5", "ß", "✓", "yes", "-"]),
                       st.floats(0, 1), min_size=1, max_size=6))  # fmt: skip
def test_a_scale_is_named_by_what_it_says(levels):
    one = MarkScale.of_levels(levels)
    assert MarkScale.of_levels([*levels.items()][::-1]).values == one.values
    assert MarkScale.of_levels(levels) == one
    assert MarkScale.of_levels(levels, ordinal=True).id != one.id
    for word, value in levels.items():
        assert one.read(word).value == value


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"low": 1.0},
        {"low": 5.0, "high": 5.0},
        {"low": 1.0, "high": float("inf")},
        {"levels": (("a", 1.5),)},
        {"levels": (("b", 1.0), ("a", 0.0))},
        {"levels": (("a", 0.0), ("A ", 1.0))},
        {"levels": (("a", 0.0),), "low": 1.0, "high": 2.0},
        {"low": 1.0, "high": 2.0, "unreadable": ("(",)},
    ],
)
def test_a_scale_that_says_nothing_clear_is_refused(told):
    with pytest.raises(ValidationError):
        MarkScale(id="x", **told)


@pytest.mark.parametrize(
    "told",
    [
        {"score": 3, "value": 0.9},
        {"score": 3, "scale": "other"},
        {"value": 0.5},
        {"value": 1.5, "scale": "other"},
    ],
)
def test_a_score_is_a_mark_on_our_own_scale(told):
    with pytest.raises(ValidationError):
        mark(**told)
    assert mark(state="not_applicable", raw="-", scale="other").value is None


def test_a_missing_truth_is_the_empty_one():
    one = Criterion(
        id=Criterion.make_id("s", "Is it red?", ""), sample_id="s", question="Is it red?"
    )
    assert one.ground_truth == ""
    assert one.kind == "question"


@pytest.mark.parametrize("weight", [0, -1, float("nan"), float("inf")])
def test_a_weight_is_positive(weight):
    with pytest.raises(ValidationError):
        CriterionUse(criterion_id="c", position=0, weight=weight)


def test_whole_weights_stay_whole_and_a_cap_goes_with_its_gate():
    assert repr(CriterionUse(criterion_id="c", position=0, weight=3).weight) == "3"
    assert CriterionUse(criterion_id="c", position=0, weight=0.3, gate="zero").weight == 0.3
    for told in ({"gate": "cap"}, {"gate_cap": 0.5}, {"gate": "zero", "gate_cap": 0.5}):
        with pytest.raises(ValidationError, match="gate"):
            CriterionUse(criterion_id="c", position=0, weight=1, **told)
