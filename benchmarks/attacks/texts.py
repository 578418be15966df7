"""Hostile texts: three hundred of them through every screen, export and report in a browser."""

from __future__ import annotations

import csv
import io
import re
import time
import unicodedata
import zipfile
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit

from atom.cli.main import main
from atom.records import StudyCandidate
from atom.settings import DEMO_FOLDER
from atom.store import Store
from benchmarks.attacks._app import EVIL, INSIDE, Running, browser, running_app, visitor
from benchmarks.attacks._soaked import soak
from benchmarks.attacks._team import come_in, running_team
from benchmarks.attacks._texts import CANDIDATES, TEXTS, Texts, endpoints, hostile, mark, spread
from benchmarks.attacks._tried import Tried

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
LEAST_SHOWN = 290
"""So many of the texts must have been on screen: else too little was tried."""
_SETTLE_MS = 1000
_PATIENCE_MS = 300_000
"""For what is worked out in the background, on a computer that is busy with other things."""
_LONGEST_SECONDS = 20
LOOK = """() => {
  const found = [], marks = new Set(), links = new Set()
  const outside = value => {
    try {
      const own = /^(about|data):/.test(document.baseURI) ? 'http://app.invalid/' : document.baseURI
      const url = new URL(value, own)
      return url.hostname.endsWith('evil.example') || url.protocol === 'javascript:'
    } catch { return false }
  }
  const names = ['src', 'href', 'action', 'data', 'poster', 'background', 'formaction',
                 'xlink:href', 'srcset']
  const walk = node => {
    if (node.nodeType === 3) {
      for (const hit of node.data.matchAll(/zq(\\d+)z/g)) marks.add(hit[1])
      return
    }
    if (node.nodeType === 1) {
      for (const name of names) {
        const value = node.getAttribute(name)
        if (value && outside(value)) found.push(`<${node.localName} ${name}=${value}>`)
      }
      for (const one of node.attributes) {
        if (one.name.startsWith('on') && /pwned/.test(one.value))
          found.push(`<${node.localName} ${one.name}>`)
        for (const hit of one.value.matchAll(/zq(\\d+)z/g)) marks.add(hit[1])
      }
      if (/^\\s*(window\\.pwned=\\d|\\*\\s*\\{background:url)/.test(node.textContent)
          && ['script', 'style'].includes(node.localName))
        found.push(`<${node.localName}> ${node.textContent.slice(0, 80)}`)
      if (node.localName === 'a' && node.hasAttribute('data-go'))
        links.add(node.getAttribute('href') || '')
      if (node.value !== undefined && typeof node.value === 'string')
        for (const hit of node.value.matchAll(/zq(\\d+)z/g)) marks.add(hit[1])
      if (node.shadowRoot) node.shadowRoot.childNodes.forEach(walk)
    }
    node.childNodes.forEach(walk)
  }
  walk(document)
  if (window.pwned !== undefined) found.push('a script ran: ' + window.pwned)
  return {found, marks: [...marks], links: [...links]}
}"""


@dataclass
class _Seen:
    """What a browser met."""

    events: list[str] = field(default_factory=list)
    marks: set[int] = field(default_factory=set)
    links: list[str] = field(default_factory=list)

    def take(self) -> str:
        """Return what went wrong since the last time."""
        told, self.events = "; ".join(dict.fromkeys(self.events)), []
        return told[:300]


