"""People's labels, written: given, skipped, taken back, settled by a third, read from a file.

Each label is one short transaction, so that a closed tab loses nothing. A person who labels the
same thing again replaces their own label; nobody touches another's.

Reference: ATOM appendices A, C, G, L; design/017-human-check.md.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import ValidationError

from atom.access import Action, actor, policy
from atom.engine.clock import Clock, stamp, utc_now
from atom.engine.people.marks import forget_mark, with_marks
from atom.errors import AccessError, FormatError, UsageError
from atom.records import (
    Annotation,
    AnnotationKind,
    Checkpoint,
    Criterion,
    RankedAnswer,
    Replay,
    Verdict,
)
from atom.store import Store, find_study, study_candidates, study_places, table

MAX_NAME = 60
MAX_FILE = 50_000_000
"""Bytes of a file of labels that are read at most."""
SCALE: Mapping[str, int] = {"score": 5, "accuracy": 3, "necessity": 3}
"""Kinds that are answered by a number: the largest; the smallest is 1."""
COLUMNS = ("kind", "subject_id", "annotator", "value", "label", "ranks", "shown", "state",
           "adjudicates", "note", "created")  # fmt: skip
"""Columns of a file of labels."""


@dataclass(frozen=True, kw_only=True)
class LabelChange:
    """A label that was written, and what stood there before.

    Attributes:
        now: the label.
        before: the same person's label that it replaced; None = there was none.
    """

    now: Annotation
    before: Annotation | None


def annotator_name(text: str) -> str:
    """Clean a name that a person typed.

    Raises:
        UsageError: nothing is left, or too much.
    """
    name = " ".join(re.sub(r"[\x00-\x1f\x7f]", " ", text).split())
    if not name or len(name) > MAX_NAME:
        raise UsageError(
            f"{text[:80]!r} can't be the name on labels: 1 to {MAX_NAME} letters are allowed"
        )
    return name


def own_name(text: str) -> str:
    """Return whose name stands on what is said now: in a deployment, whoever is signed in.

    Raises:
        UsageError: a name that was typed can't be one.
    """
    person = actor() if policy() is not None else None
    return annotator_name(text if person is None or person.is_operator else person.name)


def action_on(owner: str) -> Action:
    """Say what changing what a person wrote is: labelling where it is one's own, else an edit."""
    person = actor() if policy() is not None else None
    if person is None or person.is_operator or annotator_name(person.name) == owner:
        return "label"
    return "edit"


def check_label(label: Annotation) -> None:
    """Refuse a label that doesn't hold what its kind asks for.

    Raises:
        UsageError: the message says what is allowed.
    """
    if label.value is not None and not math.isfinite(label.value):
        raise UsageError("a label's value must be a number")
    if label.state == "skipped":
        return
    top = SCALE.get(label.kind)
    if top is not None and (label.value is None or label.value not in range(1, top + 1)):
        raise UsageError(
            f"a label of kind {label.kind} is a whole number 1..{top}, not {label.value!r}"
        )
    if label.kind == "ranking" and len({rank.response_id for rank in label.ranks}) < 2:
        raise UsageError("a ranking names two different answers at least")
    worded = ("mapping", "error_type", "report", "preference", "flag", "remark", "slice",
              "written", "match", "wanted")  # fmt: skip
    if label.kind in worded and not label.label.strip():
        raise UsageError(f"a label of kind {label.kind} needs a word, and there is none")


