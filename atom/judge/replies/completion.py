"""Reads what a chat-completions server sent back, whatever it is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from atom.judge.replies.objects import clean_text
from atom.judge.retry import NOTHING_SENT, AttemptFailed, Fault, http_fault
from atom.judge.servers.dialect import SentRequest
from atom.judge.servers.words import read_error
from atom.records import Usage

_FILTERED = frozenset(
    {"safety", "prohibited_content", "blocklist", "spii", "recitation", "image_safety"}
)
"""Finish reasons of Google's service that pass through a proxy as they are."""
_MOST_COUNTED = 100_000_000
_DONE = re.compile(r"\s*(?:data:\s*\[DONE\]\s*)*")


@dataclass(frozen=True, kw_only=True, slots=True)
class Completion:
    """The first choice of a chat completion.

    Args:
        content: the text; None where the server sent none.
        refusal: the model's refusal, where the server reports one apart.
        finish: `stop`, `length`, `content_filter`, ... as the server says; None when it doesn't.
        usage: tokens as counted by the server.
        thoughts: what the server reports apart as the model's thoughts.
    """

    content: str | None
    refusal: str | None
    finish: str | None
    usage: Usage
    thoughts: str = ""


def read_completion(raw: bytes | str, *, sent: SentRequest = NOTHING_SENT) -> Completion:
    """Read the body of a 200 reply.

    Args:
        raw: the body, bytes as UTF-8.

    Returns:
        The first choice. `content` null, a refusal, `length` and `content_filter` are answers. A
        stream that nobody asked for is read to its end.

    Raises:
        AttemptFailed: the body is no completion: HTML, cut or empty JSON, an error, no choices, a
            reply that an error cut short, or an empty one that nobody counted.
    """
    text = raw if isinstance(raw, str) else raw.decode("utf-8", errors="replace")
    body = _decode(text)
    if body is None and text.lstrip().startswith(("data:", "event:", ": ", "id:")):
        return _read_stream(text, sent)
    if body is None:
        shown = read_error(text).message
        raise _unusable(f"a body that isn't JSON ({shown})" if shown else "an empty body")
    if isinstance(body, list) and len(body) == 1 and isinstance(body[0], dict):
        body = body[0]
    if not isinstance(body, dict):
        raise _unusable(f"a JSON {type(body).__name__} instead of an object")
    choices = body.get("choices")
    if body.get("error") or body.get("object") == "error":
        raise AttemptFailed(http_fault(200, {}, body, sent=sent))
    if not choices and _blocked(body):
        return Completion(content=None, refusal=None, finish="content_filter", usage=Usage())
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        if read_error(body).message:
            raise AttemptFailed(http_fault(200, {}, body, sent=sent))
        raise _unusable("a completion without choices")
    choice = choices[0]
    _check_choice(choice, sent)
    message = choice.get("message")
    if message is None and _finish(choice.get("finish_reason")) == "content_filter":
        message = {}
    if not isinstance(message, dict):
        raise _unusable("a choice without a message")
    return _checked(
        Completion(
            content=_text(message.get("content")) or _arguments(message),
            refusal=_text(message.get("refusal")),
            finish=_finish(choice.get("finish_reason")),
            usage=read_usage(body.get("usage")),
            thoughts=_thoughts(message),
        ),
        counted=_was_counted(body.get("usage")),
    )


def _decode(text: str) -> object | None:
    """Return the JSON of a body, with the end mark of a stream behind it or not."""
    stripped = text.lstrip()
    try:
        body, end = json.JSONDecoder().raw_decode(stripped)
    except (ValueError, RecursionError):
        return None
    return body if _DONE.fullmatch(stripped, end) else None


def _read_stream(text: str, sent: SentRequest) -> Completion:
    gathered = StreamedCompletion(sent=sent)
    for line in text.splitlines():
        for _ in gathered.take_line(line):
            pass
    return gathered.result()


def _check_choice(choice: Mapping[str, object], sent: SentRequest) -> None:
    """Raise for a choice that an error cut short: its text is no answer.

    Raises:
        AttemptFailed: it is one; asked again, the server may bring it to its end.
    """
    error = choice.get("error")
    finish = choice.get("finish_reason")
    if not error and not (isinstance(finish, str) and finish.lower() == "error"):
        return
    if not error:
        raise _unusable("a reply that ended in an error")
    fault = http_fault(200, {}, {"error": error}, sent=sent)
    raise AttemptFailed(replace(fault, answered=True))


def _checked(completion: Completion, *, counted: bool) -> Completion:
    """Return a completion, unless it's the empty one of a server whose model is gone.

    Raises:
        AttemptFailed: nothing came, nothing was counted and nothing says why.
    """
    quiet = completion.finish in (None, "stop", "end_turn") and not counted
    said = completion.content or completion.refusal or completion.thoughts
    if quiet and not said:
        raise _unusable("an empty reply that it didn't count tokens for")
    return completion


def _was_counted(usage: object) -> bool:
    counts = read_usage(usage)
    return bool(counts.prompt_tokens or counts.completion_tokens)


def _blocked(body: Mapping[str, object]) -> bool:
    """Whether the question was blocked before any reply began (Gemini)."""
    feedback = body.get("promptFeedback") or body.get("prompt_feedback")
    return isinstance(feedback, dict) and bool(
        feedback.get("blockReason") or feedback.get("block_reason")
    )


