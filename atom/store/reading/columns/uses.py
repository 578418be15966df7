"""The criteria that stand for a study's samples, and the leaves they hang on, as columns."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.json
import sqlalchemy as sa
from numpy.typing import NDArray

from atom.records import CriteriaSet, Study, StudySample, TreeRecord
from atom.records import Mapping as MappingRecord
from atom.store.reading import packed as fast
from atom.store.reading.columns.answers import SampleColumns
from atom.store.reading.packed import Ints
from atom.store.schema import table
from atom.store.standing.members import placed
from taxonomy import Path, parse_tree

Floats = NDArray[np.float64]
_JSON_BLOCK = 1 << 24
_USES = pa.schema(
    {
        "uses": pa.list_(
            pa.struct({"criterion_id": pa.string(), "position": pa.int64(), "weight": pa.float64()})
        )
    }
)
_RULES = ('"polarity"', '"parents"', '"gate"')
"""What a list of uses names where it declares more than weights."""
WHOLE = 10
"""What the weights of a sample's credits total."""


@dataclass(frozen=True, kw_only=True)
class Uses:
    """The criteria that stand for the samples, by sample and place, shape (U,)."""

    ids: tuple[str, ...]
    sample: Ints
    position: Ints
    weight: Ints | Floats
    """Shares of `WHOLE`, the total of a sample's credits; whole numbers where all are."""
    chained: NDArray[np.bool_]
    """Whether a sample's criteria are the steps of one solution, shape (S,)."""
    penalty: NDArray[np.bool_]
    """Whether a criterion takes points away."""
    gate: Floats
    """The most that an answer which misses the criterion can score, 0 to 1; 1 = it's no gate."""
    parents: Ints
    """Uses and those they were declared to rest on, shape (2, P)."""


def read_uses(connection: sa.Connection, study_id: str, places: SampleColumns) -> Uses:
    """Read the criteria that stand for each sample."""
    place, criteria = table(StudySample), table(CriteriaSet)
    statement = (
        sa.select(
            place.c.sample_id, criteria.c.uses, criteria.c.replay_id.is_not(None), criteria.c.source
        )
        .select_from(place.join(criteria, criteria.c.id == place.c.criteria_set_id))
        .where(placed(connection, study_id), criteria.c.state == "scored")
        .order_by(place.c.position, place.c.sample_id)
    )
    samples, texts, solved, sources = fast.whole(fast.chunks(connection, statement), 4)
    size, ids, position, weight = _parse_uses(texts)
    at = fast.codes(samples, places.at)
    chained = np.zeros(len(places.ids), dtype=np.bool_)
    chained[at] = np.array(solved, dtype=np.bool_)
    penalty, gate, parents = _declared(texts, size, ids)
    return Uses(
        ids=ids,
        sample=np.repeat(at, size),
        position=position,
        weight=_shares(weight, size, np.array(sources, dtype=object) == "imported", penalty),
        chained=chained,
        penalty=penalty,
        gate=gate,
        parents=parents,
    )


def _shares(weight: Floats, size: Ints, imported: NDArray[np.bool_], penalty: Any) -> Ints | Floats:
    """Bring the weights of imported criteria to shares of `WHOLE`, sample by sample.

    A penalty's is its share of the credits, too. Our judges' weights total that already.

    Args:
        weight: as declared, shape (U,).
        size: how many each list has.
        imported: whether a list was imported.
        penalty: whether a use takes points away, shape (U,).
    """
    of = np.repeat(np.arange(len(size)), size)
    credit = np.bincount(of, weights=np.where(penalty, 0, weight), minlength=len(size))
    # Where there are penalties alone, they share among themselves.
    total = np.where(credit > 0, credit, np.bincount(of, weights=weight, minlength=len(size)))
    odd = imported & (total != WHOLE)
    if odd.any():
        weight = np.where(odd[of], weight * WHOLE / np.where(odd, total, 1)[of], weight)
    whole = bool((weight == np.rint(weight)).all() and weight.max(initial=0) < 1 << 7)
    return weight.astype(np.int64) if whole else weight


