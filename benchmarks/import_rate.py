"""Measure how fast the generic table importer reads, against pandas on the same file.

Run it with `python benchmarks/import_rate.py --json`. Both read one generated JSON-lines table;
ours checks and makes records (sample, response, outcome, tags), pandas makes a frame.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from atom.formats import ImportFile, read


def generate(path: Path, rows: int, seed: int) -> None:
    """Write a table of answers by four models."""
    draw = random.Random(seed)
    skills = ("counting", "reading", "comparing", "estimating")
    with path.open("w", encoding="utf-8") as stream:
        for at in range(rows):
            number = at // 4
            row = {
                "id": f"q{number}",
                "question": f"How many marks of kind {number} does the picture show? " * 2,
                "image": f"images/{number}.png",
                "choices": [str(number % 7 + step) for step in range(4)],
                "answer": "ABCD"[number % 4],
                "model": f"model-{at % 4}",
                "response": "I count them one by one. " * draw.randint(1, 12) + "Answer: B",
                "correct": draw.random() < 0.6,
                "skill": skills[number % 4],
                "difficulty": number % 3,
            }
            stream.write(json.dumps(row) + "\n")


def import_file(path: Path) -> int:
    """Read the file with the importer; returns the rows read."""
    reading = read("table", [ImportFile.from_path(path)])
    for _ in reading:
        pass
    return reading.report.rows


def frame_file(path: Path) -> int:
    """Read the file with pandas; returns the rows read."""
    return len(pd.read_json(path, lines=True))


def seconds(run: Callable[[Path], int], path: Path, rows: int) -> float:
    """Return the time of one run, checking that it read everything."""
    start = time.perf_counter()
    if run(path) != rows:
        raise SystemExit("not all rows were read")
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--times", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "answers.jsonl"
        generate(path, options.rows, seed=1)
        taken = [
            (seconds(import_file, path, options.rows), seconds(frame_file, path, options.rows))
            for _ in range(options.times)
        ]
    ours = options.rows / statistics.median(own for own, _ in taken)
    pandas_rate = options.rows / statistics.median(frame for _, frame in taken)
    line = {
        "name": "import_rate",
        "value": round(ours),
        "unit": "rows/s",
        "baseline": round(pandas_rate),
        "ratio": round(ours / pandas_rate, 3),
        "n": options.rows,
        "note": "records made and checked; the baseline is pandas.read_json, which makes a frame",
    }
    text = json.dumps(line) if options.json else "\n".join(f"{k}: {v}" for k, v in line.items())
    sys.stdout.write(text + "\n")


if __name__ == "__main__":
    main()
