"""Trying again: may I, how long, and the loop with a cap on tries and on total time."""

from __future__ import annotations

import math
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Literal, TypeVar

from atom.judge.servers.dialect import Lesson, SentRequest
from atom.judge.servers.refusals import lessons_of, speaks_of_form
from atom.judge.servers.words import ServerWords, quoted, read_error
from atom.judge.timing import Timing
from atom.records import Endpoint

T = TypeVar("T")

FaultKind = Literal["transient", "permanent", "quota", "picture", "form", "refused", "filtered"]
"""`transient`: another try may help. All others can't be helped by the same request again:
`quota`: the account has no money left; `picture`: the endpoint takes no pictures; `form`: it
doesn't know the fixed reply form; `refused`: it refuses a part of the request, see `lessons`;
`filtered`: a content filter stopped the question, which is an answer."""

NOTHING_SENT = SentRequest()
CROWDED = frozenset({429, 503, 529})
"""Statuses that say "too busy": fewer requests in flight, and a pause for all."""
_RETRIED = frozenset({408, 409, 429})
_FORM_STATUSES = frozenset({400, 404, 415, 422, 500, 501})

_NO_PICTURES = re.compile(
    r"image input is not supported"
    r"|(?:does(?:n't| not)|do(?:n't| not)|cannot|can't) (?:support|accept|process|take) (?:\w+ )?"
    r"(?:image|picture|vision|multimodal)(?!s? (?:format|type|file|size|url|of|with|larger|above))"
    r"|(?:image_url|images?|vision|multimodal)(?: (?:inputs?|content|messages?|parts?))? "
    r"(?:is|are)(?:n't| not) (?:supported|allowed|enabled)"
    r"|image_url[`'\"]? is only supported by certain models"
    r"|no endpoints found that support image"
    r"|unknown variant [`'\"]?image_url"
    r"|is not a multimodal model"
    r"|at most 0 image",
    re.IGNORECASE,
)
_QUOTA = re.compile(
    r"insufficient_quota|billing_hard_limit|exceeded your current quota"
    r"|insufficient (?:balance|credits)|credit balance is too low",
    re.IGNORECASE,
)
_FILTER = re.compile(
    r"content[_ ]?filter|content[_ ]?policy|content management policy|ResponsibleAIPolicy"
    r"|data_?inspection_?failed|moderation_blocked|(?:was|been) flagged"
    r"|rejected as a result of our safety|usage policy|prompt was blocked|PROHIBITED_CONTENT",
    re.IGNORECASE,
)
_UNIX_TIME = 1e9
"""A Retry-After from here on is a moment, in seconds since 1970; from a thousand times as much on
in milliseconds."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """Why an attempt brought no usable answer.

    Args:
        kind: what can be done about it.
        message: what happened, with the server's own words.
        status: HTTP status; None for a transport fault.
        hint: seconds that the server asked to wait.
        lessons: what the refusal teaches; sent again with them, the request may be taken.
        answered: whether the server did its work and is likely to charge for it: a 200 whose
            body is of no use.
    """

    kind: FaultKind
    message: str
    status: int | None = None
    hint: float | None = None
    lessons: tuple[Lesson, ...] = ()
    answered: bool = False

    @property
    def crowded(self) -> bool:
        """Whether the server is too busy for the requests it gets."""
        return self.kind == "transient" and self.status in CROWDED


class AttemptFailed(Exception):
    """An attempt, or in the end the whole loop, brought no usable answer.

    It never leaves the client, which turns it into `CallGaveUp` or `CallRefused`.
    """

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


@dataclass(frozen=True, kw_only=True, slots=True)
class RetryPolicy:
    """How often and how long to try.

    Args:
        max_tries: attempts at most.
        max_seconds: time for all attempts and waits together.
        first_wait: seconds before the second attempt; doubled each time.
        longest_wait: cap on a wait that the server gave no hint for.
    """

    max_tries: int = 5
    max_seconds: float = 600.0
    first_wait: float = 0.5
    longest_wait: float = 30.0


def wait_before(attempt: int, hint: float | None, policy: RetryPolicy, random: float) -> float:
    """Say how long to wait after an attempt failed.

    Args:
        attempt: 1-based number of the attempt that failed.
        hint: the server's hint in seconds, which goes first.
        policy: first and longest wait.
        random: from 0 up to 1.

    Returns:
        The hint plus up to a quarter of it (at most 2 s), so that not all callers wake at once;
        without a hint `first_wait * 2**(attempt - 1)`, capped, less up to a quarter.
    """
    if hint is not None:
        return hint + random * min(hint / 4, 2.0)
    backoff = min(policy.longest_wait, policy.first_wait * 2.0 ** (attempt - 1))
    return float(backoff * (1.0 - random / 4))


async def with_retries(
    attempt: Callable[[float], Awaitable[T]],
    policy: RetryPolicy,
    timing: Timing,
    *,
    paused_elsewhere: Callable[[Fault, float], bool] = lambda fault, wait: False,
) -> T:
    """Run attempts until one succeeds or no more are allowed.

    Args:
        attempt: gets the seconds that are left; raises `AttemptFailed`.
        policy: caps on tries and total time.
        timing: clock, sleep and chance.
        paused_elsewhere: is told of each wait; True means that the limiter keeps it for all.

    Raises:
        AttemptFailed: with the last fault, and why no more tries were made.
    """
    deadline = timing.clock() + policy.max_seconds
    number = 0
    while True:
        number += 1
        try:
            return await attempt(deadline - timing.clock())
        except AttemptFailed as failed:
            fault = failed.fault
        if fault.kind != "transient":
            raise AttemptFailed(fault) from None
        wait = wait_before(number, fault.hint, policy, timing.random())
        left = deadline - timing.clock()
        if number >= policy.max_tries or wait > left:
            raise AttemptFailed(_given_up(fault, number, wait, left, policy)) from None
        if not paused_elsewhere(fault, wait):
            await timing.sleep(wait)


def _given_up(fault: Fault, number: int, wait: float, left: float, policy: RetryPolicy) -> Fault:
    if number >= policy.max_tries:
        why = f"Gave up after {number:,} tries"
    elif fault.hint is not None:
        why = (
            f"Gave up after {number:,} tries: the server asks to wait {fault.hint:.0f} s, and "
            f"{max(0.0, left):.0f} s of the {policy.max_seconds:.0f} s allowed are left"
        )
    else:
        why = f"Gave up after {number:,} tries and the {policy.max_seconds:.0f} s allowed"
    return replace(fault, message=f"{fault.message} {why.replace(' 1 tries', ' 1 try')}.")


def http_fault(
    status: int,
    headers: Mapping[str, str],
    body: object,
    *,
    sent: SentRequest = NOTHING_SENT,
    now: datetime | None = None,
) -> Fault:
    """Judge an HTTP error, or an error object inside a 200.

    Args:
        headers: the reply's headers.
        body: the decoded JSON or the text.
        now: UTC time, for Retry-After dates.

    Returns:
        The fault: 408, 409, 429 and 5xx are transient unless the quota is used up, the endpoint
        takes no pictures or refuses a part of the request, or the server says
        `x-should-retry: false`. An error inside a 200 is judged by its own code.
    """
    words = read_error(body)
    judged = status if status != 200 else (words.number or 200)
    lessons = lessons_of(judged if judged != 200 else 400, words, sent)
    kind = _kind(judged, words, sent, lessons)
    should = headers.get("x-should-retry", "").lower()
    if kind == "transient" and should == "false":
        kind = "permanent"
    elif kind == "permanent" and should == "true":
        kind = "transient"
    told = f"HTTP {status}"
    if status == 200:
        told = "an error in a 200 reply" + (f" (code {judged})" if judged != 200 else "")
    hint = retry_hint(headers, now)
    return Fault(
        kind=kind,
        message=f"The server answered {told}: {words.message or 'no message'}".rstrip(".") + ".",
        status=judged,
        hint=words.wait if hint is None else hint,
        lessons=lessons if kind == "refused" else (),
    )


def _kind(
    status: int, words: ServerWords, sent: SentRequest, lessons: tuple[Lesson, ...]
) -> FaultKind:
    text = f"{words.code} {words.message}"
    if status == 402 or _QUOTA.search(text):
        return "quota"
    if status in (200, 400, 403, 422, 451) and _FILTER.search(text):
        return "filtered"
    if sent.has_pictures and status not in _RETRIED and _NO_PICTURES.search(text):
        return "picture"
    if lessons:
        return "refused"
    if "response_format" in sent.parts and status in _FORM_STATUSES and speaks_of_form(words):
        return "form"
    if status in _RETRIED or status >= 500 or status == 200:
        return "transient"
    return "permanent"


def retry_hint(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Read the seconds to wait: `retry-after-ms`, or `retry-after` in seconds or as a moment.

    A moment is a date, or seconds or milliseconds since 1970.
    """
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        given = headers.get(name)
        if given is None:
            continue
        try:
            seconds = float(given) * scale
        except ValueError:
            seconds = _seconds_until(given, now)
        if seconds >= _UNIX_TIME:
            moment = seconds / 1000 if seconds >= 1000 * _UNIX_TIME else seconds
            seconds = max(0.0, moment - (now or datetime.now(UTC)).timestamp())
        if math.isfinite(seconds) and seconds >= 0:
            return seconds
    return None


