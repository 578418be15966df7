"""docs/papers.md: every figure and table of the papers has a door that opens, or says why not."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

from atom.cli.main import main
from atom.ui.pages import find_screen
from tests.app.conftest import PROJECT

PAPERS = {
    "ATOM": (18, 6),
    "MM-CRITIC": (14, 19),
    "Multi-Crit": (10, 19),
    "VL-RewardBench": (6, 19),
    "CriticBench": (11, 18),
}
"""Figures and tables that each paper has."""


def read_rows() -> dict[str, list[tuple[str, str]]]:
    """Return each paper's rows: (what it is, its door)."""
    text = (PROJECT / "docs" / "papers.md").read_text(encoding="utf-8")
    found = {}
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        title, _, rest = part.partition("\n")
        lines = [line.strip().strip("|").split(" | ") for line in rest.splitlines()
                 if line.startswith("|")][2:]  # fmt: skip
        assert all(len(cells) == 3 for cells in lines), lines
        found[title.strip()] = [(cells[0].strip(), cells[2].strip()) for cells in lines]
    return found


ROWS = read_rows()
SPANS = sorted({span for rows in ROWS.values() for _, door in rows
                for span in re.findall(r"`([^`]+)`", door)})  # fmt: skip
PAGES = [span for span in SPANS if span.startswith("/")]
COMMANDS = [span for span in SPANS if span.startswith("python -m atom")]


def numbers_of(words: str) -> list[int]:
    """Read `Tables 2, 7-8`."""
    found = []
    for part in re.sub(r"^\D+", "", words).split(","):
        first, _, last = part.strip().partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


@pytest.mark.parametrize("paper", PAPERS)
def test_every_figure_and_table_has_a_row(paper):
    for word, most in zip(("Figure", "Table"), PAPERS[paper], strict=True):
        named = [n for what, _ in ROWS[paper] if what.startswith(word) for n in numbers_of(what)]
        assert sorted(named) == list(range(1, most + 1)), (paper, word)


@pytest.mark.parametrize("paper", PAPERS)
def test_every_row_has_a_door_or_says_why_not(paper):
    for what, door in ROWS[paper]:
        spans = re.findall(r"`([^`]+)`", door)
        opens = any(span.startswith(("/", "python -m atom")) for span in spans)
        assert opens or re.match(r"no door: \w+.{20,}", door), (paper, what, door)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_there(command, capsys):
    words = command.removeprefix("python -m atom ").split()
    with pytest.raises(SystemExit) as ended:
        main([*words[:2], "--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    flags = {flag for rows in ROWS.values() for _, door in rows if command in door
             for flag in re.findall(r"`(--[a-z-]+)`", door)}  # fmt: skip
    assert flags <= set(re.findall(r"--[a-z-]+", shown)), command


@pytest.mark.slow
@pytest.mark.parametrize("door", PAGES)
def test_every_screen_opens(open_app, made, door):
    address = urlsplit(door)
    screen = find_screen(address.path.strip("/"))
    assert screen is not None
    query = dict(parse_qsl(address.query))
    seen = open_app(made.folder, screen.file, query)
    assert not seen.test.exception
    assert screen.title in seen.markup
    if "tab" in query:
        assert re.search(rf"tab={query['tab']}\b[^>]*aria-current", seen.markup), door


def test_named_files_are_there():
    named = {span for span in SPANS if span.startswith("atom/")}
    assert named
    assert [name for name in named if not Path(PROJECT / name).exists()] == []
