"""Rival groupings: each groups what is alike, and none is surprised by odd input."""

from __future__ import annotations

import numpy as np
import pytest

from atom.analysis.capability.partitions import adjusted_rand
from atom.analysis.capability.rivals import (
    by_chance,
    by_picture,
    by_text,
    by_words,
    k_means,
    picture_features,
    pieces,
    renumber,
    text_matrix,
)
from taxonomy import Node, Tree, load_rival


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("name", ["hand_made", "generalist"])
def test_the_written_rivals_are_four_layers_with_a_meaning_for_each_leaf(name):
    tree = load_rival(name)
    assert 30 <= len(tree.leaves) <= 60
    assert all(len(leaf) == 4 for leaf in tree.leaves)
    assert all(tree.node(leaf).meaning for leaf in tree.leaves)


def test_pieces_are_words_and_letters():
    # "the" is too common; "bar" gives ^ba, bar, ar$.
    assert pieces("The bar!") == ["bar", "#^ba", "#bar", "#ar$"]


def test_rows_of_the_text_matrix_have_length_one():
    matrix = text_matrix(["red ball", "blue cube cube", "  "])
    length = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    assert length.tolist() == pytest.approx([1, 1, 0])


def test_a_criterion_goes_to_the_leaf_whose_words_it_shares():
    tree = Tree("T", (Node("A", "", (Node("Clocks", "Read the hands of a clock."),
                                      Node("Colour", "Name the colour."))),))  # fmt: skip
    texts = ["Which colour has the ball? red", "What time do the hands show? 3:15", "???"]
    assert by_words(texts, tree).tolist() == [1, 0, -1]
    assert by_words([], tree).tolist() == []


def test_texts_are_grouped_by_wording():
    kinds = ["How high is bar {}?", "Which colour is the ball number {}?", "What is the sum of {}?"]
    texts = [kind.format(n) for kind in kinds for n in range(12)]
    truth = [kind for kind in kinds for _ in range(12)]
    assert adjusted_rand(by_text(texts, 3, rng()).tolist(), truth) == 1
    assert by_text(["same"] * 5, 3, rng()).tolist() == [0] * 5
    assert by_text([], 3, rng()).tolist() == []


def test_pictures_are_grouped_by_look():
    def picture(kind, noise):
        pixels = np.full((40, 60, 3), 255, dtype=np.uint8)
        if kind:
            pixels[:, :30] = (200, 30, 30)
        else:
            pixels[20:] = (30, 30, 200)
        pixels[noise % 40, noise % 60] = 0
        return picture_features(pixels)

    features = np.array([picture(n % 2, n) for n in range(20)])
    assert features.shape == (20, 320)
    found = by_picture(features, 2, rng())
    assert adjusted_rand(found.tolist(), [n % 2 for n in range(20)]) == 1


def test_another_order_of_the_same_things_gives_the_same_groups():
    """Walk A8: once a copied study had another verdict on the same tree."""
    shuffled = rng(3).permutation(60)
    points = rng(1).standard_normal((60, 320))
    texts = [f"word{n % 7} thing{n % 11} of {n}" for n in range(60)]
    for group, things in ((by_picture, points), (by_text, texts)):
        one = group(things, 9, rng())
        other = group([things[n] for n in shuffled] if things is texts else things[shuffled],
                      9, rng())  # fmt: skip
        assert adjusted_rand(one[shuffled].tolist(), other.tolist()) == 1


@pytest.mark.parametrize("shape", [(64, 64), (33, 70), (17, 31)])
def test_a_picture_s_layout_is_the_means_of_its_blocks(shape):
    """Blocks are as even as they come: of 33 rows one has three and fifteen have two."""
    pixels = rng().integers(0, 256, (*shape, 3), dtype=np.uint8)
    grey = pixels @ np.array([0.299, 0.587, 0.114])
    means = np.array([[block.mean() for block in np.array_split(row, 16, axis=1)]
                      for row in np.array_split(grey, 16, axis=0)]).ravel()  # fmt: skip
    centred = means - means.mean()
    assert picture_features(pixels)[:256] == pytest.approx(centred / np.linalg.norm(centred))


@pytest.mark.parametrize("shape", [(1, 1), (3, 500), (16, 16), (700, 5)])
def test_odd_pictures_have_features(shape):
    features = picture_features(np.full((*shape, 3), 7, dtype=np.uint8))
    assert features.shape == (320,)
    assert np.isfinite(features).all()


def test_k_means_numbers_groups_without_gaps():
    points = np.array([[0.0], [0.1], [9.0], [9.1], [9.2]])
    group = k_means(points, 4, rng())
    assert sorted(set(group.tolist())) == list(range(len(set(group.tolist()))))
    assert k_means(points, 99, rng()).max() <= 4
    assert len(set(k_means(np.zeros((6, 2)), 3, rng()).tolist())) == 1
    assert k_means(np.zeros((0, 2)), 3, rng()).tolist() == []


def test_chance_keeps_the_sizes():
    group = np.array([0, 0, 0, 1, 2, -1])
    assert sorted(by_chance(group, rng()).tolist()) == sorted(group.tolist())


def test_equal_seeds_give_equal_groups():
    texts = [f"criterion {n} {'bar' if n % 3 else 'clock'}" for n in range(30)]
    assert by_text(texts, 4, rng(3)).tolist() == by_text(texts, 4, rng(3)).tolist()


def test_groups_are_numbered_by_appearance():
    assert renumber(["b", None, "a", "b"]).tolist() == [0, -1, 1, 0]
