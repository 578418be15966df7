"""Studies that nobody expects, each made through the import's door."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from atom.engine.imports.importing import import_reading, study_for
from atom.formats import ColumnMap, ImportFile, read
from atom.store import Store

LONG = "Ein sehr langer Name <b>& mehr</b> "
SECOND = datetime(2026, 1, 1, tzinfo=UTC)
Rows = Iterator[dict[str, object]]


def marks(
    samples: int,
    models: int,
    criteria: int,
    mark: Callable[[int, int, int], object],
    *,
    leaves: int = 4,
    name: Callable[[str, int], str] = "{} {}".format,
) -> Rows:
    """Give a row a mark: every model's answer to every sample, on criteria of so many leaves."""
    for sample in range(samples):
        for model in range(models):
            for at in range(criteria):
                leaf = (sample * criteria + at) % leaves
                yield {
                    "sample": f"s{sample}",
                    "question": name("What is there in picture", sample),
                    "criterion": name(f"Is step {at} right in sample", sample),
                    "weight": 1 + at % 3,
                    "capability": f"{name('area', leaf // 20)}/{name('skill', leaf)}",
                    "model": name("model", model),
                    "response": name(f"I count. It is {model} in picture", sample),
                    "judge": name("judge", 0),
                    "mark": mark(sample, model, at),
                }


def outcomes(samples: int, models: int, correct: object) -> Rows:
    """Give a row an answer, with its verdict."""
    for sample in range(samples):
        for model in range(models):
            yield {
                "id": f"q{sample}",
                "question": f"What is {sample}?",
                "model": f"model {model}",
                "response": "Something else entirely.",
                "skill": ("counting", "reading")[sample % 2],
                "correct": correct,
            }


FROM_1_TO_5 = ColumnMap.model_validate({"scale": {"from": 1, "to": 5}})


def put(folder: Path, rows: Rows, format: str) -> Path:
    """Import rows into a store in the folder."""
    path = folder / "rows.jsonl"
    with path.open("w", encoding="utf-8") as stream:
        for row in rows:
            stream.write(json.dumps(row) + "\n")
    columns = FROM_1_TO_5 if format == "judgments" else None
    reading = read(format, [ImportFile.from_path(path)], columns=columns)
    with Store.open(folder / "store") as store:
        import_reading(store, reading, "Strange", SECOND, accept=True)
    return folder / "store"


def put_nothing(folder: Path) -> Path:
    """Make a study without anything in it."""
    with Store.open(folder / "store") as store:
        study_for(store, "Strange", "2026-01-01T00:00:00Z")
    return folder / "store"


SMALL: Mapping[str, Callable[[Path], Path]] = {
    "nothing at all": put_nothing,
    "one sample": lambda folder: put(
        folder, marks(1, 1, 1, lambda *_: 4, leaves=1), "judgments"
    ),
    "nothing scored": lambda folder: put(folder, outcomes(12, 2, None), "table"),
    "no mark readable": lambda folder: put(
        folder, marks(12, 3, 3, lambda s, m, c: 3 if s + m + c == 0 else "?"), "judgments"
    ),
    "all scores equal": lambda folder: put(
        folder, marks(12, 3, 3, lambda *_: 3), "judgments"
    ),
    "all right": lambda folder: put(folder, outcomes(12, 3, True), "table"),
    "sixty candidates": lambda folder: put(
        folder, marks(2, 60, 3, lambda s, m, c: 1 + (s + m + c) % 5), "judgments"
    ),
    "names of 5,000 characters": lambda folder: put(
        folder,
        marks(
            6, 3, 3, lambda s, m, c: 1 + (s * m + c) % 5,
            name=lambda word, at: f"{word} {at} {LONG * 150}",
        ),
        "judgments",
    ),
}  # fmt: skip
