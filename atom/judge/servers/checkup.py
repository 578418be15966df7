"""Tries an endpoint out: what the Settings page's test button and the command line show."""

from __future__ import annotations

import io
import math
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Literal

from PIL import Image

from atom.errors import AtomError
from atom.judge.client import JudgeClient
from atom.judge.embedding import EmbeddingClient
from atom.judge.keys import endpoint_key
from atom.judge.reply import Reply
from atom.judge.request import PicturePart, Request, TextPart
from atom.judge.retry import RetryPolicy
from atom.judge.structured import wording
from atom.records import BoxConvention, Endpoint, Sampling
from atom.records.base import Record
from atom.records.vectors import Vector

if TYPE_CHECKING:
    import httpx2

CheckState = Literal["passed", "failed", "skipped"]
CheckName = Literal[
    "key", "models", "text", "json", "picture",
    "answer", "replay", "criteria", "mapping", "scoring", "boxes", "embedding",
]  # fmt: skip
COLOURS = ("red", "blue")
"""Of the drawn picture's left and right half."""
_ALIKE = (
    "The value is not mentioned in the answer.",
    "The answer does not mention the value.",
    "An arithmetic slip in the calculation.",
)
LONGEST_WAIT = 120.0
"""Seconds for one check: a model that thinks takes its time."""
MAX_TOKENS = 512
"""Enough for a model that thinks first."""


class EndpointCheck(Record):
    """One thing that was tried."""

    name: CheckName
    state: CheckState
    detail: str
    """One sentence: what was seen, or what went wrong and what to do."""
    seconds: float | None = None
    """Wall time of the request, where one was made."""

    @property
    def words(self) -> str:
        """What was found, and in how many seconds."""
        return self.detail + (f" ({self.seconds:.1f} s)" if self.seconds is not None else "")


class Findings(Record):
    """What the forms of a run have shown."""

    checks: tuple[EndpointCheck, ...] = ()
    boxes: BoxConvention | None = None
    """How the model writes boxes; `none`: fits no convention; None: not found out."""


FurtherCheck = Callable[[JudgeClient], Awaitable[Findings]]


class EndpointTest(Record):
    """What a test of an endpoint found."""

    endpoint: str
    model: str
    checks: tuple[EndpointCheck, ...]
    reply_form: str | None = None
    """How structured replies will be asked for; None when that couldn't be found out."""
    latency: float | None = None
    """Seconds of a short text reply."""
    boxes: BoxConvention | None = None
    """How the model writes boxes; `none`: fits no convention; None: not found out."""
    adapted: tuple[str, ...] = ()
    """What the server refused of what was asked for, and what was sent instead, a line each."""

    @property
    def ok(self) -> bool:
        """Whether nothing failed."""
        return all(check.state != "failed" for check in self.checks)

    @property
    def verdict(self) -> str:
        """What it comes to, in a sentence."""
        if not self.ok:
            return "It can't be used as it is."
        if any(check.state == "passed" for check in self.checks):
            return "It can be used."
        return "Nothing is wrong; what it can do shows with a probe picture."


async def check_endpoint(
    endpoint: Endpoint,
    *,
    further: FurtherCheck | None = None,
    environ: Mapping[str, str] | None = None,
    transport: httpx2.AsyncBaseTransport | None = None,
) -> EndpointTest:
    """Try an endpoint: key, list of models, text, JSON, and a drawn two-coloured picture.

    Args:
        endpoint: what to try; up to four short requests are sent, once each.
        further: asks what a run asks, once the short requests went well.
        environ: where the key is read; the process's environment when None.
        transport: replaces the network, in tests.

    Returns:
        What was found. Nothing is raised for what the endpoint does wrong.
    """
    quick = endpoint.model_copy(update={"timeout": min(endpoint.timeout, LONGEST_WAIT)})
    policy = RetryPolicy(max_tries=1, max_seconds=LONGEST_WAIT)
    checks: list[EndpointCheck] = []
    try:
        key = endpoint_key(endpoint, environ)
    except AtomError as error:
        checks.append(EndpointCheck(name="key", state="failed", detail=error.message))
        return EndpointTest(endpoint=endpoint.name, model=endpoint.model, checks=tuple(checks))
    checks.append(
        EndpointCheck(
            name="key",
            state="passed" if key.value else "skipped",
            detail=f"{endpoint.key_env} is set." if key.value else "No key is needed or named.",
        )
    )
    async with JudgeClient(quick, environ=environ, transport=transport, policy=policy) as client:
        checks.append(await _check_models(client))
        if "embedding" in endpoint.roles:
            checks.append(await _check_embedding(quick, environ, transport))
        if endpoint.roles == ("embedding",):
            return EndpointTest(endpoint=endpoint.name, model=endpoint.model, checks=tuple(checks))
        if endpoint.is_probe:
            return EndpointTest(
                endpoint=endpoint.name, model=endpoint.model, checks=(*checks, *_probe_checks())
            )
        text = await _check_reply(client, "text")
        checks.append(text)
        if text.state == "failed":
            checks.extend(_not_tried(name) for name in ("json", "picture"))
        else:
            checks.append(await _check_reply(client, "json"))
            checks.append(await _check_reply(client, "picture"))
        found = Findings()
        if further is not None and all(check.state != "failed" for check in checks):
            found = await further(client)
            checks.extend(found.checks)
        known = any(check.name == "json" and check.state == "passed" for check in checks)
        return EndpointTest(
            endpoint=endpoint.name,
            model=endpoint.model,
            checks=tuple(checks),
            reply_form=client.reply_form if known else None,
            latency=text.seconds if text.state == "passed" else None,
            boxes=found.boxes,
            adapted=client.adaptations,
        )


