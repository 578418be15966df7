"""Changes to whole studies: an import is taken back, with or without the study it leaves empty."""

from __future__ import annotations

import pytest

from atom.engine.imports.importing import import_reading
from atom.engine.studies import changes as studies
from atom.formats import ImportFile, read
from atom.records import Run
from atom.store import Store, list_studies
from tests.atom.exports.whole_study import MOMENT

ROWS = b"id,question,answer\n1,How many?,3\n"
MORE = b"id,question,answer\n2,Which one?,4\n"


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "s") as opened:
        yield opened


def bring(store, rows):
    reading = read("table", [ImportFile.from_bytes("rows.csv", rows)])
    return import_reading(store, reading, "Mine", MOMENT).record


def test_an_import_is_taken_back_alone_or_with_its_study(store):
    studies.take_back(store, bring(store, ROWS).id)
    assert [one.name for one in list_studies(store)] == ["Mine"]
    assert studies.holds_nothing(store, list_studies(store)[0].id)
    words = studies.take_back(store, bring(store, ROWS).id, with_study=True)
    assert words == "Taken back: 1 sample, 0 answers. “Mine” is gone from the list."
    assert list_studies(store) == []


def test_a_study_that_holds_something_stays(store):
    first, second = bring(store, ROWS), bring(store, MORE)
    words = studies.take_back(store, first.id, with_study=True)
    assert words.endswith("“Mine” stays, because it holds something else.")
    (study,) = list_studies(store)
    store.put([Run(id="r", study_id=study.id, created=study.created, stages=(), judge="j")])
    assert "stays" in studies.take_back(store, second.id, with_study=True)
    assert list_studies(store) == [study]
