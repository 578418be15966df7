"""A study written as an archive and read back: every id and every value is equal."""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from atom.errors import AtomError, FormatError, FullError, UsageError
from atom.exports.archive import write_archive
from atom.exports.archive_read import import_archive, is_archive, read_manifest
from atom.files import in_words, size_of
from atom.foreign.parsers import ParserLimits
from atom.records import BenchItem, BenchSet, Call, Candidate, Response, Study, Verdict
from atom.store import Store, check_store, faults, find_study, list_studies, undo_import
from atom.store.schema import KINDS
from atom.store.selection import Selection
from tests.atom.exports.whole_study import HALF, LONG, MOMENT, make_whole, with_hint
from tests.bombs import parquet_bomb
from tests.factories import STUDY, open_small
from tests.held import linked_records
from tests.hurt import full


def everything(store: Store) -> dict[str, list[str]]:
    """Return every record of a store, by kind."""
    return {
        kind.table.name: sorted(repr(record) for record in store.select(kind.record))
        for kind in KINDS.values()
    }


def of_study(store: Store, study) -> dict[str, list[str]]:
    """Return every record of one study, by kind: judge benchmarks belong to none."""
    found = {kind.table.name: [] for kind in KINDS.values()}
    for kind, chunks in Selection(store, study).kinds():
        found[KINDS[kind].table.name] += [repr(record) for chunk in chunks for record in chunk]
    return {name: sorted(rows) for name, rows in found.items()}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return a store with one study that holds every kind of record, and its archives."""
    folder = tmp_path_factory.mktemp("whole")
    store, study = make_whole(folder / "store")
    with_hint(store, study)
    with store:
        write_archive(store, study.id, folder / "a.zip", MOMENT)
        write_archive(store, study.id, folder / "a", MOMENT)
        yield store, study, folder


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a.zip", "a"])
def test_every_id_and_value_is_equal(whole, tmp_path, name):
    store, _, folder = whole
    with Store.open(tmp_path / "other") as other:
        brought = import_archive(other, folder / name)
        assert everything(other) == everything(store)
        assert brought.kept == {}
        assert brought.new == sum(brought.counts.values())
        assert check_store(other).problems == ()
        assert find_study(other, STUDY).note == "für später ✓"
        assert other.get(Call, "c-long").reply == LONG + HALF
        linked = [linked_records(one, i) for one in (store, other) for i in imports(one)]
        assert linked[0] == linked[1] != {}


def imports(store: Store) -> list[str]:
    from atom.records import Import

    return [one.id for one in store.select(Import)]


def test_every_kind_that_a_study_can_hold_was_there(whole):
    _, _, folder = whole
    manifest = read_manifest(folder / "a.zip")
    held = set(manifest.counts)
    assert {kind.table.name for kind in KINDS.values()} - held == {"bench_sets", "bench_items"}
    assert manifest.drops == ()
    # 5 samples show a picture each (one of them twice the same), one has lost its own: 5 files.
    assert sum(file.path.startswith("pictures/") for file in manifest.files) == 5


@pytest.mark.slow
def test_lines_and_columns_hold_the_same(whole, tmp_path):
    _, _, folder = whole
    shutil.copytree(folder / "a", tmp_path / "lines")
    manifest = json.loads((tmp_path / "lines" / "manifest.json").read_text())
    for path in (tmp_path / "lines" / "records").glob("*.parquet"):
        if path.stem != "import_links":
            path.unlink()
    manifest["files"] = [
        file
        for file in manifest["files"]
        if file["path"].endswith("import_links.parquet") or not file["path"].endswith(".parquet")
    ]
    (tmp_path / "lines" / "manifest.json").write_text(json.dumps(manifest))
    with Store.open(tmp_path / "one") as one, Store.open(tmp_path / "two") as two:
        import_archive(one, tmp_path / "lines")
        import_archive(two, folder / "a")
        assert everything(one) == everything(two)


def test_other_tools_can_read_the_columns(whole):
    _, _, folder = whole
    table = pq.read_table(folder / "a" / "records" / "checkpoints.parquet")
    # 6 samples x 3 candidates x 3 criteria, one of which is still to be scored; a person's two.
    assert (table.num_rows, str(table.schema.field("score").type)) == (55, "int64")
    assert str(table.schema.field("value").type) == "double"


@pytest.mark.slow
def test_nothing_of_other_studies_comes_along(tmp_path):
    with open_small(tmp_path / "store") as store:
        store.put([BenchSet(id="b", benchmark="x", name="x"), BenchItem(set_id="b", id="1",
                   position=0), Verdict(key="k", group="b", subject_id="1", part="p", judge="j",
                                        prompt="p/1", state="scored")])  # fmt: skip
        write_archive(store, STUDY, tmp_path / "a.zip", MOMENT)
        write_archive(store, "Imported", tmp_path / "b.zip", MOMENT)
    with Store.open(tmp_path / "other") as other:
        import_archive(other, tmp_path / "a.zip")
        assert [study.name for study in list_studies(other)] == [STUDY]
        # Six samples with three answers each; the other study's eight stay where they are.
        assert (len(other.select(Response)), other.select(Verdict)) == (18, [])
        # The second study shares a candidate with the first: it's the same one.
        brought = import_archive(other, tmp_path / "b.zip")
        assert (brought.kept, len(other.select(Response))) == ({}, 26)
        assert undone_is_whole(other)


def undone_is_whole(store: Store) -> bool:
    return check_store(store).problems == ()


def test_an_import_in_the_archive_can_still_be_taken_back(whole, tmp_path):
    _, _, folder = whole
    with Store.open(tmp_path / "other") as other:
        import_archive(other, folder / "a.zip")
        undone = undo_import(other, imports(other)[0])
        assert (undone.samples, undone.responses) == (1, 1)
        assert other.select(Candidate, limit=9)[0].name != "model-z"
        assert len(other.select(Candidate)) == 3


@pytest.mark.slow
def test_a_study_that_is_there_already_can_come_in_as_a_copy(whole, tmp_path):
    _, study, folder = whole
    with Store.open(tmp_path / "other") as other:
        import_archive(other, folder / "a.zip")
        before = everything(other)
        with pytest.raises(UsageError, match="already"):
            import_archive(other, folder / "a.zip")
        assert everything(other) == before
        copied = import_archive(other, folder / "a.zip", name="Second").study
        assert (copied.name, copied.copied_from) == ("Second", study.id)
        assert len(list_studies(other)) == 2


def test_what_the_store_holds_with_other_values_is_kept_and_told(whole, tmp_path):
    _, _, folder = whole
    with Store.open(tmp_path / "other") as other:
        mine = Candidate(id="cand-a", name="My own name for it")
        other.put([mine])
        brought = import_archive(other, folder / "a.zip")
        assert brought.kept == {"candidates": 1}
        assert other.get(Candidate, "cand-a") == mine


def test_an_agreement_to_send_data_off_does_not_travel(tmp_path):
    with open_small(tmp_path / "store") as store:
        study = find_study(store, STUDY)
        store.replace([study.model_copy(update={"consent": ("api.example.test",)})])
        write_archive(store, STUDY, tmp_path / "a.zip", MOMENT)
    with Store.open(tmp_path / "other") as other:
        assert import_archive(other, tmp_path / "a.zip").consent == ("api.example.test",)
        assert other.select(Study)[0].consent == ()


def test_the_place_must_be_free(whole):
    store, study, folder = whole
    with pytest.raises(UsageError, match="already"):
        write_archive(store, study.id, folder / "a.zip", MOMENT)
    with pytest.raises(UsageError, match="no study"):
        write_archive(store, "nope", folder / "b.zip", MOMENT)
    assert sorted(path.name for path in folder.iterdir()) == ["a", "a.zip", "store"]


# --- broken and hostile archives -----------------------------------------------------------------


def test_an_archive_cut_anywhere_is_refused_and_leaves_nothing(whole, tmp_path):
    _, _, folder = whole
    data = (folder / "a.zip").read_bytes()
    with Store.open(tmp_path / "other") as other:
        for part in range(1, 20):
            cut = tmp_path / "cut.zip"
            cut.write_bytes(data[: len(data) * part // 20])
            with pytest.raises(AtomError):
                import_archive(other, cut)
        assert [n for n in everything(other).values() if n] == []


def edited(folder, tmp_path, change):
    """Copy the folder's archive and change its files; checksums are made anew."""
    from atom.exports.archive import file_hash

    place = tmp_path / "edited"
    shutil.copytree(folder / "a", place)
    change(place)
    manifest = json.loads((place / "manifest.json").read_text())
    for file in manifest["files"]:
        path = place / file["path"]
        if path.exists():
            file["sha256"], file["n_bytes"] = file_hash(path), path.stat().st_size
    (place / "manifest.json").write_text(json.dumps(manifest))
    return place


