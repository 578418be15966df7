import json

import pytest

from atom.errors import UsageError
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
