"""What a study's hostile texts do in files and terminals: every export, report and command."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pyarrow.parquet as pq

from atom.cli.main import main
from atom.records import StudyCandidate
from atom.store import Store
from benchmarks.attacks._looks import Tally
from benchmarks.attacks._tried import Tried

MADE = (
    ("export", "csv", "--out", "{out}/csv"),
    ("export", "html", "--samples", "40", "--out", "{out}/study.html"),
    ("export", "parquet", "--out", "{out}/archive"),
    ("export", "judgments", "--out", "{out}/judgments.csv"),
    ("export", "llm-comparator", "--models", "{first},{second}", "--out", "{out}/two.json"),
    ("report", "write", "--out", "{out}/report.html"),
    ("report", "write", "--out", "{out}/report.md", "--format", "markdown"),
    ("figure", "write", "--format", "svg,csv", "--out", "{out}/figures"),
    ("tree", "export", "--out", "{out}/tree.yaml"),
    ("compare", "{first}", "{second}", "--markdown", "{out}/versions.md"),
)
"""Commands that write a file of a study."""
TOLD = (
    ("profile", "show", "--model", "{first}"),
    ("study", "version"),
    ("tree", "show"),
    ("run", "status"),
    ("run", "blind"),
    ("run", "settle"),
    ("correct", "list"),
    ("judge", "panel"),
    ("fidelity", "show"),
    ("fidelity", "criteria"),
    ("pairs", "show"),
)
"""Commands that tell of a study, in words and as JSON."""
ASKED = (
    ("study", "list"),
    ("endpoint", "list"),
    ("judge", "list"),
    ("failures", "groups", "{study}"),
    ("failures", "groups", "{study}", "--json"),
)
"""Commands that name a study otherwise, or none."""
DRIVEN = (
    ("ask", "{study}", "where does \x1b[31m\u202e fail?"),
    ("study", "rename", "\x1b[31mno", "x"),
    ("profile", "show", "--study", "{study}", "--model", "\x1b]0;x\x07"),
    ("report", "write", "--study", "\x1b[2J\u202e"),
    ("figure", "write", "--study", "{study}", "--figures", "\x1b[2J", "--out", "{out}/none"),
    ("export", "csv", "--study", "{study}", "--out", "/nowhere/\x1b[31m\u202e"),
)
"""Commands that are given signs which drive a terminal."""
WORDLESS = ("run blind", "run settle --study {study} --json", "judge panel",
            "cells of self-correction-effects.csv")  # fmt: skip
"""What tells numbers alone of these studies: it can fall, but needn't show a text."""
_NUMBER = re.compile(r"-?[\d.]+(e-?\d+)?")
_MARK = re.compile(r"zq(\d+)z")


def written(store: Path, out: Path, study: str, tally: Tally) -> Iterator[Tried]:
    """Write every export, figure and report, and read every command's output.

    Args:
        store: the study's.
        out: a new folder for what is written.
        study: the study's id.
        tally: told which texts were in what came.
    """
    out.mkdir()
    first, second = _models(store, study)
    names = {"out": str(out), "first": first, "second": second, "study": study}
    there: set[Path] = set()
    for words in MADE:
        fell, marks = _command([*_filled(words, names), "--study", study], store)
        new = set(_files(out)) - there
        there |= new
        marks |= {mark for file in new for mark in _marks_in(file)}
        yield from tally.tried(_named(words), fell, marks, study=out.name)
    told = [(*words, "--study", "{study}", *more) for words in TOLD for more in ((), ("--json",))]
    for words in (*told, *ASKED):
        fell, marks = _command(_filled(words, names), store)
        yield from tally.tried(_named(words), fell, marks, study=out.name)
    for words in DRIVEN:
        fell, _ = _command(_filled(words, names), store)
        yield Tried(name=f"{out.name}, {_named(words)}", fell=fell)
    yield from _read_back(out, tally)


