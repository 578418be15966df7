"""A quick look whether a value fits a JSON Schema: yes for sure, or look closely.

Nearly every reply fits, and most of what a closer look costs is finding the words for what doesn't.
Whatever isn't known here is left to that look: another keyword, an unusual type, any doubt.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

Fits: TypeAlias = Callable[[Any], bool]
_IGNORED = frozenset({"$schema", "title", "description", "default", "examples"})
_PYTHON: Mapping[str, type] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "null": type(None),
}


def quick_fit(schema: object) -> Fits:
    """Return a function that says True only of values that fit.

    Args:
        schema: a JSON Schema, read from JSON.
    """
    if schema is True:
        return _always
    if not isinstance(schema, dict):
        return _never
    tests: list[Fits] = []
    for keyword, given in schema.items():
        if keyword in _IGNORED:
            continue
        made = _test(keyword, given, schema)
        if made is None:
            return _never
        tests.append(made)
    return lambda value: all(test(value) for test in tests)


def _always(value: object) -> bool:
    del value
    return True


def _never(value: object) -> bool:
    del value
    return False


def _test(keyword: str, given: Any, schema: Mapping[str, Any]) -> Fits | None:
    """Make the test of a keyword; None where it isn't known."""
    rest = schema.get("additionalProperties", True)
    makers: dict[str, Callable[[Any], Fits | None]] = {
        "type": _of_type,
        "enum": _one_of,
        "properties": lambda properties: _properties(properties, rest),
        "items": _items,
        "anyOf": _any_of,
        "additionalProperties": lambda _: _always if "properties" in schema else None,
    }
    return makers[keyword](given) if keyword in makers else _limit(keyword, given)


def _limit(keyword: str, given: Any) -> Fits | None:
    tests: dict[str, Fits] = {
        "required": lambda v: not isinstance(v, dict) or all(name in v for name in given),
        "minItems": lambda v: not isinstance(v, list) or len(v) >= given,
        "maxItems": lambda v: not isinstance(v, list) or len(v) <= given,
        "minLength": lambda v: not isinstance(v, str) or len(v) >= given,
        "maxLength": lambda v: not isinstance(v, str) or len(v) <= given,
        "minimum": lambda v: not _is_number(v) or v >= given,
        "maximum": lambda v: not _is_number(v) or v <= given,
    }
    return tests.get(keyword)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _of_type(given: Any) -> Fits | None:
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, list) or any(name not in _PYTHON for name in names):
        return None
    # Exactly these: a truth value is no number, and 1.0 as an integer is looked at closely.
    kinds = {_PYTHON[name] for name in names} | ({int} if "number" in names else set())
    return lambda value: type(value) in kinds


def _one_of(given: Any) -> Fits | None:
    if not isinstance(given, list):
        return None
    allowed = {(type(one), one) for one in given if isinstance(one, (str, int, type(None)))}
    return lambda value: (
        isinstance(value, (str, int, type(None))) and ((type(value), value) in allowed)
    )


def _items(given: Any) -> Fits | None:
    fits = quick_fit(given)
    return lambda value: not isinstance(value, list) or all(fits(one) for one in value)


def _any_of(given: Any) -> Fits | None:
    choices = [quick_fit(one) for one in given]
    return lambda value: any(fits(value) for fits in choices)


def _properties(given: Any, rest: Any) -> Fits | None:
    known = {name: quick_fit(one) for name, one in given.items()}
    others = quick_fit(rest)

    def fits(value: Any) -> bool:
        return not isinstance(value, dict) or all(
            known.get(name, others)(one) for name, one in value.items()
        )

    return fits
