"""The probe endpoint: judges, eight candidates and four answerers of equal knowledge behind the
chat-completions protocol.

It answers from the program that a probe's picture carries, keeps no memory between requests, and
says plainly when a request isn't about a probe. Every reply is a pure function of the request.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from atom.probes import growing, manners
from atom.probes.answers.covering import asks_program, find_step, with_truth
from atom.probes.answers.derivation import RIGHT
from atom.probes.answers.prose import fill
from atom.probes.answers.reading import same_words
from atom.probes.answers.values import Mark
from atom.probes.asking import show_view
from atom.probes.bench.registry import TASKS, BenchQuestion, Character
from atom.probes.candidates import Feedback, World, planted_world
from atom.probes.chunk import read_program
from atom.probes.draws import Draws
from atom.probes.errors import EMBEDDER, name_groups
from atom.probes.eyes import SIGHTED, SIGHTLESS, describe, mark_by_sight
from atom.probes.judge import AnswerJudge, StepReader, read_steps
from atom.probes.matching import match_own
from atom.probes.naming import SEPARATOR, choose_leaf, drawn_leaf
from atom.probes.noise import coin_mark, noisy_mark
from atom.probes.outcome import read_outcome
from atom.probes.peers import guess, write_hint
from atom.probes.program import Box, Program, Step
from atom.probes.reporting import write_report
from atom.probes.serving.config import ProbeConfig
from atom.probes.serving.faults import CONTENT_FAULTS, Fault, spoil
from atom.probes.serving.protocol import (
    ChatRequest,
    Reply,
    RequestError,
    completion_reply,
    decode_picture,
    embedding_reply,
    error_reply,
    fit_schema,
    json_reply,
    parse_embedding,
    parse_request,
)
from atom.probes.worlds.leaves import Leaf

LOOSE_NAMER: Final = "probe-judge-synonyms"
"""Exact but for the names of abilities and which one a criterion tests (see `naming`)."""
NOISY: Final = "probe-judge-noisy"
COIN: Final = "probe-judge-coin"
"""Draws whatever a judge benchmark or a rival method asks, and every score, 1 to 5 alike.

It is exact in what comes before scores (solutions, criteria, capabilities) and in outcomes, so that
a study can be judged by it, and chance alone decides how it ranks answers.
"""
LENIENT: Final = "probe-judge-lenient"
"""Exact but for one branch, where it gives `LENIENT_LIFT` too much (METHODS D5)."""
LENIENT_ROOT: Final = "Knowledge"
"""The branch that the lenient judge reads too kindly; it is exact everywhere else."""
LENIENT_LIFT: Final = 1
"""Points on 1..5 that it adds there, up to 5."""
JUDGES: Final = ("probe-judge", NOISY, LOOSE_NAMER, COIN, LENIENT, SIGHTED, SIGHTLESS)
CHARACTERS: Final[Mapping[str, Character]] = {NOISY: "noisy", COIN: "coin"}
JUDGE_TASKS: Final = (
    "replay",
    "criteria",
    "propose",
    "same",
    "vague",
    "mapping",
    "scoring",
    "outcome",
    "report",
    "match",
    "ask",
    "name_groups",
    "caption",
)
CANDIDATE_TASKS: Final = ("answer", "retry", "hint", "blind")
ATTEMPT_HEADER: Final = "x-atomscope-attempt"
MISSED_RIGHT: Final = 0.10
"""The noisy judge calls a right answer wrong this often (METHODS D3: FN)."""
MISSED_WRONG: Final = 0.05
"""The noisy judge calls a wrong answer right this often (METHODS D3: FP)."""
_CACHE = 2048
_ONLY_PROBES = (
    "this endpoint knows only probe pictures: pictures drawn by Atomscope that carry their own "
    "program. Draw fresh probes, or use another endpoint for this picture."
)


@dataclass(frozen=True, kw_only=True)
class _Probe:
    """A probe sample's program, ready to be judged against."""

    program: Program
    readers: tuple[StepReader, ...]

    @property
    def key(self) -> str:
        p = self.program
        return f"{p.family}/{p.template}/{p.seed}/{p.index}"


