"""What a server's refusal teaches: the part of a request that it is about, by fields and words."""

from __future__ import annotations

import re

from atom.judge.servers.dialect import LADDER, SAFE_SIDE, THIS_REQUEST, Lesson, SentRequest
from atom.judge.servers.words import ServerWords

_TOKEN_NAMES = frozenset({"max_tokens", "max_completion_tokens", "max_output_tokens"})
_REFUSED = re.compile(
    r"unsupported|not supported|n[o']t support|no support|unknown|unrecogni[sz]ed|unexpected"
    r"|not permitted|not allowed|not available|not enabled|not accepted|extra (?:inputs?|fields?)"
    r"|extra_forbidden|only the default|only \S+ is|deprecated|cannot find field|unmarshal"
    r"|invalid|must be|cannot both|not compatible|incompatible|does not accept",
    re.IGNORECASE,
)
_FORM = re.compile(
    r"response[_ ]?(?:format|schema|mime)|json[_ ]?schema|json[_ ]?object|structured output"
    r"|grammar|guided",
    re.IGNORECASE,
)
_ONE_SCHEMA = re.compile(r"invalid schema|too many states|schema (?:is )?too (?:deep|large)", re.I)
_SYSTEM = re.compile(
    r"(?:system|developer) (?:role|message|prompt|instruction)s?\W+(?:is |are )?"
    r"(?:not|n't|unsupported|disabled)|(?:not|n't) support\w* (?:the |a )?['\"]?system"
    r"|roles must alternate|does not support 'system'",
    re.IGNORECASE,
)
_STREAM = re.compile(
    r"verified to stream|stream(?:ing)? (?:is |are )?(?:not|n't|un)|n[o']t support streaming", re.I
)
_STREAM_ONLY = re.compile(
    r"only supports? stream|enable (?:the )?stream|for non-?streaming calls", re.IGNORECASE
)
_DETAIL = re.compile(r"\bdetail\b", re.IGNORECASE)
_THINKING = re.compile(r"not support (?:thinking|reasoning)", re.IGNORECASE)
_AT_MOST = re.compile(
    r"(?:supports? at most|less than or equal to|at most|<=|maximum (?:value )?(?:is|of)"
    r"|(?<!\d)\d+ > |range\b[^\[(]{0,40}[\[(]\d+,)\W*(\d+)",
    re.IGNORECASE,
)
_TOO_LARGE = re.compile(
    r"too large|too high|exceed|maximum|at most|less than or equal|<=| > |range", re.I
)
_CONTEXT = re.compile(r"context (?:length|window|size)\D{0,300}(\d+)", re.IGNORECASE)
_TAKEN = re.compile(
    r"(?<!\d)(\d+) (?:input tokens|in the messages|tokens in the (?:input|messages|prompt))", re.I
)
_SMALL_PICTURE = re.compile(
    r"larger than factor|too (?:small|thin|narrow)|aspect ratio|at least \d+ ?(?:px|pixels|x)"
    r"|minimum (?:\w+ )?(?:width|height|size|dimension|side|resolution)|smaller than",
    re.IGNORECASE,
)
_LARGE_PICTURE = re.compile(
    r"(?:image|picture|media)\b.*(?:too (?:large|big)|exceed|reduce the input size)"
    r"|encoder cache|(?:entity|payload|request) too large",
    re.IGNORECASE,
)
SMALLEST_CUT = 320
"""Pixels: pictures that a server finds too large are halved down to this longest side."""
_REFUSING = frozenset({400, 404, 413, 415, 422, 500, 501})


def lessons_of(status: int, words: ServerWords, sent: SentRequest) -> tuple[Lesson, ...]:
    """Say what a refusal teaches.

    Args:
        status: HTTP status, or the code of an error inside a 200.
        words: the server's error, fields and words.

    Returns:
        Lessons that the dialect it was sent in doesn't know; none where the error is no refusal of
        a part of the request. Fields that name the part go before words.
    """
    if status not in _REFUSING:
        return ()
    found = (
        _thin_picture(status, words, sent)
        or _large_picture(status, words, sent)
        or _token_limit(words, sent)
    )
    if not found and "stream" not in sent.parts and _STREAM_ONLY.search(words.message):
        found = [Lesson(part="stream", instead="always")]
    if not found:
        parts = _parts_by_field(words, sent) or _parts_by_words(words, sent)
        if {"temperature", "top_p"} <= parts and "both" in words.message.lower():
            parts -= {"temperature"}
        found = [lesson for part in sorted(parts) for lesson in _without(part, words, sent)]
    quoted = [lesson.model_copy(update={"said": words.message}) for lesson in found]
    return tuple(lesson for lesson in quoted if not sent.dialect.knows(lesson))


