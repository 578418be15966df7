"""VLMEvalKit: result sheets, score tables, run folders, and benchmarks with pictures in base64.

A result sheet (`<model>_<dataset>_auxmatch.xlsx`, `*_openai_result.xlsx`, ...) has a row a
question with the model's `prediction` and, where it was judged, `hit` or `score`; score tables
(`*_acc.csv`, `*_score.csv`, ...) are recomputed and compared; a benchmark (`<dataset>.tsv`) brings
questions and pictures. Model and data set are read from the file's and folders' names.

Traps: an answer read as `Unknown` is wrong by the file, and stays marked; a cell of `category` may
name several; `acc` of an MMMU table is hit/match, not hit/tot; an `image` cell may hold another
row's index instead of a picture.

Reference: VLMEvalKit (Duan et al., 2024), repository open-compass/VLMEvalKit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from atom.errors import FormatError
from atom.formats.base import Format, ImportFile, Reading, ReadOptions
from atom.formats.benchmarks.rotations import ROTATION, rotation_of, turned_id
from atom.formats.cells import (
    AnswerOptions,
    label_choices,
    to_choices,
    to_list,
    to_name,
    to_reference,
    to_text,
    to_verdict,
)
from atom.formats.intake.batch import Batch
from atom.formats.intake.by_row import Limit, rows_of
from atom.formats.intake.collector import Collector
from atom.formats.intake.maker import Maker, SourceQuestion
from atom.formats.intake.names import cut
from atom.formats.json_file import load_object
from atom.formats.labels import labels_in
from atom.formats.layout import is_excel
from atom.formats.pictures import embedded_bytes
from atom.formats.rows import Row
from atom.formats.tools.vlmevalkit_scores import NAME, ModelVerdicts, Peek, ScoreFile, check
from atom.records import PictureSlot, blob_hash

UNKNOWN = "Unknown"
"""What an answer is called that was neither yes nor no."""
_DATASETS = (
    "HallusionBench", "MMBench", "MMStar", "MMMU", "MME", "POPE", "MMVet", "RealWorldQA",
    "SEEDBench", "SEEDBench2", "AI2D", "MathVista", "MathVision", "MathVerse", "ScienceQA",
    "OCRBench", "ChartQA", "DocVQA", "TextVQA", "InfoVQA", "CCBench", "LLaVABench", "COCO",
    "BLINK", "MMT-Bench", "VStar", "WeMath", "LogicVista", "DynaMath", "MMDU", "MTVQA",
    "OCRVQA", "CORE_MM", "MMLongBench", "SLIDEVQA", "VisOnlyQA", "Q-Bench1", "A-Bench",
    "TableVQABench", "MUIRBench", "GMAI-MMBench", "VCR", "TaskMeAnything", "AesBench", "CRPE",
    "MMIU", "VizWiz", "NaturalBench", "TDBench",
)  # fmt: skip
_NAME = re.compile(
    r"(?:(?P<model>.+?)_)?(?P<dataset>(?:"
    + "|".join(re.escape(name) for name in sorted(_DATASETS, key=len, reverse=True))
    + r")(?:[_-](?:DEV|TEST|VAL|TRAIN|MINI|EN|CN|V11|COT|IMG|NO|MASK|10c?|SS|ALL|Pro|v2|Hard))*)"
    r"(?:_(?P<rest>.*))?\Z",
    re.IGNORECASE,
)
_RESTS = re.compile(
    r"_(?:auxmatch|openai_result|exact_matching_result|result|gpt[-\w.]{0,99}|chatgpt[-\w.]{0,99}|"
    r"score|acc|rating|judge|eval)\Z"
)
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_TABLE = re.compile(
    r"_(?:acc|score|rating|metrics?)(?:_all|_fine)?\Z|_(?:acc|score)_", re.IGNORECASE
)
_FACETS = (
    "category", "l2-category", "l2_category", "split", "field", "subfield", "topic_difficulty",
    "image_type", "question_type", "bench", "task", "skills", "source", "context", "grade",
    "subject", "topic", "level", "type", "capability", "subcategory",
)  # fmt: skip
_PEEKED = 5
"""Rows of which a file's columns are told."""
_OF_ANSWERS = frozenset({"prediction", "hit", "score", "extracted", "log", "res"})
"""Columns that differ from model to model."""


