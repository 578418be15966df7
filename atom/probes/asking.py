"""The probe judge as a guide: it turns a question in words into a view, by rule.

It reads the names that it was given and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from atom.asked.rules import read_question
from atom.asked.view_request import Vocabulary


def show_view(data: Mapping[str, Any]) -> dict[str, object]:
    """Say which view answers a question.

    Args:
        data: the prompt's data: `question`, `models`, `capabilities` and `labels`.
    """
    labels = data.get("labels")
    vocabulary = Vocabulary(
        models=_names(data.get("models")),
        capabilities=_names(data.get("capabilities")),
        labels={
            str(facet): _names(values)
            for facet, values in (labels.items() if isinstance(labels, dict) else ())
        },
    )
    wanted = read_question(str(data.get("question", "")), vocabulary)
    return wanted.model_dump(mode="json")


def _names(given: object) -> tuple[str, ...]:
    return tuple(str(one) for one in given) if isinstance(given, list) else ()
