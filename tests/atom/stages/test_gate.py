import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.stages.gate import (
    keyed_entries,
    largest_remainder,
    normal_question,
    read_criteria,
    read_score,
    read_weights,
    short_ids,
)

SHARES = st.lists(
    st.floats(min_value=0, max_value=1e6, allow_nan=False), min_size=1, max_size=8
).filter(lambda shares: sum(shares) > 0)


class TestLargestRemainder:
    @pytest.mark.parametrize(
        ("shares", "expected"),
        [
            # Already 10: every quota is whole and stays.
            ([5, 3, 2], (5, 3, 2)),
            # 9 in all: quotas 10*3/9 = 3.33 each, floors 3+3+3 = 9, one left, equal remainders:
            # the first gets it.
            ([3, 3, 3], (4, 3, 3)),
            # 12 in all: quotas 5*10/12 = 4.17, 4*10/12 = 3.33, 3*10/12 = 2.5; floors 4+3+2 = 9;
            # the largest remainder, .5, is the third's.
            ([5, 4, 3], (4, 3, 3)),
            # 7 in all: quotas 4.29, 2.86, 2.86; floors 4+2+2 = 8; two left go to the two .86.
            ([3, 2, 2], (4, 3, 3)),
            # 20 in all: quotas 9.5 and .5; the second is below 1, gets 1 and leaves; 9 remain for
            # the first alone.
            ([19, 1], (9, 1)),
            # 100 in all: quotas 9.7, .1, .1, .1: three get 1 each, 7 remain.
            ([97, 1, 1, 1], (7, 1, 1, 1)),
            # 10.5 in all: quotas 8.57, .95, .48. Two leave with 1 each, 8 remain for the first.
            ([9, 1, 0.5], (8, 1, 1)),
            # 23 in all: quotas 4.78, 4.35, .43, .43: two leave, 8 seats over 21: 4.19 and 3.81;
            # floors 4+3, one left, the larger remainder is the second's.
            ([11, 10, 1, 1], (4, 4, 1, 1)),
            # A zero gets 1; 9 seats over 10: 4.5 and 4.5, floors 4+4, the first gets the last one.
            ([5, 5, 0], (5, 4, 1)),
            ([1] * 8, (2, 2, 1, 1, 1, 1, 1, 1)),
            ([0.1, 0.2, 0.7], (1, 2, 7)),
            ([4], (10,)),
        ],
    )
    def test_by_hand(self, shares, expected):
        assert largest_remainder(shares) == expected

    @given(SHARES)
    def test_totals_ten_with_one_at_least(self, shares):
        result = largest_remainder(shares)
        assert sum(result) == 10
        assert min(result) >= 1
        assert len(result) == len(shares)

    @given(SHARES)
    def test_keeps_order(self, shares):
        result = largest_remainder(shares)
        for i, share in enumerate(shares):
            for j, other in enumerate(shares):
                if share > other or (share == other and i < j):
                    assert result[i] >= result[j]

    @given(SHARES)
    def test_a_result_is_its_own_result(self, shares):
        result = largest_remainder(shares)
        assert largest_remainder(result) == result

    @given(SHARES.filter(lambda shares: min(shares) > 1e-3), st.sampled_from([2, 4, 0.5, 64]))
    def test_scale_does_not_matter(self, shares, factor):
        assert largest_remainder([s * factor for s in shares]) == largest_remainder(shares)

    @pytest.mark.parametrize("shares", [[0, 0], [-1, 2], [1] * 11, []])
    def test_refuses_what_cannot_be_shared(self, shares):
        with pytest.raises(ValueError, match="can't share"):
            largest_remainder(shares)


class TestReadWeights:
    def test_good_weights_stay_and_nothing_is_recorded(self):
        weights = read_weights([3, 3.0, "4"])
        assert weights.weights == (3, 3, 4)
        assert (weights.stated, weights.notes, weights.problem) == ((), (), "")

    def test_changed_weights_are_recorded(self):
        weights = read_weights([3, 3, 3])
        assert weights.weights == (4, 3, 3)
        assert weights.stated == (3, 3, 3)
        assert "(3, 3, 3; total 9)" in weights.notes[0]
        assert "(4, 3, 3; total 10)" in weights.notes[0]

    @pytest.mark.parametrize("odd", [0, -3, math.nan, -math.inf, "NaN", "inf", "-2", 10**400])
    def test_a_weight_that_is_no_share_counts_as_the_least(self, odd):
        weights = read_weights([5, odd, 5])
        assert weights.weights == (5, 1, 4)
        assert "criterion 2" in weights.notes[0]
        assert all(stated is None or math.isfinite(stated) for stated in weights.stated)

    @pytest.mark.parametrize(
        "odd", [None, "high", "", True, [3, 4], {"weight": 3}, "3 of 9", "3-4"]
    )
    def test_no_number_makes_the_set_unusable(self, odd):
        weights = read_weights([5, odd, 5])
        assert weights.weights == ()
        assert "criterion 2 has no readable weight" in weights.problem

    @pytest.mark.parametrize(
        "values",
        [["50%", "30 %", "20 percent"], [50, 30, 20], ["5/10", "3/10", "2/10"], [[5], "3", 2.0],
         ["weight: 5", "3 - hard", "2 points"], [0.5, 0.3, 0.2]],
    )  # fmt: skip
    def test_ways_to_state_five_three_two(self, values):
        assert read_weights(values).weights == (5, 3, 2)

    def test_per_cent_beside_plain_numbers_is_no_total(self):
        assert "per cent" in read_weights(["50%", 3, 2]).problem

    @given(st.lists(st.one_of(st.integers(-5, 50), st.floats(), st.text(max_size=4)), max_size=8))
    def test_either_ten_or_a_problem(self, values):
        weights = read_weights(values)
        assert bool(weights.problem) != (sum(weights.weights) == 10)


