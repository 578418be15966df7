"""Sums that were made before and lie in files: whoever needs them again reads no rows.

A sum is named by what it is collected with and of: the function, the filters as far as they narrow,
and the numbers of an earlier pass. A file holds arrays and names, nothing that could run.

Reference: design/079-large-studies-made-ready.md.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar, cast
from zipfile import BadZipFile as _BAD

import numpy as np

from atom.analysis.merged import Additive
from atom.errors import PlaceError
from atom.files import new_file, stream
from atom.views.filters import Filters
from atom.views.snapshot import is_own
from atom.views.study_data import Shards

S = TypeVar("S", bound=Additive)
SUFFIX = ".npz"
_TREE, _OF = "tree", "of"


@dataclass(frozen=True, kw_only=True)
class KeptSums(Shards):
    """Parts of a study, and sums of theirs that are kept.

    Attributes:
        parts: the parts themselves: what isn't kept is added up.
        folder: where the sums lie.
        writes: whether new ones are kept, too.
    """

    parts: Shards
    folder: Path
    writes: bool = False

    def collect(self, collect: Callable[..., S], given: tuple[Any, ...]) -> Iterator[S]:
        """Return `collect(part, *given)` of every part, in the parts' order."""
        return self.parts.collect(collect, given)

    def add(self, collect: Callable[..., S], given: tuple[Any, ...]) -> S:
        """Return the sum of `collect(part, *given)` over all parts: the kept one where there is."""
        name = name_of(collect, given)
        place = None if name is None else self.folder / f"{name}{SUFFIX}"
        found = None if place is None else read_sums(place)
        if found is not None:
            return cast(S, found)
        made = self.parts.add(collect, given)
        if place is not None and self.writes:
            write_sums(place, made)
        return made

    def forget(self) -> None:
        """Forget what was computed for single filters; what is kept stays."""
        self.parts.forget()


# --- names ---------------------------------------------------------------------------------------


def name_of(collect: Callable[..., Any], given: tuple[Any, ...]) -> str | None:
    """Name a sum by all that it depends on; None where that can't be told.

    Args:
        given: with what, after the part.
    """
    digest = hashlib.sha256()
    try:
        for word in _words(collect, given):
            digest.update(len(word).to_bytes(8, "little") + word)
    except TypeError:
        return None
    return digest.hexdigest()[:32]


def _words(*values: Any) -> Iterator[bytes]:
    """Spell values out, each with its kind.

    Raises:
        TypeError: there is one that can't be.
    """
    for value in values:
        if value is None or isinstance(value, (bool, int, float, str, np.generic)):
            yield f"{type(value).__name__} {value!r}".encode()
        elif isinstance(value, np.ndarray) and not value.dtype.hasobject:
            yield f"array {value.dtype.str} {value.shape}".encode()
            yield np.ascontiguousarray(value).tobytes()
        elif isinstance(value, Filters):
            # The chain narrows nothing; judge and tree are the folder's own.
            yield b"filters"
            yield from _words(value.but(judge=None, tree=None).narrowing)
        elif isinstance(value, tuple):
            yield f"tuple {len(value)}".encode()
            yield from _words(*value)
        elif is_dataclass(value) and not isinstance(value, type):
            yield _qualified(type(value)).encode()
            yield from _words(*(getattr(value, one.name) for one in fields(value)))
        elif callable(value) and "<" not in _qualified(value):
            yield _qualified(value).encode()
        else:
            raise TypeError(f"{type(value).__name__} has no name")


def _qualified(named: Any) -> str:
    return f"{named.__module__}:{getattr(named, '__qualname__', '<')}"


# --- files ---------------------------------------------------------------------------------------


def write_sums(place: Path, sums: Additive) -> None:
    """Keep a sum in a file; one that can't be written is made again when it is needed."""
    arrays: list[np.ndarray[Any, Any]] = []
    try:
        tree = json.dumps(_spelled(sums, arrays))
        with new_file(place, replace=True) as part, stream(part) as file:
            held = {f"a{number}": array for number, array in enumerate(arrays)}
            told = {_TREE: np.array(tree), _OF: np.array(place.stem)}
            np.savez(file, allow_pickle=False, **told, **held)
    except (OSError, PlaceError, TypeError):
        return


def read_sums(place: Path) -> Additive | None:
    """Read a sum; None where there is none, it isn't as it was written, or it is another's."""
    try:
        if not is_own(place):
            return None
        with place.open("rb") as file, np.load(file, allow_pickle=False) as held:
            if str(held[_OF]) != place.stem:
                return None
            found = _read(json.loads(str(held[_TREE])), held)
    # Of a changed zip file Python also says that it is locked, or packed in an unknown way.
    except (OSError, ValueError, KeyError, TypeError, EOFError, RuntimeError, _BAD, zlib.error):
        return None
    return found if isinstance(found, Additive) else None


def _spelled(value: Any, arrays: list[np.ndarray[Any, Any]]) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        arrays.append(np.asarray(value))
        return {"array": len(arrays) - 1}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, tuple):
        return {"tuple": [_spelled(one, arrays) for one in value]}
    if isinstance(value, dict):
        pairs = ((_spelled(key, arrays), _spelled(one, arrays)) for key, one in value.items())
        return {"pairs": list(pairs)}
    if isinstance(value, Additive):
        held = {one.name: getattr(value, one.name) for one in fields(value)}  # type: ignore[arg-type]
        return {"sums": _qualified(type(value)),
                "held": {name: _spelled(one, arrays) for name, one in held.items()}}  # fmt: skip
    raise TypeError(f"{type(value).__name__} isn't kept")


def _read(value: Any, arrays: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "array" in value:
        array = arrays[f"a{value['array']}"]
        array.setflags(write=False)
        return array if array.ndim else array[()]
    if "tuple" in value:
        return tuple(_read(one, arrays) for one in value["tuple"])
    if "pairs" in value:
        return {_read(key, arrays): _read(one, arrays) for key, one in value["pairs"]}
    # Only sums that somebody here collects: what a file names is never imported.
    known = {_qualified(kind): kind for kind in _kinds(Additive)}
    held = {name: _read(one, arrays) for name, one in value["held"].items()}
    return known[value["sums"]](**held)


def _kinds(kind: type[Additive]) -> Iterator[type[Additive]]:
    for one in kind.__subclasses__():
        yield one
        yield from _kinds(one)
