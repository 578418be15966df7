"""What is chosen for groups of failures: embeddings or words, a judge's names or the rule's."""

from __future__ import annotations

from atom.engine.clock import stamp, utc_now
from atom.records import Annotation
from atom.records.grouped import GroupingChoice
from atom.store import Store
from atom.store.reading.grouped import CHOSEN, grouped_by, grouped_id


def choose(store: Store, study_id: str, marks: str, **changes: object) -> GroupingChoice:
    """Change what is chosen; no figure but the groups' follows it, so no screen reads anew.

    Args:
        marks: whose marks the groups are of.
        changes: fields of `GroupingChoice`.
    """
    chosen = grouped_by(store, study_id, marks).model_copy(update=changes)
    label = Annotation(
        id=grouped_id(study_id, marks), study_id=study_id, kind="grouping", subject_id=marks,
        annotator=CHOSEN, note=chosen.model_dump_json(), created=stamp(utc_now()),
    )  # fmt: skip
    store.transact(lambda writer: writer.replace([label]), action="edit")
    return chosen


def use_words(store: Store, study_id: str, marks: str) -> GroupingChoice:
    """Make groups of words again; the embeddings stay in the store, paid for."""
    return choose(store, study_id, marks, endpoint="", model="", at="", synthetic=False)


def use_rule_names(store: Store, study_id: str, marks: str) -> GroupingChoice:
    """Take a judge's names back; its reply stays in the store, paid for."""
    return choose(store, study_id, marks, names=(), named_by="", named="")
