"""Prometheus evaluation sets: an answer, a rubric of five levels, and a judge's scores, repeated.

Everything stands in one prompt (`instruction`): the task, the answer, a reference answer and the
rubric. It is taken apart; the judge asked several times gives several scores, each kept with its
repeat.

Reference: Prometheus (Kim et al., 2024), repository prometheus-eval/prometheus-eval,
`eval/benchmark/data`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from atom.formats.base import Format, ImportFile, Reading, ReadOptions
from atom.formats.cells import to_list, to_name, to_text
from atom.formats.intake.by_row import SortedRow, names_keys, row_by_row, sort_rows
from atom.formats.intake.collector import Collector
from atom.formats.intake.maker import Maker, SourceQuestion, words
from atom.formats.intake.names import cut
from atom.records import content_id

NAME = "prometheus"
DATASET = "Prometheus"
PART = "rubric"
"""What the judge's score is about."""
_SCORE = re.compile(r"(.+)_score\Z")
_SECTION = re.compile(r"^###\s*+(?P<title>[^\n:]{3,60}+):?[^\n]*\n", re.MULTILINE)
_KINDS = {"item": ("instruction", "gpt4_score"), "other": ("instruction", "gpt4_feedback")}
_EXPECTED = "items (`instruction` with a rubric, `gpt4_score`)"


def sniff(head: bytes, name: str) -> float:
    """Say how likely it is that this is such a set."""
    return 0.95 if names_keys(head, "instruction", "gpt4_score", "gpt4_feedback") else 0.0


def read(files: Sequence[ImportFile], options: ReadOptions) -> Reading:
    """Read answers, rubrics and scores.

    Raises:
        FormatError: no row has a prompt and scores.
    """
    dataset = options.dataset or f"{DATASET} {files[0].stem}"
    collector = Collector(NAME, dataset, [file.name for file in files])
    rows = sort_rows(files, collector, _KINDS, _EXPECTED)
    return row_by_row(rows, _item, options, collector)


def _sections(prompt: str) -> dict[str, str]:
    """Cut a prompt at its `###` titles; the title's first words name the part."""
    marks = list(_SECTION.finditer(prompt))
    ends = [mark.start() for mark in marks[1:]]
    found: dict[str, str] = {}
    for mark, end in zip(marks, [*ends, len(prompt)], strict=False):
        found.setdefault(mark["title"].strip().lower(), prompt[mark.end() : end].strip())
    return found


def _item(found: SortedRow, maker: Maker) -> None:
    row, place = found.row.values, found.row.place
    prompt = to_text(row["instruction"])
    if prompt is None:
        maker.out.skip(place, "it has no prompt")
        return
    sections = _sections(prompt)
    task = sections.get("the instruction to evaluate")
    answer = sections.get("response to evaluate")
    if not task or not answer:
        maker.out.skip(place, "its prompt has no `### The instruction to evaluate` or no answer")
        return
    reference = next((text for key, text in sections.items() if key.startswith("reference")), None)
    rubric = next((text for key, text in sections.items() if key.startswith("score rubric")), "")
    title = rubric.split("\n", 1)[0].strip().strip("[]")
    labels = [("rubric", title)] if title else []
    category = to_name(row.get("category"))
    if category is not None:
        labels.append(("category", category))
    # One idx stands once for each model that answered: the question is named by its content.
    sample_id = maker.sample(
        place,
        found.file.name,
        content_id("item", task, rubric, reference),
        SourceQuestion(text=task, reference=reference, labels=tuple(labels)),
    )
    if sample_id is None:
        return
    name = to_name(row.get("response_source")) or to_name(row.get("model")) or "answers"
    response_id = maker.answer(place, sample_id, name, answer)
    if response_id is not None:
        _scores(found, sample_id, response_id, maker)


def _scores(found: SortedRow, sample_id: str, response_id: str, maker: Maker) -> None:
    row, place = found.row.values, found.row.place
    for key, value in row.items():
        match = _SCORE.match(key)
        if match is None:
            continue
        judge = cut(match[1])
        scores = value if isinstance(value, list) else [value]
        told = to_list(row.get(f"{match[1]}_feedback")) or [row.get(f"{match[1]}_feedback")]
        for repeat, score in enumerate(scores):
            maker.score(
                place,
                sample_id,
                f"{PART}/{response_id}",
                judge,
                score,
                (1, 5),
                repeat=repeat,
                text=words(told[repeat]) if repeat < len(told) else "",
            )


FORMAT = Format(
    name=NAME,
    about="Prometheus: answers, rubrics, and a judge's repeated scores.",
    patterns=("*.json", "*.jsonl"),
    wanted="a file with `instruction` and `gpt4_score`",
    sniff=sniff,
    read=read,
)
