"""Whether a change leaves everything as it was: what commands print and keep, what pages show.

    python benchmarks/same_as.py record BEFORE --checkout OLD
    python benchmarks/same_as.py record AFTER --demo OLD/data/demo
    python benchmarks/same_as.py compare BEFORE AFTER

`record` runs a scripted session with the code of a checkout: every command that reads, each also
with `--json`, on the bundled study; every command that writes, on a copy; every page and tab, and a
door of each shape that they lead to; with `--real FOLDER` also studies imported from there. It
writes what commands print, the files that they write, the tables that they leave (sorted) and each
page's doors and texts. Moments, ids made of moments and paths are taken out, and nothing
else. `--schema N` looks at the bundled study as it is after it was brought back to that schema and
migrated again. `compare` names what differs, beyond `same_as.toml`, the list of what changes on
purpose, and ends with 1 where anything does. Both sides should look at one bundled study: see
`--demo`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from atom.store import Store
from atom.store.store import SEAL
from benchmarks._old_store import bring_back
from benchmarks._same_compare import Judged, compare, judge, read_allowed

PROJECT = Path(__file__).resolve().parent.parent
SESSION = Path(__file__).with_name("_same_session.py")
LIST = Path(__file__).with_name("same_as.toml")
PARTS = ("read", "files", "change", "tables", "after", "pages", "mine")
SHOWN = 12
"""Differences of one file that are shown."""


def record(
    out: Path,
    checkout: Path,
    demo: Path,
    parts: tuple[str, ...],
    *,
    real: Path | None = None,
    schema: int | None = None,
    most: int = 120,
) -> int:
    """Run the session in a process of its own, with the code of a checkout.

    Args:
        out: the folder that is written; what it holds is deleted first.
        checkout: whose code runs.
        demo: the bundled study.
        parts: which parts of the session.
        real: a folder of real files; None leaves them out.
        schema: the schema that the bundled study is brought back to, and migrated from, first.
        most: pages of the bundled study that are opened at most.

    Returns:
        The code that the session ended with.
    """
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    wanted = ",".join([*parts, *(["real"] if real else [])])
    given = {name: value for name, value in os.environ.items() if not name.startswith("ATOM_")}
    with tempfile.TemporaryDirectory() as work:
        shown = demo if schema is None else _migrated(demo, Path(work) / "demo", schema)
        words = [SESSION, checkout, shown, out, work, wanted, most, *([real] if real else [])]
        return subprocess.run(
            [sys.executable, *map(_whole, words)],
            env={**given, "PYTHONPATH": _whole(checkout)},
            check=False,
        ).returncode


def _migrated(demo: Path, old: Path, schema: int) -> Path:
    """Return a copy of the bundled study, brought back to a schema and migrated again."""
    bring_back(demo, old, schema)
    (old / SEAL).unlink()
    Store.open(old).close()
    return old


def _whole(word: object) -> str:
    return str(word.resolve()) if isinstance(word, Path) else str(word)


def tell(found: Judged, reasons: list[str], every: bool) -> None:
    """Print what differs, file by file, and what the list of changes covers."""
    shown: Counter[str] = Counter()
    for one in found.open:
        shown[one.where] += 1
        if every or shown[one.where] <= SHOWN:
            sys.stdout.write(f"{one}\n")
        elif shown[one.where] == SHOWN + 1:
            sys.stdout.write(f"{one.where} ... (more with --all)\n")
    for count, why in zip(found.allowed, reasons, strict=True):
        sys.stdout.write(f"{count:6d} on purpose: {why}\n")
    sys.stdout.write(f"{len(found.open)} differences in {len(shown)} files\n")


def main() -> int:
    """Record a folder, or compare two."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    one = verbs.add_parser("record", help="run the session, and write what it met")
    one.add_argument("folder", type=Path)
    one.add_argument("--checkout", type=Path, default=PROJECT, help="whose code runs")
    one.add_argument("--demo", type=Path, help="the bundled study (the checkout's own)")
    one.add_argument("--schema", type=int, help="bring the bundled study back to this one first")
    one.add_argument("--parts", default=",".join(PARTS), help=f"of {','.join(PARTS)}")
    one.add_argument("--pages", type=int, default=120, help="of the bundled study at most (120)")
    one.add_argument("--real", type=Path, help="a folder of real files, too")
    two = verbs.add_parser("compare", help="name what differs")
    two.add_argument("before", type=Path)
    two.add_argument("after", type=Path)
    two.add_argument("--allowed", type=Path, default=LIST, help="what changes on purpose")
    two.add_argument("--all", action="store_true", help="show every difference")
    asked = parser.parse_args()
    if asked.verb == "record":
        parts = tuple(part for part in asked.parts.split(",") if part)
        demo = asked.demo or asked.checkout / "data" / "demo"
        return record(
            asked.folder,
            asked.checkout,
            demo,
            parts,
            real=asked.real,
            schema=asked.schema,
            most=asked.pages,
        )
    allowed = read_allowed(asked.allowed)
    found = judge(compare(asked.before, asked.after), allowed)
    tell(found, [entry.why for entry in allowed], asked.all)
    return int(bool(found.open))


if __name__ == "__main__":
    raise SystemExit(main())
