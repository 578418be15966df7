"""HallusionBench: yes-or-no questions in sets, figures and questions, and a model's predictions.

A question is named by its six fields, as VLMEvalKit does: `VD_illusion_1_0_0_2` is category,
subcategory, whether there is a picture, set, figure and question. `gt_answer` 1 is yes, 0 is no.

Reference: HallusionBench (Guan et al., 2024), repository tianyi-lab/HallusionBench.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from atom.formats.base import Format, ImportFile, Reading, ReadOptions
from atom.formats.cells import ImportedVerdict, to_name, to_text
from atom.formats.intake.by_row import SortedRow, names_keys, row_by_row, sort_rows
from atom.formats.intake.collector import Collector
from atom.formats.intake.maker import Maker, SourceQuestion
from atom.formats.intake.names import cut

NAME = "hallusionbench"
DATASET = "HallusionBench"
_FIELDS = ("category", "subcategory", "visual_input", "set_id", "figure_id", "question_id")
_KINDS = {"row": (*_FIELDS, "question")}
_EXPECTED = "rows of HallusionBench (`category`, `set_id`, `figure_id`, `question_id`, `question`)"
_ANSWERS: Mapping[str, str] = {"0": "No", "1": "Yes"}
_CHECKS = ("correct", "gpt4v_output_gpt_check", "gpt_check")
_VISUAL = {"0": "without picture", "1": "picture", "2": "edited picture"}


def sniff(head: bytes, name: str) -> float:
    """Say how likely it is that this is HallusionBench's file."""
    return 0.95 if names_keys(head, *_FIELDS, "question") else 0.0


def read(files: Sequence[ImportFile], options: ReadOptions) -> Reading:
    """Read questions and predictions.

    Raises:
        FormatError: a file has no such rows.
    """
    collector = Collector(NAME, options.dataset or DATASET, [file.name for file in files])
    rows = sort_rows(files, collector, _KINDS, _EXPECTED)
    return row_by_row(rows, lambda found, maker: _row(found, options, maker), options, collector)


def _row(found: SortedRow, options: ReadOptions, maker: Maker) -> None:
    row, place = found.row.values, found.row.place
    text = to_text(row["question"])
    parts = [to_name(row[key]) for key in _FIELDS]
    if text is None or None in parts:
        maker.out.skip(place, "it has no question, or one of the fields that name it is empty")
        return
    image = to_name(row.get("filename"))
    subject = f"{parts[0]}_{parts[1]}"
    sample_id = maker.sample(
        place,
        found.file.name,
        "_".join(str(part) for part in parts),
        SourceQuestion(
            text=text,
            reference=_ANSWERS.get(to_name(row.get("gt_answer")) or ""),
            pictures=(image,) if image else (),
            cluster=f"{subject}_{parts[3]}",
            labels=(
                ("category", str(parts[0])),
                ("l2-category", subject),
                ("visual_input", _VISUAL.get(str(parts[2]), str(parts[2]))),
            ),
        ),
    )
    if sample_id is None or "model_prediction" not in row:
        return
    name = options.candidates.get(found.file.name) or cut(found.file.stem)
    response_id = maker.answer(place, sample_id, name, to_text(row["model_prediction"]))
    if response_id is None:
        return
    said = next((to_name(row[key]) for key in _CHECKS if key in row), None)
    verdict = None
    if said is not None:
        verdict = {
            "0": ImportedVerdict(value=0.0),
            "1": ImportedVerdict(value=1.0),
            "2": ImportedVerdict(value=None, detail="the checker couldn't tell"),
        }.get(said, ImportedVerdict(value=None, detail=f"the file says {said[:80]!r}"))
    maker.graded(response_id, verdict)


FORMAT = Format(
    name=NAME,
    about="HallusionBench: yes-or-no questions in figure and question sets, and predictions.",
    patterns=("HallusionBench*.json",),
    wanted="HallusionBench.json or predictions",
    sniff=sniff,
    read=read,
)
