import pytest

from atom.errors import DataError
from atom.stages import answer


def test_an_open_question(sample, pictures, sampling):
    request = answer.build(sample, pictures, sampling)
    text = request.parts[-1].text
    assert request.system.startswith("Atomscope task: answer/1\n")
    assert request.schema is None
    assert text.startswith(sample.question)
    assert text.endswith("Answer: <value>")
    assert "BEGIN DATA" not in text


def test_choices(sample, pictures, sampling):
    asked = sample.model_copy(update={"choices": ("red", "dark\nblue", "{{question}}")})
    text = answer.build(asked, pictures, sampling).parts[-1].text
    assert "\nA) red\nB) dark blue\nC) {{question}}\n" in text
    assert text.endswith("Answer: <letter>")


def test_too_many_choices(sample, pictures, sampling):
    asked = sample.model_copy(update={"choices": tuple(map(str, range(27)))})
    with pytest.raises(DataError, match="27 choices"):
        answer.build(asked, pictures, sampling)


def test_a_refusal_keeps_its_words(sample, pictures, sampling, reply_of):
    request = answer.build(sample, pictures, sampling)
    reply = reply_of(request, "No pictures of people.", refusal="No pictures of people.")
    found = answer.parse(reply, sample, "c", sampling)
    assert (found.state, found.text) == ("unscored", "No pictures of people.")
    assert "refused" in found.detail


def test_repeats_are_responses_of_their_own(sample, sampling):
    ids = {answer.failed("down", sample, "c", sampling, repeat).id for repeat in range(3)}
    assert len(ids) == 3


def test_failed(sample, sampling):
    found = answer.failed("down", sample, "c", sampling, call_id="call")
    assert (found.state, found.detail, found.text) == ("failed", "down", "")
