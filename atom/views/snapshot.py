"""Score-table snapshots: what was read from the store once, in one memory-mapped file.

A snapshot is an Arrow file of one row whose columns are lists, so that arrays of any length lie in
one file and come back without a copy. It is named by all that its content depends on; whatever is
not exactly as it was written is ignored and made anew. Reasons: `design/007-data-path.md`.

Reference: DESIGN "Data" (score table).
"""

from __future__ import annotations

import json
import os
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from atom.analysis.score_table import Facet, ScoreTable
from atom.errors import PlaceError
from atom.files import new_file, stream
from atom.records import MarkScale, Study
from atom.records.base import content_id
from atom.store import Store, find_study
from atom.store.reading.columns.rows import newest_rows
from atom.store.store import DATABASE
from atom.views.columns import StudyColumns
from atom.views.lab.preferences import Preferences
from atom.views.shards import spread
from atom.views.study_data import StudyData, assemble, chosen_judge, load_study

FORMAT = 6
"""Raised when the columns change; older files are then ignored."""
FOLDER = "cache"
SUFFIX = ".arrow"
_MARK = b"ATOMSNAP"
_TRAILER = len(_MARK) + 8
_KEPT = 6
"""Snapshots of a store that stay: studies and judges looked at last."""
_ARRAYS = (
    "response", "criterion", "leaf", "weight", "position", "score", "addressed", "carried",
    "sample", "model", "repeat", "outcome", "answered", "cause", "cluster", "quarantined",
    "chained", "scale", "penalty", "gate",
)  # fmt: skip
_OPTIONAL = ("preference", "apart", "disagreement")
_TEXTS = ("sample_ids", "model_ids", "criterion_ids", "response_ids")
_VOTES = ("a", "b", "first", "verdict", "strength", "judge", "repeat")


def open_study(
    store: Store, study_id: str, judge_id: str | None = None, *, folder: Path | None = None
) -> StudyData:
    """Load a study, from its snapshot where there is one; else from the store, and keep one.

    Args:
        study_id: its id or name.
        judge_id: whose checkpoints are looked at; the study's own judge's when None or unknown.
        folder: where snapshots lie; None = `snapshot_folder(store)`.

    Raises:
        UsageError: there is no such study.
    """
    return spread(open_whole(store, study_id, judge_id, folder=folder))


def open_whole(
    store: Store, study_id: str, judge_id: str | None = None, *, folder: Path | None = None
) -> StudyData:
    """Load a study as `open_study` does, in one piece however large it is."""
    folder = folder or snapshot_folder(store)
    study = find_study(store, study_id)
    judge = chosen_judge(store, study, judge_id)
    name, revision = snapshot_name(store, study, judge)
    held = read_snapshot(folder / name)
    if held is not None:
        _touch(folder / name)
        return assemble(store, study, judge, held, revision)
    data = load_study(store, study.id, judge)
    if data.revision == revision and len(data.table.score):
        columns = StudyColumns(
            table=data.table,
            pending=data.pending,
            judge_ids=tuple(one.id for one in data.judges),
            votes=data.votes,
            scale=data.scale,
            left_out=data.left_out,
        )
        if write_snapshot(folder / name, columns):
            _tidy(folder, name)
            held = read_snapshot(folder / name)
            if held is not None:
                # The mapped columns instead of the read ones: memory that the system can share.
                return assemble(store, study, judge, held, revision)
    return data


def snapshot_folder(store: Store, own: Path | None = None) -> Path:
    """Return where a store's snapshots lie: beside the store, never in a sealed folder.

    Args:
        own: the user's own store's folder, for stores that can't hold any; the system's folder
            for temporary files when None or missing.
    """
    if not store.read_only and (store.folder / DATABASE).is_file():
        return store.folder / FOLDER
    if own is not None and own.is_dir():
        return own / FOLDER
    user = os.getuid() if hasattr(os, "getuid") else "user"
    return Path(tempfile.gettempdir()) / f"atomscope-{user}" / FOLDER


def snapshot_name(store: Store, study: Study, judge_id: str | None) -> tuple[str, int]:
    """Name a snapshot by everything that it depends on: `<place>-<study>-<content>.arrow`.

    Returns:
        The name, and the study's revision.
    """
    revision, newest = newest_rows(store, study.id)
    depends = [FORMAT, revision, *depends_on(study), newest]
    if store.read_only and (store.folder / DATABASE).is_file():
        state = (store.folder / DATABASE).stat()
        depends += [state.st_size, state.st_mtime_ns]
    named = selected_name(store, study, judge_id)
    return f"{named}-{content_id('content', *depends)}{SUFFIX}", revision


