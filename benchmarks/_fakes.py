"""Stand-ins for providers and servers, each written down from its vendor's documentation.

A fake says what its vendor refuses and in which words, how it replies, counts and writes boxes.
Behind each of them the probe endpoint answers, so that the replies are real. The documentation is
named in `atom/judge/servers/presets.py`; what vendors don't document (the exact words of an
error) is written as their users have reported it.
"""

from __future__ import annotations

import asyncio
import base64
import io
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from time import time
from typing import Any, Literal

import uvicorn
from PIL import Image
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from atom.probes.serving.endpoint import ProbeEndpoint
from atom.probes.serving.server import address, bind
from atom.records import BoxConvention
from atom.stages.boxes import SentPicture, from_thousandths

Json = dict[str, Any]
Style = Literal["plain", "think", "chunks", "fenced", "reasoning_content", "reasoning"]
"""How a reply is wrapped: as it is; in think tags; as a list of thoughts and text; as fenced JSON
among words; with its thoughts apart under one of two names."""
ARRIVAL = 0.05
"""Seconds before an answer, in which the other requests in flight arrive."""
THOUGHT = "Let me look at the picture first."


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """A part of a request that a server doesn't take.

    Args:
        part: its name in the lesson that it teaches.
        found: whether a request holds it.
        words: the server's error, in its own shape.
        status: HTTP status.
    """

    part: str
    found: Callable[[Json], bool]
    words: object
    status: int = 400


@dataclass(frozen=True, kw_only=True)
class Fake:
    """One provider or server.

    Args:
        preset: the preset that it stands in for.
        kind: which of its models, where they differ.
        model: the judge's name there; the candidate's is the same with `-candidate` behind it.
        refusals: what it doesn't take, in the order in which it looks.
        path: where it is asked.
        boxes: how its models write boxes.
        style: how its replies are wrapped.
        keeps_schema: whether it makes anything of a `response_format`.
        usage: how it counts: as OpenAI does, with thoughts told apart, or not at all.
        thinks: tokens that its model thinks before it answers.
        crowded: of so many first tries one is turned away; 0 = none.
        retry_after: what it sends then: seconds, a date, or a moment since 1970.
        broken: of so many first tries one dies halfway, in a reply with status 200; 0 = none.
        needs: a header that it wants.
        query: fields that it wants behind `?`.
        asks: what its endpoint is set up to ask for beyond the rest.
    """

    preset: str
    model: str
    kind: str = ""
    refusals: tuple[Refusal, ...] = ()
    path: str = "/v1"
    boxes: BoxConvention = "xyxy_1000"
    style: Style = "plain"
    keeps_schema: bool = True
    usage: Literal["openai", "reasoning", "none"] = "openai"
    thinks: int = 0
    crowded: int = 0
    retry_after: Literal["seconds", "date", "moment"] = "seconds"
    broken: int = 0
    needs: tuple[str, str] | None = None
    query: Mapping[str, str] = field(default_factory=dict)
    asks: Mapping[str, object] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What its rows are called."""
        return f"{self.preset} ({self.kind})" if self.kind else self.preset

    @property
    def teaches(self) -> frozenset[str]:
        """Parts that a run against it has to adapt."""
        return frozenset(refusal.part for refusal in self.refusals)


# --- what is refused, and in which words ---------------------------------------------------------


def has(name: str) -> Callable[[Json], bool]:
    """Say whether a request holds a field."""
    return lambda body: name in body


def other_than(name: str, value: float) -> Callable[[Json], bool]:
    """Say whether a request sets a field to anything but this."""
    return lambda body: body.get(name, value) != value


def form(kind: str) -> Callable[[Json], bool]:
    """Say whether a request asks for this reply form."""
    return lambda body: (body.get("response_format") or {}).get("type") == kind


def keyword(word: str) -> Callable[[Json], bool]:
    """Say whether a reply's schema holds this keyword."""
    return lambda body: f'"{word}"' in json.dumps(body.get("response_format") or {})