class NotCoveredError(Exception):
    """No probe program covers what the judge was asked; the reason is told in its reply."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class ProbeEndpoint:
    """Answers chat requests from what probe pictures carry.

    Args:
        config: the world's seed, latency and faults.
        world: the planted world; made from the config's seed when None.
    """

    def __init__(self, config: ProbeConfig | None = None, *, world: World | None = None) -> None:
        self.config = config or ProbeConfig()
        self.world = world or planted_world(self.config.world_seed)
        self._probes: OrderedDict[bytes, _Probe | None] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def models(self) -> tuple[str, ...]:
        """Every model name that is served."""
        return (*JUDGES, *self.world.models, *manners.NAMES, EMBEDDER)

    def list_models(self) -> Reply:
        """Answer `GET /v1/models`."""
        rows = [
            {"id": name, "object": "model", "created": 0, "owned_by": "atomscope"}
            for name in self.models
        ]
        return json_reply({"object": "list", "data": rows})

    def handle(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Reply:
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

    def respond(self, body: bytes, *, attempt: int = 1) -> Reply:
        """Answer a chat request.

        Args:
            body: the JSON body.
            attempt: which try of this request this is, from 1.

        Returns:
            The reply, or an error in the protocol's form; never raises.
        """
        return self._respond(body, attempt, self._checked)

    def _respond(
        self, body: bytes, attempt: int, answer: Callable[[object, Fault | None, bytes], Reply]
    ) -> Reply:
        fault = self.config.faults.draw(body, attempt)
        reply = self._before(fault)
        if reply is None:
            try:
                payload = json.loads(body)
            except (ValueError, RecursionError) as error:
                return error_reply(400, f"the body is not JSON: {error}")
            reply = answer(payload, fault, body)
        return self._delayed(reply, body)

    def _before(self, fault: Fault | None) -> Reply | None:
        """Return the reply of a fault that needs no answer."""
        plan = self.config.faults
        if fault == "rate_limit":
            slow = error_reply(429, "too many requests", code="rate_limit_exceeded")
            return Reply(
                status=429,
                headers={**slow.headers, "retry-after": f"{plan.retry_after:g}"},
                body=slow.body,
            )
        if fault == "server_error":
            return error_reply(500, "the server had an error")
        if fault == "unavailable_html":
            page = b"<html><head><title>503</title></head><body>Service unavailable</body></html>"
            return Reply(status=503, headers={"content-type": "text/html"}, body=page)
        if fault == "reset":
            return Reply(status=200, headers={}, body=b"", wreck="reset")
        if fault == "stall":
            return Reply(status=200, headers={}, body=b"", delay=plan.stall, wreck="stall")
        return None

    def _embedded(self, payload: object, fault: Fault | None, body: bytes) -> Reply:
        del fault, body
        try:
            return embedding_reply(parse_embedding(payload, EMBEDDER))
        except RequestError as error:
            return error_reply(error.status, error.message, code=error.code)

    def _checked(self, payload: object, fault: Fault | None, body: bytes) -> Reply:
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
    ) -> Reply:
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
            return Reply(status=200, headers=reply.headers, body=cut, wreck="cut")
        if fault == "empty_choices" and not request.stream:
            document = json.loads(reply.body)
            return json_reply({**document, "choices": []})
        return reply

    def _delayed(self, reply: Reply, body: bytes) -> Reply:
        config = self.config
        if not config.latency or reply.wreck == "stall":
            return reply
        share = Draws("latency", hashlib.blake2b(body, digest_size=8).hexdigest()).uniform()
        delay = config.latency * (1 + config.jitter * (2 * share - 1))
        return Reply(
            status=reply.status,
            headers=reply.headers,
            body=reply.body,
            delay=delay,
            wreck=reply.wreck,
        )

    def _content(self, request: ChatRequest) -> str:
        if request.model in JUDGES:
            return self._judged(request)
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
            probe = self._probe(request.pictures)
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

    def _hint(self, request: ChatRequest, probe: _Probe) -> str:
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

    def _judged(self, request: ChatRequest) -> str:
        tasks: Mapping[str, Callable[[ChatRequest, Mapping[str, Any]], dict[str, object]]] = {
            "replay": self._replay,
            "criteria": self._criteria,
            "propose": self._propose,
            "same": self._same,
            "vague": self._vague,
            "mapping": self._mapping,
            "scoring": self._scoring,
            "outcome": self._outcome,
            "report": self._report,
            "match": lambda _, data: match_own(data),
            "ask": lambda _, data: show_view(data),
            "name_groups": lambda _, data: name_groups(data),
            "caption": lambda request, _: describe(self._probe(request.pictures).program),
        }
        task = tasks.get(request.task)
        if task is None and request.task in TASKS:
            task = self._bench
        if task is None:
            raise RequestError(
                400,
                f"{request.model!r} knows the tasks {', '.join((*JUDGE_TASKS, *TASKS))}, named in "
                "the system text's first line as `Atomscope task: scoring/1`; got "
                f"{request.task!r}",
            )
        if request.data is None:
            raise RequestError(400, "the last user message has no block BEGIN DATA ... END DATA")
        document = fit_schema(task(request, request.data), request.schema)
        return json.dumps(document, ensure_ascii=False)

    def _replay(self, request: ChatRequest, data: Mapping[str, Any]) -> dict[str, object]:
        program = self._asked(request, data).program
        steps = [
            {
                "text": fill(max(step.phrases, key=len), step.truth),
                "regions": _regions(step.regions),
            }
            for step in program.steps
        ]
        looking = f"The picture carries its own description, of {len(steps)} steps."
        return {"looking": looking, "steps": steps, "final_answer": program.answer}

    def _criteria(self, request: ChatRequest, data: Mapping[str, Any]) -> dict[str, object]:
        probe = self._asked(request, data)
        if conflict := _conflict(probe, data):
            return {"conflict": conflict, "criteria": []}
        program = probe.program
        replay = data.get("replay")
        shown = replay.get("steps") if isinstance(replay, dict) else None
        count = len(shown) if isinstance(shown, list) else 0
        criteria = [
            {
                "question": step.question,
                "ground_truth": step.truth,
                "weight": step.weight,
                "step": number if number <= count else None,
                "regions": _regions(step.regions),
            }
            for number, step in enumerate(program.steps, start=1)
        ]
        return {"conflict": "", "criteria": criteria}

    def _mapping(self, request: ChatRequest, data: Mapping[str, Any]) -> dict[str, object]:
        probe = self._probe(request.pictures)
        leaves = data.get("leaves")
        offered = [str(leaf) for leaf in leaves] if isinstance(leaves, dict) else []
        rows: list[dict[str, object]] = []
        for item in _items(data, "criteria"):
            step = find_step(probe.program, str(item.get("question", "")))
            row: dict[str, object] = {"id": item.get("id"), "leaf": None}
            if step is None:
                row["reason"] = "not covered: no step of this probe asks that"
            elif (leaf := choose_leaf(self._meant(request, probe, step, offered), offered)) is None:
                row["reason"] = (
                    f"not covered: the probe's leaf {SEPARATOR.join(step.leaf)!r} is not among "
                    "those offered"
                )
            else:
                row["leaf"] = leaf
            rows.append(row)
        return {"mappings": rows}

    def _propose(self, request: ChatRequest, data: Mapping[str, Any]) -> dict[str, object]:
        said = f"{request.prompt}/{request.repeat}"
        return growing.propose(data, loose=request.model == LOOSE_NAMER, said=said)

    def _same(self, request: ChatRequest, data: Mapping[str, Any]) -> dict[str, object]:
        return growing.compare(data, loose=request.model == LOOSE_NAMER)

    def _vague(self, request: ChatRequest, data: Mapping[str, Any]) -> dict[str, object]:
        del request
        return growing.weed(data)

    def _meant(
        self, request: ChatRequest, probe: _Probe, step: Step, offered: Sequence[str]
    ) -> Leaf:
        """Return the leaf that this judge takes a step to test."""
        if request.model != LOOSE_NAMER:
            return step.leaf
        said = f"{probe.key}/{request.prompt}/{request.repeat}/{offered!r}"
        return drawn_leaf(probe.program.question, step.question, said) or step.leaf

    def _scoring(self, request: ChatRequest, data: Mapping[str, Any]) -> dict[str, object]:
        items = _items(data, "criteria")
        answer = data.get("answer")
        answer = answer if isinstance(answer, str) else ""
        if request.model in (SIGHTED, SIGHTLESS):
            seen = self._seen(request) if request.model == SIGHTED else True
            question = str(data.get("question", ""))
            return {"scores": [mark_by_sight(question, item, answer, seen) for item in items]}
        try:
            probe = self._probe(request.pictures)
        except NotCoveredError as error:
            return {"scores": [_declined(item, error.reason) for item in items]}
        probe = _seen_by(request.model, probe)
        judge = AnswerJudge(probe.readers, answer)
        if request.model == COIN:
            coin = self._draws(request, probe, answer)
            return {"scores": [_tossed(probe, item, coin) for item in items]}
        noise = self._noise(request, probe, answer)
        return {"scores": [_scored(probe, judge, item, noise) for item in items]}

    def _seen(self, request: ChatRequest) -> Program | None:
        """Return what the pictures show; None where there is none, or none of a probe."""
        try:
            return self._probe(request.pictures).program
        except NotCoveredError:
            return None

    def _outcome(self, request: ChatRequest, data: Mapping[str, Any]) -> dict[str, object]:
        probe = self._asked(request, data)
        answer = data.get("answer")
        answer = answer if isinstance(answer, str) else ""
        reference = data.get("reference_answer")
        outcome = read_outcome(
            probe.program,
            AnswerJudge(probe.readers, answer),
            choices=[str(c) for c in _list(data, "choices")],
            reference=reference if isinstance(reference, str) else None,
        )
        verdict = outcome.verdict
        noise = self._noise(request, probe, answer)
        if noise is not None and verdict != "unclear":
            share = MISSED_RIGHT if verdict == "right" else MISSED_WRONG
            if noise.uniform("verdict") < share:
                verdict = "wrong" if verdict == "right" else "right"
        return {
            "verdict": verdict,
            "final_answer": outcome.final_answer,
            "reason": outcome.reason,
        }

    def _report(self, request: ChatRequest, data: Mapping[str, Any]) -> dict[str, object]:
        noise = None
        if request.model == NOISY:
            noise = Draws("report", request.prompt, request.repeat)
        return write_report(data, noise)

    def _bench(self, request: ChatRequest, data: Mapping[str, Any]) -> dict[str, object]:
        """Answer a judge benchmark's or a rival method's question."""
        probe = self._probe(request.pictures)
        said = hashlib.blake2b(
            json.dumps(data, sort_keys=True).encode("utf-8", errors="surrogatepass"),
            digest_size=12,
        )
        question = BenchQuestion(
            task=request.task,
            data=data,
            program=probe.program,
            readers=_seen_by(request.model, probe).readers,
            character=CHARACTERS.get(request.model, "exact"),
            draws=Draws("bench", probe.key, request.prompt, request.repeat, said.hexdigest()),
        )
        return TASKS[request.task](question)

    def _noise(self, request: ChatRequest, probe: _Probe, answer: str) -> Draws | None:
        """Return the noisy judge's draws: equal for equal questions, prompts, seeds and repeats."""
        return self._draws(request, probe, answer) if request.model == NOISY else None

    def _draws(self, request: ChatRequest, probe: _Probe, answer: str) -> Draws:
        said = hashlib.blake2b(answer.encode("utf-8", errors="surrogatepass"), digest_size=12)
        return Draws("judge", probe.key, request.prompt, request.repeat, said.hexdigest())

    def _asked(self, request: ChatRequest, data: Mapping[str, Any]) -> _Probe:
        """Return the probe, if the data asks the probe's own question."""
        probe = self._probe(request.pictures)
        if not asks_program(probe.program, str(data.get("question", ""))):
            raise NotCoveredError("the question is not the one that this probe was drawn for")
        return probe

    def _probe(self, urls: Sequence[str]) -> _Probe:
        """Return the probe that the pictures carry.

        Raises:
            NotCoveredError: there is no picture, no program in any, or there are different
                programs.
            RequestError: a picture isn't a base64 data URL.
        """
        if not urls:
            raise NotCoveredError("not covered: the request has no picture")
        found = [probe for url in urls if (probe := self._load(url)) is not None]
        if not found:
            raise NotCoveredError("not covered: no picture carries a probe's program")
        if len({probe.key for probe in found}) > 1:
            raise NotCoveredError("not covered: the pictures are of different probes")
        return found[0]

    def _load(self, url: str) -> _Probe | None:
        key = hashlib.blake2b(url.encode("utf-8", errors="replace"), digest_size=16).digest()
        with self._lock:
            if key in self._probes:
                self._probes.move_to_end(key)
                return self._probes[key]
        program = read_program(decode_picture(url))
        probe = None
        if program is not None:
            probe = _Probe(program=program, readers=read_steps(program))
        with self._lock:
            self._probes[key] = probe
            while len(self._probes) > _CACHE:
                self._probes.popitem(last=False)
        return probe


