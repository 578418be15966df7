"""Look over every screen at every size for what can't be read.

Run it with `python benchmarks/sweep.py` (all of it: twenty minutes), or a part of it with `--only
Failures --sizes 1280x720 --schemes dark --zooms 1`. On each screen, in four sizes, light and dark,
at 100 and 200 % zoom, it reports texts that are cut off without a way to see them whole, texts
under 9 px, texts that lie over each other, and contrast under 4.5 to 1. The exit status is 1 where
anything was found.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks._browser import PLACES, app, browser, enter

SIZES = ("1280x720", "1440x900", "1920x1080", "1024x768")
SCHEMES = ("light", "dark")
ZOOMS = (1, 2)
LEAST_PX = 9
CONTRAST = 4.5
SETTLE_MS = 1200
DRAWN = """() => document.documentElement.dataset.settled !== undefined
  && document.querySelector(".stApp")?.dataset.testScriptState !== "running"
  && !document.querySelector('[data-testid="stSkeleton"], .stBidiComponent:not([data-drawn])')"""
MOST = 12
"""Findings of a kind that are listed for one view."""
LOOK = (Path(__file__).parent / "_sweep.js").read_text(encoding="utf-8").partition("\n")[2]
KINDS = {"small": f"text under {LEAST_PX} px", "faint": f"contrast under {CONTRAST}",
         "cut": "cut off", "over": "text over text", "wide": "scrolls sideways"}  # fmt: skip


def view(chromium: Any, running: Any, address: str, size: str, scheme: str, zoom: int) -> Any:
    """Open a screen, and return what was found on it by kind."""
    width, height = (int(number) // zoom for number in size.split("x"))
    page = enter(
        chromium, running, viewport={"width": width, "height": height}, color_scheme=scheme,
        device_scale_factor=zoom, reduced_motion="reduce",
    )  # fmt: skip
    try:
        page.goto(f"{running.url}/{address}")
        page.locator(".atom .head").first.wait_for()
        page.wait_for_function(DRAWN)
        page.wait_for_timeout(SETTLE_MS)
        return page.evaluate(LOOK, [LEAST_PX, CONTRAST])
    finally:
        page.context.close()


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
    with app() as running, browser() as chromium:
        for place in PLACES:
            if asked.only.lower() not in place.name.lower():
                continue
            for size in asked.sizes:
                for scheme in asked.schemes:
                    for zoom in asked.zooms:
                        found = view(chromium, running, place.address, size, scheme, zoom)
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
        print(f"{len(rows)} findings")  # noqa: T201
    return 1 if rows else 0


if __name__ == "__main__":
    sys.exit(main())
