"""VL-RewardBench on probes: pairs of simulated answers, and judges that compare or grade them.

An answer is worth the weighted mean of its steps' scores, as the probe judge reads them; of every
pair made here one answer is worth more, by at least a whole grade of ten.

Reference: VL-RewardBench 2 and Table 1 (layout, categories, error types); METHODS D2-D3.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Final

from atom.probes.answers.derivation import SILENCE
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
from atom.probes.program import Program
from atom.probes.worlds import leaves
from atom.probes.worlds.leaves import Leaf
from atom.probes.worlds.make import ProbeSample, ProbeSource, make_probes

FILE: Final = "vl_rewardbench_probes.jsonl"
SOURCE: Final = "Atomscope probes (synthetic)"
MIX: Final[Mapping[str, int]] = {
    "gauges": 3, "charts": 2, "geometry": 2, "scenes": 1, "tables": 2,
}  # fmt: skip
"""Families with one picture; scenes are slow to draw."""
_IDS: Final[Mapping[str, str]] = {
    "gauges": "RLAIF-V-probe",
    "scenes": "RLHF-V-probe",
    "charts": "wildvision-battle-probe",
    "geometry": "mathverse_probe",
    "tables": "mmmu_probe",
}
"""The published groups go by how an id begins: two families of probes each for hallucination and
reasoning, one for general questions."""
_REASONING: Final = frozenset({"geometry", "tables"})
_COUNTS: Final[frozenset[Leaf]] = frozenset({leaves.COUNT_ALL, leaves.FILTER_COUNT})
_ATTRIBUTES: Final[frozenset[Leaf]] = frozenset({leaves.COLOUR, leaves.SHAPE, leaves.FIND})
_POSITIONS: Final[frozenset[Leaf]] = frozenset(
    {leaves.NEEDLE, leaves.ZONE, leaves.HOUR_HAND, leaves.MINUTE_HAND, leaves.MARK_HEIGHT}
)
_TEXTS: Final[frozenset[Leaf]] = frozenset({leaves.DIGITS, leaves.UNIT_LABEL, leaves.LEGEND})
_LOWEST, _HIGHEST = 1, 10


def worth(
    readers: Sequence[StepReader], answer: str, *, noise: Draws | None = None, key: str = ""
) -> float:
    """Return what an answer is worth: the mean of its steps' scores by weight, 1..5.

    Args:
        readers: the program's steps; a step that nothing can be said of counts as silence.
        answer: the text.
        noise: draws of the noisy judge; None = exact.
        key: tells two answers under the same draws apart.
    """
    judge = AnswerJudge(readers, answer)
    total, weights = 0.0, 0
    for reader in readers:
        score = judge.score(reader).score or SILENCE
        if noise is not None:
            score = confuse(score, noise, reader.step.id, key)
        total += reader.step.weight * score
        weights += reader.step.weight
    return total / weights


def grade(value: float) -> int:
    """Return a worth of 1..5 as a whole grade of 1..10."""
    return _LOWEST + round((value - 1) / 4 * (_HIGHEST - _LOWEST))


# --- the files ----------------------------------------------------------------------------------


def make(n_items: int, seed: int, draw: ProbeSource = make_probes) -> BenchFiles:
    """Make rows in the published layout, with the error types that an older revision has.

    Args:
        n_items: how many pairs.
        seed: of the probes; equal arguments give equal files.

    Returns:
        The rows and the pictures.
    """
    world = planted_world()
    rows: list[dict[str, object]] = []
    pictures: dict[str, bytes] = {}
    wanted = n_items
    index = 0
    while len(rows) < n_items:
        for probe in draw(wanted, seed + 10_000 * index, mix=MIX):
            pair = _best_pair(world, probe.program, longer=len(rows) % 2 == 0)
            if pair is None:
                continue
            row, name = _row(probe, pair, number=len(rows))
            rows.append(row)
            pictures[name] = probe.pictures[0]
            if len(rows) == n_items:
                break
        wanted, index = n_items - len(rows), index + 1
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return BenchFiles(rows={FILE: text.encode()}, pictures=pictures)


@dataclass(frozen=True, kw_only=True)
class _MadeAnswer:
    """An answer of a simulated candidate, with what it is worth."""

    model: str
    text: str
    scores: Mapping[str, int]
    value: float


def _best_pair(
    world: World, program: Program, *, longer: bool
) -> tuple[_MadeAnswer, _MadeAnswer] | None:
    """Choose a better and a worse answer, the better one longer or shorter if there is such a pair.

    Returns:
        Both; None where all answers get the same grade.
    """
    readers = read_steps(program)
    made = [_answer(world, program, readers, model) for model in world.models]
    pairs = [(x, y) for x, y in permutations(made, 2) if grade(x.value) > grade(y.value)]
    fitting = [(x, y) for x, y in pairs if (len(x.text) > len(y.text)) == longer] or pairs
    if not fitting:
        return None
    draws = Draws("vl_rewardbench", program.family, program.seed, program.index)
    return draws.pick(fitting, "pair")


def _answer(
    world: World, program: Program, readers: Sequence[StepReader], model: str
) -> _MadeAnswer:
    text = world.answer(model, program).text
    judge = AnswerJudge(readers, text)
    scores = step_scores(readers, judge)
    return _MadeAnswer(model=model, text=text, scores=scores, value=worth(readers, text))


def _row(
    probe: ProbeSample, pair: tuple[_MadeAnswer, _MadeAnswer], *, number: int
) -> tuple[dict[str, object], str]:
    program, (better, worse) = probe.program, pair
    draws = Draws("vl_rewardbench", program.family, program.seed, program.index)
    swapped = draws.uniform("shown") < 0.5
    answers = [worse, better] if swapped else [better, worse]
    name = f"images/probes/{stem_of(program)}.png"
    tags = None if program.family in _REASONING else _tags(program, better, worse)
    row: dict[str, object] = {
        "id": f"{_IDS[program.family]}-{number:05d}",
        "query": question_of(program),
        "response": [one.text for one in answers],
        "image": name,
        "human_ranking": [1, 0] if swapped else [0, 1],
        "models": [one.model for one in answers],
        "judge": "truth of the probe",
        "rationale": f"{better.value:.2f} against {worse.value:.2f} of 5, by steps",
        "query_source": SOURCE,
        "ground_truth": program.answer,
        "human_error_analysis": tags,
    }
    return row, name


def _tags(program: Program, better: _MadeAnswer, worse: _MadeAnswer) -> list[str]:
    """Name what is wrong with the worse answer, in the published words."""
    found: dict[str, None] = {}
    for step in program.steps:
        if worse.scores[step.id] >= better.scores[step.id]:
            continue
        if step.leaf in _COUNTS:
            found["counting"] = None
        elif step.leaf in _ATTRIBUTES:
            found["attribute"] = None
        elif step.leaf in _POSITIONS:
            found["recognition(position)"] = None
        elif step.leaf in _TEXTS:
            found["recognition(text)"] = None
        elif worse.scores[step.id] == 1:
            found["hallucination"] = None
        else:
            found["others"] = None
    return list(found)


# --- the judges ---------------------------------------------------------------------------------


def answer_pair(question: BenchQuestion) -> dict[str, object]:
    """Say which of two answers is better, as the judge's character has it."""
    first, second = (question.text(f"{place}_answer") for place in ("first", "second"))
    draws = question.draws
    if question.character == "coin":
        verdict = "first" if draws.uniform("coin") < 0.5 else "second"
        return {"reason": "A coin was flipped.", "verdict": verdict}
    one = worth(question.readers, first, noise=question.noise, key="first")
    two = worth(question.readers, second, noise=question.noise, key="second")
    ahead = one > two if one != two else draws.uniform("tie") < 0.5
    reason = f"By steps, the first answer is worth {one:.2f} of 5 and the second {two:.2f}."
    return {"reason": reason, "verdict": "first" if ahead else "second"}


def answer_point(question: BenchQuestion) -> dict[str, object]:
    """Grade one answer, as the judge's character has it."""
    if question.character == "coin":
        score = _LOWEST + question.draws.integer(_HIGHEST - _LOWEST + 1, "coin")
        return {"reason": "A die was rolled.", "score": score}
    value = worth(question.readers, question.text("answer"), noise=question.noise)
    return {"reason": f"By steps, it is worth {value:.2f} of 5.", "score": grade(value)}


TASKS: Final[Mapping[str, Answer]] = {"vlrb_pair": answer_pair, "vlrb_point": answer_point}
