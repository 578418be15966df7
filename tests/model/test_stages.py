"""One sample through all stages with a real model: states and forms, never quality.

A model of 135 million parameters rambles, so the replies' schemas are tightened: what fits the
tighter one fits the real one. Whatever the model says, each item must end scored or unscored with a
reason, and the raw reply must be kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from atom.judge import JudgeClient, PicturePart, Reply, Request
from atom.records import PictureSlot, Sample, Sampling, blob_hash
from atom.stages import answer, criteria, mapping, outcome, replay, scoring
from atom.stages.criteria import EditedCriterion
from taxonomy import parse_tree, tree_version

JUDGE, CANDIDATE = "judge-smol", "candidate-smol"
SETTINGS = Sampling(temperature=0.0, max_tokens=300)
TREE = parse_tree(
    """
name: Two leaves
roots:
  - name: Perception
    meaning: Seeing.
    children:
      - name: Object
        meaning: Things.
        children:
          - name: Look
            meaning: How it looks.
            children:
              - name: Colour
                meaning: Naming a colour.
  - name: Reasoning
    meaning: Working out.
    children:
      - name: Comparison
        meaning: Comparing.
        children:
          - name: Equal or not
            meaning: Telling things apart.
            children:
              - name: Same colour
                meaning: Telling whether two colours are equal.
"""
)


@pytest.fixture(scope="module")
def picture(plain) -> bytes:
    """Return the sample's picture."""
    return plain("red")


@pytest.fixture(scope="module")
def sample(picture) -> Sample:
    """Return a sample with one picture and two choices."""
    return Sample(
        id=Sample.make_id("plain colours", "1"),
        dataset="plain colours",
        source_id="1",
        question="What colour is the picture?",
        choices=("red", "blue"),
        reference="red",
        pictures=(PictureSlot(name="1.png", picture_id=blob_hash(picture)),),
    )


def tighten(schema: object) -> object:
    """Return a schema with short texts and lists, which a rambling model soon fills."""
    if isinstance(schema, list):
        return [tighten(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    tight = {key: tighten(value) for key, value in schema.items()}
    if "maxLength" in tight:
        tight["maxLength"] = min(tight["maxLength"], 12)
    if "maxItems" in tight:
        tight["maxItems"] = max(tight.get("minItems", 0), 1)
    return tight


async def ask(client: JudgeClient, request: Request) -> Reply:
    """Ask with the tighter schema."""
    reply = await client.ask(replace(request, schema=tighten(request.schema)))
    check_kept(reply, request.task)
    return reply


def check_kept(reply: Reply, task: str) -> None:
    """Check that the call is recorded with its raw reply."""
    assert reply.call.task == task
    assert reply.call.prompt == f"{task}/{reply.call.prompt.partition('/')[2]}"
    assert reply.call.reply == reply.text
    assert reply.text
    assert reply.call.error is None
    assert reply.ok or reply.reason


def check_state(record) -> None:
    """Check that an item is scored, or unscored with a reason."""
    assert record.state in {"scored", "unscored"}
    assert record.call_id
    assert record.state == "scored" or record.detail


async def test_a_sample_goes_through_every_stage(seeing, sample, picture):
    pictures = (PicturePart.from_bytes(picture),)
    async with JudgeClient(seeing) as client:
        reply = await ask(client, answer.build(sample, pictures, SETTINGS))
        response = answer.parse(reply, sample, CANDIDATE, SETTINGS)
        check_state(response)
        assert response.text

        reply = await ask(client, replay.build(sample, pictures, SETTINGS))
        solution = replay.parse(reply, sample, JUDGE, SETTINGS)
        check_state(solution)
        if solution.state != "scored":
            solution = solution.model_copy(update={"state": "scored", "final_answer": "red"})

        reply = await ask(client, criteria.build(sample, pictures, solution, SETTINGS))
        cut = criteria.parse(reply, sample, solution, JUDGE, SETTINGS)
        check_state(cut.criteria_set)
        if cut.criteria_set.state == "scored":
            assert sum(use.weight for use in cut.criteria_set.uses) == 10
        else:
            cut = criteria.edited(sample, JUDGE, solution.id, by_hand())

        reply = await ask(client, mapping.build(sample, pictures, cut.criteria, TREE, SETTINGS))
        leaves = mapping.parse(reply, cut.criteria, TREE, tree_version(TREE), JUDGE)
        assert [leaf.criterion_id for leaf in leaves] == [c.id for c in cut.criteria]
        for leaf in leaves:
            check_state(leaf)
            assert (leaf.leaf in TREE.leaves) == (leaf.state == "scored")

        request = scoring.build(
            sample, pictures, cut.criteria_set, cut.criteria, response, SETTINGS
        )
        reply = await ask(client, request)
        marks = scoring.parse(reply, cut.criteria_set, cut.criteria, response, JUDGE, SETTINGS)
        assert [mark.criterion_id for mark in marks] == [c.id for c in cut.criteria]
        for mark in marks:
            check_state(mark)
            assert (mark.score in range(1, 6)) == (mark.state == "scored")

    verdict = outcome.check(sample, response)
    assert verdict is None or verdict.value in {0.0, 1.0}


def by_hand() -> tuple[EditedCriterion, ...]:
    """Return criteria for the stages after one that the model left unscored."""
    return (
        EditedCriterion(question="What colour fills the picture?", ground_truth="red", weight=6),
        EditedCriterion(question="Which option is that?", ground_truth="the first", weight=4),
    )
