"""MathVista result files: real questions, two or more models' answers, skills and verdicts.

`output_<model>.json` holds questions with one model's answers; `scores_<model>.json`, when given,
is the published table to check the import against. The files of two models disagree in places
(wordings, one skill), so every tag is kept twice: on the answer, as its own file says, which gives
that model's published figures exactly; and on the question, where all files agree.

Reference: MathVista (Lu et al., 2024), repository lupantech/MathVista, `results/`.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from atom.errors import FormatError
from atom.formats.base import ImportFile, Reading, ReadOptions
from atom.formats.cells import AnswerOptions, label_choices, to_name, to_number, to_text, to_verdict
from atom.formats.intake.batch import Batch
from atom.formats.intake.collector import Collector
from atom.formats.json_scan import BrokenJsonError, JsonScanner
from atom.records import Outcome, PictureSlot, Response, Sample, Sampling, Tag, TagSubject

NAME = "mathvista"
FACETS = (
    "skills", "task", "category", "context", "grade", "source", "language", "question_type",
    "answer_type",
)  # fmt: skip
_MAX_BYTES = 400_000_000
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def sniff(head: bytes, name: str) -> float:
    """Say how likely it is that this is a MathVista file."""
    text = head.decode("utf-8", "replace")
    if not text.lstrip("\ufeff \t\r\n").startswith("{"):
        return 0.0
    if all(f'"{key}"' in text for key in ("pid", "question_type", "answer_type", "skills")):
        return 0.95
    if name.startswith("scores_") and '"average"' in text and '"accuracy"' in text:
        return 0.9
    return 0.0


@dataclass(frozen=True, kw_only=True)
class _Answers:
    """One model's file."""

    file: str
    candidate: str
    rows: Mapping[str, Mapping[str, object]]


@dataclass(frozen=True, kw_only=True)
class _PublishedTable:
    """One model's published table."""

    file: str
    stem: str
    table: Mapping[str, object]


def read(files: Sequence[ImportFile], options: ReadOptions) -> Reading:
    """Read result files together; the first one's wording of a question is kept.

    Raises:
        FormatError: a file is neither a result file nor a table of scores.
    """
    collector = Collector(NAME, "", [file.name for file in files])
    answers: list[_Answers] = []
    published: list[_PublishedTable] = []
    for file in files:
        content = _load(file, collector)
        if _is_score_table(content):
            stem = file.stem.removeprefix("scores_")
            published.append(_PublishedTable(file=file.name, stem=stem, table=content))
            continue
        rows = _rows(file, content, collector)
        name = options.candidates.get(file.name) or file.stem.removeprefix("output_")
        if any(other.candidate == name for other in answers):
            raise FormatError(
                f"two files are answers of {name!r}; give each file its own candidate name"
            )
        answers.append(_Answers(file=file.name, candidate=name, rows=rows))
    if not answers:
        raise FormatError("only score tables were given; name an output_<model>.json as well")
    collector.dataset = options.dataset or _dataset(answers)
    return Reading(_batches(answers, published, options, collector), collector)


def _load(file: ImportFile, collector: Collector) -> dict[str, object]:
    with file.open() as stream:
        data = stream.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        raise FormatError(f"{file.name!r} has over {_MAX_BYTES // 1_000_000} MB; that is no result")
    text = data.decode("utf-8", "replace").lstrip("\ufeff")
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = data.decode("utf-16", "replace")
    content: dict[str, object] = {}
    try:
        for pair in JsonScanner(io.StringIO(text)).pairs():
            if pair.key in content:
                collector.skip(f"{file.name} {pair.key!r}", "this id stood before")
                continue
            content[pair.key] = pair.value
    except BrokenJsonError as error:
        if not content:
            raise FormatError(
                f"{file.name!r} can't be read as JSON: {error.reason}; an object with an entry "
                "for each question is expected"
            ) from error
        collector.broken(
            f"{file.name}: the file {'breaks off' if error.at_end else 'is broken'} after entry "
            f"{len(content)} ({error.reason}); the entries before are kept"
        )
    return content


def _is_score_table(content: Mapping[str, object]) -> bool:
    average = content.get("average")
    return isinstance(average, dict) and "accuracy" in average