def sniff(head: bytes, name: str) -> float:
    """Say how likely it is that this is one of VLMEvalKit's files."""
    stem = name.rsplit(".", 1)[0]
    named = _NAME.match(stem) is not None
    if is_excel(head):
        return 0.8 if named else 0.3
    if name == "status.json":
        return 0.2
    text = head.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    first = text.split("\n", 1)[0]
    cells = {cell.strip().strip('"') for cell in re.split(r"[,\t]", first)}
    if {"index", "question", "image"} <= cells and "\t" in first:
        return 0.9
    if {"index", "question", "prediction"} <= cells:
        return 0.85
    if text.startswith(("[", "{")):
        keys = ('"index"', '"question"', '"prediction"')
        if all(key in text for key in keys):
            return 0.85
    if named and _TABLE.search(stem) and name.lower().endswith((".csv", ".json")):
        return 0.8
    return 0.0


def read(files: Sequence[ImportFile], options: ReadOptions) -> Reading:
    """Read result sheets, benchmarks and score tables together.

    Raises:
        FormatError: a file is none of these, or there are score tables only.
    """
    collector = Collector(NAME, options.dataset or "", [file.name for file in files])
    sheets: list[ScoreFile] = []
    benchmarks: list[ScoreFile] = []
    tables: list[ScoreFile] = []
    for file in files:
        if file.name == "status.json":
            load_object(file, collector)
            collector.note("status.json says what was run; nothing is taken from it")
            continue
        sheet = _sheet(file, options)
        columns = _columns(file, collector)
        if {"question", "prediction"} <= columns or {"index", "prediction"} <= columns:
            sheets.append(sheet)
        elif {"index", "question"} <= columns:
            benchmarks.append(sheet)
        elif _TABLE.search(file.stem) or _looks_like_scores(columns):
            tables.append(sheet)
        else:
            raise FormatError(
                f"{file.name!r} has neither answers (`index`, `question`, `prediction`) nor "
                f"questions (`index`, `question`, `image`) nor scores; it has "
                f"{', '.join(sorted(map(repr, columns))[:20])}"
            )
    if not sheets and not benchmarks:
        raise FormatError(
            f"{files[0].name!r} holds only scores; name the sheet with the answers "
            "(`index`, `question`, `prediction`) as well"
        )
    every = [sheet.dataset for sheet in (*benchmarks, *sheets)]
    collector.dataset = options.dataset or ", ".join(dict.fromkeys(every))
    return Reading(_batches(benchmarks, sheets, tables, options, collector), collector)


def _sheet(file: ImportFile, options: ReadOptions) -> ScoreFile:
    turned = rotation_of(file.stem)
    stem = turned.stem
    match = _NAME.match(stem)
    model = dataset = None
    for folder in (file.folder, file.folder.parent if file.folder else None):
        # A run folder is <model>/<model>_<dataset>..., or <model>/T<date>_G<commit>/<the same>.
        if folder is not None and folder.name and stem.startswith(f"{folder.name}_"):
            model = folder.name
            rest = stem.removeprefix(f"{folder.name}_")
            inside = _NAME.match(rest)
            dataset = inside["dataset"] if inside and not inside["model"] else None
            dataset = dataset or _RESTS.sub("", rest)
            break
    if model is None and match is not None:
        model, dataset = match["model"], match["dataset"]
    if dataset is None:
        dataset = _RESTS.sub("", stem)
    given = options.candidates.get(file.name)
    return ScoreFile(
        file=file,
        model=cut(given or model or dataset),
        dataset=cut(dataset),
        rotation=turned.degrees,
    )


def _columns(file: ImportFile, collector: Collector) -> set[str]:
    """Name a file's columns, from its first rows."""
    try:
        rows = list(islice(rows_of(file, Peek(collector), most=_PEEKED), _PEEKED))
    except FormatError as error:
        if file.name.lower().endswith(".json"):
            return set(load_object(file, collector))
        raise error
    if not rows and file.name.lower().endswith(".json"):
        return set(load_object(file, collector))
    return {name for row in rows for name in row.values}


