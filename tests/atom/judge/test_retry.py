"""May I, how long, and the loop."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from atom.judge.retry import (
    AttemptFailed,
    Fault,
    RetryPolicy,
    http_fault,
    retry_hint,
    wait_before,
    with_retries,
)
from atom.judge.servers.dialect import SentRequest

NOW = datetime(2026, 11, 27, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after-ms": "250", "retry-after": "3"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "3"}, 3.0),
        ({"retry-after": "Fri, 27 Nov 2026 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Fri, 27 Nov 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "Fri, 27 Nov 2026 12:00:30"}, 30.0),
        # 12:00:30 on that day is 1,795,780,830 s after 1970 began.
        ({"retry-after": "1795780830"}, 30.0),
        ({"retry-after": "1795780830000"}, 30.0),
        ({"retry-after": "1795780000"}, 0.0),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "tomorrow"}, None),
    ],
)
def test_hints(headers, seconds):
    assert retry_hint(headers, NOW) == seconds


def test_waits_double_up_to_a_cap_less_some_jitter():
    policy = RetryPolicy(first_wait=1.0, longest_wait=10.0)
    assert [wait_before(n, None, policy, 0.0) for n in range(1, 7)] == [1, 2, 4, 8, 10, 10]
    assert wait_before(1, None, policy, 1.0) == 0.75


def test_a_hint_goes_first_and_is_never_undercut():
    policy = RetryPolicy()
    assert wait_before(1, 60.0, policy, 0.0) == 60.0
    assert wait_before(1, 60.0, policy, 1.0) == 62.0
    assert wait_before(1, 4.0, policy, 1.0) == 5.0


@pytest.mark.parametrize(
    ("status", "message", "pictures", "kind"),
    [
        (429, "slow down", False, "transient"),
        (529, "overloaded", False, "transient"),
        (500, "boom", True, "transient"),
        (429, "You exceeded your current quota", False, "quota"),
        (403, "Insufficient balance", False, "quota"),
        (400, "bad", True, "permanent"),
        (500, "image input is not supported - hint: mmproj", True, "picture"),
        (500, "image input is not supported - hint: mmproj", False, "transient"),
        (400, "This model does not support image input", True, "picture"),
        (400, "this model doesn't support images", True, "picture"),
        (404, "No endpoints found that support image input", True, "picture"),
        (400, "unknown variant `image_url`, expected `text`", True, "picture"),
        (400, "some/model is not a multimodal model", True, "picture"),
        (400, "At most 0 image(s) may be provided in one request.", True, "picture"),
        (
            400,
            "Invalid content type. image_url is only supported by certain models",
            True,
            "picture",
        ),
        (400, "We do not support image files of this type", True, "permanent"),
        (400, "The image data you provided is not valid", True, "permanent"),
        (400, "image format is not supported by the decoder, send PNG", True, "permanent"),
        (401, "response_format", False, "permanent"),
        (400, "The prompt was blocked by our content management policy", False, "filtered"),
        (403, "Input was flagged by moderation", False, "filtered"),
        (400, "Your credit balance is too low to access the API", False, "quota"),
    ],
)
def test_kinds(status, message, pictures, kind):
    sent = SentRequest(sides=((640, 480),) if pictures else ())
    assert http_fault(status, {}, {"message": message}, sent=sent).kind == kind


def test_a_refusal_of_something_that_was_not_sent_teaches_nothing():
    body = {"message": "unknown field stream_options", "param": "stream_options"}
    assert http_fault(400, {}, body).kind == "permanent"
    streamed = SentRequest(parts=frozenset({"stream", "stream_options"}))
    assert http_fault(400, {}, body, sent=streamed).kind == "refused"


def test_an_error_in_a_200_is_judged_by_its_own_code():
    gone = {"object": "error", "message": "The model `m` does not exist.", "code": 404}
    fault = http_fault(200, {}, gone)
    assert (fault.kind, fault.status) == ("permanent", 404)
    assert fault.message == (
        "The server answered an error in a 200 reply (code 404): The model `m` does not exist."
    )
    assert http_fault(200, {}, {"error": {"message": "busy", "code": 503}}).crowded
    assert http_fault(200, {}, {"error": "no code"}).kind == "transient"


def test_a_body_may_say_how_long_to_wait():
    body = [{"error": {"message": "quota", "details": [{"retryDelay": "17.5s"}]}}]
    assert http_fault(429, {}, body).hint == 17.5
    assert http_fault(429, {"retry-after": "3"}, body).hint == 3.0


async def test_the_loop_counts_and_sleeps(patience):
    faults = [Fault(kind="transient", message="a."), Fault(kind="transient", message="b.")]

    async def attempt(left):
        if faults:
            raise AttemptFailed(faults.pop(0))
        return left

    left = await with_retries(attempt, RetryPolicy(max_seconds=100), patience.timing)
    assert patience.slept == [0.5, 1.0]
    assert left == pytest.approx(98.5, abs=0.2)


async def test_the_loop_lets_other_faults_through_at_once(patience):
    async def attempt(left):
        raise AttemptFailed(Fault(kind="permanent", message="no."))

    with pytest.raises(AttemptFailed, match=r"^no\.$"):
        await with_retries(attempt, RetryPolicy(), patience.timing)
    assert patience.slept == []


async def test_the_loop_says_why_it_gave_up(patience):
    async def attempt(left):
        raise AttemptFailed(Fault(kind="transient", message="no.", hint=50.0))

    with pytest.raises(AttemptFailed, match="Gave up after 1 try: the server asks to wait 50 s"):
        await with_retries(attempt, RetryPolicy(max_seconds=20), patience.timing)
    with pytest.raises(AttemptFailed, match="Gave up after 2 tries"):
        await with_retries(attempt, RetryPolicy(max_tries=2), patience.timing)


async def test_a_wait_that_is_kept_elsewhere_is_not_slept_here(patience):
    told = []

    async def attempt(left):
        if not told:
            raise AttemptFailed(Fault(kind="transient", message="no.", status=429, hint=5.0))
        return "done"

    def elsewhere(fault, wait):
        told.append((fault.status, wait))
        return True

    done = await with_retries(attempt, RetryPolicy(), patience.timing, paused_elsewhere=elsewhere)
    assert (done, told, patience.slept) == ("done", [(429, 5.0)], [])
