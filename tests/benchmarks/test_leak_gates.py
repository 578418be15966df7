"""Planted leaks are caught and guiding hints pass, at a small size."""

import json

import pytest

from atom.probes.worlds.make import make_probe
from benchmarks.leak_gates import KINDS, cases, measure, spoken


@pytest.mark.parametrize(
    ("number", "words"),
    [(0, "zero"), (42, "forty-two"), (105, "one hundred and five"), (4.5, "four point five"),
     (30_000, "thirty thousand"), (2_000_007, "two million seven")],
)  # fmt: skip
def test_spoken_numbers(number, words):
    assert spoken(number) == words


def test_every_kind_is_planted():
    program = make_probe("charts", 11, 0, template="difference").program
    kinds = [case.kind for case in cases(program)]
    assert set(kinds) == {*KINDS, "clean"}
    # five steps: two literal ones and three clean ones each
    assert (kinds.count("literal"), kinds.count("clean")) == (10, 15)


@pytest.mark.slow
def test_all_leaks_are_caught_and_few_clean_hints_are_not():
    wrong = []
    rows = {str(row["name"]): row for row in measure(23, 1, wrong.append)}
    for kind in KINDS:
        row = rows[f"{kind.replace(' ', '_')}_leaks_caught"]
        assert row["value"] == 1, [case.text for case in wrong if case.kind == kind]
        assert row["n"] >= 10
    assert sum(int(str(row["n"])) for row in rows.values()) >= 800
    assert float(str(rows["false_alarms"]["value"])) < 0.03
    assert json.loads(json.dumps(list(rows.values())))