def _seen_by(model: str, probe: _Probe) -> _Probe:
    """Return a probe as a judge reads it: the lenient one is too kind to one branch's steps."""
    if model != LENIENT:
        return probe
    readers = [
        replace(reader, lift=LENIENT_LIFT) if reader.step.leaf[0] == LENIENT_ROOT else reader
        for reader in probe.readers
    ]
    return replace(probe, readers=tuple(readers))


def _scored(
    probe: _Probe,
    judge: AnswerJudge,
    item: Mapping[str, Any],
    noise: Draws | None,
) -> dict[str, object]:
    reader = _reader(probe, item)
    if isinstance(reader, str):
        return _declined(item, reader)
    result = judge.score(reader)
    if result.score is None:
        return _declined(item, result.reason, result.quote)
    mark = Mark(score=result.score, addressed=result.addressed, carried=result.carried)
    if noise is not None:
        key = (reader.step.id, reader.step.truth)
        mark = noisy_mark(mark, noise, *key, rests=bool(reader.step.depends_on))
    return _entry(item, mark, result.reason, result.quote)


def _tossed(probe: _Probe, item: Mapping[str, Any], coin: Draws) -> dict[str, object]:
    """Score a criterion by chance, whatever the answer says."""
    reader = _reader(probe, item)
    if isinstance(reader, str):
        return _declined(item, reader)
    mark = coin_mark(coin, reader.step.id, reader.step.truth)
    return _entry(item, mark, "a coin fell so", "")


