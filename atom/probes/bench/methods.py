"""Rival methods on probes: what a holistic, ranking or comparing judge makes of the truth.

The noise model is written down in `design/012-rivals.md`; its sizes stand in `NOISE`, so that
predictions and the judge share them. The exact judge has none of it; the coin knows nothing.

Reference: ATOM 4.1, appendix B; METHODS D3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log
from typing import Any, Final

from atom.probes.answers.covering import find_step, with_truth
from atom.probes.answers.derivation import SILENCE
from atom.probes.answers.step_reader import StepReader
from atom.probes.bench.types import Answer, BenchQuestion
from atom.probes.draws import Draws
from atom.probes.judge import AnswerJudge
from atom.probes.noise import confusion_row
from atom.probes.outcome import read_outcome
from atom.probes.program import Program, ProgramStep

WHOLE_CRITERION: Final = "The answer as a whole is right and sound."
"""What is left to compare when no two answers differ."""
_MINUTES = 1440


@dataclass(frozen=True, kw_only=True)
class RivalNoise:
    """Sizes of what each method's judge does to the truth (`design/012-rivals.md`).

    All but `point` are in points of 1..5; `point` is on the holistic scale of 1..10.
    """

    words: float = 40.0
    """Words of an answer of usual length: length = ln(words / 40), within -1..1."""
    point_sd: float = 1.5
    """Pointwise: standard deviation of the noise on the whole."""
    point_length: float = 0.5
    """Pointwise: points for each unit of length."""
    point_outcome: float = 1.0
    """Pointwise: what a right final answer adds, and a wrong one takes."""
    batch_sd: float = 0.6
    batch_length: float = 0.12
    batch_place: float = 0.25
    """Batch: what the first place adds and the last one takes, evenly between."""
    batch_grid: float = 0.25
    """Batch: answers within one cell of this width share a rank."""
    scan_diagonal: float = 0.65
    """SCAN: how often a score is right; its scorer has no ground truth."""
    scan_far: float = 0.05
    drop: float = 0.15
    """Without replay: how often a step isn't found."""
    wrong_truth: float = 0.10
    """Without replay: how often a step that is found gets a wrong ground truth."""
    whole_sd: float = 0.5
    """Without decomposition: standard deviation of the noise on the whole."""
    whole_outcome: float = 0.3


NOISE: Final = RivalNoise()


# --- the truth, read from an answer --------------------------------------------------------------


def step_scores(readers: Sequence[StepReader], answer: str) -> tuple[int, ...]:
    """Return the true score of every step; what can't be read counts as silence, a 2."""
    judge = AnswerJudge(readers, answer)
    return tuple(judge.score(reader).score or SILENCE for reader in readers)


def numerator(program: Program, scores: Sequence[int]) -> int:
    """Return `sum_t w_t s_t`."""
    return sum(step.weight * score for step, score in zip(program.steps, scores, strict=True))


def quality(program: Program, scores: Sequence[int]) -> float:
    """Return the weighted mean score, 1..5."""
    return numerator(program, scores) / sum(step.weight for step in program.steps)


def outcome_sign(program: Program, readers: Sequence[StepReader], answer: str) -> int:
    """Return 1 for a right final answer, -1 for a wrong one, 0 where none can be read."""
    found = read_outcome(
        program, AnswerJudge(readers, answer), choices=program.choices, reference=program.answer
    )
    return {"right": 1, "wrong": -1}.get(found.verdict, 0)


def length_of(answer: str) -> float:
    """Return how much longer than usual an answer is: `ln(words / 40)`, within -1..1."""
    return max(-1.0, min(1.0, log(max(len(answer.split()), 1) / NOISE.words)))


def place_pull(at: int, n_answers: int) -> float:
    """Return what a 0-based place adds to an answer when all are ranked at once."""
    return NOISE.batch_place * (1 - 2 * at / (n_answers - 1)) if n_answers > 1 else 0.0


def nearest(value: float, least: int, most: int) -> int:
    """Round half up, within limits."""
    return max(least, min(most, floor(value + 0.5)))


