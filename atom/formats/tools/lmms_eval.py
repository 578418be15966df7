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
from itertools import chain, islice

from atom.errors import FormatError
from atom.formats.base import Format, ImportFile, Reading, ReadOptions
from atom.formats.cells import (
    label_choices,
    to_list,
    to_name,
    to_number,
    to_reference,
    to_text,
)
from atom.formats.intake.batch import Batch
from atom.formats.intake.by_row import Limit, rows_of, unknown_score
from atom.formats.intake.collector import Collector
from atom.formats.intake.maker import Maker, SourceQuestion
from atom.formats.intake.names import SeenNumbers, cut, short
from atom.formats.json_file import inner, load_object
from atom.formats.labels import labels_in
from atom.formats.rows import Row
from atom.formats.tools.lmms_plain import MOST_READ, PlainRows
from atom.formats.tools.lmms_said import SaidOnce, asked_in, pictures_in, said_in, verdict_of

NAME = "lmms-eval"
_TASK = re.compile(r"(?:^|_)samples_(?P<task>.+?)(?:_\d{4}-\d\d-\d\dT[\d.\-:]+)?\Z")
_NO_METRIC = frozenset(
    {
        "doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "doc_hash",
        "prompt_hash", "target_hash", "input", "filter", "metrics", "sample_len", "bypass",
        "token_counts", "submission",
    }
)  # fmt: skip
_QUESTION_KEYS = ("question", "query", "prompt", "text", "instruction")
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
            options=options,
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

    @property
    def is_empty(self) -> bool:
        """Whether none was met."""
        return not (self._numbers.runs or self._others)


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
        options: ReadOptions,
        listed: Sequence[str],
        wanted: str | None,
        asked: _Names,
    ) -> None:
        self._file = file
        self._task = task
        self._model = model
        self._maker = maker
        self._prefix = prefix
        self._options = options
        self._listed = listed
        self._wanted = wanted
        self._asked = asked
        self._filter: str | None = None
        # A task's first log asks whatever it names.
        self._names = asked if asked.is_empty else _Names()
        self._metrics: tuple[str, ...] = ()
        self._sums: dict[str, _Sums] = {}
        self._plain: PlainRows | None = None

    def rows(self) -> Iterator[Row]:
        """Give the rows, once the metrics are known from the first ones."""
        rows = rows_of(self._file, self._maker.out)
        head = list(islice(rows, _HEAD_ROWS))
        found: dict[str, None] = dict.fromkeys(self._listed)
        present: dict[str, None] = {}
        for row in head:
            for key, value in row.values.items():
                if key not in _NO_METRIC and verdict_of(value) is not None:
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
        self._plain = PlainRows(
            self._maker,
            self._options,
            prefix=self._prefix,
            source=self._file.name,
            model=self._model,
            metrics=self._metrics,
            task=self._task if self._is_task_told else None,
        )
        yield from chain(head, rows)

    @property
    def _is_task_told(self) -> bool:
        """Whether the task is a label of its questions."""
        return bool(self._prefix) or len(self._metrics) > 1

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
        assert self._plain is not None
        score = self._plain.take(values, name, self._asks)
        if score is None:
            self._look_closer(row, name)
        else:
            self._sum(*score)

    def _asks(self, name: str) -> bool:
        """Note that a question was asked; says whether no earlier log of the task asked it."""
        return self._names is self._asked or self._asked.add(name)

    def _look_closer(self, row: Row, name: str) -> None:
        """Turn a row that isn't plain into records."""
        out, values = self._maker.out, row.values
        document = inner(values, "doc")
        said = said_in(values, document)
        sample_id = self._maker.sample(
            row.place,
            self._file.name,
            self._prefix + name,
            self._question(row, document, name, said),
            again=not self._asks(name),
        )
        if sample_id is None:
            return
        metric = None
        for key in self._metrics:
            if key in values:
                metric = key
                break
        verdict = None if metric is None else verdict_of(values[metric])
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
                    answer=cut(answer.read, MOST_READ),
                    unread="" if metric is None else f"{metric} holds no score",
                )
        if metric is not None:
            if verdict is None or verdict.value is None:
                told = f"{self._task}: {metric} can't be read as a score from 0 to 1"
                out.tally(told, row.place)
            else:
                self._sum(metric, verdict.value)

    def _sum(self, metric: str, value: float) -> None:
        """Take a score into its metric's mean."""
        sums = self._sums.get(metric)
        if sums is None:
            sums = self._sums[metric] = _Sums(metric=metric)
        sums.add(value)

    def _question(
        self, row: Row, document: Mapping[str, object], name: str, said: SaidOnce
    ) -> SourceQuestion:
        values = row.values
        text = asked_in(values.get("input")) or asked_in(values.get("arguments"))
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
        if self._is_task_told:
            labels["task"] = self._task
        return SourceQuestion(
            text,
            choices.texts if choices else (),
            reference.text,
            pictures=pictures_in(document),
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


FORMAT = Format(
    name=NAME,
    about="lmms-eval logs: what was asked, answers and metrics; results files to check them.",
    patterns=("*_samples_*.jsonl", "*_results.json"),
    wanted="<date>_samples_<task>.jsonl",
    sniff=sniff,
    read=read,
)
