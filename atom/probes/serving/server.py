"""The probe endpoint as a real HTTP server, same handler as in process."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from threading import Thread

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from atom.errors import SettingsError
from atom.probes.serving.endpoint import ProbeEndpoint

MAX_BODY = 200_000_000
"""Bytes of a request that are read."""


class _PromisedBody(Response):
    """Promises a body and sends none, upon which the server closes the connection."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Start an answer that is never completed."""
        headers = [(b"content-length", b"1000"), (b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})


def make_app(endpoint: ProbeEndpoint) -> Starlette:
    """Return the ASGI application around an endpoint."""

    async def answer(request: Request) -> Response:
        size = request.headers.get("content-length", "0")
        if size.isdecimal() and int(size) > MAX_BODY:
            return Response(status_code=413, content=b"the request is too large")
        body = await request.body()
        headers = {name.lower(): value for name, value in request.headers.items()}
        reply = endpoint.handle(request.method, request.url.path, headers, body)
        if reply.delay:
            await asyncio.sleep(reply.delay)
        if reply.wreck in ("reset", "stall"):
            return _PromisedBody()
        if reply.wreck == "cut":
            return StreamingResponse(
                _once(reply.body), status_code=reply.status, headers=dict(reply.headers)
            )
        return Response(reply.body, status_code=reply.status, headers=dict(reply.headers))

    return Starlette(routes=[Route("/{path:path}", answer, methods=["GET", "POST"])])


async def _once(data: bytes) -> AsyncIterator[bytes]:
    yield data


def bind(host: str, port: int) -> socket.socket:
    """Open the listening socket; port 0 takes a free one.

    Raises:
        SettingsError: the address can't be used.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except (OSError, OverflowError) as error:
        listener.close()
        raise SettingsError(
            f"can't listen on {host!r}, port {port}: {error}. Choose another, or 0 for a free port."
        ) from error
    return listener


def address(listener: socket.socket) -> str:
    """Return the base URL to give a client."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}/v1" if ":" in host else f"http://{host}:{port}/v1"


def _configure(endpoint: ProbeEndpoint) -> uvicorn.Server:
    config = uvicorn.Config(
        make_app(endpoint), log_level="critical", access_log=False, lifespan="off", ws="none"
    )
    return uvicorn.Server(config)


def serve(
    host: str = "127.0.0.1",
    port: int = 0,
    endpoint: ProbeEndpoint | None = None,
    *,
    ready: Callable[[str], None] | None = None,
) -> None:
    """Serve until interrupted.

    Args:
        host: the address to listen on; loopback by default.
        port: the port; 0 takes a free one.
        endpoint: the endpoint; a default one when None.
        ready: told the base URL once the socket listens.

    Raises:
        SettingsError: the address can't be used.
    """
    listener = bind(host, port)
    server = _configure(endpoint or ProbeEndpoint())
    if ready is not None:
        ready(address(listener))
    with listener:
        server.run(sockets=[listener])


@contextmanager
def serving(endpoint: ProbeEndpoint | None = None, *, host: str = "127.0.0.1") -> Iterator[str]:
    """Serve on a free port in a thread while the block runs.

    Args:
        endpoint: the endpoint; a default one when None.
        host: the address to listen on.

    Yields:
        The base URL.
    """
    listener = bind(host, 0)
    server = _configure(endpoint or ProbeEndpoint())
    thread = Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        while not server.started and thread.is_alive():
            thread.join(0.01)
        if not server.started:
            raise SettingsError("the probe server did not start; try another port")
        yield address(listener)
    finally:
        server.should_exit = True
        thread.join(10)
        listener.close()