def read_models(raw: bytes | str) -> tuple[str, ...]:
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
    parts = given.get("completion_tokens_details")
    thinking = parts.get("reasoning_tokens") if isinstance(parts, dict) else None
    return Usage(
        prompt_tokens=_count(given.get("prompt_tokens")),
        completion_tokens=_count(given.get("completion_tokens")),
        cached_tokens=_count(details.get("cached_tokens")) if isinstance(details, dict) else None,
        thinking_tokens=_count(given.get("reasoning_tokens") if thinking is None else thinking),
    )


class StreamedCompletion:
    """Gathers the events of a streamed completion."""

    def __init__(self, *, sent: SentRequest = NOTHING_SENT) -> None:
        self._sent = sent
        self._content: list[str] = []
        self._thoughts: list[str] = []
        self._counted = False
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
        # Some servers send a whole reply as JSON where a stream was asked for.
        whole = line.startswith("{") and not self._seen_choice
        if not whole and not line.startswith("data:"):
            return
        data = line if whole else line[5:].strip()
        if data == "[DONE]":
            self.done = True
            return
        try:
            event = json.loads(data)
        except (ValueError, RecursionError):
            raise _unusable("a stream event that isn't JSON") from None
        if not isinstance(event, dict):
            raise _unusable("a stream event that isn't an object")
        told = "choices" not in event and not event.get("usage") and read_error(event).message
        if event.get("error") or event.get("object") == "error" or told:
            raise AttemptFailed(http_fault(200, {}, event, sent=self._sent))
        if event.get("usage"):
            self._counted = _was_counted(event["usage"])
            self._usage = read_usage(event["usage"])
        choices = event.get("choices")
        if isinstance(choices, list) and choices and isinstance(choices[0], dict):
            yield from self._take_choice(choices[0])

    def _take_choice(self, choice: dict[str, object]) -> Iterator[str]:
        self._seen_choice = True
        _check_choice(choice, self._sent)
        self._finish = _finish(choice.get("finish_reason")) or self._finish
        delta = choice.get("delta") or choice.get("message")
        if isinstance(delta, dict):
            self._refusal.append(_text(delta.get("refusal")) or "")
            self._thoughts.append(_thoughts(delta))
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
        return _checked(
            Completion(
                content="".join(self._content) if self._content else None,
                refusal="".join(self._refusal) or None,
                finish=self._finish,
                usage=self._usage,
                thoughts="".join(self._thoughts),
            ),
            counted=self._counted,
        )


def _unusable(what: str) -> AttemptFailed:
    return AttemptFailed(
        Fault(
            kind="transient",
            message=f"The server answered 200 with {what}.",
            status=200,
            answered=True,
        )
    )


def _text(given: object) -> str | None:
    """Return content given as text, or as a list of parts, thoughts left out."""
    if isinstance(given, str):
        return clean_text(given)
    if isinstance(given, dict):
        given = [given]
    if isinstance(given, list):
        return clean_text("".join(_piece(part) for part in given))
    return None


def _piece(part: object) -> str:
    if isinstance(part, str):
        return part
    text = part.get("text") if isinstance(part, dict) and not _is_thought(part) else None
    return text if isinstance(text, str) else ""


def _is_thought(part: Mapping[str, object]) -> bool:
    return part.get("type") in {"thinking", "reasoning", "redacted_thinking"} or bool(
        part.get("thought")
    )


def _thoughts(message: Mapping[str, object]) -> str:
    """Return the thoughts that a message reports apart from its content."""
    for name in ("reasoning_content", "reasoning", "thinking"):
        found = message.get(name)
        if isinstance(found, str) and found:
            return clean_text(found)
    content = message.get("content")
    parts = content if isinstance(content, list) else message.get("reasoning_details")
    if not isinstance(parts, list):
        return ""
    return clean_text("".join(_thought(part) for part in parts if isinstance(part, dict)))


def _thought(part: Mapping[str, object]) -> str:
    kind = part.get("type")
    if not _is_thought(part) and not (isinstance(kind, str) and kind.startswith("reasoning.")):
        return ""
    for name in ("thinking", "text", "summary", "reasoning"):
        found = part.get(name)
        if isinstance(found, str):
            return found
        if isinstance(found, list):
            return "".join(_piece(one) for one in found)
    return ""


def _arguments(message: Mapping[str, object]) -> str | None:
    """Return what a model that called a tool instead of answering handed to it."""
    calls = message.get("tool_calls")
    call = calls[0] if isinstance(calls, list) and calls else None
    function = call.get("function") if isinstance(call, dict) else None
    return _text(function.get("arguments")) if isinstance(function, dict) else None


def _finish(given: object) -> str | None:
    """Return why a reply ended; all the words for a content filter are one."""
    word = clean_text(given[:60]) if isinstance(given, str) else None
    if word is not None and (
        word.lower() in _FILTERED or word.lower().startswith("content_filter")
    ):
        return "content_filter"
    return {"max_tokens": "length", "MAX_TOKENS": "length"}.get(word or "", word)


def _count(given: object) -> int | None:
    """Return a number of tokens; one that can't be is as good as none."""
    fits = isinstance(given, int) and not isinstance(given, bool) and 0 <= given <= _MOST_COUNTED
    return given if fits and isinstance(given, int) else None
