from pathlib import Path

from tests.factories import STUDY, open_small


def test_a_question_prints_its_link_and_what_was_understood(say, place):
    with open_small(Path(place)):
        pass
    said = say("ask", STUDY, "where does Cand-B lose to Cand-A on counting?")
    assert said.code == 0
    assert said.out.startswith("understood: Compare: ")
    assert "./compare?study=" in said.out
    by_judge = say("ask", STUDY, "failures on arithmetic, quickly", "--judge", "probe-judge",
                   "--json", "--base", "http://h:1/x/")  # fmt: skip
    assert by_judge.data["understood"] == "Failures: within Arithmetic"
    assert by_judge.data["not_understood"] == ["quickly"]
    assert by_judge.data["address"].startswith("http://h:1/x/failures?study=")
    assert "about" in by_judge.err


def test_what_nothing_answers_says_what_to_ask(say, place):
    with open_small(Path(place)):
        pass
    said = say("ask", STUDY, "why is the sky blue?")
    assert said.code == 1
    assert "not understood: sky, blue" in said.out
    assert "for example" in said.out
    assert say("ask", STUDY, "  ").code == 2
