import json

import pytest

from atom.errors import UsageError
from atom.judge import request_hash
from atom.records import Criterion, Region
from atom.stages import criteria
from atom.stages.criteria import EditedCriterion


def reply_text(*rows):
    names = ("question", "ground_truth", "step", "regions", "weight")
    return json.dumps({"criteria": [dict(zip(names, row, strict=True)) for row in rows]})


def test_request(sample, pictures, solved, sampling):
    request = criteria.build(sample, pictures, solved, sampling)
    assert request.system.startswith("Atomscope task: criteria/2\n")
    data = json.loads(request.parts[-1].text.split("\nBEGIN DATA\n")[1].split("\nEND DATA\n")[0])
    assert data["replay"]["steps"][0] == {"n": 1, "text": "March is 42.", "regions": []}
    assert data["replay"]["final_answer"] == "7"
    assert data["reference_answer"] == "7"


@pytest.mark.parametrize("state", ["unscored", "failed"])
def test_no_solution_no_criteria(sample, pictures, solved, sampling, state):
    with pytest.raises(UsageError, match=state):
        criteria.build(sample, pictures, solved.model_copy(update={"state": state}), sampling)


def test_rescaled_weights_are_recorded(sample, pictures, solved, sampling, reply_of):
    request = criteria.build(sample, pictures, solved, sampling)
    raw = reply_text(("A?", "1", 1, [], 3), ("B?", "2", 2, [], 3), ("C?", "3", 3, [], 3))
    found = criteria.parse(reply_of(request, raw), sample, solved, "j", sampling)
    assert [use.weight for use in found.criteria_set.uses] == [4, 3, 3]
    assert [use.stated_weight for use in found.criteria_set.uses] == [3.0, 3.0, 3.0]
    assert "largest remainder" in found.criteria_set.adjustments[0]
    assert found.criteria_set.replay_id == solved.id


def test_ids_do_not_hang_on_weights(sample, pictures, solved, sampling, reply_of):
    request = criteria.build(sample, pictures, solved, sampling)
    texts = [reply_text(("A?", "1", 1, [], a), ("B?", "2", 2, [], b)) for a, b in ((5, 5), (8, 2))]
    one, other = (
        criteria.parse(reply_of(request, text), sample, solved, "j", sampling) for text in texts
    )
    assert one.criteria == other.criteria
    assert one.criteria[0].id == Criterion.make_id(sample.id, "A?", "1")


class TestEdited:
    rows = (
        EditedCriterion(question="A?", ground_truth="1", weight=5, step=1),
        EditedCriterion(
            question="B?", ground_truth="2", weight=5, regions=(Region(box=(1, 2, 3, 4)),)
        ),
    )

    def test_kept_as_they_are(self, sample):
        found = criteria.edited(sample, "j", "replay", self.rows)
        made = found.criteria_set
        assert (made.state, made.source, made.prompt) == ("scored", "hand", "hand")
        assert [use.weight for use in made.uses] == [5, 5]
        assert made.uses[1].regions == self.rows[1].regions
        assert made.adjustments == ()

    def test_an_unchanged_criterion_keeps_its_id(self, sample):
        changed = (self.rows[0], EditedCriterion(question="B?", ground_truth="3", weight=5))
        one = criteria.edited(sample, "j", "replay", self.rows)
        other = criteria.edited(sample, "j", "replay", changed)
        assert one.criteria[0].id == other.criteria[0].id
        assert one.criteria[1].id != other.criteria[1].id
        assert one.criteria_set.id != other.criteria_set.id

    def test_equal_edits_are_one_set(self, sample):
        sets = [criteria.edited(sample, "j", "replay", self.rows).criteria_set for _ in range(2)]
        assert sets[0] == sets[1]

    def test_the_gate_stands_here_too(self, sample):
        found = criteria.edited(sample, "j", None, self.rows[:1])
        assert found.criteria_set.state == "unscored"
        assert "1 criteria" in found.criteria_set.detail


