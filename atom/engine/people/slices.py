"""Slices: filters that people saved under a name, one of each name in a study."""

from __future__ import annotations

from atom.engine.clock import stamp, utc_now
from atom.engine.people.annotations import action_on, own_name
from atom.engine.people.tags import tag_name
from atom.records import Annotation
from atom.store import Store, table

SAVED = "saved"
"""Whose label a slice is; who saved it stands in its note."""


def save_slice(store: Store, study_id: str, name: str, query: str, who: str) -> Annotation | None:
    """Save a slice; one of the same name is replaced.

    Args:
        name: what it is called, 60 letters at most.
        query: its filters, as an address has them.

    Raises:
        UsageError: it can't be called so.
        AccessError: in a deployment it would replace somebody else's, and a viewer may not.
    """
    name = tag_name(name, "slice")
    identity = Annotation.make_id(study_id, "slice", name, SAVED)
    before = store.get(Annotation, identity)
    saved = Annotation(
        id=identity, study_id=study_id, kind="slice", subject_id=name, annotator=SAVED,
        label=query, note=own_name(who), created=stamp(utc_now()),
    )  # fmt: skip
    # In no figure: nobody's screen needs to read the study anew.
    action = "label" if before is None else action_on(before.note)
    store.transact(lambda writer: writer.replace([saved]), action=action)
    return before


def delete_slice(store: Store, study_id: str, name: str) -> None:
    """Remove a slice.

    Raises:
        AccessError: in a deployment it is somebody else's, and a viewer may not.
    """
    identity = Annotation.make_id(study_id, "slice", name, SAVED)
    before = store.get(Annotation, identity)
    if before is not None:
        gone = table(Annotation).c.id == identity
        action = action_on(before.note)
        store.transact(lambda writer: writer.delete(Annotation, gone), action=action)