def attack() -> Iterator[Tried]:
    """Make two studies, look at every screen, then at every file and every command's output."""
    fallen: list[str] = []
    shown: set[int] = set()
    with TemporaryDirectory() as folder:
        store, out, texts = Path(folder) / "store", Path(folder) / "out", Texts()
        out.mkdir()
        soaked = soak(DEMO_FOLDER, store, texts).id
        made, samples = spread(store, texts)
        (store / "endpoints.yaml").write_text(endpoints(texts), encoding="utf-8")
        with running_app(store, demo=Path(folder) / "none") as app, browser() as opened:
            for one in chain(
                _screens(app, opened, soaked, shown),
                _screens(app, opened, made.id, shown),
                _cases(app, opened, samples, shown),
                _later(app, opened, soaked, shown),
                _asked(app, opened, soaked, shown),
                _files(store, out / "soaked", soaked),
                _files(store, out / "made", made.id),
            ):
                fallen.append(one.fell)
                yield one
            for one in _team(store, opened, soaked, texts, shown):
                fallen.append(one.fell)
                yield one
            for file in sorted(out.rglob("*.html")):
                with visitor(opened) as page:
                    seen = _watched(page, app)
                    page.goto(file.as_uri())
                    page.wait_for_timeout(_SETTLE_MS)
                    _look(page, seen)
                    shown |= seen.marks
                    yield Tried(name=f"{file.name} in the browser", fell=seen.take())
    held = "\n".join(fallen)
    few = "" if len(shown) >= LEAST_SHOWN else f"only {len(shown)} of {TEXTS} texts were shown"
    yield Tried(name="how much was tried", fell=few)
    for number in sorted(shown):
        hit = re.search(rf"(?:{re.escape(EVIL)}/|pwned=|zq){number}(?!\d)", held)
        yield Tried(name=f"text {number}", fell="it did something" if hit else "")


def _watched(page: Any, app: Running) -> _Seen:
    seen = _Seen()
    own = urlsplit(app.url).netloc

    def asked(route: Any) -> None:
        url = urlsplit(route.request.url)
        if url.scheme in ("http", "https", "ws", "wss") and url.netloc != own:
            seen.events.append(f"it asked for {route.request.url}")
            route.abort()
        else:
            route.continue_()

    def asked_something(dialog: Any) -> None:
        seen.events.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    page.context.route("**/*", asked)
    page.on("dialog", asked_something)
    return seen


def _settled(page: Any) -> None:
    """Wait until no more of the texts come."""
    before, end = -1, time.monotonic() + _LONGEST_SECONDS
    while time.monotonic() < end:
        page.wait_for_timeout(_SETTLE_MS)
        now = len(page.evaluate(LOOK)["marks"])
        running = page.get_by_test_id("stStatusWidget").count()
        if now == before and now > 0 and not running:
            return
        before = now


def _look(page: Any, seen: _Seen) -> None:
    for frame in page.frames:
        told = frame.evaluate(LOOK)
        seen.events += told["found"]
        seen.marks |= {int(one) for one in told["marks"]}
        seen.links += told["links"]


def _screens(app: Running, opened: Any, study: str, shown: set[int]) -> Iterator[Tried]:
    """Visit every screen of a study, then what its own links lead to: tabs, cases, models."""
    with visitor(opened, app) as page:
        seen = _watched(page, app)
        todo = [f"{app.url}/{name}?{urlencode({'study': study})}" for name in SCREENS]
        done: set[str] = set()
        counts: dict[str, int] = {}
        while todo and len(done) < MOST_VIEWS:
            address = todo.pop(0)
            screen = urlsplit(address).path
            shape = f"{screen}?{re.sub(r'=[^&]*', '', urlsplit(address).query)}" + "".join(
                re.findall(r"tab=[^&]*", address)
            )
            if shape in done or counts.get(screen, 0) >= MOST_OF_A_SCREEN:
                continue
            done.add(shape)
            counts[screen] = counts.get(screen, 0) + 1
            page.goto(address)
            page.locator(INSIDE).wait_for()
            _settled(page)
            _open_menus(page)
            _look(page, seen)
            shown |= seen.marks
            yield Tried(name=f"{study[:4]}, screen {shape}", fell=seen.take())
            links = [urljoin(address, link) for link in dict.fromkeys(seen.links)]
            todo += [link for link in links if link.startswith(app.url)]
            seen.links = []


def _cases(app: Running, opened: Any, samples: list[str], shown: set[int]) -> Iterator[Tried]:
    """Visit answers: the sample, its criteria, the words, the judge's reasons."""
    with visitor(opened, app) as page:
        seen = _watched(page, app)
        for sample in samples:
            for model in CANDIDATES[:2]:
                page.goto(f"{app.url}/failures?{urlencode({'sample': sample, 'model': model})}")
                page.locator(INSIDE).wait_for()
                _settled(page)
                _look(page, seen)
                shown |= seen.marks
                name = f"case {samples.index(sample)} of {model}"
                yield Tried(name=name, fell=seen.take())


