import json

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from atom.analysis.reasons.groups import group_reasons
from atom.analysis.reasons.naming import KINDS
from atom.probes.errors import DIMENSIONS, EMBEDDER, embed, name_groups
from atom.probes.serving.endpoint import ProbeEndpoint
from tests.atom.analysis.reasons.planted import planted


def ask(body):
    reply = ProbeEndpoint().handle("POST", "/v1/embeddings", {}, json.dumps(body).encode())
    return reply.status, json.loads(reply.body)


@pytest.mark.slow
def test_planted_kinds_are_found_again_by_vectors_where_wordings_share_no_word():
    texts, kinds = planted(600)
    vectors = {text: np.array(embed(text)) for text in set(texts)}
    by_vectors = adjusted_rand_score(kinds, group_reasons(texts, vectors=vectors).code)
    by_words = adjusted_rand_score(kinds, group_reasons(texts).code)
    assert by_vectors > 0.9
    assert by_vectors > by_words + 0.2


def test_vectors_come_over_the_protocol_and_say_that_they_are_synthetic():
    status, told = ask({"model": EMBEDDER, "input": ["not mentioned", "misread"]})
    assert (status, told["synthetic"], told["model"]) == (200, True, EMBEDDER)
    assert [row["embedding"] for row in told["data"]] == [embed("not mentioned"), embed("misread")]
    assert len(told["data"][0]["embedding"]) == DIMENSIONS
    _, packed = ask({"model": EMBEDDER, "input": "misread", "encoding_format": "base64"})
    assert isinstance(packed["data"][0]["embedding"], str)
    assert told["usage"]["prompt_tokens"] > 0


def test_what_gives_no_vectors_is_refused_in_words():
    assert ask({"model": "probe-judge", "input": ["x"]})[0] == 404
    for wrong in ([], [""], [1], None, ["x"] * 2049):
        status, told = ask({"model": EMBEDDER, "input": wrong})
        assert (status, "`input`" in told["error"]["message"]) == (400, True)
    assert ask({"model": EMBEDDER, "input": "x", "encoding_format": "int8"})[0] == 400
    assert ask([1])[0] == 400


def test_groups_are_named_by_the_words_of_their_kind():
    groups = [
        {"number": 1, "words": ["not mentioned"], "reasons": ["It omits the year."]},
        {"number": 2, "words": ["never stated"], "reasons": ["It leaves out the sum."]},
        {"number": 3, "words": [], "reasons": ["hm"]},
    ]
    told = name_groups({"groups": groups})["names"]
    assert [one["kind"] for one in told] == ["omission", "omission", "other"]
    assert len({one["name"] for one in told}) == 3
    assert {one["kind"] for one in told} <= set(KINDS)
    assert name_groups({}) == {"names": []}
