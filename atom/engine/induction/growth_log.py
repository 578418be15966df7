"""How a growing tree looks at the moment, for those who watch it.

A file beside the store, as the logs of runs are: nothing of it is needed to go on or to know what
came of it (the replies make the same tree again; the version keeps the log), so it may be lost.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

from atom.store import Store
from taxonomy import Path
from taxonomy.edits import EditError, LoggedEdit
from taxonomy.grow import GrownTree
from taxonomy.log import dump_edit, parse_edit


@dataclass(frozen=True, kw_only=True)
class GrowthProgress:
    """A growing tree, as far as it has been told.

    Attributes:
        entries: every edit so far, in order.
        held: leaf -> criteria that hang on it.
    """

    entries: tuple[LoggedEdit, ...] = ()
    held: dict[Path, int] = field(default_factory=dict)


def growth_file(store: Store, induction_id: str) -> FilePath:
    """Return where an induction tells how its tree looks."""
    return store.folder / "inductions" / f"{induction_id}.jsonl"


@dataclass
class GrowthLog:
    """Writes the edits of one induction as they happen; a line each.

    Args:
        path: the file; begun anew.
    """

    path: FilePath
    _written: int = 0

    def __post_init__(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_bytes(b"")

    def take(self, grown: GrownTree) -> None:
        """Add what is new, and how many criteria hang where."""
        lines = [_line(entry) for entry in grown.log[self._written :]]
        held = Counter(grown.leaf_of.values())
        lines.append({"held": [[list(leaf), n] for leaf, n in sorted(held.items())]})
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        with self.path.open("a", encoding="utf-8") as out:
            out.write(text)
        self._written = len(grown.log)


def read_growth(store: Store, induction_id: str) -> GrowthProgress:
    """Read how a growing tree looks; nothing where nobody has told yet.

    A line that is being written, or is damaged, ends the reading: what comes before it holds.
    """
    entries: list[LoggedEdit] = []
    held: dict[Path, int] = {}
    for line in _lines(growth_file(store, induction_id)):
        try:
            if "held" in line:
                held = {tuple(leaf): int(n) for leaf, n in line["held"]}
            else:
                entries.append(_entry(line))
        except (EditError, TypeError, ValueError, KeyError):
            break
    return GrowthProgress(entries=tuple(entries), held=held)


def _line(entry: LoggedEdit) -> dict[str, Any]:
    return {
        "edit": dump_edit(entry.edit),
        "by": entry.by,
        "why": entry.why,
        "round": entry.round,
    }


def _entry(line: dict[str, Any]) -> LoggedEdit:
    return LoggedEdit(
        edit=parse_edit(line["edit"]),
        by=str(line["by"]),
        why=str(line["why"]),
        round=int(line["round"]),
    )


def _lines(path: FilePath) -> Iterator[dict[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    for line in text.splitlines():
        try:
            data = json.loads(line)
        except ValueError:
            return
        if not isinstance(data, dict):
            return
        yield data
