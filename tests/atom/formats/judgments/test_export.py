"""What was imported goes out mark by mark, each once."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from atom.exports.base import ExportOptions, ExportSource
from atom.exports.registry import find_exporter
from atom.formats import ImportFile, read_column_map
from tests.atom.formats.judgments.frames import MOMENT, brought

ROWS = [
    {"id": f"q{n}", "model": "m", "criterion": "ok", "annotator": who, "score": (n + who) % 5 + 1}
    for n in range(5) for who in range(3)
]  # fmt: skip


def test_every_mark_goes_out_once(tmp_path: Path) -> None:
    """Three people marked five answers: fifteen rows, not thirty for all together."""
    file = ImportFile.from_bytes("p.jsonl", "\n".join(map(json.dumps, ROWS)).encode())
    columns = read_column_map("{criterion: criterion, mark: score, scale: {from: 1, to: 5}}")
    with brought(tmp_path / "store", [file], columns) as found:
        source = ExportSource(found.store, found.imported.study.id)
        place = tmp_path / "out.csv"
        find_exporter("judgments").write(source, place, ExportOptions(moment=MOMENT))
    with place.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    told = sorted((row["judge"], row["source_id"], row["raw"]) for row in rows)
    assert told == sorted((f"person {r['annotator']}", r["id"], str(r["score"])) for r in ROWS)
