"""Which records belong to a study: everything that its screens show, and what that rests on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

import sqlalchemy as sa

from atom.records import (
    Annotation,
    Call,
    Candidate,
    Checkpoint,
    Correction,
    CriteriaSet,
    Criterion,
    Experiment,
    Hint,
    Import,
    Induction,
    Judge,
    Mapping,
    MarkScale,
    Outcome,
    Picture,
    Preference,
    Record,
    Replay,
    Response,
    Run,
    Sample,
    Study,
    StudyCandidate,
    StudySample,
    Tag,
    TreeEdit,
    TreeRecord,
    TreeVersion,
    Verdict,
)
from atom.store.schema import KINDS, import_links, table
from atom.store.store import Store

OUTSIDE = (
    "endpoints and their settings: they belong to this computer",
    "judge benchmarks' data and verdicts: they belong to no study",
    "calls that no record of the study names, such as those of a tree's induction",
)
"""What a study's selection leaves to the store."""
OF_STUDY: tuple[type[Record], ...] = (
    StudySample, StudyCandidate, TreeVersion, TreeEdit, Induction, Import, Run, Experiment,
    Annotation,
)  # fmt: skip
"""Kinds that name their study."""
ITS_OWN = frozenset({Study, Correction, Verdict, *OF_STUDY})
"""Kinds of which each record is one study's; all others are shared by studies."""
_CHUNK = 400
_R = TypeVar("_R", bound=Record)


