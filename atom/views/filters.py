"""What the reader chose, as a value that lives in the URL.

Unknown, missing and hostile query keys are tolerated: what can't be understood is dropped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from atom.analysis import answer_scores
from atom.views.study_data import StudyData
from taxonomy import Path, format_path, parse_path

Outcome = Literal["right", "wrong"]
Measure = Literal["process", "outcome"]
Process = Literal["sound", "flawed"]
Show = Literal["failed", "imperfect", "unscored", "all"]
KEYS = (
    "study", "model", "node", "criterion", "sample", "tag", "outcome", "process", "measure",
    "show", "peers",
)  # fmt: skip
FAILED_SCORE = 2
"""A checkpoint with this score or less is a failed one (METHODS A2, default tau)."""
_MAX = 300


def _among(value: str | None, allowed: tuple[Any, ...]) -> Any:
    return value if value in allowed else None


@dataclass(frozen=True, kw_only=True)
class Filters:
    """The evidence chain and the filters.

    Attributes:
        study: the study's id, `demo:` before it for the bundled store.
        model: candidate id.
        node: path in the tree, any depth.
        criterion: criterion id.
        sample: sample id.
        tags: (facet, value) pairs that must all hold.
        outcome: only answers with this outcome.
        process: only answers whose steps hold (`sound`) or don't (`flawed`), as a whole.
        measure: what the numbers are; None = process where there is any.
        show: which checkpoints the list of failures is made of.
        peers: other candidate ids shown beside the model.
    """

    study: str = ""
    model: str | None = None
    node: Path = ()
    criterion: str | None = None
    sample: str | None = None
    tags: tuple[tuple[str, str], ...] = ()
    outcome: Outcome | None = None
    process: Process | None = None
    measure: Measure | None = None
    show: Show = "failed"
    peers: tuple[str, ...] = ()

    @classmethod
    def from_query(cls, query: Mapping[str, str | list[str]]) -> Self:
        """Read filters from query parameters; never raises."""

        def every(key: str) -> list[str]:
            value = query.get(key, [])
            items = [value] if isinstance(value, str) else list(value)
            return [item[:_MAX] for item in items if isinstance(item, str) and item.strip()]

        def one(key: str) -> str | None:
            items = every(key)
            return items[-1] if items else None

        parted = (item.partition(":") for item in every("tag"))
        tags = tuple((facet, value) for facet, mark, value in parted if mark)
        return cls(
            study=one("study") or "",
            model=one("model"),
            node=parse_path(one("node") or ""),
            criterion=one("criterion"),
            sample=one("sample"),
            tags=tuple(dict.fromkeys(tags)),
            outcome=_among(one("outcome"), get_args(Outcome)),
            process=_among(one("process"), get_args(Process)),
            measure=_among(one("measure"), get_args(Measure)),
            show=_among(one("show"), get_args(Show)) or "failed",
            peers=tuple(dict.fromkeys(every("peers"))),
        )

    def to_query(self) -> dict[str, str | list[str]]:
        """Write filters as query parameters; what is not set is left out."""
        query: dict[str, str | list[str]] = {}
        for key in ("study", "model", "criterion", "sample", "outcome", "process", "measure"):
            if value := getattr(self, key):
                query[key] = value
        if self.node:
            query["node"] = format_path(self.node)
        if self.tags:
            query["tag"] = [f"{facet}:{value}" for facet, value in self.tags]
        if self.show != "failed":
            query["show"] = self.show
        if self.peers:
            query["peers"] = list(self.peers)
        return query

    def but(self, **changes: object) -> Filters:
        """Return a copy with some fields changed."""
        return replace(self, **changes)  # type: ignore[arg-type]

    @property
    def active(self) -> int:
        """How many filters (beyond the chain) narrow the view."""
        chosen = (self.outcome is not None, self.process is not None, self.show != "failed")
        return len(self.tags) + sum(chosen)


def measure_of(data: StudyData, filters: Filters) -> Measure:
    """Return what the numbers are: as chosen, else process where there is any."""
    if filters.measure == "outcome" and data.has_outcome:
        return "outcome"
    return "process" if data.has_process else "outcome"


def answers_kept(data: StudyData, filters: Filters) -> NDArray[np.bool_]:
    """Say which answers a view counts, shape (R,).

    Quarantined samples never enter; tags and outcome narrow; the chain (model, node, ...) doesn't.
    """
    table = data.table
    keep = table.answered & ~table.quarantined[table.sample]
    for facet_name, value in filters.tags:
        facet = table.facets.get(facet_name)
        has = np.zeros(len(table.sample), dtype=bool)
        if facet is not None and value in facet.values:
            has[facet.response[facet.value == facet.values.index(value)]] = True
        keep &= has
    if filters.outcome is not None:
        right = table.outcome >= 0.5
        keep &= np.isfinite(table.outcome) & (right if filters.outcome == "right" else ~right)
    if filters.process is not None:
        scores = answer_scores(table)
        keep &= (scores.scored > 0) & (scores.passes == (filters.process == "sound"))
    return keep


def rows_in_node(data: StudyData, node: Path) -> NDArray[np.bool_]:
    """Say which checkpoint rows hang under a node, shape (N,); all when the path is empty."""
    table = data.table
    if not node:
        return np.ones(len(table.score), dtype=bool)
    inside = np.array([leaf[: len(node)] == node for leaf in table.leaves], dtype=bool)
    mapped = table.leaf >= 0
    found = np.zeros(len(table.score), dtype=bool)
    if len(inside):
        found[mapped] = inside[table.leaf[mapped]]
    return found
