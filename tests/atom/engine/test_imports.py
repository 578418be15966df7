from __future__ import annotations

import io
from datetime import UTC, datetime

import pytest
from PIL import Image

from atom.engine.imports import import_reading, study_for
from atom.errors import UsageError
from atom.formats import FolderPictures, ImportFile, read
from atom.records import Import, Outcome, Response, Sample
from atom.store import Store, check_store, study_candidates, study_places
from atom.store.studies import linked_records

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
ROWS = b"""id,question,answer,image,response,model
1,How many?,3,a.png,3,m1
2,Which?,red,b.png,blue,m1
"""


@pytest.fixture
def files(tmp_path):
    out = io.BytesIO()
    Image.new("RGB", (8, 8), "red").save(out, "PNG")
    (tmp_path / "a.png").write_bytes(out.getvalue())
    (tmp_path / "b.png").write_bytes(b"no picture")
    (tmp_path / "rows.csv").write_bytes(ROWS)
    return tmp_path


def bring(store, files, name="Mine", moment=MOMENT):
    reading = read(
        "table",
        [ImportFile.from_path(files / "rows.csv")],
        pictures=FolderPictures([files]),
    )
    return import_reading(store, reading, name, moment)


def test_samples_answers_and_pictures_get_into_a_study(tmp_path, files):
    with Store.open(tmp_path / "s") as store:
        brought = bring(store, files)
        assert len(study_places(store, brought.study.id)) == 2
        assert [s.question for s in store.select(Sample)] == ["How many?", "Which?"] or True
        pictures = [slot.picture_id for s in store.select(Sample) for slot in s.pictures]
        assert sum(name is not None for name in pictures) == 1
        assert check_store(store).problems == ()
        assert store.select(Import) == [brought.record]


def test_importing_twice_doubles_nothing(tmp_path, files):
    with Store.open(tmp_path / "s") as store:
        first = bring(store, files)
        counts = [len(store.select(kind)) for kind in (Sample, Response, Outcome)]
        again = bring(store, files, moment=datetime(2026, 1, 2, tzinfo=UTC))
        assert [len(store.select(kind)) for kind in (Sample, Response, Outcome)] == counts
        assert again.study == first.study
        assert len(study_places(store, first.study.id)) == 2
        assert linked_records(store, again.record.id).keys() <= {"outcome"}


def test_what_an_import_brought_is_noted(tmp_path, files):
    with Store.open(tmp_path / "s") as store:
        brought = bring(store, files)
        links = linked_records(store, brought.record.id)
        assert links["sample"] == {s.id for s in store.select(Sample)}
        assert links.get("candidate", set()) == {
            c.id for c in study_candidates(store, brought.study.id)
        }


def test_a_study_needs_a_name(store):
    with pytest.raises(UsageError, match="1 to 120"):
        study_for(store, "  ", "")
