"""Reads what a chat-completions server sent back, whatever it is."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from atom.judge.reply_json import clean_text
from atom.judge.retry import AttemptFailed, Fault, error_text, http_fault
from atom.records import Usage


@dataclass(frozen=True, kw_only=True, slots=True)
class Completion:
    """The first choice of a chat completion.

    Args:
        content: the text; None where the server sent none.
        refusal: the model's refusal, where the server reports one apart.
        finish: `stop`, `length`, `content_filter`, ... as the server says; None when it doesn't.
        usage: tokens as counted by the server.
    """

    content: str | None
    refusal: str | None
    finish: str | None
    usage: Usage


def read_completion(raw: bytes, *, has_pictures: bool) -> Completion:
    """Read the body of a 200 reply.

    Args:
        raw: the body.
        has_pictures: whether the request held pictures.

    Returns:
        The first choice. `content` null, a refusal, `length` and `content_filter` are answers.

    Raises:
        AttemptFailed: the body is no completion: HTML, cut or empty JSON, an error, no choices.
    """
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        shown, _ = error_text(raw.decode("utf-8", errors="replace"))
        raise _unusable(f"a body that isn't JSON ({shown})" if shown else "an empty body") from None
    if not isinstance(body, dict):
        raise _unusable(f"a JSON {type(body).__name__} instead of an object")
    choices = body.get("choices")
    if not choices and body.get("error"):
        raise AttemptFailed(http_fault(200, {}, body, has_pictures=has_pictures))
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise _unusable("a completion without choices")
    message = choices[0].get("message")
    if not isinstance(message, dict):
        raise _unusable("a choice without a message")
    return Completion(
        content=_text(message.get("content")),
        refusal=_text(message.get("refusal")),
        finish=_word(choices[0].get("finish_reason")),
        usage=read_usage(body.get("usage")),
    )


def read_models(raw: bytes) -> tuple[str, ...]:
    """Read the names out of a list of models.

    Raises:
        AttemptFailed: the body is no such list.
    """
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        raise _unusable("a list of models that isn't JSON") from None
    listed = body.get("data") if isinstance(body, dict) else None
    if not isinstance(listed, list):
        raise _unusable("no list of models")
    names = [entry.get("id") for entry in listed if isinstance(entry, dict)]
    return tuple(clean_text(name) for name in names if isinstance(name, str))


def read_usage(given: object) -> Usage:
    """Read a usage object; whatever is missing or odd is None."""
    if not isinstance(given, Mapping):
        return Usage()
    details = given.get("prompt_tokens_details")
    return Usage(
        prompt_tokens=_count(given.get("prompt_tokens")),
        completion_tokens=_count(given.get("completion_tokens")),
        cached_tokens=_count(details.get("cached_tokens")) if isinstance(details, dict) else None,
    )


class StreamedCompletion:
    """Gathers the events of a streamed completion."""

    def __init__(self, *, has_pictures: bool) -> None:
        self._has_pictures = has_pictures
        self._content: list[str] = []
        self._refusal: list[str] = []
        self._finish: str | None = None
        self._usage = Usage()
        self._seen_choice = False
        self.done = False

    def take_line(self, line: str) -> Iterator[str]:
        """Take one line of the event stream and yield the new text in it.

        Raises:
            AttemptFailed: the line holds an error or isn't an event.
        """
        if not line.startswith("data:"):
            return
        data = line[5:].strip()
        if data == "[DONE]":
            self.done = True
            return
        try:
            event = json.loads(data)
        except (ValueError, RecursionError):
            raise _unusable("a stream event that isn't JSON") from None
        if not isinstance(event, dict):
            raise _unusable("a stream event that isn't an object")
        if event.get("error"):
            raise AttemptFailed(http_fault(200, {}, event, has_pictures=self._has_pictures))
        if event.get("usage"):
            self._usage = read_usage(event["usage"])
        choices = event.get("choices")
        if isinstance(choices, list) and choices and isinstance(choices[0], dict):
            yield from self._take_choice(choices[0])

    def _take_choice(self, choice: dict[str, object]) -> Iterator[str]:
        self._seen_choice = True
        self._finish = _word(choice.get("finish_reason")) or self._finish
        delta = choice.get("delta") or choice.get("message")
        if isinstance(delta, dict):
            self._refusal.append(_text(delta.get("refusal")) or "")
            piece = _text(delta.get("content"))
            if piece:
                self._content.append(piece)
                yield piece

    def result(self) -> Completion:
        """Return the whole completion.

        Raises:
            AttemptFailed: the stream ended early.
        """
        if not self._seen_choice or not (self.done or self._finish):
            raise _unusable("a stream that ended early")
        return Completion(
            content="".join(self._content) if self._content else None,
            refusal="".join(self._refusal) or None,
            finish=self._finish,
            usage=self._usage,
        )


def _unusable(what: str) -> AttemptFailed:
    return AttemptFailed(
        Fault(kind="transient", message=f"The server answered 200 with {what}.", status=200)
    )


def _text(given: object) -> str | None:
    """Return content given as text, or as a list of text parts."""
    if isinstance(given, str):
        return clean_text(given)
    if isinstance(given, list):
        pieces = [part.get("text") for part in given if isinstance(part, dict)]
        return clean_text("".join(piece for piece in pieces if isinstance(piece, str)))
    return None


def _word(given: object) -> str | None:
    return clean_text(given[:60]) if isinstance(given, str) else None


def _count(given: object) -> int | None:
    return given if isinstance(given, int) and not isinstance(given, bool) and given >= 0 else None
