"""JSON Schemas of what a judge replies to the methods' questions; limits as in `stages.schemas`."""

from __future__ import annotations

from atom.stages.schemas import MAX_CRITERIA, MIN_CRITERIA, Schema

TOP = 10
"""The best holistic score; the worst is 1."""


def _object(**properties: object) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _text(most: int) -> Schema:
    return {"type": "string", "maxLength": most}


def _list(item: object, least: int, most: int) -> Schema:
    return {"type": "array", "items": item, "minItems": least, "maxItems": most}


def _whole(most: int, *, null: bool = False) -> Schema:
    kind: object = ["integer", "null"] if null else "integer"
    return {"type": kind, "minimum": 1, "maximum": most}


POINTWISE: Schema = _object(reason=_text(500), score=_whole(TOP, null=True))

WHOLE: Schema = _object(reason=_text(500), score=_whole(5, null=True))

SCAN_CRITERIA: Schema = _object(
    criteria=_list(
        _object(name=_text(120), criterion=_text(400), weight=_whole(10)), 1, MAX_CRITERIA
    )
)

BARE_CRITERIA: Schema = _object(
    criteria=_list(
        _object(question=_text(400), ground_truth=_text(400), weight=_whole(10)),
        MIN_CRITERIA,
        MAX_CRITERIA,
    )
)


def batch_schema(n: int) -> Schema:
    """Return the schema of a ranking of `n` answers."""
    entry = _object(id=_text(8), reason=_text(300), rank=_whole(n))
    return _object(ranking=_list(entry, n, n))


def scan_scoring_schema(n: int) -> Schema:
    """Return the schema of scores for `n` criteria."""
    entry = _object(id=_text(8), reason=_text(300), score=_whole(5, null=True))
    return _object(scores=_list(entry, n, n))
