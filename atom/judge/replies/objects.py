"""Finds the JSON object in a model's reply, and checks it, without guessing.

What is understood: a bare object, fenced JSON, words before or after, think blocks, several
objects (the last that fits the schema counts), and what `mending` and `fitting` put right without
changing what is said: other quotes, comments, bare words, a stray comma, a number in quotes, a list
without its key, plain `key: value` lines. What was put right stands in the notes. What is refused:
an object that was cut short, unless whole items of its list are enough; NaN and infinities; one
key given twice with different values; whatever could mean two things. The work is linear in the
length of the reply.
"""

from __future__ import annotations

import functools
import json
import math
import re
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar, cast

from atom.judge.replies.fitting import fitted
from atom.judge.replies.mending import MAX_MENDED, MendedObject, mend
from atom.judge.replies.quick_fit import quick_fit
from atom.judge.request import schema_text
from atom.records.thoughts import tell_apart

T = TypeVar("T")
MAX_REPLY = 1_000_000
"""Characters of a reply that are looked at; a longer one isn't an answer."""
MAX_OBJECTS = 64
"""The last so many objects of a reply are checked against the schema."""
MAX_MENDINGS = 32
"""So many objects of a reply are mended at most, `MAX_MENDED` characters of them together."""
MAX_LINES = 20_000
"""Characters of `key: value` lines that are read."""

_MARK = re.compile(r"\{|</?think(?:ing)?>|◁/?think▷", re.IGNORECASE)
_START_OF_OBJECT = re.compile(
    r"\{(?:\s|//[^\n]{0,200}\n|/\*[^*]{0,200}\*/)*"
    r"(?:[\"'`“”„‘’]|\}|[^\W\d][\w-]{0,40}\s*:)"
)
_STRICT_START = re.compile(r'\{\s*"')
_THINK_END = re.compile(r"</think(?:ing)?>|◁/think▷", re.IGNORECASE)
_STRING = r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)'
_STRING_OR_BRACKET = re.compile(_STRING + r"|[{}\[\]]", re.DOTALL)
_BRACKET = re.compile(r"[{}\[\]]")
_ODD = re.compile("[\x00\ud800-\udfff]")
_ODD_ESCAPE = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")
_FENCE = re.compile(r"^```\w*\s*$", re.MULTILINE)
_CUT = "The JSON object is cut short: a bracket or a quote is never closed."


@dataclass(frozen=True, kw_only=True, slots=True)
class Extraction:
    """The object that was found, or why there is none.

    Args:
        data: the last complete object that fits the schema; None when there is none.
        problem: what is wrong, in words that a model can act on; empty when `data` is set.
        notes: what had to be overlooked or put right to read it.
        cut: whether the reply ends inside the object, and `data` holds what was whole by then.
    """

    data: Mapping[str, object] | None
    problem: str = ""
    notes: tuple[str, ...] = ()
    cut: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class _Object:
    """An object of a reply."""

    value: dict[str, object]
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class _ScanResult:
    """What one pass over the reply met."""

    keys: tuple[str, ...]
    objects: deque[_Object] = field(default_factory=lambda: deque(maxlen=MAX_OBJECTS))
    problem: str = ""
    cut: bool = False
    rest: _Object | None = None
    mendings: int = 0
    mended: int = 0

    def worn_out(self, more: int = 0) -> bool:
        """Whether enough was tried on this reply; else enter one more try."""
        if self.mendings >= MAX_MENDINGS or self.mended + more > MAX_MENDED:
            return True
        self.mendings += 1
        self.mended += more
        return False

    def forget(self) -> None:
        """Drop what was found: something later was the reply's last word, and can't be read."""
        self.objects.clear()


def extract_object(
    text: str,
    schema: Mapping[str, object] | None = None,
    *,
    lines: bool = True,
    partial: bool = False,
) -> Extraction:
    """Find the last complete JSON object in a reply that fits the schema.

    Args:
        text: the raw reply.
        schema: the JSON Schema it has to fit; None takes any object.
        lines: whether `key: value` lines are read where there's no object; they can't show that
            they were cut.
        partial: whether an object that was cut short is read as far as it was whole: values that
            were finished, and whole items of a list.

    Returns:
        The object or the problem. With several fitting objects the last one counts, because a
        model that corrects itself does so afterwards.
    """
    if len(text) > MAX_REPLY:
        return Extraction(data=None, problem=f"The reply is longer than {MAX_REPLY:,} characters.")
    stripped = text.strip().removeprefix("\ufeff")
    whole = _decode(stripped)[0] if stripped.startswith("{") else None
    if whole is not None:
        return _checked(_Object(value=whole), schema)
    found = _ScanResult(keys=_keys(schema))
    _scan(text, found)
    chosen = _choose(found, schema, partial=partial)
    if chosen.data is not None or schema is None or found.cut:
        return chosen
    for other in (_bare_list, _list_of_objects, _lines if lines else None):
        read = other(stripped, found, schema) if other is not None else None
        if read is not None and read.data is not None:
            return read
    return chosen


