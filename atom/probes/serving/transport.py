"""The probe endpoint without a network: an HTTP transport for the `openai` client.

The client stays the real one; only the bytes' way is short. Latency, resets, stalls and bodies that
end early behave as on a wire.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx2

from atom.probes.serving.config import ProbeConfig
from atom.probes.serving.endpoint import ProbeEndpoint

PROBE_URL = "http://probe.invalid/v1"
"""The base URL to give a client whose transport this is; nothing is ever sent there."""


class _CutBody(httpx2.AsyncByteStream):
    """A body that ends before it is complete."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._data


class ProbeTransport(httpx2.AsyncBaseTransport):
    """Answers every request of a client from a probe endpoint in this process.

    Args:
        endpoint: the endpoint; a default one when None.
    """

    def __init__(self, endpoint: ProbeEndpoint | None = None) -> None:
        self.endpoint = endpoint or ProbeEndpoint(ProbeConfig())

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answer one request.

        Raises:
            httpx2.ReadError: a planted reset.
            httpx2.ReadTimeout: a planted stall that outlasts the request's read timeout.
            httpx2.RemoteProtocolError: a planted stall that ends in a closed connection.
        """
        body = await request.aread()
        headers = {name.lower(): value for name, value in request.headers.items()}
        reply = self.endpoint.handle(request.method, request.url.path, headers, body)
        if reply.delay:
            limit = _read_timeout(request)
            if limit is not None and reply.delay > limit:
                await asyncio.sleep(limit)
                raise httpx2.ReadTimeout("the probe endpoint stalls", request=request)
            await asyncio.sleep(reply.delay)
        if reply.wreck == "reset":
            raise httpx2.ReadError("the probe endpoint reset the connection", request=request)
        if reply.wreck == "stall":
            raise httpx2.RemoteProtocolError("the probe endpoint hung up", request=request)
        if reply.wreck == "cut":
            return httpx2.Response(
                reply.status,
                headers=dict(reply.headers),
                stream=_CutBody(reply.body),
                request=request,
            )
        return httpx2.Response(
            reply.status, headers=dict(reply.headers), content=reply.body, request=request
        )


def _read_timeout(request: httpx2.Request) -> float | None:
    timeout = request.extensions.get("timeout")
    limit = timeout.get("read") if isinstance(timeout, dict) else None
    return float(limit) if isinstance(limit, (int, float)) else None
