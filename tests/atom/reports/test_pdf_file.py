"""A report is printed by a browser of this computer, or it is said what is missing."""

from __future__ import annotations

import pytest

from atom.errors import PlaceError, UsageError
from atom.reports import pdf_file
from atom.reports.pdf_file import find_browser, to_pdf


def test_without_a_browser_it_says_what_to_do(monkeypatch):
    monkeypatch.setattr(pdf_file.shutil, "which", lambda name: None)
    assert find_browser() is None
    with pytest.raises(UsageError, match="install one, or take the HTML file"):
        to_pdf("<p>x</p>")


def test_a_browser_that_prints_nothing_is_named_with_its_reason(monkeypatch, tmp_path):
    fake = tmp_path / "chromium"
    fake.write_text("#!/bin/sh\necho 'no display' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setattr(pdf_file.shutil, "which", lambda name: str(fake))
    with pytest.raises(PlaceError, match=r"chromium' didn't print the report \(no display\)"):
        to_pdf("<p>x</p>")
