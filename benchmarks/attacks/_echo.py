"""A server that repeats the key it was sent, wherever a reply has room for it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from atom.probes.serving.endpoint import ProbeEndpoint

Body = dict[str, object]


def plain(key: str) -> str:
    """Return the key as it is."""
    return f"the key is {key}, isn't it"


def escaped(key: str) -> str:
    """Return the key in JSON's escapes, which a second reading turns into letters."""
    return "".join(f"\\u{ord(sign):04x}" for sign in key)


def _message(**fields: object) -> Body:
    return {
        "object": "chat.completion",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "words", **fields},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 5, "completion_tokens": 5},
    }


def _finish(key: str) -> Body:
    body = _message()
    body["choices"][0]["finish_reason"] = f"stop {key}"  # type: ignore[index]
    return body


HABITS: Mapping[str, Callable[[str], tuple[int, str, str]]] = {
    # name -> key -> (status, content type, body)
    "content": lambda key: (200, "json", json.dumps(_message(content=plain(key)))),
    "content, long before it": lambda key: (
        200, "json", json.dumps(_message(content="x" * 290 + key + "y" * 400))
    ),
    "content in parts": lambda key: (
        200, "json",
        json.dumps(_message(content=[{"type": "text", "text": key[:9]},
                                     {"type": "text", "text": key[9:]}])),
    ),
    "escaped": lambda key: (
        200, "json", json.dumps(_message(content="KEY")).replace("KEY", escaped(key))
    ),
    "escaped in an object": lambda key: (
        200, "json", json.dumps(_message(content='{"score": 4, "why": "' + escaped(key) + '"}'))
    ),
    "refusal": lambda key: (200, "json", json.dumps(_message(content=None, refusal=plain(key)))),
    "thoughts": lambda key: (200, "json", json.dumps(_message(reasoning_content=plain(key)))),
    "think block": lambda key: (
        200, "json", json.dumps(_message(content=f"<think>{key}</think>words"))
    ),
    "arguments": lambda key: (
        200, "json",
        json.dumps(_message(content=None, tool_calls=[{"function": {"arguments": plain(key)}}])),
    ),
    "finish": lambda key: (200, "json", json.dumps(_finish(key))),
    "error 401": lambda key: (401, "json", json.dumps({"error": {"message": plain(key)}})),
    "error 400, cut": lambda key: (
        400, "json", json.dumps({"error": {"message": "x" * 385 + " " + key, "code": key}})
    ),
    "error 500": lambda key: (500, "json", json.dumps({"detail": [{"msg": plain(key)}]})),
    "error within an error": lambda key: (
        502, "json",
        json.dumps({"error": {"message": json.dumps({"error": {"message": plain(key)}})}}),
    ),
    "error in a 200": lambda key: (200, "json", json.dumps({"error": {"message": plain(key)}})),
    "error, percent-encoded": lambda key: (
        400, "json",
        json.dumps({"error": {"message": "".join(f"%{ord(sign):02X}" for sign in key)}}),
    ),
    "filter": lambda key: (
        400, "json",
        json.dumps({"error": {"message": f"content_filter {key}", "code": "content_filter"}}),
    ),
    "page": lambda key: (502, "html", f"<!doctype html><title>{key}</title>"),
    "text": lambda key: (404, "plain", plain(key)),
    "no JSON": lambda key: (200, "plain", plain(key)),
    "redirect": lambda key: (302, "plain", key),
    "stream": lambda key: (200, "event-stream", _stream([plain(key)])),
    "stream, sign by sign": lambda key: (200, "event-stream", _stream(list(plain(key)))),
    "stream, in threes": lambda key: (
        200, "event-stream", _stream([key[at : at + 3] for at in range(0, len(key), 3)])
    ),
    "stream, broken off": lambda key: (
        200, "event-stream", _stream([plain(key)]) + f'data: {{"error": {{"message": "{key}"}}}}\n'
    ),
}  # fmt: skip


def _stream(pieces: list[str]) -> str:
    events = [{"choices": [{"index": 0, "delta": {"content": piece}}]} for piece in pieces]
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}],
           "usage": {"prompt_tokens": 5, "completion_tokens": 5}}  # fmt: skip
    lines = [f"data: {json.dumps(event)}\n\n" for event in [*events, end]]
    return "".join(lines) + "data: [DONE]\n\n"


def echoed(reply: bytes, key: str) -> bytes:
    """Put the key into a judge's own reply: into each of its words of text, and its finish."""
    try:
        body = json.loads(reply)
        choice = body["choices"][0]
        said = json.loads(choice["message"]["content"])
    except (ValueError, KeyError, IndexError, TypeError):
        return reply.replace(b'"content": "', b'"content": "' + key.encode() + b" ")
    choice["message"]["content"] = json.dumps(_with_key(said, key))
    choice["message"]["reasoning_content"] = plain(key)
    return json.dumps(body).encode()


def _with_key(value: object, key: str, name: str = "") -> object:
    if isinstance(value, dict):
        return {name: _with_key(one, key, name) for name, one in value.items()}
    if isinstance(value, list):
        return [_with_key(one, key) for one in value]
    return f"{value} {key}" if isinstance(value, str) and name in _PROSE else value


_PROSE = frozenset({"reason", "reasoning", "why", "note", "text", "explanation", "answer",
                    "evidence", "action", "observation"})  # fmt: skip


@contextmanager
def echo_server(habit: str | None = None) -> Iterator[str]:
    """Serve on loopback: one habit, or the probe judge whose replies hold the key; -> base URL."""
    probes = ProbeEndpoint()

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            given = self.rfile.read(int(self.headers.get("content-length") or 0))
            key = (self.headers.get("authorization") or "").removeprefix("Bearer ")
            if habit is not None:
                status, kind, text = HABITS[habit](key)
                data = text.encode()
            else:
                headers = {name.lower(): value for name, value in self.headers.items()}
                reply = probes.handle(self.command, self.path, headers, given)
                status, kind, data = reply.status, "json", echoed(reply.body, key)
            self.send_response(status)
            if status == 302:
                self.send_header("Location", f"/{key}")
            types = {"json": "application/json"}
            self.send_header("Content-Type", types.get(kind, f"text/{kind}"))
            self.send_header("Content-Length", str(len(data)))
            self.send_header("X-Request-Id", key)
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = answer

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
