"""Criteria as they stand together: in a question's set, and in the tree of their capabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from atom.records import CriteriaSet, CriterionUse, Gate, Sampling, content_id, unchecked
from atom.records.rows import Row, criteria_set_row
from taxonomy import Node, Path, Tree

PROMPT = "imported"
UNTAGGED = "(directly)"
"""The leaf of criteria that hang on a node which has others below it."""
SAMPLING = Sampling()
_use = unchecked(CriterionUse)


def source_id(dataset: str) -> str:
    """Name whoever cut a data set's criteria: the data set itself."""
    return content_id("judge", "source", dataset)


@dataclass(kw_only=True, slots=True)
class SampleCriterion:
    """A criterion as it stands in a sample."""

    id: str
    key: str
    text: str
    position: int
    weight: float
    penalty: bool
    parents: tuple[str, ...]
    """Keys of criteria that must hold first."""
    gate: Gate | None
    cap: float | None
    at: int
    """Its number among all wordings, to compare how their marks run."""


@dataclass(kw_only=True)
class StatedCriterion:
    """What files say of a criterion."""

    text: str | None = None
    truth: str = ""
    weight: float | None = None
    capability: Path | None = None
    parents: tuple[str, ...] = ()
    gate: Gate | None = None


def criteria_set(sample_id: str, judge_id: str, uses: tuple[CriterionUse, ...]) -> Row:
    """Make the set of criteria that a file holds for a question, named by its content."""
    content = [use.model_dump(mode="json", exclude_defaults=True) for use in uses]
    name = CriteriaSet.make_id(sample_id, judge_id, PROMPT, SAMPLING, 0, content)
    return criteria_set_row(name, sample_id, judge_id, uses)


def use_of(used: SampleCriterion, uses: Mapping[str, SampleCriterion]) -> CriterionUse:
    """Make a criterion's place in its question's set; parents that aren't in `uses` fall away."""
    parents = tuple(uses[name].id for name in used.parents if name in uses)
    return _use(
        criterion_id=used.id,
        position=used.position,
        weight=used.weight,
        polarity="penalty" if used.penalty else "credit",
        parents=parents,
        gate=used.gate,
        gate_cap=used.cap,
    )


def tree_of(paths: Sequence[Path], name: str) -> tuple[Tree, dict[Path, Path]]:
    """Make the tree that paths of any depth span.

    Args:
        paths: where criteria hang, in the order met.
        name: what the tree is called; the root's name where a path has one layer alone.

    Returns:
        The tree, and for each path its leaf: where others hang below it, a leaf of its own there.
    """
    folded: dict[Path, Path] = {}
    rooted: dict[Path, Path] = {}
    flat = any(len(path) == 1 for path in paths)
    for path in paths:
        full = (name, *path) if flat else path
        spelled: list[str] = []
        for step in full:
            here = (*spelled, step)
            key = tuple(" ".join(part.casefold().split()) for part in here)
            spelled = list(folded.setdefault(key, here))
        rooted[path] = tuple(spelled)
    inner = {path[:n] for path in rooted.values() for n in range(1, len(path))}
    places = {path: (*full, UNTAGGED) if full in inner else full for path, full in rooted.items()}
    below: dict[Path, dict[str, None]] = {}
    for full in places.values():
        for n in range(len(full)):
            below.setdefault(full[:n], {})[full[n]] = None

    def nodes(at: Path) -> tuple[Node, ...]:
        return tuple(Node(one, children=nodes((*at, one))) for one in below.get(at, ()))

    return Tree(name, nodes(())), places
