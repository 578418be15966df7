from __future__ import annotations

import asyncio

from atom.engine.jobs import Jobs
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
    jobs.cancel_all()
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
