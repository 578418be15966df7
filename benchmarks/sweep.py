"""Look over every screen at every size for what can't be read.

Run it with `python benchmarks/sweep.py` (all of it: twenty minutes), or a part of it with `--only
Failures --sizes 1280x720 --schemes dark --zooms 1`. On each screen, in four sizes, light and dark,
at 100 and 200 % zoom, it reports texts that are cut off without a way to see them whole, texts
under 9 px, texts that lie over each other, contrast under 4.5 to 1, marks that a reader shouldn't
see (backticks, `nan`, a hyphen for a minus sign), and numbers that stand a line above their unit.
Each screen is looked at once nothing changes in it any more; one that doesn't come to rest is
reported, too. The exit status is 1 where anything was found.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import TimeoutError as PlaywrightTimeout

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks._browser import PLACES, app, browser, enter

SIZES = ("1280x720", "1440x900", "1920x1080", "1024x768")
SCHEMES = ("light", "dark")
ZOOMS = (1, 2)
LEAST_PX = 9
CONTRAST = 4.5
QUIET_MS = 700
"""A screen is at rest when nothing has changed in it for so long."""
PATIENCE_MS = 180_000
"""How long a screen is waited for; other work may share the machine."""
MOVE = """(address) => {
  if (window.rest) window.rest.ran = false;
  history.pushState({}, "", address);
  window.dispatchEvent(new PopStateEvent("popstate"));
}"""
"""Moves as a door does."""
REST = """(quiet) => {
  const app = document.querySelector(".stApp"), now = performance.now();
  const runs = () => document.querySelector(".stApp")?.dataset.testScriptState === "running";
  const rest = (window.rest ??= {at: now, ran: true, roots: new Set()});
  const watch = (root) => {
    if (rest.roots.has(root)) return;
    rest.roots.add(root);
    rest.at = now;
    new MutationObserver(() => {
      rest.at = performance.now();
      rest.ran ||= runs();
    }).observe(root, {subtree: true, childList: true, characterData: true, attributes: true});
  };
  watch(document);
  for (const node of document.querySelectorAll("*")) if (node.shadowRoot) watch(node.shadowRoot);
  const undrawn = '[data-testid="stSkeleton"], .stBidiComponent:not([data-drawn])';
  rest.works = [
    [!app || runs(), "its script runs"], [!rest.ran, "no script ran since the move"],
    [document.documentElement.dataset.settled === undefined, "its first drawing isn't over"],
    [document.fonts.status !== "loaded", "fonts load"],
    [!document.querySelector(".stMain [data-drawn]"), "nothing is drawn"],
    [document.querySelector(undrawn), "a part isn't drawn"],
    [document.querySelector('[class*="st-key-wait_"]'), "it is being worked out"],
  ].filter(([is]) => is).map(([, words]) => words);
  if (rest.works.length) rest.at = now;
  return now - rest.at > quiet;
}"""
"""Tells whether the page is at rest: a script ran since the last move and ended, every part is
drawn, and nothing has changed for a while (milliseconds)."""
MOST = 12
"""Findings of a kind that are listed for one view."""
LOOK = (Path(__file__).parent / "_sweep.js").read_text(encoding="utf-8").partition("\n")[2]
KINDS = {"small": f"text under {LEAST_PX} px", "faint": f"contrast under {CONTRAST}",
         "cut": "cut off", "over": "text over text", "wide": "scrolls sideways",
         "raw": "raw marks", "apart": "numbers apart from their unit",
         "restless": "doesn't come to rest"}  # fmt: skip


@contextmanager
def window(chromium: Any, running: Any, size: str, scheme: str, zoom: int) -> Iterator[Any]:
    """Open a window of a size, in a theme, at a zoom of 1 or 2."""
    width, height = (int(number) // zoom for number in size.split("x"))
    page = enter(
        chromium, running, viewport={"width": width, "height": height}, color_scheme=scheme,
        device_scale_factor=zoom, reduced_motion="reduce",
    )  # fmt: skip
    try:
        yield page
    finally:
        page.context.close()


def look(page: Any, address: str) -> dict[str, list[str]]:
    """Move to a screen, wait until it is at rest, and return what was found on it by kind."""
    if page.url == "about:blank":
        page.goto(address, timeout=PATIENCE_MS)
    else:
        page.evaluate(MOVE, address)
    restless = []
    try:
        page.wait_for_function(REST, arg=QUIET_MS, polling=50, timeout=PATIENCE_MS)
    except PlaywrightTimeout:
        works = page.evaluate("window.rest?.works") or ["something changes"]
        restless = [f"after {PATIENCE_MS / 1000:.0f} s {', '.join(works)}"]
    return page.evaluate(LOOK, [LEAST_PX, CONTRAST]) | {"restless": restless}


def _words(row: dict[str, Any]) -> str:
    where = f"{row['place']} {row['size']} {row['scheme']} {100 * row['zoom']} %"
    return f"{where}: {row['number']} {KINDS[row['kind']]}: {'; '.join(row['texts'])}"


def main() -> int:
    """Read the options, look, and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="write one JSON document")
    parser.add_argument("--only", default="", help="only screens with this in their name")
    parser.add_argument("--sizes", nargs="+", default=SIZES, metavar="WxH")
    parser.add_argument("--schemes", nargs="+", default=SCHEMES, choices=SCHEMES)
    parser.add_argument("--zooms", nargs="+", type=int, default=ZOOMS, choices=ZOOMS)
    asked = parser.parse_args()
    rows: list[dict[str, Any]] = []
    places = [one for one in PLACES if asked.only.lower() in one.name.lower()]
    looks = list(itertools.product(asked.sizes, asked.schemes, asked.zooms))
    with app() as running, browser() as chromium:
        for size, scheme, zoom in looks:
            with window(chromium, running, size, scheme, zoom) as page:
                for place in places:
                    found = look(page, f"{running.url}/{place.address}")
                    new = [
                        {"place": place.name, "size": size, "scheme": scheme, "zoom": zoom,
                         "kind": kind, "number": len(texts), "texts": sorted(set(texts))[:MOST]}
                        for kind, texts in found.items() if texts
                    ]  # fmt: skip
                    rows += new
                    if not asked.json:
                        for row in new:
                            print(_words(row), flush=True)  # noqa: T201
    if asked.json:
        print(json.dumps(rows, indent=1, ensure_ascii=False))  # noqa: T201
    else:
        print(f"{len(places) * len(looks)} views, {len(rows)} findings")  # noqa: T201
    return 1 if rows else 0


if __name__ == "__main__":
    sys.exit(main())
