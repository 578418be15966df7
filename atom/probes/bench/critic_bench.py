"""CriticBench on probes: answers, pairs and critiques whose worth is computed from the steps.

An answer's score is the weighted mean of its steps' scores on the scale from 1 to 7; of a pair the
one with the larger mean is better, and there are no ties. A critique says of each step whether the
answer has it right; its score is the share of such claims that are true. Questions with a number
for an answer are of the domain `math_cot`, where corrections are compared by value; the others are
of `qa`. Files are in the published layout, with the pictures' names in a field of our own.

Reference: CriticBench 3; METHODS A18, D1-D3 (steps, scores, the noisy judge).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from atom.probes.answers.prose import VOICES, write_answer
from atom.probes.answers.reading import same_words
from atom.probes.answers.step_reader import StepReader, read_steps
from atom.probes.bench.types import (
    Answer,
    BenchFiles,
    BenchQuestion,
    question_of,
    stem_of,
    step_scores,
)
from atom.probes.candidates import World, planted_world
from atom.probes.draws import Draws
from atom.probes.judge import AnswerJudge
from atom.probes.noise import confuse
from atom.probes.worlds.make import ProbeSample, ProbeSource, make_probes

KINDS: Final = ("answer", "pair", "answer", "pair", "critique")
"""What probes become, in turn."""
_RIGHT: Final = 4
_REFERENCE: Final = 8
_CLAIM = re.compile(r"(?P<question>.+?)\[(?P<claim>right|wrong)[^\[\]]*\]")
_FINAL = re.compile(r"^Answer:\s*(?P<said>.+)$", re.MULTILINE)
_BETTER = re.compile(r"The (?P<which>first|second) answer is better")

Claims = Mapping[str, bool]
"""Step id → whether an answer is said to have it right."""


@dataclass(frozen=True, kw_only=True)
class StepScores:
    """An answer, read step by step.

    Args:
        scores: step id → score 1..5; a step that can't be told is a 1.
        weights: step id → weight.
    """

    scores: Mapping[str, int]
    weights: Mapping[str, int]

    @property
    def mean(self) -> float:
        """Weighted mean of the steps' scores, 1..5."""
        total = sum(self.weights.values())
        return sum(self.scores[step] * w for step, w in self.weights.items()) / total

    @property
    def likert(self) -> int:
        """The mean on the scale from 1 to 7, rounded."""
        return math.floor(1 + 1.5 * (self.mean - 1) + 0.5)

    @property
    def claims(self) -> dict[str, bool]:
        """Which steps it has right."""
        return {step: score >= _RIGHT for step, score in self.scores.items()}


def look_at(steps: Sequence[StepReader], text: str, noise: Draws | None = None) -> StepScores:
    """Read an answer; with draws, as the noisy judge does."""
    scores = step_scores(steps, AnswerJudge(steps, text))
    if noise is not None:
        scores = {step: confuse(score, noise, text, step) for step, score in scores.items()}
    return StepScores(scores=scores, weights={r.step.id: r.step.weight for r in steps})


# --- files ---------------------------------------------------------------------------------------


def make(n_items: int, seed: int, draw: ProbeSource = make_probes) -> BenchFiles:
    """Make the published files from fresh probes.

    Args:
        n_items: how many items; two of five are answers, two pairs, one a critique.
        seed: of the probes; equal arguments give equal rows.

    Returns:
        A file a domain and kind, and the pictures that the rows name.
    """
    world = planted_world()
    rows: dict[str, list[dict[str, object]]] = {}
    pictures: dict[str, bytes] = {}
    for number, probe in enumerate(draw(n_items, seed)):
        program = probe.program
        named = {
            f"{stem_of(program)}-{k}.png": data for k, data in enumerate(probe.pictures, start=1)
        }
        pictures |= named
        valued = program.step(program.answer_step).kind == "num" and not program.choices
        domain = "math_cot" if valued else "qa"
        kind = KINDS[number % len(KINDS)]
        row = _ROWS[kind](world, probe, Draws("critic_bench", seed, program.index))
        rows.setdefault(_FILES[kind].format(domain), []).append(
            {"question": question_of(program), **row, "pictures": list(named)}
        )
    return BenchFiles(
        rows={name: json.dumps(part, ensure_ascii=False).encode() for name, part in rows.items()},
        pictures=pictures,
    )


