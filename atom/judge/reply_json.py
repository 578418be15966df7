"""Finds the JSON object in a model's reply, and checks it, without guessing.

What is understood: a bare object, fenced JSON, words before or after, think blocks, several
objects (the last that fits the schema counts), a comma before a closing bracket. What is refused:
an object that was cut short, NaN and infinities, one key given twice with different values,
single quotes, comments. The work is linear in the length of the reply.
"""

from __future__ import annotations

import functools
import json
import math
import re
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from atom.judge.request import schema_text

MAX_REPLY = 1_000_000
"""Characters of a reply that are looked at; a longer one isn't an answer."""
MAX_OBJECTS = 64
"""The last so many objects of a reply are checked against the schema."""

_MARK = re.compile(r"\{|</?think(?:ing)?>", re.IGNORECASE)
_START_OF_OBJECT = re.compile(r'\{\s*(?:"|\})')
_THINK_START = re.compile(r"\s*<think(?:ing)?>", re.IGNORECASE)
_THINK_END = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_STRING = r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)'
_STRING_OR_BRACKET = re.compile(_STRING + r"|[{}\[\]]", re.DOTALL)
_STRING_OR_COMMA = re.compile(_STRING + r"|,(?=\s*[}\]])", re.DOTALL)
_ODD = re.compile("[\x00\ud800-\udfff]")
_ODD_ESCAPE = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")


@dataclass(frozen=True, kw_only=True, slots=True)
class Extraction:
    """The object that was found, or why there is none.

    Args:
        data: the last complete object that fits the schema; None when there is none.
        problem: what is wrong, in words that a model can act on; empty when `data` is set.
        notes: what had to be overlooked to read it.
    """

    data: Mapping[str, object] | None
    problem: str = ""
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class _Found:
    """What one pass over the reply met."""

    objects: deque[tuple[dict[str, object], bool]] = field(
        default_factory=lambda: deque(maxlen=MAX_OBJECTS)
    )
    problem: str = ""
    cut: bool = False


def extract_object(text: str, schema: Mapping[str, object] | None = None) -> Extraction:
    """Find the last complete JSON object in a reply that fits the schema.

    Args:
        text: the raw reply.
        schema: the JSON Schema it has to fit; None takes any object.

    Returns:
        The object or the problem. With several fitting objects the last one counts, because a
        model that corrects itself does so afterwards.
    """
    if len(text) > MAX_REPLY:
        return Extraction(data=None, problem=f"The reply is longer than {MAX_REPLY:,} characters.")
    stripped = text.strip()
    whole, problem = _decode(stripped) if stripped.startswith("{") else (None, "")
    if whole is not None:
        problem = check_schema(whole, schema)
        return Extraction(data=None if problem else whole, problem=problem)
    return _choose(_scan(text), schema)


def check_schema(value: object, schema: Mapping[str, object] | None) -> str:
    """Return what makes a value break a JSON Schema, or an empty string."""
    if schema is None:
        return ""
    return _validator(schema_text(schema))(value)


def without_thoughts(text: str) -> str:
    """Return a free-text reply without its think blocks; an unclosed one is all thought."""
    first = _THINK_START.match(text)
    end = _THINK_END.search(text)
    if first is None and (end is None or "<think" in text[: end.start()].lower()):
        return text.strip()
    return text[end.end() :].strip() if end is not None else ""


def clean_text(text: str) -> str:
    """Replace what no store can keep, lone surrogates and NUL, by the replacement character."""
    return _ODD.sub("�", text) if _ODD.search(text) else text


