"""Vague: the judge says which leaves of a growing tree say too little to be kept.

Reference: ATOM E.1 (pruning removes nodes with vague definitions).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from atom.errors import DataError
from atom.judge.reply import Reply
from atom.judge.request import Request
from atom.records import Sampling
from atom.stages.asking import make_request
from atom.stages.growing.same import NodeSketch, plain
from atom.stages.reading import one_line, read_reply, text_of
from atom.stages.schemas import vague_schema

TASK: Final = "vague"
PROMPT: Final = "vague/1"


def build(leaves: Sequence[NodeSketch], sampling: Sampling, *, repeat: int = 0) -> Request:
    """Build the request about a batch of leaves.

    Raises:
        DataError: there is no leaf.
    """
    if not leaves:
        raise DataError("at least one leaf is needed")
    return make_request(
        PROMPT,
        {"leaves": [{"id": str(n), **plain(leaf)} for n, leaf in enumerate(leaves, start=1)]},
        pictures=(),
        sampling=sampling,
        repeat=repeat,
        schema=vague_schema(len(leaves)),
    )


def parse(reply: Reply, leaves: Sequence[NodeSketch]) -> dict[int, str]:
    """Read which leaves the judge calls vague.

    Returns:
        Index among `leaves` -> the judge's reason. A leaf that was left out, or spoken of twice in
        different ways, isn't among them.
    """
    usable = read_reply(reply, "leaves", partial=True)
    rows = usable.data["leaves"] if usable.data is not None else ()
    said: dict[str, dict[bool, str]] = {}
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict) and isinstance(row.get("vague"), bool):
            opinions = said.setdefault(text_of(row.get("id")), {})
            opinions[row["vague"]] = one_line(text_of(row.get("reason")), 300)
    return {
        number: said[str(number + 1)][True]
        for number in range(len(leaves))
        if list(said.get(str(number + 1), {})) == [True]
    }
