"""The one network seam: which HTTP client stands under the `openai` client."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from atom.judge.keys import NO_KEY, Key
from atom.judge.retry import (
    NOTHING_SENT,
    AttemptFailed,
    Fault,
    http_fault,
    transport_fault,
    transport_words,
)
from atom.judge.servers.dialect import SentRequest
from atom.judge.timing import Timing
from atom.records import Endpoint

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI, Omit


def open_openai(
    endpoint: Endpoint, key: Key, transport: httpx2.AsyncBaseTransport | None = None
) -> AsyncOpenAI:
    """Open the `openai` client for an endpoint.

    Args:
        endpoint: where to send requests.
        key: its key, headers and query; without a key no Authorization header is sent but one of
            the endpoint's own.
        transport: replaces the network, in tests.

    Returns:
        A client that never retries by itself and follows no redirect, so that pictures and key
        go to no other host than the one that was agreed to. aiohttp carries the requests: with
        64 in flight it takes less than half of the processor time of the default.
    """
    import httpx2
    from openai import DefaultAioHttpClient

    from atom.judge.limited import LimitedTransport

    timeout = httpx2.Timeout(endpoint.timeout, connect=min(10.0, endpoint.timeout))
    base_url = endpoint.url
    if not base_url:
        from atom.probes.serving.transport import PROBE_URL, ProbeTransport

        base_url = PROBE_URL
        transport = transport or ProbeTransport()
    if transport is None:
        connections = endpoint.concurrency + 8
        sender = DefaultAioHttpClient(
            timeout=timeout,
            limits=httpx2.Limits(
                max_connections=connections, max_keepalive_connections=connections
            ),
            follow_redirects=False,
            # Reading the certificates takes 30 ms and more; plain HTTP has no use for them.
            verify=not base_url.startswith("http:"),
        )
        transport = sender._transport
    http_client = httpx2.AsyncClient(
        transport=LimitedTransport(transport),
        timeout=timeout,
        follow_redirects=False,
        trust_env=False,
    )
    return _client_class()(
        _own_headers(key),
        api_key=key.value or "none",
        base_url=base_url,
        default_query=dict(key.query),
        max_retries=0,
        timeout=timeout,
        http_client=http_client,
    )


def _own_headers(key: Key) -> dict[str, str | Omit]:
    from openai import Omit

    headers: dict[str, str | Omit] = {} if key.value else {"Authorization": Omit()}
    for name, value in key.headers.items():
        headers["Authorization" if name.lower() == "authorization" else name] = value
    return headers


@contextmanager
def as_faults(
    timing: Timing, seconds: float, *, sent: SentRequest = NOTHING_SENT, key: Key = NO_KEY
) -> Iterator[None]:
    """Turn whatever goes wrong in a try into a fault.

    Args:
        timing: tells the time, for Retry-After dates.
        seconds: how long the answer was waited for.
        key: what must not be repeated; it is taken out before anything is shortened.

    Raises:
        AttemptFailed: the try went wrong.
    """
    import aiohttp
    import httpx2
    import openai

    from atom.judge.limited import too_long_fault

    try:
        yield
    except openai.APIStatusError as error:
        fault = http_fault(
            error.status_code,
            error.response.headers,
            key.scrub_all(error.body),
            sent=sent,
            now=timing.now(),
        )
    except AttemptFailed as failed:
        fault = failed.fault
    except TimeoutError:
        fault = transport_fault(f"no whole answer within {seconds:g} s")
    except (openai.APIConnectionError, aiohttp.ClientError, httpx2.HTTPError, OSError) as error:
        words = transport_words(error, key.scrub)
        fault = too_long_fault(error) or transport_fault(words)
    except (openai.OpenAIError, httpx2.InvalidURL, httpx2.StreamError, TypeError) as error:
        fault = Fault(
            kind="permanent", message=f"The request can't be sent: {key.scrub(str(error))}."
        )
    else:
        return
    raise AttemptFailed(fault)


@functools.cache
def _client_class() -> Callable[..., AsyncOpenAI]:
    """Make the library's client without the headers that no judge needs.

    As it comes it sends the computer's system and Python version, and an organisation, a project
    and further headers that it finds in the environment, to whichever host it talks to. They also
    cost about a sixth of the processor time of a call.
    """
    from openai import AsyncOpenAI

    class BareOpenAI(AsyncOpenAI):
        def __init__(self, own_headers: Mapping[str, str | Omit], **options: Any) -> None:
            super().__init__(**options)
            self._own_headers = own_headers
            self._addresses: dict[str, httpx2.URL] = {}

        @property
        def default_headers(self) -> dict[str, str | Omit]:
            own = {"Accept": "application/json", "User-Agent": self.user_agent}
            return {**own, **self._own_headers}

        def _prepare_url(self, url: str) -> httpx2.URL:
            """Put an address together once: a run asks at one or two, thousands of times."""
            found = self._addresses.get(url)
            if found is None:
                found = self._addresses[url] = super()._prepare_url(url)
            return found

        def _validate_headers(
            self, headers: Mapping[str, object], custom_headers: Mapping[str, object]
        ) -> None:
            """Let requests without a key pass: servers on this computer want none."""

    return BareOpenAI
