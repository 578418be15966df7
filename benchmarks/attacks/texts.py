"""Hostile texts: three hundred of them through every screen, export and report in a browser.

What showed no text proves nothing: such a view, file or output isn't counted, and where it is one
that has to show some, the attack fell. So it did where a text was nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit

from atom.settings import DEMO_FOLDER
from benchmarks.attacks._app import EVIL, Running, browser, running_app
from benchmarks.attacks._looks import Tally, Walk, late, walk
from benchmarks.attacks._soaked import soak
from benchmarks.attacks._team import come_in, running_team
from benchmarks.attacks._texts import CANDIDATES, TEXTS, Texts, endpoints, hostile, mark, spread
from benchmarks.attacks._tried import Tried
from benchmarks.attacks._written import WORDLESS, written

SCREENS = ("", "tree", "fingerprints", "failures", "compare", "replay", "correction", "runs",
           "judge-lab", "human-check", "reports", "data", "settings")  # fmt: skip
LATER = {
    "failures?lay=groups": "groups",
    "judge-lab?tab=pairs": "hard-pairs",
    "human-check?queue=own&who=Ann": "own-criteria",
    "human-check?queue=pairs&who=Ann": "",
}
"""Views that are walked whatever doors are found, with the test id of what must stand there."""
ASKED = 30
"""Of the texts, asked in *Ask the study*: one of each kind."""
TEAM = ("settings", "runs", "human-check", "tree?tab=versions", "data")
"""Screens of a deployment that name people."""
MOST_VIEWS, MOST_OF_A_SCREEN = 75, 12
"""Of one study: views in all, and of one screen."""
_PATIENCE_MS = 300_000
"""For what is worked out in the background, on a computer that is busy with other things."""


def attack() -> Iterator[Tried]:
    """Make two studies, look at every screen, then at every file and every command's output."""
    tally, fallen = Tally(), []
    for one in _all(tally):
        fallen.append(one.fell)
        yield one
    yield Tried(name="how much was tried", fell=_too_little(tally))
    held = "\n".join(fallen)
    for number, times in sorted(tally.shown.items()):
        hit = re.search(rf"(?:{re.escape(EVIL)}/|pwned=|zq){number}(?!\d)", held)
        name = f"text {number}, in {times} places"
        yield Tried(name=name, fell="it did something" if hit else "")


def _all(tally: Tally) -> Iterator[Tried]:
    with TemporaryDirectory() as folder:
        store, out, texts = Path(folder) / "store", Path(folder) / "out", Texts()
        out.mkdir()
        soaked = soak(DEMO_FOLDER, store, texts).id
        made, samples = spread(store, texts)
        (store / "endpoints.yaml").write_text(endpoints(texts), encoding="utf-8")
        with browser() as opened:
            with running_app(store, demo=Path(folder) / "none") as app, walk(opened, app) as walked:
                yield from _screens(walked, app, soaked, "soaked", tally)
                yield from _screens(walked, app, made.id, "made", tally)
                yield from _cases(walked, app, samples, tally)
                yield from _later(walked, app, soaked, tally)
                yield from _asked(walked, app, soaked, tally)
                yield from late(walked, "screens")
            yield from _team(store, opened, soaked, texts, tally)
            yield from written(store, out / "soaked", soaked, tally)
            yield from written(store, out / "made", made.id, tally)
            with walk(opened) as walked:
                for file in sorted(out.rglob("*.html")):
                    walked.page.goto(file.as_uri())
                    walked.marks = set()
                    walked.look()
                    name = f"{file.name} in a browser"
                    yield from tally.tried(
                        name, walked.take(), walked.marks, study=file.parent.name
                    )
                    yield from late(walked, name)


def _too_little(tally: Tally) -> str:
    """Say what was to show texts and showed none, and which texts were nowhere."""
    lost = sorted(set(range(TEXTS)) - set(tally.shown))
    told = [f"shown nowhere: texts {lost}"] if lost else []
    bare = sorted(tally.bare - tally.full)
    told += [f"no text: {name}" for name in bare if not any(one in name for one in WORDLESS)]
    return "; ".join(told)


