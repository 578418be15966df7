"""The forms in which a report is handed on."""

from __future__ import annotations

import re
from typing import Literal

from atom.reports.html_file import thumbnails, to_html
from atom.reports.markdown_file import to_markdown
from atom.reports.records import Report
from atom.store import Store

Format = Literal["html", "markdown", "json"]
ENDINGS: dict[Format, str] = {"html": "html", "markdown": "md", "json": "json"}
MEDIA_TYPES: dict[Format, str] = {
    "html": "text/html",
    "markdown": "text/markdown",
    "json": "application/json",
}


def render(store: Store, report: Report, form: Format, *, base: str = "") -> str:
    """Write a report in one of its forms.

    Args:
        store: where thumbnails are read from.
        base: the app's address, for links; empty = addresses as text.

    Raises:
        UsageError: the base isn't an http address.
    """
    if form == "html":
        return to_html(report, thumbnails(store), base=base)
    if form == "markdown":
        return to_markdown(report, base=base)
    return report.model_dump_json(indent=1) + "\n"


def file_name(report: Report, form: Format) -> str:
    """Name a report's file by its study, and say whether it is of a part of it."""
    stem = re.sub(r"[^a-z0-9]+", "-", report.study.lower()).strip("-") or "study"
    part = "-selection" if report.selection else ""
    return f"{stem[:60]}-report{part}.{ENDINGS[form]}"
