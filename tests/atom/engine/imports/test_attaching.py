"""Pictures come to samples that are there; ids stay, nothing is guessed, doing it twice is safe."""

from __future__ import annotations

import io
from datetime import UTC, datetime

import pytest
from PIL import Image

from atom.engine.imports.attaching import attach_pictures, missing_pictures
from atom.engine.imports.importing import import_reading
from atom.engine.study.spec import RunSpec
from atom.engine.work import run
from atom.errors import PictureError, ReadOnlyError
from atom.formats import ImportFile, read
from atom.formats.picture_stock import stock_of
from atom.records import PictureSlot, Replay, Sample, Study, StudySample
from atom.store import Store, check_store, find_study
from atom.store.imports.undo import undo_import
from tests.factories import picture_file

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


def png(shade: int) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (20, 12), (shade % 256, shade // 256, 90)).save(out, "PNG")
    return out.getvalue()


@pytest.fixture
def bare(tmp_path):
    """Return a store with a study whose samples miss their pictures."""
    rows = (("1", ("images/a.png",)), ("2", ("images/b.png", "images/a.png")), ("3", ("",)))
    with Store.open(tmp_path / "bare") as store:
        study = Study(id=Study.make_id("Bare"), name="Bare")
        samples = [
            Sample(
                id=Sample.make_id("set", number),
                dataset="set",
                source_id=number,
                question="What is it?",
                pictures=tuple(PictureSlot(name=name) for name in names),
            )
            for number, names in rows
        ]
        places = [
            StudySample(study_id=study.id, sample_id=sample.id, position=at)
            for at, sample in enumerate(samples)
        ]
        store.put([study, *samples, *places])
        yield store


def test_places_are_filled_and_ids_stay(bare):
    study = find_study(bare, "Bare")
    before = {one.id for one in bare.select(Sample)}
    stock = stock_of(uploads=[("x/a.png", png(1)), ("3.png", png(2)), ("other.png", png(3))])
    tried = attach_pictures(bare, study, stock, keep=False)
    assert tried.attached == 3
    assert len(missing_pictures(bare, study.id)) == 4
    done = attach_pictures(bare, study, stock)
    # a.png fills two places, 3.png the one without a name; b.png isn't there.
    assert (done.places, done.attached, done.samples) == (4, 3, 2)
    assert done.by == {"id": 1, "name": 2}
    assert [one.words for one in done.still] == ["images/b.png"]
    assert done.unused == ("other.png",)
    assert {one.id for one in bare.select(Sample)} == before
    assert [one.words for one in missing_pictures(bare, study.id)] == ["images/b.png"]
    assert check_store(bare).problems == ()


def test_doing_it_again_changes_nothing(bare):
    study = find_study(bare, "Bare")
    attach_pictures(bare, study, stock_of(uploads=[("a.png", png(1)), ("b.png", png(2))]))
    before = {one.id: one for one in bare.select(Sample)}
    again = attach_pictures(bare, study, stock_of(uploads=[("a.png", png(7)), ("b.png", png(8))]))
    assert (again.places, again.attached) == (1, 0)
    assert {one.id: one for one in bare.select(Sample)} == before


def test_what_is_doubtful_or_broken_is_told_and_stays_missing(bare):
    study = find_study(bare, "Bare")
    cut = png(5)[:60]
    stock = stock_of(uploads=[("p/a.png", png(1)), ("q/a.png", png(2)), ("b.png", cut)])
    for keep in (False, True):
        done = attach_pictures(bare, study, stock, keep=keep)
        assert done.attached == 0
        assert {one.words for one, _ in done.doubtful} == {"images/a.png"}
        assert done.doubtful[0][1] == ("p/a.png", "q/a.png")
        assert len(done.refused) == 1
        assert done.refused[0].startswith("b.png: ")
        assert done.unused == ()
    titles = [title for title, _ in done.lists]
    assert titles == [
        "Still missing",
        "Several files could be meant, so none was taken",
        "Files that can't be used",
    ]


def test_a_picture_whose_file_is_gone_comes_back_by_its_hash(bare):
    study = find_study(bare, "Bare")
    attach_pictures(bare, study, stock_of(uploads=[("a.png", png(1)), ("3.png", png(3))]))
    gone = bare.get(Sample, Sample.make_id("set", "1")).pictures[0].picture_id
    picture_file(bare, gone).unlink()
    with pytest.raises(PictureError, match="study pictures FOLDER --study NAME"):
        bare.pictures.read(gone)
    assert "images/a.png" in [one.words for one in missing_pictures(bare, study.id)]
    done = attach_pictures(bare, study, stock_of(uploads=[("whatever.png", png(1))]))
    # One file serves both places that had it.
    assert done.by == {"hash": 1}
    assert [one.words for one in missing_pictures(bare, study.id)] == ["images/b.png"]
    assert bare.pictures.read(gone) == png(1)


def test_a_sealed_study_says_what_to_do(bare, tmp_path):
    bare.close()
    with Store.open(tmp_path / "bare", read_only=True) as sealed:
        study = find_study(sealed, "Bare")
        stock = stock_of(uploads=[("a.png", png(1))])
        assert attach_pictures(sealed, study, stock, keep=False).attached == 2
        with pytest.raises(ReadOnlyError, match="copy it"):
            attach_pictures(sealed, study, stock)


@pytest.mark.slow
async def test_mathvista_without_pictures_gets_them_later_and_is_judged(
    shared_folder, tmp_path, endpoints
):
    source = shared_folder / "real" / "mathvista"
    reading = read(None, [ImportFile.from_path(source / "output_bard.json")])
    with Store.open(tmp_path / "store") as store:
        brought = import_reading(store, reading, "MathVista", MOMENT)
        study, record = brought.study, brought.record
        empty = missing_pictures(store, study.id)
        assert len(empty) == len(store.select(Sample)) == 1000
        folder = tmp_path / "data" / "images"
        folder.mkdir(parents=True)
        names = {one.place.name for one in empty}
        # Made up: a plain picture under the expected name, but for every tenth.
        left_out = set(sorted(names)[::10])
        for shade, name in enumerate(sorted(names - left_out)):
            (folder / name.rsplit("/", 1)[-1]).write_bytes(png(shade))
        done = attach_pictures(store, study, stock_of([folder]))
        assert done.attached == sum(one.place.name not in left_out for one in empty)
        assert {one.words for one in done.still} == left_out
        assert done.unused == done.refused == done.doubtful == ()

        ended = await run(
            store,
            RunSpec(study_id=study.id, judge="probe-judge", stages=("replay",)),
            {**endpoints},
        )
        solved = {one.sample_id: one for one in store.select(Replay)}
        assert len(solved) == 1000
        for one in empty:
            state, detail = solved[one.sample_id].state, solved[one.sample_id].detail
            if one.place.name in left_out:
                assert state == "failed"
                assert one.place.name in detail
                assert "study pictures FOLDER --study NAME" in detail
                assert "import" not in detail
            else:
                # The probe judge looks, and says that this isn't a probe.
                assert state == "unscored", detail
        assert ended.failed == len(done.still)

        for name in left_out:
            (folder / name.rsplit("/", 1)[-1]).write_bytes(png(9))
        rest = attach_pictures(store, study, stock_of([folder]))
        assert (rest.attached, rest.still) == (len(done.still), ())
        undo_import(store, record.id)
        assert check_store(store).problems == ()
