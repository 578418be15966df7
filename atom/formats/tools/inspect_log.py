"""Inspect logs: `.eval` (a ZIP of samples) and `.json`, and Inspect's data set files.

Samples are read one at a time. Attachments (`attachment://<hash>`) are put back where they belong,
pictures among them. Traps: NaN is no number; an answer that was cut off at the length limit is kept
and marked; a sample without scores takes its reduction, else it stays ungraded; a sample that
failed says why; several accepted answers stand in one target; members of newer logs are packed with
zstd, which this Python's ZIP reader doesn't know.

Reference: inspect_ai (UK AI Security Institute), `inspect_ai.log`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from atom.errors import FormatError
from atom.formats.base import Format, ImportFile, Reading, ReadOptions
from atom.formats.cells import (
    ImportedVerdict,
    label_choices,
    to_list,
    to_name,
    to_number,
    to_reference,
    to_text,
    to_verdict,
)
from atom.formats.intake.batch import Batch
from atom.formats.intake.by_row import Limit, unknown_score
from atom.formats.intake.collector import Collector
from atom.formats.intake.maker import Maker, SourceQuestion
from atom.formats.intake.names import cut
from atom.formats.json_file import inner
from atom.formats.tools.inspect_files import (
    ATTACHED,
    MAX_DEPTH,
    json_header,
    names_log,
    samples,
    sniff,
    zip_header,
    zip_reductions,
)
from atom.records import AnswerCause, State
from atom.records.thoughts import tell_apart

NAME = "inspect"
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_GRADES: Mapping[str, float] = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_SEVERAL = "the scorer gives several values"


@dataclass(kw_only=True)
class _Log:
    """What a log says about itself."""

    file: ImportFile
    task: str = "inspect"
    model: str = "model"
    dataset: str = ""
    scorer: str | None = None
    """The scorer that is followed; None where the log names none."""
    asked: bool = False
    """Whether the reader chose it: then no other stands in for it."""
    accuracy: float | None = None
    seen: set[str] = field(default_factory=set)
    """Names of all scorers that the samples have scores by."""
    reductions: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """Scorer -> sample id -> score, as a value or an object, over all epochs."""
    notes: list[str] = field(default_factory=list)


def read(files: Sequence[ImportFile], options: ReadOptions) -> Reading:
    """Read logs, sample by sample.

    Raises:
        FormatError: a file is no log, or its ZIP is broken.
    """
    collector = Collector(NAME, options.dataset or "", [file.name for file in files])
    logs = [_header(file, options) for file in files]
    for log in logs:
        for note in log.notes:
            collector.note(f"{log.file.name}: {note}")
    collector.dataset = options.dataset or ", ".join(dict.fromkeys(log.dataset for log in logs))
    return Reading(_batches(logs, options, collector), collector)


# --- opening ---------------------------------------------------------------------------------


def _header(file: ImportFile, options: ReadOptions) -> _Log:
    head = file.head()
    log = _Log(file=file)
    if head.startswith(b"PK\x03\x04"):
        header = zip_header(file)
        reduced = zip_reductions(file, log.notes)
    elif names_log(head):
        header = json_header(file)
        reduced = to_list(header.get("reductions")) or []
    elif b'"input"' in head:
        log.task = log.dataset = cut(file.stem)
        log.notes.append("these are questions without answers")
        return log
    else:
        raise FormatError(
            f"{file.name!r} is no Inspect log: an object with `eval` and `samples`, or a ZIP with "
            "`header.json`, is expected"
        )
    told = inner(header, "eval")
    log.task = cut(to_name(told.get("task")) or file.stem)
    log.model = options.candidates.get(file.name) or cut(to_name(told.get("model")) or "model")
    dataset = inner(told, "dataset")
    log.dataset = cut(to_name(dataset.get("name")) or log.task)
    status = to_name(header.get("status"))
    if status not in (None, "success"):
        log.notes.append(f"the run ended as {status!r}; the samples that are there came in")
    log.reductions = _reductions(reduced)
    _choose_scorer(log, inner(header, "results"), options.score)
    return log


def _choose_scorer(log: _Log, results: Mapping[str, object], wanted: str | None) -> None:
    """Follow the scorer asked for, else the first with an accuracy, else the first."""
    figures: dict[str, float | None] = {}
    right: list[str] = []
    for score in to_list(results.get("scores")) or ():
        name = (
            to_name(score.get("scorer") or score.get("name")) if isinstance(score, dict) else None
        )
        if not isinstance(score, dict) or name is None or name in figures:
            continue
        metrics = inner(score, "metrics")
        told = (to_number(inner(metrics, key).get("value")) for key in ("accuracy", "mean"))
        figures[name] = next((value for value in told if value is not None), None)
        if "accuracy" in metrics:
            right.append(name)
    log.scorer = wanted or next(iter((*right, *figures, *log.reductions)), None)
    log.asked = wanted is not None
    log.accuracy = figures.get(log.scorer or "")


def _reductions(found: Sequence[object]) -> dict[str, dict[str, object]]:
    """Read scores that stand for all epochs of a sample."""
    made: dict[str, dict[str, object]] = {}
    for entry in found:
        scorer = to_name(entry.get("scorer")) if isinstance(entry, dict) else None
        if not isinstance(entry, dict) or scorer is None:
            continue
        for one in to_list(entry.get("samples")) or ():
            name = to_name(one.get("sample_id")) if isinstance(one, dict) else None
            if name is not None:
                made.setdefault(scorer, {})[name] = one
    return made


# --- records ---------------------------------------------------------------------------------


def _batches(logs: Sequence[_Log], options: ReadOptions, collector: Collector) -> Iterator[Batch]:
    limit = Limit(options, collector, "samples")
    whole = collector.dataset
    maker = Maker(collector, options)
    several = bool(options.dataset) and len({log.dataset for log in logs}) > 1
    found = 0
    for log in logs:
        collector.dataset = options.dataset or log.dataset
        prefix = f"{log.dataset}/" if several else ""
        values: list[float] = []
        for sample in samples(log.file, collector):
            if limit.reached():
                break
            collector.rows += 1
            found += 1
            if sample.values is None:
                collector.skip(sample.place, sample.reason)
                continue
            _take(sample.place, sample.values, log, prefix, maker, values)
            if collector.is_full:
                yield collector.flush()
        if log.asked and log.seen and log.scorer not in log.seen:
            raise unknown_score(log.file, log.scorer or "", sorted(log.seen))
        if values:
            mean = sum(values) / len(values)
            told = "" if log.accuracy is None else f"; the log says {log.accuracy:.4f}"
            collector.note(f"{log.file.name}: mean score {mean:.4f} (n = {len(values)}){told}")
    if not found:
        raise FormatError(
            f"{logs[0].file.name!r} holds results without samples; write the log with its samples "
            "(`inspect eval --log-samples`)"
        )
    collector.dataset = whole
    yield collector.flush()


@dataclass(kw_only=True)
class _TextAndPictures:
    """A message's or input's text, and the pictures in it."""

    texts: list[str] = field(default_factory=list)
    pictures: list[object] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All texts, one after the other."""
        return "\n".join(self.texts)