def check_schema(value: object, schema: Mapping[str, object] | None) -> str:
    """Return what makes a value break a JSON Schema, or an empty string."""
    if schema is None:
        return ""
    return _validator(schema_text(schema))(value)


def clean_text(text: str) -> str:
    """Replace what no store can keep, lone surrogates and NUL, by the replacement character."""
    return _ODD.sub("�", text) if _ODD.search(text) else text


def _checked(found: _Object, schema: Mapping[str, object] | None) -> Extraction:
    """Check an object against the schema; one that doesn't fit is fitted first."""
    problem = check_schema(found.value, schema)
    if not problem or schema is None:
        return Extraction(data=None if problem else found.value, problem=problem, notes=found.notes)
    value, notes = fitted(found.value, schema)
    if not isinstance(value, dict) or check_schema(value, schema):
        return Extraction(data=None, problem=problem)
    return Extraction(data=value, notes=(*found.notes, *notes))


def _choose(
    found: _ScanResult, schema: Mapping[str, object] | None, *, partial: bool
) -> Extraction:
    if found.cut:
        # The last word is missing: an earlier object may be a draft of it.
        if not partial or found.rest is None:
            return Extraction(data=None, problem=found.problem)
        return replace(_checked(found.rest, schema), cut=True)
    problem = ""
    for item in reversed(found.objects):
        read = _checked(item, schema)
        if read.data is not None:
            if len(found.objects) > 1:
                note = f"{len(found.objects)} objects in the reply; the last fitting one counts"
                return replace(read, notes=(*read.notes, note))
            return read
        problem = problem or read.problem
        if any(key in item.value for key in found.keys):
            break  # It was meant to be the answer: an earlier one may be a draft of it.
    return Extraction(
        data=None, problem=found.problem or problem or "The reply holds no JSON object."
    )


# --- objects in a text ---------------------------------------------------------------------------


def _scan(text: str, found: _ScanResult) -> None:
    """Walk over a reply once: think blocks are skipped, objects are read where they begin."""
    at = 0
    while mark := _MARK.search(text, at):
        at = mark.end()
        if mark.group().startswith(("</", "◁/")):
            found.forget()  # The opening tag stood in the prompt: all so far was thought.
            found.problem = ""
        elif mark.group() != "{":
            end = _THINK_END.search(text, at)
            if end is None:
                found.problem = "The reply ends inside its think block."
                return
            at = end.end()
        elif _START_OF_OBJECT.match(text, mark.start()):
            at = _take_object(text, mark.start(), found)


def _take_object(text: str, start: int, found: _ScanResult) -> int:
    """Read the object that begins here; return where to go on."""
    end = _object_end(text, start)
    problem = _CUT
    if end is not None:
        value, problem = _decode(text[start:end])
        if value is not None:
            found.objects.append(_Object(value=value))
            found.problem = ""
            return end
    mended = _mended(text, start, end, found)
    if mended is not None and not mended.cut:
        notes = (f"mended: {', '.join(mended.notes)}",)
        found.objects.append(_Object(value=_cleaned(mended.value), notes=notes))
        found.problem = ""
        return start + mended.end
    if mended is not None or end is None:
        return _take_rest(text, start, mended, found)
    found.problem = problem
    if _speaks(text[start:end], found.keys):
        found.forget()
    return end


def _take_rest(text: str, start: int, mended: MendedObject | None, found: _ScanResult) -> int:
    """Take what is whole of an object that never ends; a formula's bracket is none."""
    formula = not _STRICT_START.match(text, start) and not _speaks(text[start:], found.keys)
    if formula and not found.worn_out():
        return start + 1
    found.cut = True
    found.problem = _CUT
    if mended is not None:
        note = "the reply was cut; what was whole by then was read"
        found.rest = _Object(value=_cleaned(mended.value), notes=(note, *mended.notes))
    return len(text)


def _mended(text: str, start: int, end: int | None, found: _ScanResult) -> MendedObject | None:
    """Mend an object, to the bracket that may close it, or else to the end of the text."""
    best = None
    plain = _object_end(text, start, _BRACKET)
    for stop in dict.fromkeys((end, plain, len(text))):
        if stop is None or found.worn_out(stop - start):
            continue
        made = mend(text[start:stop])
        if made is not None and not made.cut:
            return made
        best = made or best
    return best


def _speaks(piece: str, keys: tuple[str, ...]) -> bool:
    """Whether a piece of text holds one of the keys that are asked for, as a key."""
    return not keys or any(
        re.search(rf"[{{,\s\"'`“”]{re.escape(key)}[\"'`“”]?\s*:", piece) for key in keys
    )


def _keys(schema: Mapping[str, object] | None) -> tuple[str, ...]:
    required = (schema or {}).get("required")
    return tuple(map(str, required)) if isinstance(required, list | tuple) else ()


