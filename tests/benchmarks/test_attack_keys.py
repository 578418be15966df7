"""Keys in replies: found where nothing is done about them, and nowhere as it is."""

from __future__ import annotations

from base64 import b64encode

import pytest

from atom.judge.keys import Key, StreamScrub
from benchmarks.attacks import keys
from benchmarks.attacks._echo import HABITS, echo_server

KEY = "sk-Ab3dEf6hIj9lMnOpQrStUvWx/+=Zz"  # made up


def told(habit: str) -> str:
    with echo_server(habit) as address:
        return keys._told(address, KEY)


@pytest.mark.slow
@pytest.mark.parametrize("habit", HABITS)
def test_a_key_that_comes_back_is_shown_and_kept_nowhere(habit):
    assert keys.found_in(KEY, told(habit)) == ""


# What a redirect names, and what is a fault of another kind, is never quoted at all.
@pytest.mark.slow
@pytest.mark.parametrize("habit", sorted(HABITS.keys() - {"redirect", "error, percent-encoded"}))
def test_the_attack_sees_a_key_that_nobody_takes_out(habit, monkeypatch):
    monkeypatch.setattr(Key, "scrub", lambda self, text: text)
    monkeypatch.setattr(StreamScrub, "take", lambda self, piece: piece)
    assert keys.found_in(KEY, told(habit)) != ""


@pytest.mark.parametrize("text", [KEY, KEY[3:20], KEY[-12:], b64encode(KEY.encode()).decode()])
def test_parts_and_forms_of_a_key_are_found(text):
    assert keys.found_in(KEY, f"before {text} behind") != ""
    assert keys.found_in(KEY, f"before {text[:9]} behind") == ""


@pytest.mark.attack
def test_nothing_that_a_session_wrote_holds_the_key():
    assert [one for one in keys.attack() if one.fell] == []
