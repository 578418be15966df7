"""A server's password stands in no error, no log and no command's words."""

from __future__ import annotations

import subprocess
import time
import traceback

import pytest
import sqlalchemy as sa

from atom.cli.main import main
from atom.engine.detached import detach
from atom.errors import AwayError, StoreError
from atom.records import Study
from atom.settings import load_settings
from atom.store import Store
from tests.atom.conftest import until

SECRET = "s3cret-Pa55"


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://me:{SECRET}@127.0.0.1:1/atom",
        f"postgresql://me@127.0.0.1:1/atom?password={SECRET}",
        f"postgresql://me:{SECRET}@127.0.0.1:port/atom",
        f"nosuch://me:{SECRET}@127.0.0.1/atom",
    ],
)
def test_errors_and_logs_hold_no_password(url, capsys, logged, monkeypatch):
    monkeypatch.setenv("ATOM_STORE", url)
    with pytest.raises(StoreError) as raised:
        Store.open(url)
    told = "".join(traceback.format_exception(raised.value))
    assert "127.0.0.1" in raised.value.message
    assert main(["study", "list"]) == 2
    shown = capsys.readouterr()
    assert SECRET not in "".join(
        [told, logged.getvalue(), shown.out, shown.err, raised.value.message]
    )


def test_a_server_that_isnt_there_is_told_from_one_that_refuses():
    with pytest.raises(AwayError, match="is it running, and is its address right"):
        Store.open("postgresql://me@127.0.0.1:1/atom")


def test_a_process_of_its_own_shows_no_password(pg_server, pg_url, tmp_path, monkeypatch):
    """Fall 8 of design/074."""
    database = pg_url.partition("@/")[2].partition("?")[0]
    address = pg_server.url(database, password=SECRET)
    log, words = tmp_path / "log", []
    start = subprocess.Popen

    def started(command, **how):
        words.extend(command)
        return start(command, **how)

    monkeypatch.setattr("atom.engine.detached.subprocess.Popen", started)
    with Store.open(address) as store:
        store.put([Study(id="s", name="Seen by the child", created="")])
        settings = load_settings({"ATOM_STORE": address})
        detach(store, settings, ["study", "list"], name="n", claim="c", log=log)
        assert SECRET not in " ".join(words) + store.url
        until(lambda: "Seen by the child" in log.read_text(), 60)


def test_connections_that_broke_while_nobody_used_them_are_left_out(pg_url):
    with Store.open(pg_url) as store, Store.open(pg_url) as other:
        store.put([Study(id="s", name="Asked for later", created="")])
        with other.write() as writer:
            writer.execute(
                sa.text(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
            )
        time.sleep(1.1)
        assert store.get(Study, "s").name == "Asked for later"
        with store.write() as writer:
            assert writer.delete(Study, sa.true()) == 1


def test_a_look_at_one_record_is_one_thing_that_the_server_is_told(pg_url):
    told = sa.text(
        "SELECT query FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    with Store.open(pg_url) as store, Store.open(pg_url) as other:
        store.put([Study(id="s", name="Looked at", created="")])
        assert store.get(Study, "s").name == "Looked at"
        with other.read() as connection:
            last = connection.execute(told).scalars().all()
    assert any(words.startswith("SELECT studies.id") for words in last), last  # no ROLLBACK after
