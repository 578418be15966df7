"""Changes to whole studies, each told in a sentence."""

from __future__ import annotations

from atom.display.numbers import count
from atom.engine.clock import stamp, utc_now
from atom.records import (
    Annotation,
    Experiment,
    Import,
    Run,
    StudyCandidate,
    StudySample,
    Verdict,
)
from atom.store import (
    Store,
    copy_study,
    delete_study,
    find_study,
    rename_study,
    table,
    undo_import,
)
from atom.store.imports.undo import UndoneImport


def rename(store: Store, study_id: str, name: str) -> str:
    """Give a study another name.

    Raises:
        UsageError: the name is empty or taken.
    """
    return f"It is called “{rename_study(store, study_id, name).name}” now."


def copy(source: Store, target: Store, study_id: str, name: str) -> str:
    """Copy a study, a bundled one too.

    Raises:
        UsageError: the name is empty or taken.
    """
    made = copy_study(source, target, study_id, name, created=stamp(utc_now()))
    return f"Copied to “{made.name}”."


def delete(store: Store, study_id: str) -> str:
    """Remove a study from the list; what was paid for stays in the store."""
    name = find_study(store, study_id).name
    delete_study(store, study_id)
    return f"“{name}” is gone from the list."


def holds_nothing(store: Store, study_id: str) -> bool:
    """Whether deleting a study loses nothing: no questions, models, imports, runs or labels."""
    for kind in (StudySample, StudyCandidate, Import, Run, Experiment, Annotation):
        if store.select(kind, table(kind).c.study_id == study_id, limit=1):
            return False
    return not store.select(Verdict, table(Verdict).c.group == study_id, limit=1)


def undone_words(undone: UndoneImport) -> str:
    """Say what went with an import that was taken back, and what stays."""
    words = f"Taken back: {count(undone.samples, 'sample')}, {count(undone.responses, 'answer')}"
    if undone.preferences:
        words += f", {count(undone.preferences, 'vote')}"
    if undone.kept:
        words += f"; {count(undone.kept, 'record')} stay: another study, import or run needs them"
    return f"{words}."


def take_back(store: Store, import_id: str, *, with_study: bool = False) -> str:
    """Take an import back.

    Args:
        with_study: delete its study as well, if that holds nothing then.

    Raises:
        UsageError: there is no such import.
    """
    undone = undo_import(store, import_id)
    words = undone_words(undone)
    if with_study:
        study = find_study(store, undone.record.study_id)
        if holds_nothing(store, study.id):
            words += f" {delete(store, study.id)}"
        else:
            words += f" “{study.name}” stays, because it holds something else."
    return words
