r"""Foreign text where Streamlit reads Markdown: labels, tooltips, captions, options of pills.

`![x](http://...)` in a label is a picture that the reader's browser asks for. `plain` is the one
way for text that isn't written in the code; `tests/rules/test_markdown.py` finds places without.
"""

from __future__ import annotations

import re

from atom.display.shown import level

_MARKS = re.compile(r"[\\`*_{}\[\]()<>#+\-.!|~$^&=\"']")
_JOINER = "\u2060"
"""Unseen and without width: keeps apart what would be read as a link, an icon or an emoji."""
_READ_LATE = re.compile(r":(?=[\w/])|@(?=[\w.-])|ww(?=w\\?\.)", re.IGNORECASE)
"""A joiner behind the dot of `www.` wouldn't do: browsers leave it out of a host's name."""
_BREAKS = re.compile(r"(?<!\s)\s*[\r\n\u2028\u2029]\s*")


def plain(text: object) -> str:
    """Return what shows exactly this text where Markdown is read; line breaks become spaces."""
    words = str(text).encode("utf-8", "replace").decode("utf-8")
    words = _BREAKS.sub(" ", level(words).strip())
    # Addresses, icons and emoji are looked for when escapes are gone: a joiner stays.
    marked = _MARKS.sub(r"\\\g<0>", words)
    return _READ_LATE.sub(lambda found: found[0] + _JOINER, marked)
