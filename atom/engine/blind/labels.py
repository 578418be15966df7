"""Labels the questions that were put to models without their pictures.

They are labels of the questions like any other, so every screen, filter and export knows them.

Reference: METHODS T8.
"""

from __future__ import annotations

from atom.analysis.capability.visual import number_marks, text_answerable
from atom.records import ANSWERABLE, ANSWERABLE_NO, ANSWERABLE_YES, Study, Tag
from atom.stages import blind
from atom.store import Store, study_places, table
from atom.store.standing.answers import answers_apart
from atom.store.standing.criteria import standing_sets
from atom.store.standing.marks import marks_of
from atom.store.standing.members import parts

SOURCE = "blind control"


def label_questions(store: Store, study: Study, judge_id: str) -> int:
    """Label every question that enough models were asked without its pictures.

    Args:
        judge_id: whose marks count.

    Returns:
        How many questions can be answered from the text.
    """
    places = study_places(store, study.id)
    sets = standing_sets(store, places)
    answers = [
        one
        for one in answers_apart(store, study.id, blind.ARM)
        if one.state != "failed" and one.sample_id in sets
    ]
    marks = marks_of(store, study, [one.id for one in answers], judge_id)
    named = number_marks(
        (one.sample_id, use.criterion_id, one.candidate_id, None if mark is None else mark.value)
        for one in answers
        for use in sets[one.sample_id].uses
        for mark in [marks.get((one.id, 0), {}).get(use.criterion_id)]
    )
    found = text_answerable(named.marks, len(named.criteria), len(named.samples))
    tags = [
        Tag(
            subject="sample",
            subject_id=name,
            source=SOURCE,
            facet=ANSWERABLE,
            value=ANSWERABLE_YES if found.sample[at] else ANSWERABLE_NO,
        )
        for at, name in enumerate(named.samples)
        if found.measured[at]
    ]
    columns = table(Tag).c
    with store.write() as writer:
        for part in parts(place.sample_id for place in places):
            writer.delete(Tag, (columns.source == SOURCE) & columns.subject_id.in_(part))
        writer.put(tags)
    return int(found.sample.sum())
