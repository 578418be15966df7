"""Addresses that somebody made up: hostile values in every key of every page, and no traceback."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Iterator
from urllib.parse import parse_qsl, urlencode, urlsplit

from atom.engine.demo.build import DEMO_NAME
from atom.ui.links import LOCAL_KEYS
from atom.ui.pages import SCREENS
from atom.views.filters import KEYS
from benchmarks.attacks._app import Running, running_app
from benchmarks.attacks._line import Line, reach
from benchmarks.attacks._tried import Tried

TRIES = 520
"""Of them most change some keys of an address that a page offers; a fourth invents all."""
VALUES = (
    "-1", "0", "1e309", "nan", "-inf", "9" * 300, "1" * 40, "\u00b2", "\u0663", "1.5", "0x10",
    "1_000", "true", "None", "null", "[]", "{}", "'", '"', "\\", "%", "%%s", "{x}", "*", "..",
    "../../etc/passwd", "\x00", "\n", "\u202e", "\ud7ff", "a,b,,", ",", ":", "::", "/", "a/b",
    "\u203a", "A \u203a B", "a=b", "a:b", "=1+1", "' OR 1=1 --", "(" * 200, "a" * 300, "[a-",
    "(a+)+$", '"unended', "NOT", "AND OR", "NEAR(", "col:x", "<script>", "\u0130\u0131", "-0",
)  # fmt: skip
"""What a reader of numbers, names, lists, patterns or queries may stumble over."""
MOST_DOORS = 400


def attack(tries: int = TRIES) -> Iterator[Tried]:
    """Open the bundled study by such addresses.

    Args:
        tries: how many.
    """
    with running_app() as app:
        yield from asyncio.run(_all(app, tries))
        told = re.findall(r"(?m)^(?:\w+\.)*\w*(?:Error|Exception)\b.*$", app.log.read_text("utf-8"))
        yield Tried(name="what the server wrote", fell="; ".join(dict.fromkeys(told))[:300])


async def _all(app: Running, tries: int) -> list[Tried]:
    found: list[Tried] = []
    draw = random.Random(15)
    async with reach(app) as line:
        session = Line(line)
        doors = await _doors(session)
        for number in range(tries):
            page, query = _changed(draw, doors) if number % 4 else _invented(draw)
            try:
                wrong = await session.see(page, query)
            except TimeoutError:
                wrong = "it never came"
            found.append(Tried(name=f"{number}: {page}?{query[:400]}", fell=wrong))
    return found


async def _doors(session: Line) -> list[tuple[str, str]]:
    """Return what the pages themselves offer: (page, query), each set of keys and tab once."""
    todo = [(one.url_path, urlencode({"study": DEMO_NAME})) for one in SCREENS]
    known: dict[tuple[str, str], tuple[str, str]] = {}
    while todo and len(known) < MOST_DOORS:
        page, query = todo.pop(0)
        tabs = "".join(re.findall(r"tab=[^&]*", query))
        shape = page, re.sub(r"=[^&]*", "", query) + tabs
        if shape in known:
            continue
        known[shape] = page, query
        if len(known) < len(SCREENS) * 3:
            await session.see(page, query)
            todo += [
                (parts.path.removeprefix("./"), parts.query)
                for parts in map(urlsplit, dict.fromkeys(session.doors))
                if parts.query
            ]
    return list(known.values())


def _changed(draw: random.Random, doors: list[tuple[str, str]]) -> tuple[str, str]:
    page, query = draw.choice(doors)
    pairs = parse_qsl(query)
    hurt = draw.sample(range(len(pairs)), k=draw.randint(0, min(2, len(pairs))))
    changed = [
        (key, draw.choice(VALUES)) if at in hurt and key != "study" else (key, value)
        for at, (key, value) in enumerate(pairs)
    ]
    return page, urlencode([*changed, *_keys(draw, draw.randint(1, 3))])


def _invented(draw: random.Random) -> tuple[str, str]:
    study = [] if draw.random() < 0.2 else [("study", DEMO_NAME)]
    return draw.choice(SCREENS).url_path, urlencode([*study, *_keys(draw, draw.randint(3, 12))])


def _keys(draw: random.Random, number: int) -> list[tuple[str, str]]:
    keys = [key for key in (*KEYS, *LOCAL_KEYS) if key not in ("study", "tab")]
    return [(draw.choice(keys), draw.choice(VALUES)) for _ in range(number)]
