"""What a person says of a checkpoint where they see it: a score, a flag, a note; and undoing it.

Scores are people's labels as on Human check and count in their agreement. They weren't drawn at
random, and the judge's score was in sight: they never correct a judge's mean (`PICKED_HERE`).
"""

from __future__ import annotations

from dataclasses import dataclass

from atom.engine.clock import stamp, utc_now
from atom.engine.people.annotations import Change, annotator_name, give, take_back
from atom.engine.people.marks import with_marks
from atom.errors import UsageError
from atom.records import PICKED, PICKED_HERE, Annotation, AnnotationKind
from atom.store import Store, table

FLAG = "flag"
MOST_NOTE = 2000
"""Letters of a note."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """What was done, to be undone.

    Attributes:
        now: what stands; None where something was taken away.
        before: what stood; None where there was nothing.
    """

    now: Annotation | None
    before: Annotation | None


def score(store: Store, study_id: str, key: str, who: str, value: int) -> Step:
    """Say what score, 1 to 5, a person would give a checkpoint.

    Args:
        store: the study's store.
        study_id: the study.
        key: the checkpoint's key.
        who: the person.
        value: the score.

    Raises:
        UsageError: it is no score, or the person gave one blind, which this would spoil.
    """
    there = store.get(Annotation, _id(study_id, "score", key, who))
    if there is not None and there.value is not None and not there.note.startswith(PICKED):
        raise UsageError(f"you scored this {there.value:g} on Human check, without seeing the "
                         "judge's score; change it there")  # fmt: skip
    change = give(store, study_id, "score", key, who, value=float(value), note=PICKED_HERE)
    return Step(now=change.now, before=change.before)


def flag(store: Store, study_id: str, key: str, who: str) -> Step:
    """Flag a checkpoint, or take this person's flag off again."""
    there = store.get(Annotation, _id(study_id, "flag", key, who))
    if there is not None:
        return _away(store, there)
    return _say(store, study_id, "flag", key, who, FLAG)


def note(store: Store, study_id: str, key: str, who: str, text: str) -> Step | None:
    """Write a note on a checkpoint in place of this person's earlier one; an empty one goes.

    Returns:
        None where there was nothing to take away.

    Raises:
        UsageError: it is too long.
    """
    text = text.strip()
    if len(text) > MOST_NOTE:
        raise UsageError(f"the note has {len(text):,} letters; {MOST_NOTE:,} are kept at most")
    there = store.get(Annotation, _id(study_id, "remark", key, who))
    if text:
        return _say(store, study_id, "remark", key, who, text)
    return None if there is None else _away(store, there)


def undo(store: Store, step: Step) -> None:
    """Undo a step: what it replaced stands again, or nothing."""
    if step.now is not None:
        take_back(store, Change(now=step.now, before=step.before))
    elif step.before is not None:
        store.replace(with_marks(store, step.before.study_id, [step.before]))


def _id(study_id: str, kind: AnnotationKind, key: str, who: str) -> str:
    return Annotation.make_id(study_id, kind, key, annotator_name(who))


def _say(store: Store, study_id: str, kind: AnnotationKind, key: str, who: str, text: str) -> Step:
    identity = _id(study_id, kind, key, who)
    before = store.get(Annotation, identity)
    now = Annotation(
        id=identity, study_id=study_id, kind=kind, subject_id=key, annotator=annotator_name(who),
        label=text, created=stamp(utc_now()),
    )  # fmt: skip
    store.replace([now])
    return Step(now=now, before=before)


def _away(store: Store, there: Annotation) -> Step:
    with store.write() as writer:
        writer.delete(Annotation, table(Annotation).c.id == there.id)
    return Step(now=None, before=there)
