"""Same: the judge says which of two nodes of a growing tree mean the same.

A merge can't be taken back by later data, so a yes is asked for twice, in both orders.

Reference: ATOM 3.2, E.1 (iterative refinement).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from atom.errors import DataError
from atom.judge.reply import Reply
from atom.judge.request import Request
from atom.judge.templates import JsonValue
from atom.records import Sampling
from atom.stages.asking import make_request
from atom.stages.reading import one_line, read_reply, text_of
from atom.stages.schemas import same_schema
from taxonomy import Path, format_path

TASK: Final = "same"
PROMPT: Final = "same/1"
EXAMPLES: Final = 4
"""Criteria shown of each node."""


@dataclass(frozen=True, kw_only=True)
class NodeSketch:
    """A node as the judge sees it.

    Args:
        meaning: a sentence, where one is known.
        examples: questions of criteria that hang under it; for a group also what it holds.
    """

    path: Path
    meaning: str = ""
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class NodePair:
    """Two nodes of one layer that may mean the same."""

    first: NodeSketch
    second: NodeSketch

    @property
    def turned(self) -> NodePair:
        """The same pair in the other order."""
        return NodePair(first=self.second, second=self.first)


@dataclass(frozen=True, kw_only=True)
class Opinion:
    """What the judge said about a pair.

    Args:
        same: whether they mean the same; None when it can't be read.
        why: the judge's reason, or why there is none.
    """

    same: bool | None
    why: str = ""


def build(pairs: Sequence[NodePair], sampling: Sampling, *, repeat: int = 0) -> Request:
    """Build the request about a batch of pairs.

    Raises:
        DataError: there is no pair.
    """
    if not pairs:
        raise DataError("at least one pair of nodes is needed")
    return make_request(
        PROMPT,
        {
            "pairs": [
                {"id": str(number), "first": plain(pair.first), "second": plain(pair.second)}
                for number, pair in enumerate(pairs, start=1)
            ]
        },
        pictures=(),
        sampling=sampling,
        repeat=repeat,
        schema=same_schema(len(pairs)),
    )


def parse(reply: Reply, pairs: Sequence[NodePair]) -> tuple[Opinion, ...]:
    """Read the judge's opinions, one for each pair, in order.

    A pair that was left out, or spoken of twice in different ways, has no opinion.
    """
    usable = read_reply(reply, "pairs", partial=True)
    if usable.data is None:
        return tuple(Opinion(same=None, why=usable.reason) for _ in pairs)
    said: dict[str, list[Opinion]] = {}
    rows = usable.data["pairs"]
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict) and isinstance(row.get("same"), bool):
            opinion = Opinion(same=row["same"], why=one_line(text_of(row.get("reason")), 300))
            said.setdefault(text_of(row.get("id")), []).append(opinion)
    out = []
    for number in range(1, len(pairs) + 1):
        found = said.get(str(number), [])
        if len({opinion.same for opinion in found}) == 1:
            out.append(found[-1])
        else:
            why = "The judge contradicts itself." if found else "The judge left this pair out."
            out.append(Opinion(same=None, why=why))
    return tuple(out)


def plain(shown: NodeSketch) -> dict[str, JsonValue]:
    """Return a node as it is put before the judge."""
    return {
        "path": format_path(shown.path),
        "meaning": shown.meaning,
        "examples": list(shown.examples[:EXAMPLES]),
    }
