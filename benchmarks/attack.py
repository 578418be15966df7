"""Attacks on Atomscope itself: every group is tried on this computer, one row a group.

A group is a module of `benchmarks/attacks` with a function `attack() -> Iterator[Tried]`; the first
line of its docstring says what is attacked. A row holds how many attacks were tried and how many
fell, and which. A group that can't be tried here has the reason in `skipped`: that is no success,
and the exit status says so, as it does where anything fell.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.attacks._tried import CannotTryError, Tried

FOLDER = Path(__file__).with_name("attacks")
FELL, UNTRIED = 1, 2
"""Exit statuses: something fell; nothing fell, but a group couldn't be tried."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """What came of a group.

    Args:
        group: the module's name.
        about: what is attacked.
        tries: attacks that were tried.
        fell: of these, how many did what they must not.
        which: those, with what went wrong.
        seconds: wall time.
        skipped: why nothing could be tried, where that is so.
    """

    group: str
    about: str
    tries: int
    fell: int
    which: tuple[str, ...]
    seconds: float
    skipped: str = ""


def groups() -> list[str]:
    """Name the groups, in order."""
    return sorted(path.stem for path in FOLDER.glob("[!_]*.py"))


def measure(names: Sequence[str]) -> Iterator[Row]:
    """Try the groups, one after the other.

    Args:
        names: groups, as `groups` names them.
    """
    for name in names:
        module = import_module(f"benchmarks.attacks.{name}")
        yield row_of(name, _about(module), module.attack)


def row_of(group: str, about: str, attack: Callable[[], Iterable[Tried]]) -> Row:
    """Try one group to its end.

    Args:
        group: its name.
        about: what is attacked.
        attack: gives what was tried, one by one.
    """
    started = time.perf_counter()
    tried: list[Tried] = []
    skipped = ""
    try:
        tried.extend(attack())
    except CannotTryError as reason:
        skipped = str(reason)
    fallen = [one for one in tried if one.fell]
    return Row(
        group=group,
        about=about,
        tries=len(tried),
        fell=len(fallen),
        which=tuple(f"{one.name}: {one.fell}" for one in fallen),
        seconds=round(time.perf_counter() - started, 1),
        skipped=skipped or ("" if tried else "the group tried nothing"),
    )


def status(rows: Iterable[Row]) -> int:
    """Return the exit status: 0 only where all was tried and nothing fell."""
    seen = list(rows)
    if any(row.fell for row in seen):
        return FELL
    return UNTRIED if any(row.skipped for row in seen) or not seen else 0


def _about(module: ModuleType) -> str:
    return (module.__doc__ or "").strip().split("\n", 1)[0]


def main() -> int:
    """Try what was asked for, and write a row a group."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--only", nargs="*", default=(), choices=groups(), help="groups")
    options = parser.parse_args()
    rows = []
    for row in measure(options.only or groups()):
        rows.append(row)
        if options.json:
            sys.stdout.write(json.dumps(asdict(row), ensure_ascii=False) + "\n")
        else:
            end = f"not tried: {row.skipped}" if row.skipped else row.about
            sys.stdout.write(
                f"{row.group:20} {row.tries:5} tries {row.fell:4} fell {row.seconds:7} s  {end}\n"
            )
            sys.stdout.writelines(f"    {line}\n" for line in row.which)
        sys.stdout.flush()
    return status(rows)


if __name__ == "__main__":
    sys.exit(main())
