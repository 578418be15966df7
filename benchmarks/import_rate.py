"""Measure how fast importers read, and in how much memory.

Run it with `python benchmarks/import_rate.py --json`. The generic table is measured against pandas
on one generated JSON-lines table; ours checks and makes records (sample, response, outcome, tags),
pandas makes a frame. Then a synthetic log of lmms-eval of `--megabytes` (1 GB for the closing
figures: `--megabytes 1000`) is read. With `--stored` table, marks, log and a run folder of
VLMEvalKit also go into a store, each in a process of its own; the table against the least that
keeping its rows can cost in Python, too (`_bare_store.py`).

The target of rows a second is judged by the clock on the wall: rows a second is what the issue asks
for and what somebody waits for, and an import takes two cores, one that reads and one that stores
(design/081). Beside it stand the processor time of both, and the sum of their peaks of memory. The
run folder's target is in processor time. On a busy machine the wall says little: look at `busy`,
the share of the machine's time that others took.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from xml.sax.saxutils import escape

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from atom.engine.imports.importing import import_reading
from atom.formats import ColumnMap, ImportFile, read
from atom.store import Store
from benchmarks._bare_store import keep_bare

TARGET = 15_000
"""Rows a second by the wall that a table, a log and marks should come into a store with."""
RUN_TARGET = 10
"""Seconds of processor time that a run folder of 66 files and 72,000 answers may take."""
RUN_BENCHMARKS = ("MMBench", "MMStar", "MMMU", "AI2D", "ScienceQA", "RealWorldQA")
FROM_1_TO_5 = ColumnMap.model_validate({"scale": {"from": 1, "to": 5}})


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


def generate_log(path: Path, rows: int, seed: int, *, most_bytes: int | None = None) -> int:
    """Write a synthetic lmms-eval log of so many rows, or until it has so many bytes."""
    draw = random.Random(seed)
    subjects = ("charts", "maps", "scenes", "diagrams")
    written = at = 0
    with path.open("w", encoding="utf-8") as stream:
        while at < rows and (most_bytes is None or written < most_bytes):
            letter = "ABCD"[at % 4]
            said = "I look at each part of the picture in turn. " * draw.randint(1, 12)
            row = {
                "doc_id": at,
                "doc": {"question": f"What does picture {at} show?", "subject": subjects[at % 4]},
                "target": letter,
                "arguments": [
                    [f"What does picture {at} show?\nA. one\nB. two\nC. three\nD. four", {}]
                ],
                "resps": [[f"{said}The answer is {letter}."]],
                "filtered_resps": [letter],
                "doc_hash": f"{at:064x}",
                "exact_match": float(draw.random() < 0.6),
            }
            written += stream.write(json.dumps(row) + "\n")
            at += 1
    return at


def generate_marks(path: Path, rows: int, seed: int) -> None:
    """Write a long table of marks: four models, three criteria a sample, a scale from 1 to 5."""
    draw = random.Random(seed)
    skills = ("counting", "reading", "comparing", "estimating")
    with path.open("w", encoding="utf-8") as stream:
        for at in range(rows):
            sample, rest = divmod(at, 12)
            model, step = divmod(rest, 3)
            row = {
                "sample": f"q{sample}",
                "criterion": f"Is step {step + 1} of question {sample} right?",
                "weight": (5, 3, 2)[step],
                "capability": f"perception/{skills[(sample + step) % 4]}",
                "model": f"model-{model}",
                "judge": "judge-a",
                "mark": draw.randint(1, 5),
                "reason": "The answer names what the picture shows. " * draw.randint(1, 4),
            }
            stream.write(json.dumps(row) + "\n")


def generate_run(folder: Path, models: int, rows: int, seed: int) -> list[Path]:
    """Write a run folder of VLMEvalKit: a workbook for each model and benchmark.

    Args:
        folder: where to.
        models: how many.
        rows: answers of a model on each of the benchmarks.
        seed: of what is drawn.
    """
    draw = random.Random(seed)
    head = (
        "index", "question", "A", "B", "C", "D", "answer", "category", "l2-category", "prediction",
        "hit",
    )  # fmt: skip
    written = []
    for model in range(models):
        for benchmark in RUN_BENCHMARKS:
            table: list[Sequence[object]] = [head]
            for at in range(rows):
                letter, kind = "ABCD"[at % 4], at % 6
                said = "The chart shows four bars, of which one is tall. " * draw.randint(1, 8)
                table.append(
                    (
                        at, f"What does picture {at} of {benchmark} show?", "one", "two", "three",
                        f"{at} of them", letter, f"kind {kind}", f"layer {kind // 2}",
                        f"{said}Answer: {letter}", int(draw.random() < 0.6),
                    )
                )  # fmt: skip
            written.append(folder / f"model-{model}_{benchmark}_openai_result.xlsx")
            write_workbook(written[-1], table)
    return written


def write_workbook(path: Path, rows: Iterable[Sequence[object]]) -> None:
    """Write a workbook of one sheet, as small as Excel takes it."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006/relationships"
    types = "http://schemas.openxmlformats.org/package/2006/content-types"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    lines = "".join(f"<row>{''.join(map(_cell, row))}</row>" for row in rows)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as book:
        book.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{types}"><Default Extension="rels" ContentType='
            '"application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>'
            f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{kind}.worksheet+xml"/>'
            "</Types>",
        )
        book.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{package}"><Relationship Id="r1" Type="{office}/officeDocument"'
            ' Target="xl/workbook.xml"/></Relationships>',
        )
        book.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets><sheet name="Sheet1" sheetId="1" '
            'r:id="r1"/></sheets></workbook>',
        )
        book.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{package}"><Relationship Id="r1" Type="{office}/worksheet" '
            'Target="worksheets/sheet1.xml"/></Relationships>',
        )
        book.writestr(
            "xl/worksheets/sheet1.xml",
            f'<worksheet xmlns="{main}"><sheetData>{lines}</sheetData></worksheet>',
        )


