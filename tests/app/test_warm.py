"""A server that has just started makes ready what its first reader will see."""

from __future__ import annotations

import subprocess
import sys
from threading import Thread, current_thread

import pytest

from atom.store.store import DATABASE
from atom.ui.pages import SCREENS
from atom.ui.shell import stores, warm

HALF_LOADED = """
import sys
import threading
import time

sys.loading.set()
time.sleep(1.0)


class DataFrame: ...
class Series: ...
class Index: ...
class Timestamp: ...
"""
DRAWS = """
import sys
import threading

from atom.store import Store
from atom.views.filters import Filters
from atom.views.study_data import load_study
from atom.views.tree.chart import icicle
from atom.views.tree.node_table import node_table, placed
from atom.views.tree.page import shown

with Store.open(sys.argv[2]) as store:
    data = load_study(store, sys.argv[3])
    nodes = node_table(data, data.tree, placed(store, data), Filters())
import plotly.graph_objects

# What has loaded it by now has done so to its end.
for name in [name for name in sys.modules if name.partition(".")[0] == "pandas"]:
    del sys.modules[name]
sys.path.insert(0, sys.argv[1])
sys.loading = threading.Event()
threading.Thread(target=__import__, args=("pandas",)).start()
sys.loading.wait()
print(len(icicle(nodes, shown(nodes), "light", whose="all", height=600).data))
"""


@pytest.fixture
def places(monkeypatch, tmp_path):
    """Return a function that names the user's store; there's no bundled study."""

    def name(store):
        monkeypatch.setenv("ATOM_STORE", str(store))
        monkeypatch.setenv("ATOM_DEMO", str(tmp_path / "no_demo"))

    return name


def test_the_first_reader_finds_the_study_read(made, places, open_app, monkeypatch, logged):
    """Once the first screen of a fresh server took five seconds, all of them while one waited."""
    places(made.folder)
    thread = Thread(target=warm.warm, args=(lambda: None,), name=warm.NAME)
    thread.start()
    thread.join()
    assert "ScriptRunContext" not in logged.getvalue()

    def read_anew(*_args, **_named):
        raise AssertionError("the study is read while somebody waits")

    monkeypatch.setattr(stores, "open_study", read_anew)
    seen = open_app(made.folder)
    assert not seen.test.exception
    assert 'aria-label="Ranking of models"' in seen.markup
    assert {"atom.ui.replay.page", "atom.ui.lab.page"} <= set(sys.modules)


def test_what_cant_be_opened_is_left_to_the_screen(places, tmp_path, open_app):
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / DATABASE).write_bytes(b"no database " * 100)
    places(broken)
    said = []
    warm.warm(lambda: None, lambda: said.append("ready"))
    assert said == ["ready"]
    assert "is damaged" in open_app(broken).markup


def test_other_screens_are_imported_once_the_first_is_served(places, tmp_path, monkeypatch):
    """Imported at once, they took half of the time in which the first screen was made."""
    places(tmp_path / "none")
    asked = []
    monkeypatch.setattr(warm, "_import_screen", lambda file: asked.append(file.name))
    warm.warm(lambda: asked.append("served"), lambda: asked.append("ready"))
    assert asked[:3] == ["overview.py", "ready", "served"]
    assert len(asked) == 3 + len(SCREENS)


def test_it_waits_for_nobody_and_ends_with_the_server(monkeypatch):
    begun = []
    monkeypatch.setattr(warm, "warm", lambda ready: begun.append(current_thread().name))
    thread = warm.start(lambda: None)
    thread.join()
    assert begun == [warm.NAME]
    assert thread.daemon


def test_a_tree_is_drawn_while_pandas_is_half_loaded(tmp_path, made, project):
    """Once plotly found a pandas without Series, and the tree's page showed a traceback."""
    (tmp_path / "pandas.py").write_text(HALF_LOADED)
    ended = subprocess.run(
        [sys.executable, "-c", DRAWS, tmp_path, made.folder, made.study.id],
        cwd=project,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ended.returncode, ended.stdout.strip()) == (0, "1"), ended.stderr[-800:]
