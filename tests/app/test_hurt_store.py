"""Every page on a store that can't be written, or can't be read: a sentence, no traceback."""

from __future__ import annotations

import shutil

import pytest

from atom.ui.pages import SCREENS
from tests.hurt import closed_folder, impatient, locked, newer, noise

pytestmark = pytest.mark.attack

FILES = [screen.file for screen in SCREENS]


@pytest.fixture
def folder(made, tmp_path):
    """Return a copy of the judged study's store."""
    shutil.copytree(made.folder, tmp_path / "store")
    return tmp_path / "store"


@pytest.mark.parametrize("hurt", [closed_folder, locked], ids=lambda hurt: hurt.__name__)
def test_every_page_reads_what_can_be_read(open_app, made, folder, hurt):
    """Fall 20 of design/074."""
    with impatient(), hurt(folder):
        for file in FILES:
            seen = open_app(folder, file, query={"study": made.study.id})
            assert not seen.test.exception, f"{file}: {seen.test.exception}"
            assert made.study.name in seen.markup + str(seen.test.selectbox), file


@pytest.mark.parametrize("hurt", [newer, noise], ids=lambda hurt: hurt.__name__)
def test_every_page_says_what_cannot_be_read(open_app, made, folder, hurt):
    with impatient(), hurt(folder):
        for file in FILES:
            seen = open_app(folder, file, query={"study": made.study.id})
            assert not seen.test.exception, f"{file}: {seen.test.exception}"
            assert "store" in seen.markup, file
            assert "Traceback" not in seen.markup


def test_a_store_that_goes_bad_while_it_is_looked_at_is_said_in_words(open_app, made, folder):
    seen = open_app(folder, query={"study": made.study.id})
    assert not seen.test.exception
    for place in folder.glob("atomscope.sqlite*"):
        place.unlink()
    for file in FILES:
        again = open_app(folder, file, query={"study": made.study.id})
        assert not again.test.exception, f"{file}: {again.test.exception}"