def _gather(
    value: object, attachments: Mapping[str, object], said: _TextAndPictures, depth: int = 0
) -> None:
    """Take texts and pictures out of an input: a text, messages, or parts of one."""
    if depth > MAX_DEPTH:
        return
    if isinstance(value, str):
        text = to_text(attachments.get(value.removeprefix(ATTACHED), value))
        if text is not None:
            said.texts.append(text)
    elif isinstance(value, list):
        for item in value:
            _gather(item, attachments, said, depth + 1)
    elif isinstance(value, dict):
        kind = value.get("type")
        if kind == "image":
            name = to_name(value.get("image")) or ""
            key = name.removeprefix(ATTACHED)
            data = to_text(attachments.get(key))
            if name.startswith(ATTACHED) and data is None:
                said.pictures.append(key)
            else:
                said.pictures.append(data or name)
        elif kind == "reasoning":
            thought = to_text(value.get("reasoning")) or to_text(value.get("summary"))
            if thought is not None:
                said.thoughts.append(thought)
        elif kind in (None, "text") and value.get("role") not in ("system", "assistant", "tool"):
            _gather(value.get("text", value.get("content")), attachments, said, depth + 1)


def _take(
    place: str,
    values: Mapping[str, object],
    log: _Log,
    prefix: str,
    maker: Maker,
    scores: list[float],
) -> None:
    attachments = inner(values, "attachments")
    said = _TextAndPictures()
    _gather(values.get("input"), attachments, said)
    if not said.text.strip():
        maker.out.skip(place, "it has no input")
        return
    identity = to_name(values.get("id"))
    texts = to_list(values.get("choices")) or []
    choices = label_choices(_LETTERS, texts) if texts else None
    reference = to_reference(values.get("target"), choices)
    if reference.note:
        maker.out.tally(reference.note, place)
    sample_id = maker.sample(
        place,
        log.file.name,
        None if identity is None else prefix + identity,
        SourceQuestion(
            text=said.text,
            choices=choices.texts if choices else (),
            reference=None if reference.text is None else reference.text.strip(),
            pictures=tuple(said.pictures),
            labels=_labels(inner(values, "metadata")),
        ),
    )
    if sample_id is None or not ("output" in values or "scores" in values or "error" in values):
        return
    answer = _answer(values, attachments, maker, place)
    epoch = to_number(values.get("epoch"))
    response_id = maker.answer(
        place,
        sample_id,
        log.model,
        answer.text,
        repeat=int(epoch) - 1 if epoch is not None and 1 <= epoch < 1e6 else 0,
        detail=answer.detail,
        state=answer.state,
        cause=answer.cause,
        thoughts=answer.thoughts,
    )
    if response_id is None:
        return
    given = _scores_of(values, identity, log, maker, place)
    name = _followed(given, log, maker, place)
    if name is None:
        return
    told = given[name]
    score: Mapping[str, object] = told if isinstance(told, dict) else {"value": told}
    verdict = _grade(score.get("value"))
    said_answer = cut(to_text(score.get("answer")) or "", 4_000)
    maker.graded(response_id, verdict, answer=said_answer, unread="the scorer gave no score")
    if verdict is None or verdict.value is None:
        if verdict is not None and verdict.detail == _SEVERAL:
            maker.out.note(
                f"{log.file.name}: the scorer {name!r} gives several values a sample: to have each "
                "as a criterion, `import judgments` it with docs/maps/inspect-parts.yaml, after "
                "writing the scorer's name there"
            )
        maker.out.tally("a score can't be read as a number from 0 to 1; it stays unscored", place)
    else:
        scores.append(verdict.value)