def rewrite(name, values):
    """Change a column of a kind's Parquet file."""

    def change(place):
        path = place / "records" / f"{name}.parquet"
        table = pq.read_table(path)
        rows = table.to_pylist()
        rows[0].update(values)
        pq.write_table(type(table).from_pylist(rows, schema=table.schema), path)

    return change


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (rewrite("study_samples", {"study_id": "another"}), "isn't this study's"),
        (rewrite("verdicts", {"group": "another"}), "isn't this study's"),
        (rewrite("pictures", {"id": "../../etc/passwd"}), "isn't this study's"),
        (rewrite("samples", {"pictures": '[{"picture_id":"../../x"}]'}), "isn't this study's"),
        (rewrite("checkpoints", {"score": 99}), "damaged"),
        (rewrite("samples", {"pictures": "[["}), "damaged"),
        (lambda place: (place / "records" / "tags.parquet").unlink(), "lacks"),
        (lambda place: (place / "records" / "tags.parquet").write_bytes(b"PAR1"), "can't be read"),
    ],
)
def test_a_hostile_archive_is_refused_and_leaves_nothing(whole, tmp_path, change, words):
    _, _, folder = whole
    place = edited(folder, tmp_path, change)
    with Store.open(tmp_path / "other") as other:
        with pytest.raises(FormatError, match=words):
            import_archive(other, place)
        assert [n for n in everything(other).values() if n] == []


