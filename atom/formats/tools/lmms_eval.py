"""lmms-eval (and lm-evaluation-harness) logs: one line a document, and the results file.

`<date>_samples_<task>.jsonl` holds what was asked, the answer and the metrics; `*_results.json`
names the model and holds the means and standard errors, which are compared with the log's rows.
Logs are read line by line: memory doesn't grow with them. `doc_hash` is no name (some logs have one
hash on every row); documents are named by task and `doc_id`.

Reference: lmms-eval (Zhang et al., 2024), repository EvolvingLMMs-Lab/lmms-eval.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, islice
from typing import NamedTuple

from atom.errors import FormatError
from atom.formats.base import Batch, Collector, Format, ImportFile, Reading, ReadOptions
from atom.formats.cells import (
    Verdict,
    label_choices,
    to_list,
    to_name,
    to_number,
    to_reference,
    to_text,
    to_verdict,
)
from atom.formats.json_file import inner, load_object
from atom.formats.maker import (
    Limit,
    Maker,
    Question,
    SeenNumbers,
    cut,
    labels_in,
    rows_of,
    short,
    unknown_score,
)
from atom.formats.rows import Row
from atom.records import AnswerCause
from atom.records.thoughts import may_think, tell_apart

NAME = "lmms-eval"
_TASK = re.compile(r"(?:^|_)samples_(?P<task>.+?)(?:_\d{4}-\d\d-\d\dT[\d.\-:]+)?\Z")
_NO_METRIC = frozenset(
    {
        "doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "doc_hash",
        "prompt_hash", "target_hash", "input", "filter", "metrics", "sample_len", "bypass",
        "token_counts", "submission",
    }
)  # fmt: skip
_PICTURE_KEY = re.compile(r"images?(?:_?(\d{1,2}))?")
_SCORE_KEYS = ("score", "correct", "hit", "is_correct", "accuracy", "acc", "exact_match")
_QUESTION_KEYS = ("question", "query", "prompt", "text", "instruction")
_CHOICES = ("options", "choices")
_CHOICE_KEYS = frozenset(_CHOICES)
_NUMBERS = (int, float)
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_MAX_RESULTS = 50_000_000
_HEAD_ROWS = 50
_MOST_DIGITS = 15


def sniff(head: bytes, name: str) -> float:
    """Say how likely it is that this is a log or a results file of lmms-eval."""
    text = head.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    if '"doc_id"' in text and ('"filtered_resps"' in text or '"resps"' in text):
        return 0.95
    if text.startswith("{") and '"results"' in text and '"configs"' in text:
        return 0.9
    return 0.0


@dataclass(kw_only=True)
class _Results:
    """What results files say: models and figures."""

    models: list[str] = field(default_factory=list)
    figures: dict[tuple[str, str], tuple[str, float | None]] = field(default_factory=dict)
    """(task, `exact_match` or `exact_match_stderr`) -> file and figure."""
    metrics: dict[str, list[str]] = field(default_factory=dict)
    """Task -> metrics, in the order of its configuration."""
    score: str | None = None
    """The metric or filter that the reader wants followed."""


@dataclass(kw_only=True)
class _Sums:
    """Sums of one task's scores."""

    metric: str
    n: int = 0
    total: float = 0.0
    squares: float = 0.0

    def add(self, value: float) -> None:
        """Take a score."""
        self.n += 1
        self.total += value
        self.squares += value * value

    @property
    def mean(self) -> float:
        """The mean; NaN without scores."""
        return self.total / self.n if self.n else math.nan

    @property
    def stderr(self) -> float:
        """Standard error of the mean, `sd / sqrt(n)` with n - 1 in the variance."""
        if self.n < 2:
            return math.nan
        return math.sqrt(max(0.0, self.squares - self.n * self.mean**2) / (self.n - 1) / self.n)


def read(files: Sequence[ImportFile], options: ReadOptions) -> Reading:
    """Read logs, and compare them with results files where there are some.

    Raises:
        FormatError: a file is neither, or there is no log.
    """
    collector = Collector(NAME, options.dataset or "", [file.name for file in files])
    results = _Results(score=options.score)
    logs: list[ImportFile] = []
    for file in files:
        head = file.head()
        if b'"doc_id"' in head:
            logs.append(file)
        elif b'"results"' in head:
            _take_results(load_object(file, collector, most=_MAX_RESULTS), file, results)
        else:
            raise FormatError(
                f"{file.name!r} is no log of lmms-eval: lines with `doc_id` and `filtered_resps`, "
                "or a file with `results` are expected"
            )
    if not logs:
        raise FormatError(
            f"{files[0].name!r} holds only means; name the log (`*_samples_<task>.jsonl`, written "
            "with --log_samples) as well"
        )
    collector.dataset = options.dataset or ", ".join(dict.fromkeys(_task(log) for log in logs))
    return Reading(_batches(logs, results, options, collector), collector)


