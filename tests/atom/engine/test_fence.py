"""A process that stood still finds itself fenced; two people's changes at once are both kept."""

from __future__ import annotations

import asyncio
import time

import pytest

from atom.engine import execution
from atom.engine.consent import give_consent
from atom.engine.control import run_status
from atom.engine.ledger import RunLedger, run_claim, take_hold
from atom.engine.process import owner_name
from atom.errors import ConflictError, FencedError
from atom.records import Run, Study
from atom.store import Store, rename_study, use_version
from atom.store.holds import drop_hold, hold_of, update_run

GONE = "elsewhere/1/2#r"


@pytest.fixture
def store(tmp_path):
    """Return a store with a study and a run that this process holds."""
    with Store.open(tmp_path) as opened:
        run = Run(id="r", study_id="s", stages=("scoring",), created="", heartbeat="", done=3)
        opened.put([Study(id="s", name="S", created="", tree_version="one"), run])
        with opened.write() as writer:
            take_hold(writer, "r")
        yield opened


def ledger(store, owner=None) -> RunLedger:
    return RunLedger(store=store, run_id="r", study_id="s", owner=owner or owner_name("r"))


def taken_over(store) -> None:
    with store.write() as writer:
        drop_hold(writer, run_claim("r"))
        writer.claim([run_claim("r")], GONE, 60, time.time())


def test_whoever_was_taken_over_writes_nothing_more(store):
    mine = ledger(store)
    assert mine.take_over() is None
    taken_over(store)
    before = store.get(Run, "r")
    for write in (
        lambda: mine.beat("later", 9),
        lambda: mine.keep([]),
        lambda: mine.hold("call"),
        lambda: mine.lease([]),
        lambda: mine.commit([], free=[], total=9, cost=0.0),
        lambda: mine.record(None, [], [], state="scored", total=9, cost=1.0),
        mine.check,
    ):
        with pytest.raises(FencedError, match="taken over by process elsewhere/1/2"):
            write()
    mine.end("failed", "fenced", "later", 9)
    assert store.get(Run, "r") == before
    assert hold_of(store, run_claim("r")).owner == GONE


def test_whoever_wakes_after_another_ended_the_run_changes_nothing(store):
    mine = ledger(store)
    with store.write() as writer:
        drop_hold(writer, run_claim("r"))
        update_run(writer, "r", state="done", message="", heartbeat="", total=3)
    before = store.get(Run, "r")
    with pytest.raises(FencedError, match="brought it to its end"):
        mine.check()
    mine.end("stopped", "it stood still", "later", 9)
    assert store.get(Run, "r") == before


def test_a_run_is_held_from_its_first_moment(store):
    """Fall 25 of design/074."""
    assert run_status(store, "r").alive
    assert hold_of(store, run_claim("r")).owner == owner_name("r")
    assert ledger(store).take_over() is None


class Still(execution.Execution):
    """A part of a run that asks nobody."""

    def _count(self) -> int:
        return 0

    async def _labour(self, group: asyncio.TaskGroup) -> list[asyncio.Task[None]]:
        return []


async def test_a_process_that_slept_past_its_lease_looks_before_it_asks(store, monkeypatch):
    part = Still(execution.RunContext(store=store, run=store.get(Run, "r")), ())
    clock = [time.monotonic()]
    monkeypatch.setattr(execution.time, "monotonic", lambda: clock[0])
    clock[0] += 49
    taken_over(store)
    await part._stay()  # it renewed its lease of 60 s a moment ago: nobody can have taken it
    clock[0] += 2
    with pytest.raises(FencedError):
        await part._stay()


async def test_one_that_slept_unnoticed_stops_since_its_items_may_be_others(store, monkeypatch):
    part = Still(execution.RunContext(store=store, run=store.get(Run, "r")), ())
    clock = [time.monotonic()]
    monkeypatch.setattr(execution.time, "monotonic", lambda: clock[0])
    clock[0] += 64
    await part._stay()
    assert part._stopping == ("stopped", "it stood still for 64 seconds; resume it to go on")


def test_consents_and_a_name_given_at_once_are_all_kept(store, tmp_path, monkeypatch):
    from atom.engine import consent

    find = consent.find_study

    def slowly(opened: Store, name: str) -> Study:
        found = find(opened, name)
        # Between one person's look and their change another one changes the same row.
        monkeypatch.setattr(consent, "find_study", find)
        with Store.open(tmp_path) as other:
            give_consent(other, "s", ["b.example"])
            rename_study(other, "s", "Renamed")
        return found

    monkeypatch.setattr(consent, "find_study", slowly)
    give_consent(store, "s", ["a.example"])
    study = store.get(Study, "s")
    assert set(study.consent) == {"a.example", "b.example"}
    assert study.name == "Renamed"


def test_the_second_of_two_trees_is_refused_as_a_whole(store):
    """Fall 16 of design/074."""

    def second() -> None:
        with store.write() as writer:
            writer.put([Study(id="t", name="T", created="")])
            use_version(writer, "s", "three", instead_of="one")

    with store.write() as writer:
        use_version(writer, "s", "two", instead_of="one")
    with pytest.raises(ConflictError, match="somebody else changed the tree"):
        second()
    assert store.get(Study, "s").tree_version == "two"
    assert store.get(Study, "t") is None