def _choose(found: _Found, schema: Mapping[str, object] | None) -> Extraction:
    problem = ""
    # After a cut the last word is missing: an earlier object may be a draft of it.
    for value, mended in () if found.cut else reversed(found.objects):
        wrong = check_schema(value, schema)
        if not wrong:
            notes: tuple[str, ...] = ()
            if mended:
                notes += ("a comma before a closing bracket was overlooked",)
            if len(found.objects) > 1:
                notes += (
                    f"{len(found.objects)} objects in the reply; the last fitting one counts",
                )
            return Extraction(data=value, notes=notes)
        problem = problem or wrong
    return Extraction(
        data=None, problem=found.problem or problem or "The reply holds no JSON object."
    )


def _scan(text: str) -> _Found:
    """Walk over a reply once: think blocks are skipped, objects are decoded where they begin."""
    found = _Found()
    at = 0
    while mark := _MARK.search(text, at):
        at = mark.end()
        if mark.group().startswith("</"):
            found.objects.clear()  # The opening tag stood in the prompt: all so far was thought.
            found.problem = ""
        elif mark.group().startswith("<"):
            end = _THINK_END.search(text, at)
            if end is None:
                found.problem = "The reply ends inside its think block."
                return found
            at = end.end()
        elif _START_OF_OBJECT.match(text, mark.start()):
            at = _take_object(text, mark.start(), found)
    return found


def _take_object(text: str, start: int, found: _Found) -> int:
    end = _object_end(text, start)
    if end is None:
        found.cut = True
        found.problem = "The JSON object is cut short: a bracket or a quote is never closed."
        return len(text)
    piece = text[start:end]
    value, problem = _decode(piece)
    mended = False
    if value is None:
        value, _ = _decode(_STRING_OR_COMMA.sub(_drop_comma, piece))
        mended = value is not None
    if value is None:
        found.problem = problem
    else:
        found.objects.append((value, mended))
        found.problem = ""
    return end


def _drop_comma(match: re.Match[str]) -> str:
    return "" if match.group() == "," else match.group()


def _object_end(text: str, start: int) -> int | None:
    """Return the index after the bracket that closes the one at `start`, strings skipped."""
    depth = 0
    for match in _STRING_OR_BRACKET.finditer(text, start):
        token = match.group()
        if token in "{[":
            depth += 1
        elif token in "}]":
            depth -= 1
            if depth == 0:
                return match.end()
    return None


def _decode(text: str) -> tuple[dict[str, object] | None, str]:
    try:
        value = json.loads(
            text,
            object_pairs_hook=_unique_keys,
            parse_constant=_no_constant,
            parse_float=_finite,
        )
        value = _clean(value) if _ODD_ESCAPE.search(text) else value
    except RecursionError:
        return None, "The JSON is nested too deeply."
    except json.JSONDecodeError as error:
        return None, f"Not valid JSON: {error.msg} at character {error.pos}."
    except ValueError as error:
        return None, f"Not valid JSON: {error}."
    if not isinstance(value, dict):
        return None, "The JSON isn't an object."
    return value, ""


def _clean(value: object) -> object:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if isinstance(value, dict):
        return {clean_text(key): _clean(item) for key, item in value.items()}
    return value


def _unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    made = dict(pairs)
    if len(made) != len(pairs) and any(made[key] != value for key, value in pairs):
        given = sorted({key for key, value in pairs if made[key] != value})
        raise ValueError(f"the key {given[0]!r} is given twice with different values")
    return made


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} isn't JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"the number {text[:20]} is out of range")
    return value


@functools.lru_cache(maxsize=256)
def _validator(schema: str) -> Callable[[object], str]:
    """Compile a schema, given as JSON, once."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    validator = Draft202012Validator(json.loads(schema))

    def check(value: object) -> str:
        try:
            if next(validator.iter_errors(value), None) is None:
                return ""
            error = best_match(validator.iter_errors(value))
        except RecursionError:
            return "The JSON is nested too deeply."
        place = "".join(
            f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path
        )
        return f"At {place.lstrip('.') or 'the top'}: {_short(error.message)}"

    return check


def _short(message: str, limit: int = 300) -> str:
    return message if len(message) <= limit else message[: limit // 2] + " ... " + message[-100:]
