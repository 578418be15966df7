from __future__ import annotations

import io
import json
from datetime import UTC, datetime

import pytest
from PIL import Image

from atom.engine.imports.importing import UNCHANGED, import_reading, study_for
from atom.errors import ConflictError, FormatError, UsageError
from atom.formats import FolderPictures, ImportFile, read
from atom.records import (
    Annotation,
    Import,
    Outcome,
    Preference,
    Response,
    Sample,
    Study,
    StudyCandidate,
    StudySample,
    Verdict,
)
from atom.store import (
    ALSO,
    Store,
    check_store,
    study_candidates,
    study_places,
    undo_import,
)
from tests.held import linked_records
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
        assert UNCHANGED in again.record.notes
        assert UNCHANGED not in first.record.notes


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


class Breaking:
    n_bytes = 0

    """A reading that fails after some batches."""

    def __init__(self, reading, batches, error):
        self._reading, self._left, self._error = reading, batches, error
        self.belongs_to = reading.belongs_to

    def __iter__(self):
        return self

    def __next__(self):
        if self._left == 0:
            raise self._error
        self._left -= 1
        return next(self._reading)

    @property
    def report(self):
        return self._reading.report


@pytest.mark.parametrize("error", [FormatError("broken"), KeyboardInterrupt(), ValueError("bug")])
def test_an_import_that_breaks_off_leaves_nothing(tmp_path, files, error):
    with Store.open(tmp_path / "s") as store:
        reading = read("table", [ImportFile.from_path(files / "rows.csv")])
        with pytest.raises(type(error)):
            import_reading(store, Breaking(reading, 1, error), "Mine", MOMENT)
        for kind in (Study, Sample, Response, Outcome, Import, StudySample, StudyCandidate):
            assert store.select(kind) == [], kind


def test_an_import_that_breaks_off_leaves_an_earlier_one_alone(tmp_path, files):
    with Store.open(tmp_path / "s") as store:
        first = bring(store, files)
        counts = [len(store.select(kind)) for kind in (Sample, Response, StudySample)]
        reading = read("table", [ImportFile.from_path(files / "rows.csv")])
        with pytest.raises(FormatError):
            import_reading(store, Breaking(reading, 1, FormatError("x")), "Mine", MOMENT)
        assert [len(store.select(kind)) for kind in (Sample, Response, StudySample)] == counts
        assert store.select(Import) == [first.record]


def test_nothing_of_an_import_is_there_until_it_is_done(tmp_path, files):
    with Store.open(tmp_path / "s") as store:
        seen = []
        reading = read("table", [ImportFile.from_path(files / "rows.csv")])
        import_reading(
            store, reading, "Mine", MOMENT,
            on_batch=lambda _: seen.append(
                [len(store.select(kind)) for kind in (Study, Import, Sample, Response, StudySample)]
            ),
        )  # fmt: skip
        assert seen == [[0, 0, 0, 0, 0]] * len(seen) != []
        assert store.select(Import)[0].closed


def test_other_writers_wait_for_no_import_that_is_being_read(tmp_path, files):
    with Store.open(tmp_path / "s") as store, Store.open(tmp_path / "s") as other:
        reading = read("table", [ImportFile.from_path(files / "rows.csv")])
        import_reading(
            store, reading, "Mine", MOMENT,
            on_batch=lambda _: other.put([Study(id="x", name="Another")]),
        )  # fmt: skip
        assert {study.name for study in store.select(Study)} == {"Mine", "Another"}


def test_a_picture_that_turns_out_broken_is_nobodys_later_on_either(tmp_path, monkeypatch):
    monkeypatch.setattr("atom.formats.intake.collector._BATCH_ROWS", 4)
    out = io.BytesIO()
    Image.effect_noise((60, 60), 90).save(out, "PNG")
    (tmp_path / "a.png").write_bytes(out.getvalue()[:-900])  # the header is whole
    lines = [f"{at},Question {at}?,a.png" for at in range(12)]
    table = "\n".join(["id,question,image", *lines]).encode()
    reading = read("table", [ImportFile.from_bytes("t.csv", table)],
                   pictures=FolderPictures([tmp_path]))  # fmt: skip
    with Store.open(tmp_path / "store") as store:
        brought = import_reading(store, reading, "Study", MOMENT)
        assert len(brought.broken_pictures) == 1
        slots = [slot for sample in store.select(Sample) for slot in sample.pictures]
        assert [slot.picture_id for slot in slots] == [None] * 12
        assert check_store(store).problems == ()


