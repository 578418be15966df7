"""A real browser on an app of its own: for what reaction times and looks are measured."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
START_SECONDS = 180.0
PATIENCE_MS = 90_000
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
         "--disable-background-networking"]  # fmt: skip
WATCH = """() => {
  window.shift = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
  }).observe({type: "layout-shift", buffered: true});
}"""
"""Adds up layout shift from the page's beginning on."""
GO = """([address, title, quiet]) => new Promise((settled) => {
  const begun = performance.now();
  let last = begun, there = false;
  const seen = new Set();
  const changes = new MutationObserver(() => { last = performance.now(); });
  const watch = (root) => {
    seen.add(root);
    changes.observe(
      root, {subtree: true, childList: true, characterData: true, attributes: true});
  };
  // Looked for again and again, the roots would cost the page more time than a tab takes.
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (how) {
    const root = attach.call(this, how);
    watch(root);
    return root;
  };
  const isThere = () => [document, ...[...seen].filter((root) => root.host?.isConnected)].some(
    (root) => [...root.querySelectorAll("h1")].some((head) => head.textContent === title));
  const look = () => {
    const now = performance.now();
    const app = document.querySelector(".stApp");
    if (!app || app.dataset.testScriptState === "running"
      || document.querySelector('[class*="st-key-wait_"]')) last = now;
    if (now - last > quiet && (there = there || isThere())) {
      Element.prototype.attachShadow = attach;
      changes.disconnect();
      settled((last - begun) / 1000);
    } else setTimeout(look, 30);
  };
  watch(document.body);
  for (const node of document.querySelectorAll("*")) if (node.shadowRoot) watch(node.shadowRoot);
  history.pushState({}, "", address);
  window.dispatchEvent(new PopStateEvent("popstate"));
  look();
})"""
"""Moves as a door does, and returns the seconds until the last change before a quiet time, once
the page has its title, the script behind it has ended and nothing is being worked out."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """A page, or a tab of one.

    Args:
        title: the page's title.
        address: relative to the app, without the study.
        tab: the tab's name; empty for the page as it opens.
    """

    title: str
    address: str
    tab: str = ""

    @property
    def name(self) -> str:
        """What it's called."""
        return f"{self.title}: {self.tab}" if self.tab else self.title


PLACES = (
    Place(title="Overview", address=""),
    Place(title="Capability tree", address="tree"),
    Place(title="Capability tree", address="tree?tab=network", tab="Network"),
    Place(title="Capability tree", address="tree?tab=criteria", tab="Criteria"),
    Place(title="Capability tree", address="tree?tab=tasks", tab="Tasks"),
    Place(title="Capability tree", address="tree?tab=grow", tab="Grow"),
    Place(title="Capability tree", address="tree?tab=versions", tab="Versions"),
    Place(title="Capability tree", address="tree?tab=validity", tab="Validity"),
    Place(title="Fingerprints", address="fingerprints"),
    Place(title="Fingerprints", address="fingerprints?tab=answers", tab="Answer by answer"),
    Place(title="Fingerprints", address="fingerprints?tab=apart", tab="Told apart"),
    Place(title="Fingerprints", address="fingerprints?tab=errors", tab="Kinds of error"),
    Place(title="Failures", address="failures"),
    Place(title="Compare", address="compare"),
    Place(title="Live replay", address="replay"),
    Place(title="Live replay", address="replay?tab=upload", tab="My own picture"),
    Place(title="Self-correction", address="correction"),
    Place(title="Self-correction", address="correction?tab=where", tab="Where it helps"),
    Place(title="Self-correction", address="correction?tab=cases", tab="Answers"),
    Place(title="Self-correction", address="correction?tab=new", tab="New experiment"),
    Place(title="Self-correction", address="correction?tab=one", tab="One answer"),
    Place(title="Runs", address="runs"),
    Place(title="Judge lab", address="judge-lab"),
    Place(title="Judge lab", address="judge-lab?tab=judge", tab="In this study"),
    Place(title="Judge lab", address="judge-lab?tab=judges", tab="Its judges"),
    Place(title="Judge lab", address="judge-lab?tab=people", tab="Against people"),
    Place(title="Judge lab", address="judge-lab?tab=sight", tab="Does it look?"),
    Place(title="Judge lab", address="judge-lab?tab=pairs", tab="Hard pairs"),
    Place(title="Judge lab", address="judge-lab?tab=vl_rewardbench", tab="On benchmarks"),
    Place(title="Judge lab", address="judge-lab?tab=published", tab="Published"),
    Place(title="Human check", address="human-check"),
    Place(title="Reports", address="reports"),
    Place(title="Reports", address="reports?tab=findings", tab="Findings"),
    Place(title="Data", address="data"),
    Place(title="Data", address="data?tab=pictures", tab="Pictures"),
    Place(title="Data", address="data?tab=studies", tab="Studies"),
    Place(title="Data", address="data?tab=export", tab="Export"),
    Place(title="Settings", address="settings"),
)


@dataclass(frozen=True, kw_only=True)
class Running:
    """A running app.

    Args:
        url: its address, without a final slash.
        enter: the address that lets a browser in.
        store: its store.
        seconds: from the command to the printed address.
    """

    url: str
    enter: str
    store: Path
    seconds: float


@contextmanager
def app() -> Iterator[Running]:
    """Start the app on the bundled study and an empty store, and end it with the block."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "app.log"
        store = Path(folder) / "workspace"
        variables = os.environ | {"ATOM_STORE": str(store)}
        begun = time.perf_counter()
        with log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "atom", "app", "--headless"],
                cwd=PROJECT, env=variables, stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.STDOUT,
            )  # fmt: skip
        try:
            enter = _printed(process, log)
            seconds = time.perf_counter() - begun
            yield Running(url=enter.partition("/?")[0], enter=enter, store=store, seconds=seconds)
        finally:
            process.terminate()
            try:
                process.wait(timeout=15)
            except subprocess.TimeoutExpired:
                process.kill()


def _printed(process: subprocess.Popen[bytes], log: Path) -> str:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        found = re.search(r"http://\S+[?&]enter=\S+", log.read_text(encoding="utf-8"))
        if found is not None:
            return found.group(0)
        time.sleep(0.05)
    raise SystemExit(f"the app didn't start:\n{log.read_text(encoding='utf-8')[-2000:]}")


@contextmanager
def browser() -> Iterator[Any]:
    """Start Chromium without a window."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        raise SystemExit("this needs Chromium (on Debian: apt-get install chromium)")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=path, headless=True, args=FLAGS)
        try:
            yield found
        finally:
            found.close()


def enter(browser: Any, running: Running, **options: Any) -> Any:
    """Open a fresh profile that is let into an app, past the welcome page; returns a page."""
    context = browser.new_context(**options)
    context.set_default_timeout(PATIENCE_MS)
    secret = running.enter.partition("enter=")[2]
    port = running.url.rpartition(":")[2]
    context.add_cookies(
        [
            {"name": f"atomscope_{port}", "value": secret, "url": running.url},
            {"name": "atomscope_welcome", "value": "seen", "url": running.url},
        ]
    )
    context.add_init_script(f"({WATCH})()")
    return context.new_page()
