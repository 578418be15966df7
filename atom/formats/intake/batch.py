"""What a format hands over: records in batches, and what isn't any study's yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain
from typing import Any

from atom.formats.pictures import PictureData
from atom.records import (
    Annotation,
    AnnotationKind,
    Candidate,
    Checkpoint,
    CriteriaSet,
    Criterion,
    Judge,
    MarkScale,
    Outcome,
    Preference,
    RankedAnswer,
    Record,
    Response,
    Sample,
    Sampling,
    State,
    Tag,
    TreeRecord,
    Verdict,
    content_id,
)
from atom.records import Mapping as Mapped
from atom.records.rows import Columns, Rows


def candidate_id(name: str) -> str:
    """Name an imported candidate: the same name is the same candidate in every file."""
    return content_id("candidate", name)


@dataclass(frozen=True, kw_only=True)
class GivenLabel:
    """A label that a person gave, as a file holds it: it isn't any study's yet."""

    kind: AnnotationKind
    subject_id: str
    """What was labelled, as `Annotation` names it."""
    annotator: str
    value: float | None = None
    label: str = ""
    ranks: tuple[RankedAnswer, ...] = ()
    note: str = ""

    def in_study(self, study_id: str, created: str) -> Annotation:
        """Make the record that a study keeps of it."""
        return Annotation(
            id=Annotation.make_id(study_id, self.kind, self.subject_id, self.annotator),
            study_id=study_id,
            kind=self.kind,
            subject_id=self.subject_id,
            annotator=self.annotator,
            value=self.value,
            label=self.label,
            ranks=self.ranks,
            note=self.note,
            created=created,
        )


@dataclass(frozen=True, kw_only=True)
class GivenVerdict:
    """What a judge said elsewhere, as a file holds it: it isn't any study's yet."""

    subject_id: str
    """The sample's id."""
    part: str
    """What it was asked about, as `Verdict` names it."""
    judge: str
    repeat: int = 0
    order: str = ""
    state: State = "scored"
    value: float | None = None
    label: str = ""
    text: str = ""
    detail: str = ""

    def in_study(self, study_id: str) -> Verdict:
        """Make the record that a study keeps of it."""
        sampling = Sampling()
        return Verdict(
            key=Verdict.make_key(
                study_id,
                self.subject_id,
                self.part,
                self.judge,
                "imported",
                sampling,
                self.repeat,
                self.order,
            ),
            group=study_id,
            subject_id=self.subject_id,
            part=self.part,
            judge=self.judge,
            prompt="imported",
            sampling=sampling,
            repeat=self.repeat,
            order=self.order,
            state=self.state,
            value=self.value,
            label=self.label,
            text=self.text,
            detail=self.detail,
        )


Frame = Judge | MarkScale | TreeRecord
"""What marks on criteria hang on: few of them."""
Evidence = Frame | Criterion | CriteriaSet | Mapped | Checkpoint
"""What judgments on criteria are made of."""
ImportedRecord = (
    Sample | Response | Outcome | Tag | Preference | GivenLabel | GivenVerdict | Evidence
)
"""What a format hands over, candidates and pictures aside."""


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Some records of an import, with the bytes of the pictures that they show."""

    samples: Sequence[Sample] = ()
    candidates: tuple[Candidate, ...] = ()
    responses: Sequence[Response] = ()
    outcomes: Sequence[Outcome] = ()
    tags: Sequence[Tag] = ()
    preferences: tuple[Preference, ...] = ()
    annotations: tuple[GivenLabel, ...] = ()
    verdicts: tuple[GivenVerdict, ...] = ()
    frame: tuple[Frame, ...] = ()
    """Who judged, on which scales, and the tree."""
    criteria: Sequence[Criterion] = ()
    sets: Sequence[CriteriaSet] = ()
    leaves: Sequence[Mapped] = ()
    marks: Sequence[Checkpoint] = ()
    pictures: tuple[PictureData, ...] = ()
    ready: Sequence[Columns] = ()
    """Records in place of those that are kept as rows, as a store takes them."""

    def records(self) -> Iterator[Record]:
        """Give every record that is the same in every study, those that others point at first."""
        return chain.from_iterable(self._groups())

    def _groups(self) -> tuple[Sequence[Record], ...]:
        return (
            self.candidates,
            self.samples,
            self.responses,
            self.outcomes,
            self.tags,
            self.preferences,
            self.frame,
            self.criteria,
            self.sets,
            self.leaves,
            self.marks,
        )

    def rows(self) -> list[Rows[Any]]:
        """Give the records that are kept as rows."""
        return [records for records in self._groups() if isinstance(records, Rows)]

    def loose(self) -> Iterator[Record]:
        """Give the records that aren't kept as rows."""
        for records in self._groups():
            if not isinstance(records, Rows):
                yield from records

    def without_rows(self) -> Batch:
        """Return the batch with its loose records alone."""
        gone = {one.name: () for one in fields(self) if isinstance(getattr(self, one.name), Rows)}
        return replace(self, **gone)

    def without_picture(self, picture_id: str) -> Batch:
        """Return the batch with this picture's slots emptied: samples keep their ids."""

        def emptied(sample: Sample) -> Sample:
            if all(slot.picture_id != picture_id for slot in sample.pictures):
                return sample
            slots = tuple(
                slot.model_copy(update={"picture_id": None})
                if slot.picture_id == picture_id
                else slot
                for slot in sample.pictures
            )
            return sample.model_copy(update={"pictures": slots})

        return replace(
            self,
            samples=tuple(emptied(sample) for sample in self.samples),
            pictures=tuple(picture for picture in self.pictures if picture.id != picture_id),
        )
