"""What files and stores hold: compared, counted and checked."""

from __future__ import annotations

import dataclasses
import hashlib
import io

import numpy as np
import sqlalchemy as sa
from PIL import Image

from atom.engine.demo.build import SEAL
from atom.store.schema import import_links


def same_columns(first, second) -> bool:
    """Say whether two readings of a study hold the same: every array, every text."""

    def same(one: object, other: object) -> bool:
        if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
            floats = one.dtype.kind == "f"
            return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=floats)
        if dataclasses.is_dataclass(one) and type(one) is type(other):
            return all(
                same(getattr(one, field.name), getattr(other, field.name))
                for field in dataclasses.fields(one)
            )
        if isinstance(one, dict) and isinstance(other, dict):
            return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
        return one == other

    return (
        same(first.table, second.table)
        and same(first.votes, second.votes)
        and first.pending == second.pending
        and first.scale == second.scale
        and first.left_out == second.left_out
    )


def linked_records(store, import_id) -> dict[str, set[str]]:
    """Return which records (ids by kind) an import brought."""
    with store.read() as connection:
        rows = connection.execute(
            sa.select(import_links.c.kind, import_links.c.record_id).where(
                import_links.c.import_id == import_id
            )
        ).all()
    found: dict[str, set[str]] = {}
    for kind, record_id in rows:
        found.setdefault(kind, set()).add(record_id)
    return found


def pixel_hash(png: bytes) -> str:
    """Return the SHA-256 of a picture's size and RGB pixels, in hex."""
    with Image.open(io.BytesIO(png)) as image:
        pixels = image.convert("RGB")
    digest = hashlib.sha256(f"{pixels.width}x{pixels.height}:".encode())
    digest.update(pixels.tobytes())
    return digest.hexdigest()


def broken_sums(folder) -> list[str]:
    """Return a line for each file of a sealed folder that is missing or changed."""
    problems = []
    for line in (folder / SEAL).read_text(encoding="utf-8").splitlines():
        digest, _, name = line.partition("  ")
        if not (folder / name).exists():
            problems.append(f"{name} is missing")
        elif hashlib.sha256((folder / name).read_bytes()).hexdigest() != digest:
            problems.append(f"{name} is changed")
    return problems
