"""The probe judge as a writer: it puts the findings that it was given into paragraphs.

The exact judge states what it was given and nothing else. The noisy one changes one number of its
first paragraph and names a model that nobody gave it, so that whoever checks its text has
something to find.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from atom.probes.draws import Draws

INVENTED: Final = "Phantom-9"
"""A model that doesn't exist."""
_LEAST, _MOST_PARAGRAPHS = 2, 4
"""Findings in a paragraph, and paragraphs in a part."""
_NUMBER = re.compile(r"(?<![\w.])\d+\.\d(?![\w.])")


def write_report(data: Mapping[str, Any], noise: Draws | None) -> dict[str, object]:
    """Write a chapter.

    Args:
        data: the prompt's data: `parts`, `findings` and `cases`.
        noise: the noisy judge's draws; None = exact.

    Returns:
        The reply's object: up to four paragraphs for each part that has findings.
    """
    findings = _rows(data, "findings")
    paragraphs: list[dict[str, object]] = []
    for part in _rows(data, "parts"):
        mine = [row for row in findings if row.get("part") == part.get("part")]
        size = max(_LEAST, math.ceil(len(mine) / _MOST_PARAGRAPHS))
        for start in range(0, len(mine), size):
            some = mine[start : start + size]
            paragraphs.append(
                {
                    "part": part.get("part"),
                    "text": _paragraph(some, _rows(data, "cases")),
                    "findings": [row.get("id") for row in some],
                }
            )
    if noise is not None and paragraphs:
        paragraphs[0]["text"] = _garbled(str(paragraphs[0]["text"]), noise)
    return {"paragraphs": paragraphs}


def _paragraph(findings: Sequence[Mapping[str, Any]], cases: Sequence[Mapping[str, Any]]) -> str:
    said = []
    for row in findings:
        said.append(str(row.get("says", "")))
        case = next((c for c in cases if c.get("finding") == row.get("id")), None)
        if case is not None:
            said.append(
                f"A case shows it: asked {case.get('criterion')!r}, the judge expected "
                f"{case.get('truth')!r} and gave a score of {case.get('score')}."
            )
    return " ".join(text for text in said if text.strip())


def _garbled(text: str, noise: Draws) -> str:
    found = list(_NUMBER.finditer(text))
    if found:
        at = found[int(noise.uniform("which") * len(found)) % len(found)]
        wrong = f"{float(at.group()) + 7.3:.1f}"
        text = f"{text[: at.start()]}{wrong}{text[at.end() :]}"
    return f"{text} The model {INVENTED} does no better."


def _rows(data: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    rows = data.get(name)
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
