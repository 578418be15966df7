"""Commands that write, killed at any moment: what is there afterwards is whole, or isn't there."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from atom.errors import AtomError
from atom.records import Study
from atom.store import Store, check_store, count_study
from benchmarks.attacks._tried import Tried

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "data" / "demo"
NAME = "Probe world (synthetic demo)"
KILLS = 200
ROWS = 3_000
_AT_LEAST = 0.3
"""Seconds: before them nothing but imports has happened."""


@dataclass(frozen=True)
class Victim:
    """A command that is killed.

    Args:
        words: what stands behind `python -m atom`; `{new}` is a place for what it writes.
        suffix: of that place.
    """

    words: tuple[str, ...]
    suffix: str = ""


VICTIMS = {
    "import": Victim(("import", "table", "{rows}", "--study", "Fresh", "--accept")),
    "study import": Victim(("study", "import", "{archive}", "--name", "Brought")),
    "study copy": Victim(("study", "copy", NAME, "Another")),
    "study delete": Victim(("study", "delete", NAME, "--yes")),
    "study rename": Victim(("study", "rename", NAME, "Renamed")),
    "demo build": Victim(
        ("demo", "build", "--samples", "2", "--candidates", "1", "--parts", "none", "--name", "D")
    ),
    "probe make": Victim(("probe", "make", "--samples", "20", "--study", "Probes")),
    "export csv": Victim(("export", "csv", "--study", NAME, "--out", "{new}")),
    "export parquet": Victim(("export", "parquet", "--study", NAME, "--out", "{new}"), ".zip"),
    "report write": Victim(("report", "write", "--study", NAME, "--out", "{new}"), ".html"),
}


def attack(kills: int = KILLS) -> Iterator[Tried]:
    """Kill each command so many times in all, each time on a store of its own."""
    draw = random.Random(15)
    with tempfile.TemporaryDirectory(prefix="atomscope-kills-") as place:
        given = _prepare(Path(place))
        seconds = {name: _whole(name, given) for name in VICTIMS}
        for number in range(kills):
            name = list(VICTIMS)[number % len(VICTIMS)]
            after = draw.uniform(_AT_LEAST, max(seconds[name][0], _AT_LEAST))
            yield Tried(
                name=f"{name} no. {number} after {after:.2f} s",
                fell=_kill(name, given, after, seconds[name][1]),
            )


@dataclass(frozen=True)
class _Given:
    folder: Path
    store: Path


def _prepare(folder: Path) -> _Given:
    store = folder / "store"
    shutil.copytree(DEMO, store)
    (store / "SHA256SUMS").unlink()
    given = _Given(folder=folder, store=store)
    lines = [f"{n},What is {n}?,{n % 7},m{n % 3},{n % 5}" for n in range(ROWS)]
    text = "\n".join(["id,question,answer,model,prediction", *lines])
    (folder / "rows.csv").write_text(text, encoding="utf-8")
    archive = folder / "archive.zip"
    words = ["export", "parquet", "--study", NAME, "--out", str(archive), "--store", str(store)]
    subprocess.run(
        [sys.executable, "-m", "atom", *words], cwd=ROOT, check=True, capture_output=True
    )
    return given


def _start(name: str, given: _Given, work: Path) -> subprocess.Popen[bytes]:
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(given.store, work / "store")
    (work / "out").mkdir()
    victim = VICTIMS[name]
    words = [
        word.format(
            new=work / "out" / f"new{victim.suffix}",
            rows=given.folder / "rows.csv",
            archive=given.folder / "archive.zip",
        )
        for word in victim.words
    ]
    return subprocess.Popen(
        [sys.executable, "-m", "atom", *words, "--store", str(work / "store")],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env={**os.environ, "ATOM_DEMO": str(work / "no-demo")},
    )


def _whole(name: str, given: _Given) -> tuple[float, object]:
    """Let a command come to its end; return its seconds, and what is there then."""
    work = given.folder / "work"
    begun = time.monotonic()
    code = _start(name, given, work).wait()
    seconds = time.monotonic() - begun
    if code:
        raise RuntimeError(f"{name} ends with status {code}, unkilled")
    return seconds, _seen(work)


def _kill(name: str, given: _Given, after: float, end: object) -> str:
    work = given.folder / "work"
    process = _start(name, given, work)
    try:
        process.wait(after)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    before = _studies(given.store), ()
    try:
        seen = _seen(work)
        with Store.open(work / "store") as store:
            problems = check_store(store, pictures=False).problems
            hidden = [path.name for path in (work / "store").glob(".*.part*")]
    except AtomError as error:
        return error.message
    if problems:
        return problems[0]
    if hidden:
        return f"{hidden[0]} is left after the next start"
    return "" if seen in (before, end) else f"half of it is visible: {seen}"


def _seen(work: Path) -> tuple[object, object]:
    """Return what a user sees: studies with what counts in them, and files by size."""
    files = sorted(p.relative_to(work).as_posix() for p in (work / "out").rglob("*") if p.is_file())
    visible = tuple(name for name in files if not name.startswith("out/."))
    return _studies(work / "store"), visible


def _studies(folder: Path) -> tuple[object, ...]:
    with Store.open(folder) as store:
        return tuple(
            (study.name, count_study(store, study.id))
            for study in sorted(store.select(Study), key=lambda study: study.name)
        )
