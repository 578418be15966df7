"""A study as CSV tables: samples, answers, scores, the ranking and the tree's nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from atom.analysis.nodes import index_nodes
from atom.display.csv_text import write_csv
from atom.exports.apart import JudgesApart
from atom.exports.base import (
    MANIFEST,
    Exporter,
    ExportOptions,
    ExportResult,
    ExportSource,
    manifest_of,
    write_json,
)
from atom.exports.whole_samples import SAID, WHOLE, WholeSample, whole_samples
from atom.files import new_folder, size_of, text_stream
from atom.views.overview.page import overview
from atom.views.overview.ranking_table import ranking_table
from atom.views.reading import model_said, node_said
from atom.views.study_data import StudyData
from atom.views.tree.node_rows import NodeScore, TreeNode, node_scores
from atom.views.tree.node_table import node_table, placed
from taxonomy import Path as TreePath

NAME = "csv"
DROPS = (
    "pictures: only their names stand in the samples' table",
    "the judge's replays, raw replies and prompts, and what calls cost",
    "scores by other judges, and repeated scores",
    "corrected answers and self-correction experiments",
    "votes between answers, people's labels, and verdicts of other methods",
    "the tree's older versions and edits, runs and imports",
)
_SAMPLES = (
    "sample", "dataset", "source_id", "question", "choices", "reference", "pictures", "tags",
    "quarantined", "synthetic",
)  # fmt: skip
_ANSWERS = (
    "sample", "model", "repeat", "answer", "state", "text", "right", "score", "votes_won",
)  # fmt: skip
_SCORES = (
    "sample", "model", "repeat", "answer", "criterion", "number", "question", "truth", "weight",
    "capability", "state", "score", "reason", "quote", "detail", "judge", "prompt", "addressed",
    "carried", "value", "raw", "scale", "polarity", "disagreement",
)  # fmt: skip
_BATCH = 2_000


def write(source: ExportSource, place: Path, options: ExportOptions) -> ExportResult:
    """Write the tables.

    Args:
        place: a folder that isn't there yet, or a file name that ends in `.zip`.
        options: `samples` narrows the first three tables; the ranking and the nodes count all.
    """
    counts: dict[str, int] = {}
    notes = [
        "a text that begins like a formula bears a ' before it, so that no spreadsheet runs it",
        "score is the sample score, 0-100; right is 0 to 1; an empty cell means not known",
    ]
    if source.data.table.apart is not None:
        notes.append(
            "disagreement is the standard deviation over the panel's judges, in points of 0-100, "
            "as they mark; judges differ where two are a step of the scale of five apart"
        )
    data = source.data
    if options.samples is not None and options.samples < len(data.table.sample_ids):
        notes.append(f"only the first {options.samples:,} samples; ranking and nodes count all")
    with new_folder(place, needed=source.n_bytes) as folder:
        counts.update(_write_cases(source, folder, options))
        ranks = ranking_table(overview(source.data, WHOLE), overview(source.data, SAID))
        lines = (tuple(map(_round, row.values())) for row in ranks.documents)
        counts["ranking"] = _write(folder / "ranking.csv", tuple(ranks.names), lines)
        if data.tree is not None:
            nodes = node_scores(_nodes(source))
            lines = (tuple(line.values()) for line in nodes.documents)
            counts["nodes"] = _write(folder / "nodes.csv", tuple(nodes.names), lines)
        manifest = manifest_of(NAME, source, options, counts, DROPS, tuple(notes))
        write_json(folder / MANIFEST, manifest.model_dump(mode="json"))
    return ExportResult(
        place=place, n_bytes=size_of(place), counts=counts, drops=DROPS, notes=tuple(notes)
    )


def _write(path: Path, head: tuple[str, ...], lines: Iterator[tuple[object, ...]]) -> int:
    with text_stream(path) as out:
        return write_csv(out, head, lines)


def _write_cases(source: ExportSource, folder: Path, options: ExportOptions) -> dict[str, int]:
    """Write the three tables that are read sample by sample, in one pass."""
    counts = {"samples": 0, "answers": 0, "scores": 0}
    heads = {"samples": _SAMPLES, "answers": _ANSWERS, "scores": _SCORES}
    apart = JudgesApart(source.data)
    lines: dict[str, Callable[[ExportSource, WholeSample], Iterator[tuple[object, ...]]]] = {
        "samples": _sample_lines,
        "answers": _answer_lines,
        "scores": lambda source, whole: _score_lines(source, whole, apart),
    }
    with ExitStack() as stack:
        files = {name: stack.enter_context(text_stream(folder / f"{name}.csv")) for name in counts}
        for name, file in files.items():
            write_csv(file, heads[name], ())
        for whole in whole_samples(source, options.samples):
            for name, file in files.items():
                counts[name] += write_csv(file, None, lines[name](source, whole))
            if counts["samples"] % _BATCH == 0:
                options.progress(f"{counts['samples']:,} samples")
    return counts


def _sample_lines(source: ExportSource, whole: WholeSample) -> Iterator[tuple[object, ...]]:
    del source
    one = whole.sample
    yield (
        one.id, one.dataset, one.source_id, one.question, " | ".join(one.choices), one.reference,
        " | ".join(slot.name for slot in one.pictures),
        " | ".join(f"{facet}: {value}" for facet, value in whole.tags),
        int(whole.quarantined), int(one.synthetic),
    )  # fmt: skip


def _answer_lines(source: ExportSource, whole: WholeSample) -> Iterator[tuple[object, ...]]:
    for one in whole.answers:
        answer = one.response
        yield (
            whole.sample.id, source.data.candidates[one.model].name, answer.repeat, answer.id,
            answer.state, answer.text, one.right, _round(one.score), _round(one.preferred, 4),
        )  # fmt: skip


def _score_lines(
    source: ExportSource, whole: WholeSample, apart: JudgesApart
) -> Iterator[tuple[object, ...]]:
    for one in whole.answers:
        for number, use in enumerate(whole.criteria, start=1):
            mark = one.mark(use.criterion.id)
            head = (
                whole.sample.id, source.data.candidates[one.model].name, one.response.repeat,
                one.response.id, use.criterion.id, number, use.criterion.question,
                use.criterion.ground_truth, use.weight, " > ".join(use.leaf or ()),
            )  # fmt: skip
            if mark is None:
                yield (*head, "pending", *("" for _ in range(11)), use.use.polarity, "")
            else:
                yield (
                    *head, mark.state, mark.score, mark.reason, mark.quote, mark.detail,
                    mark.judge_id, mark.prompt, mark.addressed, mark.carried, mark.value, mark.raw,
                    source.scale_names.get(mark.scale, mark.scale), use.use.polarity,
                    apart.points(one.response.id, use.criterion.id),
                )  # fmt: skip


def _nodes(source: ExportSource) -> list[NodeScore]:
    data = source.data
    assert data.tree is not None
    where = placed(source.store, data)
    nodes, said = (node_table(data, data.tree, where, one) for one in (WHOLE, SAID))
    carried = _carried(data)
    rows = []
    for index, path in enumerate(nodes.paths):
        node = TreeNode(
            path=path,
            name=path[-1] if path else data.tree.name,
            leaf=bool(nodes.is_leaf[index]),
            criteria=int(nodes.criteria[index]),
            samples=int(nodes.samples[index]),
        )
        rows += [
            NodeScore(
                node=node,
                model=candidate.name,
                score=nodes.estimate(model, index),
                said=said.estimate(model, index),
                carried=carried.get((model, path), 0),
            )
            for model, candidate in enumerate(data.candidates)
        ]
    return rows


def _carried(data: StudyData) -> dict[tuple[int, TreePath], int]:
    """Count carried checkpoints by (model, node of the tree)."""
    paths = index_nodes(data.table.leaves).paths
    counts = node_said(data, WHOLE).carried if paths else np.zeros((0, 0), dtype=np.int64)
    found = {
        (int(model), paths[node]): int(counts[model, node])
        for model, node in zip(*np.nonzero(counts), strict=True)
    }
    of_model = model_said(data, WHOLE).carried
    return found | {(model, ()): int(n) for model, n in enumerate(of_model)}


def _round(value: object, digits: int = 3) -> object:
    return round(value, digits) if isinstance(value, float) else value


EXPORTER = Exporter(
    name=NAME,
    title="Tables (CSV)",
    about="Samples, answers, a score a criterion, the ranking and the tree's nodes, for a "
    "spreadsheet or a data frame.",
    suffix=".zip",
    folder=True,
    drops=DROPS,
    write=write,
)
