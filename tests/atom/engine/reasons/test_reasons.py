"""Groups of failures by embeddings and with a judge's names: paid once, agreed to, taken back."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import httpx2
import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from atom.engine.consent import ConsentNeeded
from atom.engine.reasons import names, vectors
from atom.engine.reasons.choice import use_rule_names, use_words
from atom.errors import JudgeError, UsageError
from atom.judge import JudgeClient
from atom.judge.embedding import EmbeddingClient
from atom.judge.servers.endpoints import builtin_endpoints
from atom.probes.serving.endpoint import ProbeEndpoint
from atom.probes.serving.transport import ProbeTransport
from atom.records import Call, Endpoint, Prices, Study
from atom.stages.reasons.name_groups import GroupMaterial
from atom.store import Store
from atom.store.reading.grouped import grouped_by
from atom.views.failures.grouping import vectors_of
from tests.atom.analysis.reasons.planted import planted

KNOWN = {endpoint.name: endpoint for endpoint in builtin_endpoints()}
FAR = Endpoint(name="far", base_url="https://vectors.example/v1", model="probe-embedding",
               roles=("embedding",), prices=Prices(input=2.0))  # fmt: skip
TEXTS = tuple(sorted(set(planted(200)[0])))
ASKED = names.GroupsToName(
    identity="these", keys=("omission", "omission-2"), kinds=("omission", "other"),
    material=(GroupMaterial(failures=2, words=("not mentioned",), reasons=("It omits it.",)),
              GroupMaterial(failures=1, words=("hm",), reasons=("<b>hm</b>",))),
)  # fmt: skip


class Counting(ProbeEndpoint):
    def __init__(self):
        super().__init__()
        self.bodies = []

    def handle(self, method, path, headers, body):
        self.bodies.append(json.loads(body))
        return super().handle(method, path, headers, body)


@pytest.fixture
def place(tmp_path):
    with Store.open(tmp_path / "store") as store:
        study = Study(id=Study.make_id("s"), name="s")
        store.put([study])
        yield store, study


def embed(place, texts=TEXTS, endpoint=KNOWN["probe-embedding"], server=None, **more):
    store, study = place
    make = (
        EmbeddingClient
        if server is None
        else (lambda one: EmbeddingClient(one, transport=ProbeTransport(server), environ={}))
    )
    return asyncio.run(vectors.embed(store, study, "j", endpoint, texts, make=make, **more))


def test_each_text_is_paid_for_once(place):
    store, study = place
    server = Counting()
    before = vectors.price(store, FAR, TEXTS)
    assert (before.texts, before.missing) == (len(TEXTS), len(TEXTS))
    # 2 USD for a million tokens, 4 letters a token; no price out is needed.
    assert before.cost == pytest.approx(2 * before.tokens / 1e6)
    assert before.tokens == -(-sum(map(len, TEXTS)) // 4)
    used = embed(place, server=server)
    assert (used.model, used.synthetic) == ("probe-embedding", True)
    assert grouped_by(store, study.id, "j") == used
    assert sum(len(body["input"]) for body in server.bodies) == len(TEXTS)
    again = vectors.price(store, FAR, [*TEXTS, "one more reason"])
    assert (again.missing, again.texts) == (1, len(TEXTS) + 1)
    embed(place, texts=[*TEXTS, "one more reason"], server=server)
    assert server.bodies[-1]["input"] == ["one more reason"]
    found = vectors_of(store, "probe-embedding", TEXTS)
    assert all(vector is not None for vector in found.values())
    assert vectors_of(store, "another", TEXTS[:2]) == dict.fromkeys(TEXTS[:2])
    assert use_words(store, study.id, "j").model == ""
    assert vectors.price(store, FAR, TEXTS).cost == 0.0


def test_what_came_before_a_stop_is_kept(place):
    store, _ = place
    texts = [f"reason number {at}" for at in range(100)]

    class Stops(Counting):
        def handle(self, *request):
            if self.bodies:
                return replace(super().handle("POST", "/v1/none", {}, b"{}"), status=400)
            return super().handle(*request)

    with pytest.raises(JudgeError, match="gave no embeddings"):
        embed(place, texts=texts, server=Stops())
    assert vectors.price(store, FAR, texts).missing == 100 - 64
    assert grouped_by(store, place[1].id, "j").model == ""


def test_nothing_leaves_before_somebody_agrees(place):
    store, study = place
    with pytest.raises(ConsentNeeded, match=r"to vectors.example \(far\)"):
        embed(place, endpoint=FAR)
    assert store.select(Call) == []
    assert "no picture" in vectors.consent_question(study, FAR, 3).sentence
    assert vectors.consent_question(study, KNOWN["probe-embedding"], 3) is None
    judge = FAR.model_copy(update={"roles": ("judge",)})
    with pytest.raises(ConsentNeeded, match="2 reasons of failures"):
        asyncio.run(names.name_groups(store, study, "j", judge, ASKED))
    for wrong in (KNOWN["probe-judge"],):
        with pytest.raises(UsageError, match="role embedding"):
            embed(place, endpoint=wrong)
    with pytest.raises(UsageError, match="isn't a judge"):
        asyncio.run(names.name_groups(store, study, "j", FAR, ASKED, agreed=(FAR.host,)))


def test_a_judge_names_groups_once_and_its_names_are_taken_back(place):
    store, study = place
    judge = KNOWN["probe-judge"]
    dear = judge.model_copy(update={"prices": Prices(input=1.0, output=10.0)})
    price = names.price(store, dear, ASKED)
    assert price.tokens > 300
    assert price.cost == pytest.approx(((price.tokens - 120) * 1 + 120 * 10) / 1e6)
    given = asyncio.run(names.name_groups(store, study, "j", judge, ASKED))
    assert [one.kind for one in given.names] == ["omission", "other"]
    kept = grouped_by(store, study.id, "j")
    assert [(one.key, one.name) for one in kept.names] == [
        ("omission", "Leaves it out"), ("omission-2", "Other errors"),
    ]  # fmt: skip
    assert (kept.named_by, kept.named) == ("probe-judge", "these")
    assert names.price(store, dear, ASKED).tokens == 0
    asyncio.run(names.name_groups(store, study, "j", judge, ASKED))
    assert len(store.select(Call)) == 1
    assert use_rule_names(store, study.id, "j").names == ()
    # What is chosen for the marks of one judge holds for no other's.
    assert grouped_by(store, study.id, "other").names == ()


def test_a_judge_that_fails_names_nothing(place):
    class Down(httpx2.AsyncBaseTransport):
        async def handle_async_request(self, request):
            return httpx2.Response(400, json={"error": {"message": "no"}}, request=request)

    store, study = place

    def make(endpoint, spend, pictures):
        return JudgeClient(endpoint, spend=spend, pictures=pictures, transport=Down(), environ={})

    given = asyncio.run(
        names.name_groups(store, study, "j", KNOWN["probe-judge"], ASKED, make=make)
    )
    assert given.names == (None, None)
    assert given.why
    assert grouped_by(store, study.id, "j").names == ()


def test_vectors_of_planted_reasons_tell_kinds_apart(place):
    from atom.analysis.reasons.groups import group_reasons

    texts, kinds = planted(300)
    embed(place, texts=tuple(sorted(set(texts))))
    held = vectors_of(place[0], "probe-embedding", tuple(set(texts)))
    found = group_reasons(texts, vectors={text: np.array(one) for text, one in held.items()})
    assert adjusted_rand_score(kinds, found.code) > 0.9
