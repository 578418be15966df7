"""The probe judge as a writer: exact by default, and noisy where it is asked to be."""

from __future__ import annotations

import json

import pytest

from atom.probes.draws import Draws
from atom.probes.reporting import INVENTED, write_report
from atom.probes.serving.endpoint import ProbeEndpoint

DATA = {
    "section": "model-a",
    "study": {},
    "parts": [{"part": "stand", "title": "x"}, {"part": "weak", "title": "y"}],
    "findings": [
        {"id": "F1", "part": "stand", "says": "It has 62.1 of 100."},
        {"id": "F2", "part": "stand", "says": "It is right in 40 %."},
    ],
    "cases": [{"criterion": "How high?", "truth": "5", "score": 1, "finding": "F2"}],
}


def test_every_finding_is_told_in_its_part_and_empty_parts_are_left_out():
    (paragraph,) = write_report(DATA, None)["paragraphs"]
    assert (paragraph["part"], paragraph["findings"]) == ("stand", ["F1", "F2"])
    assert paragraph["text"].startswith("It has 62.1 of 100. It is right in 40 %. A case shows it")


def test_the_noisy_judge_changes_one_number_and_names_a_model_that_is_not_there():
    (paragraph,) = write_report(DATA, Draws("report", "p", "0"))["paragraphs"]
    # 62.1 + 7.3
    assert "It has 69.4 of 100." in paragraph["text"]
    assert INVENTED in paragraph["text"]


@pytest.mark.parametrize(
    "data", [{}, {"parts": "x", "findings": 3}, {"parts": [1], "findings": []}]
)
def test_odd_data_gives_no_paragraph(data):
    assert write_report(data, None) == {"paragraphs": []}


def test_the_endpoint_answers_the_task(make_payload):
    payload = make_payload((), "probe-judge", "report", data=DATA)
    document = json.loads(ProbeEndpoint().respond(json.dumps(payload).encode()).body)
    said = json.loads(document["choices"][0]["message"]["content"])
    assert said == write_report(DATA, None)
