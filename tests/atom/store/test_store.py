import io
import multiprocessing
import os
import shutil
import signal
import sqlite3
import stat
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from atom.errors import CorruptError, PictureError, ReadOnlyError, StoreError
from atom.files import part_path
from atom.records import (
    Call,
    Checkpoint,
    Criterion,
    Mapping,
    PictureSlot,
    Region,
    Replay,
    ReplayStep,
    Response,
    Sample,
    Sampling,
    Study,
    Tag,
)
from atom.store import Store, check_store, table
from atom.store.schema import metadata
from tests.factories import picture_file

PROMPT = "scoring/1"


def sample(number: int) -> Sample:
    return Sample(
        id=Sample.make_id("set", str(number)), dataset="set", source_id=str(number), question="?"
    )


def checkpoint(number: int, **changes: object) -> Checkpoint:
    fields = {
        "key": Checkpoint.make_key(f"c{number}", "r", "j", PROMPT, Sampling()),
        "criterion_id": f"c{number}", "response_id": "r", "judge_id": "j", "prompt": PROMPT,
        "state": "scored", "score": 3, "reason": "because", "quote": "42", "span": (3, 5),
    }  # fmt: skip
    return Checkpoint(**{**fields, **changes})


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "store") as opened:
        yield opened


def png(colour="red", size=(40, 30)) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, colour).save(out, "PNG")
    return out.getvalue()


def test_every_kind_of_value_comes_back_as_it_was(store):
    records = [
        sample(1).model_copy(
            update={"choices": ("a",), "pictures": (PictureSlot(name="x.png"),), "tolerance": 0.5}
        ),
        Replay(
            id="p", sample_id="s", judge_id="j", prompt="replay/1", state="scored", agrees=False,
            sampling=Sampling(temperature=0.0, seed=3), final_answer="42",
            steps=(ReplayStep(text="see", regions=(Region(picture=2, box=(1, 2, 3, 4)),)),),
        ),
        Call(
            id="k", request_hash="h", task="scoring", endpoint="e", model="m", prompt=PROMPT,
            reply='{"scores": []} ' * 50, cost=0.25, attempts=3, repaired=True,
        ),
        checkpoint(1),
        Mapping(
            criterion_id="c", tree_version="t", judge_id="j", prompt="m", state="scored",
            leaf=("a", "b"),
        ),
        Tag(subject="sample", subject_id="s", source="f", facet="skills", value="counting"),
        Study(id="u", name="mine", consent=("host",), judge_sampling=Sampling(temperature=0.0)),
    ]  # fmt: skip
    assert store.put(records) == len(records)
    assert store.get(Sample, sample(1).id) == records[0]
    assert store.get(Replay, "p") == records[1]
    assert store.get(Call, "k") == records[2]
    assert store.get(Checkpoint, checkpoint(1).key) == records[3]
    assert store.get(Mapping, "c", "t") == records[4]
    assert store.get(Study, "u") == records[6]


def test_adding_again_changes_nothing_and_says_so(store):
    assert store.put([sample(1), sample(2)]) == 2
    assert store.put([sample(2).model_copy(update={"question": "other"}), sample(3)]) == 1
    assert store.get(Sample, sample(2).id).question == "?"


def test_replacing_overwrites(store):
    store.put([checkpoint(1, state="failed", score=None, detail="down")])
    store.replace([checkpoint(1)])
    assert store.get(Checkpoint, checkpoint(1).key).score == 3


def test_a_transaction_happens_whole_or_not_at_all(store):
    before = store.revision()
    with pytest.raises(RuntimeError), store.write() as writer:
        writer.put([sample(1)])
        raise RuntimeError("stop")
    assert store.select(Sample) == []
    assert store.revision() == before
    store.put([sample(1)])
    assert store.revision() == before + 1


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40
)
@given(text=st.text(max_size=200))
def test_any_text_can_be_kept(store, text):
    answer = Response(
        id="r" + str(hash(text)), sample_id="s", candidate_id="c", prompt="p", text=text
    )
    store.put([answer])
    kept = store.get(Response, answer.id).text
    assert kept == text.replace("\x00", "\ufffd")


def test_a_lone_surrogate_is_shown_and_not_fatal(store):
    store.put([Response(id="r", sample_id="s", candidate_id="c", prompt="p", text="a\ud800b")])
    assert store.get(Response, "r").text == "a?b"


def test_many_records_are_read_in_chunks(store):
    store.put(sample(number) for number in range(1500))
    found = store.get_many(Sample, [sample(number).id for number in range(1500)])
    assert len(found) == 1500


# --- several processes -----------------------------------------------------------------------


