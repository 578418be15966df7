"""Multi-Crit on probes: pairs of answers whose better one depends on the criterion, exactly known.

Each criterion is a measure of an answer's text against its picture's program, so that the label of
a pair is computed, not judged: how many steps an answer states (completeness), how many that are
read off the picture it has right (grounding), how many false values it states (hallucination), how
long its words are (expressiveness), how short its sentences are (clarity), how many steps
that follow from others it has right (logic), how often it hedges (exploration), how short it is
(efficiency). Where both answers measure the same there is no row, as people's ties have none in the
published data. Files are in the published layout.

Reference: Multi-Crit 3.2, 3.3; METHODS D1-D3 (steps, scores, the noisy judge).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from atom.probes.answers.step_reader import StepReader, read_steps
from atom.probes.bench.types import BenchFiles, BenchQuestion, question_of, stem_of
from atom.probes.candidates import World, planted_world
from atom.probes.draws import Draws
from atom.probes.judge import AnswerJudge
from atom.probes.program import Program
from atom.probes.worlds.make import FAMILIES, ProbeSample, ProbeSource, make_probes

SPLIT_CRITERIA: Final[Mapping[str, tuple[str, ...]]] = {
    "open_ended": ("completeness", "grounding", "hallucination", "expressiveness", "clarity"),
    "reasoning": ("grounding", "logic", "hallucination", "exploration", "efficiency"),
}
FILES: Final[Mapping[str, str]] = {
    "open_ended": "multi-crit-openEnded-flatten.jsonl",
    "reasoning": "multi-crit-reasoning-flatten.jsonl",
}
FLIPPED: Final = 0.2
"""Share of the noisy judge's verdicts that are turned: what the confusion of METHODS D3 has off its
diagonal."""
_TRIES: Final = 6
"""Pairs of answers to one probe among which one with a conflict is looked for."""
_SAME_MODEL: Final = 0.4
"""Share of pairs whose answers come from one model (the paper's intra-model pairs)."""
_CALM: Final = 0.2
"""Share of pairs for which answers without a conflict are looked for instead."""
_MIX: Final[Mapping[str, int]] = {name: int(name != "changes") for name in FAMILIES}
"""Families with one picture a question, as in the published data."""
_WORD: Final = re.compile(r"[A-Za-z']+|\d[\d.,:]*")
_SENTENCE_END: Final = re.compile(r"[.!?](?=\s|$)|\n+")
_RIGHT: Final = frozenset({4, 5})
_WRONG: Final = frozenset({1, 3})
"""A value is stated that isn't right; a 2 states none."""


@dataclass(frozen=True, kw_only=True)
class AnswerMarks:
    """An answer, read.

    Args:
        scores: score of each step of the program; None where nothing can be said.
        steps: the program's steps, ready to read.
    """

    text: str
    scores: tuple[int | None, ...]
    steps: tuple[StepReader, ...]
    judge: AnswerJudge

    def count(self, scores: Collection[int], *, derived: bool | None = None) -> int:
        """Return how many steps have one of the scores: of all steps, or of those (not) derived."""
        return sum(
            score in scores and derived in (None, bool(reader.step.depends_on))
            for reader, score in zip(self.steps, self.scores, strict=True)
        )


def look_at(steps: tuple[StepReader, ...], text: str) -> AnswerMarks:
    """Read an answer."""
    judge = AnswerJudge(steps, text)
    scores = tuple(judge.score(reader).score for reader in steps)
    return AnswerMarks(text=text, scores=scores, steps=steps, judge=judge)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _sentence_length(text: str) -> float:
    sizes = [len(_words(part)) for part in _SENTENCE_END.split(text)]
    sizes = [size for size in sizes if size]
    return sum(sizes) / len(sizes) if sizes else 0.0


def _word_length(text: str) -> float:
    words = [word for word in _words(text) if word[0].isalpha()]
    return sum(map(len, words)) / len(words) if words else 0.0


def _hedges(look: AnswerMarks) -> int:
    reading = look.judge.reading
    return sum(reading.hedged(clause.start, clause.end) for clause in reading.clauses)


MEASURES: Final[Mapping[str, Callable[[AnswerMarks], float]]] = {
    "completeness": lambda look: look.count(_RIGHT | _WRONG),
    "grounding": lambda look: look.count(_RIGHT, derived=False),
    "hallucination": lambda look: -look.count(_WRONG),
    "expressiveness": lambda look: _word_length(look.text),
    "clarity": lambda look: -_sentence_length(look.text),
    "logic": lambda look: look.count(_RIGHT, derived=True),
    "exploration": _hedges,
    "efficiency": lambda look: -len(_words(look.text)),
}
"""Criterion → a number of an answer; the larger one is better."""


def labels_of(first: AnswerMarks, second: AnswerMarks, criteria: Sequence[str]) -> dict[str, str]:
    """Return which answer each criterion prefers, `model_a` or `model_b`; ties are left out."""
    labels: dict[str, str] = {}
    for key in criteria:
        gap = MEASURES[key](first) - MEASURES[key](second)
        if gap:
            labels[key] = "model_a" if gap > 0 else "model_b"
    return labels


# --- files ----------------------------------------------------------------------------------------


def make(n_items: int, seed: int, draw: ProbeSource = make_probes) -> BenchFiles:
    """Make the published files from fresh probes.

    Args:
        n_items: how many pairs of answers; three of five are open-ended.
        seed: of the probes; equal arguments give equal rows.

    Returns:
        A file a split, a row a criterion of a pair, and the pictures that the rows name.
    """
    world = planted_world()
    rows: dict[str, list[dict[str, object]]] = {split: [] for split in FILES}
    pictures: dict[str, bytes] = {}
    for number, probe in enumerate(draw(n_items, seed, mix=_MIX)):
        split = "open_ended" if number % 5 in (0, 2, 4) else "reasoning"
        made, name = _rows(world, probe, split, number, seed)
        rows[split] += made
        pictures[name] = probe.pictures[0]
    return BenchFiles(
        rows={
            FILES[split]: "".join(f"{json.dumps(row)}\n" for row in made).encode()
            for split, made in rows.items()
            if made
        },
        pictures=pictures,
    )


def _rows(
    world: World, probe: ProbeSample, split: str, number: int, seed: int
) -> tuple[list[dict[str, object]], str]:
    program, steps = probe.program, read_steps(probe.program)
    draws = Draws("multi_crit", seed, program.family, program.index)
    criteria = SPLIT_CRITERIA[split]
    calm = draws.uniform("calm") < _CALM
    best = None
    for turn in range(_TRIES):
        pair = _pair(world, program, draws, turn)
        first, second = (look_at(steps, text) for _, text in pair)
        labels = labels_of(first, second, criteria)
        worth = (len(labels) > 1, calm == (len(set(labels.values())) < 2), len(labels) > 2)
        if best is None or worth > best[0]:
            best = (worth, pair, labels)
        if all(worth):
            break
    assert best is not None
    _, ((model_a, pred_a), (model_b, pred_b)), labels = best
    name = f"images/{stem_of(program)}.png"
    stem = f"probe{program.family.capitalize()}__select-{number + 1}"
    row = {
        "image_path": name,
        "question": question_of(program),
        "pred_a": pred_a,
        "pred_b": pred_b,
        "model_a": model_a,
        "model_b": model_b,
        "split": split,
        "prompt_id": stem,
    }
    return [
        {"question_id": f"{stem}__{key}", **row, "criterion": key, "preference": label}
        for key, label in labels.items()
    ], name


def _pair(
    world: World, program: Program, draws: Draws, turn: int
) -> tuple[tuple[str, str], tuple[str, str]]:
    """Draw two answers: of one model asked twice, or of two."""
    models = draws.shuffled(world.models, "models", turn)
    second = models[0] if draws.uniform("same", turn) < _SAME_MODEL else models[1]
    texts = [
        world.answer(model, program, repeat=f"multi_crit {turn} {place}").text
        for place, model in enumerate((models[0], second))
    ]
    return (models[0], texts[0]), (second, texts[1])


# --- judges ---------------------------------------------------------------------------------------


def answer_single(question: BenchQuestion) -> dict[str, object]:
    """Judge one criterion of a pair."""
    criterion = question.data.get("criterion")
    key = str(criterion.get("id", "")) if isinstance(criterion, dict) else ""
    return _verdict(question, key, *_looks(question))


def answer_joint(question: BenchQuestion) -> dict[str, object]:
    """Judge all criteria of a pair."""
    listed = question.data.get("criteria")
    entries = listed if isinstance(listed, list) else []
    keys = [str(entry.get("id", "")) for entry in entries if isinstance(entry, dict)]
    looks = _looks(question)
    return {"verdicts": [{"id": key, **_verdict(question, key, *looks)} for key in keys]}


def _looks(question: BenchQuestion) -> tuple[AnswerMarks, AnswerMarks]:
    texts = (question.text(name) for name in ("first_response", "second_response"))
    first, second = (look_at(question.readers, text) for text in texts)
    return first, second


def _verdict(
    question: BenchQuestion, key: str, first: AnswerMarks, second: AnswerMarks
) -> dict[str, object]:
    """Say which answer a criterion prefers; level ones are drawn, an unknown one isn't judged."""
    drawn = question.draws.uniform("coin", key) < 0.5
    if question.character == "coin":
        return {"reason": "A coin was flipped.", "better": _place(first=drawn)}
    measure = MEASURES.get(key)
    if measure is None:
        return {"reason": f"The probe judge knows no measure of {key!r}.", "better": ""}
    one, other = measure(first), measure(second)
    better = drawn if one == other else one > other
    if question.character == "noisy" and question.draws.uniform("noise", key) < FLIPPED:
        better = not better
    reason = f"By {key}, the first response measures {one:g} and the second one {other:g}."
    return {"reason": reason, "better": _place(first=better)}


def _place(*, first: bool) -> str:
    return "first" if first else "second"


TASKS: Final = {"multi_crit": answer_single, "multi_crit_joint": answer_joint}
