"""The planted leaf told from words alone, and how loosely a judge may name it."""

from collections import Counter

import pytest

from atom.probes import naming
from atom.probes.rival_names import RIVAL_NAMES
from atom.probes.worlds import leaves as at
from atom.probes.worlds.make import FAMILIES, TEMPLATES, make_probe
from taxonomy import load_anchors, load_rival

CHART = (
    "By how many MWh do Wind and Hydro differ in Jan, and which is larger? Say which colour "
    "stands for Wind, and give both values."
)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_every_criterion_of_every_template_is_told(family):
    for template in TEMPLATES[family]:
        for index in range(4):
            program = make_probe(family, 31, index, template=template).program
            told = [naming.planted_leaf(program.question, s.question) for s in program.steps]
            assert told == [step.leaf for step in program.steps], (template, program.question)


def test_every_leaf_has_its_names_and_no_name_means_two():
    assert set(naming.LOOSE_NAMES) == set(load_anchors().leaves)
    names = Counter(
        name.casefold()
        for leaf, others in naming.LOOSE_NAMES.items()
        for name in (leaf[-1], *others)
    )
    assert {name for name, count in names.items() if count > 1} == set()


def test_equal_words_are_told_apart_by_the_question():
    assert naming.planted_leaf(CHART, "What value does Wind reach in Jan?") == at.MARK_HEIGHT
    assert naming.planted_leaf(CHART, "What value does Hydro reach in Jan?") == at.AXIS_VALUE


@pytest.mark.parametrize(
    ("question", "criterion"),
    [
        ("", ""),
        (CHART, "What is the capital of France?"),
        (CHART, "What value does Solar reach in Jan?"),
        ("Is it a chart?", "What value does Wind reach in Jan?"),
        (CHART * 20, "What value does Wind reach in Jan?"),
        (CHART, "What value does Wind reach in " + "Jan " * 500 + "?"),
    ],
)
def test_other_words_are_not(question, criterion):
    assert naming.planted_leaf(question, criterion) is None
    assert naming.loose_name(question, criterion, "") is None


def test_loose_names_vary_and_one_in_ten_is_of_another_leaf():
    asked = "What value does Wind reach in Jan?"
    named = [naming.loose_name(CHART, asked, str(number)) for number in range(2000)]
    meant = [naming.meant_leaf(name) for name in named]
    wrong = sum(leaf != at.MARK_HEIGHT for leaf in meant)
    assert None not in meant
    # 2000 draws at 10 %: sd 13.4
    assert abs(wrong - 200) < 55
    right = Counter(name for name, leaf in zip(named, meant, strict=True) if leaf == at.MARK_HEIGHT)
    assert len(right) == 4
    assert min(right.values()) > 350
    assert naming.loose_name(CHART, asked, "7") == named[7]


def test_the_leaf_is_found_among_those_on_offer():
    text = naming.SEPARATOR.join
    loose = (*at.NEEDLE[:3], "Pointer reading")
    assert naming.choose_leaf(at.NEEDLE, [text(loose), text(at.NEEDLE)]) == text(at.NEEDLE)
    assert naming.choose_leaf(at.NEEDLE, [text(at.DIGITS), text(loose)]) == text(loose)
    # Gone from the tree: the nearest relative takes it, and nobody when none is near.
    assert naming.choose_leaf(at.NEEDLE, [text(at.MARK_HEIGHT), text(at.ZONE)]) == text(at.ZONE)
    assert naming.choose_leaf(at.NEEDLE, [text(at.DIGITS)]) is None
    assert naming.choose_leaf(at.NEEDLE, []) is None


def test_what_means_the_same():
    loose = (*at.NEEDLE[:3], "Pointer reading")
    assert naming.mean_the_same(at.NEEDLE, loose)
    assert not naming.mean_the_same(at.NEEDLE, at.ZONE)
    assert not naming.mean_the_same(at.NEEDLE, ("Perception", "X", "Y", "Unknown name"))
    assert naming.mean_the_same(("Perception", "Object"), ("Perception", "object"))
    assert not naming.mean_the_same(("Perception", "Object"), ("Knowledge", "Object"))
    assert not naming.mean_the_same(("Perception",), ("Perception", "Perception"))


def test_the_loose_judge_misses_some():
    pairs = [
        ((*leaf[:3], one), (*leaf[:3], other))
        for leaf, names in naming.LOOSE_NAMES.items()
        for one in names
        for other in names
        if one != other
    ]
    missed = sum(not naming.loosely_the_same(*pair) for pair in pairs) / len(pairs)
    assert missed == pytest.approx(naming.MISSED_SAME, abs=0.06)


def test_every_planted_leaf_has_a_name_in_the_rivals_or_none_at_all():
    rivals = [load_rival(name) for name in ("hand_made", "generalist")]
    last = [{leaf[-1] for leaf in tree.leaves} for tree in rivals]
    assert RIVAL_NAMES.keys() == naming.LOOSE_NAMES.keys()
    for names in RIVAL_NAMES.values():
        # At most one of each rival, and no name that neither has.
        assert all(len(there & set(names)) <= 1 for there in last)
        assert set(names) <= last[0] | last[1]
    offered = [naming.SEPARATOR.join(leaf) for leaf in rivals[0].leaves]
    assert naming.choose_leaf(at.NEEDLE, offered).endswith("Dials and gauges")
    # Textbooks of computer vision have no sums.
    assert naming.choose_leaf(at.DIFFERENCE, offered) is None
