import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from atom.formats import FolderPictures, MemoryPictures
from atom.formats.base import ReadOptions
from atom.formats.cells import ImportedVerdict
from atom.formats.intake.batch import GivenLabel
from atom.formats.intake.by_row import Limit, in_batches, names_keys
from atom.formats.intake.collector import Collector
from atom.formats.intake.maker import Maker, SourceQuestion
from atom.formats.intake.names import SeenNumbers
from atom.formats.labels import labels_in
from atom.records import blob_hash


def png(colour="red"):
    out = io.BytesIO()
    Image.new("RGB", (6, 5), colour).save(out, "PNG")
    return out.getvalue()


def make(**options):
    collector = Collector("x", "Set", ["f"])
    return Maker(collector, ReadOptions(**options)), collector


def ask(maker, text="Q?", source_id="1", source="f", **more):
    return maker.sample("row 1", source, source_id, SourceQuestion(text=text, **more))


def test_a_question_comes_once_and_another_one_under_its_id_stands_beside_it():
    maker, collector = make()
    first = ask(maker)
    assert ask(maker) == first
    other, third = ask(maker, "Other?"), ask(maker, choices=("a", "b"))
    assert len({first, other, third}) == 3
    assert ask(maker, reference="a") == first
    assert ask(maker, "Other?") == other
    assert [sample.source_id for sample in collector.flush().samples] == ["1", "1 (2)", "1 (3)"]
    assert any("2 times: an id stood before" in note for note in collector.report().notes)
    assert collector.report().account.of("questions").came_in == 3


def test_another_files_wording_is_the_same_question():
    maker, collector = make()
    first = ask(maker)
    assert ask(maker, "Q? ", source="g") == first
    assert ask(maker, "Q? ", source="g", choices=("a",)) != first
    assert any("worded otherwise" in note for note in collector.report().notes)


def test_pictures_are_found_by_path_id_and_hash(tmp_path):
    data = png()
    (tmp_path / "7.png").write_bytes(data)
    finder = FolderPictures([tmp_path])
    for told in (
        {"pictures": ("7.png",)},
        {"pictures": (blob_hash(data),)},
        {"find_by_id": True},
        {"pictures": ("gone/other.jpg",)},
    ):
        maker, collector = make(pictures=finder)
        ask(maker, source_id="7", **told)
        (sample,) = collector.flush().samples
        assert sample.pictures[0].picture_id == blob_hash(data), told
    uploads = MemoryPictures({"a/7.png": data})
    for name in ("7.png", "a/7", blob_hash(data)):
        assert uploads.find(name), name
    assert uploads.find("8") is None


def test_missing_pictures_are_listed_and_broken_data_urls_said():
    maker, collector = make()
    ask(maker, pictures=("a.png", "b.png", "data:image/png;base64,%%%", {"bytes": png()}))
    (sample,) = collector.flush().samples
    assert [bool(slot.picture_id) for slot in sample.pictures] == [False, False, False, True]
    report = collector.report()
    assert report.missing_pictures == ("a.png", "b.png")
    assert any("can't be decoded" in note for note in report.notes)


def test_a_missing_picture_of_a_repeated_question_is_counted_once(monkeypatch):
    monkeypatch.setattr("atom.formats.intake.collector.MAX_MISSING", 1)
    maker, collector = make()
    for number in ("1", "2", "2", "1"):
        ask(maker, source_id=number, pictures=(f"{number}.png",))
    report = collector.report()
    assert report.missing_pictures == ("1.png",)
    assert report.n_missing_pictures == 2


# Four records fill a batch.
@pytest.mark.parametrize(("limit", "sizes"), [(None, [4, 4, 1]), (7, [4, 3])])
def test_a_batch_is_handed_on_when_it_is_full_and_the_end_is_told(monkeypatch, limit, sizes):
    monkeypatch.setattr("atom.formats.intake.collector._BATCH_ROWS", 4)
    maker, collector = make(limit=limit)
    told = []
    batches = in_batches(
        map(str, range(9)),
        lambda name: ask(maker, source_id=name),
        Limit(ReadOptions(limit=limit), collector, "things"),
        end=told.append,
    )
    assert [len(batch.samples) for batch in batches] == sizes
    assert told == [limit is None]
    assert ("stopped after 7 things, as asked" in collector.report().notes) is (limit == 7)


def test_long_answers_fill_a_batch_before_its_rows_do(monkeypatch):
    """Of at most 10 letters: an answer of 6 leaves room, a second one doesn't."""
    monkeypatch.setattr("atom.formats.intake.collector._BATCH_LETTERS", 10)
    maker, collector = make()
    sample = ask(maker)
    full = []
    for model in ("m", "n"):
        maker.answer("r", sample, model, "a word")
        full.append(collector.is_full)
    assert full == [False, True]
    collector.flush()
    assert not collector.is_full


def test_answers_verdicts_votes_and_labels_come_once():
    maker, collector = make()
    sample = ask(maker)
    one = maker.answer("r", sample, "m", "x")
    assert maker.answer("r", sample, "m", "x") == one
    assert maker.answer("r", sample, "m", "y") is None
    two = maker.answer("r", sample, "n", None, known=False)
    none = maker.answer("r", sample, "o", None)
    maker.graded(one, None)
    maker.graded(two, ImportedVerdict(value=1.0))
    for label in ("a", "a", "b"):
        maker.prefer("r", sample, (one, two), "j", "tie")
        maker.label("r", GivenLabel(kind="preference", subject_id="p", annotator="w", label=label))
    batch = collector.flush()
    assert [(r.state, r.detail) for r in batch.responses] == [
        ("scored", ""), ("scored", "the file holds no answer text"),
        ("unscored", "the file holds no answer"),
    ]  # fmt: skip
    assert none
    assert len(batch.outcomes) == len(batch.preferences) == len(batch.annotations) == 1
    assert collector.report().n_skipped == 1 + 2 + 1


def test_a_label_belongs_to_the_study_that_it_came_into():
    given = GivenLabel(kind="score", subject_id="s/x", annotator="w", value=3)
    one, two = given.in_study("a", "now"), given.in_study("b", "now")
    assert one.id != two.id
    assert (one.value, one.study_id) == (3, "a")


def test_a_limit_counts_and_says_that_it_stopped():
    collector = Collector("x", "Set", ["f"])
    limit = Limit(ReadOptions(limit=2), collector)
    assert [limit.reached() for _ in range(3)] == [False, False, True]
    assert collector.report().notes == ("stopped after 2 rows, as asked",)
    assert not Limit(ReadOptions(), collector).reached()


def test_labels_are_short_words():
    found = labels_in(
        {"category": "ocr, math", "skill": ["a", "b"], "task": "x" * 90, "other": "y"},
        separator=",",
    )
    assert found == (("category", "ocr"), ("category", "math"), ("skill", "a"), ("skill", "b"))


@pytest.mark.parametrize("text", ['{"a": 1, "b": 2}', "a,b\n1,2\n", '\ufeff"b"\t"a"\n'])
def test_keys_are_seen_in_json_and_in_headers(text):
    assert names_keys(text.encode(), "a", "b")
    assert not names_keys(text.encode(), "a", "c")


@settings(max_examples=60)
@given(st.lists(st.integers(0, 40), max_size=60))
def test_numbers_are_remembered_as_a_set_would(numbers):
    seen, wanted = SeenNumbers(), set()
    for number in numbers:
        assert seen.add(number) == (number not in wanted)
        wanted.add(number)
    runs = sum(number - 1 not in wanted for number in wanted)
    assert seen.runs == runs