def _entry(item: Mapping[str, Any], mark: Mark, reason: str, quote: str) -> dict[str, object]:
    return {
        "id": item.get("id"),
        "quote": quote,
        "reason": reason,
        "addressed": mark.addressed,
        "score": mark.score,
        "carried": mark.carried,
    }


def _reader(probe: _Probe, item: Mapping[str, Any]) -> StepReader | str:
    """Return the step that a criterion asks about, or why there is none."""
    step = find_step(probe.program, str(item.get("question", "")))
    if step is None:
        return "not covered: no step of this probe asks that"
    truth = item.get("ground_truth")
    edited = with_truth(step, truth) if isinstance(truth, str) else None
    if edited is None:
        return f"not covered: {truth!r} is not a value that this step can have"[:300]
    if edited is step:
        return next(r for r in probe.readers if r.step.id == step.id)
    kept = next(r for r in probe.readers if r.step.id == step.id)
    return replace(kept, step=edited)


def _declined(item: Mapping[str, Any], reason: str, quote: str = "") -> dict[str, object]:
    return {
        "id": item.get("id"),
        "quote": quote,
        "reason": reason,
        "addressed": True,
        "score": None,
        "carried": False,
    }


def _feedback(probe: _Probe, text: str, answer: str) -> Feedback:
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


def _conflict(probe: _Probe, data: Mapping[str, Any]) -> str:
    """Say how the known answer contradicts the program's; empty where it doesn't."""
    reference = data.get("reference_answer")
    if not isinstance(reference, str):
        return ""
    answer = probe.program.answer
    found = read_outcome(
        probe.program,
        AnswerJudge(probe.readers, f"Answer: {answer}"),
        choices=[str(c) for c in _list(data, "choices")],
        reference=reference,
    )
    if found.verdict != "wrong":
        return ""
    return f"the known answer is {reference!r}, the solution arrives at {answer!r}"[:500]


def _regions(regions: Sequence[Box]) -> list[dict[str, object]]:
    return [{"picture": region.picture, "box": list(region.box)} for region in regions]


def _list(data: Mapping[str, Any], name: str) -> list[Any]:
    value = data.get(name)
    return value if isinstance(value, list) else []


def _items(data: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    items = data.get(name)
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise RequestError(400, f"the data's `{name}` must be a list of objects")
    return items