def _probe_checks() -> tuple[EndpointCheck, ...]:
    detail = "The built-in endpoint answers about probe pictures only."
    return tuple(
        EndpointCheck(name=name, state="skipped", detail=detail)
        for name in ("text", "json", "picture")
    )


def _not_tried(name: CheckName) -> EndpointCheck:
    return EndpointCheck(name=name, state="skipped", detail="Not tried: plain text failed.")


async def _check_models(client: JudgeClient) -> EndpointCheck:
    model = client.endpoint.model
    try:
        listed = await client.list_models()
    except AtomError as error:
        return EndpointCheck(
            name="models",
            state="skipped",
            detail=f"The server gives no list of models. {error.message}",
        )
    if model in listed:
        return EndpointCheck(name="models", state="passed", detail=f"{model!r} is listed.")
    shown = ", ".join(listed[:8]) or "none"
    return EndpointCheck(
        name="models",
        state="skipped",
        detail=f"{model!r} isn't among the {len(listed):,} models listed ({shown}); "
        "some servers take names they don't list.",
    )


async def _check_embedding(
    endpoint: Endpoint,
    environ: Mapping[str, str] | None,
    transport: httpx2.AsyncBaseTransport | None,
) -> EndpointCheck:
    """Ask for the vectors of three short texts, of which two say the same."""
    once = endpoint.model_copy(update={"max_tries": 1, "max_seconds": LONGEST_WAIT})
    try:
        async with EmbeddingClient(once, environ=environ, transport=transport) as client:
            vectors = (await client.embed(_ALIKE)).vectors
    except AtomError as error:
        return EndpointCheck(name="embedding", state="failed", detail=error.message)
    near, far = _cosine(vectors[0], vectors[1]), _cosine(vectors[0], vectors[2])
    detail = (
        f"Vectors of {len(vectors[0]):,} numbers. Two texts that say the same have a cosine of "
        f"{near:.2f}, two that don't {far:.2f}"
    )
    if near <= far:
        return EndpointCheck(name="embedding", state="failed", detail=f"{detail}: these vectors "
                             "don't tell what is alike.")  # fmt: skip
    return EndpointCheck(name="embedding", state="passed", detail=f"{detail}.")


def _cosine(one: Vector, other: Vector) -> float:
    length = math.hypot(*one) * math.hypot(*other)
    return sum(a * b for a, b in zip(one, other, strict=True)) / length if length else 0.0


async def _check_reply(
    client: JudgeClient, name: Literal["text", "json", "picture"]
) -> EndpointCheck:
    try:
        reply = await client.ask(_request(name))
    except AtomError as error:
        return EndpointCheck(name=name, state="failed", detail=error.message)
    seconds = round(reply.call.seconds, 3)
    if not reply.ok:
        return EndpointCheck(name=name, state="failed", detail=reply.reason, seconds=seconds)
    return EndpointCheck(name=name, state="passed", detail=_describe(name, reply), seconds=seconds)


def _describe(name: str, reply: Reply) -> str:
    if name == "text":
        return f"Answered {reply.text.strip()[:60]!r}."
    if name == "json":
        return f"JSON by {reply.form}" + (", after a repair turn." if reply.call.repaired else ".")
    data = reply.data or {}
    seen = (data.get("left"), data.get("right"))
    if seen == COLOURS:
        return "The picture was taken and both colours named rightly."
    return (
        f"The picture was taken, but the halves, {' and '.join(COLOURS)}, were called "
        f"{seen[0]} and {seen[1]}: check that the model sees pictures."
    )


def _request(name: Literal["text", "json", "picture"]) -> Request:
    parts: tuple[TextPart | PicturePart, ...] = (TextPart(text=wording(f"check_{name}")),)
    schema: dict[str, object] | None = None
    if name == "json":
        schema = _object_schema({"sum": {"type": "integer"}})
    elif name == "picture":
        colour: dict[str, object] = {"type": "string"}
        schema = _object_schema({"left": colour, "right": colour})
        parts = (PicturePart.from_bytes(two_coloured_picture()), *parts)
    return Request(
        task="check",
        prompt_id=f"check_{name}/1",
        system=f"Atomscope task: check/{name}",
        parts=parts,
        schema=schema,
        schema_name=f"atomscope_check_{name}",
        sampling=Sampling(max_tokens=MAX_TOKENS),
    )


def _object_schema(properties: dict[str, object]) -> dict[str, object]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def two_coloured_picture(side: int = 128) -> bytes:
    """Draw a square PNG, red on the left and blue on the right."""
    image = Image.new("RGB", (side, side), (220, 20, 20))
    image.paste((20, 40, 220), (side // 2, 0, side, side))
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()
