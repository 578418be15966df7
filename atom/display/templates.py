"""Markup from templates (Jinja2): every text is escaped, as `markup.el` escapes it.

A template's line breaks and indents are for whoever reads it: none of them is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from atom.display.markup import Html, join

_BREAKS = re.compile(r"\n\s*")


class _Loader(FileSystemLoader):
    """Reads one folder's templates without their line breaks."""

    def get_source(
        self, environment: Environment, template: str
    ) -> tuple[str, str, Callable[[], bool]]:
        source, path, fresh = super().get_source(environment, template)
        return _BREAKS.sub("", source), path, fresh


@cache
def _environment(folder: Path) -> Environment:
    return Environment(
        loader=_Loader(folder), autoescape=True, undefined=StrictUndefined, finalize=_shown
    )


def template(folder: Path, name: str) -> Template:
    """Return a template of a folder; what it doesn't know is an error, not an empty text."""
    return _environment(folder).get_template(name)


def _shown(value: object) -> Html:
    """Turn what a template writes into markup: None is nothing, all but markup is escaped."""
    if hasattr(value, "__html__"):
        return Html(value.__html__())
    return join(value if isinstance(value, int | float | None) else str(value))
