"""The group of harmed stores finds what it is to find."""

from __future__ import annotations

import pytest

from benchmarks.attacks import damage


@pytest.mark.slow
def test_nothing_that_is_harmed_goes_unseen():
    tried = list(damage.attack(4))
    assert len(tried) == 4
    assert [one for one in tried if one.fell] == []


@pytest.mark.slow
def test_a_check_that_sees_nothing_falls(monkeypatch):
    class Blind:
        problems = ()

    monkeypatch.setattr(damage, "check_store", lambda store, pictures: Blind())
    assert any(one.fell for one in damage.attack(12))
