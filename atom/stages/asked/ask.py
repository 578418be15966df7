"""Ask: a judge says which view of the study answers a question in words.

It computes nothing and opens nothing. Its reply is read into a closed form, field by field; what a
field doesn't allow is left out and said. What the form names is looked up in the study afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError

from atom.asked.view_request import MOST_QUESTION, ViewRequest, Vocabulary
from atom.errors import DataError
from atom.judge.reply import Reply
from atom.judge.request import Request
from atom.records import Sampling
from atom.stages.asking import make_request
from atom.stages.reading import one_line, read_reply, text_of
from atom.stages.schemas import ASK

TASK: Final = "ask"
PROMPT: Final = "ask/1"
SAMPLING: Final = Sampling(temperature=0.0, max_tokens=600)
"""A short reply, the same each time."""
_TEXTS: Final = {"capability": 600, "facet": 200, "search": 120}


@dataclass(frozen=True, kw_only=True)
class QuestionReading:
    """What a judge made of a question.

    Args:
        wanted: the view that it named; None where the reply can't be used.
        why: why there is none.
    """

    wanted: ViewRequest | None
    why: str = ""


def build(question: str, vocabulary: Vocabulary) -> Request:
    """Build the request about one question.

    Raises:
        DataError: the question is empty.
    """
    text = " ".join(question[:MOST_QUESTION].split())
    if not text:
        raise DataError("the question is empty: write what you want to see")
    return make_request(
        PROMPT,
        {
            "question": text,
            "models": list(vocabulary.models),
            "capabilities": list(vocabulary.capabilities),
            "labels": {facet: list(values) for facet, values in vocabulary.labels.items()},
        },
        pictures=(),
        sampling=SAMPLING,
        repeat=0,
        schema=ASK,
    )


def parse(reply: Reply) -> QuestionReading:
    """Read the judge's reply; a field that holds what it mustn't is left out, and said so."""
    usable = read_reply(reply, "page")
    if usable.data is None:
        return QuestionReading(wanted=None, why=usable.reason)
    given = {key: value for key, value in usable.data.items() if key in ViewRequest.model_fields}
    refused: list[str] = []
    while True:
        left = tuple([*_said(given), *refused][:12])
        try:
            return QuestionReading(wanted=ViewRequest(**{**_whole(given), "not_understood": left}))
        except ValidationError as error:
            bad = {str(one["loc"][0]) for one in error.errors()} & given.keys()
            if not bad:
                return QuestionReading(wanted=None, why="The reply names no view.")
            for key in sorted(bad):
                refused.append(f"{key}: {one_line(text_of(given.pop(key)) or 'unusable', 60)}")


def _said(given: Mapping[str, Any]) -> list[str]:
    held = given.get("not_understood")
    return [one_line(text_of(one), 60) for one in held if text_of(one)] if (
        isinstance(held, list)) else []  # fmt: skip


def _whole(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields as the form takes them: nulls where it has its own usual value go."""
    kept = {key: value for key, value in given.items() if value is not None}
    for key, most in _TEXTS.items():
        if key in kept:
            kept[key] = text_of(kept[key])[:most]
    for key in ("models", "labels"):
        if isinstance(kept.get(key), list):
            kept[key] = tuple(kept[key])
    return kept
