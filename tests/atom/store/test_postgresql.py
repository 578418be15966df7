"""The same store code on PostgreSQL, where a server is installed."""

import os
import pwd
import shutil
import subprocess
from pathlib import Path

import pytest

from atom.records import Call, Sample, Study
from atom.store import Store, check_store, find_study, table


def _binaries() -> Path | None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found else None


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    binaries = _binaries()
    if binaries is None:
        pytest.skip("no PostgreSQL server is installed")
    pytest.importorskip("psycopg", reason="psycopg isn't installed")
    root = tmp_path_factory.mktemp("pg")
    prefix = []
    if os.getuid() == 0:
        try:
            pwd.getpwnam("postgres")
        except KeyError:
            pytest.skip("a server doesn't run as root, and there is no user postgres")
        for folder in (root, *root.parents):
            if str(folder).startswith("/tmp/pytest"):
                folder.chmod(0o755)
        shutil.chown(root, "postgres")
        prefix = ["runuser", "-u", "postgres", "--"]

    def run(*command: str) -> None:
        subprocess.run([*prefix, *command], check=True, capture_output=True, timeout=60)

    data = root / "data"
    run(str(binaries / "initdb"), "-D", str(data), "-A", "trust", "-U", "postgres", "--no-sync")
    options = f"-c listen_addresses='' -c unix_socket_directories={root} -c fsync=off"
    run(
        str(binaries / "pg_ctl"),
        "-D",
        str(data),
        "-w",
        "-l",
        str(root / "log"),
        "-o",
        options,
        "start",
    )
    yield f"postgresql://postgres@/postgres?host={root}"
    run(str(binaries / "pg_ctl"), "-D", str(data), "-m", "immediate", "stop")


def test_records_are_kept_and_checked_on_postgresql(server, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Store.open(server) as store:
        sample = Sample(id="s", dataset="d", question="a\x00b", choices=("x",), synthetic=True)
        call = Call(
            id="k",
            request_hash="h",
            task="t",
            endpoint="e",
            model="m",
            prompt="p",
            reply="r\n" * 99,
        )
        assert store.put([sample, call, Study(id="u", name="mine")]) == 3
        assert store.put([sample]) == 0
        assert store.get(Sample, "s").question == "a\ufffdb"
        assert store.get(Call, "k") == call
        assert find_study(store, "mine").id == "u"
        assert store.select(Sample, table(Sample).c.synthetic)[0].id == "s"
        with store.write() as writer:
            assert writer.claim(["a"], "one", 10, now=0) == {"a"}
            assert writer.claim(["a"], "two", 10, now=5) == set()
        assert check_store(store).problems == ()
        first = store.revision()
        store.replace([sample.model_copy(update={"question": "c"})])
        assert store.revision() == first + 1
    with Store.open(server) as again:
        assert again.get(Sample, "s").question == "c"
