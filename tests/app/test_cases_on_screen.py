"""Small inputs that once went wrong, as the Overview page draws them."""

from __future__ import annotations

import html
import re
from datetime import UTC, datetime

import pytest

from atom.engine.imports.importing import import_reading
from atom.formats import ImportFile, read
from atom.store import Store


@pytest.fixture
def drawn(shared_folder, tmp_path, open_app):
    """Return what Overview says of a case, tags taken out."""

    def run(path: str) -> tuple[str, str]:
        file = ImportFile.from_path(shared_folder / "real" / "cases" / path)
        with Store.open(tmp_path / "store") as store:
            moment = datetime(2026, 1, 1, tzinfo=UTC)
            study = import_reading(store, read(None, [file]), "Case", moment).study.id
        seen = open_app(tmp_path / "store", query={"study": study})
        assert not seen.test.exception
        return seen.markup, html.unescape(re.sub(r"<[^>]*>", " ", seen.markup))

    return run


@pytest.mark.slow
def test_refusals_stand_apart(drawn):
    _, text = drawn("rows/empty_answers.csv")
    # refuser: 30 / 60 of all asked, 30 / 30 of answers given; steady: 40 / 60
    row = re.search(r"refuser\b.{0,400}?30 empty", " ".join(text.split()))
    assert row is not None
    assert "50.0" in row[0]
    assert "100" in row[0]
    assert "66.7" in text
    assert "of answers given" in text


@pytest.mark.slow
def test_odd_names_stand_as_written(drawn):
    markup, text = drawn("logs/60-odd-names/odd.csv")
    for name in ("qwen2.5-vl:7b[int4]", "$acme-pro$", "a.b:Q", "名前モデル｜v2"):
        assert name in text
    assert "<b>bold</b><img src=x onerror=alert(1)>" in text
    assert "<img src=x" not in markup
