"""People's labels of pairs on the Judge lab, and repeats of imported scores; hostile names too."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from atom.engine.imports.importing import import_reading
from atom.formats import read
from atom.store import Store
from tests.imports import uploaded

PAGE = "pages/trust/judge_lab.py"
MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
PAIR = {"motivation_app": "App", "cmp_key": "m1_m2", "response1": "one", "response2": "two"}
HOSTILE = "<b>judge</b>"


@pytest.fixture
def labelled(tmp_path):
    pairs = [
        {**PAIR, "idx": at, "instruction": f"Do {at}.", "annotator1": at % 3, "annotator2": 1}
        for at in range(8)
    ]
    verdicts = [{"idx": at, "j_result": "junk" if at == 7 else "1"} for at in range(8)]
    files = [uploaded("testset-v1.json", pairs), uploaded("v.json", verdicts)]
    with Store.open(tmp_path / "store") as store:
        reading = read(None, files, candidates={"v.json": HOSTILE})
        import_reading(store, reading, "Pairs", MOMENT)
    return tmp_path / "store"


@pytest.mark.slow
def test_labels_of_pairs_stand_beside_judges(open_app, labelled):
    seen = open_app(labelled, PAGE, {"tab": "people"})
    assert not seen.test.exception
    for words in ("Do judges prefer the answer that most people prefer?", "as ties", "as wrong",
                  "left out", "A label at random", "the commonest label",
                  "annotator1 and annotator2", "5 have no majority"):  # fmt: skip
        assert words in seen.markup
    assert HOSTILE not in seen.markup
    assert "Do judges’ ratings follow" not in seen.markup


@pytest.mark.slow
def test_a_study_without_labels_has_no_empty_headings(open_app, made):
    seen = open_app(made.folder, PAGE, {"tab": "people"})
    assert not seen.test.exception
    assert "most people prefer" not in seen.markup
    assert "Do judges’ ratings follow" not in seen.markup
    seen = open_app(made.folder, PAGE, {"tab": "judge"})
    assert "came with an import" not in seen.markup
