"""JSON Schemas of what a judge replies.

They are strict (no unknown key, every key required) and bounded (small models run away
otherwise). The order of the keys is the order in which a constrained model writes them: evidence
and reason come before the verdict. Limits on text are wider than what the prompts ask for, so that
a few letters too many don't cost a repair turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Schema = Mapping[str, object]

MIN_CRITERIA = 2
MAX_CRITERIA = 8
MAX_STEPS = 16
MAX_REGIONS = 24
MAX_LISTED_LEAVES = 250
"""A tree with more leaves, or with longer ones, is checked by the gate alone."""
MAX_LISTED_CHARACTERS = 12_000


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


_THOUSANDTH: Schema = {"type": "integer", "minimum": 0, "maximum": 1000}
_REGION = _object(
    picture={"type": "integer", "minimum": 1, "maximum": 64},
    box=_list(_THOUSANDTH, 4, 4),
)

REPLAY: Schema = _object(
    steps=_list(_object(text=_text(800), regions=_list(_REGION, 0, MAX_REGIONS)), 0, MAX_STEPS),
    final_answer=_text(500),
)

CRITERIA: Schema = _object(
    criteria=_list(
        _object(
            question=_text(400),
            ground_truth=_text(400),
            step={"type": ["integer", "null"], "minimum": 1, "maximum": MAX_STEPS},
            regions=_list(_REGION, 0, MAX_REGIONS),
            weight={"type": "integer", "minimum": 1, "maximum": 10},
        ),
        MIN_CRITERIA,
        MAX_CRITERIA,
    )
)

OUTCOME: Schema = _object(
    final_answer=_text(400),
    reason=_text(400),
    verdict={"type": "string", "enum": ["right", "wrong", "unclear"]},
)


def scoring_schema(n: int) -> Schema:
    """Return the schema of a scoring reply for `n` criteria."""
    score = {"type": ["integer", "null"], "minimum": 1, "maximum": 5}
    entry = _object(id=_text(40), quote=_text(500), reason=_text(400), score=score)
    return _object(scores=_list(entry, n, n))


def mapping_schema(n: int, leaves: Sequence[str]) -> Schema:
    """Return the schema of a mapping reply for `n` criteria.

    Args:
        n: how many criteria are mapped.
        leaves: the paths to choose from; listed in the schema unless they are too many.

    Returns:
        The schema.
    """
    leaf: Schema = {"type": ["string", "null"], "maxLength": 600}
    if len(leaves) <= MAX_LISTED_LEAVES and sum(map(len, leaves)) <= MAX_LISTED_CHARACTERS:
        leaf = {"type": ["string", "null"], "enum": [*leaves, None]}
    return _object(mappings=_list(_object(id=_text(40), leaf=leaf), n, n))


def propose_schema(n: int) -> Schema:
    """Return the schema of a proposal for `n` criteria."""
    add = _object(path=_text(300), name=_text(120), meaning=_text(400))
    place = _object(id=_text(40), leaf=_text(600))
    return _object(adds=_list(add, 0, 3 * n), places=_list(place, 0, n))


def same_schema(n: int) -> Schema:
    """Return the schema of a reply about `n` pairs of nodes."""
    entry = _object(id=_text(40), reason=_text(400), same={"type": "boolean"})
    return _object(pairs=_list(entry, n, n))
