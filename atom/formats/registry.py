"""The formats that can be imported, and the functions that the command and later a page call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from atom.errors import FormatError
from atom.formats import reviews, tabular
from atom.formats.base import Format, ImportFile, Reading, ReadOptions
from atom.formats.benchmarks import (
    hallusion,
    image_edit,
    mathvista,
    metacritique,
    mllm_bench,
    mllm_judge,
    mm_rewardbench,
    mm_vet,
    mmmu,
    pandalm,
    prometheus,
    wildvision,
)
from atom.formats.column_map import ColumnMap
from atom.formats.foreign import check_foreign, check_packed, is_packed
from atom.formats.intake.batch import Frame, GivenLabel, GivenVerdict
from atom.formats.intake.report import ImportReport
from atom.formats.judgments import format as judgments
from atom.formats.judgments.named import named_map
from atom.formats.pictures import FolderPictures, NoPictures, PictureFinder
from atom.formats.tools import (
    evalscope,
    every_eval,
    inspect_log,
    lmms_eval,
    openai_batch,
    promptfoo,
    vlmevalkit,
)
from atom.records import (
    Candidate,
    Checkpoint,
    Criterion,
    Outcome,
    Preference,
    Response,
    Sample,
    Tag,
)

FORMATS: Mapping[str, Format] = {
    format.name: format
    for format in (
        Format(
            name=tabular.NAME,
            about="Any table with a question a row: CSV, TSV, JSON lines, JSON, Parquet, Excel.",
            patterns=("*.csv", "*.tsv", "*.jsonl", "*.ndjson", "*.json", "*.parquet", "*.xlsx"),
            wanted="at least one table",
            sniff=tabular.sniff,
            read=tabular.read,
        ),
        Format(
            name=mathvista.NAME,
            about="MathVista result files: answers, verdicts and skills of one or more models.",
            patterns=("output_*.json", "scores_*.json"),
            wanted="at least one output_<model>.json",
            sniff=mathvista.sniff,
            read=mathvista.read,
        ),
        Format(
            name=mllm_bench.NAME,
            about="MLLM-Bench: its questions, and a judge's votes between two models' answers.",
            patterns=("questions.json", "votes*.csv", "*.jsonl", "vote_*.json"),
            wanted="questions.json and files with votes",
            sniff=mllm_bench.sniff,
            read=mllm_bench.read,
        ),
        judgments.FORMAT,
        pandalm.FORMAT,
        wildvision.FORMAT,
        reviews.FORMAT,
        mllm_judge.FORMAT,
        mm_rewardbench.FORMAT,
        prometheus.FORMAT,
        metacritique.FORMAT,
        image_edit.FORMAT,
        lmms_eval.FORMAT,
        vlmevalkit.FORMAT,
        evalscope.FORMAT,
        every_eval.FORMAT,
        inspect_log.FORMAT,
        promptfoo.FORMAT,
        openai_batch.FORMAT,
        mmmu.FORMAT,
        mm_vet.FORMAT,
        hallusion.FORMAT,
    )
}
_LIKELY = 0.1
_SCORED = frozenset({inspect_log.NAME, lmms_eval.NAME, evalscope.NAME})
"""Formats whose files may hold several scores, of which one is followed."""


@dataclass(frozen=True, kw_only=True)
class ImportPreview:
    """The first rows of an import as records, before anything is stored."""

    samples: tuple[Sample, ...]
    candidates: tuple[Candidate, ...]
    responses: tuple[Response, ...]
    outcomes: tuple[Outcome, ...]
    tags: tuple[Tag, ...]
    preferences: tuple[Preference, ...]
    annotations: tuple[GivenLabel, ...]
    verdicts: tuple[GivenVerdict, ...]
    frame: tuple[Frame, ...]
    """Judges, scales and trees."""
    criteria: tuple[Criterion, ...]
    marks: tuple[Checkpoint, ...]
    report: ImportReport


def detect(files: Sequence[ImportFile]) -> Format | None:
    """Find the format that fits all files best; None when none fits."""
    if named_map(files) is not None:
        return FORMATS[judgments.NAME]
    best, best_score = None, _LIKELY
    heads = [(file.head(), file.name) for file in files]
    for format in FORMATS.values():
        score = min((format.sniff(head, name) for head, name in heads), default=0.0)
        if score >= best_score and (best is None or score > best_score):
            best, best_score = format, score
    return best


def read(
    format: str | None,
    files: Sequence[ImportFile],
    *,
    dataset: str | None = None,
    columns: ColumnMap | None = None,
    pictures: PictureFinder | None = None,
    candidates: Mapping[str, str] | None = None,
    limit: int | None = None,
    score: str | None = None,
) -> Reading:
    """Begin an import.

    Args:
        format: a key of `FORMATS`; None = found out.
        files: what to read, in order.
        dataset: the data set's name; None = by the column map, else by the file.
        columns: which column is what (generic table); None = guessed.
        pictures: where pictures are looked for; None = beside the files.
        candidates: file name → candidate's name, where the file doesn't say.
        limit: at most so many rows.
        score: the scorer, metric or filter whose verdicts count, where a file has several.

    Returns:
        A single pass over batches of records, and the report.

    Raises:
        FormatError: the files can't be this format; the message says what is expected.
    """
    found: Format | None
    if format is None and columns is not None and columns.has_marks:
        found = FORMATS[judgments.NAME]
    elif format is None:
        check_foreign(files)
        found = detect(files)
        if found is None:
            check_packed(files)
            raise FormatError(
                f"no format fits {', '.join(repr(file.name) for file in files) or 'no file'}; "
                f"known formats: {', '.join(FORMATS)}"
            )
    elif format in FORMATS:
        found = FORMATS[format]
    else:
        raise FormatError(f"format {format!r} is unknown; known formats: {', '.join(FORMATS)}")
    if score is not None and found.name not in _SCORED:
        raise FormatError(
            f"{found.name} files have no scores to choose among: leave --score {score!r:.80} out"
        )
    if not files:
        raise FormatError(f"no file was given; name {found.wanted}")
    if pictures is None:
        folders = list(dict.fromkeys(file.folder for file in files if file.folder is not None))
        pictures = FolderPictures(folders) if folders else NoPictures()
    options = ReadOptions(
        dataset=dataset,
        columns=columns,
        pictures=pictures,
        candidates=candidates or {},
        limit=limit,
        score=score,
    )
    reading = found.read(files, options)
    reading.named = dataset is not None or (columns is not None and columns.dataset is not None)
    reading.n_bytes = sum(file.n_bytes for file in files if not is_packed(file))
    return reading


def dry_run(reading: Reading) -> ImportReport:
    """Read everything, keep nothing, and report."""
    for _ in reading:
        pass
    return reading.report


def preview(
    format: str | None,
    files: Sequence[ImportFile],
    *,
    rows: int = 20,
    dataset: str | None = None,
    columns: ColumnMap | None = None,
    pictures: PictureFinder | None = None,
    candidates: Mapping[str, str] | None = None,
) -> ImportPreview:
    """Read the first rows only; arguments as for `read`.

    Raises:
        FormatError: as for `read`.
    """
    reading = read(
        format,
        files,
        dataset=dataset,
        columns=columns,
        pictures=pictures,
        candidates=candidates,
        limit=rows,
    )
    batches = list(islice(reading, rows + 1))
    return ImportPreview(
        samples=tuple(sample for batch in batches for sample in batch.samples),
        candidates=tuple(candidate for batch in batches for candidate in batch.candidates),
        responses=tuple(response for batch in batches for response in batch.responses),
        outcomes=tuple(outcome for batch in batches for outcome in batch.outcomes),
        tags=tuple(tag for batch in batches for tag in batch.tags),
        preferences=tuple(vote for batch in batches for vote in batch.preferences),
        annotations=tuple(label for batch in batches for label in batch.annotations),
        verdicts=tuple(verdict for batch in batches for verdict in batch.verdicts),
        frame=tuple(one for batch in batches for one in batch.frame),
        criteria=tuple(one for batch in batches for one in batch.criteria),
        marks=tuple(one for batch in batches for one in batch.marks),
        report=reading.report,
    )
