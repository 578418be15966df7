"""What an endpoint takes of what it is asked: learned from its refusals, once for all calls.

Servers that call themselves compatible refuse different parts of a request, each in its own words.
A refusal teaches a lesson; a dialect is the set of lessons known. A request that was refused is
sent again in the dialect that avoids it, which is compared with the one that it was *sent* in: of
sixty-four first calls that are refused at once, each has its second try.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from atom.judge.pictures import MOST_ASPECT
from atom.judge.request import Request
from atom.judge.sampling import extra_fields, extra_text
from atom.judge.servers.words import ServerWords
from atom.records import ReplyForm, Sampling, StructuredMode
from atom.records.base import Record

LADDER: tuple[ReplyForm, ...] = ("json_schema", "json_object", "text")
SAFE_SIDE = 64
"""Pixels to which a thin picture is padded once a server failed on one. Vision models that cut
pictures into patches of 28 or 32 pixels fail under one or two of them."""

THIS_REQUEST = "this request"
"""Of a lesson that holds for one request alone: what the context leaves for its reply."""

OF_PICTURES = frozenset({"pictures", "picture size"})
"""Parts of lessons about pictures: these are made anew."""
SETTINGS = ("temperature", "top_p", "seed", "reasoning_effort")
"""Sampling settings that stand at the top of a request under their own names."""
TokenName = Literal["max_tokens", "max_completion_tokens"]
_TOKEN_NAMES = frozenset({"max_tokens", "max_completion_tokens", "max_output_tokens"})
_KEYWORDS = frozenset(
    {
        "additionalProperties", "minItems", "maxItems", "uniqueItems", "minLength", "maxLength",
        "pattern", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
        "multipleOf", "default", "title", "description", "examples", "const", "minProperties",
        "maxProperties", "$schema", "propertyOrdering",
    }
)  # fmt: skip
"""Keywords without which a schema still says what is wanted."""

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

_PADDED = re.compile(r"pictures thinner than (\d+) pixels were padded")
_SCALED = re.compile(r"pictures were scaled down to (\d+) pixels")


class Lesson(Record):
    """One thing that a refusal has taught."""

    part: str
    """What was refused: `temperature`, `max_tokens`, `response_format`, `schema keyword`,
    `system`, `stream_options`, `image_detail`, `pictures`, ... or a further field's name."""
    instead: str = ""
    """What is sent in its place; empty = nothing."""
    only: str = ""
    """The schema that it is about, or the keyword; empty = everything."""
    said: str = ""
    """The server's words."""

    @property
    def name(self) -> tuple[str, str, str]:
        """What makes it the same lesson, in whichever words it was taught."""
        return (self.part, self.instead, self.only)

    @property
    def line(self) -> str:
        """One line for people: what was changed, and why."""
        said = f': the server said "{self.said}"' if self.said else ""
        return f"{self._change()}{said}"

    def _change(self) -> str:
        match self.part:
            case "max_tokens" if self.instead.isdigit():
                return f"replies were limited to {self.instead} tokens"
            case "max_tokens" if self.instead:
                return f"max_tokens was sent as {self.instead}"
            case "response_format" if self.instead == "told":
                return "the reply's form was told in words, too"
            case "response_format":
                which = f" for {self.only}" if self.only else ""
                return f"structured replies were asked for as {self.instead}{which}"
            case "schema keyword":
                return f"{self.only!r} was left out of the schemas of replies"
            case "system":
                return "the system text opened the user's message"
            case "stream" if self.instead:
                return "replies were asked for as a stream"
            case "stream":
                return "replies weren't streamed"
            case "picture size":
                return f"pictures were scaled down to {self.instead} pixels"
            case "pictures":
                return f"pictures thinner than {self.instead} pixels were padded"
            case _:
                return f"{self.part} was left out"


def sent_sides(adapted: Iterable[str]) -> tuple[int, int | None]:
    """Read off a call's own lines how its pictures were sent.

    Returns:
        The side to which thin pictures were padded (1 = none was), and the one to which large
        ones were scaled down (None = as the endpoint has it).
    """
    padded, scaled = 1, None
    for line in adapted:
        if match := _PADDED.match(line):
            padded = max(padded, int(match.group(1)))
        elif match := _SCALED.match(line):
            scaled = min(scaled or int(match.group(1)), int(match.group(1)))
    return padded, scaled


