"""The page about notebooks runs as it stands, and lists the columns that there are."""

from __future__ import annotations

import re

import pandas as pd
import pytest

from atom.notebook import columns

FRAMES = {
    "studies": columns.STUDIES, "samples": columns.SAMPLES, "criteria": columns.CRITERIA,
    "answers": columns.ANSWERS, "scores": columns.SCORES, "ranking": columns.RANKING,
    "capabilities": columns.CAPABILITIES, "weaknesses": columns.WEAKNESSES,
    "judge_sample": columns.JUDGED,
}  # fmt: skip


@pytest.fixture(scope="module")
def page(project):
    return (project / "docs" / "notebook.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_examples_run_in_an_empty_folder(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    blocks = re.findall(r"```python\n(.*?)```", page, re.S)
    assert blocks
    for block in blocks:
        exec(compile(block, "docs/notebook.md", "exec"), names)
    assert isinstance(names["weak"], pd.DataFrame)
    assert "Needle" in set(names["weak"]["name"])
    assert names["mine"].scores()["value"].tolist() == [1, 0.4, 0.7, 0]
    assert names["marks"].groupby("model")["score"].mean().is_monotonic_increasing
    names["study"].close()
    names["mine"].close()


@pytest.mark.parametrize("name", FRAMES)
def test_the_columns_are_those_that_are_declared(page, name):
    part = re.search(rf"### `(?:study|atom)\.{name}\(.*?(?=\n### |\Z)", page, re.S)[0]
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \| (.*) \|$", part, re.M)
    assert rows == [tuple(one) for one in FRAMES[name]]
