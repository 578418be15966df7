"""Files that are known, but are no study's data: refused with what to do with them instead."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from atom.errors import FormatError
from atom.formats.base import ImportFile


@dataclass(frozen=True, kw_only=True)
class _Foreign:
    """A kind of file, how its beginning looks, and what to do with it."""

    about: str
    start: re.Pattern[str]
    advice: str


_TREE = "an EvalTree file describes capabilities, not answers: read it as a tree"
_FOREIGN = (
    _Foreign(
        about="a capability tree of EvalTree, or its intervals",
        start=re.compile(
            r'\A\{(?=[^}]{0,400}"subtrees"\s*:)(?=[^}]{0,400}"(?:description|size|'
            r'sum_metrics|capability)")',
            re.DOTALL,
        ),
        advice=f"{_TREE}, and import the answers it was grown from",
    ),
    _Foreign(
        about="a weakness profile or an assessment of EvalTree",
        start=re.compile(r'\A(?:\[\s*\{\s*"capability"|\{\s*"Recall"\s*:\s*\{\s*"per-capability")'),
        advice=f"{_TREE}, and import the answers it was made from",
    ),
    _Foreign(
        about="a list without names or questions",
        start=re.compile(r"\A\[\s*(?:\[|-?\d|\"|true|false|null)"),
        advice="its rows say neither what was asked nor who answered: import the table with the "
        "questions, and put these values into a column of it",
    ),
    _Foreign(
        about="notes of EvalTree on capabilities",
        start=re.compile(r'\A\{\s*"[^"]{10,300}"\s*:\s*\[\s*(?:null|"YES"|"NO")\s*,'),
        advice=f"{_TREE}, and import the answers it was made from",
    ),
    _Foreign(
        about="critiques for CriticBench",
        start=re.compile(r'\A\{\s*"0"\s*:\s*\{\s*"origin_prompt"'),
        advice="give it to the judge lab: `judge bench critic_bench --replies FILE --as NAME`",
    ),
    _Foreign(
        about="a leaderboard of CriticBench",
        start=re.compile(r"\A\ufeff?Model,feedback,correction,comparison"),
        advice="it holds means of models, no answers; the published tables are compared on the "
        "judge lab's page",
    ),
)


_PACKED = {
    b"\x1f\x8b": "gzip",
    b"PK\x03\x04": "ZIP",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"7z\xbc\xaf\x27\x1c": "7-Zip",
    b"Rar!\x1a\x07": "RAR",
}
"""How a packed file begins."""
_OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_TAR, _TAR_AT = b"ustar", 257


def is_packed(file: ImportFile) -> bool:
    """Whether a file isn't text: a workbook, an archive, a table in columns."""
    return file.head(4).startswith((*_PACKED, b"PAR1"))


def check_packed(files: Sequence[ImportFile]) -> None:
    """Refuse files that no format could read because they are packed.

    Raises:
        FormatError: with how the first such file is packed.
    """
    for file in files:
        head = file.head(_TAR_AT + len(_TAR))
        kind = next((name for start, name in _PACKED.items() if head.startswith(start)), "")
        if kind or head[_TAR_AT:] == _TAR:
            raise FormatError(
                f"{file.name!r} is packed ({kind or 'tar'}): unpack it, and import what is in it"
            )
        if head.startswith(_OLD_OFFICE):
            raise FormatError(
                f"{file.name!r} is a workbook of old Excel, or one with a password: save it as "
                ".xlsx without a password, or as CSV"
            )


def check_foreign(files: Sequence[ImportFile]) -> None:
    """Refuse files that are known to be something else than answers.

    Raises:
        FormatError: with what the file is, and what to do with it.
    """
    for file in files:
        text = file.head(2048).decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
        for kind in _FOREIGN:
            if kind.start.match(text):
                raise FormatError(f"{file.name!r} holds {kind.about}: {kind.advice}")
