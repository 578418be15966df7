"""A browser that walks through the app: what a hostile text did, and where it was shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from benchmarks.attacks._app import INSIDE, Running, visitor
from benchmarks.attacks._texts import KINDS
from benchmarks.attacks._tried import Tried

_LONGEST_MS = 20_000
_UNANSWERED_MS, _QUIET_MS = 8_000, 450
"""An app that says nothing for so long has nothing to say; and it is done after so long a quiet."""
_SAME_MS = 5_000
"""So is a page that shows the same texts for so long, though it goes on counting seconds."""
_LATE_MS = 1000
"""So long a walk waits at its end for what a text does late."""
_LISTS, _TIPS, _BOXES = 3, 3, 4
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
  const read = text => { for (const hit of text.matchAll(/zq(\\d+)z/g)) marks.add(hit[1]) }
  const walk = node => {
    if (node.nodeType === 3) return read(node.data)
    if (node.nodeType === 1) {
      for (const name of names) {
        const value = node.getAttribute(name)
        if (value && outside(value)) found.push(`<${node.localName} ${name}=${value}>`)
      }
      for (const one of node.attributes) {
        if (one.name.startsWith('on') && /pwned/.test(one.value))
          found.push(`<${node.localName} ${one.name}>`)
        read(one.value)
      }
      if (/^\\s*(window\\.pwned=\\d|\\*\\s*\\{background:url)/.test(node.textContent)
          && ['script', 'style'].includes(node.localName))
        found.push(`<${node.localName}> ${node.textContent.slice(0, 80)}`)
      if (node.localName === 'a' && node.hasAttribute('data-go'))
        links.add(node.getAttribute('href') || '')
      if (typeof node.value === 'string') read(node.value)
      if (node.shadowRoot) node.shadowRoot.childNodes.forEach(walk)
    }
    node.childNodes.forEach(walk)
  }
  walk(document)
  if (window.pwned !== undefined) found.push('a script ran: ' + window.pwned)
  return {found, marks: [...marks], links: [...links]}
}"""
"""What a text did on a page, which texts are on it, and the page's doors."""
_LOOK_ONCE = f"() => {{ const told = ({LOOK})(); delete window.pwned; return told }}"
"""The same, and what a script left is told of once."""
_LINE = """() => {
  const line = window.line = {sent: 0, asked: 0, heard: 0}, send = WebSocket.prototype.send
  WebSocket.prototype.send = function (...given) {
    if (!this.known) this.addEventListener('message', () => { line.heard = performance.now() })
    this.known = true
    line.sent += 1
    line.asked = performance.now()
    return send.apply(this, given)
  }
}"""
"""Notes when the page last spoke with its server, and when it was answered."""
_MOVE = """address => {
  const before = window.line.sent
  history.pushState({}, '', address)
  window.dispatchEvent(new PopStateEvent('popstate'))
  return new Promise(done => setTimeout(() => done(window.line.sent > before), 60))
}"""
"""Goes through a door as a reader does; returns whether the server was asked."""
_SETTLED = f"""([inside, longest]) => new Promise(done => {{
  const look = {LOOK}, begun = performance.now()
  let before = -1, since = begun
  const wait = () => {{
    const now = performance.now(), app = document.querySelector('.stApp'), line = window.line
    const answered = line.heard > line.asked || now - line.asked > {_UNANSWERED_MS}
    const quiet = app && app.dataset.testScriptState === 'notRunning'
      && answered && now - line.heard > {_QUIET_MS}
    const there = (quiet || answered && now - since > {_SAME_MS})
      && document.querySelector(inside) && !document.querySelector('[data-testid=stSkeleton]')
    const marks = look().marks.length
    if (there && marks === before || now - begun > longest) return done(marks)
    if (marks !== before) since = now
    before = marks
    setTimeout(wait, 120)
  }}
  wait()
}})"""
"""Waits until the script has ended, the line is quiet and no more texts come."""


