"""People's scores as marks: who labels a checkpoint is a judge of the study like any other.

A label says what a person gave, and when; the mark says the same of the answer and the criterion,
so that a study can be looked at through that person, whichever judge's mark they were shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from atom.records import Annotation, Checkpoint, Judge, Record, Sampling, own_mark
from atom.store import Store, table
from atom.store.labels import labels_of
from atom.store.reading.marks import HUMAN_CHECK, subjects_of_marks


def person(name: str) -> Judge:
    """Return the judge that a person is.

    Args:
        name: the name on their labels.
    """
    return Judge(id=f"person:{name}", name=name, kind="person")


def is_mark(label: Annotation) -> bool:
    """Say whether a label scores a checkpoint (`sample/criterion` is something else)."""
    return label.kind == "score" and "/" not in label.subject_id


def marks_of_labels(store: Store, labels: Iterable[Annotation]) -> list[Record]:
    """Return the judges and marks that people's labels of checkpoints amount to.

    Args:
        store: where the checkpoints are.
        labels: labels of any kind; later ones of one person on one thing come later.

    Returns:
        Judges and marks; labels of checkpoints that aren't there have none.
    """
    given = [one for one in labels if is_mark(one) and one.state == "given" and one.value]
    about = subjects_of_marks(store, {one.subject_id for one in given})
    judges: dict[str, Judge] = {}
    marks: dict[str, Checkpoint] = {}
    for label in given:
        if label.subject_id not in about:
            continue
        answer, criterion = about[label.subject_id]
        judge = judges.setdefault(label.annotator, person(label.annotator))
        key = _key(answer, criterion, judge)
        marks[key] = Checkpoint.model_validate(
            {
                "key": key,
                "criterion_id": criterion,
                "response_id": answer,
                "judge_id": judge.id,
                "prompt": HUMAN_CHECK,
                "state": "scored",
                "reason": label.note,
                **own_mark(round(label.value or 0)),
            }
        )
    return [*judges.values(), *marks.values()]


def _key(answer: str, criterion: str, judge: Judge) -> str:
    return Checkpoint.make_key(criterion, answer, judge.id, HUMAN_CHECK, Sampling())


def with_marks(store: Store, study_id: str, labels: Sequence[Annotation]) -> list[Record]:
    """Return labels with the marks that they amount to.

    A person's first label brings along the marks of labels that were given before there were such
    marks, theirs and those of others who have none.

    Args:
        labels: what is about to be written.
    """
    names = {one.annotator for one in labels if is_mark(one)}
    known = {one.id for one in store.get_many(Judge, [person(name).id for name in names])}
    older: list[Annotation] = []
    if any(person(name).id not in known for name in names):
        ids = {one.id for one in labels}
        given = [one for one in labels_of(store, study_id, ["score"]) if one.id not in ids]
        them = {person(one.annotator).id for one in given}
        known |= {one.id for one in store.get_many(Judge, them)}
        older = [one for one in given if person(one.annotator).id not in known]
    return [*labels, *marks_of_labels(store, [*older, *labels])]


def mark_of(store: Store, label: Annotation) -> str | None:
    """Return the key of the mark that a label amounts to; None where it amounts to none."""
    about = subjects_of_marks(store, [label.subject_id]) if is_mark(label) else {}
    if label.subject_id not in about:
        return None
    return _key(*about[label.subject_id], person(label.annotator))


def forget_mark(store: Store, label: Annotation) -> None:
    """Take away the mark of a label that is taken back or skipped."""
    key = mark_of(store, label)
    if key is not None:
        with store.write("label") as writer:
            writer.delete(Checkpoint, table(Checkpoint).c.key == key)
