"""Studies that many tests begin with, made once a process and copied for each."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from atom.store.store import DATABASE

Told = TypeVar("Told")


def copy_of(make: Callable[..., Told], folder: Path, *given: Hashable) -> Told:
    """Put into a folder what a function makes in one; return what it told when it made it.

    Args:
        make: makes the same in any folder, and leaves the store closed.
        folder: where no store is yet.
        given: what it is told beside the folder.
    """
    assert not (folder / DATABASE).exists()
    files, told = _made(make, *given)
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return told  # type: ignore[return-value]


@cache
def _made(make: Callable[..., object], *given: Hashable) -> tuple[dict[Path, bytes], object]:
    with TemporaryDirectory() as place:
        folder = Path(place) / "store"
        told = make(folder, *given)
        files = [file for file in sorted(folder.rglob("*")) if file.is_file()]
        return {file.relative_to(folder): file.read_bytes() for file in files}, told
