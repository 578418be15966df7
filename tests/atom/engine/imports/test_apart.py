"""Files that are read in another process come in as if they weren't."""

from __future__ import annotations

import json
import os
import signal
from contextlib import suppress
from datetime import UTC, datetime

import pytest

from atom.engine.imports import importing
from atom.engine.imports.importing import import_reading
from atom.errors import ConflictError, DoubtError, FormatError, UsageError
from atom.formats import ImportFile, read
from atom.formats.intake.collector import Collector
from atom.records import Import, Sample, Study
from atom.store import Store, check_store
from benchmarks.import_rate import generate, generate_log, generate_marks

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
LATER = datetime(2026, 1, 2, tzinfo=UTC)


@pytest.fixture
def apart(monkeypatch):
    """Read apart whatever comes, in small batches; says which processes did."""
    begun = []
    fork = os.fork

    def counted():
        begun.append(fork())
        return begun[-1]

    monkeypatch.setattr("atom.formats.intake.collector._BATCH_ROWS", 40)
    monkeypatch.setattr(os, "fork", counted)
    monkeypatch.setattr(importing, "is_worthwhile", lambda _: True)
    yield begun
    for child in begun:
        with pytest.raises(ChildProcessError):
            os.waitpid(child, os.WNOHANG)


def here(monkeypatch):
    monkeypatch.setattr(importing, "is_worthwhile", lambda _: False)


def contents(store):
    """Return every row of every table but the counters of changes."""
    with store.read() as connection:
        tables = connection.exec_driver_sql(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT IN "
            "('meta', 'revisions')"
        ).scalars()
        return {
            name: sorted(map(repr, connection.exec_driver_sql(f'SELECT * FROM "{name}"').all()))
            for name in tables.all()
        }


def written(make, *args):
    def file(folder, name):
        make(folder / name, *args)
        return [ImportFile.from_path(folder / name)]

    return file


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def undecided(folder, name):
    """Answers without verdicts, and a question that stands twice with another text between."""
    rows = [
        {"id": n % 17, "question": f"How much is {n % 17} and 1?", "answer": str(n % 17 + 1),
         "model": f"m{n // 17}", "response": f"It's {n % 17 + 1 + n % 2}.", "kind": f"k{n % 3}"}
        for n in range(51)
    ]  # fmt: skip
    return [ImportFile.from_bytes("a.jsonl", lines(rows)),
            ImportFile.from_bytes("b.jsonl", lines(rows[:20]))]  # fmt: skip


def votes(folder, name):
    head = "id,question,response_a,response_b,model_a,model_b,winner,judge\n"
    rows = "".join(f"{n},Which {n}?,yes {n},no,ann,bob,{'ab'[n % 2]},j\n" for n in range(30))
    return [ImportFile.from_bytes("votes.csv", (head + rows).encode())]


CASES = {
    "table": ("table", written(generate, 90, 3)),
    "log": ("lmms-eval", written(generate_log, 40, 3)),
    "marks": ("judgments", written(generate_marks, 96, 3)),
    "undecided": ("table", undecided),
    "votes": ("table", votes),
}


QUICK = {"table", "votes"}


@pytest.mark.parametrize(
    "case", [pytest.param(c, marks=() if c in QUICK else pytest.mark.slow) for c in CASES]
)
def test_it_comes_to_the_same(tmp_path, monkeypatch, apart, case):
    """Into an empty store, beside another study, again, and after a part of it."""
    format, files = CASES[case]
    name = "1_samples_x.jsonl"
    whole = files(tmp_path, name)

    def bring(store, given, study, moment):
        heard = []
        done = import_reading(
            store, read(format, given), study, moment, accept=True, on_batch=heard.append
        )
        return done.report, done.record, heard[-1]

    found = []
    for place in ("apart", "here"):
        with Store.open(tmp_path / place) as store:
            said = [bring(store, whole, "One", MOMENT), contents(store)]
            said += [bring(store, whole, "Two", MOMENT), bring(store, whole, "One", LATER)]
            assert check_store(store).problems == ()
            found.append([*said, contents(store)])
        if place == "apart":
            assert len(apart) == 3
            here(monkeypatch)
    assert found[0] == found[1]
    assert len(found[0][1]["responses"]) > 25


