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

from atom.judge.pictures.prepare import MOST_ASPECT
from atom.judge.request import Request
from atom.judge.sampling import extra_fields, extra_text
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
_KEYWORDS = frozenset(
    {
        "additionalProperties", "minItems", "maxItems", "uniqueItems", "minLength", "maxLength",
        "pattern", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
        "multipleOf", "default", "title", "description", "examples", "const", "minProperties",
        "maxProperties", "$schema", "propertyOrdering",
    }
)  # fmt: skip
"""Keywords without which a schema still says what is wanted."""


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
class SentRequest:
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


def adapted_lines(wanted: SentRequest, sent: SentRequest) -> tuple[str, ...]:
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


def _touches(lesson: Lesson, wanted: SentRequest) -> bool:
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
) -> SentRequest:
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
    return SentRequest(
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
