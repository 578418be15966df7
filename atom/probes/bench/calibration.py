"""Calibration files: answers to fresh probes whose every step has a known score.

One JSON line an answer: the question, the picture, the answer's text and, by step, what is asked,
the truth, the capability, and the score that the text carries.

Reference: METHODS D1-D3.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from atom.probes.bench.types import BenchFiles, stem_of
from atom.probes.candidates import World, planted_world
from atom.probes.worlds.make import ProbeSample, ProbeSource, make_probes

FILE: Final = "calibration.jsonl"
PER_PROBE: Final = 4
"""Simulated candidates that answer a probe: different ones in turn, so that all scores occur."""
MIX: Final[Mapping[str, int]] = {
    "charts": 12, "tables": 12, "gauges": 12, "geometry": 12, "scenes": 8, "changes": 6,
}  # fmt: skip


def make(n_items: int, seed: int, draw: ProbeSource = make_probes) -> BenchFiles:
    """Make the answers, with the truth of every step.

    Args:
        n_items: how many answers.
        seed: of the probes; equal arguments give equal files.

    Returns:
        The rows and the pictures.
    """
    world = planted_world()
    probes = draw(-(-n_items // PER_PROBE), seed, mix=MIX)
    rows: list[dict[str, object]] = []
    pictures: dict[str, bytes] = {}
    for probe in probes:
        names = {
            f"{stem_of(probe.program)}-{k}.png": data for k, data in enumerate(probe.pictures, 1)
        }
        pictures |= names
        rows += _rows(world, probe, list(names), start=len(rows), count=n_items - len(rows))
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return BenchFiles(rows={FILE: text.encode()}, pictures=pictures)


def _rows(
    world: World, probe: ProbeSample, pictures: list[str], *, start: int, count: int
) -> list[dict[str, object]]:
    program = probe.program
    rows: list[dict[str, object]] = []
    for number in range(min(PER_PROBE, count)):
        model = world.models[(start + start // PER_PROBE + number) % len(world.models)]
        written = world.answer(model, program)
        rows.append(
            {
                "probe": stem_of(program),
                "model": model,
                "question": program.question,
                "choices": list(program.choices),
                "pictures": pictures,
                "answer": written.text,
                "steps": [
                    {
                        "id": step.id,
                        "question": step.question,
                        "ground_truth": step.truth,
                        "leaf": list(step.leaf),
                        "score": written.scores[step.id],
                    }
                    for step in program.steps
                ],
            }
        )
    return rows
