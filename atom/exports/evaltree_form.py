"""The tree in EvalTree's form: a leaf of theirs is one row, here one criterion.

`capability_tree.json` is what `formats.evaltree.read_tree` reads; `results/<n>.json` holds a
model's result on each row (1 = the criterion is passed, a score of 4 or 5), and
`confidence_interval/<n>.json` EvalTree's node statistics. `rows.jsonl` says what each row is.

Reference: METHODS B6 (EvalTree as a baseline), B15 (pass score).
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from atom.analysis.score_table import UNSCORED
from atom.errors import UsageError
from atom.exports.base import (
    MANIFEST,
    Exporter,
    ExportOptions,
    ExportResult,
    ExportSource,
    manifest_of,
    write_json,
)
from atom.files import new_folder, size_of, stream, text_stream
from atom.formats.tools.evaltree import read_tree, write_statistics, write_tree
from atom.records import Criterion
from atom.views.tree.node_table import placed
from taxonomy import Path as TreePath

NAME = "evaltree"
RESTS_ON = "EvalTree's published files, as formats.evaltree reads them"
DROPS = (
    "scores 1 to 5: a row is passed (4 or 5) or not",
    "weights, regions, reasons and quotes",
    "questions, answers and pictures: a row names its sample",
    "capabilities' meanings, and capabilities without a row",
    "the judge's replays, raw replies, prompts and costs",
    "votes, self-correction, people's labels, runs and imports",
)


def write(source: ExportSource, place: Path, options: ExportOptions) -> ExportResult:
    """Write the tree with its rows and every model's results.

    Args:
        source: a study with a tree and scores.
        place: a folder that isn't there yet, or a file name that ends in `.zip`.

    Raises:
        UsageError: the study has no tree, or no criterion that all models were scored on.
    """
    data = source.data
    if data.tree is None or not data.has_process:
        raise UsageError(f"{source.name!r} has no tree with scores yet: judge it first")
    passed, names = _passed(source)
    where = placed(source.store, data)
    rows: dict[TreePath, list[int]] = {}
    listed: list[tuple[str, str, TreePath]] = []
    for criterion, sample, leaf in zip(where.criterion, where.sample, where.leaf, strict=True):
        if leaf is not None and criterion in passed:
            rows.setdefault(leaf, []).append(len(listed))
            listed.append((criterion, data.table.sample_ids[int(sample)], leaf))
    if not listed:
        raise UsageError(
            f"{source.name!r} has no criterion that hangs in the tree and on which every model was "
            "scored: score what is left first"
        )
    left_out = len(where.criterion) - len(listed)
    notes = ["row 0 is the first line of rows.jsonl"]
    if left_out:
        notes.append(f"{left_out} criteria are left out: unplaced, or not scored for every model")
    if len(names) < len(data.candidates):
        notes.append(f"{len(data.candidates) - len(names):,} models without any score are left out")
    texts = {c.id: c for c in source.store.get_many(Criterion, [one[0] for one in listed])}
    counts = {"rows": len(listed), "models": len(names)}
    tree = write_tree(data.tree, rows)
    root = read_tree(tree)
    with new_folder(place, needed=source.n_bytes) as folder:
        with stream(folder / "capability_tree.json") as file:
            file.write(tree)
        with text_stream(folder / "rows.jsonl") as out:
            for number, (criterion, sample_id, leaf) in enumerate(listed):
                text = texts.get(criterion)
                line = {
                    "row": number,
                    "criterion": criterion,
                    "sample": sample_id,
                    "question": text.question if text else "",
                    "ground_truth": text.ground_truth if text else "",
                    "capability": list(leaf),
                }
                out.write(json.dumps(line, ensure_ascii=False) + "\n")
        for kind in ("results", "confidence_interval"):
            (folder / kind).mkdir()
        for number in range(len(names)):
            results = [float(passed[criterion][number]) for criterion, _, _ in listed]
            write_json(folder / "results" / f"{number}.json", [int(one) for one in results])
            with stream(folder / "confidence_interval" / f"{number}.json") as file:
                file.write(write_statistics(root, results))
        write_json(folder / "models.json", names)
        manifest = manifest_of(NAME, source, options, counts, DROPS, tuple(notes), RESTS_ON)
        write_json(folder / MANIFEST, manifest.model_dump(mode="json"))
    return ExportResult(
        place=place, n_bytes=size_of(place), counts=counts, drops=DROPS, notes=tuple(notes)
    )


def _passed(source: ExportSource) -> tuple[dict[str, tuple[bool, ...]], list[str]]:
    """Return who passed each criterion that every judged model was scored on, and their names."""
    table = source.data.table
    first = (table.score > UNSCORED) & (table.repeat[table.response] == 0)
    model = table.model[table.response]
    shape = (len(table.criterion_ids), table.n_models)
    scored, passed = np.zeros(shape, dtype=np.bool_), np.zeros(shape, dtype=np.bool_)
    scored[table.criterion[first], model[first]] = True
    passed[table.criterion[first], model[first]] = table.passes[first]
    judged = np.flatnonzero(scored.any(axis=0))
    whole = np.flatnonzero(scored[:, judged].all(axis=1))
    passed = passed[:, judged]
    return (
        {table.criterion_ids[at]: tuple(bool(one) for one in passed[at]) for at in whole},
        [source.data.candidates[int(model)].name for model in judged],
    )


EXPORTER = Exporter(
    name=NAME,
    title="EvalTree (JSON)",
    about="The tree with a row a criterion and every model's results, for EvalTree's own scripts.",
    suffix=".zip",
    folder=True,
    drops=DROPS,
    write=write,
)