def _writer(folder, start, n, errors):
    try:
        with Store.open(folder) as store:
            for number in range(start, start + n):
                with store.write() as writer:
                    writer.execute(table(Sample).select().limit(1))
                    writer.put([sample(number), checkpoint(number)])
    except Exception as error:  # noqa: BLE001 - whatever it is, the test shows it
        errors.put(repr(error))


def _reader(folder, stop, errors):
    try:
        with Store.open(folder) as store:
            while not stop.is_set():
                with store.read() as connection:
                    a = connection.exec_driver_sql("SELECT count(*) FROM samples").scalar()
                    b = connection.exec_driver_sql("SELECT count(*) FROM checkpoints").scalar()
                if a != b:
                    errors.put(f"inconsistent read: {a} samples, {b} checkpoints")
    except Exception as error:  # noqa: BLE001 - whatever it is, the test shows it
        errors.put(repr(error))


@pytest.mark.attack
def test_three_writers_and_a_reader_at_once(tmp_path):
    context = multiprocessing.get_context("spawn")
    errors, stop = context.Queue(), context.Event()
    reader = context.Process(target=_reader, args=(tmp_path, stop, errors))
    writers = [
        context.Process(target=_writer, args=(tmp_path, 1000 * i, 60, errors)) for i in range(3)
    ]
    for process in (reader, *writers):
        process.start()
    for process in writers:
        process.join(60)
    stop.set()
    reader.join(60)
    assert errors.empty(), errors.get()
    with Store.open(tmp_path) as store:
        assert len(store.select(Sample)) == 180
        assert not check_store(store).problems or all(
            "name a" in p for p in check_store(store).problems
        )


@pytest.mark.attack
def test_a_killed_writer_leaves_whole_transactions(tmp_path):
    context = multiprocessing.get_context("spawn")
    errors = context.Queue()
    Store.open(tmp_path).close()
    for round_ in range(3):
        process = context.Process(target=_writer, args=(tmp_path, 10_000 * round_, 10_000, errors))
        process.start()
        deadline = time.monotonic() + 30
        with Store.open(tmp_path) as store:
            before = len(store.select(Sample))
            while len(store.select(Sample)) < before + 5 and time.monotonic() < deadline:
                time.sleep(0.02)
            os.kill(process.pid, signal.SIGKILL)
            process.join()
            assert len(store.select(Sample)) == len(store.select(Checkpoint)) > before
            with store.read() as connection:
                assert connection.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"


def test_items_are_claimed_by_one_runner_until_the_lease_ends(store):
    with store.write() as writer:
        assert writer.claim(["a", "b"], "one", 10, now=100) == {"a", "b"}
        assert writer.claim(["b", "c"], "two", 10, now=105) == {"c"}
        assert writer.claim(["a"], "one", 10, now=105) == {"a"}
        assert writer.claim(["b"], "two", 10, now=111) == {"b"}
        writer.release("two")
        assert writer.claim(["c"], "one", 10, now=105) == {"c"}


# --- opening ---------------------------------------------------------------------------------


def test_the_migrated_schema_is_the_one_that_the_code_knows(store):
    with store.read() as connection:
        for name, known in metadata.tables.items():
            rows = connection.exec_driver_sql(f"PRAGMA table_info({name})").all()
            assert {row[1] for row in rows} - {"row_sum"} == {c.name for c in known.columns}, name


def test_a_newer_store_is_refused_in_words(tmp_path):
    Store.open(tmp_path).close()
    with sqlite3.connect(tmp_path / "atomscope.sqlite") as connection:
        connection.execute("UPDATE meta SET value = '99' WHERE key = 'schema_version'")
    connection.close()
    with pytest.raises(StoreError, match=r"schema 99.*update Atomscope"):
        Store.open(tmp_path)


def test_a_file_that_is_no_database_is_refused_in_words(tmp_path):
    (tmp_path / "atomscope.sqlite").write_bytes(b"not a database " * 100)
    with pytest.raises(CorruptError, match="damaged"):
        Store.open(tmp_path)


def test_a_sealed_store_is_read_from_a_read_only_folder_and_never_written(tmp_path):
    folder = tmp_path / "sealed"
    with Store.open(folder) as store:
        store.put([sample(1)])
        picture = store.add_picture(png())
    with sqlite3.connect(folder / "atomscope.sqlite") as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()
    shutil.rmtree(folder / "thumbs")
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        with Store.open(folder, read_only=True) as store:
            assert store.get(Sample, sample(1).id) is not None
            assert store.pictures.thumbnail(picture.id)
            with pytest.raises(ReadOnlyError, match="copy it"):
                store.put([sample(2)])
            with pytest.raises(ReadOnlyError):
                store.add_picture(png("blue"))
    finally:
        folder.chmod(stat.S_IRWXU)
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


