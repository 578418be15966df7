"""What counts as a change of which study, on both kinds of database."""

from __future__ import annotations

import pytest

from atom.engine.ledger import RunLedger, take_hold
from atom.engine.process import owner_name
from atom.records import Run, Study, StudySample
from atom.store import Store
from atom.store.together.revisions import StudyMoment, held


@pytest.fixture
def store(location):
    """Return two studies that share the sample `x`; `b` has `y` alone. A run of `a` is held."""
    with Store.open(location) as opened:
        opened.put([
            Study(id="a", name="A", created=""), Study(id="b", name="B", created=""),
            StudySample(study_id="a", sample_id="x", position=0),
            StudySample(study_id="b", sample_id="x", position=0),
            StudySample(study_id="b", sample_id="y", position=1),
            Run(id="r", study_id="a", stages=("scoring",), created="", heartbeat=""),
        ])  # fmt: skip
        with opened.write() as writer:
            take_hold(writer, "r")
        yield opened


def ledger(store) -> RunLedger:
    return RunLedger(store=store, run_id="r", study_id="a", owner=owner_name("r"))


def test_signs_of_life_and_claims_change_no_study(store):
    before = store.mark("a"), store.mark("b"), store.mark()
    mine = ledger(store)
    assert mine.take_over() is None
    for _ in range(3):
        assert mine.beat("later", 9).account.state == "running"
    assert mine.hold("a call")
    mine.keep([])
    assert (store.mark("a"), store.mark("b"), store.mark()) == before


def test_results_count_in_every_study_that_has_the_sample(store):
    first = {name: store.mark(name) for name in "ab"}
    for number, samples in enumerate((["x"], ["y"], [])):
        store.transact(lambda w, s=samples, n=number: w.touch("a", s, results=n + 1))
    # `a` itself: 1 + 2 + 3 results; `b` by its samples x and y: 1 + 2.
    assert store.mark("a") == first["a"]._replace(results=first["a"].results + 6)
    assert store.mark("b") == first["b"]._replace(results=first["b"].results + 3)
    assert store.revision() == first["a"].changes + 9


def test_a_change_by_hand_is_a_change_of_all(store):
    before = store.mark("a"), store.mark("b")
    store.replace([Study(id="a", name="Other", created="")])
    after = store.mark("a"), store.mark("b")
    assert [new.changes - old.changes for old, new in zip(before, after, strict=True)] == [1, 1]


def test_a_runs_end_is_a_change_and_its_counts_stay_when_it_is_gone(store):
    mine = ledger(store)
    store.transact(lambda writer: writer.touch("a", results=5))
    before = store.mark("a")
    mine.end("done", "", "later", 9)
    assert store.mark("a") == before._replace(changes=before.changes + 1)
    with store.read() as connection:
        stripes = connection.exec_driver_sql("SELECT stripe, changes, results FROM revisions").all()
    assert [tuple(row) for row in stripes] == [("", 1, 5)]


def test_a_study_is_looked_at_where_it_was_while_only_results_come():
    opened = StudyMoment(3, 10)
    assert held(None, opened) == opened
    assert held(opened, StudyMoment(3, 17)) == opened
    assert held(opened, StudyMoment(4, 17)) == StudyMoment(4, 17)
    # A backup was put back: fewer results than were seen.
    assert held(opened, StudyMoment(3, 9)) == StudyMoment(3, 9)