def _quality(score: int) -> str:
    return "low" if score <= 3 else "med" if score <= 5 else "high"


def _answer_row(world: World, probe: ProbeSample, draws: Draws) -> dict[str, object]:
    program, steps = probe.program, read_steps(probe.program)
    text = world.answer(draws.pick(world.models, "model"), program).text
    look = look_at(steps, text)
    return {
        "generation": text,
        "feedback": critique(steps, look.claims),
        "feedback_score": look.likert,
        "correction": _solution(probe, draws),
        "ground_truth_answer": program.answer,
        "metadata": {"quality": _quality(look.likert)},
    }


def _pair_row(world: World, probe: ProbeSample, draws: Draws) -> dict[str, object]:
    """Take the answers of two models that differ; the fullest and the emptiest if none do."""
    steps = read_steps(probe.program)
    models = draws.shuffled(world.models, "models")
    pair: list[tuple[str, StepScores]] = []
    for text in (world.answer(model, probe.program).text for model in models):
        look = look_at(steps, text)
        if not pair or look.mean != pair[0][1].mean:
            pair.append((text, look))
        if len(pair) == 2:
            break
    else:
        texts = (_solution(probe, draws), "I can't tell.")
        pair = [(text, look_at(steps, text)) for text in texts]
    if draws.uniform("order") < 0.5:
        pair.reverse()
    (first, one), (second, two) = pair
    better = "first" if one.mean > two.mean else "second"
    both = {"generation_a": first, "generation_b": second}
    qualities = {"quality_a_sub": _quality(one.likert), "quality_b_sub": _quality(two.likert)}
    return {
        "obj": {**both, "preference": "A" if better == "first" else "B"},
        "sub": {**both, "feedback": comparison(steps, one.claims, two.claims, better)},
        "metadata": qualities,
    }


def _critique_row(world: World, probe: ProbeSample, draws: Draws) -> dict[str, object]:
    """Write a critique that is wrong about a drawn share of the steps."""
    steps = read_steps(probe.program)
    text = world.answer(draws.pick(world.models, "model"), probe.program).text
    look = look_at(steps, text)
    wrong = draws.uniform("share")
    claims = {
        step: right != (draws.uniform("claim", step) < wrong) for step, right in look.claims.items()
    }
    said = critique(steps, claims)
    return {
        "generation": text,
        "ground_truth_feedback": critique(steps, look.claims),
        "evaluated_feedback": said,
        "meta_feedback_score": worth(steps, said, look.claims),
        "raw_quality": _quality(look.likert),
    }


def _solution(probe: ProbeSample, draws: Draws) -> str:
    scores = {step.id: 5 for step in probe.program.steps}
    return write_answer(probe.program, scores, VOICES[0], draws.below("right"), right=True).text


_FILES: Final = {
    "answer": "{}_feedback_correction.json",
    "pair": "{}_comp_feedback.json",
    "critique": "meta_feedback_singlewise_{}.json",
}
_ROWS: Final = {"answer": _answer_row, "pair": _pair_row, "critique": _critique_row}


# --- critiques -----------------------------------------------------------------------------------


def critique(steps: Sequence[StepReader], claims: Claims) -> str:
    """Write down what an answer has right and wrong."""
    return "\n".join(
        f"{reader.step.question} [{'right' if claims[reader.step.id] else 'wrong'}; "
        f"the picture gives {reader.step.truth}]"
        for reader in steps
    )


def comparison(steps: Sequence[StepReader], first: Claims, second: Claims, better: str) -> str:
    """Write down what two answers have right and wrong, and which one is better."""
    verdict = f"The {better} answer is better." if better != "neither" else "They are alike."
    return (
        f"First answer:\n{critique(steps, first)}\nSecond answer:\n{critique(steps, second)}\n"
        f"{verdict}"
    )


