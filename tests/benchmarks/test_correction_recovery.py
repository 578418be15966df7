"""Planted self-correction is read rightly, and luck isn't taken for a gain (METHODS B14, D3)."""

from __future__ import annotations

import json

import pytest

from benchmarks.correction_recovery import effect_lines, null_lines, quality_lines
from tests.planted_trials import CorrectionWorld, truth

REPETITIONS = 60


@pytest.fixture(scope="module")
def found():
    lines = [*effect_lines(REPETITIONS, 0), *null_lines(REPETITIONS, 0), *quality_lines(3, 0)]
    return {line["name"]: line for line in lines}


@pytest.mark.slow
def test_no_row_falls_short(found):
    assert [name for name, line in found.items() if str(line["note"]).startswith("short")] == []


@pytest.mark.slow
def test_rows_are_one_json_object_each(found):
    for line in found.values():
        assert set(json.loads(json.dumps(line))) == {
            "name", "value", "unit", "baseline", "ratio", "n", "note"
        }  # fmt: skip


@pytest.mark.slow
def test_a_naive_gain_stands_beside_the_honest_one(found):
    assert found["null_naive_gain"]["value"] > 0.3
    assert found["null_gain_called"]["value"] <= 0.15
    assert found["poor_judge_failed_criteria_naive"]["value"] > 0.4
    assert abs(found["poor_judge_failed_criteria_honest"]["value"]) < 0.02


def test_a_row_that_misses_its_bound_says_so(monkeypatch):
    stronger = truth(CorrectionWorld(hint=3.0))
    monkeypatch.setattr("benchmarks.correction_recovery.truth", lambda world: stronger)
    lines = {line["name"]: line["note"] for line in effect_lines(5, 0)}
    assert lines["diagnostic_value"].startswith("short: required")