def _take_results(content: Mapping[str, object], file: ImportFile, results: _Results) -> None:
    model = to_name(content.get("model_name"))
    arguments = to_name(inner(content, "config").get("model_args")) or ""
    found = re.search(r"pretrained=([^,]+)", arguments)
    name = model or (found[1] if found else None) or to_name(content.get("model_source"))
    if name is not None:
        results.models.append(name)
    for task, figures in inner(content, "results").items():
        if not isinstance(figures, dict):
            continue
        for key, value in figures.items():
            results.figures[task, str(key).split(",")[0]] = (file.name, to_number(value))
    for task, config in inner(content, "configs").items():
        listed = config.get("metric_list") if isinstance(config, dict) else None
        names = [
            to_name(one.get("metric")) for one in to_list(listed) or () if isinstance(one, dict)
        ]
        results.metrics[task] = [name for name in names if name is not None]


def _task(file: ImportFile) -> str:
    found = _TASK.search(file.stem)
    return cut(found["task"] if found else file.stem)


def _model(file: ImportFile, results: _Results, options: ReadOptions) -> str:
    given = options.candidates.get(file.name)
    if given:
        return given
    if len(set(results.models)) == 1:
        return cut(results.models[0])
    if file.folder is not None and "__" in file.folder.name:
        return cut(file.folder.name.replace("__", "/"))
    if file.folder is not None and file.folder.name:
        return cut(file.folder.name)
    return "model"


def _batches(
    logs: Sequence[ImportFile], results: _Results, options: ReadOptions, collector: Collector
) -> Iterator[Batch]:
    limit = Limit(options, collector)
    whole = collector.dataset
    several = len({_task(log) for log in logs}) > 1
    asked: dict[str, _Names] = {}
    for log in logs:
        task = _task(log)
        collector.dataset = options.dataset or task
        reader = _Reader(
            log,
            task,
            _model(log, results, options),
            Maker(collector, options, remember=False),
            prefix=f"{task}/" if several and options.dataset else "",
            listed=results.metrics.get(task, []),
            wanted=results.score,
            asked=asked.setdefault(task, _Names()),
        )
        stopped = False
        for row in reader.rows():
            if limit.reached():
                stopped = True
                break
            reader.take(row)
            if collector.is_full:
                yield collector.flush()
        reader.finish(results, whole=not stopped)
        if stopped:
            break
    collector.dataset = whole
    yield collector.flush()


class _Names:
    """Remembers names, most of which are numbers that count upwards."""

    def __init__(self) -> None:
        self._numbers = SeenNumbers()
        self._others: set[int] = set()

    def add(self, name: str) -> bool:
        """Take a name in; says whether it is new."""
        if len(name) <= _MOST_DIGITS and name.isascii() and name.isdecimal():
            return self._numbers.add(int(name))
        key = short(name)
        if key in self._others:
            return False
        self._others.add(key)
        return True


