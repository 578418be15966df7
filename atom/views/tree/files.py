"""Trees as files: YAML for people, GraphML for graph tools, EvalTree's form; and back."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from atom.errors import UsageError
from atom.formats.tools.evaltree import read_tree, to_tree, write_tree
from atom.store import Store
from atom.views.study_data import StudyData
from atom.views.tree.edit import read_tree_file, take_tree
from atom.views.tree.node_table import NodeTable, placed
from taxonomy import Path, Tree, format_path, to_yaml

Form = Literal["yaml", "graphml", "evaltree"]
_BAD_XML = dict.fromkeys([*(set(range(32)) - {9, 10, 13}), 0xFFFE, 0xFFFF])


@dataclass(frozen=True, kw_only=True)
class TreeFile:
    """A file to download."""

    name: str
    media_type: str
    data: bytes


@dataclass(frozen=True, kw_only=True)
class UploadedTree:
    """What came of an uploaded tree."""

    name: str
    leaves: int
    depth: int
    criteria: int
    """Criteria of the study that hang in it now."""
    left: int
    """Scored criteria that hang nowhere yet."""

    @property
    def words(self) -> str:
        """What became of the study's tree."""
        rest = f"; {self.left:,} scored criteria hang nowhere yet" if self.left else ""
        return (
            f"{self.name!r} is the study's tree now: {self.leaves:,} leaves, "
            f"{self.depth:,} layers; {self.criteria:,} criteria hang in it{rest}."
        )


def write_file(form: Form, store: Store, data: StudyData, nodes: NodeTable) -> TreeFile:
    """Write a study's tree as a file.

    Args:
        nodes: its tree in numbers (GraphML carries them).
    """
    stem = _stem(nodes.tree.name)
    if form == "yaml":
        return TreeFile(
            name=f"{stem}.yaml", media_type="application/yaml", data=to_yaml(nodes.tree).encode()
        )
    if form == "graphml":
        return TreeFile(
            name=f"{stem}.graphml",
            media_type="application/xml",
            data=graphml(nodes, [candidate.name for candidate in data.candidates]),
        )
    rows: dict[Path, list[int]] = {}
    for number, leaf in enumerate(placed(store, data).leaf):
        if leaf is not None:
            rows.setdefault(leaf, []).append(number)
    return TreeFile(
        name=f"{stem}.capability_tree.json",
        media_type="application/json",
        data=write_tree(nodes.tree, rows),
    )


def _stem(name: str) -> str:
    kept = "".join(c if c.isalnum() else "-" for c in name.casefold())
    return "-".join(part for part in kept.split("-") if part)[:60] or "tree"


def graphml(nodes: NodeTable, models: Sequence[str]) -> bytes:
    """Write a tree as GraphML: nodes with name, path, layer, support, and every model's score.

    Args:
        models: names of the models, in the study's order.

    Returns:
        GraphML in UTF-8, as networkx writes it; scores are on 0-100, absent where there is none.
    """
    from networkx import DiGraph, write_graphml

    graph: DiGraph[str] = DiGraph(name=_clean(nodes.tree.name), scale="0-100")
    for index, path in enumerate(nodes.paths):
        node = nodes.tree.node(path) if path else None
        values: dict[str, str | int | float] = {
            "label": _clean(path[-1] if path else nodes.tree.name),
            "path": _clean(format_path(path)),
            "meaning": _clean(node.meaning if node else ""),
            "layer": len(path),
            "criteria": int(nodes.criteria[index]),
            "samples": int(nodes.samples[index]),
        }
        for model, name in enumerate(models):
            if np.isfinite(nodes.mean[model, index]):
                for kind, column in (("score", nodes.mean), ("lo", nodes.lo), ("hi", nodes.hi)):
                    values[f"{kind}: {_clean(name)}"] = float(column[model, index])
        graph.add_node(str(index), **values)
        if nodes.parent[index] >= 0:
            graph.add_edge(str(int(nodes.parent[index])), str(index))
    out = io.BytesIO()
    write_graphml(graph, out, encoding="utf-8")
    return out.getvalue()


def _clean(text: str) -> str:
    """Leave out what XML can't hold."""
    return text.encode("utf-8", "replace").decode().translate(_BAD_XML)


def take_file(
    store: Store, data: StudyData, content: bytes, name: str, *, partly: bool = False
) -> UploadedTree:
    """Give a study the tree of an uploaded file: our YAML, or EvalTree's `capability_tree.json`.

    EvalTree's trees stay as they are, of any depth, and aren't edited. A row of theirs is taken
    for the study's sample of the same number when there are as many rows as samples.

    Args:
        partly: rows are samples, though some samples have none.

    Raises:
        UsageError: it isn't our form; the message says where and what is expected.
        FormatError: it looks like EvalTree's form and isn't.
    """
    leaf_of: dict[str, Path] = {}
    if b'"subtrees"' in content:
        tree, row_leaf = to_tree(read_tree(content, name), name.removesuffix(".json"))
        leaf_of = _by_sample(store, data, row_leaf, partly=partly)
    else:
        tree = read_tree_file(content, name)
    taken = take_tree(store, data.study.id, tree, note=f"read from {name[:80]}", leaf_of=leaf_of)
    return UploadedTree(
        name=tree.name,
        leaves=len(tree.leaves),
        depth=_depth(tree),
        criteria=taken,
        left=max(len(data.table.criterion_ids) - taken, 0),
    )


def _depth(tree: Tree) -> int:
    return max((len(path) for path in tree.leaves), default=0)


def _by_sample(
    store: Store, data: StudyData, row_leaf: dict[int, Path], *, partly: bool
) -> dict[str, Path]:
    n = len(data.table.sample_ids)
    if partly and max(row_leaf, default=-1) >= n:
        raise UsageError(
            f"the file speaks of row {max(row_leaf)} and the study has {n:,} samples: "
            "it was made of "
            "other questions"
        )
    if not partly and set(row_leaf) != set(range(n)):
        return {}
    where = placed(store, data)
    pairs = zip(where.criterion, where.sample.tolist(), strict=True)
    return {criterion: row_leaf[row] for criterion, row in pairs if row in row_leaf}