@dataclass
class Tally:
    """What was shown, and where.

    Attributes:
        shown: on how many views, files and outputs each text was.
        kinds: the kinds of texts that were on a screen.
        bare: views that showed none: they prove nothing, and aren't counted.
        full: views that showed some, of one study at least.
    """

    shown: Counter[int] = field(default_factory=Counter)
    kinds: dict[str, set[int]] = field(default_factory=dict)
    bare: set[str] = field(default_factory=set)
    full: set[str] = field(default_factory=set)

    def tried(
        self, name: str, fell: str, marks: Iterable[int], screen: str = "", study: str = ""
    ) -> Iterator[Tried]:
        """Count the texts of a view; gives the attack, where there was any or something fell.

        Args:
            name: what was looked at.
            fell: what went wrong; empty where it held.
            marks: the texts that were there.
            screen: the screen that it is a view of.
            study: whose, where it is looked at of several studies.
        """
        there = set(marks)
        self.shown.update(there)
        self.kinds.setdefault(screen, set()).update(one % KINDS for one in there)
        if there or fell:
            yield Tried(name=f"{study and f'{study}, '}{name}, {len(there)} texts", fell=fell)
        (self.full if there else self.bare).add(name)


class Walk:
    """A browser's page that goes from view to view of an app, or looks at files.

    Attributes:
        page: Playwright's page.
        links: the doors of the view that was looked at last.
        marks: the texts that were on it.
    """

    def __init__(self, page: Any, own: str = "") -> None:
        self.page = page
        self.links: list[str] = []
        self.marks: set[int] = set()
        self._events: list[str] = []
        self._own = {own}
        page.context.on("request", lambda request: self._asked(request.url))
        page.on("websocket", lambda line: self._asked(line.url))
        page.on("dialog", self._dialog)
        page.add_init_script(f"({_LINE})()")

    def may_ask(self, address: str) -> None:
        """Let the app send its visitors there, too."""
        self._own.add(urlsplit(address).netloc)

    def go(self, address: str, *, load: bool = False) -> None:
        """Go to a view, through a door or by loading it, and wait until it stands."""
        self.marks, self.links = set(), []
        if load or not self.page.evaluate(_MOVE, address):
            self.page.goto(address)
        self.settle()

    def settle(self) -> None:
        """Wait until the app is done and no more texts come."""
        self.page.evaluate(_SETTLED, [INSIDE, _LONGEST_MS])

    def look(self) -> None:
        """Look at what stands there, frames too."""
        for frame in self.page.frames:
            told = frame.evaluate(_LOOK_ONCE)
            self._events += told["found"]
            self.marks |= {int(one) for one in told["marks"]}
            self.links += told["links"]

    def open_menus(self, *, boxes: bool) -> None:
        """Open menus, and point at what has a tooltip; look at each while it is open.

        Args:
            boxes: open the filters and other boxes, too, and the menus in them.
        """
        page = self.page
        tips = page.get_by_test_id("stTooltipIcon").locator("visible=true")
        for at in range(min(tips.count(), _TIPS)):
            tips.nth(at).dispatch_event("mouseover")
            page.wait_for_timeout(200)
            self.look()
        self._open_lists(page)
        shut = page.get_by_test_id("stPopover").locator("button:visible")
        for at in range(min(shut.count(), _BOXES) if boxes else 0):
            shut.nth(at).click(force=True)
            self.settle()
            self.look()
            self._open_lists(page.get_by_test_id("stPopoverBody"))
            page.keyboard.press("Escape")
            page.wait_for_timeout(100)

    def _open_lists(self, place: Any) -> None:
        lists = place.locator("[data-baseweb=select] input:visible")
        for at in range(min(lists.count(), _LISTS)):
            lists.nth(at).click(force=True, timeout=5000)
            self.page.wait_for_timeout(100)
            self.look()
            self.page.keyboard.press("Escape")

    def take(self) -> str:
        """Return what went wrong since the last time."""
        told, self._events = "; ".join(dict.fromkeys(self._events)), []
        return told[:300]

    def _asked(self, address: str) -> None:
        url = urlsplit(address)
        if url.scheme in ("http", "https", "ws", "wss") and url.netloc not in self._own:
            self._events.append(f"it asked for {address}")

    def _dialog(self, dialog: Any) -> None:
        self._events.append(f"a dialog: {dialog.message}")
        dialog.dismiss()


@contextmanager
def walk(opened: Any, app: Running | None = None, *, let_in: bool = True) -> Iterator[Walk]:
    """Walk with a fresh profile.

    Args:
        opened: the browser.
        app: the only place that may be asked for anything; none where files are looked at.
        let_in: whether the profile holds the app's cookie.
    """
    with visitor(opened, app if let_in else None) as page:
        yield Walk(page, urlsplit(app.url).netloc if app else "")


def late(walked: Walk, name: str) -> Iterator[Tried]:
    """Wait for what a text does late, and tell of it."""
    walked.page.wait_for_timeout(_LATE_MS)
    walked.look()
    if fell := walked.take():
        yield Tried(name=f"{name}, afterwards", fell=fell)
