"""What a run of a judge benchmark says that it would ask."""

from __future__ import annotations

from atom.engine.bench.judging import BenchForecast
from atom.engine.endpoints.configured import built_in

ENDPOINTS = {endpoint.name: endpoint for endpoint in built_in()}


def test_what_is_asked_first_is_priced_and_what_follows_is_named():
    facts = BenchForecast(items=4, calls={"probe-judge": 2}, later=True).facts(ENDPOINTS)
    assert facts.head == "4 items: 2 calls to probe-judge, free, offline."
    assert facts.more == ("What it writes is then scored, which comes on top.",)


def test_where_only_scoring_is_left_nothing_says_that_nothing_is_left():
    facts = BenchForecast(items=4, calls={"probe-judge": 0}, later=True).facts(ENDPOINTS)
    assert facts.head == "All first questions are answered; what they need scored is left."
    assert facts.more == ()


def test_where_all_verdicts_are_there_nothing_is_left():
    facts = BenchForecast(items=4, calls={"probe-judge": 0}).facts(ENDPOINTS)
    assert facts.head.startswith("Nothing is left to ask")