def _looks_like_scores(columns: set[str]) -> bool:
    wanted = {"acc", "Overall", "overall", "aAcc", "split", "perception", "tot", "score"}
    return bool(columns & wanted)


def _batches(
    benchmarks: Sequence[ScoreFile],
    sheets: Sequence[ScoreFile],
    tables: Sequence[ScoreFile],
    options: ReadOptions,
    collector: Collector,
) -> Iterator[Batch]:
    limit = Limit(options, collector)
    whole = collector.dataset
    several = options.dataset and len({s.dataset for s in (*benchmarks, *sheets)}) > 1
    maker = Maker(collector, options)
    scored: dict[tuple[str, str, str], ModelVerdicts] = {}
    pictures: dict[tuple[str, str], tuple[str, ...]] = {}
    known: dict[int, _KnownQuestion] = {}
    stopped = False
    for sheet in (*benchmarks, *sheets):
        collector.dataset = options.dataset or sheet.dataset
        prefix = f"{sheet.dataset}/" if several else ""
        into = (
            None
            if sheet in benchmarks
            else scored.setdefault((sheet.model, sheet.dataset, sheet.rotation), ModelVerdicts())
        )
        for row in rows_of(sheet.file, collector):
            if limit.reached():
                stopped = True
                break
            _take(row, sheet, prefix, maker, into, pictures, known)
            if collector.is_full:
                yield collector.flush()
        if stopped:
            break
    collector.dataset = whole
    for table in tables:
        found = scored.get((table.model, table.dataset, table.rotation))
        if found is None:
            collector.note(
                f"{table.file.name}: the answers of {table.model} on {table.dataset}, which it "
                "counts, are not among the files"
            )
        elif not stopped:
            check(table, found, collector)
    for (model, dataset, _), found in scored.items():
        if found.ungraded and not found.right:
            collector.note(f"the answers of {model} on {dataset} are not graded in the file")
    yield collector.flush()


def _take(
    row: Row,
    sheet: ScoreFile,
    prefix: str,
    maker: Maker,
    into: ModelVerdicts | None,
    pictures: dict[tuple[str, str], tuple[str, ...]],
    known: dict[int, _KnownQuestion],
) -> None:
    values, place = row.values, row.place
    index = to_name(values.get("index"))
    if index is None:
        maker.out.skip(place, "it has no index")
        return
    # Every model's sheet repeats the questions: what is cell for cell the same is read once.
    key = _cells_of_question(values, sheet)
    asked = None if key is None else known.get(key)
    if asked is None:
        asked = _asked(row, sheet, prefix, index, maker, pictures)
        if asked is None:
            return
        if key is not None:
            known[key] = asked
    if into is not None:
        _answer(row, sheet, index, asked, maker, into)


@dataclass(frozen=True, kw_only=True, slots=True)
class _KnownQuestion:
    """A question that was read before."""

    sample_id: str
    labels: Mapping[str, tuple[str, ...]]


def _cells_of_question(values: Mapping[str, object], sheet: ScoreFile) -> int | None:
    """Hash the cells that a question is made of; None where they can't be."""
    try:
        return hash(
            (
                sheet.dataset,
                sheet.rotation,
                *(item for item in values.items() if item[0] not in _OF_ANSWERS),
            )
        )
    except TypeError:
        return None


def _asked(
    row: Row,
    sheet: ScoreFile,
    prefix: str,
    index: str,
    maker: Maker,
    pictures: dict[tuple[str, str], tuple[str, ...]],
) -> _KnownQuestion | None:
    """Take a row's question."""
    values, place = row.values, row.place
    text = to_text(values.get("question"))
    if text is None or isinstance(values.get("question"), list | dict):
        maker.out.skip(place, "it has no question")
        return None
    choices = _choices(values)
    reference = to_reference(values.get("answer"), choices)
    if reference.note:
        maker.out.tally(reference.note, place)
    labels = _labels(values)
    hint = to_text(values.get("hint"))
    sample_id = maker.sample(
        place,
        sheet.file.name,
        turned_id(prefix + index, sheet.rotation),
        SourceQuestion(
            text=text if hint is None else f"{hint}\n\n{text}",
            choices=choices.texts if choices else (),
            reference=reference.text,
            pictures=_pictures(values, sheet, index, pictures),
            labels=(
                *((facet, label) for facet, found in labels.items() for label in found),
                *(((ROTATION, sheet.rotation),) if sheet.rotation else ()),
            ),
            cluster=f"{sheet.dataset}/{index}" if sheet.rotation else None,
            find_by_id=True,
        ),
    )
    return None if sample_id is None else _KnownQuestion(sample_id=sample_id, labels=labels)