def give(
    store: Store,
    study_id: str,
    kind: AnnotationKind,
    subject_id: str,
    annotator: str,
    *,
    value: float | None = None,
    label: str = "",
    ranks: Sequence[RankedAnswer] = (),
    shown: Sequence[str] = (),
    skipped: bool = False,
    adjudicates: bool = False,
    note: str = "",
    clock: Clock = utc_now,
) -> LabelChange:
    """Write a label; it replaces what this person said of this thing before.

    Args:
        subject_id: what it was asked about, as `Annotation` names it.
        value: the number.
        label: the word.
        ranks: the places of a ranking.
        shown: in which order things were shown.
        skipped: nothing was said.
        adjudicates: said by a third person, where two disagree.
        note: why this thing was picked, or what the person remarks.

    Returns:
        What to hand to `take_back`.

    Raises:
        UsageError: the label doesn't hold what its kind asks for.
        ReadOnlyError: the study is sealed.
        StoreError: it can't be written.
    """
    name = own_name(annotator)
    identity = Annotation.make_id(study_id, kind, subject_id, name)
    given = Annotation(
        id=identity,
        study_id=study_id,
        kind=kind,
        subject_id=subject_id,
        annotator=name,
        value=value,
        label=label,
        ranks=tuple(ranks),
        shown=tuple(shown),
        state="skipped" if skipped else "given",
        adjudicates=adjudicates,
        note=note,
        created=stamp(clock()),
    )
    check_label(given)
    before = store.get(Annotation, identity)
    store.replace(with_marks(store, study_id, [given]), "label")
    if skipped and before is not None:
        forget_mark(store, given)
    return LabelChange(now=given, before=before)


def take_back(store: Store, change: LabelChange) -> None:
    """Undo a label: what it replaced stands again, or nothing.

    Raises:
        AccessError: in a deployment it is somebody else's.
    """
    if own_name(change.now.annotator) != change.now.annotator:
        raise AccessError(f"this label is {change.now.annotator}'s: only they take it back")
    if change.before is not None:
        store.replace(with_marks(store, change.now.study_id, [change.before]), "label")
        return
    forget_mark(store, change.now)
    with store.write("label") as writer:
        writer.delete(Annotation, table(Annotation).c.id == change.now.id)
        subject = {"study": change.now.study_id, "subject": change.now.subject_id}
        writer.tell(f"take back {change.now.kind}", **subject, before=change.now.annotator)


# --- files ----------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class LabelFile:
    """What a file of labels holds for a study.

    Attributes:
        new: labels that the study hasn't.
        changed: labels that would replace another one of the same person.
        same: labels that are there already.
        skipped: rows that are left out, and why: (row from 1, reason).
        by_kind: kind → labels that can be taken in.
    """

    new: tuple[Annotation, ...]
    changed: tuple[Annotation, ...]
    same: int
    skipped: tuple[tuple[int, str], ...]
    by_kind: Mapping[str, int]


def read_labels(store: Store, study_id: str, data: bytes) -> LabelFile:
    """Read a file of labels, as `annotations_csv` writes it, without keeping anything.

    Args:
        study_id: the study that takes them in.
        data: the file.

    Returns:
        What would be kept, and what would be left out.

    Raises:
        FormatError: the file isn't one of labels.
    """
    study = find_study(store, study_id)
    if len(data) > MAX_FILE:
        raise FormatError(f"the file has {len(data):,} bytes; {MAX_FILE:,} are read at most")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(
            f"the file isn't UTF-8 text ({error.reason}): save it as CSV UTF-8"
        ) from error
    reader = csv.reader(io.StringIO(text, newline=""))
    try:
        head = [name.strip().lower() for name in next(reader, [])]
    except csv.Error as error:
        raise FormatError(f"the file can't be read as CSV: {error}") from error
    missing = [name for name in ("kind", "subject_id", "annotator") if name not in head]
    if missing:
        raise FormatError(
            f"the file has no column {', '.join(missing)}: a file of labels has the columns "
            f"{', '.join(COLUMNS)}"
        )
    found: dict[str, tuple[int, Annotation]] = {}
    skipped: list[tuple[int, str]] = []
    number = 0
    try:
        for number, cells in enumerate(reader, start=1):
            if not any(cell.strip() for cell in cells):
                continue
            row = dict(zip(head, cells, strict=False))
            label = _label(study.id, row)
            if isinstance(label, str):
                skipped.append((number, label))
            else:
                if label.id in found:
                    earlier = found[label.id][0]
                    skipped.append((earlier, "the same person labels it again below"))
                found[label.id] = number, label
    except csv.Error as error:
        skipped.append((number + 1, f"the file can't be read from here on: {error}"))
    known = _known(store, study.id, [one for _, one in found.values()])
    labels: dict[str, Annotation] = {}
    for number, label in found.values():
        if (label.kind, label.subject_id) in known:
            labels[label.id] = label
        else:
            skipped.append((number, "what it labels isn't in this study"))
    there = {one.id: one for one in store.get_many(Annotation, labels)}
    new = [one for name, one in labels.items() if name not in there]
    other = [one for name, one in labels.items() if name in there and one != there[name]]
    kinds = Counter(one.kind for one in (*new, *other))
    return LabelFile(
        new=tuple(new),
        changed=tuple(other),
        same=len(labels) - len(new) - len(other),
        skipped=tuple(sorted(skipped)),
        by_kind=dict(sorted(kinds.items())),
    )