def _declared(
    texts: Sequence[str], size: Ints, ids: Sequence[str]
) -> tuple[NDArray[np.bool_], Floats, Ints]:
    """Read what few lists of uses declare beyond weights: penalties, gates and parents."""
    penalty = np.zeros(len(ids), dtype=np.bool_)
    gate = np.ones(len(ids))
    parents: list[tuple[int, int]] = []
    start = np.cumsum(size) - size
    for number, text in enumerate(texts):
        if not any(word in text for word in _RULES):
            continue
        first, uses = int(start[number]), json.loads(text)
        at = {use["criterion_id"]: first + nth for nth, use in enumerate(uses)}
        for place, use in enumerate(uses, first):
            penalty[place] = use.get("polarity") == "penalty"
            if use.get("gate"):
                gate[place] = use["gate_cap"] if use["gate"] == "cap" else 0
            parents += [(place, at[name]) for name in use.get("parents", ()) if name in at]
    return penalty, gate, np.array(parents, dtype=np.int64).reshape(-1, 2).T


def _parse_uses(texts: Sequence[str]) -> tuple[Ints, tuple[str, ...], Ints, Floats]:
    """Read lists of uses: how many each list has; then all ids, positions and weights.

    Arrow parses all of them at once, a list a line, twenty times as fast as one at a time; what it
    finds odd is read the plain way.
    """
    lines = "\n".join(f'{{"uses":{text}}}' for text in texts).encode()
    try:
        read = pa.json.read_json(
            pa.BufferReader(lines),
            read_options=pa.json.ReadOptions(block_size=_JSON_BLOCK),
            parse_options=pa.json.ParseOptions(
                explicit_schema=_USES, newlines_in_values=True, unexpected_field_behavior="ignore"
            ),
        )
        lists = read["uses"].combine_chunks()
        ids, position, weight = lists.flatten().flatten()
        if len(lists) == len(texts) and not lists.flatten().null_count + sum(
            part.null_count for part in (lists, ids, position, weight)
        ):
            size = np.diff(lists.offsets.to_numpy()).astype(np.int64)
            return size, tuple(ids.to_pylist()), position.to_numpy(), weight.to_numpy()
    except pa.ArrowException:
        pass
    lists_ = [json.loads(text) for text in texts]
    uses = [use for one in lists_ for use in one]
    return (
        np.array([len(one) for one in lists_], dtype=np.int64),
        tuple(use["criterion_id"] for use in uses),
        np.array([use["position"] for use in uses], dtype=np.int64),
        np.array([use["weight"] for use in uses], dtype=np.float64),
    )


def read_leaves(
    connection: sa.Connection, study: Study, uses: Uses, *, scan: bool
) -> tuple[Ints, tuple[Path, ...]]:
    """Read each use's leaf (-1 = none), and the leaves in the tree's order."""
    code = np.full(len(uses.ids), -1, dtype=np.int64)
    if study.tree_version is None:
        return code, ()
    mapping, record = table(MappingRecord), table(TreeRecord)
    mapped = (mapping.c.tree_version == study.tree_version, mapping.c.leaf.is_not(None))
    columns = (mapping.c.criterion_id, mapping.c.leaf)
    chunks = (
        fast.scanned(connection, mapping, columns, *mapped)
        if scan
        else fast.chunks(connection, sa.select(*columns).where(*mapped))
    )
    text_of = dict(zip(*fast.whole(chunks, 2), strict=True))
    texts = list(map(text_of.get, uses.ids))
    path_of = {text: tuple(json.loads(text)) for text in {*texts} if text is not None}
    body = connection.execute(
        sa.select(record.c.body).where(record.c.version == study.tree_version)
    ).scalar()
    tree = parse_tree(body, depth=None) if body else None
    place_of = {leaf: number for number, leaf in enumerate(tree.leaves)} if tree else {}
    leaves = tuple(
        sorted({*path_of.values()}, key=lambda leaf: (place_of.get(leaf, len(place_of)), leaf))
    )
    at = {leaf: number for number, leaf in enumerate(leaves)}
    number_of = {text: at[path] for text, path in path_of.items()}
    return fast.codes(texts, number_of), leaves
