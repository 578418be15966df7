"""Hostile files: each comes in rightly or is refused in a sentence, in bounded time and memory."""

from __future__ import annotations

import re
import shutil
import signal
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from atom.errors import AtomError
from atom.records import Sample, Study
from atom.store import Store, check_store
from benchmarks.attacks._forked import Came, Commands
from benchmarks.attacks._hostile_places import MISSING, NAMES, OTHERS
from benchmarks.attacks._hostile_tables import TEXTS, Hostile
from benchmarks.attacks._tried import Tried

FILES: Mapping[str, Hostile] = {**TEXTS, **OTHERS}
MOST_SECONDS = 30.0
"""Of computing, a file's reader processes included."""
MOST_BYTES = 1 << 30
"""Of memory beyond what the command takes without a file; its reader processes have their own."""
_MOST_WORDS = 3_000
"""Characters of a complaint that a person will read."""
_CODES = (0, 1, 2, 3)
"""What a command may end with: done, with findings, refused, stopped before a change."""
_ODD = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def attack(names: Sequence[str] | None = None) -> Iterator[Tried]:
    """Hand each file to the command that takes its kind.

    Args:
        names: which; None = all.
    """
    with tempfile.TemporaryDirectory(prefix="atomscope-files-") as place, Commands() as commands:
        store = Path(place) / "store"
        _prepare(commands, Path(place), store)
        for name in FILES if names is None else names:
            folder = Path(place) / "one"
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(store, folder / "store")
            yield Tried(name=name, fell=_fell(commands, FILES[name], folder))


def _fell(commands: Commands, hostile: Hostile, folder: Path) -> str:
    (folder / "given").mkdir()
    words = hostile.make(folder / "given")
    before = _questions(folder / "store")
    came = commands.run([*words, "--store", str(folder / "store")], folder)
    return _wrong_words(hostile, came) or _wrong_store(hostile, came, folder / "store", before)


def _wrong_words(hostile: Hostile, came: Came) -> str:
    """Say what is wrong with a command's end."""
    last = came.said.strip().splitlines()[-1:] or [""]
    if came.seconds > MOST_SECONDS or came.code in (-signal.SIGXCPU, -signal.SIGKILL):
        return f"it took {came.seconds:.0f} s of computing (status {came.code}: {last[0][:200]})"
    if came.n_bytes > MOST_BYTES:
        return f"it took {came.n_bytes >> 20:,} MB of memory"
    if "Traceback" in came.said or came.code not in _CODES:
        return f"status {came.code}: {last[0][:300]}"
    if came.code and len(came.said) > _MOST_WORDS:
        return f"its complaint has {len(came.said):,} characters"
    odd = _ODD.search(came.said)
    if odd is not None:
        return f"it writes {odd[0]!r} to the terminal"
    if not re.search(hostile.says, came.said, re.IGNORECASE):
        return f"it doesn't say {hostile.says!r} (status {came.code}): {came.said[-300:]!r}"
    return ""


def _wrong_store(hostile: Hostile, came: Came, store: Path, before: int) -> str:
    """Say what is wrong with what came in."""
    try:
        new = _questions(store) - before
        with Store.open(store) as opened:
            problems = check_store(opened, pictures=True).problems
            studies = {study.name for study in opened.select(Study)}
    except AtomError as error:
        return f"the store is hurt: {error.message}"
    if problems:
        return f"the store is hurt: {problems[0]}"
    wanted = hostile.samples or 0
    if new != wanted:
        return f"{new} questions came in, {wanted} should have: {came.said[-300:]!r}"
    if hostile.samples is None and came.code == 0 and studies - {MISSING}:
        return "it was taken without a word"
    return ""


def _questions(store: Path) -> int:
    with Store.open(store) as opened:
        return len(opened.select(Sample))


def _prepare(commands: Commands, folder: Path, store: Path) -> None:
    """Make the store that each attack gets a copy of: a study whose pictures are missing."""
    rows = "".join(f"{n},What is it?,{name}\n" for n, name in enumerate(NAMES))
    (folder / "missing.csv").write_text("id,question,image\n" + rows)
    came = commands.run(
        ["import", "auto", str(folder / "missing.csv"), "--study", MISSING, "--accept",
         "--store", str(store)],
        folder,
    )  # fmt: skip
    if came.code:
        raise RuntimeError(came.said)