class Dialect(Record):
    """The lessons known of an endpoint; it only ever grows."""

    lessons: tuple[Lesson, ...] = ()

    def joined(self, lessons: Iterable[Lesson]) -> Dialect:
        """Return the dialect that knows these lessons as well."""
        known = {lesson.name: lesson for lesson in self.lessons}
        new = {lesson.name: lesson for lesson in lessons if lesson.name not in known}
        if not new:
            return self
        merged = [*known.values(), *new.values()]
        return Dialect(lessons=tuple(sorted(merged, key=lambda lesson: lesson.name)))

    def knows(self, lesson: Lesson) -> bool:
        """Whether a lesson is among those known."""
        return lesson.name in self._names

    @cached_property
    def _names(self) -> frozenset[tuple[str, str, str]]:
        return frozenset(lesson.name for lesson in self.lessons)

    def lines(self, given: Dialect) -> tuple[str, ...]:
        """Say what was learned, a line each.

        Args:
            given: what was known before anything was asked.
        """
        return tuple(
            lesson.line
            for lesson in self.lessons
            if not given.knows(lesson) and _stands(lesson, self.form(lesson.only), lesson.only)
        )

    @cached_property
    def dropped(self) -> frozenset[str]:
        """Parts of a request that are left out."""
        return frozenset(one.part for one in self.lessons if not one.instead and not one.only)

    @cached_property
    def token_name(self) -> TokenName:
        """How the token limit is called."""
        newer = ("max_tokens", "max_completion_tokens", "") in self._names
        return "max_completion_tokens" if newer else "max_tokens"

    @cached_property
    def most_tokens(self) -> int | None:
        """The largest token limit that is taken; None = no limit is known."""
        limits = [
            int(one.instead)
            for one in self.lessons
            if one.part == "max_tokens" and one.instead.isdigit()
        ]
        return min(limits, default=None)

    @cached_property
    def keywords(self) -> frozenset[str]:
        """Schema keywords that are left out."""
        return frozenset(one.only for one in self.lessons if one.part == "schema keyword")

    @cached_property
    def system(self) -> bool:
        """Whether a system role is taken."""
        return all(one.part != "system" for one in self.lessons)

    @cached_property
    def streams(self) -> bool:
        """Whether every reply has to be asked for as a stream."""
        return ("stream", "always", "") in self._names

    @cached_property
    def told(self) -> bool:
        """Whether the reply's form has to be told in words, too."""
        return ("response_format", "told", "") in self._names

    @cached_property
    def min_side(self) -> int:
        """Shortest side of a picture that is taken, in pixels."""
        sides = [int(one.instead) for one in self.lessons if one.part == "pictures"]
        return max(sides, default=1)

    @cached_property
    def max_side(self) -> int | None:
        """Longest side of a picture that is taken, in pixels; None = no limit is known."""
        sides = [int(one.instead) for one in self.lessons if one.part == "picture size"]
        return min(sides, default=None)

    def form(self, schema_name: str, mode: StructuredMode = "auto") -> ReplyForm:
        """Return how a structured reply is asked for.

        Args:
            schema_name: what it is for; empty asks in general.
            mode: the endpoint's own setting; `auto` begins at json_schema.
        """
        if mode != "auto":
            return mode
        learned = [
            LADDER.index(one.instead)
            for one in self.lessons
            if one.part == "response_format"
            and one.instead in LADDER
            and one.only in ("", schema_name)
        ]
        return LADDER[max(learned, default=0)]

    def form_for(self, request: Request, mode: StructuredMode = "auto") -> ReplyForm:
        """Return how a request's reply is asked for; free text when it has no schema."""
        return "text" if request.schema is None else self.form(request.schema_name, mode)

    def limit(self, max_tokens: int | None) -> int | None:
        """Return the token limit that is sent where this one is wanted."""
        if max_tokens is None or "max_tokens" in self.dropped:
            return None
        return max_tokens if self.most_tokens is None else min(max_tokens, self.most_tokens)

    def let_through(self, asked: Sampling) -> Sampling | None:
        """Return what of the settings asked for is sent; None where all of it is."""
        gone = {name: None for name in (*SETTINGS, "image_detail") if name in self.dropped}
        extra = {n: v for n, v in extra_fields(asked).items() if n not in self.dropped}
        sent = asked.model_copy(
            update={
                **gone,
                "max_tokens": self.limit(asked.max_tokens),
                "extra": extra_text(extra),
            }
        )
        return None if sent == asked else sent


@dataclass(frozen=True, kw_only=True, slots=True)
class Sent:
    """What a request held, so that a refusal can be held against it.

    Args:
        parts: the parts that it held: settings, `max_tokens`, `system`, `response_format`, ...
        form: how the structured reply was asked for.
        fixed_form: whether the endpoint's setting forbids another form.
        keywords: schema keywords in it.
        max_tokens: the token limit.
        sides: width and height of each picture, in pixels.
    """

    dialect: Dialect = field(default_factory=Dialect)
    parts: frozenset[str] = frozenset()
    form: ReplyForm = "text"
    fixed_form: bool = False
    schema_name: str = ""
    keywords: frozenset[str] = frozenset()
    max_tokens: int | None = None
    sides: tuple[tuple[int, int], ...] = ()

    @property
    def has_pictures(self) -> bool:
        """Whether it held pictures."""
        return bool(self.sides)

    @property
    def has_thin_picture(self) -> bool:
        """Whether a picture is so thin that some servers fail on it."""
        return any(
            min(sides) < SAFE_SIDE or max(sides) > MOST_ASPECT * min(sides) for sides in self.sides
        )


def adapted_lines(wanted: Sent, sent: Sent) -> tuple[str, ...]:
    """Say what was changed in a request, a line each.

    Args:
        wanted: what it would have held.
    """
    return tuple(
        lesson.line
        for lesson in sent.dialect.lessons
        if not wanted.dialect.knows(lesson)
        and _touches(lesson, wanted)
        and _stands(lesson, sent.form, sent.schema_name)
    )