class _Reader:
    """Turns one log's rows into records."""

    def __init__(
        self,
        file: ImportFile,
        task: str,
        model: str,
        maker: Maker,
        *,
        prefix: str,
        listed: Sequence[str],
        wanted: str | None,
        asked: _Names,
    ) -> None:
        self._file = file
        self._task = task
        self._model = model
        self._maker = maker
        self._prefix = prefix
        self._listed = listed
        self._wanted = wanted
        self._asked = asked
        self._filter: str | None = None
        self._names = _Names()
        self._metrics: tuple[str, ...] = ()
        self._sums: dict[str, _Sums] = {}

    def rows(self) -> Iterator[Row]:
        """Give the rows, once the metrics are known from the first ones."""
        rows = rows_of(self._file, self._maker.out)
        head = list(islice(rows, _HEAD_ROWS))
        found: dict[str, None] = dict.fromkeys(self._listed)
        present: dict[str, None] = {}
        for row in head:
            for key, value in row.values.items():
                if key not in _NO_METRIC and _verdict(value) is not None:
                    present[key] = None
        self._metrics = tuple(
            sorted(
                (
                    *(name for name in found if name in present),
                    *(n for n in present if n not in found),
                ),
                key=lambda name: name != self._wanted,
            )
        )
        filters = self._choose_filter(head)
        if self._wanted is not None and self._wanted not in (*self._metrics, *filters):
            raise unknown_score(self._file, self._wanted, (*self._metrics, *filters))
        if len(self._metrics) > 1:
            self._maker.out.note(
                f"{self._task}: {self._metrics[0]} is the verdict; "
                f"{', '.join(self._metrics[1:6])} stay in the log: to follow another, import again "
                "with --score NAME"
            )
        yield from chain(head, rows)

    def _choose_filter(self, head: Sequence[Row]) -> list[str]:
        """Follow one filter where the log has a row for each: the one asked for, else the first.

        Returns:
            The filters that the log's first rows name.
        """
        names = [to_name(row.values.get("filter")) for row in head]
        filters = list(dict.fromkeys(name for name in names if name is not None))
        if len(filters) < 2:
            return filters
        self._filter = self._wanted if self._wanted in filters else filters[0]
        others = ", ".join(name for name in filters if name != self._filter)
        self._maker.out.note(
            f"{self._task}: a row for each filter; {self._filter} is followed; {others} stay in "
            "the log: to follow another, import again with --score NAME"
        )
        return filters

    def take(self, row: Row) -> None:
        """Turn one row into records, or note why not."""
        out, values = self._maker.out, row.values
        given = values.get("doc_id")
        name = str(given) if given.__class__ is int else to_name(given)
        if name is None:
            out.skip(row.place, "it has no doc_id")
            return
        if self._filter is not None and to_name(values.get("filter")) != self._filter:
            return
        if not self._names.add(name):
            out.skip(row.place, f"doc_id {name!r:.60} stood before; the first row is kept")
            return
        document = inner(values, "doc")
        said = _said(values, document)
        sample_id = self._maker.sample(
            row.place,
            self._file.name,
            self._prefix + name,
            self._question(row, document, name, said),
            again=not self._asked.add(name),
        )
        if sample_id is None:
            return
        metric = None
        for key in self._metrics:
            if key in values:
                metric = key
                break
        verdict = None if metric is None else _verdict(values[metric])
        if said.note:
            out.tally(f"{self._task}: {said.note}", row.place)
        for repeat, answer in enumerate(said.answers):
            response_id = self._maker.answer(
                row.place,
                sample_id,
                self._model,
                answer.text,
                repeat=repeat,
                detail=answer.detail,
                cause=answer.cause,
                thoughts=answer.thoughts,
            )
            if response_id is not None and repeat < said.graded:
                self._maker.graded(
                    response_id,
                    verdict,
                    answer=cut(answer.read, 4_000),
                    unread="" if metric is None else f"{metric} holds no score",
                )
        if metric is not None:
            self._sum(row, metric, verdict)

    def _sum(self, row: Row, metric: str, verdict: Verdict | None) -> None:
        """Take a score into its metric's mean, or note that there is none."""
        if verdict is None or verdict.value is None:
            told = f"{self._task}: {metric} can't be read as a score from 0 to 1"
            self._maker.out.tally(told, row.place)
            return
        if metric not in self._sums:
            self._sums[metric] = _Sums(metric=metric)
        self._sums[metric].add(verdict.value)

    def _question(
        self, row: Row, document: Mapping[str, object], name: str, said: _SaidOnce
    ) -> Question:
        values = row.values
        text = _asked(values.get("input")) or _asked(values.get("arguments"))
        if text is None:
            text = next((t for key in _QUESTION_KEYS if (t := to_text(document.get(key)))), None)
        if text is None:
            self._maker.out.tally("the log doesn't say what was asked", row.place)
            text = f"Document {name} of {self._task} (its question is not in the log)"
        choices = label_choices(_LETTERS, said.choices) if said.choices else None
        reference = to_reference(values.get("target"), choices, 0 if said.by_likelihood else None)
        if reference.note:
            self._maker.out.tally(reference.note, row.place)
        labels = dict(labels_in(document))
        for value in values.values():
            if value.__class__ is dict and value is not document:
                labels |= dict(labels_in(value))
        if self._prefix or len(self._metrics) > 1:
            labels["task"] = self._task
        return Question(
            text,
            choices.texts if choices else (),
            reference.text,
            pictures=_pictures(document),
            labels=tuple(labels.items()),
            find_by_id=True,
        )

    def finish(self, results: _Results, *, whole: bool) -> None:
        """Say what the log's scores come to, and compare with the results file."""
        out = self._maker.out
        for sums in self._sums.values():
            line = (
                f"{self._task}: {sums.metric} {sums.mean:.4f} +- {sums.stderr:.4f} (n = {sums.n})"
            )
            there = results.figures.get((self._task, sums.metric))
            error = results.figures.get((self._task, f"{sums.metric}_stderr"))
            if there is None or there[1] is None or not whole:
                out.note(line)
                continue
            same = abs(there[1] - sums.mean) < 1e-6 and (
                error is None or error[1] is None or abs(error[1] - sums.stderr) < 1e-6
            )
            if same:
                out.note(f"{line}, as {there[0]} says")
            else:
                told = "" if error is None or error[1] is None else f" +- {error[1]:.4f}"
                out.note(f"{line}; {there[0]} says {there[1]:.4f}{told}")
                out.doubt(
                    f"{line}, but {there[0]} says {there[1]:.4f}{told}: look for a log that is "
                    "cut or of another run, or accept it"
                )


