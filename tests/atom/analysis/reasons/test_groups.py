import time

import numpy as np
import pytest
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score

from atom.analysis.reasons.groups import LEAST_REASONS, GroupCountTrial, group_reasons
from atom.analysis.reasons.naming import kind_of, telling_terms
from tests.atom.analysis.reasons.planted import WORDINGS, planted, shuffled


@pytest.fixture(scope="module")
def world():
    texts, kinds = planted(900)
    return texts, kinds, group_reasons(texts)


def test_planted_kinds_are_found_again(world):
    _, kinds, found = world
    assert found.none is None
    assert adjusted_mutual_info_score(kinds, found.code) > 0.7
    # No group mixes kinds: a group's reasons are of one kind to at least .8.
    pure = [np.bincount(kinds[found.code == at]).max() for at in range(found.k)]
    assert sum(pure) / len(kinds) > 0.8
    rng = np.random.default_rng(0)
    assert abs(adjusted_rand_score(rng.permutation(kinds), found.code)) < 0.02


def test_groups_are_named_by_their_kind(world):
    texts, kinds, found = world
    names = list(WORDINGS)
    hits = 0
    for at in range(found.k):
        mine = found.code == at
        hits += (
            kind_of([texts[one] for one in np.flatnonzero(mine)])
            == names[int(np.bincount(kinds[mine]).argmax())]
        )
    assert hits >= found.k - 1
    assert all(telling_terms(texts, found.code))


def test_the_same_reasons_give_the_same_groups(world):
    texts, _, found = world
    again = group_reasons(texts)
    assert (again.code == found.code).all()
    assert again.tried == found.tried
    sizes = np.bincount(found.code)
    assert (sizes[1:] <= sizes[:-1]).all()


@pytest.mark.slow
def test_words_that_are_dealt_out_anew_fall_into_no_groups(world):
    found = group_reasons(shuffled(world[0]))
    assert (found.none, found.k) == ("loose", 0)
    assert len(found.tried) > 5
    assert not any(one.possible for one in found.tried)


def test_few_or_silent_reasons_are_not_grouped():
    assert group_reasons(["not mentioned"] * (LEAST_REASONS - 1)).none == "few"
    assert group_reasons([""] * 40 + ["not mentioned"] * 30).none == "silent"
    assert group_reasons(["not mentioned"] * 100).none == "loose"
    assert group_reasons([]).none == "few"


def test_a_reason_without_words_is_in_no_group(world):
    texts, _, _ = world
    found = group_reasons([*texts[:400], "", "the is"])
    assert found.code[-2:].tolist() == [-1, -1]
    assert (found.code[:-2] >= 0).all()


@pytest.mark.slow
def test_vectors_stand_in_for_words(world):
    texts, kinds, _ = world
    rng = np.random.default_rng(4)
    named = [f"{text} {at}" for at, text in enumerate(texts)]
    near = np.eye(5)[kinds] + rng.normal(0, 0.1, (len(kinds), 5))
    found = group_reasons(named, vectors=dict(zip(named, near, strict=True)))
    assert adjusted_rand_score(kinds, found.code) > 0.95
    noise = dict(zip(named, rng.normal(size=(300, 20)), strict=False))
    assert group_reasons(named[:300], vectors=noise).none == "loose"
    # One text without a vector is in no group; without any, nothing is grouped.
    some = group_reasons([*named, "never asked for"], vectors=dict(zip(named, near, strict=True)))
    assert (some.code[:-1].tolist(), int(some.code[-1])) == (found.code.tolist(), -1)
    assert group_reasons(named, vectors={}).none == "silent"


def test_the_rule_asks_for_more_than_chance_and_for_stability():
    assert GroupCountTrial(k=3, silhouette=0.2, chance=0.1, stability=0.4).possible
    assert not GroupCountTrial(k=3, silhouette=0.14, chance=0.1, stability=1.0).possible
    assert not GroupCountTrial(k=3, silhouette=0.9, chance=0.1, stability=0.2).possible


@pytest.mark.slow
def test_fifty_thousand_reasons_take_seconds():
    texts, kinds = planted(50_000)
    before = time.process_time()
    found = group_reasons(texts)
    telling_terms(texts, found.code)
    assert time.process_time() - before < 15
    assert adjusted_mutual_info_score(kinds[:5000], found.code[:5000]) > 0.6