def _models(store: Path, study: str) -> tuple[str, str]:
    """Return the ids of two models of a study."""
    with Store.open(store) as opened:
        found = [one.candidate_id for one in opened.select(StudyCandidate) if one.study_id == study]
    return found[0], found[1]


def _filled(words: Iterable[str], names: dict[str, str]) -> list[str]:
    return [word.format(**names) if "{" in word else word for word in words]


def _named(words: Iterable[str]) -> str:
    return f"terminal: {' '.join(words)!r:.90}"


def _command(words: list[str], store: Path) -> tuple[str, set[int]]:
    """Run a command; return what fell, and the texts that it told."""
    said, failed = _output([*words, "--store", str(store)])
    return failed or driven(said), _marks(said)


def _output(words: list[str]) -> tuple[str, str]:
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        try:
            main(words)
        except SystemExit:
            pass
        except Exception as error:  # noqa: BLE001 - a traceback on screen is what is looked for
            return "", f"{type(error).__name__}: {error!r}"[:200]
    return said.getvalue(), ""


def driven(said: str) -> str:
    """Say what in a command's output would drive a terminal."""
    for sign in said:
        kind = unicodedata.category(sign)
        if (kind == "Cc" and sign not in "\n\t") or sign in "\u202a\u202b\u202d\u202e\u2066\u2067":
            return f"it writes {sign!r}"
    return ""


def formula(text: str, *, exact: bool = False) -> str:
    """Say which cell of a table would act; in an exact one signs of direction may stand."""
    for row in csv.reader(io.StringIO(text)):
        for cell in row:
            seen = "".join(s for s in cell if unicodedata.category(s) not in ("Cc", "Cf", "Zs"))
            first = unicodedata.normalize("NFKC", seen[:1])
            if first and first in "=+-@" and not _NUMBER.fullmatch(cell):
                return f"the cell {cell[:40]!r}"
            if not exact and ("\u202e" in cell or "\u202d" in cell):
                return f"an override in {cell[:40]!r}"
    return ""


def markdown(text: str) -> str:
    """Say what in a text would act where Markdown is read."""
    for wrong in (r"(?<!\\)!\[", r"(?<!\\)\]\(http://evil", r"(?<!\\)<(?:script|img|a|iframe)\b",
                  r"http://evil", r"\u202e"):  # fmt: skip
        found = re.search(wrong, text)
        if found:
            return f"{text[max(0, found.start() - 10) : found.end() + 20]!r}"
    return ""


def _read_back(out: Path, tally: Tally) -> Iterator[Tried]:
    """Read what was written: cells of tables, marks of Markdown."""
    for file in _files(out):
        if file.suffix == ".csv":
            text = file.read_text("utf-8")
            told = formula(text, exact=file.name == "judgments.csv")
            yield from tally.tried(f"cells of {file.name}", told, _marks(text), study=out.name)
        elif file.suffix == ".zip":
            with zipfile.ZipFile(file) as packed:
                for name in packed.namelist():
                    if name.endswith(".csv"):
                        text = packed.read(name).decode("utf-8")
                        fell, marks = formula(text), _marks(text)
                        yield from tally.tried(f"cells of {name}", fell, marks, study=out.name)
        elif file.suffix == ".md":
            text = file.read_text("utf-8")
            fell, marks = markdown(text), _marks(text)
            yield from tally.tried(f"marks of {file.name}", fell, marks, study=out.name)


def _files(out: Path) -> list[Path]:
    return sorted(file for file in out.rglob("*") if file.is_file())


def _marks_in(file: Path) -> set[int]:
    """Return the texts that a file holds."""
    if file.suffix == ".parquet":
        return _marks(str(pq.read_table(file).to_pydict()))
    if file.suffix == ".zip":
        with zipfile.ZipFile(file) as packed:
            return _marks("".join(packed.read(one).decode("utf-8", "ignore")
                                  for one in packed.namelist()))  # fmt: skip
    return _marks(file.read_bytes().decode("utf-8", "ignore"))


def _marks(text: str) -> set[int]:
    return {int(one) for one in _MARK.findall(text)}