def _cell(value: object) -> str:
    if isinstance(value, int):
        return f"<c><v>{value}</v></c>"
    return f'<c t="inlineStr"><is><t xml:space="preserve">{escape(str(value))}</t></is></c>'


def import_file(path: Path) -> int:
    """Read the file with the importer; returns the rows read."""
    reading = read("table", [ImportFile.from_path(path)])
    for _ in reading:
        pass
    return reading.report.rows


def frame_file(path: Path) -> int:
    """Read the file with pandas; returns the rows read."""
    import pandas as pd  # not in the processes whose peak is measured

    return len(pd.read_json(path, lines=True))


def seconds(
    run: Callable[[Path], int],
    path: Path,
    rows: int,
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    """Return the time of one run, checking that it read everything."""
    start = clock()
    if run(path) != rows:
        raise SystemExit("not all rows were read")
    return clock() - start


@dataclass(frozen=True, kw_only=True)
class Reading:
    """One reading of a file, in a process of its own, and what it started."""

    rows: int
    seconds: float
    processor_seconds: float
    """Of both processes."""
    peak_megabytes: float
    """The sum of both: what they share counts twice."""
    busy: float
    """The share of the machine's time that others took, from 0 to 1."""


def read_log(path: Path, store: Path | None, format: str) -> Reading:
    """Read a file, and put it into a store where one is named."""
    start, spent, busy = time.perf_counter(), _spent(), _machine()
    columns = FROM_1_TO_5 if format == "judgments" else None
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    reading = read(format, list(map(ImportFile.from_path, files)), columns=columns)
    if store is None:
        for _ in reading:
            pass
        rows = reading.report.rows
    else:
        with Store.open(store) as opened:
            rows = import_reading(opened, reading, "Log", datetime.now(UTC)).report.rows
    taken, own = time.perf_counter() - start, _spent() - spent
    others = _machine() - busy - own
    child = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return Reading(
        rows=rows,
        seconds=taken,
        processor_seconds=own,
        peak_megabytes=_peak() + child,
        busy=max(0.0, others / taken / (os.cpu_count() or 1)),
    )


def _spent() -> float:
    """Return the processor time of this process and of those that it started and ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _machine() -> float:
    """Return the seconds that all processes of the machine have computed, where it tells."""
    place = Path("/proc/stat")
    if not place.exists():
        return 0.0
    user, nice, system = place.read_text(encoding="ascii").split()[1:4]
    return (int(user) + int(nice) + int(system)) / os.sysconf("SC_CLK_TCK")


def _peak() -> float:
    """Return this process's peak of resident memory in MB.

    The kernel's own line is asked first: `getrusage` starts from the parent's peak.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def read_apart(path: Path, store: Path | None, format: str = "lmms-eval") -> Reading:
    """Read a file in a process of its own, so that its peak is nothing else's."""
    command = [sys.executable, __file__, "--log", str(path), "--format", format]
    if store is not None:
        command += ["--store", str(store)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return Reading(**json.loads(done.stdout))


def log_lines(folder: Path, megabytes: int, *, stored: bool) -> list[dict[str, object]]:
    """Measure rate and peak on a small and on the wanted log; both peaks should be alike."""
    lines: list[dict[str, object]] = []
    sizes = sorted({max(1, megabytes // 10), megabytes})
    for size in sizes:
        path = folder / f"{size}_samples_synthetic.jsonl"
        rows = generate_log(path, 10**9, seed=1, most_bytes=size * 1_000_000)
        for store in (None, folder / f"store{size}") if stored else (None,):
            found = read_apart(path, store)
            if found.rows != rows:
                raise SystemExit("not all rows were read")
            lines.append(
                {
                    "name": "import_log" if store is None else "import_log_into_a_store",
                    "value": round(found.rows / found.seconds),
                    "unit": "rows/s",
                    "megabytes": size,
                    "megabytes_per_second": round(size / found.seconds, 1),
                    "microseconds_a_row": round(found.processor_seconds / rows * 1e6, 1),
                    "peak_megabytes": round(found.peak_megabytes),
                    "n": rows,
                    "busy": round(found.busy, 2),
                    "note": f"{_judged(found, store)}synthetic lmms-eval log; microseconds are "
                    "processor time of both processes, the peak is the sum of theirs",
                }
            )
        path.unlink()
    return lines


def table_line(folder: Path, rows: int, times: int) -> dict[str, object]:
    """Measure the generic table against pandas."""
    path = folder / "answers.jsonl"
    generate(path, rows, seed=1)
    taken = [
        (seconds(import_file, path, rows), seconds(frame_file, path, rows)) for _ in range(times)
    ]
    ours = rows / statistics.median(own for own, _ in taken)
    pandas_rate = rows / statistics.median(frame for _, frame in taken)
    return {
        "name": "import_rate",
        "value": round(ours),
        "unit": "rows/s",
        "baseline": round(pandas_rate),
        "ratio": round(ours / pandas_rate, 3),
        "n": rows,
        "note": "records made and checked; the baseline is pandas.read_json, which makes a frame",
    }


def stored_line(
    folder: Path, rows: int, format: str, make: Callable[[Path, int, int], None]
) -> dict[str, object]:
    """Measure a table into a store, against pandas on the same file, and against a bare store."""
    path = folder / f"{format}.jsonl"
    make(path, rows, 1)
    frame = rows / min(seconds(frame_file, path, rows) for _ in range(2))  # one imports pandas
    found = read_apart(path, folder / f"{format}-store", format)
    rate = found.rows / found.seconds
    line = _stored(format, found, rate, frame)
    if format == "table":
        bare = folder / "bare.sqlite"
        least = seconds(lambda one: keep_bare(one, bare), path, rows, time.process_time)
        line["bare_store_microseconds_a_row"] = round(least / rows * 1e6, 1)
        line["ratio_to_bare_store"] = round(least / found.processor_seconds, 3)
    return line


def _stored(format: str, found: Reading, rate: float, frame: float) -> dict[str, object]:
    return {
        "name": f"import_{format}_into_a_store",
        "value": round(rate),
        "unit": "rows/s",
        "baseline": round(frame),
        "ratio": round(rate / frame, 3),
        "microseconds_a_row": round(found.processor_seconds / found.rows * 1e6, 1),
        "peak_megabytes": round(found.peak_megabytes),
        "n": found.rows,
        "busy": round(found.busy, 2),
        "note": f"{_judged(found, True)}into a store; the baseline is pandas.read_json, which "
        "makes a frame; microseconds are processor time of both processes, the peak is the sum of "
        "theirs",
    }


def run_line(folder: Path, models: int, rows: int) -> dict[str, object]:
    """Measure a run folder of VLMEvalKit into a store, in processor time: ours and the parser's."""
    place = folder / "run"
    place.mkdir()
    n = len(generate_run(place, models, rows, seed=1))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = read_apart(place, folder / "run-store", "vlmevalkit")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "name": "import_vlmevalkit_run_into_a_store",
        "value": round(spent, 2),
        "unit": "s of processor time",
        "files": n,
        "n": found.rows,
        "peak_megabytes": round(found.peak_megabytes),
        "note": f"{'' if spent < RUN_TARGET else f'more than {RUN_TARGET} s: '}synthetic "
        "workbooks; the start of the process and the parser's own process are counted",
    }


def _judged(found: Reading, stored: object) -> str:
    reached = stored is None or found.rows / found.seconds >= TARGET
    return "" if reached else f"short of {TARGET:,} rows a second: "


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--megabytes", type=int, default=20, help="size of the synthetic log")
    parser.add_argument("--stored", action="store_true", help="also put the log into a store")
    parser.add_argument(
        "--models", type=int, default=11, help="of the run folder: six workbooks each"
    )
    parser.add_argument("--log", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--store", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--format", default="lmms-eval", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.log is not None:
        sys.stdout.write(
            json.dumps(asdict(read_log(options.log, options.store, options.format))) + "\n"
        )
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines = [
            table_line(folder, options.rows, options.times),
            *(
                [
                    stored_line(folder, options.rows, "table", generate),
                    stored_line(folder, options.rows, "judgments", generate_marks),
                    run_line(folder, options.models, 1091),
                ]
                if options.stored
                else []
            ),
            *log_lines(folder, options.megabytes, stored=options.stored),
        ]
    for line in lines:
        text = json.dumps(line) if options.json else "\n".join(f"{k}: {v}" for k, v in line.items())
        sys.stdout.write(text + "\n")


if __name__ == "__main__":
    main()
