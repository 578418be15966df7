"""EvalScope's reviews (`reviews/<model>/<benchmark>_<subset>.jsonl`) and their predictions.

A row of a review holds what was asked, the target and the scores; a row of the predictions holds
the whole reply (why it stopped, its thoughts), joined on the model's folder, the file's name and
`index`. Predictions without a review bring answers without a verdict. Repeats of one sample share
a `group_id`.

Reference: EvalScope (ModelScope), `evalscope.api.evaluator.cache` (`ReviewResult`, `ModelResult`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from atom.formats.base import Format, ImportFile, Reading, ReadOptions
from atom.formats.cells import ImportedVerdict, to_list, to_name, to_number, to_text, to_verdict
from atom.formats.intake.batch import Batch
from atom.formats.intake.by_row import Limit, refuse, rows_of, unknown_score
from atom.formats.intake.collector import Collector
from atom.formats.intake.maker import Maker, SourceQuestion
from atom.formats.intake.names import cut
from atom.formats.json_file import inner
from atom.formats.labels import labels_in
from atom.records import AnswerCause
from atom.records.thoughts import tell_apart

NAME = "evalscope"
_SPEAKER = re.compile(r"\A\s*\*\*User\*\*:\s*\n", re.IGNORECASE)
_PICTURE = re.compile(r"!\[[^\]\n]{0,200}\]\(([^)\s\[]{1,20000000})\)")
_STOPPED: Mapping[str, tuple[AnswerCause, str]] = {
    "max_tokens": ("cut", "cut off at the length limit"),
    "length": ("cut", "cut off at the length limit"),
    "content_filter": ("filtered", "stopped by a content filter"),
}


def sniff(head: bytes, name: str) -> float:
    """Say how likely it is that this is a review or a prediction of EvalScope."""
    first = head.decode("utf-8", "replace").lstrip("\ufeff \t\r\n").split("\n", 1)[0]
    if '"sample_score"' in first and '"index"' in first:
        return 0.95
    return 0.9 if '"model_output"' in first and '"index"' in first else 0.0


@dataclass(frozen=True, kw_only=True)
class _Prediction:
    text: str | None
    thoughts: str
    cause: AnswerCause
    detail: str
    model: str | None
    asked: object
    """The messages that came before the reply."""


def read(files: Sequence[ImportFile], options: ReadOptions) -> Reading:
    """Read reviews, with the predictions that belong to them.

    Raises:
        FormatError: a file is neither.
    """
    collector = Collector(NAME, options.dataset or "", [file.name for file in files])
    reviews: list[ImportFile] = []
    predictions: dict[tuple[str, str], dict[str, _Prediction]] = {}
    for file in files:
        head = file.head()
        if b'"sample_score"' in head:
            reviews.append(file)
        elif b'"model_output"' in head:
            predictions[_key(file)] = _predictions(file, collector)
        else:
            raise refuse(file, "reviews (`index`, `sample_score`) or predictions (`model_output`)")
    told = {_key(file) for file in reviews}
    alone = [file for file in files if file not in reviews and _key(file) not in told]
    collector.dataset = options.dataset or ", ".join(
        dict.fromkeys(cut(file.stem) for file in (*reviews, *alone))
    )
    return Reading(_batches(reviews, alone, predictions, options, collector), collector)


def _key(file: ImportFile) -> tuple[str, str]:
    """Name what a review and its predictions share: the model's folder and the file's name."""
    return (file.folder.name if file.folder is not None else "", file.name)


def _predictions(file: ImportFile, collector: Collector) -> dict[str, _Prediction]:
    found: dict[str, _Prediction] = {}
    for row in rows_of(file, collector, count=False):
        index = to_name(row.values.get("index"))
        if index is None:
            collector.note(f"{row.place}: a prediction without `index` was left out")
            continue
        found[index] = _prediction(row.values)
    return found


def _prediction(values: Mapping[str, object]) -> _Prediction:
    output = inner(values, "model_output")
    choices = output.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else {}
    first = first if isinstance(first, dict) else {}
    texts: list[str] = []
    thoughts: list[str] = []
    content = inner(first, "message").get("content", output.get("completion"))
    for part in to_list(content) or [content]:
        if isinstance(part, dict):
            thoughts.append(to_text(part.get("reasoning")) or "")
            texts.append(to_text(part.get("text")) or "")
        else:
            texts.append(to_text(part) or "")
    spoken = tell_apart("\n".join(text for text in texts if text))
    stopped = to_name(first.get("stop_reason") or first.get("finish_reason"))
    cause, detail = _STOPPED.get(stopped or "", ("", ""))
    if spoken.unfinished and not cause:
        cause, detail = "cut", "it ends within its thoughts"
    told = to_text(output.get("error"))
    messages = to_list(values.get("messages")) or []
    return _Prediction(
        text=spoken.answer or None,
        thoughts="\n".join(part for part in (*thoughts, spoken.thoughts) if part),
        cause=cause or ("" if spoken.answer or told else "empty"),
        detail=cut(told) if told else detail,
        model=to_name(values.get("model")) or to_name(output.get("model")),
        asked=[m for m in messages if isinstance(m, dict) and m.get("role") == "user"],
    )


def _batches(
    reviews: Sequence[ImportFile],
    alone: Sequence[ImportFile],
    predictions: Mapping[tuple[str, str], Mapping[str, _Prediction]],
    options: ReadOptions,
    collector: Collector,
) -> Iterator[Batch]:
    limit = Limit(options, collector)
    maker = Maker(collector, options)
    whole = collector.dataset
    for file in (*reviews, *alone):
        collector.dataset = options.dataset or cut(file.stem)
        reader = _Reader(file, maker, options, predictions.get(_key(file), {}))
        for row in rows_of(file, collector):
            if limit.reached():
                break
            reader.take(row.place, row.values)
            if collector.is_full:
                yield collector.flush()
        reader.finish()
    collector.dataset = whole
    yield collector.flush()


class _Reader:
    """Turns one file's rows into records."""

    def __init__(
        self,
        file: ImportFile,
        maker: Maker,
        options: ReadOptions,
        predictions: Mapping[str, _Prediction],
    ) -> None:
        self._file = file
        self._maker = maker
        self._score = options.score
        folder = file.folder.name if file.folder is not None else ""
        named = next((p.model for p in predictions.values() if p.model), None)
        self._model = options.candidates.get(file.name) or cut(named or folder or "model")
        self._predictions = predictions
        self._repeats: Counter[str] = Counter()
        self._metric = ""
        self._values: list[float] = []
        self._prefix = f"{file.stem}/" if options.dataset else ""

    def take(self, place: str, values: Mapping[str, object]) -> None:
        """Turn one row into records, or note why not."""
        out = self._maker.out
        index = to_name(values.get("index"))
        scored = inner(values, "sample_score")
        prediction = self._predictions.get(index or "")
        identity = to_name(scored.get("group_id")) or to_name(scored.get("sample_id")) or index
        asked = values.get("input") or (None if prediction is None else prediction.asked)
        text, pictures = _question(asked)
        if identity is None or not text:
            out.skip(
                place, "it has no index" if identity is None else "it doesn't say what was asked"
            )
            return
        sample_id = self._maker.sample(
            place,
            self._file.name,
            self._prefix + identity,
            SourceQuestion(
                text=text,
                reference=to_text(values.get("target")),
                pictures=pictures,
                labels=(
                    ("subset", self._file.stem),
                    *labels_in(inner(scored, "sample_metadata")),
                ),
            ),
            again=self._repeats[identity] > 0,
        )
        if sample_id is None:
            return
        score = inner(scored, "score")
        if prediction is None:
            spoken = tell_apart(to_text(score.get("prediction")) or "")
            prediction = _Prediction(
                text=spoken.answer or None,
                thoughts=spoken.thoughts,
                cause="cut" if spoken.unfinished else "" if spoken.answer else "empty",
                detail="",
                model=None,
                asked=None,
            )
        response_id = self._maker.answer(
            place,
            sample_id,
            self._model,
            prediction.text,
            repeat=self._repeats[identity],
            detail=prediction.detail,
            cause=prediction.cause,
            thoughts=prediction.thoughts,
        )
        self._repeats[identity] += 1
        if response_id is None or not scored:
            return
        verdict = self._verdict(score)
        read_out = cut(to_text(score.get("extracted_prediction")) or "", 4_000)
        self._maker.graded(response_id, verdict, answer=read_out, unread="the review has no score")
        if verdict is not None and verdict.value is not None:
            self._values.append(verdict.value)

    def _verdict(self, score: Mapping[str, object]) -> ImportedVerdict | None:
        """Read the main score: the one asked for, the one that the row names, else the first."""
        given = inner(score, "value")
        if not given:
            return (
                to_verdict(score.get("value"))
                if to_number(score.get("value")) is not None
                else None
            )
        main = self._score or to_name(score.get("main_score_name")) or next(iter(given))
        if main not in given:
            if self._score is not None and not self._metric:
                raise unknown_score(self._file, self._score, list(map(str, given)))
            return None
        if not self._metric:
            self._metric = main
            others = [str(name) for name in given if name != main]
            if others:
                self._maker.out.note(
                    f"{self._file.name}: {main} is the verdict; {', '.join(others[:6])} stay in "
                    "the review: to follow another, import again with --score NAME"
                )
        return to_verdict(given[main])

    def finish(self) -> None:
        """Say what the scores come to."""
        if self._values:
            mean = sum(self._values) / len(self._values)
            self._maker.out.note(
                f"{self._file.name}: mean {self._metric or 'score'} {mean:.4f} "
                f"(n = {len(self._values)})"
            )


def _question(asked: object) -> tuple[str, tuple[object, ...]]:
    """Return what was asked and its pictures: a text with Markdown pictures, or messages."""
    if isinstance(asked, str):
        text = _SPEAKER.sub("", asked)
        pictures = tuple(_PICTURE.findall(text))
        return _PICTURE.sub("", text).strip(), pictures
    texts: list[str] = []
    found: list[object] = []
    for message in to_list(asked) or ():
        if not isinstance(message, dict) or message.get("role") not in (None, "user"):
            continue
        content = message.get("content")
        for part in content if isinstance(content, list) else [content]:
            if isinstance(part, str):
                texts.append(part)
            elif isinstance(part, dict) and part.get("type") == "image":
                found.append(part.get("image"))
            elif isinstance(part, dict) and isinstance(part.get("text"), str):
                texts.append(str(part["text"]))
    return "\n".join(texts).strip(), tuple(found)


FORMAT = Format(
    name=NAME,
    about="EvalScope's reviews and predictions: what was asked, answers, thoughts and scores.",
    patterns=("*.jsonl",),
    wanted="reviews/<model>/<benchmark>_<subset>.jsonl",
    sniff=sniff,
    read=read,
)
