import pytest

from atom.errors import DataError
from atom.stages import outcome


@pytest.mark.parametrize(
    ("text", "value"),
    [("So 42 - 35.\nAnswer: 7", 1.0), ("Answer: 8", 0.0), ("Answer: 7 or 8", None)],
)
def test_check(sample, response, text, value):
    found = outcome.check(sample, response.model_copy(update={"text": text}))
    assert (None if found is None else found.value) == value
    if found is not None:
        assert (found.how, found.state, found.judge_id) == ("numeric", "scored", "")
        assert found.response_id == response.id


def test_a_right_answer_is_right_whatever_its_checkpoints_say(sample, response):
    lucky = response.model_copy(update={"text": "March is 3 and May is 99.\nAnswer: 7"})
    assert outcome.check(sample, lucky).value == 1.0


@pytest.mark.parametrize("state", ["unscored", "failed"])
def test_no_answer_has_no_outcome(sample, pictures, response, sampling, state):
    silent = response.model_copy(update={"state": state})
    assert outcome.check(sample, silent) is None
    with pytest.raises(DataError, match=state):
        outcome.build(sample, pictures, silent, sampling)


def test_no_reference(sample, pictures, response, sampling):
    unknown = sample.model_copy(update={"reference": None})
    assert outcome.check(unknown, response) is None
    with pytest.raises(DataError, match="None"):
        outcome.build(unknown, pictures, response, sampling)


def test_failed(response):
    found = outcome.failed("the server is down", response, "j", "call")
    assert (found.state, found.value, found.detail) == ("failed", None, "the server is down")
    assert (found.how, found.judge_id, found.call_id) == ("judge", "j", "call")
