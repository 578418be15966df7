"""MM-CRITIC on probes: data in Atomscope's own layout, a judge that critiques, and its scorer.

A critique names steps of the program as wrong, a line each. The scorer reads which of the steps
that the response truly has wrong it names, and which it names falsely; the reference names exactly
the wrong ones and is worth 8.

Reference: MM-CRITIC 3-4; METHODS A17, D2-D3.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from atom.probes.answers.prose import fill
from atom.probes.answers.reading import same_words
from atom.probes.answers.step_reader import StepReader, read_steps
from atom.probes.bench.types import Answer, BenchFiles, BenchQuestion, step_scores
from atom.probes.candidates import World, planted_world
from atom.probes.draws import Draws
from atom.probes.judge import AnswerJudge
from atom.probes.noise import confuse
from atom.probes.outcome import read_outcome
from atom.probes.program import Program, ProgramStep
from atom.probes.worlds.make import ProbeSample, ProbeSource, make_probes

FILE: Final = "mm_critic_probes.jsonl"
ANNOTATOR: Final = "probe program"
MIX: Final = {"charts": 3, "tables": 3, "gauges": 3, "geometry": 3, "scenes": 2, "changes": 1}
TASK_TYPES: Final[Mapping[str, str]] = {
    "charts": "information_extraction",
    "tables": "information_extraction",
    "gauges": "science",
    "geometry": "mathematics",
    "scenes": "perception",
    "changes": "perception",
}
PAIRINGS: Final = (("low", "medium"), ("medium", "high"), ("low", "high"))
BASE: Final = 8
"""Score of a text that is as good as the reference."""
MISSED_RIGHT: Final = 0.10
"""The noisy judge calls a right response wrong this often (METHODS D3)."""
MISSED_WRONG: Final = 0.05
LEFT_OUT: Final = 0.15
"""The noisy judge's corrections leave a step out this often."""
OFF_BY_ONE: Final = 0.15
"""The noisy scorer is one too high, and one too low, this often each."""
_RIGHT = 4
"""A step with this score is right, if not firm."""
_FAULT = re.compile(
    r"\b(?:wrong|incorrect|mistaken|mistakes?|errors?|isn t|not (?:right|correct|true)|missing|"
    r"leaves? (?:this |it )?out|should be|fails?)\b"
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_NO_FAULT = "The response holds up at every step; nothing has to be mended."


@dataclass(frozen=True, kw_only=True)
class MarkedResponse:
    """A response, marked step by step.

    Args:
        scores: step id → 1..5, 1 also where nothing can be said.
        right: whether its final answer is right.
        quality: 0..10.
    """

    scores: Mapping[str, int]
    right: bool
    quality: int

    @property
    def wrong(self) -> frozenset[str]:
        """Ids of the steps that aren't right."""
        return frozenset(name for name, score in self.scores.items() if score < _RIGHT)


def mark(program: Program, readers: Sequence[StepReader], response: str) -> MarkedResponse:
    """Mark a response exactly."""
    judge = AnswerJudge(readers, response)
    scores = step_scores(readers, judge)
    right = read_outcome(program, judge).verdict == "right"
    return MarkedResponse(scores=scores, right=right, quality=quality(program, scores, right=right))


def quality(program: Program, scores: Mapping[str, int], *, right: bool) -> int:
    """Rate a response: its steps by weight, at most 7 where its final answer is wrong."""
    reached = sum(step.weight * (scores[step.id] - 1) / 4 for step in program.steps)
    return min(round(reached), 10 if right else 7)


def band(rating: int) -> str:
    """Return the quality band of the paper's analysis."""
    return "low" if rating <= 4 else "medium" if rating <= 7 else "high"


# --- texts ----------------------------------------------------------------------------------------


def reference_critique(program: Program, wrong: frozenset[str]) -> str:
    """Write what is worth an 8: every wrong step by name, without its true result."""
    lines = [
        f'On "{step.question}" the response is wrong; look again.'
        for step in program.steps
        if step.id in wrong
    ]
    return "\n".join(lines) or _NO_FAULT


def paraphrase(program: Program, wrong: frozenset[str]) -> str:
    """Write the same in other words."""
    lines = [
        f'There is a mistake where this is settled: "{step.question}"'
        for step in reversed(program.steps)
        if step.id in wrong
    ]
    return "\n".join(lines) or "No step needs mending: all that the response states can be seen."


def write_critique(program: Program, wrong: frozenset[str]) -> str:
    """Write a critique that also gives the true result of what it calls wrong."""
    lines = [
        f'On "{step.question}" the response is wrong: the picture gives {step.truth}.'
        if step.id in wrong
        else f'On "{step.question}" the response is right.'
        for step in program.steps
    ]
    return "\n".join(lines)


def named_faults(readers: Sequence[StepReader], critique: str) -> frozenset[str]:
    """Read which steps a critique calls wrong.

    A step is named by its question, else by its anchors in a sentence.
    """
    found: set[str] = set()
    for line in critique.splitlines():
        flat = same_words(line)
        quoted = [r for r in readers if same_words(r.step.question) in flat]
        longest = [
            r
            for r in quoted
            if not any(
                same_words(r.step.question) in same_words(o.step.question)
                for o in quoted
                if o is not r
            )
        ]
        for reader in longest:
            if _FAULT.search(flat.replace(same_words(reader.step.question), " ")):
                found.add(reader.step.id)
        if quoted:
            continue
        for sentence in _SENTENCE.split(line):
            low = sentence.lower()
            if _FAULT.search(same_words(sentence)):
                found.update(r.step.id for r in readers if _speaks_of(r, low))
    return frozenset(found)


def _speaks_of(reader: StepReader, low: str) -> bool:
    if not reader.anchors_all and not reader.anchors_any:
        return False
    some = not reader.anchors_any or any(word in low for word in reader.anchors_any)
    return some and all(word in low for word in reader.anchors_all)


def write_correction(program: Program, steps: Sequence[ProgramStep]) -> str:
    """Write a right response that states these steps."""
    lines = [fill(max(step.phrases, key=len), step.truth) for step in steps]
    if program.step(program.answer_step) in steps:
        lines.append(f"Answer: {program.answer}")
    return "\n".join(lines) or "I can't make it out."


# --- answers --------------------------------------------------------------------------------------


def _seen(question: BenchQuestion, name: str) -> MarkedResponse:
    """Mark a response as this judge sees it; the coin's view is drawn."""
    program, draws = question.program, question.draws
    true = mark(program, question.readers, question.text(name))
    if question.character == "exact":
        return true
    if question.character == "coin":
        scores = {key: 1 if draws.uniform("step", name, key) < 0.5 else 5 for key in true.scores}
        return MarkedResponse(
            scores=scores,
            right=draws.uniform("claim", name) < 0.5,
            quality=draws.integer(11, "rating", name),
        )
    scores = {key: confuse(value, draws, name, key) for key, value in true.scores.items()}
    share = MISSED_RIGHT if true.right else MISSED_WRONG
    right = true.right != (draws.uniform("claim", name) < share)
    return MarkedResponse(scores=scores, right=right, quality=quality(program, scores, right=right))


def _critique(question: BenchQuestion) -> dict[str, object]:
    seen = _seen(question, "response")
    return {
        "critique": write_critique(question.program, seen.wrong),
        "verdict": "right" if seen.right else "wrong",
        "score": seen.quality,
    }


def _correction(question: BenchQuestion) -> dict[str, object]:
    lost = {"exact": 0.0, "noisy": LEFT_OUT, "coin": 0.5}[question.character]
    kept = [s for s in question.program.steps if question.draws.uniform("kept", s.id) >= lost]
    return {"correction": write_correction(question.program, kept)}


def _compare(question: BenchQuestion) -> dict[str, object]:
    toss = question.draws.uniform("better") < 0.5
    first, second = (_seen(question, name).quality for name in ("first", "second"))
    level = question.character == "coin" or first == second
    better = ("first" if toss else "second") if level else "first" if first > second else "second"
    return {"reason": f"The first is worth {first}, the second {second}.", "better": better}


def _score(question: BenchQuestion) -> dict[str, object]:
    if question.character == "coin":
        return {"reason": "A coin was flipped.", "score": question.draws.integer(11, "score")}
    by_correction = question.text("kind") == "correction"
    score, reason = (_correction_score if by_correction else _critique_score)(question)
    if question.character == "noisy":
        turn = question.draws.uniform("score")
        score += (turn > 1 - OFF_BY_ONE) - (turn < OFF_BY_ONE)
    return {"reason": reason, "score": min(max(score, 0), 10)}


def _critique_score(question: BenchQuestion) -> tuple[int, str]:
    text = question.text("text")
    if not text.strip():
        return 0, "It is empty."
    wrong = mark(question.program, question.readers, question.text("response")).wrong
    ours = _worth(question.readers, text, wrong)
    theirs = _worth(question.readers, question.text("reference"), wrong)
    score = BASE if ours >= theirs else round(BASE * ours / theirs)
    told = [r for r in question.readers if r.step.id in wrong]
    tells = (
        ours == 1
        and bool(told)
        and all(same_words(r.step.truth) in same_words(_line_of(r, text)) for r in told)
    )
    reason = f"It is right about {ours:.2f} of the faults there are and those it names."
    return score + tells, reason + (" It gives the true results, too." if tells else "")


def _line_of(reader: StepReader, text: str) -> str:
    """Return what a text says on a step besides its question."""
    asked = same_words(reader.step.question)
    lines = [same_words(line) for line in text.splitlines()]
    return " ".join(line.replace(asked, " ") for line in lines if asked in line)


def _worth(readers: Sequence[StepReader], text: str, wrong: frozenset[str]) -> float:
    """Return faults named rightly over all that are named or there; 1 where there are none."""
    named = named_faults(readers, text)
    return len(named & wrong) / len(named | wrong) if named | wrong else 1.0


def _correction_score(question: BenchQuestion) -> tuple[int, str]:
    ours, theirs = (
        mark(question.program, question.readers, question.text(name))
        for name in ("text", "reference")
    )
    weights = {step.id: step.weight for step in question.program.steps}
    reached, wanted = (
        sum(weight for key, weight in weights.items() if key not in one.wrong)
        for one in (ours, theirs)
    )
    score = round(BASE * reached / max(wanted, 1)) - 2 * (theirs.right and not ours.right)
    return score, f"Steps worth {reached} of {wanted} are right."


def _paraphrase(question: BenchQuestion) -> dict[str, object]:
    faults = named_faults(question.readers, question.text("text"))
    return {"paraphrase": paraphrase(question.program, faults)}


TASKS: Final[Mapping[str, Answer]] = {
    "mmc_critique": _critique,
    "mmc_correction": _correction,
    "mmc_compare": _compare,
    "mmc_score": _score,
    "mmc_score_rubric": _score,
    "mmc_paraphrase": _paraphrase,
}


# --- files ----------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _Response:
    model: str
    text: str
    marked: MarkedResponse


def make(n_items: int, seed: int, draw: ProbeSource = make_probes) -> BenchFiles:
    """Make MM-CRITIC's data from probes: half basic, a quarter corrections, a quarter pairs.

    Args:
        n_items: how many items.
        seed: of the probes.

    Returns:
        One file of rows, and the pictures.
    """
    world = planted_world()
    rows: list[str] = []
    pictures: dict[str, bytes] = {}
    for index, probe in enumerate(draw(n_items, seed, mix=MIX)):
        draws = Draws("mm_critic", seed, index)
        names = [
            f"{probe.program.family}-{index:05d}-{number}.png"
            for number in range(1, len(probe.pictures) + 1)
        ]
        pictures.update(zip(names, probe.pictures, strict=True))
        row = _row(probe, index, world, draws)
        rows.append(json.dumps({**row, "images": names}, ensure_ascii=False))
    return BenchFiles(rows={FILE: ("\n".join(rows) + "\n").encode()}, pictures=pictures)


def _row(probe: ProbeSample, index: int, world: World, draws: Draws) -> dict[str, object]:
    program = probe.program
    readers = read_steps(program)
    responses = [_respond(world, program, readers, model) for model in world.models]
    responses = draws.shuffled(responses, "models")
    makers: dict[int, Callable[[], dict[str, object] | None]] = {
        2: lambda: _correction_row(program, responses),
        3: lambda: _pair_row(responses, index // 4, draws),
    }
    make_row = makers.get(index % 4)
    own = make_row() if make_row is not None else None
    return {
        "id": f"{program.family}/{program.seed}/{program.index:05d}",
        "subset": "core" if len(probe.pictures) > 1 else "core_single_image",
        "task_type": TASK_TYPES[program.family],
        "task": f"{program.family}: {program.template}",
        "question": program.question,
        "choices": list(program.choices),
        "reference_answer": program.answer,
        **(own or _basic_row(program, responses[0])),
    }


def _respond(
    world: World, program: Program, readers: Sequence[StepReader], model: str
) -> _Response:
    text = world.answer(model, program).text
    return _Response(model=model, text=text, marked=mark(program, readers, text))


def _basic_row(program: Program, response: _Response) -> dict[str, object]:
    marked = response.marked
    return {
        "dimension": "basic",
        "response": response.text,
        "model": response.model,
        "correct": marked.right,
        "quality": marked.quality,
        "reference_critique": reference_critique(program, marked.wrong),
        "annotator": ANNOTATOR,
        "paraphrase": paraphrase(program, marked.wrong),
    }


def _correction_row(program: Program, responses: Sequence[_Response]) -> dict[str, object] | None:
    for one in responses:
        if band(one.marked.quality) != "high":
            return {
                "dimension": "correction",
                "response": one.text,
                "model": one.model,
                "quality": one.marked.quality,
                "reference_correction": write_correction(program, program.steps),
                "annotator": ANNOTATOR,
            }
    return None


def _pair_row(responses: Sequence[_Response], turn: int, draws: Draws) -> dict[str, object] | None:
    """Find two responses of the pairing whose turn it is, else of another one."""
    for step in range(len(PAIRINGS)):
        wanted = PAIRINGS[(turn + step) % len(PAIRINGS)]
        for pair in combinations(responses, 2):
            worse, better = sorted(pair, key=lambda one: one.marked.quality)
            if (band(worse.marked.quality), band(better.marked.quality)) != wanted:
                continue
            swapped = draws.uniform("side") < 0.5
            a, b = (better, worse) if swapped else (worse, better)
            return {
                "dimension": "comparison",
                "response_a": a.text,
                "response_b": b.text,
                "model_a": a.model,
                "model_b": b.model,
                "quality_a": a.marked.quality,
                "quality_b": b.marked.quality,
                "preferred": "a" if swapped else "b",
            }
    return None
