"""Awkward replies, one file each, through every stage's reader."""

import json
from pathlib import Path

import pytest

from atom.stages import answer, correction, criteria, hint, mapping, outcome, replay, scoring

FOLDER = Path(__file__).parent / "replies"
LEFT_OPEN = "The judge left open whether this is addressed or carried."
EXPECTED = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))


def files(stage):
    return sorted(name for name in EXPECTED if name.startswith(f"{stage}-"))


@pytest.fixture
def read(reply_of):
    def read(request, name):
        finish = EXPECTED[name].get("finish", "stop")
        text = (FOLDER / name).read_text(encoding="utf-8")
        return reply_of(request, text, finish=finish), EXPECTED[name]["expect"]

    return read


def test_every_file_is_expected():
    assert {path.name for path in FOLDER.glob("*.txt")} == set(EXPECTED)


@pytest.mark.parametrize("name", files("scoring"))
def test_scoring(name, read, sample, pictures, criteria_set, criteria, response, sampling):
    request = scoring.build(sample, pictures, criteria_set, criteria, response, sampling)
    reply, expect = read(request, name)
    found = scoring.parse(reply, criteria_set, criteria, response, "j", sampling)
    assert [checkpoint.criterion_id for checkpoint in found] == [c.id for c in criteria]
    for checkpoint, (score, words) in zip(found, expect, strict=True):
        assert checkpoint.score == score
        assert checkpoint.state == ("unscored" if score is None else "scored")
        assert words in checkpoint.detail
        # These replies are of judges that leave both flags out: nothing is made up for them.
        assert (checkpoint.addressed, checkpoint.carried) == (None, None)
        others = checkpoint.detail.replace(LEFT_OPEN, "")
        assert bool(others) == (score is None)
        assert (LEFT_OPEN in checkpoint.detail) == (score is not None)
        assert checkpoint.call_id == reply.call.id
        assert len(checkpoint.reason) <= 1000
        assert len(checkpoint.quote) <= 1000


@pytest.mark.parametrize("name", files("criteria"))
def test_criteria(name, read, sample, pictures, solved, sampling):
    reply, expect = read(criteria.build(sample, pictures, solved, sampling), name)
    result = criteria.parse(reply, sample, solved, "j", sampling)
    if "problem" in expect:
        assert result.criteria_set.state == "unscored"
        assert expect["problem"] in result.criteria_set.detail
        assert result.criteria == ()
        assert result.criteria_set.uses == ()
        return
    uses = result.criteria_set.uses
    assert result.criteria_set.state == "scored"
    assert [use.weight for use in uses] == expect["weights"]
    assert len(result.criteria_set.adjustments) == expect["notes"], result.criteria_set.adjustments
    assert [use.position for use in uses] == list(range(len(uses)))
    assert [use.criterion_id for use in uses] == [c.id for c in result.criteria]


@pytest.mark.parametrize("name", files("mapping"))
def test_mapping(name, read, sample, pictures, criteria, tree, sampling):
    reply, expect = read(mapping.build(sample, pictures, criteria, tree, sampling), name)
    found = mapping.parse(reply, criteria, tree, "v1", "j")
    assert [item.criterion_id for item in found] == [c.id for c in criteria]
    for item, (leaf, words) in zip(found, expect, strict=True):
        assert (item.leaf[-1] if item.leaf else None) == leaf
        assert item.leaf is None or item.leaf in tree.leaves
        assert item.state == ("unscored" if leaf is None else "scored")
        assert words in item.detail


@pytest.mark.parametrize("name", files("replay"))
def test_replay(name, read, sample, pictures, sampling):
    reply, expect = read(replay.build(sample, pictures, sampling), name)
    found = replay.parse(reply, sample, "j", sampling)
    assert found.state == expect["state"]
    assert len(found.steps) == expect.get("steps", 0)
    assert found.agrees is expect.get("agrees")
    assert expect.get("detail", "") in found.detail


@pytest.mark.parametrize("name", files("outcome"))
def test_outcome(name, read, sample, pictures, response, sampling):
    reply, expect = read(outcome.build(sample, pictures, response, sampling), name)
    found = outcome.parse(reply, response, "j")
    assert (found.state, found.how, found.judge_id) == (expect["state"], "judge", "j")
    assert found.value == expect.get("value")
    assert expect.get("detail", "") in found.detail


@pytest.mark.parametrize("name", files("answer"))
def test_answer(name, read, sample, pictures, sampling):
    reply, expect = read(answer.build(sample, pictures, sampling), name)
    found = answer.parse(reply, sample, "c", sampling)
    assert found.state == expect["state"]
    assert found.text == expect.get("text", found.text)
    assert expect.get("detail", "") in found.detail


@pytest.mark.parametrize("name", files("answer"))
def test_a_retry_is_read_as_an_answer_is(name, read, sample, pictures, response, sampling):
    built = correction.build(sample, pictures, response, "told", sampling)
    reply, expect = read(built.request, name)
    found = correction.parse(reply, sample, response, "told", built.feedback, sampling)
    assert found.state == expect["state"]
    assert found.text == expect.get("text", found.text)
    assert expect.get("detail", "") in found.detail
    assert (found.parent_id, found.call_id) == (response.id, reply.call.id)


@pytest.mark.parametrize("name", files("hint"))
def test_hint(name, read, sample, pictures, criteria, response, sampling):
    reply, expect = read(hint.build(sample, pictures, criteria[0], response, sampling), name)
    found = hint.parse(reply, sample, criteria[0], "p", response, sampling)
    assert found.state == expect["state"]
    assert found.text == expect.get("text", found.text)
    assert "\n" not in found.text
    assert len(found.text) <= hint.MAX_HINT + 1
    assert expect.get("detail", "") in found.detail
    assert bool(found.detail) == (found.state != "scored")
