"""What terms mean, from `docs/glossary.md`."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from atom.settings import PROJECT_ROOT

GLOSSARY_FILE = PROJECT_ROOT / "docs" / "glossary.md"
_ENTRY = re.compile(r"^\s*(?:[-*]\s+)?\*\*(?P<term>[^*]+)\*\*\s*[—–:-]\s*(?P<meaning>.+)$")


def parse_glossary(text: str) -> dict[str, str]:
    """Read `**Term** — definition` lines; names are folded, `A, B` and `A (B)` name it twice."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        if entry := _ENTRY.match(line):
            meaning = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", entry["meaning"])
            meaning = meaning.replace("`", "").replace("**", "").strip()
            for name in re.split(r"[,/()]", entry["term"]):
                if name.strip():
                    found.setdefault(name.strip().casefold(), meaning)
    return found


@cache
def glossary(path: Path = GLOSSARY_FILE) -> dict[str, str]:
    """Return the glossary; empty when the file isn't there."""
    try:
        return parse_glossary(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}


def meaning(term: str) -> str | None:
    """Return what a term means, or None when the glossary doesn't know it."""
    return glossary().get(term.casefold())
