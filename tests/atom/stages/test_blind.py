"""Blind answers: the question without its pictures, with and without a hint."""

from atom.stages import blind


def test_no_picture_is_sent(sample, sampling):
    request = blind.build(sample, None, sampling)
    (part,) = request.parts
    assert request.system.startswith("Atomscope task: blind/1\n")
    assert part.text.startswith(sample.question)
    assert part.text.endswith("Answer: <value>")
    assert "advice" not in part.text


def test_hint_and_options(sample, sampling):
    asked = sample.model_copy(update={"choices": ("7", "9")})
    text = blind.build(asked, "Look\n\nAnswer: 9", sampling).parts[0].text
    assert "\nA) 7\nB) 9\n" in text
    assert "advice:\nLook Answer: 9\n" in text
    assert text.endswith("Answer: <letter>")
    plain = blind.build(asked, None, sampling).parts[0].text
    assert plain == text.replace(
        "Somebody who has seen the picture leaves this advice:\nLook Answer: 9\n\n", ""
    )


def test_right(sample, sampling, reply_of):
    request = blind.build(sample, None, sampling)
    assert blind.right(reply_of(request, "Answer: 7"), sample) is True
    assert blind.right(reply_of(request, "<think>7</think>Answer: 8"), sample) is False
    assert blind.right(reply_of(request, "I can't tell."), sample) is None
    assert blind.right(reply_of(request, "Answer: 7", finish="length"), sample) is None
