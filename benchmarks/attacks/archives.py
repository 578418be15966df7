"""Archives whose values somebody changed: refused in words, or read by every command."""

from __future__ import annotations

import io
import json
import random
import shutil
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from atom.cli.main import main
from atom.errors import AtomError
from atom.exports.archive import file_hash, write_archive
from atom.exports.archive_read import import_archive
from atom.store import Store
from benchmarks.attacks._tried import Tried
from tests.atom.exports.whole_study import make_whole

TRIES = 240
NUMBERS = (-1, 0, 1, 7, 2**31, 2**62, -(2**62), None)
FLOATS = (float("nan"), float("inf"), -float("inf"), 1e308, -1e308, 5e-324, -0.0, None)
WORDS = (
    "", " ", "nan", "null", "[]", "{}", "[[", '"', "0", "-1", "1e999", "\x00", "\u202e", "\x1b[31m",
    "../../x", "a" * 300, "a" * 100_000, "[" * 5_000, '{"kind":"x"}', '{"kind":"study"}',
    '{"kind":"study","stages":[]}', '{"kind":"bench","votes":-1}', '{"temperature":NaN}',
    '{"temperature":1e999}', '[{"picture":9,"box":[0,0,0,0]}]', "[1,2,3]", '["a","a"]', "[null]",
    "9999-99-99", "0000-00-00T00:00:00Z", "scored", "failed", "done", None,
)  # fmt: skip
READERS = (
    ("study", "list"), ("run", "status"), ("judge", "list"), ("correct", "list"),
    ("store", "check"),
)  # fmt: skip
OF_STUDY = (
    ("tree", "show"), ("judge", "panel"), ("run", "blind"), ("fidelity", "show"),
    ("study", "version"), ("report", "write", "--format", "markdown"),
)  # fmt: skip


def attack(tries: int = TRIES) -> Iterator[Tried]:
    """Change one value of one record a time, and bring the archive in.

    Args:
        tries: how often.
    """
    draw = random.Random(15)
    with TemporaryDirectory(prefix="atomscope-archives-") as place:
        folder = Path(place)
        store, study = make_whole(folder / "store")
        with store:
            write_archive(store, study.id, folder / "whole", datetime(2026, 1, 1, tzinfo=UTC))
        columns = [
            (file, field.name)
            for file in sorted((folder / "whole" / "records").glob("*.parquet"))
            for field in pq.read_schema(file)
            if pq.read_metadata(file).num_rows
        ]
        draw.shuffle(columns)
        for number in range(tries):
            file, column = columns[number % len(columns)]
            value = _changed(draw, folder / "whole", folder / "hurt", file.name, column)
            name = f"{number}: {file.stem}.{column} = {str(value)[:30]!r}"
            yield Tried(name=name, fell=_brought(folder, study.id))
            shutil.rmtree(folder / "hurt")
            shutil.rmtree(folder / "other", ignore_errors=True)


def _changed(draw: random.Random, whole: Path, hurt: Path, file: str, column: str) -> object:
    """Copy the archive with another value in a column; checksums are made anew."""
    shutil.copytree(whole, hurt)
    path = hurt / "records" / file
    table = pq.read_table(path)
    place = table.schema.get_field_index(column)
    kind = table.schema.field(place).type
    values: list[Any] = table.column(place).to_pylist()
    choice: tuple[Any, ...] = WORDS
    if pa.types.is_boolean(kind):
        choice = (True, False, None)
    elif pa.types.is_integer(kind):
        choice = NUMBERS
    elif pa.types.is_floating(kind):
        choice = FLOATS
    values[draw.randrange(len(values))] = value = draw.choice(choice)
    pq.write_table(table.set_column(place, column, pa.array(values, kind)), path)
    manifest = json.loads((hurt / "manifest.json").read_text("utf-8"))
    for one in manifest["files"]:
        there = hurt / one["path"]
        one["sha256"], one["n_bytes"] = file_hash(there), there.stat().st_size
    (hurt / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    return value


def _brought(folder: Path, study: str) -> str:
    """Bring the archive in, and let every command read it; return what is wrong."""
    store = folder / "other"
    try:
        with Store.open(store) as opened:
            import_archive(opened, folder / "hurt")
    except AtomError:
        return ""
    except Exception as error:  # noqa: BLE001 - any other exception is what is looked for
        return f"{type(error).__name__}: {error}"[:300]
    for words in (*READERS, *((*words, "--study", study) for words in OF_STUDY)):
        said = io.StringIO()
        try:
            with redirect_stdout(said), redirect_stderr(said):
                main([*words, "--store", str(store)])
        except SystemExit:
            pass
        except Exception as error:  # noqa: BLE001 - a traceback is what is looked for
            return f"{' '.join(words[:2])}: {type(error).__name__}: {error}"[:300]
    return ""
