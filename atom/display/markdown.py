"""Foreign text in Markdown: what it says, and nothing that it could do."""

from __future__ import annotations

import re

from atom.display.shown import level

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#!|~$&^])")
_ADDRESS = re.compile(r"(?i)\b(https?|ftp|mailto|www)([:.])")
START = re.compile(r"^(\s*)([-+]|\d+[.)])(?=\s|$)")


def escaped(text: str) -> str:
    """Turn a text into Markdown that shows exactly this text, on one line.

    Neither markup nor HTML, a picture, a link or a list can come of it.
    """
    flat = level(" ".join(text.split()))
    flat = _SPECIAL.sub(r"\\\1", flat).replace("\\<", "&lt;").replace("@", "\\@")
    flat = _ADDRESS.sub(r"\1\\\2", flat)
    return START.sub(lambda match: f"{match[1]}\\{match[2]}" if len(match[2]) == 1
                      else f"{match[1]}{match[2][:-1]}\\{match[2][-1]}", flat)  # fmt: skip
