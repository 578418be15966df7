"""Measure how fast every page and tab answers in a browser, and how much moves while it loads.

Run it with `python benchmarks/pages.py --json`. The app starts on the bundled study and an empty
store. *first open* is the time from the address to the ranking on a fresh server and browser,
beside *start*, from the command to the printed address; a page's *first* is its first visit on that
server; *settled* the time from a door to the last change of what is seen, the best of some tries on
a warm server; *shift* the layout shift (CLS) while a page is opened by its address. Other work on
the machine makes all times longer: the best of five is least touched by it. `--starts 5` times
fresh servers before all else, `--first tree` a page's first visit on each of them.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks._browser import GO, PLACES, app, browser, enter

FIRST, SETTLED, SHIFT = 3.0, 0.5, 0.1
"""Targets: seconds, seconds, and a share of the window."""
QUIET_MS = 600
READ_MS = 8000
"""How long a reader looks at the first screen before they take a door."""
SIZE = {"width": 1440, "height": 900}
_RUNS = next(place for place in PLACES if place.title == "Runs")
RANKING = "table[aria-label='Ranking of models']"


def start(first: str = "") -> dict[str, float]:
    """Time a fresh server: its start, its first screen, and a page's first visit.

    Args:
        first: address of the page; none when empty.
    """
    with app() as running, browser() as chromium:
        page = enter(chromium, running, viewport=SIZE)
        found = {"start": round(running.seconds, 2), "first_open": round(_open(page, running), 2)}
        place = next((one for one in PLACES if one.address == first), None)
        if first and place is not None:
            page.wait_for_timeout(READ_MS)
            seconds = page.evaluate(GO, [f"/{place.address}", place.title, QUIET_MS])
            found[place.name] = round(seconds, 2)
    print(found, file=sys.stderr)  # noqa: T201 - a benchmark says how far it is
    return found


def _open(page: Any, running: Any) -> float:
    """Open the app, and return the seconds until the ranking is there."""
    begun = time.perf_counter()
    page.goto(running.url)
    page.locator(RANKING).wait_for()
    return time.perf_counter() - begun


def measure(tries: int, only: str = "") -> dict[str, Any]:
    """Measure all pages.

    Args:
        tries: doors taken to each page.
        only: only places with this in their name.
    """
    places = [place for place in PLACES if only.lower() in place.name.lower()]
    with app() as running, browser() as chromium:
        page = enter(chromium, running, viewport=SIZE)
        first = _open(page, running)
        rows: list[dict[str, Any]] = []
        for place in places:
            away = PLACES[0] if place.title == "Runs" else _RUNS
            taken = []
            for _ in range(tries + 1):
                page.evaluate(GO, [f"/{away.address}", away.title, QUIET_MS])
                taken.append(page.evaluate(GO, [f"/{place.address}", place.title, QUIET_MS]))
            shift = _shift(chromium, running, place.address)
            rows.append({"place": place.name, "first": round(taken[0], 2),
                         "settled": round(min(taken[1:]), 2), "shift": round(shift, 3),
                         "met": min(taken[1:]) < SETTLED and shift < SHIFT})  # fmt: skip
            print(rows[-1], file=sys.stderr)  # noqa: T201 - a benchmark says how far it is
        page.context.close()
    return {
        "first_open": round(first, 2),
        "first_open_met": first < FIRST,
        "targets": {"first": FIRST, "settled": SETTLED, "shift": SHIFT},
        "tries": tries,
        "pages": rows,
    }


def _shift(chromium: Any, running: Any, address: str) -> float:
    page = enter(chromium, running, viewport=SIZE)
    page.goto(f"{running.url}/{address}")
    page.locator(".atom .head").first.wait_for()
    page.wait_for_timeout(2500)
    found = float(page.evaluate("window.shift"))
    page.context.close()
    return found


def main() -> None:
    """Read the options and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="write one JSON document")
    parser.add_argument("--tries", type=int, default=5, help="doors taken to each page (5)")
    parser.add_argument("--only", default="", help="only places with this in their name")
    parser.add_argument("--starts", type=int, default=0, help="further fresh servers to time (0)")
    parser.add_argument("--first", default="", help="address of a page to visit first on each")
    asked = parser.parse_args()
    starts = [start(asked.first) for _ in range(asked.starts)]
    found = measure(asked.tries, asked.only) | {"starts": starts}
    if asked.json:
        print(json.dumps(found, indent=1))  # noqa: T201
        return
    print(f"first open {found['first_open']} s (under {FIRST})")  # noqa: T201
    for row in found["pages"]:
        mark = " " if row["met"] else "!"
        print(f"{mark} {row['place']:20} {row['settled']:5.2f} s  first {row['first']:5.2f} s  "  # noqa: T201
              f"shift {row['shift']:.3f}")  # fmt: skip


if __name__ == "__main__":
    main()
