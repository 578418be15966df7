"""Hostile tables in text: how each is made, what is asked of it, and what has to come of it."""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

HEAD = "id,question,answer,model,response\n"
ROW = "a,What is it?,4,m,four\n"
PLAIN = HEAD + ROW
_HOLE = 2 << 30
"""Bytes that a file claims and the disk doesn't hold."""


@dataclass(frozen=True, kw_only=True)
class Hostile:
    """A file, or several, that may hurt whoever reads it.

    Args:
        make: writes it into a folder and gives the words behind `python -m atom`.
        samples: how many questions have to come in; None where it has to be refused.
        says: a part of what has to be said (regular expression, case aside).
    """

    make: Callable[[Path], list[str]]
    samples: int | None = None
    says: str = ""


def imported(folder: Path, name: str, content: str | bytes, *more: str) -> list[str]:
    """Write a file; return the words that import it."""
    data = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
    (folder / name).write_bytes(data)
    return ["import", "auto", str(folder / name), "--study", "Hostile", "--accept", *more]


def _taken(name: str, content: str | bytes, samples: int, says: str = "") -> Hostile:
    return Hostile(make=lambda folder: imported(folder, name, content), samples=samples, says=says)


def _refused(name: str, content: str | bytes, says: str) -> Hostile:
    return Hostile(make=lambda folder: imported(folder, name, content), says=says)


def _late(name: str, content: Callable[[], str | bytes], samples: int | None, says: str) -> Hostile:
    """Make a large one only when its turn comes."""
    return Hostile(
        make=lambda folder: imported(folder, name, content()), samples=samples, says=says
    )


def _with_hole(name: str, start: bytes, says: str, samples: int | None = None) -> Hostile:
    def make(folder: Path) -> list[str]:
        words = imported(folder, name, start)
        with (folder / name).open("r+b") as stream:
            stream.truncate(_HOLE)
        return words

    return Hostile(make=make, samples=samples, says=says)


def _row(**cells: object) -> str:
    return json.dumps({"id": "a", "question": "What is it?", "answer": "4", **cells})


def _one(cell: str) -> str:
    """Return a JSON row whose answer is written as it stands."""
    return '[{"id": "a", "question": "What is it?", "response": ' + cell + "}]"