def speaks_of_form(words: ServerWords) -> bool:
    """Whether an error is about the form of the reply."""
    return bool(_FORM.search(f"{words.message} {' '.join(words.params)}"))


def _thin_picture(status: int, words: ServerWords, sent: SentRequest) -> list[Lesson]:
    """A server that fails on thin pictures seldom says so."""
    if not sent.has_thin_picture or sent.dialect.min_side >= SAFE_SIDE:
        return []
    told = _SMALL_PICTURE.search(words.message)
    wordless = status == 500 and words.message.lower() in {"", "internal server error"}
    return [Lesson(part="pictures", instead=str(SAFE_SIDE))] if told or wordless else []


def _large_picture(status: int, words: ServerWords, sent: SentRequest) -> list[Lesson]:
    longest = max((max(sides) for sides in sent.sides), default=0)
    if longest // 2 < SMALLEST_CUT or status >= 500:
        return []
    told = status == 413 or _LARGE_PICTURE.search(words.message)
    return [Lesson(part="picture size", instead=str(longest // 2))] if told else []


def _token_limit(words: ServerWords, sent: SentRequest) -> list[Lesson]:
    """A limit above what the model can write, or above what the context leaves."""
    named = _TOKEN_NAMES & {*words.params} or re.search(
        r"max_(?:completion_|output_)?tokens|completion tokens|context (?:length|window)",
        words.message,
        re.IGNORECASE,
    )
    if sent.max_tokens is None or not named or not _TOO_LARGE.search(words.message):
        return []
    context, taken = _CONTEXT.search(words.message), _TAKEN.search(words.message)
    if context and taken:
        room = int(context[1]) - int(taken[1])
        # What this question leaves is no rule for the next one: it is known by its number only.
        return (
            [Lesson(part="max_tokens", instead=str(room), only=THIS_REQUEST)]
            if 0 < room < sent.max_tokens
            else []
        )
    most = _AT_MOST.search(words.message)
    if most and 0 < int(most[1]) < sent.max_tokens:
        return [Lesson(part="max_tokens", instead=most[1])]
    return []


def _parts_by_field(words: ServerWords, sent: SentRequest) -> set[str]:
    """Find the refused part by the fields of the error."""
    return {part for param in words.params if (part := _part_of(param, sent)) in sent.parts}


def _part_of(param: str, sent: SentRequest) -> str:
    steps = [step for step in re.split(r"[.\[\]/,\s]+", param) if step and not step.isdigit()]
    for step in steps:
        if step in sent.parts:
            return step
        if step in _TOKEN_NAMES:
            return "max_tokens"
        if step in {"response_schema", "responseSchema", "guided_json"}:
            return "response_format"
        if step == "role":
            return "system"
    if "detail" in steps:
        return "image_detail"
    return "reasoning_effort" if steps[:1] == ["reasoning"] else ""


def _parts_by_words(words: ServerWords, sent: SentRequest) -> set[str]:
    """Find the refused part by the words of the error."""
    message = f"{words.code} {words.message}"
    found: set[str] = set()
    if _REFUSED.search(message):
        found |= {
            part
            for part in sent.parts - {"system", "stream", "image_detail"}
            if re.search(rf"(?<![\w-]){re.escape(part)}(?![\w-])", message)
        }
        if "max_completion_tokens" in message and "max_tokens" in sent.parts:
            found.add("max_tokens")
        if "image_detail" in sent.parts and _DETAIL.search(message):
            found.add("image_detail")
    if _THINKING.search(message):
        found.add("reasoning_effort")
    if _SYSTEM.search(message):
        found.add("system")
    if _STREAM.search(message):
        found.add("stream")
    if "include_usage" in message:
        found.add("stream_options")
    if _FORM.search(message) or _ONE_SCHEMA.search(message):
        found.add("response_format")
    return found & sent.parts


def _without(part: str, words: ServerWords, sent: SentRequest) -> list[Lesson]:
    """Return the lessons that send a request without a part of it."""
    if part == "max_tokens":
        renamed = Lesson(part=part, instead="max_completion_tokens")
        return [Lesson(part=part) if sent.dialect.knows(renamed) else renamed]
    if part == "system":
        return [Lesson(part=part, instead="user")]
    if part != "response_format":
        return [Lesson(part=part)]
    if sent.fixed_form or sent.form == "text":
        return []
    named = [word for word in re.findall(r"[\w$]+", words.message) if word in sent.keywords]
    if named and "is required" not in words.message:
        return [Lesson(part="schema keyword", only=word) for word in dict.fromkeys(named)]
    below = LADDER[LADDER.index(sent.form) + 1]
    only = sent.schema_name if _ONE_SCHEMA.search(words.message) else ""
    return [Lesson(part=part, instead=below, only=only)]
