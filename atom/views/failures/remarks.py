"""What people said of a sample's checkpoints where they saw them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from atom.store import Store
from atom.store.reading.tags import said_here
from atom.views.failures.sample import SampleView


@dataclass(frozen=True, kw_only=True)
class PeopleRemarks:
    """What people said of one checkpoint.

    Attributes:
        scores: (who, score 1..5, whether they were asked blind on Human check).
        flags: who flagged it.
        notes: (who, their note).
    """

    scores: list[tuple[str, int, bool]] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)

    @property
    def nothing(self) -> bool:
        """Whether nobody said anything."""
        return not (self.scores or self.flags or self.notes)


def said_of(store: Store, study_id: str, view: SampleView) -> dict[str, PeopleRemarks]:
    """Return what people said of a sample's checkpoints, by the checkpoint's key."""
    return said_of_keys(store, study_id, keys_of(view))


def keys_of(view: SampleView) -> list[str]:
    """Return the keys of a sample's checkpoints."""
    return [mark.checkpoint.key for item in view.criteria for mark in item.marks if mark.checkpoint]


def said_of_keys(store: Store, study_id: str, keys: Sequence[str]) -> dict[str, PeopleRemarks]:
    """Return what people said of checkpoints, by their keys."""
    found: dict[str, PeopleRemarks] = {}
    for one in said_here(store, study_id, keys):
        said = found.setdefault(one.subject_id, PeopleRemarks())
        if one.kind == "flag":
            said.flags.append(one.annotator)
        elif one.kind == "remark":
            said.notes.append((one.annotator, one.label))
        elif one.value is not None:
            blind = not one.note.startswith("picked: ")
            said.scores.append((one.annotator, round(one.value), blind))
    return found
