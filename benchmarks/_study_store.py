"""Write a planted world into a store, as a large judged study."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from atom.records import Candidate, Judge, Sampling, Study, StudyCandidate, TreeRecord
from atom.records.base import content_id
from atom.store import Store
from atom.store.store import DATABASE
from taxonomy import Node, Tree, to_json, tree_version
from taxonomy import Path as TreePath
from tests.planted import Planted, WorldSettings, plant

JUDGE = "judge-planted"
PER_SAMPLE = 32.3
"""Checkpoints a sample has on average: 8 models, 3 to 5 criteria, a few answers missing."""
REASON = "The answer names the value that the criterion asks for and reads it off the right mark."
TEXT = "I look at the picture first, then at the scale. " * 4


def plant_rows(rows: int, seed: int = 1) -> Planted:
    """Draw a world of about so many checkpoints: eight models, 24 leaves, 2 % unscored."""
    settings = WorldSettings(samples=max(round(rows / 32), 5), unscored=0.02)
    return plant(settings, np.random.default_rng(seed))


def tree_of(leaves: Iterable[TreePath]) -> Tree:
    """Make the tree whose leaves these are."""

    def under(paths: Sequence[TreePath]) -> tuple[Node, ...]:
        heads = dict.fromkeys(path[0] for path in paths)
        return tuple(
            Node(head, "", under([path[1:] for path in paths if path[0] == head and path[1:]]))
            for head in heads
        )

    return Tree("Planted tree", under(list(leaves)))


def make_study(folder: Path, world: Planted, name: str = "Large study") -> Study:
    """Write the world into a new store in this folder.

    Args:
        folder: where the store goes.
        world: what was planted.
        name: the study's name.
    """
    tree = tree_of(world.leaves)
    record = TreeRecord(version=tree_version(tree), name=tree.name, body=to_json(tree))
    study = Study(
        id=Study.make_id(name), name=name, judge_id=JUDGE, tree_version=record.version,
        synthetic=True, answer_sampling=Sampling(), judge_sampling=Sampling(),
    )  # fmt: skip
    models = [f"model-{number}" for number in range(world.settings.models)]
    with Store.open(folder) as store:
        store.put([record, study, Judge(id=JUDGE, name="Planted judge", synthetic=True)])
        store.put(Candidate(id=model, name=model, synthetic=True) for model in models)
        store.put(
            StudyCandidate(study_id=study.id, candidate_id=model, position=at)
            for at, model in enumerate(models)
        )
    connection = sqlite3.connect(folder / DATABASE)
    with connection:
        for table, columns, rows in _tables(world, study, models):
            marks = ",".join("?" * len(columns.split(",")))
            connection.executemany(f"INSERT INTO {table} ({columns}) VALUES ({marks})", rows)
        connection.execute("UPDATE meta SET value = CAST(value AS INTEGER) + 1 "
                           "WHERE key = 'revision'")  # fmt: skip
    connection.close()
    return study


def _tables(
    world: Planted, study: Study, models: Sequence[str]
) -> Iterator[tuple[str, str, Iterator[tuple[Any, ...]]]]:
    n = world.settings.samples
    start = np.append(np.searchsorted(world.sample, np.arange(n)), len(world.leaf))
    sample = [content_id("sample", at) for at in range(n)]
    criterion = [content_id("criterion", at) for at in range(len(world.leaf))]
    leaf = [json.dumps(path) for path in world.leaves]

    def uses(at: int) -> str:
        return json.dumps(
            [
                {
                    "criterion_id": criterion[row], "position": int(world.position[row]),
                    "weight": int(world.weight[row]), "step": 1,
                    "regions": [{"picture": 1, "box": [90, 100, 240, 910]}],
                }
                for row in range(start[at], start[at + 1])
            ]
        )  # fmt: skip

    def answers() -> Iterator[tuple[int, int, str]]:
        for at in range(n):
            for model in range(len(models)):
                yield at, model, content_id("response", at, model)

    def checkpoints() -> Iterator[tuple[Any, ...]]:
        for at, model, response in answers():
            if not world.answered[model, at]:
                continue
            for row in range(start[at], start[at + 1]):
                score = int(world.judged[model, row])
                yield (
                    f"{response}-{row:x}", criterion[row], response, JUDGE, "scoring/1", "{}", 0,
                    "scored" if score else "unscored", score or None, REASON if score else "",
                    "the scale", None, "" if score else "no score in the reply", None,
                    (score - 1) / 4 if score else None, str(score or ""),
                )  # fmt: skip

    yield "samples", (
        "id,dataset,source_id,question,choices,reference,answer_type,pictures,synthetic"
    ), ((sample[at], f"set-{at % 3}", str(at), f"What does chart {at} show?", "[]", "20", "text",
         "[]", 1)
        for at in range(n))  # fmt: skip
    yield (
        "study_samples",
        "study_id,sample_id,position,criteria_set_id",
        ((study.id, sample[at], at, f"set-{sample[at]}") for at in range(n)),
    )
    yield "criteria_sets", (
        "id,sample_id,judge_id,prompt,sampling,repeat,source,state,detail,uses,adjustments"
    ), ((f"set-{sample[at]}", sample[at], JUDGE, "criteria/1", "{}", 0, "judge", "scored", "",
         uses(at), "[]") for at in range(n))  # fmt: skip
    yield (
        "criteria",
        "id,sample_id,question,ground_truth",
        (
            (criterion[row], sample[world.sample[row]], f"What is value {row}?", str(row))
            for row in range(len(criterion))
        ),
    )
    yield "mappings", "criterion_id,tree_version,judge_id,prompt,state,leaf,detail", (
        (criterion[row], study.tree_version, JUDGE, "mapping/1", "scored", leaf[world.leaf[row]],
         "") for row in range(len(criterion))
    )  # fmt: skip
    yield (
        "tags",
        "subject,subject_id,source,facet,value",
        (
            ("sample", sample[at], "planted", "difficulty", ("easy", "medium", "hard")[at % 3])
            for at in range(n)
        ),
    )
    yield "responses", (
        "id,sample_id,candidate_id,prompt,sampling,repeat,state,text,detail"
    ), ((response, sample[at], models[model], "answer/1", "{}", 0,
         "scored" if world.answered[model, at] else "failed", TEXT, "")
        for at, model, response in answers())  # fmt: skip
    yield (
        "outcomes",
        "response_id,how,judge_id,state,value,answer,detail",
        (
            (response, "exact", "", "scored", float(world.right[model, at]), "20", "")
            for at, model, response in answers()
            if world.answered[model, at]
        ),
    )
    yield (
        "checkpoints",
        (
            "key,criterion_id,response_id,judge_id,prompt,sampling,repeat,state,score,reason,quote,"
            "span,detail,call_id,value,raw"
        ),
        checkpoints(),
    )
