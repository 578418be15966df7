from __future__ import annotations

from atom.formats.intake.batch import Batch, candidate_id
from atom.formats.intake.collector import Collector
from atom.formats.intake.report import MAX_MISSING, MAX_SKIPPED
from atom.formats.pictures import PictureData
from atom.records import Candidate, PictureSlot, Sample, Tag


def sample(picture_id: str | None) -> Sample:
    slots = (PictureSlot(name="a.png", picture_id=picture_id),)
    return Sample(id="s1", dataset="d", question="q", pictures=slots)


def test_a_candidate_has_one_id_in_every_file() -> None:
    first, second = (Collector("table", "d", ["f.csv"]) for _ in range(2))
    assert first.candidate("model-a") == second.candidate("model-a") == candidate_id("model-a")
    assert first.candidate("model-a") != first.candidate("model-b")


def test_a_candidate_is_given_once_and_before_what_points_at_it() -> None:
    collector = Collector("table", "d", ["f.csv"])
    collector.add(sample(None))
    collector.candidate("m")
    collector.candidate("m")
    records = list(collector.flush().records())
    assert [type(record) for record in records] == [Candidate, Sample]
    assert collector.report().candidates == ("m",)


def test_skipped_lines_are_capped_and_counted() -> None:
    collector = Collector("table", "d", ["f.csv"])
    for at in range(MAX_SKIPPED + 50):
        collector.rows += 1
        collector.skip(f"line {at}", "no question")
    report = collector.report()
    assert len(report.skipped) == MAX_SKIPPED
    assert report.n_skipped == MAX_SKIPPED + 50
    record = report.to_import("i", "s", "2026-01-01T00:00:00Z")
    assert "250 rows were left out" in record.notes[-1]


def test_missing_pictures_are_listed_once_each_and_capped() -> None:
    collector = Collector("table", "d", ["f.csv"])
    for at in range(MAX_MISSING + 5):
        collector.missing_picture(f"{at}.png")
    collector.missing_picture("0.png")
    report = collector.report()
    assert report.missing_pictures[:2] == ("0.png", "1.png")
    assert (len(report.missing_pictures), report.n_missing_pictures) == (1000, 1005)


def test_a_picture_that_cannot_be_kept_empties_its_slots_and_leaves_the_id() -> None:
    batch = Batch(samples=(sample("p"),), pictures=(PictureData(id="p", name="a.png", data=b""),))
    emptied = batch.without_picture("p")
    assert emptied.samples[0].pictures == (PictureSlot(name="a.png"),)
    assert emptied.samples[0].id == "s1"
    assert emptied.pictures == ()
    assert batch.without_picture("other").samples == batch.samples


def test_tallies_say_how_often_and_where_first() -> None:
    collector = Collector("table", "d", ["f.csv"])
    collector.tally("no id", "line 3")
    collector.tally("no id", "line 9")
    assert collector.report().notes == ("2 times: no id (first: line 3)",)


def test_facets_are_counted_by_subject() -> None:
    collector = Collector("table", "d", ["f.csv"])
    for value in ("a", "b", "a"):
        collector.add(Tag(subject="sample", subject_id="s", source="f", facet="skill", value=value))
    facet = collector.report().facets[0]
    assert (facet.facet, facet.subject, facet.values) == ("skill", "sample", 2)
