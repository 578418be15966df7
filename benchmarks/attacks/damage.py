"""Bytes of a store's file flipped or cut: `store check` sees whatever changes a record."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

from atom.errors import StoreError
from atom.store import Store, check_store
from atom.store.schema import KINDS
from atom.store.store import DATABASE
from benchmarks.attacks._tried import Tried

DEMO = Path(__file__).resolve().parents[2] / "data" / "demo"
FLIPS = 100


def attack(flips: int = FLIPS) -> Iterator[Tried]:
    """Harm a copy of the bundled study's database, each time in one place."""
    whole, draw = (DEMO / DATABASE).read_bytes(), random.Random(15)
    before = _contents(DEMO)
    with tempfile.TemporaryDirectory(prefix="atomscope-damage-") as place:
        for number in range(flips):
            at, n_bytes = draw.randrange(100, len(whole)), draw.choice((1, 1, 4, 64))
            body = bytearray(whole)
            body[at : at + n_bytes] = bytes(
                byte ^ draw.randrange(1, 256) for byte in body[at : at + n_bytes]
            )
            (Path(place) / DATABASE).write_bytes(body)
            name = f"no. {number}: {n_bytes} bytes at {at:,}"
            try:
                yield Tried(name=name, fell=_unseen(Path(place), before))
            except Exception as error:  # noqa: BLE001 - a traceback is a fall
                yield Tried(name=name, fell=f"{type(error).__name__}: {error}"[:300])


def _unseen(folder: Path, before: dict[str, list[str]]) -> str:
    try:
        with Store.open(folder, read_only=True) as store:
            if check_store(store, pictures=False).problems:
                return ""
        after = _contents(folder)
    except StoreError:
        return ""
    changed = [name for name in before if before[name] != after[name]]
    return f"the check says whole, and {changed[0]} changed" if changed else ""


def _contents(folder: Path) -> dict[str, list[str]]:
    with Store.open(folder, read_only=True) as store:
        return {kind.__name__: sorted(map(repr, store.select(kind))) for kind in KINDS}
