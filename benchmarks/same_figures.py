"""Whether a change leaves every figure of the bundled study as it was, to the byte.

Run it before and after: `python benchmarks/same_figures.py FOLDER` writes what each command prints
with `--json`, without the time and the store's revision; with `--against BEFORE` it also compares
the two folders, names the files that differ, and ends with 1 where any does. `--schema N` looks
at a copy of the study that is brought back to that schema first, so that it is migrated on the way.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from atom.cli.main import main as command
from atom.records import Candidate
from atom.store import Store, list_studies
from benchmarks._old_store import bring_back

DEMO = Path(__file__).parents[1] / "data" / "demo"


def commands(models: list[str], facets: list[str]) -> dict[str, list[str]]:
    """Name what is compared: file name -> arguments."""
    found = {
        "study-list": ["study", "list"],
        "tree-show": ["tree", "show"],
        "tree-validity": ["tree", "validity"],
        "fidelity-show": ["fidelity", "show"],
        "report-json": ["report", "write", "--format", "json"],
        "report-markdown": ["report", "write", "--format", "markdown"],
        "report-said": ["report", "write", "--reading", "said"],
    }
    for model in models:
        for reading in ("strict", "said"):
            arguments = ["profile", "show", "--model", model, "--reading", reading]
            found[f"profile-{model}-{reading}"] = arguments
    for facet in facets:
        arguments = ["profile", "show", "--model", models[0], "--facet", facet]
        found[f"profile-{facet}"] = arguments
    return found


def run(arguments: list[str], study: str, store: str) -> str:
    """Return what a command prints, with the code it ends with."""
    out = io.StringIO()
    named = [] if arguments[:2] == ["study", "list"] else ["--study", study]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = command([*arguments, *named, "--store", store, "--json"])
    with Store.open(store, read_only=True) as held:
        revision = held.revision()
    passing = re.compile(rf"20\d\d-\d\d-\d\d \d\d:\d\d UTC|\b(?:{revision}|{revision:,})\b")
    return passing.sub("(passing)", f"{out.getvalue()}\nexit {code}\n")


def tables(study: str, store: str, folder: Path) -> None:
    """Write the study's tables as CSV; each is compared as a file."""
    target = folder / "tables"
    run(["export", "csv", "--out", str(target)], study, store)


def main() -> int:
    """Write the folder, and compare it where another is given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--store", default=str(DEMO))
    parser.add_argument("--against", type=Path)
    parser.add_argument("--schema", type=int, help="bring a copy back to this schema first")
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    if chosen.schema is None:
        write(chosen.store, chosen.folder)
    else:
        with tempfile.TemporaryDirectory() as place:
            old = Path(place) / "old"
            bring_back(Path(chosen.store), old, chosen.schema)
            Store.open(old).close()
            write(str(old), chosen.folder)
    return compare(chosen.against, chosen.folder) if chosen.against else 0


def write(place: str, folder: Path) -> None:
    """Write every figure of a store's first study."""
    with Store.open(place, read_only=True) as store:
        study = list_studies(store)[0].name
        models = sorted(one.name for one in store.select(Candidate))
    for name, arguments in commands(models, ["template", "family"]).items():
        text = run(arguments, study, place)
        (folder / f"{name}.json").write_text(text, encoding="utf-8")
        sys.stdout.write(f"{name}: {len(text):,} characters\n")
    tables(study, place, folder)


def compare(before: Path, after: Path) -> int:
    """Name the files that differ; returns 1 where any does."""
    files = [
        {p.relative_to(root): p.read_bytes() for p in root.rglob("*") if p.is_file()}
        for root in (before, after)
    ]
    names = sorted({*files[0], *files[1]} - {Path("tables") / "manifest.json"})
    different = [name for name in names if files[0].get(name) != files[1].get(name)]
    for name in different:
        sys.stdout.write(f"differs: {name}\n")
    sys.stdout.write(f"{len(names) - len(different)} files equal, {len(different)} differ\n")
    return int(bool(different))


if __name__ == "__main__":
    raise SystemExit(main())