@pytest.mark.slow
def test_a_page_that_would_fill_the_memory_is_refused(whole, tmp_path, monkeypatch):
    limits = ParserLimits(memory=700 << 20, cpu=20)
    monkeypatch.setattr("atom.exports.archive_read.time_for", lambda n_bytes: limits)
    bomb = parquet_bomb(characters=40_000_000)  # 64 rows of it: 2.6 GB
    place = edited(
        whole[2], tmp_path, lambda at: (at / "records" / "tags.parquet").write_bytes(bomb)
    )
    packed = Path(shutil.make_archive(str(tmp_path / "z"), "zip", place))
    with Store.open(tmp_path / "other") as other:
        with pytest.raises(FormatError, match=r"takes more than 734 MB of memory.*get it again"):
            import_archive(other, packed)
        assert [n for n in everything(other).values() if n] == []


def test_a_line_without_end_is_refused(whole, tmp_path, monkeypatch):
    monkeypatch.setattr("atom.exports.archive_read._LINE_BYTES", 1 << 20)

    def lines(at):
        (at / "records" / "tags.parquet").unlink()
        (at / "records" / "tags.jsonl").write_bytes(b"x" * (2 << 20))
        manifest = json.loads((at / "manifest.json").read_text())
        for file in manifest["files"]:
            file["path"] = file["path"].replace("tags.parquet", "tags.jsonl")
        (at / "manifest.json").write_text(json.dumps(manifest))

    with Store.open(tmp_path / "other") as other:
        with pytest.raises(FormatError, match="line 1 has more than 1 MB"):
            import_archive(other, edited(whole[2], tmp_path, lines))
        assert [n for n in everything(other).values() if n] == []


def test_a_manifest_that_says_too_little_is_refused(whole, tmp_path):
    _, _, folder = whole
    shutil.copytree(folder / "a", tmp_path / "b")
    (tmp_path / "b" / "manifest.json").write_text('{"files": []}')
    with Store.open(tmp_path / "other") as other, pytest.raises(FormatError, match="can't be read"):
        import_archive(other, tmp_path / "b")


def test_a_changed_byte_is_noticed(whole, tmp_path):
    _, _, folder = whole
    shutil.copytree(folder / "a", tmp_path / "b")
    path = tmp_path / "b" / "records" / "tags.jsonl"
    path.write_bytes(path.read_bytes().replace(b"easy", b"hard", 1))
    with Store.open(tmp_path / "other") as other, pytest.raises(FormatError, match="checksum"):
        import_archive(other, tmp_path / "b")


@pytest.mark.parametrize("version", ["version", "schema_version"])
def test_an_archive_of_a_newer_atomscope_is_refused(whole, tmp_path, version):
    _, _, folder = whole
    shutil.copytree(folder / "a", tmp_path / "b")
    path = tmp_path / "b" / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {version: 999}))
    with Store.open(tmp_path / "other") as other, pytest.raises(FormatError, match="newer"):
        import_archive(other, tmp_path / "b")


def test_a_full_disk_is_told_how_much_room_an_archive_needs(whole, tmp_path, monkeypatch):
    _, _, folder = whole
    monkeypatch.setattr(faults, "LEAST_ROOM", 0)
    Store.open(tmp_path / "other").close()
    needed = f"about {in_words(size_of(folder / 'a'))} are needed"
    with (
        full(tmp_path / "other"),
        Store.open(tmp_path / "other") as other,
        pytest.raises(FullError, match=re.escape(needed)),
    ):
        import_archive(other, folder / "a")


def test_what_is_no_archive_is_told(tmp_path):
    other = tmp_path / "x.zip"
    with zipfile.ZipFile(other, "w") as packed:
        packed.writestr("readme.txt", "no")
    text = tmp_path / "x.txt"
    text.write_text("no")
    assert not any(is_archive(path) for path in (other, text, tmp_path, tmp_path / "none"))
    for path in (other, text, tmp_path):
        with pytest.raises(FormatError, match="archive"):
            read_manifest(path)
    with pytest.raises(UsageError, match="there is no"):
        read_manifest(tmp_path / "none")


@pytest.mark.slow
def test_the_bundled_study_comes_back_equal(project, tmp_path):
    if not (project / "data" / "demo" / "SHA256SUMS").exists():
        pytest.skip("the bundled study isn't in this checkout (data/demo)")
    with Store.open(project / "data" / "demo", read_only=True) as demo:
        (study,) = list_studies(demo)
        write_archive(demo, study.id, tmp_path / "demo", datetime(2026, 1, 1, tzinfo=UTC))
        with Store.open(tmp_path / "other") as other:
            import_archive(other, tmp_path / "demo")
            assert everything(other) == of_study(demo, study)
