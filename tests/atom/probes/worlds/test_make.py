"""Drawn probes: pixels, programs, regions and phrases, over families, seeds and templates."""

from __future__ import annotations

import io
import json
import re
from functools import lru_cache
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from atom.probes.chunk import read_program
from atom.probes.program import Program, ProgramStep, band
from atom.probes.worlds import FAMILIES, TEMPLATES, ProbeSample, make_probe, make_probes
from atom.probes.worlds import leaves as leaf_names
from atom.probes.worlds.make import plan_families
from tests.held import pixel_hash

HERE = Path(__file__).parent
GOLDEN = json.loads((HERE / "pixel_hashes.json").read_text(encoding="utf-8"))
ANCHORS = Path(__file__).resolve().parents[4] / "taxonomy" / "anchors.yaml"
EVERY = [(family, template) for family in FAMILIES for template in TEMPLATES[family]]

NUMBER_WORDS = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|hundred|thousand|none"
    r"|nothing|no|zero)\b",
    re.IGNORECASE,
)
CLAUSE_ENDS = re.compile(r";|, (?:and|while|whereas|but|so|then) |[.!?] \w")


@lru_cache(maxsize=128)
def probe(family: str, template: str, seed: int, index: int) -> ProbeSample:
    return make_probe(family, seed, index, template=template)


def holds(text: str, phrase: str) -> bool:
    found = re.search(rf"(?<!\w){re.escape(phrase.lower())}(?!\w)", text.lower())
    return found is not None


def speaks_of(step: ProgramStep, text: str) -> bool:
    every = all(holds(text, word) for word in step.anchors_all)
    return every and (not step.anchors_any or any(holds(text, word) for word in step.anchors_any))


def is_number(step: ProgramStep) -> bool:
    return step.kind in ("num", "time")