def other_truth(step: ProgramStep) -> str | None:
    """Return a legal ground truth that is wrong, always the same one; None where there is none."""
    if step.kind in ("cat", "text"):
        others = [option for option in step.options if option != step.truth]
        far = [option for option in others if option not in step.near_options]
        candidates = [*far, *others]
    elif ":" in step.truth:
        hour, _, minute = step.truth.partition(":")
        whole = hour.isdigit() and minute.isdigit()
        moment = (int(hour) * 60 + int(minute) + 95) % _MINUTES if whole else 0
        candidates = [f"{moment // 60}:{moment % 60:02d}"]
    else:
        value = step.value or 0.0
        candidates = [f"{value + 3 * max(step.near, step.tolerance, 1.0):g}"]
    for text in candidates:
        edited = with_truth(step, text)
        if edited is not None and edited is not step:
            return text
    return None


def differing(per_answer: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Return the steps that the answers don't all have the same score on."""
    return tuple(
        at for at, column in enumerate(zip(*per_answer, strict=True)) if len(set(column)) > 1
    )


# --- the judges ----------------------------------------------------------------------------------


def _answer(data: object) -> str:
    return data if isinstance(data, str) else ""


def _answers(question: BenchQuestion) -> list[tuple[object, str]]:
    rows = question.data.get("answers")
    return [
        (row.get("id"), _answer(row.get("answer")))
        for row in (rows if isinstance(rows, list) else [])
        if isinstance(row, dict)
    ]


def _rows(question: BenchQuestion, name: str) -> list[dict[str, Any]]:
    rows = question.data.get(name)
    return [row for row in (rows if isinstance(rows, list) else []) if isinstance(row, dict)]


def _draw(row: Sequence[float], draws: Draws, *key: str | int) -> int:
    left = draws.uniform(*key)
    for said, share in enumerate(row, start=1):
        if left < share:
            return said
        left -= share
    return len(row)


def pointwise(question: BenchQuestion) -> dict[str, object]:
    """Give one number from 1 to 10: the truth with noise, length and the final answer in it."""
    if question.character == "coin":
        return {"reason": "a coin fell so", "score": 1 + question.draws.integer(10, "score")}
    answer = question.text("answer")
    value = pointwise_mean(question, answer)
    if question.character == "noisy":
        value += NOISE.point_sd * question.draws.normal("whole")
    return {"reason": "the answer as a whole", "score": nearest(value, 1, 10)}


def pointwise_mean(question: BenchQuestion, answer: str) -> float:
    """Return what a pointwise score is around, on 1..10."""
    program, readers = question.program, question.readers
    value = 1 + 9 * (quality(program, step_scores(readers, answer)) - 1) / 4
    if question.character == "noisy":
        value += NOISE.point_outcome * outcome_sign(program, readers, answer)
        value += NOISE.point_length * length_of(answer)
    return value


def whole(question: BenchQuestion) -> dict[str, object]:
    """Give one score from 1 to 5, the solution at hand: less noise, still swayed by the ending."""
    if question.character == "coin":
        return {"reason": "a coin fell so", "score": 1 + question.draws.integer(5, "score")}
    value = whole_mean(question, question.text("answer"))
    if question.character == "noisy":
        value += NOISE.whole_sd * question.draws.normal("whole")
    return {"reason": "held against the whole solution", "score": nearest(value, 1, 5)}


def whole_mean(question: BenchQuestion, answer: str) -> float:
    """Return what a score without decomposition is around, on 1..5."""
    program, readers = question.program, question.readers
    value = quality(program, step_scores(readers, answer))
    if question.character == "noisy":
        value += NOISE.whole_outcome * outcome_sign(program, readers, answer)
    return value


def batch_rank(question: BenchQuestion) -> dict[str, object]:
    """Rank all answers at once: the place in the row counts, and near ones share a rank."""
    answers = _answers(question)
    worth: list[int] = []
    for at, (_, text) in enumerate(answers):
        if question.character == "coin":
            worth.append(-len([0 for other in range(len(answers))
                               if question.draws.uniform("lot", other)
                               < question.draws.uniform("lot", at)]))  # fmt: skip
        elif question.character == "exact":
            worth.append(numerator(question.program, step_scores(question.readers, text)))
        else:
            value = batch_mean(question, text, at, len(answers))
            value += NOISE.batch_sd * question.draws.normal("answer", at)
            worth.append(floor(value / NOISE.batch_grid + 0.5))
    ranking = [
        {"id": name, "reason": "its place among them", "rank": 1 + sum(w > mine for w in worth)}
        for (name, _), mine in zip(answers, worth, strict=True)
    ]
    return {"ranking": ranking}


def batch_mean(question: BenchQuestion, answer: str, at: int, n_answers: int) -> float:
    """Return what the noisy judge's worth of an answer is around, in points of 1..5."""
    value = quality(question.program, step_scores(question.readers, answer))
    return value + NOISE.batch_length * length_of(answer) + place_pull(at, n_answers)


def scan_criteria(question: BenchQuestion) -> dict[str, object]:
    """Name the steps on which the answers differ; nothing is solved, so no truth comes along."""
    steps = question.program.steps
    if question.character == "coin":
        chosen = [at for at in range(len(steps)) if question.draws.uniform("kept", at) < 0.5]
    else:
        chosen = list(differing([step_scores(question.readers, t) for _, t in _answers(question)]))
    rows: list[dict[str, object]] = [
        {"name": f"step {at + 1}", "criterion": steps[at].question, "weight": steps[at].weight}
        for at in chosen
    ]
    return {"criteria": rows or [{"name": "whole", "criterion": WHOLE_CRITERION, "weight": 10}]}


def scan_scoring(question: BenchQuestion) -> dict[str, object]:
    """Score one answer on the criteria, with more slips than a scorer that has ground truths."""
    program, answer = question.program, question.text("answer")
    scores = step_scores(question.readers, answer)
    rows: list[dict[str, object]] = []
    for at, item in enumerate(_rows(question, "criteria")):
        text = str(item.get("criterion", ""))
        row: dict[str, object] = {"id": item.get("id"), "reason": "", "score": None}
        step = find_step(program, text)
        if step is None and text != WHOLE_CRITERION:
            row["reason"] = "not covered: no step of this probe asks that"
        elif question.character == "coin":
            row["score"] = 1 + question.draws.integer(5, "score", at)
        else:
            true = scan_truth(program, scores, step)
            noisy = question.character == "noisy"
            row["score"] = _draw(scan_row(true), question.draws, "scan", at) if noisy else true
            row["reason"] = "by looking at the picture"
        rows.append(row)
    return {"scores": rows}


def scan_truth(program: Program, scores: Sequence[int], step: ProgramStep | None) -> int:
    """Return the true score on one of SCAN's criteria: a step's, or the rounded whole."""
    if step is None:
        return nearest(quality(program, scores), 1, 5)
    return next(s for each, s in zip(program.steps, scores, strict=True) if each.id == step.id)


def scan_row(true: int) -> tuple[float, ...]:
    """Return P(said = 1..5 | true score) of SCAN's scorer."""
    return confusion_row(true, diagonal=NOISE.scan_diagonal, far=NOISE.scan_far)


def bare_criteria(question: BenchQuestion) -> dict[str, object]:
    """Make criteria without solving first: some steps are missed, some truths are wrong."""
    rows: list[dict[str, object]] = []
    for at, step in kept_steps(question):
        wrong = other_truth(step)
        spoiled = {
            "exact": False,
            "noisy": question.draws.uniform("truth", at) < NOISE.wrong_truth,
            "coin": question.draws.uniform("truth", at) < 0.5,
        }[question.character]
        truth = wrong if spoiled and wrong is not None else step.truth
        rows.append({"question": step.question, "ground_truth": truth, "weight": step.weight})
    return {"criteria": rows}


def kept_steps(question: BenchQuestion) -> list[tuple[int, ProgramStep]]:
    """Return the steps that are found without a solution; two at least, the first ones then."""
    steps = list(enumerate(question.program.steps))
    if question.character == "exact":
        return steps
    share = NOISE.drop if question.character == "noisy" else 0.5
    kept = [(at, step) for at, step in steps if question.draws.uniform("found", at) >= share]
    return kept if len(kept) > 1 else steps[:2]


TASKS: Final[dict[str, Answer]] = {
    "pointwise": pointwise,
    "batch_rank": batch_rank,
    "scan_criteria": scan_criteria,
    "scan_scoring": scan_scoring,
    "bare_criteria": bare_criteria,
    "whole": whole,
}
"""Prompt id → who answers it."""
