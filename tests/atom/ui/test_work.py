import threading

from streamlit.testing.v1 import AppTest

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


def test_what_takes_longer_says_so_at_once_and_then_goes_on():
    """Walk B5: once a copy of ten seconds gave no sign until it was over."""

    def page() -> None:
        import streamlit as st

        from atom.ui import work

        if work.ended(st.session_state["job"], "Copying the study…") is not None:
            st.text("copied")

    released = threading.Event()
    test = AppTest.from_function(page, default_timeout=60)
    test.session_state["job"] = work.start("copy", lambda: released.wait(60))
    test.run()
    (shown,) = test.get("bidi_component")
    assert "Copying the study" in shown.proto.json
    assert "status" in shown.proto.json
    assert not test.text
    released.set()
    for job in work.jobs().running():
        job.wait(60)
    test.run()
    assert [one.value for one in test.text] == ["copied"]
