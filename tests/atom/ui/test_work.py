from atom.engine.jobs import Job
from atom.errors import UsageError
from atom.ui import work


def test_what_is_quick_is_over_when_it_was_started():
    assert work.state_of(work.start("quick", lambda: 7)).result == 7


def test_a_job_that_fails_says_why():
    def fail():
        raise UsageError("no such thing")

    state = work.state_of(work.start("wrong", fail))
    assert (state.status, state.result, state.error) == ("failed", None, "no such thing")


def test_a_job_that_the_server_knows_no_more_has_failed():
    state = work.state_of("gone")
    assert (state.status, state.error) == ("failed", work.LOST)


def test_a_job_can_say_how_far_it_is():
    async def count(job: Job[object]) -> object:
        job.say("1 row\n")
        return None

    assert work.state_of(work.begin("count", count)).text == "1 row\n"