def _later(app: Running, opened: Any, study: str, shown: set[int]) -> Iterator[Tried]:
    """Visit the views that no door may lead to while a study is sealed or fresh."""
    with visitor(opened, app) as page:
        seen = _watched(page, app)
        for place, needed in LATER.items():
            screen, _, query = place.partition("?")
            page.goto(f"{app.url}/{screen}?{urlencode({'study': study})}&{query}")
            page.locator(INSIDE).wait_for()
            if needed:
                page.get_by_test_id(needed).first.wait_for(state="attached", timeout=_PATIENCE_MS)
            _settled(page)
            _open_menus(page)
            _look(page, seen)
            shown |= seen.marks
            yield Tried(name=f"view {place}", fell=seen.take())


def _asked(app: Running, opened: Any, study: str, shown: set[int]) -> Iterator[Tried]:
    """Ask the study in hostile words, and look at what it says it understood."""
    with visitor(opened, app) as page:
        seen = _watched(page, app)
        page.goto(f"{app.url}/?{urlencode({'study': study})}")
        for number in range(ASKED):
            box = page.locator("input[data-ask]").first
            box.fill(" ".join(hostile(number).split()))
            box.press("Enter")
            page.get_by_test_id("asked").filter(has_text=mark(number)).first.wait_for()
            page.wait_for_timeout(_SETTLE_MS)
            _look(page, seen)
            shown |= seen.marks
            yield Tried(name=f"asked text {number}", fell=seen.take())


def _team(store: Path, opened: Any, study: str, texts: Texts, shown: set[int]) -> Iterator[Tried]:
    """Visit a deployment as an admin: people, budgets and activity, all with hostile names."""
    with running_team(store, texts) as (app, _), visitor(opened) as page:
        come_in(page, app)
        seen = _watched(page, app)
        for place in TEAM:
            screen, _, query = place.partition("?")
            page.goto(f"{app.url}/{screen}?{urlencode({'study': study})}&{query}")
            page.locator(INSIDE).wait_for()
            _settled(page)
            if screen == "settings":
                page.get_by_text("Last signed in").first.wait_for()
            _open_menus(page)
            _look(page, seen)
            shown |= seen.marks
            yield Tried(name=f"deployment, {place}", fell=seen.take())


def _open_menus(page: Any) -> None:
    """Open the filters and menus, and point at what has a tooltip, wherever it lies."""
    box = page.get_by_test_id("stPopover").locator("button")
    if box.count():
        box.first.click(force=True)
        page.wait_for_timeout(500)
    menus = page.locator("[data-baseweb=select] input:visible")
    for at in range(min(menus.count(), 3)):
        menus.nth(at).click(force=True, timeout=5000)
        page.wait_for_timeout(300)
        page.keyboard.press("Escape")
    tips = page.get_by_test_id("stTooltipIcon").locator("visible=true")
    for at in range(min(tips.count(), 3)):
        tips.nth(at).dispatch_event("mouseover")
        page.wait_for_timeout(300)


