"""Changes to whole studies, each told in a sentence."""

from __future__ import annotations

from atom.engine.clock import stamp, utc_now
from atom.store import Store, copy_study, delete_study, find_study, rename_study, undo_import


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


def take_back(store: Store, import_id: str) -> str:
    """Take an import back.

    Raises:
        UsageError: there is no such import.
    """
    undone = undo_import(store, import_id)
    words = f"Taken back: {undone.samples:,} samples and {undone.responses:,} answers"
    if undone.preferences:
        words += f", {undone.preferences:,} votes"
    if undone.kept:
        words += f"; {undone.kept:,} records stay, because something else needs them"
    return words + "."