def _answer(
    row: Row, sheet: ScoreFile, index: str, asked: _KnownQuestion, maker: Maker, into: ModelVerdicts
) -> None:
    """Take a row's answer and verdict."""
    values, place = row.values, row.place
    prediction = to_text(values.get("prediction"))
    response_id = maker.answer(place, asked.sample_id, sheet.model, prediction)
    if response_id is None:
        return
    key = next((key for key in ("hit", "score") if values.get(key) is not None), None)
    verdict = None if key is None else to_verdict(values[key])
    said = to_name(values.get("extracted")) or ""
    if said == UNKNOWN:
        maker.out.tally("an answer was read as Unknown; the file counts it as wrong", place)
    maker.graded(response_id, verdict, answer=said)
    if verdict is None:
        into.ungraded += 1
        return
    if verdict.value is None:
        maker.out.tally(f"a verdict can't be read ({verdict.detail})", place)
        return
    into.right.append(verdict.value)
    into.index.append(index)
    into.labels.append(asked.labels)
    into.picture.append(to_name(values.get("image_path")) or index)
    into.answer.append(to_name(values.get("answer")) or "")
    into.said.append(said)


def _choices(values: Mapping[str, object]) -> AnswerOptions | None:
    letters = [letter for letter in _LETTERS if letter in values]
    if len(letters) > 1:
        found = label_choices(letters, [values[letter] for letter in letters])
        return found if found.texts else None
    return next((to_choices(values[key]) for key in ("choices", "options") if key in values), None)


def _labels(values: Mapping[str, object]) -> dict[str, tuple[str, ...]]:
    """Return a row's labels by facet; several stand in one cell with commas, or as a list."""
    found: dict[str, tuple[str, ...]] = {}
    for facet in _FACETS:
        value = values.get(facet)
        if value is None:
            continue
        # Only MM-Vet's and POPE's categories are lists; elsewhere a comma belongs to the name.
        separator = (
            "," if isinstance(value, str) and re.fullmatch(r"[a-z]+(,[a-z]+)+", value) else None
        )
        labels = tuple(label for _, label in labels_in({facet: value}, (facet,), separator))
        if labels:
            found[facet] = labels
    return found


def _pictures(
    values: Mapping[str, object],
    sheet: ScoreFile,
    index: str,
    known: dict[tuple[str, str], tuple[str, ...]],
) -> tuple[object, ...]:
    """Find a row's pictures: base64, another row's index, or paths.

    Of pictures only the ids are remembered: a benchmark may hold gigabytes of them.
    """
    cell = values.get("image")
    found: list[object] = []
    own: list[str] = []
    paths = to_list(values.get("image_path")) or [values.get("image_path")]
    for at, item in enumerate(to_list(cell) or ([cell] if cell is not None else [])):
        text = to_name(item)
        if text is None:
            continue
        called = (to_name(paths[at]) if at < len(paths) else None) or f"{index}.jpg"
        data = embedded_bytes(text) if len(text) >= 64 else None
        if data is not None:
            own.append(blob_hash(data))
            found.append({"bytes": data, "path": called})
        elif (sheet.dataset, text) in known:
            # Another row's pictures: all of them.
            shared = known[sheet.dataset, text]
            own += shared
            found += [PictureSlot(name=cut(called), picture_id=name) for name in shared]
        else:
            found.append(text)
    if own:
        known[sheet.dataset, index] = tuple(own)
    if found:
        return tuple(found)
    return tuple(name for path in paths if (name := to_name(path)) is not None)


# --- score tables ----------------------------------------------------------------------------


FORMAT = Format(
    name=NAME,
    about="VLMEvalKit: result sheets, score tables, and benchmarks with pictures in base64.",
    patterns=("*.xlsx", "*.tsv", "*_acc.csv", "*_score.csv", "*.json"),
    wanted="a run's result sheets",
    sniff=sniff,
    read=read,
)