def _files(store: Path, out: Path, study: str) -> Iterator[Tried]:
    """Write every export, figure and report, and read every command's output."""
    out.mkdir()
    first, second = _models(store, study)
    for words in (
        ("export", "csv", "--out", f"{out}/csv"),
        ("export", "html", "--samples", "40", "--out", f"{out}/study.html"),
        ("export", "parquet", "--out", f"{out}/archive"),
        ("export", "judgments", "--out", f"{out}/judgments.csv"),
        ("export", "llm-comparator", "--models", f"{first},{second}", "--out", f"{out}/two.json"),
        ("report", "write", "--out", f"{out}/report.html"),
        ("report", "write", "--out", f"{out}/report.md", "--format", "markdown"),
        ("figure", "write", "--format", "svg,csv", "--out", f"{out}/figures"),
        ("tree", "export", "--out", f"{out}/tree.yaml"),
        ("profile", "show", "--model", first),
        ("compare", first, second, "--markdown", f"{out}/versions.md"),
    ):
        yield _command(*words, "--study", study, store=store)
    for words in (
        ("profile", "show", "--model", first),
        ("study", "version"),
        ("tree", "show"),
        ("run", "status"),
        ("run", "blind"),
        ("run", "settle"),
        ("correct", "list"),
        ("judge", "panel"),
        ("fidelity", "show"),
        ("fidelity", "criteria"),
        ("pairs", "show"),
    ):
        yield _command(*words, "--study", study, store=store)
        yield _command(*words, "--study", study, "--json", store=store)
    for words in (
        ("study", "list"),
        ("endpoint", "list"),
        ("judge", "list"),
        ("failures", "groups", study),
        ("failures", "groups", study, "--json"),
        ("ask", study, "where does \x1b[31m\u202e fail?"),
        ("study", "rename", "\x1b[31mno", "x"),
        ("profile", "show", "--study", study, "--model", "\x1b]0;x\x07"),
        ("report", "write", "--study", "\x1b[2J\u202e"),
        ("figure", "write", "--study", study, "--figures", "\x1b[2J", "--out", f"{out}/none"),
        ("export", "csv", "--study", study, "--out", "/nowhere/\x1b[31m\u202e"),
    ):
        yield _command(*words, store=store)
    yield from _read_back(out)


def _models(store: Path, study: str) -> tuple[str, str]:
    """Return the ids of two models of a study."""
    with Store.open(store) as opened:
        found = [one.candidate_id for one in opened.select(StudyCandidate) if one.study_id == study]
    return found[0], found[1]


def _command(*words: str, store: Path) -> Tried:
    told = " ".join(word for word in words if "/" not in word)
    return Tried(name=f"terminal: {told!r:.90}", fell=_said((*words, "--store", str(store))))


def _read_back(out: Path) -> Iterator[Tried]:
    """Read what was written: cells of tables, marks of Markdown."""
    for file in sorted(out.rglob("*")):
        if file.suffix == ".csv":
            exact = file.name == "judgments.csv"
            told = _formula(file.read_text("utf-8"), exact=exact)
            yield Tried(name=f"cells of {file.name}", fell=told)
        elif file.suffix == ".zip":
            with zipfile.ZipFile(file) as packed:
                for name in packed.namelist():
                    if name.endswith(".csv"):
                        told = _formula(packed.read(name).decode("utf-8"))
                        yield Tried(name=f"cells of {name}", fell=told)
        elif file.suffix == ".md":
            yield Tried(name=f"marks of {file.name}", fell=_markdown(file.read_text("utf-8")))


def _said(words: tuple[str, ...]) -> str:
    """Run a command and say what in its output would drive a terminal."""
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        try:
            main(list(words))
        except SystemExit:
            pass
        except Exception as error:  # noqa: BLE001 - a traceback on screen is what is looked for
            return f"{type(error).__name__}: {error!r}"[:200]
    for sign in said.getvalue():
        kind = unicodedata.category(sign)
        if (kind == "Cc" and sign not in "\n\t") or sign in "\u202a\u202b\u202d\u202e\u2066\u2067":
            return f"it writes {sign!r}"
    return ""


def _formula(text: str, *, exact: bool = False) -> str:
    """Say which cell of a table would act; in an exact one signs of direction may stand."""
    for row in csv.reader(io.StringIO(text)):
        for cell in row:
            seen = "".join(s for s in cell if unicodedata.category(s) not in ("Cc", "Cf", "Zs"))
            first = unicodedata.normalize("NFKC", seen[:1])
            if first and first in "=+-@" and not re.fullmatch(r"-?[\d.]+(e-?\d+)?", cell):
                return f"the cell {cell[:40]!r}"
            if not exact and ("\u202e" in cell or "\u202d" in cell):
                return f"an override in {cell[:40]!r}"
    return ""


def _markdown(text: str) -> str:
    for wrong in (r"(?<!\\)!\[", r"(?<!\\)\]\(http://evil", r"(?<!\\)<(?:script|img|a|iframe)\b",
                  r"http://evil", r"\u202e"):  # fmt: skip
        found = re.search(wrong, text)
        if found:
            return f"{text[max(0, found.start() - 10) : found.end() + 20]!r}"
    return ""
