"""JSON Schemas of what a judge replies to the methods' questions; limits as in `stages.schemas`."""

from __future__ import annotations

from atom.stages.schemas import (
    MAX_CRITERIA,
    MIN_CRITERIA,
    Schema,
    a_list,
    a_text,
    an_object,
)

TOP = 10
"""The best holistic score; the worst is 1."""


def _whole(most: int, *, null: bool = False) -> Schema:
    kind: object = ["integer", "null"] if null else "integer"
    return {"type": kind, "minimum": 1, "maximum": most}


POINTWISE: Schema = an_object(reason=a_text(500), score=_whole(TOP, null=True))

WHOLE: Schema = an_object(reason=a_text(500), score=_whole(5, null=True))

SCAN_CRITERIA: Schema = an_object(
    criteria=a_list(
        an_object(name=a_text(120), criterion=a_text(400), weight=_whole(10)), 1, MAX_CRITERIA
    )
)

BARE_CRITERIA: Schema = an_object(
    criteria=a_list(
        an_object(question=a_text(400), ground_truth=a_text(400), weight=_whole(10)),
        MIN_CRITERIA,
        MAX_CRITERIA,
    )
)


def batch_schema(n: int) -> Schema:
    """Return the schema of a ranking of `n` answers."""
    entry = an_object(id=a_text(8), reason=a_text(300), rank=_whole(n))
    return an_object(ranking=a_list(entry, n, n))


def scan_scoring_schema(n: int) -> Schema:
    """Return the schema of scores for `n` criteria."""
    entry = an_object(id=a_text(8), reason=a_text(300), score=_whole(5, null=True))
    return an_object(scores=a_list(entry, n, n))