def _rows(
    file: ImportFile, content: Mapping[str, object], collector: Collector
) -> dict[str, Mapping[str, object]]:
    rows: dict[str, Mapping[str, object]] = {}
    for key, value in content.items():
        collector.rows += 1
        place = f"{file.name} {key!r}"
        if not isinstance(value, dict):
            collector.skip(place, "it is no object")
        elif to_text(value.get("question")) is None or isinstance(
            value.get("question"), list | dict
        ):
            collector.skip(place, "it has no question")
        else:
            rows[to_name(value.get("pid")) or key] = value
    if not rows or not any("response" in row or "true_false" in row for row in rows.values()):
        raise FormatError(
            f"{file.name!r} has no graded answers; entries with `question`, `response` and "
            "`true_false` are expected, as in MathVista's output_<model>.json"
        )
    return rows


def _dataset(answers: Sequence[_Answers]) -> str:
    for row in answers[0].rows.values():
        split = to_name(_metadata(row).get("split"))
        return f"MathVista {split}" if split else "MathVista"
    return "MathVista"


def _batches(
    answers: Sequence[_Answers],
    published: Sequence[_PublishedTable],
    options: ReadOptions,
    collector: Collector,
) -> Iterator[Batch]:
    pids = list(dict.fromkeys(pid for one in answers for pid in one.rows))
    if options.limit is not None and len(pids) > options.limit:
        collector.note(f"stopped after {options.limit:,} questions, as asked")
        pids = pids[: options.limit]
    _compare(answers, pids, collector)
    for pid in pids:
        having = [one for one in answers if pid in one.rows]
        sample = _sample(pid, having[0].rows[pid], options, collector)
        collector.add(sample)
        agreed = [
            tag
            for tag in _labels(having[0].rows[pid])
            if all(tag in _labels(one.rows[pid]) for one in having[1:])
        ]
        _tag("sample", sample.id, having[0].file, agreed, collector)
        for one in having:
            _answer(one, pid, sample.id, collector)
        if collector.is_full:
            yield collector.flush()
    for table in published:
        _check(table, answers, collector, whole=options.limit is None)
    yield collector.flush()


def _metadata(row: Mapping[str, object]) -> Mapping[str, object]:
    metadata = row.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


@dataclass(frozen=True, kw_only=True)
class _Label:
    """A label of a question."""

    facet: str
    value: str


def _labels(row: Mapping[str, object]) -> list[_Label]:
    labels: dict[_Label, None] = {}
    for facet in FACETS:
        value = row[facet] if facet in row else _metadata(row).get(facet)
        for item in value if isinstance(value, list) else [value]:
            name = to_name(item)
            if name is not None:
                labels[_Label(facet=facet, value=name)] = None
    return list(labels)


def _tag(
    subject: TagSubject,
    subject_id: str,
    source: str,
    labels: Sequence[_Label],
    collector: Collector,
) -> None:
    for label in labels:
        collector.add(
            Tag(
                subject=subject,
                subject_id=subject_id,
                source=source,
                facet=label.facet,
                value=label.value,
            )
        )


def _sample(
    pid: str, row: Mapping[str, object], options: ReadOptions, collector: Collector
) -> Sample:
    question = to_text(row.get("question")) or ""
    unit = to_name(row.get("unit"))
    if unit is not None:
        question = f"{question} (Unit: {unit})"
    choices = _choices(row)
    precision = to_number(row.get("precision"))
    slots: tuple[PictureSlot, ...] = ()
    name = to_name(row.get("image"))
    if name is not None:
        look = options.pictures.look(name)
        if look.picture is None:
            collector.missing_picture(name, look.reason)
            slots = (PictureSlot(name=name),)
        else:
            collector.picture(look.picture)
            slots = (PictureSlot(name=name, picture_id=look.picture.id),)
    return Sample(
        id=collector.sample_id(pid),
        dataset=collector.dataset,
        source_id=pid,
        question=question,
        choices=choices.texts,
        reference=to_text(row.get("answer")),
        answer_type="choice" if choices.texts else to_name(row.get("answer_type")) or "",
        tolerance=None if precision is None else 0.5 * 10.0**-precision,
        pictures=slots,
    )


def _choices(row: Mapping[str, object]) -> AnswerOptions:
    values = row.get("choices")
    return label_choices(_LETTERS, values if isinstance(values, list) else [])


