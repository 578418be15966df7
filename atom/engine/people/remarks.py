"""What a person says of a checkpoint where they see it: a score, a flag, a note; and undoing it.

Scores are people's labels as on Human check and count in their agreement. They weren't drawn at
random, and the judge's score was in sight: they never correct a judge's mean (`PICKED_HERE`).
"""

from __future__ import annotations

from dataclasses import dataclass

from atom.engine.clock import stamp, utc_now
from atom.engine.people.annotations import check_label, own_name
from atom.engine.people.marks import mark_of, with_marks
from atom.errors import UsageError
from atom.records import PICKED, PICKED_HERE, Annotation, AnnotationKind, Checkpoint
from atom.store import Store, Writer, table

FLAG = "flag"
MOST_NOTE = 2000
"""Letters of a note."""


@dataclass(frozen=True, kw_only=True)
class RemarkChange:
    """What was done, to be undone.

    Attributes:
        now: what stands; None where something was taken away.
        before: what stood; None where there was nothing.
        results: how many marks it changed, which `Store.mark` counts as results.
    """

    now: Annotation | None
    before: Annotation | None
    results: int = 0


def score(store: Store, study_id: str, key: str, who: str, value: int) -> RemarkChange:
    """Say what score, 1 to 5, a person would give a checkpoint.

    Args:
        key: the checkpoint's key.
        who: the person.

    Raises:
        UsageError: it is no score, or the person gave one blind, which this would spoil.
    """
    there = store.get(Annotation, _id(study_id, "score", key, who))
    if there is not None and there.value is not None and not there.note.startswith(PICKED):
        raise UsageError(f"you scored this {there.value:g} on Human check, without seeing the "
                         "judge's score; change it there")  # fmt: skip
    given = _label(study_id, "score", key, who, value=float(value), note=PICKED_HERE)
    check_label(given)
    return _put(store, given, there)


def flag(store: Store, study_id: str, key: str, who: str) -> RemarkChange:
    """Flag a checkpoint, or take this person's flag off again."""
    there = store.get(Annotation, _id(study_id, "flag", key, who))
    now = None if there is not None else _label(study_id, "flag", key, who, label=FLAG)
    return _put(store, now, there)


def note(store: Store, study_id: str, key: str, who: str, text: str) -> RemarkChange | None:
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
    if not text and there is None:
        return None
    return _put(store, _label(study_id, "remark", key, who, label=text) if text else None, there)


def undo(store: Store, step: RemarkChange) -> RemarkChange:
    """Undo a step: what it replaced stands again, or nothing."""
    return _put(store, step.before, step.now)


def _id(study_id: str, kind: AnnotationKind, key: str, who: str) -> str:
    return Annotation.make_id(study_id, kind, key, own_name(who))


def _label(study_id: str, kind: AnnotationKind, key: str, who: str, *, label: str = "",
           value: float | None = None, note: str = "") -> Annotation:  # fmt: skip
    return Annotation(
        id=_id(study_id, kind, key, who), study_id=study_id, kind=kind, subject_id=key,
        annotator=own_name(who), label=label, value=value, note=note,
        created=stamp(utc_now()),
    )  # fmt: skip


def _put(store: Store, now: Annotation | None, before: Annotation | None) -> RemarkChange:
    """Let a label stand in place of another one, or of nothing, with the mark that it amounts to.

    Flags and notes are in no figure, and a score is one more result: no screen reads a study of a
    million checkpoints anew at a key press.
    """
    records = [] if now is None else with_marks(store, now.study_id, [now])
    gone = before if now is None else None
    mark = None if gone is None else mark_of(store, gone)
    marks = sum(isinstance(one, Checkpoint) for one in records) + (mark is not None)

    def job(writer: Writer) -> None:
        if gone is not None:
            writer.delete(Annotation, table(Annotation).c.id == gone.id)
        if mark is not None:
            writer.delete(Checkpoint, table(Checkpoint).c.key == mark)
        writer.replace(records)
        said = now or before
        if marks and said is not None:
            writer.touch(said.study_id, results=marks)

    store.transact(job, action="label")
    return RemarkChange(now=now, before=before, results=marks)