def test_a_folder_with_checksums_is_never_opened_for_writing(tmp_path):
    with Store.open(tmp_path) as store:
        store.put([sample(1)])
    with sqlite3.connect(tmp_path / "atomscope.sqlite") as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()
    (tmp_path / "SHA256SUMS").write_text("", encoding="utf-8")
    before = (tmp_path / "atomscope.sqlite").read_bytes()
    with Store.open(tmp_path) as store:
        assert store.read_only
        assert len(store.select(Sample)) == 1
        with pytest.raises(ReadOnlyError, match="copy it"):
            store.put([sample(2)])
    assert (tmp_path / "atomscope.sqlite").read_bytes() == before


def test_a_sealed_store_that_is_not_there_is_named(tmp_path):
    with pytest.raises(StoreError, match="no store in"):
        Store.open(tmp_path / "nowhere", read_only=True)


# --- pictures --------------------------------------------------------------------------------


def test_a_picture_is_kept_once_with_its_thumbnail(store):
    first, second = store.add_picture(png()), store.add_picture(png())
    assert first == second
    assert (first.media_type, first.width, first.height) == ("image/png", 40, 30)
    assert store.pictures.read(first.id) == png()
    with Image.open(io.BytesIO(store.pictures.thumbnail(first.id))) as thumb:
        assert thumb.format == "WEBP"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "can't be read as a picture"),
        (b"<svg/>", "can't be read as a picture"),
        (png()[:60], "can't be read as a picture|broken"),
    ],
)
def test_what_is_no_picture_is_refused_and_leaves_nothing(store, data, message):
    with pytest.raises(PictureError, match=message):
        store.add_picture(data, "thing.png")
    assert not list(store.folder.glob("pictures/**/*.*"))


def test_a_bomb_is_refused_by_its_header(store):
    header = bytearray(png())
    header[16:24] = (60_000).to_bytes(4, "big") * 2
    import zlib

    header[29:33] = zlib.crc32(bytes(header[12:29])).to_bytes(4, "big")
    with pytest.raises(PictureError, match=r"scale it down|can't be read"):
        store.add_picture(bytes(header), "bomb.png")


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "CMYK", "I;16", "I", "F", "YCbCr"])
def test_every_mode_gets_a_thumbnail(store, mode):
    out = io.BytesIO()
    name = "JPEG" if mode in ("CMYK", "YCbCr") else "TIFF" if mode in ("F", "I") else "PNG"
    Image.new(mode, (50, 40)).save(out, name)
    picture = store.add_picture(out.getvalue())
    assert store.pictures.thumbnail(picture.id)


# --- check -----------------------------------------------------------------------------------


def test_a_sound_store_has_no_problems(store):
    store.put(
        [sample(1), Criterion(id="c1", sample_id=sample(1).id, question="q", ground_truth="g")]
    )
    store.put([Response(id="r", sample_id=sample(1).id, candidate_id="m", prompt="p", text="42")])
    store.put(
        [checkpoint(1), checkpoint(2, criterion_id="c1", state="unscored", score=None, detail="no")]
    )
    report = check_store(store)
    assert report.problems == ()
    assert report.states == {"scored": 1, "unscored": 1}
    assert report.counts["samples"] == 1


def test_dangling_links_wrong_states_and_changed_pictures_are_named(store):
    store.put([checkpoint(1), checkpoint(2, state="unscored", score=None, detail="")])
    picture = store.add_picture(png())
    picture_file(store, picture.id).write_bytes(b"other")
    gone = store.add_picture(png("green"))
    picture_file(store, gone.id).unlink()
    problems = "\n".join(check_store(store).problems)
    assert "2 rows of checkpoints name a criterion_id that isn't in criteria" in problems
    assert "1 checkpoints whose state, score and reason don't fit together" in problems
    assert "is not what its name says" in problems
    assert "is missing from the store's pictures folder" in problems


def test_opening_clears_what_a_killed_process_left_beside_pictures(tmp_path):
    with Store.open(tmp_path) as store:
        store.pictures.add(png())
    left = part_path(tmp_path / "pictures" / "x")
    left = left.with_name(left.name.replace(f"-{os.getpid()}-", "-999999999-"))
    left.write_bytes(b"half")
    Store.open(tmp_path).close()
    assert not left.exists()
    assert len([path for path in (tmp_path / "pictures").rglob("*") if path.is_file()]) == 1
