"""The app in Streamlit's own test harness, on stores made for the purpose."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
import streamlit as st
from streamlit import config
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest, app_test

from atom.engine.imports.importing import import_reading
from atom.formats import ImportFile, read
from atom.store import Store
from atom.ui.pages import SCREENS
from atom.ui.shell import welcome
from tests.app.screen_store import Made, make_store

PROJECT = Path(__file__).resolve().parent.parent.parent


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What one run of the app shows.

    Args:
        test: the harness.
        markup: all markup that the kit put on the page, by key order.
    """

    test: AppTest
    markup: str


def markup_of(test: AppTest, *, with_help: bool = False) -> str:
    """Return all markup on the page, the sidebar included; not what *Help* explains behind it."""
    parts = [json.loads(one.proto.json)["html"] for one in test.get("bidi_component")]
    return "\n".join(part for part in parts if with_help or 'aria-label="Theme"' not in part)


@pytest.fixture(scope="session", autouse=True)
def no_search_after_each_run() -> None:
    """Don't search all memory for garbage after every run; the usual search finds it in time."""
    config.set_option("runner.postScriptGC", False)


@pytest.fixture(scope="session", autouse=True)
def packages_are_looked_at_once() -> Iterator[None]:
    """Look for Streamlit's components among the installed packages once, not for every app."""
    found = functools.cache(manifest_scanner.scan_component_manifests)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", found)
        yield


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Return a judged study in a store of its own."""
    return make_store(tmp_path_factory.mktemp("judged"))


@pytest.fixture(scope="session")
def made_outcomes(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Return a study with outcomes and no criteria."""
    return make_store(tmp_path_factory.mktemp("outcomes"), judged=False, name="Outcomes only")


@pytest.fixture(scope="session")
def mathvista(shared_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store with MathVista's published answers of two models, right or wrong."""
    source = shared_folder / "real" / "mathvista"
    names = ("output_bard.json", "output_llava_llama_2_13b.json")
    return _imported(tmp_path_factory, "MathVista", [source / name for name in names])


@pytest.fixture(scope="session")
def mllm_bench(shared_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store with MLLM-Bench's published votes on eight models."""
    source = shared_folder / "real" / "mllm_bench"
    names = ("questions.json", "votes.csv", "vote_results_qwen-vl-chat_first200.json")
    return _imported(tmp_path_factory, "MLLM-Bench", [source / name for name in names])


def _imported(factory: pytest.TempPathFactory, study: str, paths: list[Path]) -> Path:
    folder = factory.mktemp("real")
    reading = read(None, [ImportFile.from_path(path) for path in paths])
    with Store.open(folder) as store:
        import_reading(store, reading, study, datetime(2026, 1, 1, tzinfo=UTC))
    return folder


@pytest.fixture
def open_app(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[..., Seen]]:
    """Return a function that opens the app: (store, page="", query=None, demo=None, door=False).

    Args of the function:
        store: the user's store; an empty place when None.
        page: a page's file, `pages/explore/failures.py`; the first screen when empty.
        query: the URL's query.
        demo: the bundled store; an empty place when None.
        door: whether the door wasn't dismissed yet.
    """

    def open_(
        store: Path | None = None,
        page: str = "",
        query: dict[str, str | list[str]] | None = None,
        demo: Path | None = None,
        door: bool = False,
    ) -> Seen:
        monkeypatch.setenv("ATOM_STORE", str(store or tmp_path / "nothing"))
        monkeypatch.setenv("ATOM_DEMO", str(demo or tmp_path / "no_demo"))
        test = AppTest.from_file(str(PROJECT / "app.py"), default_timeout=60)
        if page:
            test.switch_page(page)
            # Before the first run the harness knows a page by its file's name alone.
            screen = next(screen for screen in SCREENS if screen.file == page)
            hash_of = getattr(app_test, "calc_hash", None) or app_test.calc_md5
            test._page_hash = hash_of(screen.url_path)
        for key, value in (query or {}).items():
            test.query_params[key] = value
        test.session_state[welcome.SEEN] = not door
        test.run()
        return Seen(test=test, markup=markup_of(test))

    yield open_
    st.cache_resource.clear()
