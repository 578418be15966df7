"""Every page on studies that nobody expects says something sensible, and fails on none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from atom.ui.pages import SCREENS
from tests.app.strange_studies import SMALL

pytestmark = pytest.mark.attack

PAGES = [screen.file for screen in SCREENS]
SILLY = re.compile(r">\s*(nan|None|nan %|inf)\s*<")


@pytest.fixture(scope="module", params=SMALL)
def strange(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store with one of the studies."""
    return SMALL[request.param](tmp_path_factory.mktemp("strange"))


@pytest.mark.parametrize("page", PAGES)
def test_each_page_copes(open_app, strange, page):
    """Fall 22 of design/074."""
    seen = open_app(strange, page=page)
    assert [error.message for error in seen.test.exception] == []
    words = re.sub(r"<style.*?</style>|<[^>]+>", " ", seen.markup, flags=re.DOTALL).split()
    assert len(words) > 20
    assert not SILLY.search(seen.markup)
