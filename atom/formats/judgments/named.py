"""Maps of known formats, which are picked where files have the columns that a map names.

Each is a column map of a few lines (`maps/*.yaml`), shown in `docs/maps`; none is a program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

import yaml

from atom.formats.base import ImportFile
from atom.formats.column_map import ColumnMap, read_column_map
from atom.formats.intake.by_row import names_keys
from atom.formats.judgments.paths import match_path, place_of


@dataclass(frozen=True, kw_only=True)
class NamedMap:
    """A map of a known format, and by what its files are known.

    Args:
        title: what the format is called.
        known_by: path's pattern -> columns that such a file names; the first that fits counts.
    """

    title: str
    columns: ColumnMap
    known_by: Mapping[str, tuple[str, ...]]

    def knows(self, head: bytes, path: str) -> bool:
        """Whether a file is one of its files: by its path and the columns that it names."""
        for pattern, keys in self.known_by.items():
            if match_path(pattern, path) is not None:
                return names_keys(head, *keys)
        return False


@cache
def named_maps() -> Mapping[str, NamedMap]:
    """Return the maps that are shipped, by name."""
    folder = resources.files("atom.formats.judgments") / "maps"
    signs = yaml.safe_load((folder / "signs.yaml").read_text(encoding="utf-8"))
    found = {}
    for name, sign in signs.items():
        text = (folder / f"{name}.yaml").read_text(encoding="utf-8")
        found[name] = NamedMap(
            title=sign["title"],
            columns=read_column_map(text),
            known_by={str(k): tuple(v) for k, v in sign["files"].items()},
        )
    return found


def named_map(files: Sequence[ImportFile]) -> tuple[str, ColumnMap] | None:
    """Return the known format whose files these all are: its title and its map."""
    heads = [(file.head(), place_of(file)) for file in files]
    for one in named_maps().values():
        if heads and all(one.knows(head, path) for head, path in heads):
            return one.title, one.columns
    return None
