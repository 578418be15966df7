"""Pictures of the pages that stood open when a test failed."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path

from playwright.sync_api import Browser, Error

SECONDS = 20
"""How long a page may take; one that hangs is no reason to lose the failure."""


def pictures(values: Iterable[object], name: str) -> list[str]:
    """Take a picture of each open page; return a line each: file and address.

    Files go to the folder named by `ATOM_SHOTS`, else to a new one, which stays.

    Args:
        values: what the test used; pages of the browsers among them are looked at.
        name: the test's.
    """
    pages = [
        page
        for browser in values
        if isinstance(browser, Browser)
        for context in browser.contexts
        for page in context.pages
    ]
    if not pages:
        return []
    folder = Path(os.environ.get("ATOM_SHOTS") or tempfile.mkdtemp(prefix="atomscope-failed-"))
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for number, page in enumerate(pages, 1):
        file = folder / f"failed-{re.sub(r'[^A-Za-z0-9]+', '-', name)}-{number}.png"
        try:
            page.screenshot(path=str(file), timeout=SECONDS * 1000)
        except Error as error:
            lines.append(f"no picture ({error.message.splitlines()[0]}) of {page.url}")
        else:
            lines.append(f"{file} of {page.url}")
    return lines