def selected_name(store: Store, study: Study, judge_id: str | None) -> str:
    """Name what all snapshots of a study and a judge share: `<place>-<study>`."""
    place = content_id("place", store.url)[:8]
    return f"{place}-{content_id('study', study.id, judge_id)[:12]}"


def depends_on(study: Study) -> list[str | None]:
    """Return what of a study's own settings decides which rows count, and where they hang."""
    return [study.tree_version, study.answer_sampling.key, study.judge_sampling.key]


# --- files -------------------------------------------------------------------------------------


def write_snapshot(path: Path, columns: StudyColumns) -> bool:
    """Write columns to a file, all of it or nothing.

    Args:
        path: where it goes; its folder is made.
        columns: what was read from the store.

    Returns:
        False where it can't be written (a full or read-only disk): a snapshot is a convenience.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not is_own(path.parent):
            return False
        write_sealed(path, _pack(columns))
    except (OSError, PlaceError):
        return False
    return True


def read_snapshot(path: Path) -> StudyColumns | None:
    """Map a snapshot into memory.

    Returns:
        Its columns, read-only views of the file; None where there is none, or it isn't exactly as
        it was written.
    """
    try:
        content = read_sealed(path)
        return None if content is None else _unpack(content)
    except (pa.ArrowException, ValueError, KeyError, TypeError):
        return None


def write_sealed(path: Path, content: pa.Buffer) -> None:
    """Write bytes and their checksum to a file, all of it or nothing.

    Args:
        path: the file; one that is there is replaced.
        content: the bytes.

    Raises:
        OSError: it can't be written.
        PlaceError: likewise.
    """
    with new_file(path, replace=True) as part, stream(part) as file:
        body = memoryview(content)
        file.write(body)
        file.write(_MARK + zlib.crc32(body).to_bytes(8, "little"))


def read_sealed(path: Path) -> pa.Buffer | None:
    """Map what `write_sealed` wrote into memory; None where it isn't there, or was changed.

    Arrow trusts the places that stand in a file: one flipped byte can end the process.
    """
    try:
        if not path.is_file() or not is_own(path):
            return None
        body = pa.memory_map(str(path)).read_buffer()
    except (OSError, pa.ArrowException):
        return None
    size = body.size - _TRAILER
    if size <= 0:
        return None
    content = body.slice(0, size)
    right = _MARK + zlib.crc32(memoryview(content)).to_bytes(8, "little")
    return content if body.slice(size).to_pybytes() == right else None


def is_own(path: Path) -> bool:
    """Say whether nobody else put this there: folders for temporary files are open to all.

    Raises:
        OSError: nothing is there.
    """
    return not hasattr(os, "getuid") or path.stat().st_uid == os.getuid()


def _touch(path: Path) -> None:
    try:
        path.touch()
    except OSError:
        return


def _tidy(folder: Path, name: str) -> None:
    """Delete what a new snapshot replaces, and the ones looked at longest ago.

    A file that another process has mapped stays readable to it.
    """
    place, selected, _ = name.split("-", 2)
    rest: list[tuple[float, Path]] = []
    try:
        for path in folder.glob(f"{place}-*{SUFFIX}"):
            if path.name == name:
                continue
            if path.name.startswith(f"{place}-{selected}-"):
                path.unlink(missing_ok=True)
            else:
                rest.append((path.stat().st_mtime, path))
        for _, path in sorted(rest, reverse=True)[_KEPT - 1 :]:
            path.unlink(missing_ok=True)
    except OSError:
        return


# --- columns -----------------------------------------------------------------------------------


def _pack(columns: StudyColumns) -> pa.Buffer:
    """Write columns as an Arrow file: one row, a list a column, names and sizes in its schema."""
    table_ = columns.table
    held = dict(_arrays_of(columns))
    fields = {name: _list_of(array) for name, array in held.items()}
    for name in _TEXTS:
        fields[name] = _list_of(getattr(table_, name))
    head = {
        "format": FORMAT,
        "pending": columns.pending,
        "judge_ids": columns.judge_ids,
        "scale": columns.scale,
        "left_out": columns.left_out,
        "leaves": table_.leaves,
        "carried_known": table_.carried_known,
        "parents": table_.parents.tolist(),
        "aside": table_.aside.tolist(),
        "scales": [scale.model_dump(mode="json") for scale in table_.scales],
        "facets": {name: facet.values for name, facet in table_.facets.items()},
        "votes": None if columns.votes is None else columns.votes.judges,
        "there": [name for name in _OPTIONAL if getattr(table_, name) is not None],
        "n_present": table_.n_present,
        "bools": [name for name, array in held.items() if array.dtype == np.bool_],
    }
    whole = pa.table(fields).replace_schema_metadata({"atomscope": json.dumps(head)})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, whole.schema) as writer:
        writer.write_table(whole)
    return sink.getvalue()


def _arrays_of(columns: StudyColumns) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
    table_ = columns.table
    for name in _ARRAYS:
        yield f"table.{name}", getattr(table_, name)
    for name in _OPTIONAL:
        array = getattr(table_, name)
        if array is not None:
            yield f"table.{name}", array
    for number, facet in enumerate(table_.facets.values()):
        yield f"facet.{number}.response", facet.response
        yield f"facet.{number}.value", facet.value
    if columns.votes is not None:
        for name in _VOTES:
            yield f"votes.{name}", getattr(columns.votes, name)


def _list_of(values: np.ndarray[Any, Any] | Sequence[str]) -> pa.Array:
    """Make a column of one row that holds these values; truth values as bytes."""
    if isinstance(values, np.ndarray):
        items = pa.array(values.view(np.uint8) if values.dtype == np.bool_ else values)
    else:
        items = pa.array(values, pa.large_string())
    return pa.LargeListArray.from_arrays(pa.array([0, len(items)], pa.int64()), items)


def _unpack(content: pa.Buffer) -> StudyColumns:
    """Read columns back.

    Raises:
        ValueError: it's another format, or indices point nowhere.
    """
    whole = pa.ipc.open_file(pa.BufferReader(content)).read_all()
    head = json.loads((whole.schema.metadata or {})[b"atomscope"])
    if head["format"] != FORMAT:
        raise ValueError(f"format {head['format']!r}")

    def array(name: str) -> np.ndarray[Any, Any]:
        # `to_numpy` would import pandas, which the first screen of a fresh server doesn't need.
        items = np.from_dlpack(whole[name].chunk(0).values)
        return np.asarray(items.view(np.bool_) if name in bools else items)

    def texts(name: str) -> tuple[str, ...]:
        return tuple(whole[name].chunk(0).values.to_pylist())

    bools = frozenset(head["bools"])
    facets = {
        name: Facet(
            values=tuple(values),
            response=array(f"facet.{number}.response"),
            value=array(f"facet.{number}.value"),
        )
        for number, (name, values) in enumerate(head["facets"].items())
    }
    parts: dict[str, Any] = {name: array(f"table.{name}") for name in _ARRAYS}
    parts |= {name: array(f"table.{name}") for name in head["there"] if name in _OPTIONAL}
    parts |= {name: texts(name) for name in _TEXTS}
    table_ = ScoreTable(
        **parts,
        leaves=tuple(tuple(leaf) for leaf in head["leaves"]),
        facets=facets,
        carried_known=bool(head["carried_known"]),
        n_present=head.get("n_present"),
        parents=np.array(head["parents"], dtype=np.int32).reshape(2, -1),
        aside=np.array(head["aside"], dtype=np.int32).reshape(3, -1),
        scales=tuple(MarkScale.model_validate(one) for one in head["scales"]),
    )
    _check(table_)
    votes = None
    if head["votes"] is not None:
        cast_: dict[str, Any] = {name: array(f"votes.{name}") for name in _VOTES}
        votes = Preferences(**cast_, judges=tuple(head["votes"]))
    return StudyColumns(
        table=table_,
        pending=int(head["pending"]),
        judge_ids=tuple(head["judge_ids"]),
        votes=votes,
        scale=head["scale"],
        left_out=int(head["left_out"]),
    )


def _check(table_: ScoreTable) -> None:
    """Refuse columns of unequal length.

    Raises:
        ValueError: they don't belong together.
    """
    rows, answers, samples, criteria = (
        {len(getattr(table_, name)) for name in names}
        for names in (
            (*_ARRAYS[:8], "scale"),
            ("sample", "model", "repeat", "outcome", "answered", "cause", "response_ids"),
            ("cluster", "quarantined", "chained", "sample_ids"),
            ("penalty", "gate", "criterion_ids"),
        )
    )
    if max(len(rows), len(answers), len(samples), len(criteria)) > 1:
        raise ValueError("columns of unequal length")
