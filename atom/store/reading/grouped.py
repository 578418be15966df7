"""How a study's groups of failures are made, and who named them: one choice for a judge's marks."""

from __future__ import annotations

from typing import Final

from pydantic import ValidationError

from atom.records import Annotation
from atom.records.grouped import GroupingChoice
from atom.store.store import Store

CHOSEN: Final = "chosen"
"""Whose label a choice is: a study has one for each judge's marks."""


def grouped_id(study_id: str, marks: str) -> str:
    """Name the label that holds a choice.

    Args:
        marks: whose marks the groups are of: the judge's id, or the study's own.
    """
    return Annotation.make_id(study_id, "grouping", marks, CHOSEN)


def grouped_by(store: Store, study_id: str, marks: str) -> GroupingChoice:
    """Return what is chosen; by words and by rule where nothing is, or nothing that can be read."""
    held = store.get(Annotation, grouped_id(study_id, marks))
    try:
        return GroupingChoice() if held is None else GroupingChoice.model_validate_json(held.note)
    except ValidationError:
        return GroupingChoice()
