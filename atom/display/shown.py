"""Foreign text on its way to a reader: signs that would act on what stands around them are shown.

Names, answers and replies are hostile text. Escape sequences drive a terminal; bidirectional
overrides mirror whatever follows them, a number in the next column as well.
"""

from __future__ import annotations

import re
import unicodedata

_OVERRIDES = re.compile("[\u202d\u202e]")
_EMBEDDINGS = "\u202a\u202b"
_ISOLATES = "\u2066\u2067\u2068"
_POP_EMBEDDING, _POP_ISOLATE = "\u202c", "\u2069"
_OPENING = re.compile(f"[{_EMBEDDINGS}{_ISOLATES}]")
REPLACED = "\ufffd"
_DRIVES_A_TERMINAL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]"
)
_FORMULA = ("=", "+", "-", "@")
_UNSEEN = {"Cc", "Cf", "Zs", "Zl", "Zp", "Mn"}


def level(text: str) -> str:
    """Return a text whose direction ends with it.

    Overrides, which no honest text needs, become the replacement character; embeddings and
    isolates that are still open at the end are closed.
    """
    if "\u202d" in text or "\u202e" in text:
        text = _OVERRIDES.sub(REPLACED, text)
    if _OPENING.search(text) is None:
        return text
    open_: list[str] = []
    for sign in text:
        if sign in _EMBEDDINGS:
            open_.append(_POP_EMBEDDING)
        elif sign in _ISOLATES:
            open_.append(_POP_ISOLATE)
        elif sign in (_POP_EMBEDDING, _POP_ISOLATE) and sign in open_:
            # The end of an isolate closes the embeddings that were opened within it.
            while open_.pop() != sign:
                pass
    return text + "".join(reversed(open_))


def on_terminal(text: str) -> str:
    r"""Return a text that a terminal only shows: `\x1b` for an escape, `\u202e` for an override.

    Line feeds and tabs stay.
    """
    return _DRIVES_A_TERMINAL.sub(_written, text)


def in_json(text: str) -> str:
    """Return JSON in which nothing drives a terminal; what it says stays the same."""
    return _DRIVES_A_TERMINAL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _written(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def begins_a_formula(text: str) -> bool:
    """Whether a spreadsheet may read a text as a formula.

    Signs that aren't seen may stand before it, and a wide ＝ is as good as an =.
    """
    first = next((sign for sign in text if unicodedata.category(sign) not in _UNSEEN), "")
    return unicodedata.normalize("NFKC", first).startswith(_FORMULA)
