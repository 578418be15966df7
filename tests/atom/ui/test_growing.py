"""The picture of a growing tree: its names can be read."""

from __future__ import annotations

import re

import pytest

from atom.ui.tree.growing import picture
from atom.views.tree.growth import GrowthNode, GrowthView
from taxonomy import Node, Tree

LETTER = 9.0
"""Width of a letter at 18 px, about."""
LEAVES = ("Legend mapping", "Chart type", "Unit label", "Column lookup")


def view(*places: tuple[float, float], fresh: bool = True) -> GrowthView:
    """Make a tree of one root with leaves at these places."""
    root = GrowthNode(path=("Understanding",), x=0.1, y=0.1, criteria=40, root=1, fresh=False)
    leaves = tuple(
        GrowthNode(path=("Understanding", "Charts", "Parts", name), x=x, y=y, criteria=10, root=1,
                   fresh=fresh)
        for name, (x, y) in zip(LEAVES, places, strict=False)
    )  # fmt: skip
    middle = GrowthNode(path=(), x=0, y=0, criteria=40, root=-1, fresh=False)
    return GrowthView(
        nodes=(middle, root, *leaves), edges=(), leaves=len(leaves), placed=0, added=0, united=0,
        pruned=0, events=(), tree=Tree(name="t", roots=(Node(name="Understanding", meaning="."),)),
        n_edits=0, places={},
    )  # fmt: skip


def drawn(markup: str):
    """Return dots as (x, y, radius) and names as (words, left, right, y, is led)."""
    group = r'<g[^>]*style="transform:translate\(([-\d.]+)px,([-\d.]+)px\)">(.*?)</g>'
    dots, names = [], []
    for x, y, inner in re.findall(group, markup):
        radii = [float(one) for one in re.findall(r'<circle r="([\d.]+)"', inner)]
        if radii:
            dots.append((float(x), float(y), max(radii)))
        text = re.search(
            r'<text x="([-\d.]+)" y="([-\d.]+)" text-anchor="(\w+)"[^>]*>(.*?)<', inner
        )
        if text:
            at, foot = float(x) + float(text[1]), float(y) + float(text[2]) - 5
            wide = LETTER * len(text[4])
            left = at if text[3] == "start" else at - wide
            names.append((text[4], left, left + wide, foot, "<line" in inner))
    return dots, names


@pytest.mark.parametrize("fresh", [True, False])
@pytest.mark.parametrize(
    "places",
    [
        ((0.8, -0.5), (0.86, -0.48)),
        ((0.8, -0.5), (0.86, -0.5), (0.92, -0.5)),
        ((-0.8, 0.5), (-0.87, 0.51)),
        ((0.6, -0.6), (0.66, -0.55), (0.7, -0.65), (0.74, -0.6)),
    ],
)
def test_names_stand_on_no_dot_and_no_other_name(places, fresh):
    dots, names = drawn(str(picture(view(*places, fresh=fresh))))
    assert len(names) == len(places) + 1
    for words, left, right, y, _ in names:
        over = [d for d in dots if left < d[0] + d[2] and d[0] - d[2] < right
                and abs(d[1] - y) < d[2] + 6]  # fmt: skip
        assert not over, words
        assert not [w for w, a, b, v, _ in names if w != words and a < right and left < b
                    and abs(v - y) < 18]  # fmt: skip


def test_a_name_away_from_its_dot_is_led_to_it():
    dots, names = drawn(str(picture(view((0.6, -0.6), (0.66, -0.6), (0.72, -0.6)))))
    ys = {round(y) for _, y, _ in dots}
    assert {led for *_, y, led in names if round(y) in ys} == {False}
    assert {led for *_, y, led in names if round(y) not in ys} == {True}
