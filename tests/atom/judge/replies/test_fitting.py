"""What is fitted to a schema, and what isn't."""

import pytest

from atom.judge.replies.fitting import fitted
from atom.stages.schemas import OUTCOME, REPLAY, an_object, mapping_schema, same_schema

NUMBER = an_object(n={"type": ["integer", "null"], "minimum": 1, "maximum": 5})


@pytest.mark.parametrize(
    ("value", "made"),
    [
        ("4", 4), ("4/5", 4), ([4], 4), (4.0, 4), ("null", None), ("n/a", None),
        # Another value would be said, or nothing is sure: it stays, and the schema refuses it.
        ("4/10", "4/10"), (4.5, 4.5), ("4.5", "4.5"), ("30%", "30%"), (True, True), ("x", "x"),
    ],
)  # fmt: skip
def test_whole_numbers(value, made):
    assert fitted({"n": value}, NUMBER)[0] == {"n": made}


def test_what_is_done_is_told_once_and_what_fits_is_left_alone():
    assert fitted({"n": 4}, NUMBER) == ({"n": 4}, ())
    made, notes = fitted({"N": "4", "more": 1}, NUMBER)
    assert made == {"n": 4}
    assert notes == (
        "the key 'N' was read as 'n'",
        "'4' was read as 4",
        "the key 'more', which wasn't asked for, was left out",
    )


def test_a_key_is_renamed_only_where_its_place_is_free():
    assert fitted({"n": 4, "N": 5}, NUMBER)[0] == {"n": 4}


def test_words_and_truth_values():
    said = {"final_answer": 7, "reason": None, "verdict": "Right."}
    assert fitted(said, OUTCOME)[0] == {"final_answer": "7", "reason": "", "verdict": "right"}
    assert fitted({"verdict": "rightish"}, OUTCOME)[0] == {"verdict": "rightish"}
    pair = {"id": "1", "reason": "", "same": "yes"}
    assert fitted({"pairs": [pair]}, same_schema(1))[0]["pairs"][0]["same"] is True


def test_a_leaf_is_never_made_up():
    schema = mapping_schema(1, ("A › B › C › D",))

    def leaf(value):
        return fitted({"mappings": [{"id": "c1", "leaf": value}]}, schema)[0]["mappings"][0]["leaf"]

    assert leaf("a ›  b › c › d") == "A › B › C › D"
    assert leaf("none") is None
    assert leaf("A › B › C") == "A › B › C"
    missing = fitted({"mappings": [{"id": "c1"}]}, schema)[0]["mappings"]
    assert missing == [{"id": "c1"}]


def test_asides_may_be_left_out():
    made, notes = fitted({"steps": [{"text": "a"}], "final_answer": "7"}, REPLAY)
    assert made == {"looking": "", "steps": [{"text": "a", "regions": []}], "final_answer": "7"}
    assert len(notes) == 2
