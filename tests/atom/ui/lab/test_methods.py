"""Several judges beside people: what a cell says."""

from __future__ import annotations

import pytest

from atom.analysis.agreement.fidelity import FidelityShare
from atom.display import numbers
from atom.ui.lab import methods


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_a_share_of_too_few_samples_is_no_number(value):
    """Once it read "Adjudicator 0.0 % (0–39)" where one person had settled one sample."""
    few = str(methods.share(FidelityShare(value=value, lo=0.0, hi=0.39, n=6, clusters=4)))
    assert "too few" in few
    assert "%" not in few
    assert "n = 6, 4 samples" in few
    enough = str(methods.share(FidelityShare(value=value, lo=0.0, hi=0.39, n=6, clusters=5)))
    assert "too few" not in enough
    assert numbers.share(value, 1) in enough
    assert "(0–39)" in enough


def test_what_was_never_compared_is_a_dash():
    nan = float("nan")
    assert methods.share(None) == numbers.NONE
    assert methods.share(FidelityShare(value=nan, lo=nan, hi=nan, n=0, clusters=0)) == numbers.NONE
