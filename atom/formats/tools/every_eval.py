"""Every Eval Ever: instance-level records of evaluations, one JSON line a sample.

Single-turn records hold `output.raw`; of conversations the last words of the assistant are the
answer. A record's thoughts (`reasoning_trace`) are kept apart, and an error is told.

Reference: EvalEval Coalition, Every Eval Ever, `instance_level_eval.schema.json` 0.2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from atom.formats.base import Format, ImportFile, Reading, ReadOptions
from atom.formats.cells import (
    ImportedVerdict,
    label_choices,
    to_list,
    to_name,
    to_reference,
    to_text,
    to_verdict,
)
from atom.formats.intake.by_row import SortedRow, row_by_row, sort_rows
from atom.formats.intake.collector import Collector
from atom.formats.intake.maker import Maker, SourceQuestion
from atom.formats.intake.names import cut
from atom.formats.json_file import inner
from atom.formats.labels import labels_in
from atom.records.thoughts import tell_apart

NAME = "every-eval-ever"
_KEYS = ("evaluation_id", "model_id", "sample_id", "interaction_type", "input", "evaluation")
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def sniff(head: bytes, name: str) -> float:
    """Say how likely it is that this is a file of instance-level records."""
    first = head.decode("utf-8", "replace").lstrip("\ufeff \t\r\n").split("\n", 1)[0]
    return 0.96 if all(f'"{key}"' in first for key in _KEYS[:4]) else 0.0


def read(files: Sequence[ImportFile], options: ReadOptions) -> Reading:
    """Read records.

    Raises:
        FormatError: a file has none.
    """
    collector = Collector(NAME, options.dataset or cut(files[0].stem), [f.name for f in files])
    rows = sort_rows(files, collector, {"record": _KEYS}, f"records with {', '.join(_KEYS)}")
    repeats: Counter[tuple[str, str]] = Counter()
    return row_by_row(
        rows, lambda found, maker: _take(found, maker, options, repeats), options, collector,
        what="records",
    )  # fmt: skip


def _take(
    found: SortedRow, maker: Maker, options: ReadOptions, repeats: Counter[tuple[str, str]]
) -> None:
    values, place = found.row.values, found.row.place
    asked = inner(values, "input")
    name, task = to_name(values.get("sample_id")), to_name(values.get("evaluation_name")) or ""
    text = to_text(asked.get("raw")) or to_text(asked.get("formatted"))
    if name is None or text is None:
        maker.out.skip(place, "it has no sample_id" if name is None else "it has no input")
        return
    texts = to_list(asked.get("choices")) or []
    choices = label_choices(_LETTERS, texts) if texts else None
    reference = to_reference(asked.get("reference"), choices)
    if reference.note:
        maker.out.tally(reference.note, place)
    identity = f"{task}/{name}" if task else name
    sample_id = maker.sample(
        place,
        found.file.name,
        identity,
        SourceQuestion(
            text=text,
            choices=choices.texts if choices else (),
            reference=reference.text,
            labels=(
                *((("task", task),) if task else ()),
                *labels_in(inner(values, "metadata"), tuple(map(str, inner(values, "metadata")))),
            ),
        ),
    )
    if sample_id is None:
        return
    model = options.candidates.get(found.file.name) or to_name(values.get("model_id")) or "model"
    said, thoughts, unfinished = _said(values)
    error = to_text(values.get("error"))
    read_out = _extracted(values)
    # Several replies in one record are answers of their own; the record's verdict is about all.
    first = repeats[sample_id, model]
    for at, answer in enumerate(said or [None]):
        response_id = maker.answer(
            place,
            sample_id,
            model,
            answer,
            repeat=first + at,
            detail=cut(error) if error else "it ends within its thoughts" if unfinished else "",
            state="failed" if error and answer is None else None,
            cause="cut" if unfinished else "" if answer or error else "empty",
            thoughts=thoughts,
        )
        if response_id is not None:
            maker.graded(
                response_id, _verdict(values), answer=read_out, unread="the record has no score"
            )
    repeats[sample_id, model] += max(1, len(said))


def _said(values: Mapping[str, object]) -> tuple[list[str | None], str, bool]:
    """Return the answers, the thoughts, and whether the last one never got past them."""
    output = inner(values, "output")
    raw = [to_text(item) for item in to_list(output.get("raw")) or ()]
    thoughts = [to_text(item) or "" for item in to_list(output.get("reasoning_trace")) or ()]
    if not raw:
        spoken = [
            message
            for message in to_list(values.get("messages")) or ()
            if isinstance(message, dict) and message.get("role") == "assistant"
        ]
        if spoken:
            raw = [to_text(spoken[-1].get("content"))]
            thoughts.append(to_text(spoken[-1].get("reasoning_trace")) or "")
    answers: list[str | None] = []
    unfinished = False
    for item in raw:
        parts = tell_apart(item or "")
        unfinished |= parts.unfinished
        thoughts.append(parts.thoughts)
        whole = item if not parts.thoughts and not parts.unfinished else parts.answer
        answers.append(whole or None)
    return answers, "\n".join(part for part in thoughts if part), unfinished


def _extracted(values: Mapping[str, object]) -> str:
    for one in reversed(to_list(values.get("answer_attribution")) or []):
        if isinstance(one, dict) and one.get("is_terminal") is not False:
            return cut(to_text(one.get("extracted_value")) or "", 4_000)
    return ""


def _verdict(values: Mapping[str, object]) -> ImportedVerdict | None:
    """Read the score where it lies between 0 and 1, else whether the answer is correct."""
    told = inner(values, "evaluation")
    score = to_verdict(told.get("score"))
    if score is not None and score.value is not None:
        return score
    return to_verdict(told.get("is_correct")) or score


FORMAT = Format(
    name=NAME,
    about="Every Eval Ever: instance-level records of evaluations, one JSON line a sample.",
    patterns=("*.jsonl",),
    wanted="a file of instance-level records",
    sniff=sniff,
    read=read,
)
