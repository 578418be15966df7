"""What a row of a lmms-eval log says: what was asked, what a model said, and its verdict."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from atom.formats.cells import ImportedVerdict, to_list, to_name, to_number, to_text, to_verdict
from atom.records import AnswerCause
from atom.records.thoughts import may_think, tell_apart

_PICTURE_KEY = re.compile(r"images?(?:_?(\d{1,2}))?")
_SCORE_KEYS = ("score", "correct", "hit", "is_correct", "accuracy", "acc", "exact_match")
_CHOICES = ("options", "choices")
CHOICE_KEYS = frozenset(_CHOICES)
_NUMBERS = (int, float)
_SURE = {0.0: ImportedVerdict(0.0), 1.0: ImportedVerdict(1.0)}
"""What nearly all scores are."""


def verdict_of(value: object) -> ImportedVerdict | None:
    """Read a metric: a number or yes/no, or an object with one inside."""
    if value.__class__ is float and value in _SURE:
        return _SURE[value]
    if isinstance(value, _NUMBERS):
        return to_verdict(value)
    if isinstance(value, dict):
        inside = next((value[key] for key in _SCORE_KEYS if key in value), None)
        return None if isinstance(inside, dict | list) else to_verdict(inside)
    return None


class ModelAnswer(NamedTuple):
    """One of a model's answers to a document."""

    text: str | None
    read: str = ""
    """The final answer as the log's filter read it out."""
    thoughts: str = ""
    cause: AnswerCause = ""
    detail: str = ""


class SaidOnce(NamedTuple):
    """All that a model said to a document.

    Args:
        answers: its answers, the repeats in order.
        graded: how many of them, from the first on, the row's verdict is about.
        choices: the document's options.
        by_likelihood: whether nothing was written, and the likeliest option counts as the answer.
        note: what the reader should know.
    """

    answers: tuple[ModelAnswer, ...]
    graded: int
    choices: tuple[str, ...] = ()
    by_likelihood: bool = False
    note: str = ""


def said_in(values: Mapping[str, object], document: Mapping[str, object]) -> SaidOnce:
    """Read what a model said: texts, repeats of them, or the likelihoods of options."""
    choices: tuple[str, ...] = ()
    if not CHOICE_KEYS.isdisjoint(document):
        listed = next(to_list(document[key]) for key in _CHOICES if key in document)
        choices = tuple([t for item in listed or () if (t := to_text(item)) is not None])
    said, filtered = alone(values.get("resps")), alone(values.get("filtered_resps"))
    if said.__class__ is str and filtered.__class__ is str:  # nearly all are
        answer = _spoken(to_text(said), to_text(filtered))
        return SaidOnce((answer,), 1, choices)
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
        return SaidOnce(answers=tuple(answers), graded=graded, choices=choices, note=note)
    first = _spoken(raw[0] if raw else None, read[0] if read else None)
    note = f"{len(raw) - 1:,} further texts of a document stay in the log" if len(raw) > 1 else ""
    return SaidOnce(answers=(first,), graded=1, choices=choices, note=note)


def _spoken(raw: str | None, read: str | None) -> ModelAnswer:
    """Tell the thoughts of a text apart; a text that is all thoughts is no answer."""
    if raw is None:
        return ModelAnswer(text=read, read=read or "", cause="" if read else "empty")
    spoken = tell_apart(raw) if may_think(raw) else None
    if spoken is None or not (spoken.thoughts or spoken.unfinished):
        return ModelAnswer(raw, read or "")
    if spoken.unfinished:
        return ModelAnswer(
            text=spoken.answer or None,
            read=read or "",
            thoughts=spoken.thoughts,
            cause="cut",
            detail="it ends within its thoughts",
        )
    return ModelAnswer(
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


def _likeliest(scores: Sequence[float], choices: tuple[str, ...]) -> SaidOnce:
    """Take the option with the highest likelihood for the answer; numbers are no model's words."""
    best = max(range(len(scores)), key=scores.__getitem__)
    named = choices[best] if len(choices) == len(scores) else None
    told = "the likeliest option; the model wrote nothing"
    answer = ModelAnswer(
        text=named,
        read=named or "",
        detail=told if named is not None else "the log weighs options that it doesn't name",
    )
    return SaidOnce(
        answers=(answer,),
        graded=1,
        choices=choices if named is not None else (),
        by_likelihood=True,
        note="answers are the likeliest options: the log holds likelihoods, no texts",
    )


def alone(value: object) -> object:
    """Take a value out of the lists that hold nothing else."""
    while value.__class__ is list and len(value) == 1:
        value = value[0]
    return value


def _texts(value: object) -> list[str | None]:
    """Return the texts of nested lists, as `resps` and `filtered_resps` are."""
    value = alone(value)
    if isinstance(value, list):
        return [_texts(item)[0] if _texts(item) else None for item in value]
    return [to_text(value)]


def pictures_in(document: Mapping[str, object]) -> tuple[object, ...]:
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


def may_hold_pictures(keys: tuple[str, ...]) -> bool:
    """Whether a document with these keys may name or hold pictures."""
    return "image_path" in keys or bool(_picture_keys(keys))


@lru_cache(maxsize=64)
def _picture_keys(keys: tuple[str, ...]) -> tuple[str, ...]:
    """Return which of a document's keys hold pictures, in their order; most rows have the same."""
    numbered = sorted(
        (int(match[1] or 0), key)
        for key in keys
        if key.startswith("image") and (match := _PICTURE_KEY.fullmatch(key))
    )
    return tuple(key for _, key in numbered)


def asked_in(value: object) -> str | None:
    """Find the prompt: a text, nested lists, `gen_args_0.arg_0`, or chat messages."""
    if value is None:
        return None
    first = value
    while first.__class__ is list and first:
        first = first[0]
    if first.__class__ is str and (text := to_text(first)) is not None:
        return text  # as in nearly all rows
    if isinstance(value, str):
        return to_text(value)
    if isinstance(value, dict):
        for key in ("gen_args_0", "arg_0", "content", "text"):
            if key in value:
                return asked_in(value[key])
        return None
    if isinstance(value, list):
        if value and isinstance(value[0], dict):
            texts = [text for item in value if (text := asked_in(item)) is not None]
            return "\n".join(texts) or None
        for item in value:
            if (text := asked_in(item)) is not None:
                return text
    return None
