"""The attack by texts sees what a text does where nobody escapes it."""

from __future__ import annotations

import pytest

from benchmarks.attacks import texts
from benchmarks.attacks._app import Running, browser, visitor
from benchmarks.attacks._texts import TEXTS, hostile, mark
from benchmarks.attacks._tried import CannotTryError


@pytest.fixture(scope="module")
def opened():
    """Open the attack's browser."""
    try:
        with browser() as found:
            yield found
    except CannotTryError as reason:
        pytest.skip(str(reason))


def seen_of(opened, tmp_path, html: str):
    with visitor(opened) as page:
        app = Running(url="http://127.0.0.1:1", enter="http://127.0.0.1:1/?enter=x",
                      log=tmp_path / "log")  # fmt: skip
        seen = texts._watched(page, app)
        page.set_content(html)
        page.wait_for_timeout(400)
        texts._look(page, seen)
        return seen


@pytest.mark.slow
@pytest.mark.parametrize("kind", [0, 1, 7, 12, 15, 16, 21, 22, 29])
def test_markup_that_nobody_escapes_is_seen(opened, tmp_path, kind):
    seen = seen_of(opened, tmp_path, f"<body>{hostile(kind)}</body>")
    assert seen.take() != ""
    assert kind in seen.marks


@pytest.mark.slow
def test_text_that_is_shown_as_text_is_only_counted(opened, tmp_path):
    from atom.views.markup import el

    seen = seen_of(opened, tmp_path, el("p", *map(hostile, range(TEXTS))))
    assert seen.take() == ""
    assert seen.marks == set(range(TEXTS))


def test_all_texts_differ():
    assert len({hostile(number) for number in range(TEXTS)}) == TEXTS
    assert mark(7) in hostile(7)


@pytest.mark.parametrize("cell", ["=1+1", "\u200b=1", "＝1", "+x", "@x", "-x", "a\u202eb"])
def test_a_cell_that_acts_is_seen(cell):
    assert texts._formula(f"name\n{cell}\n") != ""


@pytest.mark.parametrize("cell", ["'=1+1", "-1.5", "1e-7", "a=b", ""])
def test_a_cell_that_is_text_or_a_number_passes(cell):
    assert texts._formula(f"name\n{cell}\n") == ""


@pytest.mark.parametrize("text", ["![x](y)", "a <img src=x>", "see http://evil.example/1"])
def test_markdown_that_acts_is_seen(text):
    assert texts._markdown(text) != ""


def test_an_escape_in_a_commands_output_is_seen(monkeypatch):
    monkeypatch.setattr(texts, "main", lambda words: print("\x1b[31m"))  # noqa: T201
    assert texts._said(("x",)) != ""
    monkeypatch.setattr(texts, "main", lambda words: print("fine\t1"))  # noqa: T201
    assert texts._said(("x",)) == ""