def _object_end(text: str, start: int, tokens: re.Pattern[str] = _STRING_OR_BRACKET) -> int | None:
    """Return the index after the bracket that closes the one at `start`, strings skipped."""
    depth = 0
    for match in tokens.finditer(text, start):
        token = match.group()
        if token in "{[":
            depth += 1
        elif token in "}]":
            depth -= 1
            if depth == 0:
                return match.end()
    return None


# --- lists without their key, and lines ----------------------------------------------------------


def _only_list(schema: Mapping[str, object]) -> str | None:
    """Return the key of a schema that asks for one list and nothing else."""
    keys = _keys(schema)
    known = schema.get("properties")
    if len(keys) != 1 or not isinstance(known, Mapping):
        return None
    part = known.get(keys[0])
    return keys[0] if isinstance(part, Mapping) and part.get("type") == "array" else None


def _bare_list(text: str, found: _ScanResult, schema: Mapping[str, object]) -> Extraction | None:
    """Read a list that stands without the key it was asked for under."""
    key = _only_list(schema)
    body = _without_fences(_after_thoughts(text))
    if key is None or not body.startswith("["):
        return None
    inner = extract_object(f'{{"{key}": {body}}}', schema, lines=False)
    return replace(inner, notes=(*inner.notes, f"a list without its key {key!r}"))


def _list_of_objects(_: str, found: _ScanResult, schema: Mapping[str, object]) -> Extraction | None:
    """Read objects that stand one after another instead of in a list."""
    key = _only_list(schema)
    if key is None or not found.objects or len(found.objects) == MAX_OBJECTS:
        return None
    notes = tuple(note for item in found.objects for note in item.notes)
    joined = _Object(
        value={key: [item.value for item in found.objects]},
        notes=(*notes, f"objects one after another, without the list {key!r}"),
    )
    return _checked(joined, schema)


def _lines(text: str, found: _ScanResult, schema: Mapping[str, object]) -> Extraction | None:
    """Read `key: value` lines, as YAML writes them; every value is a text at first."""
    if found.objects or found.problem:
        return None
    body = _without_fences(_after_thoughts(text))
    keys = "|".join(re.escape(key) for key in _keys(schema))
    begin = re.search(rf"^[ \t]*(?:{keys})[ \t]*:", body, re.MULTILINE | re.IGNORECASE)
    if begin is None or len(body) > MAX_LINES or re.search(r"(?:^|[\s:-])[&*!|>]", body):
        return None
    import yaml

    try:
        value = yaml.load(body[begin.start() :], Loader=yaml.BaseLoader)
    except (yaml.YAMLError, RecursionError):
        return None
    if not isinstance(value, dict) or not _unrepeated(body, value):
        return None
    lined = {str(key): item for key, item in value.items()}
    return _checked(_Object(value=_cleaned(lined), notes=("read from `key: value` lines",)), schema)


def _unrepeated(body: str, value: Mapping[object, object]) -> bool:
    """Whether no key stands on two lines: the reader would keep the last one without a word."""
    return all(
        len(re.findall(rf"^{re.escape(str(key))}[ \t]*:", body, re.MULTILINE)) <= 1 for key in value
    )


def _after_thoughts(text: str) -> str:
    return tell_apart(text).answer


def _without_fences(text: str) -> str:
    """Return what stands in the last fence of a text; all of it where there's none."""
    fences = list(_FENCE.finditer(text))
    if len(fences) >= 2:
        return text[fences[-2].end() : fences[-1].start()].strip()
    return text[fences[0].end() :].strip() if fences else text.strip()


# --- JSON ----------------------------------------------------------------------------------------


def _decode(text: str) -> tuple[dict[str, object] | None, str]:
    try:
        value = json.loads(
            text,
            object_pairs_hook=_unique_keys,
            parse_constant=_no_constant,
            parse_float=_finite,
        )
        value = _cleaned(value) if _ODD_ESCAPE.search(text) else value
    except RecursionError:
        return None, "The JSON is nested too deeply."
    except json.JSONDecodeError as error:
        return None, f"Not valid JSON: {error.msg} at character {error.pos}."
    except ValueError as error:
        return None, f"Not valid JSON: {error}."
    if not isinstance(value, dict):
        return None, "The JSON isn't an object."
    return value, ""


def _cleaned(value: T) -> T:
    """Return a value whose texts a store can keep."""
    made: object = value
    if isinstance(value, str):
        made = clean_text(value)
    elif isinstance(value, list):
        made = [_cleaned(item) for item in value]
    elif isinstance(value, dict):
        made = {clean_text(str(key)): _cleaned(item) for key, item in value.items()}
    return cast(T, made)


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

    read = json.loads(schema)
    validator, fits = Draft202012Validator(read), quick_fit(read)

    def check(value: object) -> str:
        try:
            if fits(value):
                return ""
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
