"""How an address names a node of a tree, however long its path: a long one by head and digest.

Readers of addresses keep `LONGEST` characters of a value, so a longer path would name another node.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b

from taxonomy import Path, format_path

LONGEST = 300
"""Characters of a value that an address keeps."""
_HEAD = 200
_DIGEST = re.compile(r"~([0-9a-f]{16})")


@lru_cache(4096)
def link_text(path: Path) -> str:
    """Write a path as an address holds it."""
    text = format_path(path)
    return text if len(text) <= LONGEST else f"{text[:_HEAD]}~{_digest(text)}"


def linked(path: Path, there: Iterable[Path]) -> Path:
    """Return the node that an address means; the path itself where it names none by its digest.

    Args:
        path: as it was read from an address.
        there: the nodes that there are.
    """
    told = path[-1][-17:] if path else ""
    found = _DIGEST.fullmatch(told)
    if found is None or len(format_path(path)) < _HEAD // 2:
        return path
    return next((one for one in there if _digest(format_path(one)) == found[1]), path)


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
