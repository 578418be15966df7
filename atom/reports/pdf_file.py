"""A report as PDF: its HTML file, printed by a browser that is on this computer."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from atom.errors import PlaceError, UsageError
from atom.files import write_file
from atom.foreign.files import read_foreign

BROWSERS = (
    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge",
    "microsoft-edge",
)  # fmt: skip
"""Programs that print without a window, in the order in which they are looked for."""
SECONDS = 180
_FLAGS = (
    "--headless", "--disable-gpu", "--no-first-run", "--disable-extensions",
    "--disable-background-networking", "--disable-dev-shm-usage", "--no-pdf-header-footer",
    # The file holds all that it needs: whatever it named is looked up nowhere.
    "--host-resolver-rules=MAP * ~NOTFOUND",
)  # fmt: skip


def find_browser() -> str | None:
    """Return the program that prints, by its path; None where there is none."""
    found = (shutil.which(name) for name in BROWSERS)
    return next((path for path in found if path is not None), None)


def to_pdf(page: str) -> bytes:
    """Print a report's HTML file.

    Args:
        page: the file's text, as `html_file.to_html` gives it.

    Raises:
        UsageError: there is no browser on this computer.
        PlaceError: the browser didn't print.
    """
    browser = find_browser()
    if browser is None:
        raise UsageError(
            "a PDF is printed by Chromium, Chrome or Edge, and none of them is on this computer: "
            "install one, or take the HTML file and print it from any browser"
        )
    with tempfile.TemporaryDirectory(prefix="atomscope-print-") as name:
        folder = Path(name)
        write_file(folder / "report.html", page, sync=False)
        out = folder / "report.pdf"
        # A browser refuses to sandbox what root starts, as in a container.
        alone = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        command = [
            browser, *_FLAGS, *alone, f"--user-data-dir={folder / 'profile'}",
            f"--print-to-pdf={out}", (folder / "report.html").as_uri(),
        ]  # fmt: skip
        try:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise PlaceError(
                f"{browser!r} didn't print the report ({type(error).__name__}): take the HTML file "
                "and print it from a browser"
            ) from error
        if not out.exists():
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise PlaceError(
                f"{browser!r} didn't print the report ({(said or ['no reason given'])[-1][:200]}): "
                "take the HTML file and print it from a browser"
            )
        return read_foreign(out)
