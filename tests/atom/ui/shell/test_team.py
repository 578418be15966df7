"""What is drawn for whom: a button that somebody may not press does nothing if it says it was."""

from __future__ import annotations

import pytest

from atom.access import Policy, install
from atom.ui.shell import team


@pytest.fixture
def pressed():
    """Draw buttons as a browser that presses each, disabled or not."""
    seen: list[dict[str, object]] = []

    def draw(label, **how):
        del label
        seen.append(how)
        if "on_click" in how:
            how["on_click"](*how.get("args", ()))
        return True

    install(Policy(place="here"))
    yield lambda **how: team.button("run", "Go", draw, key="go", **how), seen
    install(None)


def test_a_disabled_button_that_a_browser_presses_does_nothing(pressed):
    press, seen = pressed
    done: list[str] = []
    assert press(on_click=done.append, args=("it",)) is False
    assert (done, seen[-1]["disabled"]) == ([], True)
    install(None)
    assert press(on_click=done.append, args=("it",)) is True
    assert done == ["it"]


def test_a_role_that_is_taken_away_before_the_click_is_asked_then(pressed, monkeypatch):
    press, _ = pressed
    done: list[str] = []
    answers = ["", "", "", "taken away"]
    monkeypatch.setattr(team, "refused", lambda action: answers.pop(0))
    press(on_click=done.append, args=("before",))
    press(on_click=done.append, args=("after",))
    assert done == ["before"]