def _verdict(value: object) -> Verdict | None:
    """Read a metric: a number or yes/no, or an object with one inside."""
    if isinstance(value, _NUMBERS):
        return to_verdict(value)
    if isinstance(value, dict):
        inside = next((value[key] for key in _SCORE_KEYS if key in value), None)
        return None if isinstance(inside, dict | list) else to_verdict(inside)
    return None


class _Answered(NamedTuple):
    """One of a model's answers to a document."""

    text: str | None
    read: str = ""
    """The final answer as the log's filter read it out."""
    thoughts: str = ""
    cause: AnswerCause = ""
    detail: str = ""


class _SaidOnce(NamedTuple):
    """All that a model said to a document.

    Args:
        answers: its answers, the repeats in order.
        graded: how many of them, from the first on, the row's verdict is about.
        choices: the document's options.
        by_likelihood: whether nothing was written, and the likeliest option counts as the answer.
        note: what the reader should know.
    """

    answers: tuple[_Answered, ...]
    graded: int
    choices: tuple[str, ...] = ()
    by_likelihood: bool = False
    note: str = ""


def _said(values: Mapping[str, object], document: Mapping[str, object]) -> _SaidOnce:
    """Read what a model said: texts, repeats of them, or the likelihoods of options."""
    choices: tuple[str, ...] = ()
    if not _CHOICE_KEYS.isdisjoint(document):
        listed = next(to_list(document[key]) for key in _CHOICES if key in document)
        choices = tuple([t for item in listed or () if (t := to_text(item)) is not None])
    said, filtered = _alone(values.get("resps")), _alone(values.get("filtered_resps"))
    if said.__class__ is str and filtered.__class__ is str:  # nearly all are
        answer = _spoken(to_text(said), to_text(filtered))
        return _SaidOnce((answer,), 1, choices)
    scores = _likelihoods(values.get("resps")) or _likelihoods(values.get("filtered_resps"))
    if scores is not None:
        return _likeliest(scores, choices or _continuations(values.get("arguments")))
    raw, read = _texts(said), _texts(filtered)
    if len(raw) > 1 and len(read) in (len(raw), 1):
        graded = len(read)
        answers = (_spoken(text, read[at] if at < graded else None) for at, text in enumerate(raw))
        note = (
            "several answers to a document come in as repeats; the log's score is their mean"
            if graded > 1
            else "several answers to a document come in as repeats; the log scores the first"
        )
        return _SaidOnce(answers=tuple(answers), graded=graded, choices=choices, note=note)
    first = _spoken(raw[0] if raw else None, read[0] if read else None)
    note = f"{len(raw) - 1} further texts of a document stay in the log" if len(raw) > 1 else ""
    return _SaidOnce(answers=(first,), graded=1, choices=choices, note=note)


