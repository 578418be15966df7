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
MAX_TRUTH = 1500
"""Characters of a ground truth or final answer: a text that was asked for may be long."""
MAX_REGIONS = 24
MAX_LISTED_LEAVES = 250
"""A tree with more leaves, or with longer ones, is checked by the gate alone."""
MAX_LISTED_CHARACTERS = 12_000


def an_object(**properties: object) -> Schema:
    """Return the schema of an object with these keys and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def a_text(most: int) -> Schema:
    """Return the schema of a text of at most so many characters."""
    return {"type": "string", "maxLength": most}


def a_list(item: object, least: int, most: int) -> Schema:
    """Return the schema of a list."""
    return {"type": "array", "items": item, "minItems": least, "maxItems": most}


def a_whole(least: int, most: int) -> Schema:
    """Return the schema of a whole number."""
    return {"type": "integer", "minimum": least, "maximum": most}


def one_of(*words: str) -> Schema:
    """Return the schema of a word among some."""
    return {"type": "string", "enum": list(words)}


# No bounds on a box: where a model writes pixels or fractions, they are to be read as that.
_REGION = an_object(
    picture=a_whole(1, 64),
    box=a_list({"type": "number"}, 4, 4),
)

REPLAY: Schema = an_object(
    looking=a_text(2000),
    steps=a_list(
        an_object(text=a_text(800), regions=a_list(_REGION, 0, MAX_REGIONS)), 0, MAX_STEPS
    ),
    final_answer=a_text(MAX_TRUTH),
)

CRITERIA: Schema = an_object(
    conflict=a_text(600),
    criteria=a_list(
        an_object(
            question=a_text(400),
            ground_truth=a_text(MAX_TRUTH),
            step={"type": ["integer", "null"], "minimum": 1, "maximum": MAX_STEPS},
            regions=a_list(_REGION, 0, MAX_REGIONS),
            weight=a_whole(1, 10),
        ),
        0,
        MAX_CRITERIA,
    ),
)


def maybe(*words: str) -> Schema:
    """Return the schema of a word among some, or null."""
    return {"enum": [*words, None]}


ASK: Schema = an_object(
    page=maybe("overview", "tree", "fingerprints", "failures", "compare"),
    models=a_list(a_text(200), 0, 2),
    capability=a_text(600),
    labels=a_list(an_object(facet=a_text(200), value=a_text(200)), 0, 4),
    facet=a_text(200),
    measure=maybe("process", "outcome", "preference"),
    outcome=maybe("right", "wrong"),
    process=maybe("sound", "flawed"),
    show=one_of("failed", "imperfect", "unscored", "all"),
    layout=one_of("list", "grid", "groups"),
    tab=maybe("answers", "apart", "errors"),
    sort=one_of("loss", "failed", "score", "models", "spread"),
    search=a_text(120),
    sample={"anyOf": [a_whole(1, 10_000_000), {"type": "null"}]},
    not_understood=a_list(a_text(200), 0, 12),
)
"""A question in words as a view (`atom.asked.view_request.ViewRequest`)."""
NAME_GROUPS: Schema = an_object(
    names=a_list(
        an_object(number=a_whole(1, 99), kind=a_text(40), name=a_text(80), says=a_text(400)), 1, 24
    ),
)
"""A judge's names of groups of reasons."""
OUTCOME: Schema = an_object(
    final_answer=a_text(400),
    reason=a_text(400),
    verdict=one_of("right", "wrong", "unclear"),
)


def scoring_schema(n: int) -> Schema:
    """Return the schema of a scoring reply for `n` criteria."""
    score = {"type": ["integer", "null"], "minimum": 1, "maximum": 5}
    flag: Schema = {"type": "boolean"}
    entry = an_object(
        id=a_text(40),
        quote=a_text(500),
        reason=a_text(400),
        addressed=flag,
        score=score,
        carried=flag,
    )
    return an_object(scores=a_list(entry, n, n))


def mapping_schema(n: int, leaves: Sequence[str]) -> Schema:
    """Return the schema of a mapping reply for `n` criteria.

    Args:
        n: how many criteria are mapped.
        leaves: the paths to choose from; listed in the schema unless they are too many.
    """
    leaf: Schema = {"type": ["string", "null"], "maxLength": 600}
    if len(leaves) <= MAX_LISTED_LEAVES and sum(map(len, leaves)) <= MAX_LISTED_CHARACTERS:
        leaf = {"type": ["string", "null"], "enum": [*leaves, None]}
    return an_object(mappings=a_list(an_object(id=a_text(40), leaf=leaf), n, n))


def propose_schema(n: int) -> Schema:
    """Return the schema of a proposal for `n` criteria."""
    add = an_object(path=a_text(300), name=a_text(120), meaning=a_text(400))
    place = an_object(id=a_text(40), leaf=a_text(600))
    return an_object(adds=a_list(add, 0, 3 * n), places=a_list(place, 0, n))


def same_schema(n: int) -> Schema:
    """Return the schema of a reply about `n` pairs of nodes."""
    entry = an_object(id=a_text(40), reason=a_text(400), same={"type": "boolean"})
    return an_object(pairs=a_list(entry, n, n))


def vague_schema(n: int) -> Schema:
    """Return the schema of a reply about `n` leaves."""
    entry = an_object(id=a_text(40), reason=a_text(400), vague={"type": "boolean"})
    return an_object(leaves=a_list(entry, n, n))
