"""Commands that write into a store on PostgreSQL, killed at any moment: whole, or not there."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.attacks import kills
from benchmarks.attacks._forked import Commands
from benchmarks.attacks._ground import server_ground
from benchmarks.attacks._tried import Tried
from benchmarks.attacks._victims import moved, prepare

VICTIMS = (
    "import", "import into a study", "import undo", "study import", "study copy", "study delete",
    "study version", "tree import", "run start", "run resume", "run settle", "tree induce",
    "correct run", "pairs keep", "judge delete", "fidelity rankings", "people role", "budget set",
)  # fmt: skip
"""Those whose writing is the database's; files are written as beside a store in a folder."""
KILLS = 3 * len(VICTIMS)


def attack(total: int = KILLS, names: Sequence[str] = VICTIMS) -> Iterator[Tried]:
    """Kill each command so many times in all, each time on a copy of a database."""
    with tempfile.TemporaryDirectory(prefix="atomscope-kills-") as place:
        folder = Path(place)
        env = {"ATOM_DEMO": str(folder / "no-demo")}
        with server_ground(folder) as ground, Commands(kills.modules_of(), env) as commands:
            ground.make()
            given = moved(prepare(commands, folder), ground)
            shutil.move(ground.work / "files", folder / "files")
            yield from kills.each(given, names, total)
