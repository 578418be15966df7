import pytest
from jsonschema import Draft202012Validator

from atom.stages import schemas

ALL = {
    "replay": schemas.REPLAY,
    "criteria": schemas.CRITERIA,
    "outcome": schemas.OUTCOME,
    "scoring": schemas.scoring_schema(3),
    "mapping": schemas.mapping_schema(3, ["A › B › C › D"]),
    "mapping, many leaves": schemas.mapping_schema(3, [f"leaf {n}" for n in range(400)]),
}


def nodes(schema):
    yield schema
    for value in schema.values():
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, dict):
                yield from nodes(item)


@pytest.mark.parametrize("name", ALL)
def test_valid_strict_and_bounded(name):
    Draft202012Validator.check_schema(ALL[name])
    for node in nodes(ALL[name]):
        kind = node.get("type")
        if kind == "object":
            assert node["additionalProperties"] is False
            assert node["required"] == list(node["properties"])
        if kind == "array":
            assert node["maxItems"] <= 24
        if kind == "string" or (isinstance(kind, list) and "string" in kind):
            assert "maxLength" in node or "enum" in node


def test_evidence_comes_before_the_verdict():
    entry = ALL["scoring"]["properties"]["scores"]["items"]["properties"]
    assert list(entry) == ["id", "quote", "reason", "addressed", "score", "carried"]
    assert list(schemas.OUTCOME["properties"])[-1] == "verdict"


def test_leaves_are_listed_while_they_are_few():
    leaf = ALL["mapping"]["properties"]["mappings"]["items"]["properties"]["leaf"]
    assert leaf["enum"] == ["A › B › C › D", None]
    many = ALL["mapping, many leaves"]["properties"]["mappings"]["items"]["properties"]["leaf"]
    assert "enum" not in many