def _stands(lesson: Lesson, form: ReplyForm, schema_name: str) -> bool:
    """Whether no further step down from a reply form has been taken."""
    if lesson.part != "response_format" or lesson.instead not in LADDER:
        return True
    return lesson.instead == form and lesson.only in ("", schema_name)


def _touches(lesson: Lesson, wanted: Sent) -> bool:
    if lesson.part == "stream" and lesson.instead:
        return "stream" not in wanted.parts
    if lesson.part == "pictures":
        least = int(lesson.instead)
        return any(min(pair) < max(least, max(pair) / MOST_ASPECT) for pair in wanted.sides)
    if lesson.part == "picture size":
        return any(max(pair) > int(lesson.instead) for pair in wanted.sides)
    if lesson.part == "schema keyword":
        return lesson.only in wanted.keywords
    if lesson.part == "max_tokens" and lesson.instead.isdigit():
        return wanted.max_tokens is not None and wanted.max_tokens > int(lesson.instead)
    return lesson.part in wanted.parts


def sent_parts(
    request: Request,
    *,
    dialect: Dialect,
    mode: StructuredMode = "auto",
    max_tokens: int | None = None,
    stream: bool = False,
    sides: tuple[tuple[int, int], ...] = (),
) -> Sent:
    """Say what a request holds in a dialect.

    Args:
        mode: the endpoint's setting for structured replies.
        max_tokens: the turn's token limit.
        stream: whether the reply is streamed.
        sides: width and height of its pictures as sent, in pixels.
    """
    form = dialect.form_for(request, mode)
    limit = dialect.limit(max_tokens)
    sampling = request.sampling
    held = {name for name in SETTINGS if getattr(sampling, name) is not None}
    held |= set(extra_fields(sampling))
    if limit is not None:
        held.add("max_tokens")
    if sampling.image_detail is not None and sides:
        held.add("image_detail")
    if dialect.system:
        held.add("system")
    if form != "text":
        held.add("response_format")
    if stream or dialect.streams:
        held |= {"stream", "stream_options"}
    return Sent(
        dialect=dialect,
        parts=frozenset(held - dialect.dropped),
        form=form,
        fixed_form=mode != "auto",
        schema_name=request.schema_name,
        keywords=keywords_of(request.schema) - dialect.keywords
        if form == "json_schema"
        else frozenset(),
        max_tokens=limit,
        sides=sides,
    )


def lessons_of(status: int, words: ServerWords, sent: Sent) -> tuple[Lesson, ...]:
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


def _thin_picture(status: int, words: ServerWords, sent: Sent) -> list[Lesson]:
    """A server that fails on thin pictures seldom says so."""
    if not sent.has_thin_picture or sent.dialect.min_side >= SAFE_SIDE:
        return []
    told = _SMALL_PICTURE.search(words.message)
    wordless = status == 500 and words.message.lower() in {"", "internal server error"}
    return [Lesson(part="pictures", instead=str(SAFE_SIDE))] if told or wordless else []


def _large_picture(status: int, words: ServerWords, sent: Sent) -> list[Lesson]:
    longest = max((max(sides) for sides in sent.sides), default=0)
    if longest // 2 < SMALLEST_CUT or status >= 500:
        return []
    told = status == 413 or _LARGE_PICTURE.search(words.message)
    return [Lesson(part="picture size", instead=str(longest // 2))] if told else []


def _token_limit(words: ServerWords, sent: Sent) -> list[Lesson]:
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


def _parts_by_field(words: ServerWords, sent: Sent) -> set[str]:
    """Find the refused part by the fields of the error."""
    return {part for param in words.params if (part := _part_of(param, sent)) in sent.parts}


def _part_of(param: str, sent: Sent) -> str:
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


def _parts_by_words(words: ServerWords, sent: Sent) -> set[str]:
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


def _without(part: str, words: ServerWords, sent: Sent) -> list[Lesson]:
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


def keywords_of(schema: object) -> frozenset[str]:
    """Return the keywords in a schema that it could do without."""
    found: set[str] = set()
    if isinstance(schema, dict):
        for name, value in schema.items():
            if name == "properties" and isinstance(value, dict):
                for inner in value.values():
                    found |= keywords_of(inner)
                continue
            if name in _KEYWORDS:
                found.add(name)
            found |= keywords_of(value)
    elif isinstance(schema, list | tuple):
        for value in schema:
            found |= keywords_of(value)
    return frozenset(found)


def without_keywords(schema: object, keywords: frozenset[str]) -> object:
    """Return a schema without some of its keywords; names of properties stay."""
    if isinstance(schema, dict):
        return {
            name: {field: without_keywords(inner, keywords) for field, inner in value.items()}
            if name == "properties" and isinstance(value, dict)
            else without_keywords(value, keywords)
            for name, value in schema.items()
            if name not in keywords
        }
    if isinstance(schema, list | tuple):
        return [without_keywords(value, keywords) for value in schema]
    return schema
