"""Where a large study's criteria hang, in a file: what the Tree's support is counted from."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa

from atom.errors import PlaceError, StoreError
from atom.views.snapshot import read_sealed, write_sealed
from atom.views.tree.node_table import PlacedCriteria

_LEAVES = b"leaves"


def write_placed(path: Path, where: PlacedCriteria) -> None:
    """Keep where criteria hang.

    Args:
        where: the criteria, in the study's own tree.

    Raises:
        StoreError: it can't be written.
    """
    leaves = [leaf for leaf in dict.fromkeys(where.leaf) if leaf is not None]
    code = {leaf: number for number, leaf in enumerate(leaves)}
    leaf = np.array([-1 if one is None else code[one] for one in where.leaf], dtype=np.int32)
    columns = {
        "criterion": pa.array(where.criterion, pa.large_string()),
        "sample": pa.array(where.sample),
        "leaf": pa.array(leaf),
    }
    whole = pa.table(columns).replace_schema_metadata({_LEAVES: json.dumps(leaves)})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, whole.schema) as writer:
        writer.write_table(whole)
    try:
        write_sealed(path, sink.getvalue())
    except (OSError, PlaceError) as error:
        raise StoreError(f"{str(path)!r} can't be written: make room on its disk") from error


def read_placed(path: Path) -> PlacedCriteria | None:
    """Read where criteria hang; None where there is no such file, or it was changed."""
    content = read_sealed(path)
    if content is None:
        return None
    try:
        whole = pa.ipc.open_file(pa.BufferReader(content)).read_all()
        named = json.loads((whole.schema.metadata or {})[_LEAVES])
        leaves = (*(tuple(leaf) for leaf in named), None)
        return PlacedCriteria(
            criterion=tuple(whole["criterion"].to_pylist()),
            sample=np.array(whole["sample"], dtype=np.int64),
            # -1, no leaf, is the last.
            leaf=tuple(leaves[at] for at in whole["leaf"].to_pylist()),
        )
    except (pa.ArrowException, ValueError, KeyError, TypeError, IndexError):
        return None