def _scores_of(
    values: Mapping[str, object], identity: str | None, log: _Log, maker: Maker, place: str
) -> Mapping[str, object]:
    """Return a sample's scores by scorer; those over all its epochs where it has none itself."""
    given = inner(values, "scores")
    if given or identity is None:
        return given
    reduced = {name: by[identity] for name, by in log.reductions.items() if identity in by}
    if reduced:
        maker.out.tally("a sample's score is the one that the log gives for all its epochs", place)
    return reduced


def _followed(given: Mapping[str, object], log: _Log, maker: Maker, place: str) -> str | None:
    """Say which of a sample's scorers counts, and tell of the others."""
    log.seen.update(given)
    if not given:
        maker.out.tally("a sample has no scores and stays ungraded", place)
        return None
    if log.scorer in given:
        name = log.scorer
    elif log.asked:
        maker.out.tally(f"a sample has no score by {log.scorer!r} and stays ungraded", place)
        return None
    else:
        name = next(iter(given))
    others = [other for other in given if other != name]
    if others:
        maker.out.note(
            f"{log.file.name}: the scorer {name!r} is followed; {', '.join(map(repr, others[:8]))} "
            "stay in the log: to follow another, import again with --score NAME"
        )
    return name


def _grade(value: object) -> ImportedVerdict | None:
    """Read a score: C, P, I or N, a number, yes or no; several values in one are none."""
    if isinstance(value, str) and value in _GRADES:
        return ImportedVerdict(value=_GRADES[value])
    if isinstance(value, list | dict):
        return ImportedVerdict(value=None, detail=_SEVERAL)
    return to_verdict(value)


@dataclass(frozen=True, kw_only=True)
class _Answer:
    text: str | None
    detail: str = ""
    state: State | None = None
    cause: AnswerCause = ""
    thoughts: str = ""


_STOPPED: Mapping[str, tuple[AnswerCause, str, str]] = {
    **dict.fromkeys(
        ("max_tokens", "length", "model_length"),
        ("cut", "cut off at the length limit", "an answer was cut off at the length limit"),
    ),
    "content_filter": (
        "filtered",
        "stopped by a content filter",
        "a content filter stopped an answer",
    ),
}
"""Stop reason -> cause, what is kept with the answer, what is told of the import."""


def _answer(
    values: Mapping[str, object], attachments: Mapping[str, object], maker: Maker, place: str
) -> _Answer:
    output = inner(values, "output")
    choices = output.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else {}
    message = first.get("message") if isinstance(first, dict) else None
    said = _TextAndPictures()
    content = message.get("content") if isinstance(message, dict) else output.get("completion")
    _gather(content, attachments, said)
    spoken = tell_apart(said.text)
    text = said.text if not spoken.thoughts and said.text.strip() else spoken.answer or None
    thoughts = "\n".join((*said.thoughts, spoken.thoughts)).strip()
    error = values.get("error") or output.get("error")
    if error is not None:
        told = error.get("message") if isinstance(error, dict) else error
        detail = cut(to_text(told) or "the sample failed")
        maker.out.tally("a sample failed", place)
        state: State | None = "failed" if text is None else None
        return _Answer(text=text, detail=detail, state=state, thoughts=thoughts)
    stop = to_name(first.get("stop_reason")) if isinstance(first, dict) else None
    cause, detail, told_once = _STOPPED.get(stop or "", ("", "", ""))
    if spoken.unfinished and not cause:
        cause, detail, told_once = "cut", "it ends within its thoughts", "an answer is all thoughts"
    if told_once:
        maker.out.tally(told_once, place)
    return _Answer(text=text, detail=detail, cause=cause, thoughts=thoughts)


def _labels(metadata: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    """Take short words of a sample's metadata as labels; numbers are measurements."""
    found = []
    for key, value in metadata.items():
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, str) and 0 < len(item.strip()) <= 80 and "\n" not in item:
                found.append((cut(str(key), 80), item.strip()))
    return tuple(found)


FORMAT = Format(
    name=NAME,
    about="Inspect logs (.eval and .json): samples, answers, scores and attached pictures.",
    patterns=("*.eval", "*.json", "*.jsonl"),
    wanted=".eval or .json logs of Inspect",
    sniff=sniff,
    read=read,
)