def changed(part, answer):
    rows = [{"id": n, "question": f"Q{n}?", "model": "m", "response": f"a{n}", "correct": 1}
            for n in range(60)]  # fmt: skip
    rows[part]["response"] = answer
    return [ImportFile.from_bytes("t.jsonl", lines(rows[part // 2 :]))]


@pytest.mark.parametrize(
    "part", [pytest.param(0, marks=pytest.mark.slow), 30, pytest.param(59, marks=pytest.mark.slow)]
)
def test_other_contents_are_found_wherever_they_stand(tmp_path, monkeypatch, apart, part):
    found = []
    for place in ("apart", "here"):
        with Store.open(tmp_path / place) as store:
            import_reading(store, read("table", changed(part, "a")[:1]), "S", MOMENT)
            before = contents(store)
            with pytest.raises(ConflictError) as raised:
                import_reading(store, read("table", changed(part, "b")), "S", LATER)
            assert contents(store) == before
            done = import_reading(
                store, read("table", changed(part, "b")), "S", LATER, replace=True
            )
            found.append((str(raised.value), done.report, contents(store)))
        here(monkeypatch)
    assert found[0] == found[1]


def test_what_was_moved_already_goes_out_again(tmp_path, monkeypatch, apart):
    """New questions come first, and only then one that the store holds."""
    old = {"id": 99, "question": "Old?", "model": "m", "response": "a", "correct": 1}
    rows = [{**old, "id": n, "question": f"Q{n}?", "response": f"a{n}"} for n in range(40)]
    found = []
    for place in ("apart", "here"):
        with Store.open(tmp_path / place) as store:
            for moment, some in ((MOMENT, [old]), (LATER, [*rows, old, *rows[:3]])):
                file = ImportFile.from_bytes("t.jsonl", lines(some))
                done = import_reading(store, read("table", [file]), "S", moment)
            found.append((done.report, done.record, contents(store)))
        here(monkeypatch)
    assert found[0] == found[1]
    assert done.record.samples == 41


def nothing(store):
    return [store.select(kind) for kind in (Study, Import, Sample)] == [[], [], []]


@pytest.mark.parametrize("stop", ["asked", "killed"])
def test_an_import_that_is_stopped_leaves_nothing(tmp_path, apart, stop):
    files = CASES["table"][1](tmp_path, "t.jsonl")
    generate(files[0].folder / "t.jsonl", 600, 1)  # more than a pipe holds

    def told(_):
        if stop == "asked":
            raise UsageError("you stopped it")
        with suppress(ProcessLookupError):
            os.kill(apart[0], signal.SIGKILL)

    words = {"asked": (UsageError, "you stopped it"), "killed": (FormatError, "ended from outside")}
    kind, text = words[stop]
    with Store.open(tmp_path / "s") as store:
        with pytest.raises(kind, match=text):
            import_reading(store, read("table", files), "S", MOMENT, on_batch=told)
        assert nothing(store)
        store.put([Study(id="x", name="Another")])  # nobody holds it


def test_what_is_raised_there_is_raised_here(tmp_path, monkeypatch, apart):
    flush = Collector.flush
    batches = []

    def broken(collector):
        batches.append(flush(collector))
        if len(batches) == 3:
            raise LookupError("a bug of ours")
        return batches[-1]

    monkeypatch.setattr(Collector, "flush", broken)
    reading = read("table", CASES["table"][1](tmp_path, "t.jsonl"))
    with Store.open(tmp_path / "s") as store:
        with pytest.raises(LookupError, match="a bug of ours") as raised:
            import_reading(store, reading, "S", MOMENT)
        assert batches == []  # it was raised elsewhere
        assert "in broken" in raised.value.__notes__[0]
        assert nothing(store)


def test_doubts_stop_it_when_all_was_moved(tmp_path, apart):
    rows = "id,question,response,correct\n" + "".join(
        f"{n},Q{n}?,a,1\n" if n % 2 else "7,Other?,a,1,too,many\n" for n in range(60)
    )
    file = ImportFile.from_bytes("t.csv", rows.encode())
    with Store.open(tmp_path / "s") as store:
        with pytest.raises(DoubtError):
            import_reading(store, read("table", [file]), "S", MOMENT)
        assert nothing(store)


@pytest.mark.slow
def test_real_files_come_to_the_same(tmp_path, monkeypatch, apart, shared_folder):
    """The largest of each folder; how each comes in is what `test_real_files` looks at."""
    largest = {}
    for path in sorted((shared_folder / "real").rglob("*.[cjt]s*")):
        size = path.stat().st_size
        if size < 3_000_000 and size > largest.get(path.parent, (0,))[0]:
            largest[path.parent] = (size, path)
    chosen = [path for _, path in largest.values()][:12]
    monkeypatch.setattr("atom.formats.intake.collector._BATCH_ROWS", 400)
    found = {"apart": [], "here": []}
    for place, said in found.items():
        with Store.open(tmp_path / place) as store:
            for number, path in enumerate(chosen):
                with suppress(FormatError):
                    reading = read(None, [ImportFile.from_path(path)])
                    done = import_reading(store, reading, f"S{number}", MOMENT, accept=True)
                    said.append((path.name, done.report, done.record))
            said.append(contents(store))
        here(monkeypatch)
    assert found["apart"] == found["here"]
