from __future__ import annotations

import io
from datetime import UTC, datetime

import pytest
from PIL import Image

from atom.engine.imports import import_reading, study_for
from atom.errors import UsageError
from atom.formats import FolderPictures, ImportFile, read
from atom.records import Import, Outcome, Preference, Response, Sample
from atom.store import ALSO, Store, check_store, study_candidates, study_places
from atom.store.studies import linked_records
from tests.votes import vote_files

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
        assert linked_records(store, again.record.id).keys() <= {"outcome", ALSO}


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


def vote_reading(*files):
    return read("mllm-bench", files)


def test_votes_come_in_once_and_are_noted(tmp_path):
    files, _ = vote_files(samples=6)
    with Store.open(tmp_path / "s") as store:
        first = import_reading(store, vote_reading(*files), "Votes", MOMENT)
        assert first.report.preferences == len(store.select(Preference)) == 6 * 3 * 2
        assert "36 votes between answers came in" in first.record.notes
        links = linked_records(store, first.record.id)
        assert links["preference"] == {vote.id for vote in store.select(Preference)}
        again = import_reading(
            store, vote_reading(*files), "Votes", datetime(2026, 1, 2, tzinfo=UTC)
        )
        assert len(store.select(Preference)) == 36
        assert "preference" not in linked_records(store, again.record.id)


def test_an_answer_known_from_votes_alone_gets_its_text_later(tmp_path):
    files, _ = vote_files(samples=2)
    table = b"unique_idx,model_1,model_2,judge,answer\n0_1,base,weak,judge x,Answer1\n"
    rows = ImportFile.from_bytes("votes.csv", table)
    with Store.open(tmp_path / "s") as store:
        import_reading(store, vote_reading(files[0], rows), "Votes", MOMENT)
        assert [response.text for response in store.select(Response)] == ["", ""]
        import_reading(store, vote_reading(*files), "Votes", datetime(2026, 1, 2, tzinfo=UTC))
        assert all(response.text and not response.detail for response in store.select(Response))