@lru_cache(maxsize=1)
def anchor_leaves() -> frozenset[tuple[str, ...]]:
    found = set()

    def walk(nodes: list[dict[str, object]], path: tuple[str, ...]) -> None:
        for node in nodes:
            assert str(node["meaning"]).endswith(".")
            here = (*path, str(node["name"]))
            children = node.get("children", [])
            assert isinstance(children, list)
            if children:
                walk(children, here)
            else:
                found.add(here)

    tree = yaml.load(ANCHORS.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    walk(tree["roots"], ())
    return frozenset(found)


@pytest.mark.slow
@pytest.mark.parametrize(("family", "template"), EVERY)
def test_pixels_are_those_on_record(family: str, template: str) -> None:
    made = probe(family, template, 5, 0)
    assert [pixel_hash(png) for png in made.pictures] == GOLDEN[f"{family}/{template}"]


def test_equal_arguments_give_equal_probes_with_or_without_a_named_template() -> None:
    made = make_probe("gauges", 3, 8)
    again = make_probe("gauges", 3, 8, template=made.program.template)
    assert again.program == made.program
    assert [pixel_hash(a) for a in again.pictures] == [pixel_hash(b) for b in made.pictures]


def test_another_seed_or_index_gives_another_program() -> None:
    programs = {
        make_probe("charts", seed, index, template="peak").program.model_dump_json()
        for seed, index in ((0, 0), (0, 1), (1, 0))
    }
    assert len(programs) == 3


def test_optimised_files_hold_the_same_pixels() -> None:
    plain = make_probe("charts", 2, 2, template="trend")
    small = make_probe("charts", 2, 2, template="trend", optimize=True)
    assert len(small.pictures[0]) <= len(plain.pictures[0])
    assert pixel_hash(small.pictures[0]) == pixel_hash(plain.pictures[0])


@pytest.mark.parametrize(("family", "template"), EVERY)
def test_pictures_carry_their_program_and_number(family: str, template: str) -> None:
    made = probe(family, template, 5, 0)
    assert len(made.pictures) == made.program.pictures == (2 if family == "changes" else 1)
    for number, png in enumerate(made.pictures, start=1):
        assert read_program(png) == made.program.model_copy(update={"picture": number})
        with Image.open(io.BytesIO(png)) as image:
            assert image.size == made.program.size
            assert image.mode == ("RGB" if family in ("scenes", "changes") else "P")
        assert len(png) < 64_000


@pytest.mark.slow
@pytest.mark.parametrize("index", range(2))
@pytest.mark.parametrize(("family", "template"), EVERY)
def test_programs_are_sound(family: str, template: str, index: int) -> None:
    check_program(probe(family, template, 5, index).program)


@pytest.mark.slow
@settings(max_examples=12)
@given(
    at=st.sampled_from([pair for pair in EVERY if pair[0] not in ("scenes", "changes")]),
    seed=st.integers(0, 2**31),
    index=st.integers(0, 100_000),
)
def test_programs_are_sound_for_any_seed(at: tuple[str, str], seed: int, index: int) -> None:
    check_program(make_probe(at[0], seed, index, template=at[1]).program)


def check_program(program: Program) -> None:
    assert Program.model_validate_json(program.model_dump_json()) == program
    assert len({step.leaf for step in program.steps}) == len(program.steps)
    assert {step.leaf for step in program.steps} <= anchor_leaves()
    assert program.answer == program.step(program.answer_step).truth
    if program.choices:
        assert program.answer in program.choices
        assert len(set(program.choices)) == len(program.choices) >= 2
    for step in program.steps:
        check_regions(step, program.pictures)
        check_bands(step)
        check_phrases(step, program)


def check_regions(step: ProgramStep, pictures: int) -> None:
    for region in step.regions:
        left, top, right, bottom = region.box
        assert left < right
        assert top < bottom
        assert (right - left) * (bottom - top) <= 300_000, f"{step.id}: the region is too large"
        assert region.picture <= pictures


def check_bands(step: ProgramStep) -> None:
    if is_number(step):
        assert step.value is not None
        assert step.near > step.tolerance >= 0
        assert band(step, step.value) == "exact"
        assert band(step, step.value + step.near) == "near"
        assert band(step, step.value + step.near + 1) == "far"
        return
    bands = {band(step, word) for word in step.options}
    assert len(set(step.options)) == len(step.options) >= 2
    assert band(step, step.truth) == "exact"
    assert "far" in bands, f"{step.id}: no far miss can be stated"
    others = [word for words in step.synonyms.values() for word in words]
    assert not set(others) & set(step.options)


def check_phrases(step: ProgramStep, program: Program) -> None:
    assert 3 <= len(step.phrases) <= 5
    words = [*step.options, *(w for more in step.synonyms.values() for w in more)]
    for phrase in step.phrases:
        assert phrase.count("{value}") == 1
        assert phrase.endswith(".")
        assert speaks_of(step, phrase), f"{step.id}: {phrase!r} lacks the anchors"
        assert not CLAUSE_ENDS.search(phrase), f"{phrase!r} is more than one clause"
        bare = phrase.replace("{value}", " ")
        for constant in step.constants:
            bare = bare.replace(constant, " ")
        if is_number(step):
            assert not NUMBER_WORDS.search(bare), f"{phrase!r} holds another number"
        assert not [w for w in words if holds(bare, w)], f"{phrase!r} holds another option"
        said = phrase.replace("{value}", step.truth)
        for other in program.steps:
            same_type = is_number(other) == is_number(step) and (
                is_number(step) or set(other.options) & set(step.options)
            )
            if other is not step and same_type:
                assert not speaks_of(other, said), f"{phrase!r} also speaks of {other.id!r}"


def test_anchor_tree_has_six_roots_and_exactly_the_leaves_that_are_drawn() -> None:
    leaves = anchor_leaves()
    declared = {
        value for value in vars(leaf_names).values() if isinstance(value, tuple) and len(value) == 4
    }
    drawn = {
        step.leaf
        for family, template in EVERY
        for index in range(2)
        for step in probe(family, template, 5, index).program.steps
    }
    assert leaves == declared == drawn
    assert 24 <= len(leaves) <= 40
    roots = [leaf[0] for leaf in leaves]
    names = ("Perception", "Understanding", "Reasoning", "Knowledge", "Trustworthiness")
    assert set(roots) == {*names, "Generation"}
    assert min(roots.count(root) for root in set(roots)) >= 2


def test_mix_is_balanced_in_every_prefix() -> None:
    planned = plan_families(60)
    for length in (6, 12, 30, 60):
        counts = [planned[:length].count(family) for family in FAMILIES]
        assert max(counts) - min(counts) == 0


def test_mix_follows_shares() -> None:
    planned = plan_families(40, mix={"charts": 3, "gauges": 1})
    assert planned.count("charts") == 30
    assert planned.count("gauges") == 10
    assert plan_families(3, mix={"tables": 0, "charts": 2}) == ["charts"] * 3


def test_templates_take_turns() -> None:
    made = [p.program for p in make_probes(6, 9, mix={"charts": 1})]
    assert [p.template for p in made] == [*TEMPLATES["charts"], *TEMPLATES["charts"]]
    assert [p.index for p in made] == list(range(6))


@pytest.mark.parametrize("mix", [{}, {"maps": 1}, {"charts": -1}, {"charts": 0}])
def test_odd_mixes_are_refused(mix: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="mix"):
        list(make_probes(1, 0, mix=mix))


def test_unknown_families_templates_and_negative_seeds_are_refused() -> None:
    with pytest.raises(ValueError, match="family 'maps'"):
        make_probe("maps", 0, 0)
    with pytest.raises(ValueError, match="no template 'pie'"):
        make_probe("charts", 0, 0, template="pie")
    with pytest.raises(ValueError, match="0 or more"):
        make_probe("charts", -1, 0)


def test_some_questions_have_a_multiple_choice_twin() -> None:
    twins = [
        bool(make_probe("geometry", 1, index, template="area").program.choices)
        for index in range(8)
    ]
    assert True in twins
    assert False in twins