def test_failed(sample, solved, sampling):
    found = criteria.failed("down", sample, solved, "j", sampling, call_id="call")
    assert (found.criteria_set.state, found.criteria_set.detail) == ("failed", "down")
    assert found.criteria == ()


BAD = (("Is March 42?", "yes", 1, [], 3), ("B?", "2", 2, [], 3), ("C?", "7", 3, [], 4))
FINE = (("Which value has March?", "42", 1, [], 3), *BAD[1:])


def test_faulty_criteria_go_back_once_with_the_reasons(
    sample, pictures, solved, sampling, reply_of
):
    request = criteria.build(sample, pictures, solved, sampling)
    first = criteria.parse(reply_of(request, reply_text(*BAD)), sample, solved, "j", sampling)
    assert first.criteria_set.state == "unscored"
    assert first.criteria == ()
    assert "criterion 1 can be answered by yes or no" in first.criteria_set.detail
    raw = f"<think>let me see</think>{reply_text(*BAD)}"
    turn = criteria.again(request, reply_of(request, raw), first.faults)
    assert (turn.parts, turn.system, turn.schema) == (request.parts, request.system, request.schema)
    said, told = turn.turns
    assert (said.role, said.text) == ("assistant", reply_text(*BAD))
    assert told.role == "user"
    assert "- criterion 1 can be answered by yes or no: ask for the thing itself\n" in told.text
    assert request_hash(turn, "m") != request_hash(request, "m")
    second = criteria.parse(reply_of(turn, reply_text(*FINE)), sample, solved, "j", sampling)
    mended = criteria.mended(second, first.faults)
    assert mended.criteria_set.state == "scored"
    assert mended.criteria_set.id == first.criteria_set.id
    assert "asked once more" in mended.criteria_set.adjustments[-1]
    spoilt = criteria.mended(first, first.faults)
    assert spoilt.criteria_set.state == "unscored"
    assert "couldn't be used either" in spoilt.criteria_set.detail


def test_what_the_gate_refuses_can_be_mended_too(sample, pictures, solved, sampling, reply_of):
    request = criteria.build(sample, pictures, solved, sampling)
    found = criteria.parse(reply_of(request, reply_text(BAD[1])), sample, solved, "j", sampling)
    assert found.faults == ("1 criteria; 2 to 8 can be used",)
    nothing = criteria.parse(reply_of(request, "I can't."), sample, solved, "j", sampling)
    assert nothing.faults == ()


@pytest.mark.parametrize(
    ("conflict", "agrees", "reference", "state"),
    [
        ("The key says 9, the solution 7.", False, "9", "unscored"),
        ("The key says 9, the solution 7.", None, "nine or so", "unscored"),
        # A rule has compared the two, or there's nothing to compare with: the judge errs.
        ("They differ.", True, "7", "scored"),
        ("They differ.", None, None, "scored"),
        ("", False, "9", "scored"),
        ("None.", False, "9", "scored"),
    ],
)
def test_a_conflict_is_said_and_nothing_is_bent(
    sample, pictures, solved, sampling, reply_of, conflict, agrees, reference, state
):
    known = sample.model_copy(update={"reference": reference})
    solved = solved.model_copy(update={"agrees": agrees})
    request = criteria.build(known, pictures, solved, sampling)
    raw = json.dumps({"conflict": conflict, **json.loads(reply_text(*FINE))})
    found = criteria.parse(reply_of(request, raw), known, solved, "j", sampling)
    assert found.criteria_set.state == state
    assert found.faults == ()
    if state == "unscored":
        assert conflict in found.criteria_set.detail


def test_a_person_is_warned_and_not_refused(sample):
    rows = [EditedCriterion(question=q, ground_truth=t, weight=w) for q, t, _, _, w in BAD]
    found = criteria.edited(sample, "j", None, rows).criteria_set
    assert found.state == "scored"
    assert found.adjustments[0].startswith("warning: criterion 1 can be answered by yes or no")
