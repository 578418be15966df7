"""A small study of votes against one anchor, made through the importer."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from atom.engine.imports.importing import ImportResult, import_reading
from atom.formats import ImportFile, read
from atom.store import Store

ANCHOR = "base"
LABELS = ("OCR", "Charts", "Scenes")
WINS = {"strong": 0.95, "middle": 0.35, "weak": 0.1}
"""Chance of a win in both orders; the rest are losses, conflicts and a few undecided ones."""
MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Voted:
    """The study and its counts: model -> (won, lost, conflicts, undecided)."""

    folder: Path
    imported: ImportResult
    counts: dict[str, tuple[int, int, int, int]]


def vote_files(samples: int = 45, seed: int = 5) -> tuple[list[ImportFile], dict[str, list[int]]]:
    """Make the files; `strong` loses every question about charts."""
    rng = np.random.default_rng(seed)
    questions, rows = [], []
    counts = {name: [0, 0, 0, 0] for name in WINS}
    for number in range(samples):
        label = LABELS[number % len(LABELS)]
        questions.append(
            {
                "id": number,
                "image_path": f"./images/{number}.jpeg",
                "question": f"Question {number} about {label}?",
                "meta": {"level": "One" if number % 2 else "Two", "capability": label},
            }
        )
        for name, chance in WINS.items():
            draw = float(rng.random())
            if name == "strong" and label == "Charts":
                kind = 1
            else:
                kind = 0 if draw < chance else 1 + int(rng.integers(0, 3))
            counts[name][kind] += 1
            # Order 1 shows the anchor first: won, lost, conflict (always the first), undecided.
            answers = [
                ("Answer2", "Answer1"), ("Answer1", "Answer2"), ("Answer1", "Answer1"),
                ("unable to decide: situation one", "unable to decide: situation one"),
            ][kind]  # fmt: skip
            for order, answer in enumerate(answers, start=1):
                one, two = (ANCHOR, name) if order == 1 else (name, ANCHOR)
                rows.append(
                    {
                        "unique_idx": f"{number}_{order}", "model_1": one, "model_2": two,
                        "raw_answer1": f"{one} on {number}", "raw_answer2": f"{two} on {number}",
                        "answer": f"<b>Words of {number}</b>\n{answer}", "gen_model_id": "judge x",
                    }
                )  # fmt: skip
    lines = "\n".join(json.dumps(row) for row in rows)
    return [
        ImportFile.from_bytes("questions.json", json.dumps(questions).encode()),
        ImportFile.from_bytes("judged.jsonl", lines.encode()),
    ], counts


def make_votes(folder: Path, *, name: str = "Votes") -> Voted:
    """Import the files into a store of their own."""
    files, counts = vote_files()
    with Store.open(folder) as store:
        imported = import_reading(store, read("mllm-bench", files), name, MOMENT)
    return Voted(
        folder=folder,
        imported=imported,
        counts={model: (n[0], n[1], n[2], n[3]) for model, n in counts.items()},
    )
