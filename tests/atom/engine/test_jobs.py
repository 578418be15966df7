from __future__ import annotations

import asyncio
import threading

from atom.engine.jobs import Jobs, Looks
from atom.errors import UsageError


def test_a_job_tells_what_streams_in_and_what_came_of_it():
    async def work(job):
        job.say("two ")
        job.say("words")
        return 42

    ended = Jobs().start("count", work).wait(10)
    assert (ended.status, ended.text, ended.result, ended.error) == ("done", "two words", 42, "")


def test_an_error_is_told_in_its_own_words():
    async def work(_job):
        raise UsageError("say which")

    ended = Jobs().start("fail", work).wait(10)
    assert (ended.status, ended.error) == ("failed", "say which")


def test_a_slip_is_told_too():
    async def work(_job):
        raise ZeroDivisionError("oh")

    assert Jobs().start("slip", work).wait(10).error == "ZeroDivisionError: oh"


def test_a_job_can_be_cancelled_and_keeps_what_it_said():
    async def work(job):
        job.say("so far")
        await asyncio.sleep(60)

    job = Jobs().start("wait", work)
    while job.snapshot().text != "so far":
        pass
    job.cancel()
    job.cancel()
    ended = job.wait(10)
    assert (ended.status, ended.text) == ("cancelled", "so far")


def test_cancelling_before_it_begins_is_enough():
    async def work(_job):
        await asyncio.sleep(60)

    jobs = Jobs()
    started = [jobs.start(str(n), work) for n in range(5)]
    for job in jobs.running():
        job.cancel()
    assert {job.wait(10).status for job in started} == {"cancelled"}
    assert jobs.running() == []


def test_jobs_are_found_by_name_and_old_ones_are_forgotten(monkeypatch):
    monkeypatch.setattr("atom.engine.jobs.KEPT", 2)

    async def work(_job):
        return 1

    jobs = Jobs()
    started = []
    for number in range(5):
        started.append(jobs.start(str(number), work))
        started[-1].wait(10)
    assert jobs.get(started[-1].id) is started[-1]
    assert jobs.get(started[0].id) is None
    assert jobs.get("unknown") is None


def test_what_several_readers_want_is_worked_out_once():
    looks, asked = Looks(Jobs()), []
    for who in ("a", "b"):
        assert looks.join("same", who, "look", lambda: asked.append(1) or 7).wait(10).result == 7
    assert asked == [1]
    looks.forget("same")
    assert looks.join("same", "a", "look", lambda: 8).wait(10).result == 8


def test_a_look_that_failed_is_tried_anew():
    def fail():
        raise UsageError("not yet")

    looks = Looks(Jobs())
    assert looks.join("it", "a", "look", fail).wait(10).error == "not yet"
    assert looks.join("it", "a", "look", lambda: 1).wait(10).result == 1


def test_looks_take_turns_and_what_nobody_wants_any_more_is_not_begun():
    gate, began = threading.Event(), []

    def slow():
        began.append("slow")
        return gate.wait(10)

    looks = Looks(Jobs(), at_once=1)
    first = looks.join("first", "a", "look", slow)
    while not began:
        first.wait(0.01)
    left = looks.join("second", "a", "look", lambda: began.append("second"))
    kept = looks.join("third", "a", "look", lambda: began.append("third"))
    for who in ("b", "a"):
        looks.join("third", who, "look", lambda: None)
    looks.leave("second", "a")  # the only one who wanted it
    looks.leave("third", "a")  # another one wants it still
    assert left.wait(10).status == "cancelled"
    assert began == ["slow"]
    gate.set()
    assert (first.wait(10).status, kept.wait(10).status) == ("done", "done")
    assert began == ["slow", "third"]


def test_a_look_that_is_dropped_at_work_gives_its_turn_back():
    gate, began = threading.Event(), threading.Event()

    def slow():
        began.set()
        return gate.wait(10)

    looks = Looks(Jobs(), at_once=1)
    dropped = looks.join("it", "a", "look", slow)
    assert began.wait(10)
    looks.leave("it", "a")
    gate.set()
    assert dropped.wait(10).status == "cancelled"
    assert looks.join("next", "a", "look", lambda: 3).wait(10).result == 3
