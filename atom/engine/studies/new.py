"""The user's own studies: a copy of a sealed one, or a new one."""

from __future__ import annotations

from collections.abc import Sequence

from atom.engine.clock import stamp, utc_now
from atom.errors import UsageError
from atom.records import Study
from atom.store import Store, change_consent, copy_sets, copy_study, find_study, list_studies

DEMO_COPY = "Demo (yours)"
"""Name of the user's own copy of the bundled study."""


def find_copy(target: Store, study_id: str) -> Study | None:
    """Return the user's copy of a study, the first one made, or None."""
    copies = [study for study in list_studies(target) if study.copied_from == study_id]
    return min(copies, key=lambda study: (study.created, study.id), default=None)


def own_copy(source: Store, study_id: str, target: Store, *, name: str = DEMO_COPY) -> Study:
    """Return the user's copy of a sealed study, made when there is none yet, benchmarks included.

    Args:
        name: what a new copy is called; a number is added when that name is taken.
    """
    found = find_copy(target, study_id)
    if found is not None:
        return found
    copy = copy_study(source, target, study_id, free_name(target, name), created=stamp(utc_now()))
    copy_sets(source, target)
    return copy


def free_name(target: Store | None, name: str = DEMO_COPY) -> str:
    """Return what a new copy is called: the name, with a number when it is taken.

    Args:
        target: the user's store; None = it isn't made yet.
        name: the name wanted.
    """
    names = set() if target is None else {study.name for study in list_studies(target)}
    free, number = name, 1
    while free in names:
        number += 1
        free = f"{name} {number}"
    return free


def new_study(target: Store, name: str, like: Study) -> Study:
    """Make an empty study with another one's settings.

    Args:
        like: whose sampling settings it takes.

    Raises:
        UsageError: the name is empty, too long or taken.
    """
    name = name.strip()
    taken = any(other.name == name for other in list_studies(target))
    if not name or taken or len(name) > 120:
        problem = "empty" if not name else "taken" if taken else "over 120 letters"
        raise UsageError(f"the name {name[:60]!r} is {problem}: choose another name")
    study_id, number = Study.make_id(name), 1
    while target.get(Study, study_id) is not None:
        number += 1
        study_id = Study.make_id(f"{name} ({number})")
    study = Study(
        id=study_id,
        name=name,
        created=stamp(utc_now()),
        judge_sampling=like.judge_sampling,
        answer_sampling=like.answer_sampling,
    )
    target.put([study])
    return study


def withdraw_consent(store: Store, study_id: str, hosts: Sequence[str]) -> Study:
    """Take back the agreement that a study's pictures and texts may be sent to these hosts."""
    return change_consent(store, find_study(store, study_id).id, drop=hosts)
