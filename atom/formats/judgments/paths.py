"""What names say: `{judge}/{task}/{model}/{criterion}.json` against a file's path or a cell."""

from __future__ import annotations

import re
from functools import lru_cache

from atom.errors import FormatError
from atom.formats.base import ImportFile

_FIELD = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
ANYTHING = "_"
"""A field that matches anything and is not kept."""


@lru_cache(maxsize=256)
def _compiled(pattern: str, in_path: bool) -> re.Pattern[str]:
    if "{" in _FIELD.sub("", pattern) or "}" in _FIELD.sub("", pattern):
        raise FormatError(
            f"the pattern {pattern!r} has a brace that is no field; fields look like "
            "`{judge}`, and `{_}` is anything"
        )
    parts, last, seen = [], 0, set[str]()
    inside = "[^/]+?" if in_path else ".+?"
    for found in _FIELD.finditer(pattern):
        parts.append(_fixed(pattern[last : found.start()], in_path))
        name = found[1]
        if name == ANYTHING:
            parts.append(f"(?:{inside})")
        elif name in seen:
            parts.append(f"(?P={name})")
        else:
            parts.append(f"(?P<{name}>{inside})")
            seen.add(name)
        last = found.end()
    parts.append(_fixed(pattern[last:], in_path))
    start = r"(?:^|.*/)" if in_path else ""
    return re.compile(f"{start}{''.join(parts)}", re.DOTALL)


def _fixed(text: str, in_path: bool) -> str:
    """Escape what stands between fields; `*` is anything within a folder."""
    return re.escape(text).replace(r"\*", "[^/]*") if in_path else re.escape(text)


def place_of(file: ImportFile) -> str:
    """Return a file's path as far as it is known, with `/` between folders."""
    folder = "" if file.folder is None else file.folder.resolve().as_posix() + "/"
    return f"{folder}{file.name}"


def match_path(pattern: str, path: str) -> dict[str, str] | None:
    """Match a pattern against the end of a path.

    Args:
        pattern: fixed text, `{field}`s that stand for a part of one folder's or file's name, and
            `*`.
        path: with `/` between folders.

    Returns:
        Field -> what stands there; None where it doesn't fit.

    Raises:
        FormatError: the pattern is malformed.
    """
    found = _compiled(pattern.lstrip("/"), True).fullmatch(path.replace("\\", "/"))
    return None if found is None else found.groupdict()


def match_cell(pattern: str, text: str) -> dict[str, str] | None:
    """Match a pattern against a whole cell: `story_{story}_{model}_test{criterion}`.

    Raises:
        FormatError: the pattern is malformed.
    """
    found = _compiled(pattern, False).fullmatch(text.strip())
    return None if found is None else found.groupdict()


def fields_of(pattern: str) -> tuple[str, ...]:
    """Return the names of a pattern's fields."""
    names = (found[1] for found in _FIELD.finditer(pattern))
    return tuple(dict.fromkeys(name for name in names if name != ANYTHING))


def is_template(column: str) -> bool:
    """Whether what a map says is made of several columns: `{task}/{uid}`."""
    return _FIELD.search(column) is not None
