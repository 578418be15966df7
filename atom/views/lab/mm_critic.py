"""How a judge's critiques were scored beside the reference that is fixed at 8, by task type.

Reference: MM-CRITIC 4.2, equation 3, Tables 11-14.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from atom.judgebench.mm_critic.ask import score_part
from atom.judgebench.mm_critic.data import TASK_TYPES
from atom.records import BenchItem, Judge, Verdict
from atom.store import Store
from atom.store import table as columns_of

LEVELS = 11
"""Scores 0 to 10."""


@dataclass(frozen=True, kw_only=True)
class ScoreRow:
    """The scores of one task type, or of all.

    Attributes:
        name: the task type in words.
        counts: critiques with a score of 0, 1, ... 10.
    """

    name: str
    counts: tuple[int, ...]

    @property
    def n(self) -> int:
        """Scored critiques."""
        return sum(self.counts)


@dataclass(frozen=True, kw_only=True)
class ScoreSpread:
    """What one scorer gave one judge's critiques.

    Attributes:
        rows: all critiques first, then each task type that has any.
    """

    scorer: str
    rows: tuple[ScoreRow, ...]


def score_spreads(store: Store, set_id: str, judge: str) -> tuple[ScoreSpread, ...]:
    """Count a judge's critiques by score, scorer and task type.

    Args:
        judge: the judge's id, or the name under which its replies were taken in.
    """
    columns = columns_of(Verdict).c
    given = store.select(
        Verdict,
        columns.group == set_id,
        columns.part == score_part(judge, "critique"),
        columns.state == "scored",
    )
    items = store.select(BenchItem, columns_of(BenchItem).c.set_id == set_id) if given else []
    kinds = {item.id: str(item.data.get("task_type", "")) for item in items}
    names = {one.id: one.name for one in store.select(Judge)}
    scorers: dict[str, list[Verdict]] = {}
    for one in given:
        scorers.setdefault(one.judge, []).append(one)
    return tuple(
        ScoreSpread(
            scorer=names.get(scorer, scorer),
            rows=spread([(kinds.get(one.subject_id, ""), one.value) for one in verdicts]),
        )
        for scorer, verdicts in sorted(scorers.items())
    )


def spread(scored: Sequence[tuple[str, float | None]]) -> tuple[ScoreRow, ...]:
    """Count scores, over all and by task type, in the order of the paper's tables."""
    kinds = {kind for kind, _ in scored}
    order: list[str] = [kind for kind in TASK_TYPES if kind in kinds]
    order += sorted(kinds - set(TASK_TYPES))
    rows = [_row("all critiques", [value for _, value in scored])]
    for kind in order:
        rows.append(_row(kind.replace("_", " "), [value for k, value in scored if k == kind]))
    return tuple(rows)


def _row(name: str, values: Sequence[float | None]) -> ScoreRow:
    counts = [0] * LEVELS
    for value in values:
        if value is not None and 0 <= value < LEVELS:
            counts[int(value)] += 1
    return ScoreRow(name=name, counts=tuple(counts))
