"""Make the pictures of README.md and docs from the bundled study.

Run it with `python benchmarks/images.py` whenever a screen has changed. It writes `docs/images`,
and beside the pictures the menu and the headings that they show, which tests hold against the
app's own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from atom.settings import Settings, load_settings
from atom.ui.pages import SCREENS, SECTIONS
from atom.views.overview.welcome import picked_case
from atom.views.snapshot import open_study
from atom.views.stores import list_all, open_store
from benchmarks._browser import PROJECT, Running, app, browser, enter

IMAGES = PROJECT / "docs" / "images"
MENU = IMAGES / "menu.json"
HEADINGS = IMAGES / "headings.json"
SIZE = {"width": 1440, "height": 900}
SETTLE_MS = 2500
DRAWN = """() => !document.querySelector('[data-testid="stSkeleton"]')
  && document.querySelector(".stApp").dataset.testScriptState !== "running"
"""
"""Nothing waits for what it is drawn by any more, and the script behind the page has ended."""
HEADED = """() => {
  const roots = [document.querySelector('[data-testid="stMain"]')], found = [];
  for (const root of roots)
    for (const node of root.querySelectorAll("*")) {
      if (node.shadowRoot) roots.push(node.shadowRoot);
      const words = node.textContent.trim().replace(/\\s+/g, " ");
      const seen = node.checkVisibility() && node.getBoundingClientRect().top < innerHeight;
      if (/^H[1-3]$/.test(node.nodeName) && words && seen) found.push(words);
    }
  return found;
}"""
"""The headings that are in sight, in the order of the page."""
BROKEN = "[data-testid='stException']"


def menu() -> list[list[str]]:
    """Return the menu as it is: each section with its screens."""
    return [
        [section, *(screen.title for screen in SCREENS if screen.section == section)]
        for section in SECTIONS
    ]


def shots(settings: Settings) -> dict[str, str]:
    """Return each picture's address: picked cases of the bundled study."""
    entry = next(one for one in list_all(settings, open_store).entries if one.bundled)
    store = open_store(str(settings.demo), True)
    picked = picked_case(store, open_study(store, entry.study.id))
    assert picked is not None, "the bundled study has no failed criterion with a region"
    case = picked.filters.but(study=entry.key, rests=None)
    home = {"study": entry.key}
    return {
        "overview": f"?{urlencode(home)}",
        "failures": f"failures?{urlencode(case.to_query(), doseq=True)}",
        "tree": f"tree?{urlencode({**home, 'model': case.model or '', 'colour': 'evidence'})}",
        "fingerprints": f"fingerprints?{urlencode(home)}",
    }


def experiment(running: Running, model: str, limit: int) -> str:
    """Run a self-correction experiment on a copy of the bundled study; returns its address."""

    def command(*words: str) -> Any:
        done = subprocess.run(
            [sys.executable, "-m", "atom", *words, "--store", str(running.store), "--json"],
            cwd=PROJECT, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise SystemExit(done.stderr[-2000:])
        return json.loads(done.stdout)

    (bundled,) = command("study", "list")
    command("correct", "run", "--study", bundled["name"], "--model", model, "--limit", str(limit),
            "--yes")  # fmt: skip
    mine = next(row for row in command("study", "list") if row["id"] != bundled["id"])
    return f"correction?{urlencode({'study': mine['id'], 'tab': 'result'})}"


def main() -> None:
    """Write the pictures, their headings and the menu."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="only the picture of this name")
    parser.add_argument("--model", default="model-a", help="whose answers are tried again")
    parser.add_argument("--limit", type=int, default=40, help="answers that are tried again")
    asked = parser.parse_args()
    IMAGES.mkdir(parents=True, exist_ok=True)
    with app() as running, browser() as chromium:
        wanted = shots(load_settings())
        headings = json.loads(HEADINGS.read_text(encoding="utf-8")) if HEADINGS.exists() else {}
        if asked.only in ("", "correction"):
            wanted["correction"] = experiment(running, asked.model, asked.limit)
        for name, address in wanted.items():
            if asked.only in ("", name):
                page = enter(chromium, running, viewport=SIZE)
                page.goto(f"{running.url}/{address}")
                page.locator(".atom .head").first.wait_for()
                page.wait_for_timeout(SETTLE_MS)
                page.wait_for_function(DRAWN)
                page.wait_for_timeout(SETTLE_MS)
                page.wait_for_function(DRAWN)
                if page.locator(BROKEN).count():
                    raise SystemExit(f"{name}: {page.locator(BROKEN).first.inner_text()[:300]}")
                page.screenshot(path=str(IMAGES / f"{name}.png"), animations="disabled")
                headings[name] = page.evaluate(HEADED)
                page.context.close()
    HEADINGS.write_text(
        json.dumps(headings, indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8"
    )
    MENU.write_text(json.dumps(menu(), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
