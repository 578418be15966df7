"""Confirmed weaknesses of real studies hold again, at a small size (METHODS T6)."""

from __future__ import annotations

import json

import pytest

from benchmarks.replication import SOURCES, lines

pytestmark = pytest.mark.slow

SMALL = ("MathVista", "MLLM-Bench", "Vicuna-80")


@pytest.fixture(scope="module")
def found(shared_folder):
    sources = {name: SOURCES[name] for name in (*SMALL, "MMStar")}
    rows = lines(24, 60, 1, shared_folder / "real", sources)
    return {str(row["name"]): row for row in rows}


@pytest.mark.slow
def test_no_row_falls_short(found):
    assert [name for name, row in found.items() if str(row["note"]).startswith("short")] == []


def test_small_studies_are_among_them(found):
    for name in SMALL:
        assert {f"{what} {name}" for what in ("same_sign", "any_claim_permuted")} <= set(found)


def test_rows_are_one_json_object_each(found):
    for row in found.values():
        assert set(json.loads(json.dumps(row))) == {
            "name", "value", "unit", "baseline", "ratio", "n", "note"
        }  # fmt: skip
