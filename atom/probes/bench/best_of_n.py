"""Best of n on probes: one simulated candidate's answers to a question, several times over.

Reference: METHODS T10, D2.
"""

from __future__ import annotations

import json
from typing import Final

from atom.probes.bench.types import BenchFiles, question_of, stem_of
from atom.probes.candidates import planted_world
from atom.probes.worlds.make import ProbeSource, make_probes

FILE: Final = "best_of_n_probes.jsonl"
ANSWERS: Final = 8
"""As many as in VL-RewardBench's Figure 4."""


def make(
    n_items: int, seed: int, draw: ProbeSource = make_probes, *, answers: int = ANSWERS
) -> BenchFiles:
    """Write answers of the planted candidates, a question each, several times.

    Args:
        n_items: how many questions.
        seed: of the probes; equal arguments give equal files.
        answers: to each question.
    """
    world = planted_world()
    rows: list[dict[str, object]] = []
    pictures: dict[str, bytes] = {}
    for number, probe in enumerate(draw(n_items, seed)):
        program = probe.program
        model = world.models[number % len(world.models)]
        written = [world.answer(model, program, repeat=repeat) for repeat in range(answers)]
        names = [f"{stem_of(program)}-{at}.png" for at in range(len(probe.pictures))]
        pictures.update(zip(names, probe.pictures, strict=True))
        listed = [{"text": one.text, "right": one.right} for one in written]
        rows.append({"id": stem_of(program), "question": question_of(program), "images": names,
                     "answers": listed})  # fmt: skip
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return BenchFiles(rows={FILE: text.encode()}, pictures=pictures)