def _answer(one: _Answers, pid: str, sample_id: str, collector: Collector) -> None:
    row = one.rows[pid]
    candidate = collector.candidate(one.candidate)
    response_id = Response.make_id(sample_id, candidate, "imported", Sampling())
    text = to_text(row.get("response"))
    error = to_text(row.get("error"))
    if text is None:
        collector.tally(f"{one.candidate} gave no answer", f"{one.file} {pid!r}")
    collector.add(
        Response(
            id=response_id,
            sample_id=sample_id,
            candidate_id=candidate,
            prompt="imported",
            state="scored" if text is not None else "failed" if error else "unscored",
            text=text or "",
            detail=error or ("" if text is not None else "the file holds no answer"),
        )
    )
    verdict = to_verdict(row.get("true_false"))
    if verdict is None:
        collector.tally(f"an answer of {one.candidate} is not graded", f"{one.file} {pid!r}")
    else:
        collector.add(
            Outcome(
                response_id=response_id,
                how="imported",
                state="scored" if verdict.value is not None else "unscored",
                value=verdict.value,
                answer=to_text(row.get("prediction")) or to_text(row.get("extraction")) or "",
                detail=verdict.detail,
            )
        )
    _tag("response", response_id, one.file, _labels(row), collector)


def _compare(answers: Sequence[_Answers], pids: Sequence[str], collector: Collector) -> None:
    """Say where the files disagree about the questions themselves."""
    first = answers[0]
    for other in answers[1:]:
        shared = [pid for pid in pids if pid in first.rows and pid in other.rows]
        missing = len(pids) - len(shared)
        if missing:
            collector.note(
                f"{missing} questions stand in only one of {first.file} and {other.file}"
            )
        for field in ("question", "choices", "answer", "unit", "precision", "image"):
            differing = [p for p in shared if first.rows[p].get(field) != other.rows[p].get(field)]
            if differing:
                what = "are worded" if field == "question" else f"have another {field}"
                collector.note(
                    f"{len(differing):,} questions {what} differently in {other.file}; "
                    f"{first.file} is followed ({_some(differing)})"
                    if field == "question"
                    else f"{len(differing):,} questions {what} in {other.file}; {first.file} is "
                    f"followed ({_some(differing)})"
                )
        for facet in FACETS:
            differing = [
                pid
                for pid in shared
                if _values(first.rows[pid], facet) != _values(other.rows[pid], facet)
            ]
            if differing:
                collector.note(
                    f"{facet} differ between {first.file} and {other.file} in "
                    f"{len(differing):,} of "
                    f"{len(shared):,} questions; each model keeps its own file's "
                    f"({_some(differing)})"
                )


def _values(row: Mapping[str, object], facet: str) -> set[str]:
    return {label.value for label in _labels(row) if label.facet == facet}


def _some(pids: Sequence[str]) -> str:
    shown = ", ".join(pids[:5])
    return f"pid {shown}, ..." if len(pids) > 5 else f"pid {shown}"


def _check(
    published: _PublishedTable, answers: Sequence[_Answers], collector: Collector, *, whole: bool
) -> None:
    """Compare what was imported with a published table, figure by figure."""
    one = next(
        (a for a in answers if a.file.removeprefix("output_") == f"{published.stem}.json"), None
    )
    if one is None:
        collector.note(f"{published.file}: no output_{published.stem}.json was given to check")
        return
    if not whole:
        return
    right: dict[_Label, int] = {}
    total: dict[_Label, int] = {}
    for row in one.rows.values():
        verdict = to_verdict(row.get("true_false"))
        value = int(verdict.value or 0) if verdict else 0
        for label in (_Label(facet="average", value=""), *_labels(row)):
            right[label] = right.get(label, 0) + value
            total[label] = total.get(label, 0) + 1
    agreeing, differing = 0, []
    for label, figure in _figures(published.table):
        if (right.get(label, 0), total.get(label, 0)) == figure:
            agreeing += 1
        else:
            differing.append(
                f"{label.facet} {label.value}".strip()
                + f" {right.get(label, 0)}/{total.get(label, 0)}, published {figure[0]}/{figure[1]}"
            )
    collector.figures(published.file, agreeing, differing)


def _figures(table: Mapping[str, object]) -> Iterator[tuple[_Label, tuple[int, int]]]:
    for facet, groups in table.items():
        if not isinstance(groups, dict):
            continue
        named = {"": groups} if facet == "average" else groups
        for value, figure in named.items():
            if isinstance(figure, dict) and "correct" in figure and "total" in figure:
                correct, total = to_number(figure["correct"]), to_number(figure["total"])
                yield (
                    _Label(facet=facet, value=str(value)),
                    (int(correct or 0), int(total or 0)),
                )