def test_one_broken_picture_of_a_rare_kind_costs_that_picture_alone(tmp_path):
    """Pillow's readers of rare kinds raise what no reader of pictures would.

    Fall 21 of design/074.
    """
    whole = Image.effect_noise((40, 30), 80)
    for kind in ("AVIF", "BLP", "SPIDER", "TGA", "PCX", "ICO", "DDS"):
        out = io.BytesIO()
        mode = {"BLP": "P", "SPIDER": "F"}.get(kind, "RGB")
        whole.convert(mode).save(out, kind)
        data = out.getvalue()
        for cut in (20, len(data) // 3, len(data) - 9):
            (tmp_path / f"{kind}{cut}.png").write_bytes(data[:cut])
        (tmp_path / f"{kind}-hurt.png").write_bytes(data[:60] + b"\xff" * 40 + data[100:])
    whole.save(tmp_path / "whole.png")
    names = sorted(path.name for path in tmp_path.glob("*.png"))
    lines = [f"{at},Question {at}?,{name}" for at, name in enumerate(names)]
    table = "\n".join(["id,question,image", *lines]).encode()
    reading = read("table", [ImportFile.from_bytes("t.csv", table)],
                   pictures=FolderPictures([tmp_path]))  # fmt: skip
    with Store.open(tmp_path / "store") as store:
        import_reading(store, reading, "Study", MOMENT)
        samples = store.select(Sample)
        assert len(samples) == len(names)
        held = {sample.source_id: sample.pictures[0].picture_id for sample in samples}
        assert held[str(names.index("whole.png"))]
        assert sum(one is None for one in held.values()) >= 14  # at least the two shorter cuts
        assert check_store(store).problems == ()


def test_labels_and_scores_come_in_and_go_with_their_import(tmp_path):
    pair = {
        "idx": 1, "cmp_key": "m_n", "instruction": "Do.", "response1": "x", "response2": "y",
        "annotator1": 1, "annotator2": 2,
    }  # fmt: skip
    pairs = ImportFile.from_bytes("testset-v1.json", json.dumps([pair]).encode())
    review = {"question_id": 1, "answer1_id": "a", "answer2_id": "b", "score": [8, 7], "text": ""}
    reviews = ImportFile.from_bytes("review_m_n.jsonl", json.dumps(review).encode())
    with Store.open(tmp_path / "s") as store:
        labelled = import_reading(store, read(None, [pairs]), "Mine", MOMENT)
        scored = import_reading(store, read(None, [reviews]), "Mine", MOMENT)
        labels, verdicts = store.select(Annotation), store.select(Verdict)
        assert {label.label for label in labels} == {"a", "b"}
        assert {label.study_id for label in labels} == {labelled.study.id}
        assert sorted(verdict.value for verdict in verdicts) == [7, 8]
        assert "2 labels by people came in" in labelled.record.notes
        assert "2 scores by a judge came in" in scored.record.notes
        undo_import(store, labelled.record.id)
        assert (store.select(Annotation), len(store.select(Verdict))) == ([], 2)
        undo_import(store, scored.record.id)
        for kind in (Verdict, Preference, Sample, Response):
            assert store.select(kind) == []


def test_a_votes_strength_is_kept(tmp_path):
    row = {"question_id": "q", "model": "m", "judge": "j", "score": "B>>A"}
    text = ",".join(row) + "\n" + ",".join(row.values()) + "\n"
    with Store.open(tmp_path / "s") as store:
        file = ImportFile.from_bytes("scores.csv", text.encode())
        import_reading(store, read(None, [file]), "Mine", MOMENT)
        assert [(v.verdict, v.strength) for v in store.select(Preference)] == [("b", 2)]


def test_labels_of_people_come_in_once_and_a_changed_one_is_a_conflict(tmp_path):
    rows = "id,question,response_a,response_b,winner,annotator\n1,Which?,red,blue,{},ann\n"

    def bring_label(store, winner):
        file = ImportFile.from_bytes("votes.csv", rows.format(winner).encode())
        return import_reading(store, read("table", [file]), "Mine", MOMENT, accept=True)

    with Store.open(tmp_path / "store") as store:
        bring_label(store, "a")
        assert [one.label for one in store.select(Annotation)] == ["a"]
        assert UNCHANGED in bring_label(store, "a").report.notes
        with pytest.raises(ConflictError, match="1 person's label"):
            bring_label(store, "b")
        assert [one.label for one in store.select(Annotation)] == ["a"]