CSV: Mapping[str, Hostile] = {
    "a million columns": _late(
        "x.csv", lambda: ",".join(f"c{n}" for n in range(10**6)) + "\n1\n", None, "columns"
    ),
    "a hundred thousand columns of one name": _late(
        "x.csv", lambda: ",".join(["question"] * 100_000) + "\nWhy?\n", None, "columns"
    ),
    "ten thousand columns of one name": _late(
        "x.csv", lambda: ",".join(["question"] * 10_000) + "\nWhy?\n", 1, "called 'question'"
    ),
    "20,000 questions under one id": _late(
        "x.csv",
        lambda: "id,question\n" + "".join(f"a,Question {n}?\n" for n in range(20_000)),
        20_000,
        "id",
    ),
    "a cell of 70 MB": _late(
        "x.csv", lambda: HEAD + "a,What?,4,m," + "x" * 70_000_000 + "\n", None, "64 MB|too long"
    ),
    "a quote that never closes": _taken("x.csv", PLAIN + 'b,"What', 1, "never closes"),
    "a hole of two gigabytes in a row": _with_hole("x.csv", PLAIN.encode(), "64 MB", 1),
    "a hole of two gigabytes": _with_hole("x.csv", b"", "empty"),
    "NUL bytes in cells": _taken("x.csv", HEAD + "a,Wh\0at?,4,m,f\0ur\n", 1),
    "NUL bytes only": _refused("x.csv", bytes(5_000), "empty"),
    "nothing": _refused("x.csv", b"", "empty"),
    "white space only": _refused("x.csv", " \n\t\r\n" * 99, "empty"),
    "separators only": _refused("x.csv", ",,,,\n" * 99, "no rows|question"),
    "a header only": _refused("x.csv", HEAD, "no rows"),
    "UTF-16 without a mark, cut in a letter": _taken(
        "x.csv", PLAIN.encode("utf-16-le") + b"b", 1, "UTF-16"
    ),
    "the mark of UTF-32 before something else": _refused(
        "x.csv", codecs.BOM_UTF32_LE + PLAIN.encode(), "encoding"
    ),
    "Latin-1": _taken("x.csv", PLAIN.replace("four", "Köln").encode("latin-1"), 1, "1252"),
    "an encoding of mainframes": _refused("x.csv", PLAIN.encode("cp037"), "question|no row"),
    "broken UTF-8 in every cell": _taken(
        "x.csv", HEAD.encode() + b"a\xff,What\xc3\xff?,4,m,\xe2\x82\n", 1, "1252|broken"
    ),
    "formulas": _taken("x.csv", HEAD + "a,=cmd|' /C calc'!A0,@SUM(1),m,+1+1\n", 1),
    "terminal escapes and mirrored names": _taken(
        "x\x1b[2J.csv", "id,question,\x1b]0;evil\x07,\u202egnp\na,What?,1,2\n", 1
    ),
    "bells in what is complained of": _refused(
        "x\x07.csv", "\x1b[31m,\x9b2J\n1,2\n", "question|column"
    ),
    "a text of lines a hundred million letters long": _late(
        "x.txt", lambda: "x" * 100_000_000, None, "64 MB|question|no row|long"
    ),
}
JSON: Mapping[str, Hostile] = {
    "lists nested 200,000 deep": _refused("x.json", "[" * 200_000, "without names"),
    "objects nested 100,000 deep": _refused("x.json", '{"a":' * 100_000, "deep"),
    "lines nested deep": _taken(
        "x.jsonl", _row() + '\n{"id": "b", "question": ' + "[" * 99_999 + "\n", 1, "deep"
    ),
    "a cell that is a deep list in text": _taken(
        "x.json", f"[{_row(choices='[' * 50_000, image='[' * 50_000)}]", 1
    ),
    "keys that stand twice": _taken("x.json", '[{"question": "one?", "question": "two?"}]', 1),
    "a number of 10,000 digits": _taken("x.json", _one("9" * 10_000), 1),
    "a number of 4,000 digits as an answer": _taken("x.json", _one("9" * 4_000), 1),
    "numbers that are none": _taken(
        "x.json", '[{"id": NaN, "question": "a?", "answer": Infinity, "correct": 1e999}]', 1
    ),
    "half letters": _taken(
        "x.json", '[{"id": "\\ud800", "question": "\\udfff why?", "response": "\\ud83d"}]', 1
    ),
    "a text of 140 MB": _late(
        "x.json", lambda: '[{"question": "' + "x" * 140_000_000, None, "128 MB"
    ),
    "a line of 100 MB": _late(
        "x.jsonl", lambda: _row() + "\n" + '{"question": "' + "x" * 100_000_000, 1, "64 MB"
    ),
    "a hole of two gigabytes in a list": _with_hole("x.json", b'[{"question": "', "128 MB"),
    "a hole of two gigabytes in a line": _with_hole(
        "x.jsonl", b'{"question": "a?"}\n{"q": "', "64 MB", 1
    ),
    "a list that breaks off": _taken("x.json", f'[{_row()}, {{"id": "b", "qu', 1, "breaks off"),
    "rubbish behind a list": _taken("x.json", f"[{_row()}] \x00\x01]]]}}", 1),
    "half a million empty objects": _late(
        "x.json", lambda: "[" + "{}," * 500_000 + "{}]", None, "question|no row"
    ),
    "an object with a million keys": _late(
        "x.json",
        lambda: '[{"question": "a?", ' + ", ".join(f'"k{n}": 1' for n in range(10**6)) + "}]",
        None,
        "columns",
    ),
    "twenty million spaces": _late("x.json", lambda: "[" + " " * 20_000_000, None, "read|row"),
    "brackets in texts, without end": _late(
        "x.json", lambda: '[{"question": "' + "\\" * 3_000_001, None, "read|deep|breaks"
    ),
    "a question that is a list": _refused("x.json", '[{"question": [1, {"a": 2}]}]', "no|left out"),
    "a list of lists": _refused("x.json", "[[1, 2], [3, 4]]", "without names"),
}
TEXTS = {f"{kind}: {name}": one for kind, of in (("CSV", CSV), ("JSON", JSON))
         for name, one in of.items()}  # fmt: skip
"""All of them, by name."""
