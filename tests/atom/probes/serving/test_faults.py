import json

import pytest

from atom.probes.serving.faults import (
    ALL_FAULTS,
    CONTENT_FAULTS,
    OUTCOME_FAULTS,
    TRANSPORT_FAULTS,
    FaultPlan,
    spoil,
)

REQUESTS = [f'{{"n": {n}}}'.encode() for n in range(4000)]


def test_rates_are_met():
    plan = FaultPlan(rates={"reset": 0.1, "refusal": 0.05, "rate_limit": 0.2})
    drawn = [plan.draw(request) for request in REQUESTS]
    # Standard errors are below .007.
    assert drawn.count("reset") / 4000 == pytest.approx(0.1, abs=0.02)
    assert drawn.count("refusal") / 4000 == pytest.approx(0.05, abs=0.02)
    assert drawn.count("rate_limit") / 4000 == pytest.approx(0.2, abs=0.02)
    assert drawn.count(None) / 4000 == pytest.approx(0.65, abs=0.03)


def test_equal_requests_meet_equal_faults():
    plan = FaultPlan(rates={fault: 1 / len(ALL_FAULTS) for fault in ALL_FAULTS})
    drawn = [plan.draw(request) for request in REQUESTS]
    assert drawn == [plan.draw(request) for request in reversed(REQUESTS)][::-1]
    assert set(drawn) == set(ALL_FAULTS)
    assert drawn != [plan.model_copy(update={"seed": 1}).draw(request) for request in REQUESTS]


@pytest.mark.parametrize("fault", ALL_FAULTS)
def test_transport_faults_are_gone_on_the_next_try(fault):
    plan = FaultPlan(rates={fault: 1.0}, tries=2)
    stays = fault if fault not in TRANSPORT_FAULTS else None
    assert [plan.draw(b"x", n) for n in (1, 2, 3)] == [fault, fault, stays]


def test_no_rates_no_faults():
    assert FaultPlan().draw(b"x") is None


SCORES = json.dumps({"scores": [{"id": "a", "score": 3}, {"id": "b", "score": 5}]})
CRITERIA = json.dumps({"criteria": [{"question": "q", "weight": 10}]})


def test_forms_of_a_good_reply_hold_it_whole():
    for fault in ("fenced_json", "think_block", "prose_before_json"):
        spoilt = spoil(SCORES, fault)
        assert SCORES in spoilt
        with pytest.raises(json.JSONDecodeError):
            json.loads(spoilt)


def test_spoilt_items():
    assert json.loads(spoil(SCORES, "score_seven"))["scores"][1] == {"id": "b", "score": 7}
    assert len(json.loads(spoil(SCORES, "missing_id"))["scores"]) == 1
    assert [s["id"] for s in json.loads(spoil(SCORES, "duplicate_id"))["scores"]] == ["a", "b", "b"]
    assert json.loads(spoil(CRITERIA, "weights_off"))["criteria"][0]["weight"] == 13


@pytest.mark.parametrize("fault", ["score_seven", "weights_off", "missing_id", "duplicate_id"])
def test_a_fault_that_does_not_fit_changes_nothing(fault):
    for content in ('{"verdict": "right"}', '{"scores": []}', "[1]", '{"scores": [1]}'):
        assert spoil(content, fault) == content
    assert spoil(CRITERIA, "missing_id") == CRITERIA


def test_the_kinds_are_disjoint():
    assert len(set(ALL_FAULTS)) == len(TRANSPORT_FAULTS + OUTCOME_FAULTS + CONTENT_FAULTS)
