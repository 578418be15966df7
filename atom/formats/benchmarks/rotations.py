"""One picture at several rotations: recognised by the files' names.

TDBench asks each question of a picture at 0, 90, 180 and 270 degrees, a sheet each. That is one
model and one question asked four times, not four models.

Reference: TDBench (Hou et al., 2025).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

ROTATION = "rotation"
"""The facet that says by how much a picture is turned."""
_TOKEN = re.compile(
    r"[_\-. ]?(?:rot(?:ation|ated|ate)?)[_\-]?(?P<degrees>0|90|180|270)(?:deg)?(?![0-9])",
    re.IGNORECASE,
)


def turned_id(source_id: str, degrees: str) -> str:
    """Name a question asked of a turned picture."""
    return f"{source_id} rot{degrees}" if degrees else source_id


@dataclass(frozen=True, kw_only=True)
class Rotation:
    """A name without its rotation, and the rotation in degrees; empty where it has none."""

    stem: str
    degrees: str = ""


def rotation_of(stem: str) -> Rotation:
    """Read a rotation out of a file's name: `model_tdbench_rot90` is `model_tdbench` at 90."""
    found = _TOKEN.search(stem)
    if found is None:
        return Rotation(stem=stem)
    rest = f"{stem[: found.start()]}{stem[found.end() :]}".strip("_-. ")
    return Rotation(stem=rest or stem, degrees=found["degrees"])
