"""The probe endpoint: judges, eight candidates and four answerers of equal knowledge behind the
chat-completions protocol.

It answers from the program that a probe's picture carries, keeps no memory between requests, and
says plainly when a request isn't about a probe. Every reply is a pure function of the request.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Final

from atom.probes import manners
from atom.probes.answers.covering import asks_program, find_step
from atom.probes.answers.derivation import RIGHT
from atom.probes.answers.reading import same_words
from atom.probes.candidates import Feedback, World, planted_world
from atom.probes.draws import Draws
from atom.probes.errors import EMBEDDER
from atom.probes.judge import AnswerJudge
from atom.probes.peers import guess, write_hint
from atom.probes.serving.config import ProbeConfig
from atom.probes.serving.faults import CONTENT_FAULTS, Fault, spoil
from atom.probes.serving.judges import JUDGES, ProbeJudges
from atom.probes.serving.probes import NotCoveredError, Probe, Probes
from atom.probes.serving.protocol import (
    ChatRequest,
    HttpReply,
    RequestError,
    completion_reply,
    embedding_reply,
    error_reply,
    json_reply,
    parse_embedding,
    parse_request,
)

CANDIDATE_TASKS: Final = ("answer", "retry", "hint", "blind")
ATTEMPT_HEADER: Final = "x-atomscope-attempt"
_ONLY_PROBES = (
    "this endpoint knows only probe pictures: pictures drawn by Atomscope that carry their own "
    "program. Draw fresh probes, or use another endpoint for this picture."
)


class ProbeEndpoint:
    """Answers chat requests from what probe pictures carry.

    Args:
        config: the world's seed, latency and faults.
        world: the planted world; made from the config's seed when None.
    """

    def __init__(self, config: ProbeConfig | None = None, *, world: World | None = None) -> None:
        self.config = config or ProbeConfig()
        self.world = world or planted_world(self.config.world_seed)
        self._probes = Probes()
        self._judges = ProbeJudges(self._probes)

    @property
    def models(self) -> tuple[str, ...]:
        """Every model name that is served."""
        return (*JUDGES, *self.world.models, *manners.NAMES, EMBEDDER)

    def list_models(self) -> HttpReply:
        """Answer `GET /v1/models`."""
        rows = [
            {"id": name, "object": "model", "created": 0, "owned_by": "atomscope"}
            for name in self.models
        ]
        return json_reply({"object": "list", "data": rows})

    def handle(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> HttpReply:
        """Answer an HTTP request.

        Args:
            method: `GET` or `POST`.
            path: the path, with or without `/v1`.
            headers: the request's headers, names in lower case.
            body: the request's body.

        Returns:
            The reply; never raises.
        """
        route = path.rstrip("/").removeprefix("/v1")
        if route == "/models" and method == "GET":
            return self.list_models()
        if route == "/health" and method == "GET":
            return json_reply({"status": "ok"})
        checks = {"/chat/completions": self._checked, "/embeddings": self._embedded}
        if route not in checks or method != "POST":
            return error_reply(
                404,
                f"there is no {method} {path}: try POST /v1/chat/completions, POST /v1/embeddings "
                "or GET /v1/models",
            )
        attempt = headers.get(ATTEMPT_HEADER, "1")
        return self._respond(body, int(attempt) if attempt.isdecimal() else 1, checks[route])

    def respond(self, body: bytes, *, attempt: int = 1) -> HttpReply:
        """Answer a chat request.

        Args:
            body: the JSON body.
            attempt: which try of this request this is, from 1.

        Returns:
            The reply, or an error in the protocol's form; never raises.
        """
        return self._respond(body, attempt, self._checked)

    def _respond(
        self, body: bytes, attempt: int, answer: Callable[[object, Fault | None, bytes], HttpReply]
    ) -> HttpReply:
        fault = self.config.faults.draw(body, attempt)
        reply = self._before(fault)
        if reply is None:
            try:
                payload = json.loads(body)
            except (ValueError, RecursionError) as error:
                return error_reply(400, f"the body is not JSON: {error}")
            reply = answer(payload, fault, body)
        return self._delayed(reply, body)

    def _before(self, fault: Fault | None) -> HttpReply | None:
        """Return the reply of a fault that needs no answer."""
        plan = self.config.faults
        if fault == "rate_limit":
            slow = error_reply(429, "too many requests", code="rate_limit_exceeded")
            return HttpReply(
                status=429,
                headers={**slow.headers, "retry-after": f"{plan.retry_after:g}"},
                body=slow.body,
            )
        if fault == "server_error":
            return error_reply(500, "the server had an error")
        if fault == "unavailable_html":
            page = b"<html><head><title>503</title></head><body>Service unavailable</body></html>"
            return HttpReply(status=503, headers={"content-type": "text/html"}, body=page)
        if fault == "reset":
            return HttpReply(status=200, headers={}, body=b"", wreck="reset")
        if fault == "stall":
            return HttpReply(status=200, headers={}, body=b"", delay=plan.stall, wreck="stall")
        return None

    def _embedded(self, payload: object, fault: Fault | None, body: bytes) -> HttpReply:
        del fault, body
        try:
            return embedding_reply(parse_embedding(payload, EMBEDDER))
        except RequestError as error:
            return error_reply(error.status, error.message, code=error.code)

    def _checked(self, payload: object, fault: Fault | None, body: bytes) -> HttpReply:
        try:
            request = parse_request(payload)
            content = self._content(request)
        except RequestError as error:
            return error_reply(error.status, error.message, code=error.code)
        except NotCoveredError as error:
            content = json.dumps({"not_covered": error.reason}, ensure_ascii=False)
        reply_id = "chatcmpl-" + hashlib.blake2b(body, digest_size=12).hexdigest()
        return self._answered(request, content, reply_id, fault)

    def _answered(
        self, request: ChatRequest, content: str, reply_id: str, fault: Fault | None
    ) -> HttpReply:
        if fault == "refusal":
            return completion_reply(
                request, None, reply_id=reply_id, refusal="I'm sorry, I can't help with that."
            )
        if fault == "content_filter":
            return completion_reply(request, "", reply_id=reply_id, finish="content_filter")
        if fault == "length":
            half = content[: max(len(content) // 2, 1)]
            return completion_reply(request, half, reply_id=reply_id, finish="length")
        if fault == "null_content":
            return completion_reply(request, None, reply_id=reply_id)
        if fault in CONTENT_FAULTS and request.model in JUDGES and fault is not None:
            content = spoil(content, fault)
        reply = completion_reply(request, content, reply_id=reply_id)
        if fault == "truncated_body":
            cut = reply.body[: len(reply.body) // 2]
            return HttpReply(status=200, headers=reply.headers, body=cut, wreck="cut")
        if fault == "empty_choices" and not request.stream:
            document = json.loads(reply.body)
            return json_reply({**document, "choices": []})
        return reply

    def _delayed(self, reply: HttpReply, body: bytes) -> HttpReply:
        config = self.config
        if not config.latency or reply.wreck == "stall":
            return reply
        share = Draws("latency", hashlib.blake2b(body, digest_size=8).hexdigest()).uniform()
        delay = config.latency * (1 + config.jitter * (2 * share - 1))
        return HttpReply(
            status=reply.status,
            headers=reply.headers,
            body=reply.body,
            delay=delay,
            wreck=reply.wreck,
        )

    def _content(self, request: ChatRequest) -> str:
        if request.model in JUDGES:
            return self._judges.answer(request)
        if request.model in self.world.models or request.model in manners.NAMES:
            return self._candidate(request)
        raise RequestError(
            404,
            f"the model {request.model!r} does not exist; there are {', '.join(self.models)}",
            code="model_not_found",
        )

    def _candidate(self, request: ChatRequest) -> str:
        if request.task and request.task not in CANDIDATE_TASKS:
            raise RequestError(
                400,
                f"{request.model!r} is a candidate: it answers questions, not the task "
                f"{request.task!r}; use {' or '.join(JUDGES)} for that",
            )
        if request.task == "blind":
            return guess(request.model, request.question, repeat=request.repeat)
        try:
            probe = self._probes.read(request.pictures)
        except NotCoveredError as error:
            raise RequestError(400, f"{error.reason}: {_ONLY_PROBES}", code="not_a_probe") from None
        if not asks_program(probe.program, request.question):
            raise RequestError(
                400,
                "the question is not the probe's own: simulated candidates answer only "
                f"{probe.program.question!r} about this picture",
                code="not_a_probe",
            )
        if request.model in manners.NAMES:
            known = manners.known_steps(probe.program)
            return manners.answer_in(manners.NAMES[request.model], probe.program, known).text
        if request.task == "hint":
            return self._hint(request, probe)
        if request.task == "retry" and not request.feedback:
            raise RequestError(
                400, "a retry needs the model's first answer and, after it, a user message"
            )
        told = _feedback(probe, request.feedback, request.replied) if request.feedback else None
        written = self.world.answer(
            request.model, probe.program, repeat=request.repeat, feedback=told
        )
        return written.text

    def _hint(self, request: ChatRequest, probe: Probe) -> str:
        """Write a peer's hint on the step that the data names."""
        data = request.data or {}
        step = find_step(probe.program, str(data.get("step", "")))
        if step is None:
            raise RequestError(
                400, "not covered: no step of this probe asks that", code="not_a_probe"
            )
        attempt = data.get("attempt")
        return write_hint(
            request.model,
            probe.program,
            step,
            attempt=attempt if isinstance(attempt, int) else 0,
            repeat=request.repeat,
        )


def _feedback(probe: Probe, text: str, answer: str) -> Feedback:
    """Tell what a feedback on an answer does.

    It names the steps whose questions it holds, as far as the answer didn't have them right: to be
    asked about what was right already is no help. It shows those whose result follows the question.
    """
    words = f" {same_words(text)} "
    program = probe.program
    first = AnswerJudge(probe.readers, answer)
    named, shown = set(), set()
    for reader in probe.readers:
        step = reader.step
        if f" {same_words(step.question)} " not in words:
            continue
        score = first.score(reader).score
        if score is None or score < RIGHT:
            named.add(step.id)
        if f" {same_words(f'{step.question} {step.truth}')} " in words:
            shown.add(step.id)
    final = any(same_words(line) == same_words(program.answer) for line in text.splitlines())
    return Feedback(
        text=text,
        named=frozenset(named),
        shown=frozenset(shown),
        final=bool(shown) and final,
        answer=answer,
    )