def system_role(body: Json) -> bool:
    """Say whether a request holds a system message."""
    return any(message["role"] == "system" for message in body["messages"])


def detail(body: Json) -> bool:
    """Say whether a picture comes with a detail."""
    return '"detail"' in json.dumps([m["content"] for m in body["messages"]])[:400_000] or any(
        "detail" in part.get("image_url", {})
        for message in body["messages"]
        if isinstance(message["content"], list)
        for part in message["content"]
    )


def openai(message: str, param: str | None = None, code: str | None = None) -> Json:
    """Return an error as OpenAI writes it."""
    return {
        "error": {
            "message": message,
            "type": "invalid_request_error",
            "param": param,
            "code": code,
        }
    }


def google(message: str) -> list[Json]:
    """Return an error as Gemini's compatible address writes it."""
    return [{"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}]


def pydantic(*loc: object) -> Json:
    """Return an error as servers that check their input with pydantic write it."""
    entry = {"type": "extra_forbidden", "loc": ["body", *loc], "input": None,
             "msg": "Extra inputs are not permitted"}  # fmt: skip
    return {"object": "error", "message": {"detail": [entry]}, "type": "invalid_request_error"}


def plain(message: str) -> Json:
    """Return an error as vLLM and SGLang write it."""
    return {"object": "error", "message": message, "type": "BadRequestError", "code": 400}


def inside(error: Json) -> Json:
    """Return another provider's error as OpenRouter passes it on."""
    return {
        "error": {
            "message": "Provider returned error",
            "code": 400,
            "metadata": {"raw": json.dumps(error), "provider_name": "OpenAI"},
        }
    }


_ONLY_DEFAULT = (
    "Unsupported value: '{0}' does not support {1} with this model. Only the default (1) value is "
    "supported."
)
_NEWER_NAME = (
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
    "'max_completion_tokens' instead."
)


def reasoning_refusals() -> tuple[Refusal, ...]:
    """Return what OpenAI's reasoning models refuse."""
    return (
        Refusal(
            part="temperature",
            found=other_than("temperature", 1),
            words=openai(
                _ONLY_DEFAULT.format("temperature", "0"), "temperature", "unsupported_value"
            ),
        ),
        Refusal(
            part="top_p",
            found=other_than("top_p", 1),
            words=openai(
                "Unsupported parameter: 'top_p' is not supported with this model.",
                "top_p",
                "unsupported_parameter",
            ),
        ),
        Refusal(
            part="max_tokens",
            found=has("max_tokens"),
            words=openai(_NEWER_NAME, "max_tokens", "unsupported_parameter"),
        ),
    )


def unrecognized(part: str) -> Refusal:
    """Return a refusal as OpenAI words it for older models."""
    words = openai(f"Unrecognized request argument supplied: {part}")
    return Refusal(part=part, found=has(part), words=words)


FAKES: tuple[Fake, ...] = (
    Fake(
        preset="openai",
        kind="reasoning",
        model="gpt-5",
        refusals=reasoning_refusals(),
        usage="reasoning",
        thinks=2500,
        crowded=20,
        # Less than it thinks: the room has to be found.
        asks={"max_tokens": 2000, "thinking_tokens": 0},
    ),
    Fake(
        preset="openai",
        kind="chat",
        model="gpt-4.1",
        refusals=(unrecognized("reasoning_effort"),),
        boxes="xyxy_pixels",
    ),
    Fake(
        preset="azure-openai",
        model="gpt-4o",
        path="/openai/deployments/gpt-4o",
        refusals=(unrecognized("reasoning_effort"), unrecognized("seed")),
        needs=("api-key", "azure-secret-value"),
        query={"api-version": "2024-10-21"},
        crowded=20,
    ),
    Fake(
        preset="gemini",
        model="gemini-2.5-flash",
        path="/v1beta/openai",
        refusals=(
            Refusal(
                part="seed",
                found=has("seed"),
                words=google(
                    'Invalid JSON payload received. Unknown name "seed": Cannot find field.'
                ),
            ),
            Refusal(
                part="schema keyword",
                found=keyword("additionalProperties"),
                words=google(
                    'Invalid JSON payload received. Unknown name "additionalProperties" at '
                    "'generation_config.response_schema': Cannot find field."
                ),
            ),
        ),
        boxes="yxyx_1000",
    ),
    Fake(
        preset="anthropic",
        model="claude-sonnet-4",
        refusals=(
            Refusal(
                part="top_p",
                found=lambda body: {"temperature", "top_p"} <= body.keys(),
                words=openai(
                    "`temperature` and `top_p` cannot both be specified for this model. Please "
                    "use only one."
                ),
            ),
        ),
        keeps_schema=False,
        style="fenced",
        boxes="xyxy_pixels",
        crowded=20,
    ),
    Fake(
        preset="openrouter",
        model="openai/gpt-5-mini",
        path="/api/v1",
        refusals=(
            Refusal(
                part="temperature",
                found=other_than("temperature", 1),
                words=inside(
                    openai(_ONLY_DEFAULT.format("temperature", "0"), "temperature", "unsupported")
                ),
            ),
            Refusal(
                part="top_p",
                found=other_than("top_p", 1),
                words=inside(openai("Unsupported parameter: 'top_p' is not supported.", "top_p")),
            ),
        ),
        style="reasoning",
        usage="reasoning",
        broken=15,
    ),
    Fake(
        preset="mistral",
        model="magistral-medium",
        refusals=(
            Refusal(part="seed", found=has("seed"), words=pydantic("seed"), status=422),
            Refusal(
                part="reasoning_effort",
                found=has("reasoning_effort"),
                words=pydantic("reasoning_effort"),
                status=422,
            ),
            Refusal(
                part="image_detail",
                found=detail,
                words=pydantic("messages", 1, "user", "content", "list", 0, "image_url", "detail"),
                status=422,
            ),
        ),
        style="chunks",
        crowded=10,
    ),
    Fake(
        preset="together",
        model="Qwen/Qwen2.5-VL-72B-Instruct",
        refusals=(
            Refusal(
                part="response_format",
                found=form("json_schema"),
                words=openai(
                    "response_format of type json_schema is not supported for this model",
                    "response_format",
                ),
            ),
            Refusal(
                part="reasoning_effort",
                found=has("reasoning_effort"),
                words=openai("reasoning_effort is not supported by this model"),
            ),
        ),
        boxes="xyxy_pixels",
        crowded=10,
        retry_after="date",
    ),
    Fake(
        preset="vllm",
        model="google/gemma-3-27b-it",
        refusals=(
            Refusal(part="system", found=system_role, words=plain("System role not supported")),
        ),
        style="reasoning_content",
        usage="openai",
    ),
    Fake(
        preset="sglang",
        model="qwen2.5-vl-7b-instruct",
        refusals=(
            Refusal(
                part="response_format",
                found=form("json_schema"),
                words=plain("Failed to compile the json schema: unsupported grammar"),
            ),
        ),
        boxes="xyxy_pixels",
        usage="none",
    ),
    Fake(
        preset="ollama",
        model="qwen3-vl:8b",
        refusals=(
            Refusal(
                part="reasoning_effort",
                found=has("reasoning_effort"),
                words=openai('"qwen3-vl:8b" does not support thinking'),
            ),
        ),
        style="think",
    ),
    Fake(
        preset="lm-studio",
        model="internvl3-8b",
        refusals=(
            Refusal(
                part="response_format",
                found=form("json_schema"),
                words={"error": "response_format json_schema: this engine knows no such grammar"},
            ),
            Refusal(
                part="response_format",
                found=form("json_object"),
                words={"error": "'response_format.type' must be 'json_schema' or 'text'"},
            ),
        ),
        style="fenced",
        boxes="xyxy_unit",
    ),
    Fake(
        preset="llama.cpp",
        model="minicpm-v",
        refusals=(
            Refusal(
                part="response_format",
                found=form("json_schema"),
                words={
                    "error": {
                        "code": 400,
                        "message": "failed to parse grammar",
                        "type": "invalid_request_error",
                    }
                },
            ),
        ),
        style="think",
        usage="none",
    ),
    Fake(
        preset="litellm",
        model="gpt-5-behind-a-proxy",
        refusals=(
            Refusal(
                part="temperature",
                found=other_than("temperature", 1),
                words=openai(
                    "litellm.UnsupportedParamsError: gpt-5 models (including gpt-5-codex) don't "
                    "support temperature=0.0. Only temperature=1 is supported."
                ),
            ),
            Refusal(
                part="top_p",
                found=has("top_p"),
                words=openai(
                    "litellm.UnsupportedParamsError: openai does not support parameters: "
                    "['top_p'], for model=gpt-5. To drop these, set `litellm.drop_params=True`"
                ),
            ),
        ),
        crowded=20,
        retry_after="moment",
    ),
)
"""Presets with what their servers do; some twice, where its models differ."""


# --- serving -------------------------------------------------------------------------------------


class FakeServer:
    """Answers as a fake would.

    Args:
        fake: the provider or server.
        names: the probe model behind each of its model names.
    """

    def __init__(self, fake: Fake, names: Mapping[str, str]) -> None:
        self.fake = fake
        self.names = names
        self.counts: Counter[str] = Counter()
        """Requests, refusals, and how many were in flight at most."""
        self._probe = ProbeEndpoint()
        self._first: set[int] = set()
        self._in_flight = 0

    async def __call__(self, request: Request) -> Response:
        """Answer one request."""
        self._in_flight += 1
        self.counts["in flight"] = max(self.counts["in flight"], self._in_flight)
        self.counts["requests"] += 1
        try:
            raw = await request.body()
            await asyncio.sleep(ARRIVAL)
            return self._answer(request, raw)
        finally:
            self._in_flight -= 1

    def _answer(self, request: Request, raw: bytes) -> Response:
        fake = self.fake
        if request.url.path != f"{fake.path}/chat/completions":
            return _json(404, {"error": {"message": f"no such address: {request.url.path}"}})
        if dict(request.query_params) != dict(fake.query):
            return _json(404, {"error": {"code": "404", "message": "Resource not found"}})
        if fake.needs and request.headers.get(fake.needs[0]) != fake.needs[1]:
            return _json(401, {"error": {"code": "401", "message": "Access denied"}})
        body = json.loads(raw)
        for refusal in fake.refusals:
            if refusal.found(body):
                self.counts["refused"] += 1
                return _json(refusal.status, refusal.words)
        odd = self._odd(hash(raw))
        return odd or _json(200, self._completion(body))

    def _odd(self, name: int) -> Response | None:
        """Turn some first tries away, or let them die halfway."""
        if name in self._first:
            return None
        self._first.add(name)
        fake, n = self.fake, len(self._first)
        if fake.crowded and n % fake.crowded == 0:
            self.counts["turned away"] += 1
            waits = {
                "seconds": "0.2",
                "date": formatdate(time() + 1, usegmt=True),
                "moment": str(round(time() + 0.2, 3)),
            }
            body = {"error": {"message": "Rate limit reached", "type": "rate_limit"}}
            return _json(429, body, {"retry-after": waits[fake.retry_after]})
        if fake.broken and n % fake.broken == 0:
            self.counts["broken"] += 1
            choice = {
                "index": 0,
                "finish_reason": "error",
                "message": {"role": "assistant", "content": "The bar on the"},
                "error": {"code": 502, "message": "Upstream provider disconnected"},
            }
            return _json(200, {"choices": [choice]})
        return None

    def _completion(self, body: Json) -> Json:
        fake = self.fake
        limit = body.get("max_completion_tokens", body.get("max_tokens"))
        if fake.thinks and limit is not None and limit <= fake.thinks:
            return self._wrapped("", "length", thought=limit)
        asked = dict(body)
        asked["model"] = self.names[body["model"]]
        asked["messages"] = _with_system(body["messages"])
        if not fake.keeps_schema:
            asked.pop("response_format", None)
        reply = json.loads(self._probe.respond(json.dumps(asked).encode()).body)
        if "choices" not in reply:
            return reply  # type: ignore[no-any-return]
        content = reply["choices"][0]["message"]["content"]
        return self._wrapped(self._own_boxes(content, body["messages"]), "stop")

    def _wrapped(self, content: str, finish: str, *, thought: int | None = None) -> Json:
        fake, structured = self.fake, content.startswith("{")
        message: Json = {"role": "assistant", "content": content}
        if fake.style == "think":
            message["content"] = f"<think>{THOUGHT} {{?}}</think>\n\n{content}"
        elif fake.style == "chunks":
            thoughts = {"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]}
            message["content"] = [thoughts, {"type": "text", "text": content}]
        elif fake.style == "fenced" and structured:
            message["content"] = f"Here is the JSON:\n```json\n{content}\n```"
        elif fake.style in ("reasoning", "reasoning_content"):
            message[fake.style] = THOUGHT
        choice = {"index": 0, "message": message, "finish_reason": finish}
        document: Json = {"id": "x", "object": "chat.completion", "choices": [choice]}
        if fake.usage == "none":
            return document
        thinking = fake.thinks if thought is None else thought
        usage: Json = {"prompt_tokens": 900, "completion_tokens": thinking + len(content) // 4}
        if fake.usage == "reasoning":
            usage["completion_tokens_details"] = {"reasoning_tokens": thinking}
        return {**document, "usage": usage}

    def _own_boxes(self, content: str, messages: list[Json]) -> str:
        """Write a reply's boxes as this server's models do."""
        if self.fake.boxes == "xyxy_1000" or '"box"' not in content:
            return content
        document = json.loads(content)
        pictures = [_sides(url) for url in _pictures(messages)]
        for item in document.get("steps", document.get("criteria", ())):
            for region in item.get("regions") or ():
                width, height = pictures[region["picture"] - 1]
                sent = SentPicture(width=width, height=height, content=(0, 0, width, height))
                region["box"] = from_thousandths(region["box"], self.fake.boxes, sent)
        return json.dumps(document)


def _with_system(messages: list[Json]) -> list[Json]:
    """Give the probe endpoint back the system text that opens a user's message."""
    if messages[0]["role"] == "system" or not isinstance(messages[0]["content"], list):
        return messages
    first, *rest = messages[0]["content"]
    opened = [{"role": "system", "content": first["text"]}, {"role": "user", "content": rest}]
    return [*opened, *messages[1:]]


def _pictures(messages: list[Json]) -> Iterator[str]:
    for message in messages:
        if isinstance(message["content"], list):
            for part in message["content"]:
                if part["type"] == "image_url":
                    yield part["image_url"]["url"]


def _sides(url: str) -> tuple[int, int]:
    data = base64.b64decode(url.partition(",")[2])
    return Image.open(io.BytesIO(data)).size


def _json(status: int, body: object, headers: Mapping[str, str] | None = None) -> Response:
    return Response(
        json.dumps(body),
        status_code=status,
        headers=dict(headers or {}),
        media_type="application/json",
    )


@contextmanager
def serving(server: FakeServer) -> Iterator[str]:
    """Serve a fake on a free port in a thread, and give the address of its host."""
    listener = bind("127.0.0.1", 0)
    app = Starlette(routes=[Route("/{path:path}", server.__call__, methods=["GET", "POST"])])
    config = uvicorn.Config(app, log_level="critical", access_log=False, lifespan="off", ws="none")
    running = uvicorn.Server(config)
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        while not running.started and thread.is_alive():
            thread.join(0.01)
        yield address(listener).removesuffix("/v1")
    finally:
        running.should_exit = True
        thread.join(10)
        listener.close()
