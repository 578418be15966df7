"""Proposals and comparisons through the endpoint."""

import json

import pytest

from atom.probes.serving.endpoint import ProbeEndpoint
from atom.probes.serving.judges import LOOSE_NAMER
from atom.probes.worlds import leaves as at

SEPARATOR = " › "
QUESTION = (
    "How many V lie between the needle's reading and the start of the red zone? Give the smallest "
    "division, the reading and the start of the zone as well."
)


@pytest.fixture
def told(make_payload):
    """Return a function that asks a judge about data, without a picture."""

    def tell(task, data, model="probe-judge"):
        payload = make_payload((), model, task, data=data)
        reply = ProbeEndpoint().respond(json.dumps(payload).encode())
        document = json.loads(reply.body)
        if reply.status != 200:
            return reply.status, document["error"]["message"]
        return json.loads(document["choices"][0]["message"]["content"])

    return tell


def data(tree=None):
    criteria = [
        {"id": "1", "question": "What value does the needle show?", "ground_truth": "42"},
        {"id": "2", "question": "At which value does the red zone start?", "ground_truth": "50"},
        {"id": "3", "question": "Who made the dial?", "ground_truth": "me"},
    ]
    return {
        "roots": [],
        "tree": tree or {},
        "samples": [{"question": QUESTION, "criteria": criteria}],
    }


def test_the_exact_judge_proposes_the_planted_path(told):
    reply = told("propose", data())
    assert reply["places"] == [
        {"id": "1", "leaf": SEPARATOR.join(at.NEEDLE)},
        {"id": "2", "leaf": SEPARATOR.join(at.ZONE)},
    ]
    assert [add["name"] for add in reply["adds"]] == [*at.NEEDLE[1:], at.ZONE[3]]
    assert reply["adds"][0]["path"] == "Perception"


def test_what_the_tree_has_is_not_added(told):
    tree = {"Perception": {"Fine detail": {"Reading scales": {"Needle": ""}}}}
    reply = told("propose", data(tree))
    assert [add["name"] for add in reply["adds"]] == ["Zone boundary"]


def test_the_loose_judge_adds_what_it_names(told):
    reply = told("propose", data(), LOOSE_NAMER)
    added = {f"{add['path']}{SEPARATOR}{add['name']}" for add in reply["adds"]}
    assert {place["leaf"] for place in reply["places"]} <= added
    assert reply == told("propose", data(), LOOSE_NAMER)


def test_names_that_say_nothing(told):
    paths = (at.NEEDLE, (*at.NEEDLE[:3], "Various things"), (*at.NEEDLE[:3], at.NEEDLE[2]))
    leaves = [
        {"id": str(n), "path": SEPARATOR.join(path), "meaning": "", "examples": []}
        for n, path in enumerate(paths)
    ]
    reply = told("vague", {"leaves": leaves})
    assert [row["vague"] for row in reply["leaves"]] == [False, True, True]


def test_pairs(told):
    def node(path):
        return {"path": SEPARATOR.join(path), "meaning": "", "examples": []}

    loose = (*at.NEEDLE[:3], "Dial value")
    pairs = [
        {"id": "1", "first": node(at.NEEDLE), "second": node(loose)},
        {"id": "2", "first": node(at.NEEDLE), "second": node(at.ZONE)},
    ]
    reply = told("same", {"pairs": pairs})
    assert [(row["id"], row["same"]) for row in reply["pairs"]] == [("1", True), ("2", False)]


@pytest.mark.parametrize(
    ("task", "given"),
    [
        ("propose", {}),
        ("propose", {"samples": [4]}),
        ("propose", {"samples": [{"question": QUESTION}]}),
        ("same", {}),
        ("same", {"pairs": [{"id": "1", "first": "x", "second": {"path": "y"}}]}),
        ("same", {"pairs": [{"id": "1", "first": {"path": ""}, "second": {"path": "y"}}]}),
    ],
)
def test_bad_data_is_refused_in_words(told, task, given):
    status, message = told(task, given)
    assert status == 400
    assert "must be" in message


def test_an_odd_tree_is_no_trouble(told):
    for tree in ({"Perception": 4}, {"Perception": {"A": {"B": {"C": {"D": ["E"]}}}}}, []):
        assert len(told("propose", {**data(), "tree": tree})["places"]) == 2