def _read_claims(steps: Sequence[StepReader], text: str) -> Iterator[tuple[str, bool]]:
    known = {same_words(reader.step.question): reader.step.id for reader in steps}
    for line in text.splitlines():
        match = _CLAIM.match(line)
        step = known.get(same_words(match["question"])) if match else None
        if match and step is not None:
            yield step, match["claim"] == "right"


def share_true(steps: Sequence[StepReader], text: str, truth: Claims) -> float:
    """Return which share of the steps a critique is right about; what it leaves out is wrong."""
    said = dict(_read_claims(steps, text))
    return sum(said.get(step) == right for step, right in truth.items()) / len(truth)


def worth(steps: Sequence[StepReader], text: str, truth: Claims) -> int:
    """Return a critique's score on the scale from 1 to 7."""
    return math.floor(1 + 6 * share_true(steps, text, truth) + 0.5)


# --- judges --------------------------------------------------------------------------------------


def _coin(question: BenchQuestion, sides: int) -> int:
    """Draw from 1 to the number of sides."""
    return 1 + question.draws.integer(sides, "coin")


def _feedback(question: BenchQuestion) -> dict[str, object]:
    look = look_at(question.readers, question.text("answer"), question.noise)
    if question.character == "coin":
        claims = {step: question.draws.uniform("claim", step) < 0.5 for step in look.scores}
        return {"critique": critique(question.readers, claims), "score": _coin(question, 7)}
    return {"critique": critique(question.readers, look.claims), "score": look.likert}


def _meta(question: BenchQuestion) -> dict[str, object]:
    look = look_at(question.readers, question.text("answer"), question.noise)
    score = worth(question.readers, question.text("critique"), look.claims)
    if question.character == "coin":
        score = _coin(question, 7)
    return {"reason": "claims held against the picture", "score": score}


def _compare(question: BenchQuestion) -> dict[str, object]:
    one, two = (
        look_at(question.readers, question.text(f"{which}_answer"), question.noise)
        for which in ("first", "second")
    )
    better = "neither" if one.mean == two.mean else "first" if one.mean > two.mean else "second"
    if question.character == "coin":
        better = ("first", "second")[_coin(question, 2) - 1]
    said = comparison(question.readers, one.claims, two.claims, better)
    return {"critique": said, "better": better}


def _correct(question: BenchQuestion) -> dict[str, object]:
    program = question.program
    if question.character == "coin":
        guessed = str(1000 + question.draws.integer(9000, "guess"))
        return {"correction": f"Answer: {guessed}", "final_answer": guessed}
    noise = question.noise
    scores = {
        step.id: 5 if noise is None else confuse(5, noise, "correction", step.id)
        for step in program.steps
    }
    right = scores[program.answer_step] >= _RIGHT
    text = write_answer(program, scores, VOICES[0], question.draws, right=right).text
    final = _FINAL.search(text)
    return {"correction": text, "final_answer": final["said"].strip() if final else ""}


def _grade(question: BenchQuestion) -> dict[str, object]:
    """Grade a text: 8 where it is as right as the reference, 1 where nothing is."""
    answers = [text for text in question.data.get("answers", ()) if isinstance(text, str)]
    looks = [look_at(question.readers, text, question.noise) for text in answers]
    said, kind = question.text("text"), question.data.get("kind")
    if kind == "critique" and looks:
        share = share_true(question.readers, said, looks[0].claims)
    elif kind == "comparison" and len(looks) == 2:
        match = _BETTER.search(said)
        better = "first" if looks[0].mean > looks[1].mean else "second"
        share = float(match is not None and match["which"] == better)
    else:
        claims = look_at(question.readers, said, question.noise).claims
        share = sum(claims.values()) / len(claims)
    score = math.floor(1 + (_REFERENCE - 1) * share + 0.5)
    if question.character == "coin":
        score = _coin(question, 10)
    return {"reason": f"{share:.0%} of it is as right as the reference", "score": score}


TASKS: Final[Mapping[str, Answer]] = {
    "cb_feedback": _feedback,
    "cb_meta_feedback": _meta,
    "cb_comparison": _compare,
    "cb_correction": _correct,
    "cb_subjective": _grade,
}
