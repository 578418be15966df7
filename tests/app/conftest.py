"""The app in Streamlit's own test harness, on stores made for the purpose."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

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


def markup_of(test: AppTest) -> str:
    """Return all markup on the page, the sidebar included."""
    parts = []
    for element in test.get("bidi_component"):
        parts.append(json.loads(element.proto.json)["html"])
    return "\n".join(parts)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Return a judged study in a store of its own."""
    return make_store(tmp_path_factory.mktemp("judged"))


@pytest.fixture(scope="session")
def made_outcomes(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Return a study with outcomes and no criteria."""
    return make_store(tmp_path_factory.mktemp("outcomes"), judged=False, name="Outcomes only")


@pytest.fixture
def open_app(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[..., Seen]]:
    """Return a function that opens the app: (store, page="", query=None, demo=None) -> Seen.

    Args of the function:
        store: the user's store; an empty place when None.
        page: a page's file, `pages/explore/failures.py`; the first screen when empty.
        query: the URL's query.
        demo: the bundled store; an empty place when None.
    """

    def open_(
        store: Path | None = None,
        page: str = "",
        query: dict[str, str | list[str]] | None = None,
        demo: Path | None = None,
    ) -> Seen:
        monkeypatch.setenv("ATOM_STORE", str(store or tmp_path / "nothing"))
        monkeypatch.setenv("ATOM_DEMO", str(demo or tmp_path / "no_demo"))
        test = AppTest.from_file(str(PROJECT / "app.py"), default_timeout=60)
        if page:
            test.switch_page(page)
        for key, value in (query or {}).items():
            test.query_params[key] = value
        test.run()
        return Seen(test=test, markup=markup_of(test))

    yield open_
    st.cache_resource.clear()