def _spoken(raw: str | None, read: str | None) -> _Answered:
    """Tell the thoughts of a text apart; a text that is all thoughts is no answer."""
    if raw is None:
        return _Answered(text=read, read=read or "", cause="" if read else "empty")
    spoken = tell_apart(raw) if may_think(raw) else None
    if spoken is None or not (spoken.thoughts or spoken.unfinished):
        return _Answered(raw, read or "")
    if spoken.unfinished:
        return _Answered(
            text=spoken.answer or None,
            read=read or "",
            thoughts=spoken.thoughts,
            cause="cut",
            detail="it ends within its thoughts",
        )
    return _Answered(
        text=spoken.answer or None,
        read=read or "",
        thoughts=spoken.thoughts,
        cause="" if spoken.answer else "empty",
    )


def _likelihoods(value: object) -> list[float] | None:
    """Read `[[-2.64, false], ...]`, one pair an option, however deep each stands; else None."""
    if not isinstance(value, list):
        return None
    found: list[float] = []
    for option in value:
        while isinstance(option, list) and len(option) == 1:
            option = option[0]
        if not isinstance(option, list) or len(option) != 2:
            return None
        number, greedy = to_number(option[0]), option[1]
        if number is None or str(greedy).lower() not in ("true", "false"):
            return None
        found.append(number)
    return found or None


def _continuations(arguments: object) -> tuple[str, ...]:
    """Return the options that a model was to weigh: the second part of each argument."""
    found = []
    listed = list(arguments.values()) if isinstance(arguments, dict) else to_list(arguments) or []
    for one in listed:
        parts = list(one.values()) if isinstance(one, dict) else to_list(one) or []
        text = to_text(parts[1]) if len(parts) > 1 else None
        if text is None:
            return ()
        found.append(text.strip())
    return tuple(found)


def _likeliest(scores: Sequence[float], choices: tuple[str, ...]) -> _SaidOnce:
    """Take the option with the highest likelihood for the answer; numbers are no model's words."""
    best = max(range(len(scores)), key=scores.__getitem__)
    named = choices[best] if len(choices) == len(scores) else None
    told = "the likeliest option; the model wrote nothing"
    answer = _Answered(
        text=named,
        read=named or "",
        detail=told if named is not None else "the log weighs options that it doesn't name",
    )
    return _SaidOnce(
        answers=(answer,),
        graded=1,
        choices=choices if named is not None else (),
        by_likelihood=True,
        note="answers are the likeliest options: the log holds likelihoods, no texts",
    )


def _alone(value: object) -> object:
    """Take a value out of the lists that hold nothing else."""
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value


def _texts(value: object) -> list[str | None]:
    """Return the texts of nested lists, as `resps` and `filtered_resps` are."""
    value = _alone(value)
    if isinstance(value, list):
        return [_texts(item)[0] if _texts(item) else None for item in value]
    return [to_text(value)]


def _pictures(document: Mapping[str, object]) -> tuple[object, ...]:
    """Return all pictures of a document: `image`, `images`, `image_1`, `image_2`, ..."""
    path = to_name(document.get("image_path"))
    if path is not None:
        return (path,)
    found: list[object] = []
    for key in _picture_keys(tuple(document)):
        value = document[key]
        found += [
            one
            for one in (value if isinstance(value, list) else [value])
            if isinstance(one, dict) or (isinstance(one, str) and one.strip())
        ]
    return tuple(found)


@lru_cache(maxsize=64)
def _picture_keys(keys: tuple[str, ...]) -> tuple[str, ...]:
    """Return which of a document's keys hold pictures, in their order; most rows have the same."""
    numbered = sorted(
        (int(match[1] or 0), key)
        for key in keys
        if key.startswith("image") and (match := _PICTURE_KEY.fullmatch(key))
    )
    return tuple(key for _, key in numbered)


def _asked(value: object) -> str | None:
    """Find the prompt: a text, nested lists, `gen_args_0.arg_0`, or chat messages."""
    if isinstance(value, str):
        return to_text(value)
    if isinstance(value, dict):
        for key in ("gen_args_0", "arg_0", "content", "text"):
            if key in value:
                return _asked(value[key])
        return None
    if isinstance(value, list):
        if value and isinstance(value[0], dict):
            return "\n".join([text for item in value if (text := _asked(item)) is not None]) or None
        for item in value:
            if (text := _asked(item)) is not None:
                return text
    return None


FORMAT = Format(
    name=NAME,
    about="lmms-eval logs: what was asked, answers and metrics; results files to check them.",
    patterns=("*_samples_*.jsonl", "*_results.json"),
    wanted="<date>_samples_<task>.jsonl",
    sniff=sniff,
    read=read,
)
