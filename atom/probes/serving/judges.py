"""The probe judges: what each of their tasks is answered with."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from atom.probes import growing
from atom.probes.answers.covering import find_step, with_truth
from atom.probes.answers.prose import fill
from atom.probes.answers.step_reader import StepReader
from atom.probes.answers.values import PlantedMark
from atom.probes.asking import show_view
from atom.probes.bench.registry import TASKS, BenchQuestion, Character
from atom.probes.draws import Draws
from atom.probes.errors import name_groups
from atom.probes.eyes import SIGHTED, SIGHTLESS, describe, mark_by_sight
from atom.probes.judge import AnswerJudge
from atom.probes.matching import match_own
from atom.probes.naming import SEPARATOR, choose_leaf, drawn_leaf
from atom.probes.noise import coin_mark, noisy_mark
from atom.probes.outcome import read_outcome
from atom.probes.program import Box, Program, ProgramStep
from atom.probes.reporting import write_report
from atom.probes.serving.probes import NotCoveredError, Probe, Probes
from atom.probes.serving.protocol import ChatRequest, RequestError, fit_schema
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
MISSED_RIGHT: Final = 0.10
"""The noisy judge calls a right answer wrong this often (METHODS D3: FN)."""
MISSED_WRONG: Final = 0.05
"""The noisy judge calls a wrong answer right this often (METHODS D3: FP)."""


class ProbeJudges:
    """Answers judges' tasks.

    Args:
        probes: reads the pictures.
    """

    def __init__(self, probes: Probes) -> None:
        self._probes = probes

    def answer(self, request: ChatRequest) -> str:
        """Return the reply to a task.

        Raises:
            RequestError: no task of a judge, or its data is missing or malformed.
            NotCoveredError: no probe covers what is asked.
        """
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
            "caption": lambda request, _: describe(self._probes.read(request.pictures).program),
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
        program = self._probes.asked(request, data).program
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
        probe = self._probes.asked(request, data)
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
        probe = self._probes.read(request.pictures)
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
        self, request: ChatRequest, probe: Probe, step: ProgramStep, offered: Sequence[str]
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
            probe = self._probes.read(request.pictures)
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
            return self._probes.read(request.pictures).program
        except NotCoveredError:
            return None

    def _outcome(self, request: ChatRequest, data: Mapping[str, Any]) -> dict[str, object]:
        probe = self._probes.asked(request, data)
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
        probe = self._probes.read(request.pictures)
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

    def _noise(self, request: ChatRequest, probe: Probe, answer: str) -> Draws | None:
        """Return the noisy judge's draws: equal for equal questions, prompts, seeds and repeats."""
        return self._draws(request, probe, answer) if request.model == NOISY else None

    def _draws(self, request: ChatRequest, probe: Probe, answer: str) -> Draws:
        said = hashlib.blake2b(answer.encode("utf-8", errors="surrogatepass"), digest_size=12)
        return Draws("judge", probe.key, request.prompt, request.repeat, said.hexdigest())


def _seen_by(model: str, probe: Probe) -> Probe:
    """Return a probe as a judge reads it: the lenient one is too kind to one branch's steps."""
    if model != LENIENT:
        return probe
    readers = [
        replace(reader, lift=LENIENT_LIFT) if reader.step.leaf[0] == LENIENT_ROOT else reader
        for reader in probe.readers
    ]
    return replace(probe, readers=tuple(readers))


def _scored(
    probe: Probe,
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
    mark = PlantedMark(score=result.score, addressed=result.addressed, carried=result.carried)
    if noise is not None:
        key = (reader.step.id, reader.step.truth)
        mark = noisy_mark(mark, noise, *key, rests=bool(reader.step.depends_on))
    return _entry(item, mark, result.reason, result.quote)


def _tossed(probe: Probe, item: Mapping[str, Any], coin: Draws) -> dict[str, object]:
    """Score a criterion by chance, whatever the answer says."""
    reader = _reader(probe, item)
    if isinstance(reader, str):
        return _declined(item, reader)
    mark = coin_mark(coin, reader.step.id, reader.step.truth)
    return _entry(item, mark, "a coin fell so", "")


def _entry(
    item: Mapping[str, Any], mark: PlantedMark, reason: str, quote: str
) -> dict[str, object]:
    return {
        "id": item.get("id"),
        "quote": quote,
        "reason": reason,
        "addressed": mark.addressed,
        "score": mark.score,
        "carried": mark.carried,
    }


def _reader(probe: Probe, item: Mapping[str, Any]) -> StepReader | str:
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


def _conflict(probe: Probe, data: Mapping[str, Any]) -> str:
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
