"""The group of killed commands tells half work from whole work."""

from __future__ import annotations

import pytest

from benchmarks.attacks import kills


@pytest.mark.slow
def test_a_killed_rename_is_there_or_not(tmp_path):
    store = tmp_path / "store"
    kills.shutil.copytree(kills.DEMO, store)
    (store / "SHA256SUMS").unlink()
    given = kills._Given(folder=tmp_path, store=store)
    seconds, end = kills._whole("study rename", given)
    assert "Renamed" in str(end)
    assert kills._kill("study rename", given, seconds / 2, end) == ""
    # What is neither the state before nor the one after is a fall.
    assert "half" in kills._kill("study rename", given, 30, ("another end", ()))
