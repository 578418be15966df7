"""Long strings that a regular expression may choke on, drawn from the expression itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from re import _constants as codes
from re import _parser as parser
from types import ModuleType
from typing import Any

PLAIN = ("<think>", "{", "[", '"', "\\", " ", "\n", "\t", "a", "a ", "1", "1,", "(", "**", "$", "'")
"""Pieces that any text may repeat."""
_SETS: dict[Any, str] = {
    codes.CATEGORY_DIGIT: "1",
    codes.CATEGORY_NOT_DIGIT: "a",
    codes.CATEGORY_SPACE: " ",
    codes.CATEGORY_NOT_SPACE: "a",
    codes.CATEGORY_WORD: "a",
    codes.CATEGORY_NOT_WORD: "-",
}
_TRIED = ("a", " ", "1", "-", "\n", "<", "{", "(", '"', "A", ".", ",")


@dataclass(frozen=True, kw_only=True)
class Found:
    """A compiled expression that a module keeps.

    Args:
        name: module and name.
        pattern: the expression.
        anchored: whether its module only ever matches it at a text's start.
    """

    name: str
    pattern: re.Pattern[str]
    anchored: bool


def patterns_of(root: Path, packages: Sequence[str]) -> list[Found]:
    """Collect every compiled expression of the project's modules.

    Args:
        root: the project's folder.
        packages: its packages.
    """
    found: list[Found] = []
    for package in packages:
        for path in sorted((root / package).rglob("*.py")):
            if path.name in ("__main__.py", "sandbox_boot.py"):
                continue
            source = path.read_text(encoding="utf-8")
            if "re.compile(" not in source:
                continue
            module = ".".join(path.relative_to(root).with_suffix("").parts)
            for key, value in vars(import_module(module)).items():
                if isinstance(value, ModuleType) or f"{key}" not in source:
                    continue
                anchored = _anchored(source, key)
                found += [
                    Found(name=f"{module}.{key}[{at}]", pattern=one, anchored=anchored)
                    for at, one in enumerate(_inside(value))
                    if isinstance(one.pattern, str)
                ]
    return found


def _anchored(source: str, name: str) -> bool:
    """Whether every use of an expression in its module is `match` or `fullmatch`."""
    uses = re.findall(rf"(?<!\w){re.escape(name)}\b(?!\s*(?::\s*Final\s*)?=)(?:\.(\w+))?", source)
    return bool(uses) and all(use in ("match", "fullmatch") for use in uses)


def _inside(value: object) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _inside(one)
    elif isinstance(value, tuple | list | frozenset):
        for one in value:
            yield from _inside(one)
    elif hasattr(value, "__dataclass_fields__") and not isinstance(value, type):
        for name in value.__dataclass_fields__:
            yield from _inside(getattr(value, name, None))


def pumps(pattern: re.Pattern[str]) -> list[tuple[str, str]]:
    """Return (what comes first, what is repeated) for an expression.

    Each part that it repeats is repeated itself, after the least text that leads to it and from
    the start; and so are the whole beginnings, which a search tries at every place.
    """
    tree = parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    made: dict[tuple[str, str], None] = {("", piece): None for piece in PLAIN}
    for before, body in _repeats(tree, ""):
        for piece in body:
            made[before, piece] = None
            made["", piece] = None
            made["", before + piece] = None
        if before:
            made["", before] = None
    return list(made)


def _repeats(tree: Any, before: str) -> Iterator[tuple[str, list[str]]]:
    """Walk over a parsed expression: (the text that leads here, texts that a repeat takes)."""
    for code, held in tree:
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            low, high, body = held
            if high > 8:
                yield before, _samples(body)
            yield from _repeats(body, before)
            before += _least(body) * max(low, 0)
        elif code is codes.SUBPATTERN:
            yield from _repeats(held[-1], before)
            before += _least(held[-1])
        elif code is codes.BRANCH:
            for one in held[1]:
                yield from _repeats(one, before)
            before += _least(held[1][0])
        elif code is codes.ATOMIC_GROUP:
            yield from _repeats(held, before)
            before += _least(held)
        elif code in (codes.ASSERT, codes.ASSERT_NOT):
            yield from _repeats(held[1], before)
        else:
            before += _one(code, held)


def _samples(body: Any) -> list[str]:
    """Return texts that the body of a repeat takes: a branch or a set gives several."""
    if len(body) == 1:
        code, held = body[0]
        if code is codes.IN:
            return _of_set(held)[:3] or [_one(code, held)]
        if code is codes.BRANCH:
            return [_least(one) for one in held[1]][:6]
        if code is codes.SUBPATTERN:
            return _samples(held[-1])
    return [_least(body)]


def _least(tree: Any) -> str:
    out = ""
    for code, held in tree:
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            out += _least(held[2]) * held[0]
        elif code is codes.SUBPATTERN:
            out += _least(held[-1])
        elif code is codes.BRANCH:
            out += _least(held[1][0])
        elif code is codes.ATOMIC_GROUP:
            out += _least(held)
        else:
            out += _one(code, held)
    return out


def _one(code: Any, held: Any) -> str:
    if code is codes.LITERAL:
        return chr(held)
    if code is codes.NOT_LITERAL:
        return "a" if held != ord("a") else "b"
    if code is codes.ANY:
        return "a"
    if code is codes.IN:
        return (_of_set(held) or ["a"])[0]
    return ""


def _of_set(held: Any) -> list[str]:
    """Return characters that a set takes."""
    if held and held[0][0] is codes.NEGATE:
        kept = "".join(_of_set(held[1:]))
        denied = re.compile(_written(held))
        return [one for one in _TRIED if denied.match(one)] or [c for c in "xyz" if c not in kept]
    out: list[str] = []
    for code, value in held:
        if code is codes.LITERAL:
            out.append(chr(value))
        elif code is codes.RANGE:
            out.append(chr(value[0]))
        elif code is codes.CATEGORY:
            out.append(_SETS[value])
    return out


def _written(held: Any) -> str:
    """Write a negated set as an expression of its own."""
    names = {
        codes.CATEGORY_DIGIT: r"\d", codes.CATEGORY_NOT_DIGIT: r"\D",
        codes.CATEGORY_SPACE: r"\s", codes.CATEGORY_NOT_SPACE: r"\S",
        codes.CATEGORY_WORD: r"\w", codes.CATEGORY_NOT_WORD: r"\W",
    }  # fmt: skip
    parts = []
    for code, value in held[1:]:
        if code is codes.LITERAL:
            parts.append(re.escape(chr(value)))
        elif code is codes.RANGE:
            parts.append(f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}")
        elif code is codes.CATEGORY:
            parts.append(names[value])
    return f"[^{''.join(parts)}]"