def _seconds_until(date: str, now: datetime | None) -> float:
    try:
        moment = parsedate_to_datetime(date)
    except ValueError:
        return math.nan
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - (now or datetime.now(UTC))).total_seconds())


def transport_fault(what: str) -> Fault:
    """Return the fault of a try that brought no HTTP reply."""
    return Fault(kind="transient", message=f"No usable connection: {what}.")


def transport_words(error: BaseException, scrub: Callable[[str], str] = str) -> str:
    """Say what a transport error was at its root: the library's own names mislead.

    Args:
        scrub: takes out what must not be repeated, before anything is shortened.
    """
    root = error
    while root.__cause__ is not None:
        root = root.__cause__
    words = scrub(str(root)).strip().rstrip(".") or "no details"
    return f"{type(root).__name__}, {quoted(words)}"


def advice(fault: Fault, endpoint: Endpoint) -> str:
    """Say what the user can do about a fault."""
    if fault.kind == "quota":
        return "Top the account up, or choose another endpoint, and resume."
    if fault.kind == "picture":
        return (
            "This endpoint or model takes no pictures; choose one that does. "
            "No further picture is sent to it in this run."
        )
    if fault.kind == "form":
        return f"Set its structured mode to 'auto' (it is {endpoint.structured!r})."
    if fault.kind == "filtered":
        return "Another endpoint may take it; this one isn't asked again."
    if fault.kind == "transient":
        return "Check that the server is up, and try again: what is done stays done."
    by_status = {
        401: "Check the key: " + _key_words(endpoint),
        403: "Check the key's rights: " + _key_words(endpoint),
        404: f"Check base_url ({endpoint.base_url!r}{_missing_path(endpoint)}) and model "
        f"({endpoint.model!r}).",
        413: "Lower pictures.max_bytes or pictures.max_side of this endpoint.",
    }
    if fault.status is not None and 300 <= fault.status < 400:
        return "The address redirects, which isn't followed: give the final one as base_url."
    return by_status.get(fault.status or 0, "Change the request or the endpoint's settings.")


def _missing_path(endpoint: Endpoint) -> str:
    """Most servers are asked under /v1, which is easily left out of the address."""
    ends = re.search(r"/v\d|/openai|/api", endpoint.url)
    return "" if ends else "; most servers want /v1 at its end"


def _key_words(endpoint: Endpoint) -> str:
    if endpoint.key_env is None:
        return "this endpoint names no key_env, so no key was sent."
    return f"it's read from the environment variable {endpoint.key_env!r}."
