"""Which capability a probe's criterion tests, told from its words alone.

A tree is grown from thousands of criteria without their pictures. The families write questions and
sub-questions from fixed templates; these are listed here, with the leaf of each, so that the probe
judge can name the planted leaf of any criterion whose texts a family has written, and of no other.
A slot in braces takes any words; one with a name takes what it took in the sample's question.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from atom.probes.answers.reading import same_words
from atom.probes.draws import Draws
from atom.probes.rival_names import RIVAL_NAMES
from atom.probes.worlds import leaves as at
from atom.probes.worlds.leaves import Leaf
from taxonomy.path import shared_depth

SEPARATOR: Final = " › "
WRONG_LEAF: Final = 0.10
"""The judge with loose names puts a criterion on another ability this often."""
MISSED_SAME: Final = 0.08
"""It calls two names of one ability different this often."""
FALSE_SAME: Final = 0.01
"""It calls two abilities the same this often."""
_LONGEST = 1000
_SLOT = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, kw_only=True)
class _Template:
    question: str
    steps: tuple[tuple[str, Leaf], ...]


_TEMPLATES: Final = (
    _Template(
        question=(
            "By how many {_} do {a} and {b} differ in {_}, and which is larger? Say which colour "
            "stands for {_}, and give both values."
        ),
        steps=(
            ("Which colour stands for {_} in the legend?", at.LEGEND),
            ("What value does {a} reach in {_}?", at.MARK_HEIGHT),
            ("What value does {b} reach in {_}?", at.AXIS_VALUE),
            ("Which of {_} and {_} is larger in {_}?", at.LARGEST),
            ("By how much do {_} and {_} differ in {_}?", at.DIFFERENCE),
        ),
    ),
    _Template(
        question=(
            "Which colour is {_}, in which month does it peak and at what value? In how many "
            "months is it above {_}?"
        ),
        steps=(
            ("Which colour stands for {_} in the legend?", at.LEGEND),
            ("In which month does {_} peak?", at.LARGEST),
            ("What is the value of {_} at its peak?", at.AXIS_VALUE),
            ("In how many months is {_} above {_}?", at.FILTER_COUNT),
        ),
    ),
    _Template(
        question=(
            "What type of chart is this and in which unit? Does {_} rise or fall from {_} to {_}? "
            "Close with a caption that names both series."
        ),
        steps=(
            ("What type of chart is it?", at.CHART_TYPE),
            ("In which unit are the values given?", at.UNIT_LABEL),
            ("Does {_} rise or fall from {_} to {_}?", at.TREND),
            ("Which two series does a complete caption have to name?", at.DESCRIPTION),
        ),
    ),
    _Template(
        question=(
            "Check this receipt: what is the price of {_}, how many were bought and what does "
            "that line come to? Is the printed total correct or wrong?"
        ),
        steps=(
            ("What is the price of each {_} item?", at.DIGITS),
            ("How many of {_} were bought?", at.COLUMN),
            ("What does the {_} line come to?", at.PRODUCT),
            ("Is the printed total correct or wrong?", at.PRINTED_TOTAL),
        ),
    ),
    _Template(
        question=(
            "In which row and column do you find {_} and {_}, and what is printed there? "
            "Which {_} has the largest value under {_}?"
        ),
        steps=(
            ("In which row from the top (below the header) is {_}?", at.ROW),
            ("Which column of figures from the left is {_}?", at.COLUMN),
            ("Which value is printed for {_} under {_}?", at.DIGITS),
            ("Which {_} has the largest value under {_}?", at.LARGEST),
        ),
    ),
    _Template(
        question=(
            "Under {_}, by how much do {a} and {b} differ? Give both values, and name the {_} "
            "whose value is missing there."
        ),
        steps=(
            ("For which {_} is no value printed under {_}?", at.ABSENT),
            ("Which value is printed for {a} under {_}?", at.ROW),
            ("Which value is printed for {b} under {_}?", at.DIGITS),
            ("By how much do {_} and {_} differ under {_}?", at.DIFFERENCE),
        ),
    ),
    _Template(
        question="What is the {_} of {_}, in which unit is it given, and how much is that in {_}?",
        steps=(
            ("Which {_} is printed for {_}?", at.DIGITS),
            ("In which unit is the {_} given?", at.UNIT_LABEL),
            ("How much is that in {_}?", at.UNITS),
        ),
    ),
    _Template(
        question=(
            "How many {_} lie between the needle's reading and the start of the red zone? Give "
            "the smallest division, the reading and the start of the zone as well."
        ),
        steps=(
            ("What is the value of the smallest division on the dial?", at.SCALE),
            ("What value does the needle show?", at.NEEDLE),
            ("At which value does the red zone start?", at.ZONE),
            ("How far is the reading from the start of the red zone?", at.DIFFERENCE),
        ),
    ),
    _Template(
        question=(
            "The {_} is over the limit when the needle stands in the red zone. Name the unit, the "
            "end of the scale and the reading. Is the {_} within limits or over the limit?"
        ),
        steps=(
            ("In which unit is the dial marked?", at.UNIT_LABEL),
            ("What is the largest value on the scale?", at.SCALE),
            ("What value does the needle show?", at.NEEDLE),
            ("What does the red zone say about the {_}?", at.LIMITS),
        ),
    ),
    _Template(
        question=(
            "What time will this clock show {_} minutes later? Say first where each hand stands "
            "and what time it shows now."
        ),
        steps=(
            ("Which hour has the short hand passed last?", at.HOUR_HAND),
            ("How many minutes does the long hand show?", at.MINUTE_HAND),
            ("What time do both hands show together?", at.COMBINE_HANDS),
            ("What time will it be {_} minutes later?", at.TIME_SUM),
        ),
    ),
    _Template(
        question=(
            "It is afternoon. Which number is the Roman numeral that the long hand points at, "
            "where do both hands stand, and what is the time in 24-hour form?"
        ),
        steps=(
            (
                "For which number does the Roman numeral at the tip of the long hand stand?",
                at.NUMERALS,
            ),
            ("Which hour has the short hand passed last?", at.HOUR_HAND),
            ("How many minutes does the long hand show?", at.MINUTE_HAND),
            ("What time do both hands show together?", at.COMBINE_HANDS),
            ("It is afternoon: what is the time in 24-hour form?", at.TIME_FORMAT),
        ),
    ),
    _Template(
        question=(
            "How large is the {_} at {_} (marked with a question mark), in degrees? Give the "
            "angles at {_} and {_} first, and the theorem that you use."
        ),
        steps=(
            ("Which angle is printed at {_}?", at.DIGITS),
            ("Which angle do the {_} imply at {_}?", at.FIGURE_MARKS),
            ("Which theorem gives the unknown angle from these?", at.GEOMETRY),
            ("How large is the {_} at {_}?", at.DIFFERENCE),
        ),
    ),
    _Template(
        question=(
            "What is the area of this {_}, and in which unit? Give the {a}, the {b} and the "
            "formula that you use."
        ),
        steps=(
            ("How long is the {a}?", at.DIGITS),
            ("How long is the {b}?", at.FIGURE_MARKS),
            ("Which formula gives the area of the {_}?", at.GEOMETRY),
            ("How large is the area?", at.PRODUCT),
            ("In which unit is the area measured?", at.UNITS),
        ),
    ),
    _Template(
        question=(
            "Where is the {_}, how many objects are there in total, and how many of them are left "
            "of the {_}? How many of those are {_}?"
        ),
        steps=(
            ("In which part of the picture is the {_}?", at.FIND),
            ("How many objects are there in total?", at.COUNT_ALL),
            ("How many objects are left of the {_}?", at.RELATION),
            ("How many of those are {_}?", at.FILTER_COUNT),
        ),
    ),
    _Template(
        question=(
            "Find the {_}. Which object has its centre nearest to it: name its colour and its "
            "shape. Which of the colours {_} is absent from the picture?"
        ),
        steps=(
            ("In which part of the picture is the {_}?", at.FIND),
            ("Which colour has the object nearest to the {_}?", at.COLOUR),
            ("Which shape has the object nearest to the {_}?", at.SHAPE),
            ("Which of {_} has no object at all?", at.ABSENT),
        ),
    ),
    _Template(
        question=(
            "One object is partly hidden behind another. Which one is in front, which one is "
            "partly hidden, and which object in the picture is the tallest as drawn?"
        ),
        steps=(
            ("Which object is partly hidden?", at.OCCLUSION),
            ("Which object stands in front of another one and hides part of it?", at.RELATION),
            ("Which object is the tallest as drawn?", at.LARGEST),
        ),
    ),
    _Template(
        question=(
            "One object differs between the first and the second picture. Which one (as seen in "
            "the first picture) and what kind of change is it ({_})? What {_} did it have before, "
            "and what {_} does it have after?"
        ),
        steps=(
            ("Which object, as seen in the first picture, was changed?", at.CHANGED_OBJECT),
            ("What kind of change is it?", at.CHANGE_TYPE),
            ("What {_} does the object have in the first picture?", at.STATE_BEFORE),
            ("What {_} does the object have in the second picture?", at.STATE_AFTER),
        ),
    ),
    _Template(
        question=(
            "How many changes are there from the first picture to the second? List the kinds of "
            "change ({_}), and say which of these stayed the same: {_}."
        ),
        steps=(
            ("How many changes are there?", at.FILTER_COUNT),
            ("Which kinds of change does a complete list hold?", at.DESCRIPTION),
            ("Which of these was not changed: {_}?", at.UNCHANGED),
        ),
    ),
)

LOOSE_NAMES: Final[Mapping[Leaf, tuple[str, ...]]] = {
    at.MARK_HEIGHT: ("Bar height reading", "Height of a mark", "Point height"),
    at.AXIS_VALUE: ("Value on the axis", "Between gridlines", "Estimating on an axis"),
    at.NEEDLE: ("Pointer reading", "Dial value", "Reading a needle"),
    at.ZONE: ("Zone start", "Coloured zone limit", "Start of the red zone"),
    at.HOUR_HAND: ("Short hand", "Reading the hour", "Hour reading"),
    at.MINUTE_HAND: ("Long hand", "Reading the minutes", "Minute reading"),
    at.DIGITS: ("Printed numbers", "Number reading", "Reading digits"),
    at.COLOUR: ("Object colour", "Hue naming", "Naming a colour"),
    at.SHAPE: ("Object shape", "Form recognition", "Naming a shape"),
    at.FIND: ("Locating an object", "Object search", "Where an object is"),
    at.COUNT_ALL: ("Total count", "Counting objects", "Number of objects"),
    at.OCCLUSION: ("Hidden object", "Partly covered object", "What is covered"),
    at.LEGEND: ("Legend lookup", "Colour key", "Using the legend"),
    at.CHART_TYPE: ("Kind of chart", "Chart form", "Recognising the chart type"),
    at.ROW: ("Finding the row", "Table row", "Row search"),
    at.COLUMN: ("Finding the column", "Table column", "Column search"),
    at.UNIT_LABEL: ("Unit of measure label", "Printed unit", "Reading the unit"),
    at.SCALE: ("Dial graduation", "Divisions of a dial", "Scale steps"),
    at.COMBINE_HANDS: ("Telling the time", "Both hands together", "Clock time"),
    at.FIGURE_MARKS: ("Marks in a figure", "Geometric notation", "Equal side marks"),
    at.RELATION: ("Spatial relation", "Left or right of", "Position between objects"),
    at.CHANGED_OBJECT: ("Which object changed", "Difference spotting", "Object that differs"),
    at.CHANGE_TYPE: ("Kind of change", "Type of difference", "Nature of a change"),
    at.STATE_BEFORE: ("Earlier state", "Property before", "Before the change"),
    at.STATE_AFTER: ("Later state", "Property after", "After the change"),
    at.LARGEST: ("Finding the maximum", "Greatest value", "Comparing sizes"),
    at.TREND: ("Trend direction", "Going up or down", "Direction over time"),
    at.DIFFERENCE: ("Subtraction", "Gap between values", "Computing a difference"),
    at.PRODUCT: ("Multiplication", "Multiplying values", "Computing a product"),
    at.TIME_SUM: ("Adding minutes", "Clock arithmetic", "Later time"),
    at.FILTER_COUNT: ("Conditional counting", "Counting a subset", "How many satisfy"),
    at.LIMITS: ("Threshold decision", "Limit check", "Safe or not"),
    at.UNITS: ("Unit conversion", "Converting measures", "Knowing units"),
    at.GEOMETRY: ("Geometric theorems", "Formula knowledge", "Rules of geometry"),
    at.NUMERALS: ("Numeral systems", "Reading Roman numbers", "Roman figures"),
    at.ABSENT: ("Noticing absence", "What is not there", "Missing item"),
    at.PRINTED_TOTAL: ("Checking a total", "Sum verification", "Receipt check"),
    at.UNCHANGED: ("What stayed the same", "No change", "Unaltered object"),
    at.DESCRIPTION: ("Full description", "Complete listing", "Exhaustive caption"),
    at.TIME_FORMAT: ("Writing the time", "Military time", "Time notation"),
}
"""Other names that a less careful judge gives to the planted leaves."""


def planted_leaf(question: str, criterion: str) -> Leaf | None:
    """Return the leaf of a criterion, told from the words.

    Args:
        question: the sample's question.
        criterion: the criterion's own question.

    Returns:
        The planted leaf; None when no family writes such a question and criterion.
    """
    words = " ".join(criterion.split())
    for pattern, leaf in _steps(" ".join(question.split())):
        if len(words) <= _LONGEST and re.fullmatch(pattern, words, re.IGNORECASE):
            return leaf
    return None


def exact_name(question: str, criterion: str) -> Leaf | None:
    """Return the place that the exact judge proposes: always the planted path."""
    return planted_leaf(question, criterion)


def loose_name(question: str, criterion: str, said: str) -> Leaf | None:
    """Return the place that the judge with loose names proposes.

    Args:
        question: the sample's question.
        criterion: the criterion's own question.
        said: what else the draw depends on: the criterion's name and the prompt.

    Returns:
        The planted path under one of four names of its leaf; with `WRONG_LEAF`, that of another
        leaf.
    """
    leaf = drawn_leaf(question, criterion, said)
    if leaf is None:
        return None
    draws = Draws("loose name", question, criterion, said)
    return (*leaf[:3], draws.pick((leaf[3], *LOOSE_NAMES[leaf]), "name"))


def drawn_leaf(question: str, criterion: str, said: str) -> Leaf | None:
    """Return the planted leaf or, with `WRONG_LEAF`, another one."""
    leaf = planted_leaf(question, criterion)
    draws = Draws("wrong leaf", question, criterion, said)
    if leaf is None or draws.uniform() >= WRONG_LEAF:
        return leaf
    return draws.pick([other for other in LOOSE_NAMES if other != leaf], "other")


def meant_leaf(path: Sequence[str]) -> Leaf | None:
    """Return the planted leaf that a path names, by its last name in any of its forms."""
    return _meanings().get(same_words(path[-1])) if len(path) == 4 else None


def choose_leaf(leaf: Leaf, offered: Sequence[str]) -> str | None:
    """Choose, of the paths on offer, the one that a planted leaf belongs to.

    Args:
        offered: full paths as texts.

    Returns:
        The planted path itself; else one that means the same; else, where that leaf isn't in the
        tree any more, the one with most of its path in common, two names at least; else the leaf
        of a rival tree that covers it. None when nothing comes near.
    """
    exact = SEPARATOR.join(leaf)
    if exact in offered:
        return exact
    paths = [tuple(text.split(SEPARATOR)) for text in offered]
    for text, path in zip(offered, paths, strict=True):
        if meant_leaf(path) == leaf:
            return text
    shared = [shared_depth(leaf, path) for path in paths]
    best = max(shared, default=0)
    if best >= 2:
        return offered[shared.index(best)]
    elsewhere = RIVAL_NAMES.get(leaf, ())
    return next((t for t, path in zip(offered, paths, strict=True) if path[-1] in elsewhere), None)


def mean_the_same(first: Sequence[str], second: Sequence[str]) -> bool:
    """Tell whether two nodes are one ability (in higher layers: have one name under one root)."""
    one, other = meant_leaf(first), meant_leaf(second)
    if one is not None or other is not None:
        return one == other
    apart = len(first) != len(second) or first[0] != second[0]
    return not apart and same_words(first[-1]) == same_words(second[-1])


def loosely_the_same(first: Sequence[str], second: Sequence[str]) -> bool:
    """Tell the same as a judge that misses some and is wrong about a few."""
    same = mean_the_same(first, second)
    chance = Draws("same", SEPARATOR.join(first), SEPARATOR.join(second)).uniform()
    return chance >= MISSED_SAME if same else chance < FALSE_SAME


@cache
def _meanings() -> Mapping[str, Leaf]:
    return {
        same_words(name): leaf for leaf, names in LOOSE_NAMES.items() for name in (leaf[3], *names)
    }


@lru_cache(maxsize=4096)
def _steps(question: str) -> tuple[tuple[str, Leaf], ...]:
    if len(question) > _LONGEST:
        return ()
    for template in _TEMPLATES:
        match = re.fullmatch(_pattern(template.question, {}), question, re.IGNORECASE)
        if match is not None:
            taken = match.groupdict()
            return tuple((_pattern(text, taken), leaf) for text, leaf in template.steps)
    return ()


def _pattern(text: str, taken: Mapping[str, str]) -> str:
    """Turn a template into a pattern; slots that were taken before stand for the same words."""
    out = []
    at_ = 0
    for slot in _SLOT.finditer(text):
        out.append(re.escape(text[at_ : slot.start()]))
        name = slot.group(1)
        if name in taken:
            out.append(re.escape(taken[name]))
        else:
            out.append("[^?]+?" if name == "_" else f"(?P<{name}>[^?]+?)")
        at_ = slot.end()
    out.append(re.escape(text[at_:]))
    return "".join(out)
