"""Which candidate of a study is declared to be a version of which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from atom.errors import UsageError
from atom.records import Annotation, Candidate
from atom.store.labels import labels_of
from atom.store.schema import table
from atom.store.store import Store, Writer

DECLARED = "declared"
"""Who says it: a declaration is nobody's opinion, and there is one for each candidate."""


def versions_of(store: Store, study_id: str) -> dict[str, str]:
    """Return a study's declarations: candidate's id -> id of the one that it is a version of."""
    return {one.subject_id: one.label for one in labels_of(store, study_id, ["version"])}


def declare_version(
    store: Store, study_id: str, candidate_id: str, before: str | None, created: str
) -> None:
    """Declare a candidate a version of another, or of none any longer.

    Args:
        candidate_id: the later one.
        before: the one that it is a version of; None = it isn't a version any longer.
        created: UTC time.

    Raises:
        UsageError: it would be a version of itself, perhaps by way of others.
    """
    if before is None:
        with store.write() as writer:
            writer.delete(Annotation, table(Annotation).c.id == _id(study_id, candidate_id))
        return
    known = versions_of(store, study_id)
    chain = line_of({**known, candidate_id: before}, candidate_id)
    if chain is None:
        names = {one.id: one.name for one in store.get_many(Candidate, [candidate_id, before])}
        later, earlier = (names.get(one, one) for one in (candidate_id, before))
        raise UsageError(
            f"{later!r} can't be a version of {earlier!r}, which is a version of {later!r} itself; "
            "undo that first"
        )
    store.replace([_declaration(study_id, candidate_id, before, created)])


def write_versions(
    writer: Writer, study_id: str, declared: Mapping[str, str], created: str
) -> None:
    """Write what an import's files declare, in the import's own transaction."""
    writer.replace(_declaration(study_id, one, of, created) for one, of in declared.items())


def line_of(declared: Mapping[str, str], candidate_id: str) -> Sequence[str] | None:
    """Return a candidate and what came before it, the latest first; None for a ring."""
    line = [candidate_id]
    while (before := declared.get(line[-1])) is not None:
        if before in line:
            return None
        line.append(before)
    return line


def _id(study_id: str, candidate_id: str) -> str:
    return Annotation.make_id(study_id, "version", candidate_id, DECLARED)


def _declaration(study_id: str, candidate_id: str, before: str, created: str) -> Annotation:
    return Annotation(
        id=_id(study_id, candidate_id),
        study_id=study_id,
        kind="version",
        subject_id=candidate_id,
        annotator=DECLARED,
        label=before,
        created=created,
    )
