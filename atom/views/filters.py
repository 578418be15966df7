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
Measure = Literal["process", "outcome", "preference"]
"""What a number is: the steps, the final answer, or votes between answers."""
Process = Literal["sound", "flawed"]
Show = Literal["failed", "imperfect", "unscored", "all"]
KEYS = (
    "study", "model", "node", "criterion", "sample", "tag", "root", "judge", "outcome", "process",
    "measure", "show", "peers",
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
        root: only checkpoints under this root of the tree.
        judge: id of the judge whose scores are looked at; None = the study's own.
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
    root: str | None = None
    judge: str | None = None
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
            root=one("root"),
            judge=one("judge"),
            outcome=_among(one("outcome"), get_args(Outcome)),
            process=_among(one("process"), get_args(Process)),
            measure=_among(one("measure"), get_args(Measure)),
            show=_among(one("show"), get_args(Show)) or "failed",
            peers=tuple(dict.fromkeys(every("peers"))),
        )

    def to_query(self) -> dict[str, str | list[str]]:
        """Write filters as query parameters; what is not set is left out."""
        query: dict[str, str | list[str]] = {}
        for key in KEYS:
            value = getattr(self, key, None)
            if isinstance(value, str) and value and key != "show":
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
        chosen = (
            self.outcome is not None,
            self.process is not None,
            self.show != "failed",
            self.root is not None,
            self.judge is not None,
        )
        return len(self.tags) + sum(chosen)


def measure_of(data: StudyData, filters: Filters) -> Measure:
    """Return what the numbers are: as chosen where there is any, else the first there is."""
    there: dict[Measure, bool] = {
        "process": data.has_process,
        "outcome": data.has_outcome,
        "preference": data.has_preference,
    }
    if filters.measure is not None and there[filters.measure]:
        return filters.measure
    return next((name for name, any_ in there.items() if any_), "outcome")


def answer_values(data: StudyData, filters: Filters, measure: Measure) -> NDArray[np.float64]:
    """Return every answer's value by a measure, shape (R,), in [0, 1]; NaN where there is none.

    By process it's the sample score (METHODS A1) over the checkpoints that the root filter keeps.
    """
    table = data.table
    if measure == "process":
        rows = rows_in_node(data, (filters.root,)) if filters.root else None
        return answer_scores(table, rows).value
    if measure == "outcome":
        return table.outcome.astype(np.float64)
    return table.preferred.astype(np.float64)


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


def rows_kept(data: StudyData, filters: Filters) -> NDArray[np.bool_]:
    """Say which checkpoints a view counts, shape (N,): of answers kept, under the root chosen."""
    keep = answers_kept(data, filters)[data.table.response]
    return keep & rows_in_node(data, (filters.root,)) if filters.root else keep


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
