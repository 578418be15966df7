"""Every page and every command that reads shows on PostgreSQL what it shows on a file.

The judged study is copied to a server by `store copy`; then both are looked at.
"""

from __future__ import annotations

import json
import re
import shutil
import time

import pytest

from atom.cli.main import main
from atom.store import Store
from atom.store.moving.copying import copy_store
from atom.ui.pages import SCREENS
from atom.ui.work import COUNTING
from tests.app.conftest import markup_of
from tests.app.screen_store import make_store
from tests.atom.conftest import pg_server  # noqa: F401 - a fixture

SAME = ("Explore",)
"""Sections whose pages show the same to a letter; others say where the store is, or the time."""
STUDY = ["--study", "Test study"]
COMMANDS = [
    ["study", "list"],
    ["import", "list"],
    ["endpoint", "list"],
    ["run", "status", *STUDY],
    ["run", "blind", *STUDY],
    ["correct", "list", *STUDY],
    ["tree", "show", *STUDY],
    ["tree", "validity", *STUDY],
    ["judge", "list"],
    ["judge", "panel", *STUDY],
    ["fidelity", "show", *STUDY],
    ["figure", "list"],
    ["export", "list"],
    ["store", "check"],
    ["study", "version", *STUDY],
    ["ask", "Test study", "who is best, and where does model-a lose to model-b?"],
    ["failures", "groups", "Test study"],
    ["pairs", "show", *STUDY],
    ["profile", "show", *STUDY, "--model", "model-a"],
    ["compare", "model-a", "model-b", *STUDY],
    ["run", "settle", *STUDY, "--goal", "leader"],
    ["fidelity", "criteria", *STUDY],
]
VIEWS = [
    ("fingerprints", {"tab": "answers"}),
    ("fingerprints", {"tab": "apart"}),
    ("tree", {"tab": "criteria"}),
    ("failures", {"lay": "groups"}),
    ("judge-lab", {"tab": "judges"}),
    ("judge-lab", {"tab": "sight"}),
    ("judge-lab", {"tab": "pairs"}),
    ("human", {"queue": "own"}),
]
"""What a page shows behind a word of its address: (beginning of the page's path, the word)."""


@pytest.fixture(scope="module")
def both(pg_server, tmp_path_factory):  # noqa: F811 - a fixture's name
    """Return the judged study's folder, and the address of its copy on a server."""
    made = make_store(tmp_path_factory.mktemp("both"))
    files = tmp_path_factory.mktemp("files")
    pg_server.sql("CREATE DATABASE both_stores")
    url = pg_server.url("both_stores")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATOM_FILES", str(files))
        with Store.open(made.folder) as source, Store.open(url) as target:
            copy_store(source, target)
        yield made, url
    shutil.rmtree(files, ignore_errors=True)


@pytest.mark.slow
@pytest.mark.parametrize("screen", SCREENS, ids=lambda screen: screen.url_path or "overview")
def test_a_page_shows_the_same_on_both(open_app, both, screen):
    made, url = both
    page = screen.file if screen.url_path else ""
    there = open_app(url, page)
    assert not there.test.exception
    assert 'role="alert"' not in there.markup
    assert made.study.name in there.markup
    if screen.section in SAME:
        assert there.markup == open_app(made.folder, page).markup


@pytest.mark.slow
@pytest.mark.parametrize(("path", "query"), VIEWS, ids=str)
def test_what_a_page_shows_on_request_is_the_same_on_both(open_app, both, path, query):
    made, url = both
    (screen,) = (one for one in SCREENS if one.url_path.startswith(path))
    shown = [counted(open_app(place, screen.file, query)) for place in (url, made.folder)]
    assert shown[0] == shown[1]


def counted(seen):
    """Return a page's markup, once what it counts in the background is counted."""
    until = time.monotonic() + 60
    while True:
        markup = markup_of(seen.test)
        assert not seen.test.exception
        if COUNTING not in markup:
            return markup
        assert time.monotonic() < until
        time.sleep(0.2)
        seen.test.run()


@pytest.mark.slow
@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words[:2]))
def test_a_command_says_the_same_on_both(both, words, capsys, tmp_path, monkeypatch):
    made, url = both
    monkeypatch.setenv("ATOM_DEMO", str(tmp_path / "none"))
    said = []
    for place in (str(made.folder), url):
        code = main([*words, "--store", place, "--json"])
        out, err = capsys.readouterr()
        said.append((code, json.loads(out) if out else re.sub(r"'\S*'", "", err)))
    assert said[0] == said[1]
    assert said[0][0] in (0, 2)
