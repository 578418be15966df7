"""Every page and every command that reads shows on PostgreSQL what it shows on a file.

The judged study is copied to a server by `store copy`; then both are looked at.
"""

from __future__ import annotations

import html
import json
import re
import shutil
import time
from urllib.parse import parse_qs, urlsplit

import pytest

from atom.cli.main import main
from atom.store import Store
from atom.store.moving.copying import copy_store
from atom.ui import links
from atom.ui.pages import SCREENS
from atom.views.people.page import QUEUES
from tests.app.conftest import markup_of
from tests.app.screen_store import make_store
from tests.atom.conftest import pg_server  # noqa: F401 - a fixture

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
BEHIND = {
    "failures": [{"lay": "grid"}, {"lay": "groups"}],
    "human-check": [{"who": "Ann", "queue": queue} for queue in QUEUES],
    "judge-lab": [{"tab": "pairs"}],
}
"""What no row of doors leads to: by a page's address, the words of its own."""
WAITING = re.compile(r'role="status"[^>]*>[^<]* \d+ s<')
"""What a page says while it works something out, with the seconds."""
ROW = re.compile(r'<nav[^>]*class="tabs".*?</nav>', re.DOTALL)
DOOR = re.compile(r'href="([^"]*)"[^>]*>(.*?)</a>', re.DOTALL)


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
def test_a_page_and_each_of_its_tabs_show_the_same_on_both(open_app, both, screen):
    """Every door of every row of tabs is gone through once."""
    made, url = both
    page = screen.file if screen.url_path else ""
    seen: set[str] = set()
    ahead: list[dict[str, str | list[str]]] = [{}, *BEHIND.get(screen.url_path, ())]
    while ahead:
        query = ahead.pop(0)
        here, there = (counted(open_app(place, page, query)) for place in (made.folder, url))
        assert made.study.name in here
        assert query or 'role="alert"' not in here
        assert without_places(here) == without_places(there), query
        for row, (address, text) in (
            (number, door)
            for number, nav in enumerate(ROW.findall(here))
            for door in DOOR.findall(nav)
        ):
            to = urlsplit(html.unescape(address))
            if to.path.strip("./") == screen.url_path and f"{row} {text}" not in seen:
                seen.add(f"{row} {text}")
                ahead.append(links.clean_query(parse_qs(to.query)))


def without_places(markup):
    """Take out of a page where the store is, as it is shown and as commands name it."""
    return re.sub(
        r'postgresql://[^<"]*|&quot;\$ATOM_STORE&quot;|/[^<"\s]*/(both|files)\d+', "", markup
    )


def counted(seen):
    """Return a page's markup, once what it works out in the background is worked out."""
    until = time.monotonic() + 60
    while True:
        markup = markup_of(seen.test)
        assert not seen.test.exception
        if not WAITING.search(markup):
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
