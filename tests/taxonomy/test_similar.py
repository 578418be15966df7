import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taxonomy.similar import SimilarPair, TextVectors

NAMES = ["Reading scales", "Scale reading", "Counting objects", "Object counting", "Honesty"]


def test_names_of_the_same_words_are_nearest():
    pairs = TextVectors(NAMES).pairs(1, 0.1)
    assert [(near.first, near.second) for near in pairs] == [(2, 3), (0, 1)]
    assert all(0.5 < near.similarity <= 1 for near in pairs)


def test_other_texts_find_their_nearest():
    assert TextVectors(NAMES).nearest(["reading of a scale", "", "xyz"], 2, 0.1) == [[1, 0], [], []]


def test_equal_texts_have_cosine_one_and_empty_ones_none():
    texts = TextVectors(["Dial", "dial", ""])
    assert texts.row(0) == pytest.approx([1, 1, 0])
    assert texts.pairs(3) == [SimilarPair(similarity=pytest.approx(1.0), first=0, second=1)]


def test_no_texts():
    assert TextVectors([]).pairs(3) == []
    assert TextVectors([]).nearest(["a word"], 3) == [[]]
    assert len(TextVectors([])) == 0


def test_vectors_of_a_model_are_used_where_there_are_some():
    vectors = np.array([[1, 0], [0, 2], [3, 0.1]], dtype=np.float32)
    (near,) = TextVectors(["a", "b", "c"], vectors).pairs(1, 0.5)
    # cos((1, 0), (3, .1)) = 3 / sqrt(9.01)
    assert (near.first, near.second) == (0, 2)
    assert near.similarity == pytest.approx(3 / np.sqrt(9.01))


@given(st.lists(st.text(max_size=30), max_size=12), st.integers(1, 4))
def test_pairs_are_few_ordered_and_within_bounds(texts, k):
    pairs = TextVectors(texts).pairs(k)
    assert len(pairs) <= k * len(texts) + len(texts)
    assert all(near.first < near.second for near in pairs)
    assert all(0 < near.similarity <= 1 + 1e-9 for near in pairs)
    assert len({(near.first, near.second) for near in pairs}) == len(pairs)
    assert pairs == sorted(pairs, key=lambda n: (-n.similarity, n.first, n.second))


def test_blocks_make_no_difference(monkeypatch):
    texts = [f"{a} {b}" for a in ("read", "count", "name") for b in ("bar", "dial", "bars")]
    whole = TextVectors(texts).pairs(3)
    monkeypatch.setattr("taxonomy.similar._BLOCK", 2)
    assert TextVectors(texts).pairs(3) == whole
