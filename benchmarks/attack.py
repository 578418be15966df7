"""Attacks on Atomscope itself: every group is tried on this computer, one row a group.

A group is a module of `benchmarks/attacks` with a function `attack() -> Iterator[Tried]`; the first
line of its docstring says what is attacked. A row holds how many attacks were tried and how many
fell, and which. A group that can't be tried here has the reason in `skipped`: that is no success,
and the exit status says so, as it does where anything fell.

A whole run takes one to two hours. `--save FILE` keeps each row with its commit, so that a run can
be made of parts: without `--only`, the groups that have no row at this commit are tried.
The exit status is then that of the whole table.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from pathlib import Path
from types import ModuleType

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from atom.files import write_file
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
        commit: the code that was attacked; ends in `-dirty` where it isn't all in there.
    """

    group: str
    about: str
    tries: int
    fell: int
    which: tuple[str, ...]
    seconds: float
    skipped: str = ""
    commit: str = ""


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
        for one in attack():
            tried.append(one)
            sys.stderr.write(
                f"{group} {len(tried)}: {one.name} {one.fell and 'FELL: ' + one.fell}\n"
            )
    except CannotTryError as reason:
        skipped = str(reason)
    except Exception as error:  # noqa: BLE001 - what was tried by then is kept
        skipped = f"the attack itself broke after {len(tried)} tries: {error!r}"
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


def commit_here() -> str:
    """Return which commit this checkout is at; empty where that can't be told."""
    words = ["git", "describe", "--always", "--dirty", "--abbrev=10", "--exclude=*"]
    told = subprocess.run(words, cwd=FOLDER, capture_output=True, text=True, check=False)
    return told.stdout.strip()


def saved_rows(file: Path) -> dict[str, Row]:
    """Return the rows that a file keeps, by group; none where it isn't there."""
    if not file.exists():
        return {}
    rows = [Row(**json.loads(line)) for line in file.read_text("utf-8").splitlines()]
    return {row.group: replace(row, which=tuple(row.which)) for row in rows}


def save_row(file: Path, row: Row) -> None:
    """Keep a row in a file, in place of an earlier one of its group."""
    rows = saved_rows(file) | {row.group: row}
    lines = (json.dumps(asdict(rows[name]), ensure_ascii=False) for name in sorted(rows))
    write_file(file, "".join(f"{line}\n" for line in lines))


def whole_table(rows: Mapping[str, Row], commit: str, names: Sequence[str]) -> list[Row]:
    """Return a row for each group at a commit; what has none at it wasn't tried.

    Args:
        rows: what was kept, by group.
        commit: of which commit.
        names: all groups.
    """
    return [
        row
        if (row := rows.get(name)) is not None and row.commit == commit
        else Row(group=name, about="", tries=0, fell=0, which=(), seconds=0.0, commit=commit,
                 skipped=f"last tried at {row.commit}" if row else "not tried yet")
        for name in names
    ]  # fmt: skip


def _about(module: ModuleType) -> str:
    return (module.__doc__ or "").strip().split("\n", 1)[0]


def main() -> int:
    """Try what was asked for, and write a row a group."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--only", nargs="*", default=(), choices=groups(), help="groups")
    parser.add_argument("--save", type=Path, metavar="FILE", help="keep each row there")
    options = parser.parse_args()
    commit, chosen = commit_here(), options.only or groups()
    if options.save and not options.only:
        there = whole_table(saved_rows(options.save), commit, chosen)
        chosen = [row.group for row in there if row.skipped]
    rows = []
    for row in measure(chosen):
        rows.append(replace(row, commit=commit))
        if options.save:
            save_row(options.save, rows[-1])
        _tell(rows[-1], as_json=options.json)
    if options.save:
        rows = whole_table(saved_rows(options.save), commit, groups())
        sys.stderr.writelines(f"{row.group}: {row.skipped}\n" for row in rows if row.skipped)
    return status(rows)


def _tell(row: Row, *, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(json.dumps(asdict(row), ensure_ascii=False) + "\n")
    else:
        end = f"not tried: {row.skipped}" if row.skipped else row.about
        sys.stdout.write(
            f"{row.group:20} {row.tries:5} tries {row.fell:4} fell {row.seconds:7} s  {end}\n"
        )
        sys.stdout.writelines(f"    {line}\n" for line in row.which)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