def _screens(walked: Walk, app: Running, study: str, name: str, tally: Tally) -> Iterator[Tried]:
    """Visit every screen of a study, then what its own links lead to: tabs, cases, models."""
    todo = [f"{app.url}/{screen}?{urlencode({'study': study})}" for screen in SCREENS]
    done: set[str] = set()
    counts: dict[str, int] = {}
    while todo and len(done) < MOST_VIEWS:
        address = todo.pop(0)
        screen, shape = urlsplit(address).path, _shape(address)
        if shape in done or counts.get(screen, 0) >= MOST_OF_A_SCREEN:
            continue
        first = screen not in counts
        done.add(shape)
        counts[screen] = counts.get(screen, 0) + 1
        walked.go(address, load=first)
        walked.open_menus(boxes=first)
        walked.look()
        yield from tally.tried(f"screen {shape}", walked.take(), walked.marks, screen, study=name)
        links = [urljoin(address, link) for link in dict.fromkeys(walked.links)]
        todo += [link for link in links if link.startswith(app.url)]


def _shape(address: str) -> str:
    """Return what an address asks for, without what for: views of one shape are one view."""
    path, query = urlsplit(address).path, urlsplit(address).query
    tabs = "".join(re.findall(r"tab=[^&]*", address))
    return f"{path}?{re.sub(r'=[^&]*', '', query)}{tabs}"


def _cases(walked: Walk, app: Running, samples: list[str], tally: Tally) -> Iterator[Tried]:
    """Visit answers: the sample, its criteria, the words, the judge's reasons."""
    for number, sample in enumerate(samples):
        for model in CANDIDATES[:2]:
            query = urlencode({"sample": sample, "model": model})
            walked.go(f"{app.url}/failures?{query}")
            walked.look()
            yield from tally.tried(f"case {number} of {model}", walked.take(), walked.marks)


def _later(walked: Walk, app: Running, study: str, tally: Tally) -> Iterator[Tried]:
    """Visit the views that no door may lead to while a study is sealed or fresh."""
    for place, needed in LATER.items():
        screen, _, query = place.partition("?")
        walked.go(f"{app.url}/{screen}?{urlencode({'study': study})}&{query}", load=True)
        if needed:
            there = walked.page.get_by_test_id(needed).first
            there.wait_for(state="attached", timeout=_PATIENCE_MS)
            walked.settle()
        walked.open_menus(boxes=True)
        walked.look()
        yield from tally.tried(f"view {place}", walked.take(), walked.marks)


def _asked(walked: Walk, app: Running, study: str, tally: Tally) -> Iterator[Tried]:
    """Ask the study in hostile words, and look at what it says it understood."""
    walked.go(f"{app.url}/?{urlencode({'study': study})}", load=True)
    for number in range(ASKED):
        walked.marks = set()
        box = walked.page.locator("input[data-ask]").first
        box.fill(" ".join(hostile(number).split()))
        box.press("Enter")
        walked.page.get_by_test_id("asked").filter(has_text=mark(number)).first.wait_for()
        walked.settle()
        walked.look()
        yield from tally.tried(f"asked text {number}", walked.take(), walked.marks)


def _team(store: Path, opened: Any, study: str, texts: Texts, tally: Tally) -> Iterator[Tried]:
    """Visit a deployment as an admin: people, budgets and activity, all with hostile names."""
    with running_team(store, texts) as (app, provider), walk(opened, app, let_in=False) as walked:
        walked.may_ask(provider)
        come_in(walked.page, app)
        for place in TEAM:
            screen, _, query = place.partition("?")
            walked.go(f"{app.url}/{screen}?{urlencode({'study': study})}&{query}", load=True)
            if screen == "settings":
                walked.page.get_by_text("Last signed in").first.wait_for()
            walked.open_menus(boxes=True)
            walked.look()
            yield from tally.tried(f"deployment, {place}", walked.take(), walked.marks)
        yield from late(walked, "deployment")
