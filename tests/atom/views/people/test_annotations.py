"""What stands of people's labels, and how far people agree, against other libraries and by hand."""

from __future__ import annotations

import math

import krippendorff
import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from atom.records import Annotation, RankedAnswer
from atom.views.people.annotations import agreement_of, conflicts, people_of, standing


def label(kind, subject, who, value=None, word="", *, third=False, skipped=False, ranks=(), at=""):
    return Annotation(
        id=f"{kind}-{subject}-{who}",
        study_id="s",
        kind=kind,
        subject_id=subject,
        annotator=who,
        value=value,
        label=word,
        ranks=tuple(RankedAnswer(response_id=name, rank=rank) for name, rank in ranks),
        adjudicates=third,
        state="skipped" if skipped else "given",
        created=at,
    )


def stands(*labels):
    (one,) = standing(labels).values()
    return one.state, one.value


def test_one_persons_label_stands():
    assert stands(label("score", "k", "a", 4)) == ("single", 4)


def test_scores_a_point_apart_are_agreed_and_their_mean_stands():
    # (3 + 4) / 2
    assert stands(label("score", "k", "a", 3), label("score", "k", "b", 4)) == ("agreed", 3.5)


def test_scores_further_apart_are_a_conflict_until_a_third_speaks():
    two = (label("score", "k", "a", 2), label("score", "k", "b", 4))
    assert stands(*two) == ("conflict", None)
    assert list(conflicts(two)) == [("score", "k")]
    assert stands(*two, label("score", "k", "c", 5, third=True)) == ("adjudicated", 5)
    assert not conflicts((*two, label("score", "k", "c", 5, third=True)))


def test_the_last_word_of_a_third_counts():
    labels = [
        label("score", "k", "a", 1),
        label("score", "k", "b", 5),
        label("score", "k", "d", 2, third=True, at="2026-02"),
        label("score", "k", "c", 4, third=True, at="2026-01"),
    ]
    assert stands(*labels) == ("adjudicated", 2)


def test_one_to_three_must_be_equal():
    pair = label("necessity", "c", "a", 2), label("necessity", "c", "b", 3)
    assert stands(*pair) == ("conflict", None)


def test_skips_say_nothing():
    assert standing([label("score", "k", "a", skipped=True)]) == {}
    both = label("score", "k", "a", skipped=True), label("score", "k", "b", 1)
    assert stands(*both) == ("single", 1)


def test_leaves_are_compared_by_their_path_not_their_writing():
    labels = [
        label("mapping", "c", "a", word="Perception › Object › Counting"),
        label("mapping", "c", "b", word="perception > object >  counting"),
    ]
    assert standing(labels)["mapping", "c"].state == "agreed"
    other = label("mapping", "c", "c", word="Perception › Object")
    assert standing([*labels, other])["mapping", "c"].state == "conflict"


def test_rankings_are_compared_by_order_not_by_numbers():
    one = label("ranking", "s", "a", ranks=[("x", 1), ("y", 1), ("z", 3)])
    same = label("ranking", "s", "b", ranks=[("z", 2), ("x", 1), ("y", 1)])
    other = label("ranking", "s", "b", ranks=[("x", 1), ("y", 2), ("z", 3)])
    assert standing([one, same])["ranking", "s"].state == "agreed"
    assert standing([one, other])["ranking", "s"].state == "conflict"


def test_agreement_of_scores_equals_the_libraries():
    rng = np.random.default_rng(5)
    first = rng.integers(1, 6, 60)
    second = np.clip(first + rng.integers(-1, 2, 60), 1, 5)
    labels = [label("score", str(at), "a", int(v)) for at, v in enumerate(first)]
    labels += [label("score", str(at), "b", int(v)) for at, v in enumerate(second) if at < 50]
    found = agreement_of(labels, "score")
    assert (found.people, found.labels, found.both) == (2, 110, 50)
    assert found.exact == pytest.approx((first[:50] == second[:50]).mean())
    assert found.kappa == pytest.approx(cohen_kappa_score(first[:50], second[:50]))
    ratings = np.full((2, 60), np.nan)
    ratings[0], ratings[1, :50] = first, second[:50]
    expected = krippendorff.alpha(
        reliability_data=ratings, level_of_measurement="ordinal", value_domain=[1, 2, 3, 4, 5]
    )
    assert found.alpha == pytest.approx(expected, abs=1e-9)


def test_agreement_of_words_is_nominal():
    words = [("b", "b"), ("a", "a"), ("c", "b"), ("a", "c"), ("a", "a"), ("b", "a")]
    labels = [
        label("error_type", str(at), who, word=word)
        for at, pair in enumerate(words)
        for who, word in zip("xy", pair, strict=True)
    ]
    found = agreement_of(labels, "error_type")
    assert found.exact == pytest.approx(3 / 6)
    assert found.kappa == pytest.approx(cohen_kappa_score(*zip(*words, strict=True)))
    codes = [["abc".index(pair[side]) for pair in words] for side in (0, 1)]
    expected = krippendorff.alpha(reliability_data=codes, level_of_measurement="nominal")
    assert found.alpha == pytest.approx(expected, abs=1e-9)
    assert found.conflicts == 3


def test_agreement_of_rankings_is_over_pairs():
    labels = [
        label("ranking", "s", "a", ranks=[("x", 1), ("y", 2), ("z", 3)]),
        label("ranking", "s", "b", ranks=[("x", 1), ("y", 3), ("z", 2)]),
    ]
    found = agreement_of(labels, "ranking")
    # xy and xz alike, yz not.
    assert found.both == 3
    assert found.exact == pytest.approx(2 / 3)


def test_a_third_is_no_rater_and_nobody_is_no_agreement():
    labels = [label("score", "k", "a", 1), label("score", "k", "b", 5)]
    settled = agreement_of([*labels, label("score", "k", "c", 5, third=True)], "score")
    assert (settled.people, settled.settled, settled.conflicts) == (2, 1, 0)
    alone = agreement_of(labels[:1], "score")
    assert alone.both == 0
    assert math.isnan(alone.kappa)
    assert math.isnan(alone.alpha)
    assert people_of([*labels, labels[1]]) == ("b", "a")