class TestReadScore:
    @pytest.mark.parametrize(
        "value",
        [
            4,
            4.0,
            "4",
            " 4 ",
            "4.0",
            "4/5",
            "4 / 5",
            "4.0/5.0",
            [4],
            "[4]",
            "score: 4",
            "**4**",
            "Score = 4/5",
            "4 - Good",
            "4 (mostly right)",
            "4 out of 5",
            "4 points",
            "４",
            "4: fine",
        ],
    )
    def test_four(self, value):
        assert read_score(value).score == 4

    @pytest.mark.parametrize(
        "value",
        [0, 6, -1, 4.5, True, "4.5", "4/10", "4-5", "4 or 5", "four", "good", {}, math.nan,
         math.inf, "٤", "80%", "4+", "4 - or five", "4, maybe 5", "4.5 - Good", [4, 5], [[4]],
         "3 of 4 steps", "2 wrong steps", "4 - half", "score: 4, score: 5", "4²"],
    )  # fmt: skip
    def test_none_is_guessed(self, value):
        score = read_score(value)
        assert score.score is None
        assert score.problem
        assert not score.declined

    def test_null_declines(self):
        assert all(read_score(value).declined for value in (None, "null", "N/A", "none", ""))

    @given(st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text()))
    def test_one_to_five_or_nothing(self, value):
        score = read_score(value)
        assert score.score in (None, 1, 2, 3, 4, 5)
        assert [score.score is not None, score.declined, bool(score.problem)].count(True) == 1


class TestIds:
    def test_named_by_place(self):
        assert short_ids(["b" * 24, "a" * 24]) == {"b" * 24: "c1", "a" * 24: "c2"}

    @pytest.mark.parametrize(
        "written", ["c2", "C2", " c2 ", "2", "#2", "`c2`", "criterion 2", "b" * 24, "b" * 8]
    )
    def test_ways_to_write_the_second(self, written):
        ids = ["a" * 24, "b" * 24]
        keyed = keyed_entries([{"id": written}], ids)
        assert [len(keyed.entries[id_]) for id_ in ids] == [0, 1]

    @pytest.mark.parametrize("written", ["c3", "3", "c0", "b" * 7, "c1 or c2", "", "c", "second"])
    def test_ways_to_write_nobody(self, written):
        keyed = keyed_entries([{"id": written}], ["a" * 24, "b" * 24])
        assert len(keyed.unknown) == 1

    def test_who_counts_from_nought_means_another_one(self):
        keyed = keyed_entries([{"id": 0}, {"id": 1}], ["a" * 24, "b" * 24])
        assert keyed.unknown == ("0", "1")

    def test_a_clashing_prefix_names_nobody(self):
        ids = ["abcdef0011" + "0" * 14, "abcdef0012" + "0" * 14]
        keyed = keyed_entries([{"id": "abcdef00"}, {"id": "abcdef0011"}], ids)
        assert keyed.unknown == ("abcdef00",)
        assert len(keyed.entries[ids[0]]) == 1
        assert len(keyed.entries[ids[1]]) == 0

    @pytest.mark.parametrize("items", [None, "x", 4, {}, [None, 3, "a" * 8], [{"id": None}], [{}]])
    def test_junk_names_nobody(self, items):
        keyed = keyed_entries(items, ["a" * 24])
        assert keyed.entries == {"a" * 24: ()}

    @given(st.lists(st.text("0123456789abcdef", min_size=24, max_size=24), unique=True, max_size=8))
    def test_short_ids_are_distinct_and_found_again(self, ids):
        short = short_ids(ids)
        assert len(set(short.values())) == len(ids)
        keyed = keyed_entries([{"id": s, "full": full} for full, s in short.items()], ids)
        assert all([e["full"] for e in keyed.entries[full]] == [full] for full in ids)


class TestReadCriteria:
    def rows(self, *questions):
        return [{"question": q, "ground_truth": "g", "weight": 1, "step": 1} for q in questions]

    @pytest.mark.parametrize("n", [2, 3, 5, 8])
    def test_counts_that_pass(self, n):
        found = read_criteria(self.rows(*(f"Q{i}" for i in range(n))), n_steps=1, n_pictures=1)
        assert len(found.drafts) == n
        assert sum(draft.weight for draft in found.drafts) == 10

    @pytest.mark.parametrize("n", [0, 1, 9, 40])
    def test_counts_that_do_not(self, n):
        found = read_criteria(self.rows(*(f"Q{i}" for i in range(n))), n_steps=1, n_pictures=1)
        assert found.drafts == ()
        assert f"{n} criteria" in found.problem

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("Which value has March?", "which value has  MARCH"),
            ("What’s shown?", "What's shown?"),
            ("Wieviel ﬁnden?", "wieviel finden"),
        ],
    )
    def test_two_spellings_of_a_question(self, one, other):
        assert normal_question(one) == normal_question(other)
        found = read_criteria(self.rows(one, "Else?", other), n_steps=1, n_pictures=1)
        assert found.problem == "criteria 1 and 3 ask the same question"

    def test_different_questions_differ(self):
        assert normal_question("Which value has May?") != normal_question("Which value has March?")
        assert normal_question("???") != normal_question("!!!")

    def test_too_long(self):
        assert "letters" in read_criteria(
            self.rows("Q" * 3000, "R"), n_steps=1, n_pictures=1
        ).problem  # fmt: skip