class Selection:
    """A study's records, kind by kind.

    Later kinds depend on what earlier ones name (judges, calls), so `kinds` is gone through once,
    in order, and each kind to its end.

    Args:
        store: where the study is.
    """

    def __init__(self, store: Store, study: Study) -> None:
        self._store = store
        self.study = study
        self._samples: list[str] = []
        self._candidates: dict[str, None] = {}
        self._responses: dict[str, None] = {}
        self._criteria: list[str] = []
        self._named: set[str] = set()
        """Answers that an experiment names."""
        self._pictures: dict[str, None] = {}
        self._trees: dict[str, None] = {}
        self._judges: dict[str, None] = {}
        self._scales: dict[str, None] = {}
        self._calls: set[str] = set()

    def kinds(self) -> Iterator[tuple[type[Record], Iterator[Sequence[Record]]]]:
        """Give each kind with its records in chunks; a kind may have none."""
        study = self.study
        self._note(Study, [study])
        yield Study, iter([[study]])
        for kind in OF_STUDY:
            yield kind, self._watched(kind, self._whole(kind, table(kind).c.study_id == study.id))
        experiments = table(Experiment).c
        mine = sa.select(experiments.id).where(experiments.study_id == study.id)
        of_mine = table(Correction).c.experiment_id.in_(mine)
        yield Correction, self._watched(Correction, self._whole(Correction, of_mine))
        of_study = table(Verdict).c.group == study.id
        yield Verdict, self._watched(Verdict, self._whole(Verdict, of_study))
        yield Sample, self._watched(Sample, self._by(Sample, self._samples))
        yield Picture, self._by(Picture, list(self._pictures))
        yield Response, self._watched(Response, self._answers())
        for kind, ids, column in self._evidence():
            yield kind, self._watched(kind, self._by(kind, ids, column))
        yield Preference, self._watched(Preference, self._votes())
        # A peer may be a model that has no seat in the study: all hints on its criteria count.
        yield Hint, self._watched(Hint, self._by(Hint, self._criteria, "criterion_id"))
        yield Tag, self._tags()
        yield Candidate, self._by(Candidate, list(self._candidates))
        yield Judge, self._by(Judge, list(self._judges))
        yield MarkScale, self._by(MarkScale, list(self._scales))
        yield TreeRecord, self._by(TreeRecord, list(self._trees))
        yield Call, self._by(Call, sorted(self._calls))

    def links(self) -> list[tuple[str, str, str]]:
        """Return which import of the study brought which record: (import, kind, record)."""
        columns, imports = import_links.c, table(Import).c
        mine = sa.select(imports.id).where(imports.study_id == self.study.id)
        with self._store.read() as connection:
            rows = connection.execute(
                sa.select(columns.import_id, columns.kind, columns.record_id)
                .where(columns.import_id.in_(mine))
                .order_by(columns.import_id, columns.kind, columns.record_id)
            ).all()
        return [(str(one), str(two), str(three)) for one, two, three in rows]

    # --- reading ---------------------------------------------------------------------------------

    def _whole(self, kind: type[_R], where: sa.ColumnElement[bool]) -> Iterator[list[_R]]:
        key = [KINDS[kind].table.c[name] for name in KINDS[kind].key]
        found = self._store.select(kind, where, order_by=key)
        if found:
            yield found

    def _by(
        self, kind: type[_R], ids: Sequence[str], column: str | None = None
    ) -> Iterator[list[_R]]:
        field = table(kind).c[column or KINDS[kind].key[0]]
        key = [KINDS[kind].table.c[name] for name in KINDS[kind].key]
        for start in range(0, len(ids), _CHUNK):
            part = list(ids[start : start + _CHUNK])
            found = self._store.select(kind, field.in_(part), order_by=key)
            if found:
                yield found

    def _evidence(self) -> Iterator[tuple[type[Record], Sequence[str], str]]:
        yield Replay, self._samples, "sample_id"
        yield CriteriaSet, self._samples, "sample_id"
        yield Criterion, self._samples, "sample_id"
        yield Mapping, self._criteria, "criterion_id"
        answers = list(self._responses)
        yield Checkpoint, answers, "response_id"
        yield Outcome, answers, "response_id"

    def _answers(self) -> Iterator[list[Response]]:
        for chunk in self._by(Response, self._samples, "sample_id"):
            mine = [one for one in chunk if one.candidate_id in self._candidates]
            if mine:
                yield mine
        for chunk in self._by(Response, sorted(self._named - self._responses.keys())):
            yield chunk

    def _votes(self) -> Iterator[list[Preference]]:
        for chunk in self._by(Preference, self._samples, "sample_id"):
            held = self._responses
            mine = [one for one in chunk if one.response_a in held and one.response_b in held]
            if mine:
                yield mine

    def _tags(self) -> Iterator[list[Tag]]:
        for subject, ids in (("sample", self._samples), ("response", list(self._responses))):
            for chunk in self._by(Tag, ids, "subject_id"):
                mine = [tag for tag in chunk if tag.subject == subject]
                if mine:
                    yield mine

    # --- what records name ----------------------------------------------------------------------

    def _watched(
        self, kind: type[Record], chunks: Iterable[Sequence[Record]]
    ) -> Iterator[Sequence[Record]]:
        for chunk in chunks:
            self._note(kind, chunk)
            yield chunk

    def _note(self, kind: type[Record], records: Sequence[Record]) -> None:
        """Remember what these records name."""
        for record in records:
            call, judge = getattr(record, "call_id", None), getattr(record, "judge_id", None)
            if call:
                self._calls.add(call)
            if judge:
                self._judges[judge] = None
            self._note_trees(record)
            self._note_members(record)
        if kind is StudySample:
            places = [record for record in records if isinstance(record, StudySample)]
            places.sort(key=lambda place: (place.position, place.sample_id))
            self._samples = [place.sample_id for place in places]

    def _note_trees(self, record: Record) -> None:
        match record:
            case Study() | Mapping():
                versions = [record.tree_version]
            case TreeVersion():
                versions = [record.version, record.parent_version]
            case _:
                return
        self._trees.update((version, None) for version in versions if version)

    def _note_members(self, record: Record) -> None:
        match record:
            case StudyCandidate() | Experiment():
                self._candidates[record.candidate_id] = None
            case Correction():
                names = (record.response_id, record.parent_id, record.result_id)
                self._named |= {name for name in names if name}
            case Verdict() | Preference():
                self._judges[record.judge] = None
            case Hint():
                self._candidates[record.peer_id] = None
            case Response():
                self._responses[record.id] = None
                self._candidates[record.candidate_id] = None
            case Checkpoint():
                self._scales[record.scale] = None
            case Criterion():
                self._criteria.append(record.id)
            case Sample():
                ids = [slot.picture_id for slot in record.pictures if slot.picture_id]
                self._pictures.update(dict.fromkeys(ids))