def _known(
    store: Store, study_id: str, labels: Sequence[Annotation]
) -> set[tuple[AnnotationKind, str]]:
    """Return which of the things that are labelled are there."""
    asked: dict[AnnotationKind, set[str]] = {}
    for label in labels:
        asked.setdefault(label.kind, set()).add(label.subject_id)
    found: set[tuple[AnnotationKind, str]] = set()
    for kind, names in asked.items():
        there: set[str] = set()
        if kind == "ranking":
            there = {place.sample_id for place in study_places(store, study_id)}
        elif kind == "report":
            there = {candidate.id for candidate in study_candidates(store, study_id)}
        elif kind in ("preference", "slice"):
            there = names
        elif kind in ("written", "match"):
            samples = {place.sample_id for place in study_places(store, study_id)}
            there = {name for name in names if name.partition("/")[0] in samples}
        elif kind in ("accuracy", "necessity", "mapping", "wanted"):
            there = {one.id for one in store.get_many(Criterion, names)}
        else:
            there = {one.key for one in store.get_many(Checkpoint, names)}
        if kind == "error_type":
            there |= {one.id for one in store.get_many(Replay, names)}
            there |= {one.key for one in store.get_many(Verdict, names)}
        found |= {(kind, name) for name in names & there}
    return found


def keep_labels(store: Store, file: LabelFile, *, replace: bool) -> int:
    """Keep what a file of labels holds, in one transaction.

    Args:
        replace: whether labels that differ replace those that are there.

    Returns:
        How many labels were written.
    """
    labels = (*file.new, *(file.changed if replace else ()))
    if labels:
        store.replace(with_marks(store, labels[0].study_id, labels), "import")
    return len(labels)


def _label(study_id: str, row: Mapping[str, str]) -> Annotation | str:
    """Read a row; a text says why it can't be used."""
    cell = {name: _plain(value) for name, value in row.items()}
    kind, subject = cell.get("kind", ""), cell.get("subject_id", "")
    if kind not in get_args(AnnotationKind):
        return f"unknown kind {kind[:40]!r}"
    if not subject:
        return "it doesn't say what is labelled"
    try:
        name = annotator_name(cell.get("annotator", ""))
        ranks: Any = json.loads(cell.get("ranks") or "[]")
        shown: Any = json.loads(cell.get("shown") or "[]")
        label = Annotation.model_validate(
            {
                "id": Annotation.make_id(study_id, kind, subject, name),
                "study_id": study_id,
                "kind": kind,
                "subject_id": subject,
                "annotator": name,
                "value": float(cell["value"]) if cell.get("value") else None,
                "label": cell.get("label", ""),
                "ranks": ranks,
                "shown": shown,
                "state": cell.get("state") or "given",
                "adjudicates": cell.get("adjudicates", "").lower() in ("true", "1", "yes"),
                "note": cell.get("note", ""),
                "created": cell.get("created", ""),
            }
        )
        check_label(label)
    except UsageError as error:
        return error.message
    except json.JSONDecodeError:
        return "its ranks or the order shown aren't JSON"
    except ValidationError as error:
        first = error.errors()[0]
        return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"
    except (ValueError, RecursionError):
        return f"its value isn't a number: {cell.get('value', '')[:40]!r}"
    return label


def _plain(value: str) -> str:
    """Take off the mark that keeps a spreadsheet from reading a text as a formula."""
    text = (value or "").strip()
    return text[1:] if len(text) > 1 and text[0] == "'" and text[1] in "=+-@" else text
