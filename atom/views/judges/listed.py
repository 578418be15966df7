"""The marks behind a comparison of two judges, those furthest apart first, with their reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from atom.analysis.intervals import Ints
from atom.records import Checkpoint, Criterion, Judge, Sample
from atom.store import Store
from atom.store.people import PEOPLE
from atom.store.standing.marks import marks_of
from atom.views.filters import Filters
from atom.views.judges.groups import MarkQuestions
from atom.views.judges.mark_groups import QUESTION_CUT, JudgesView, MarkPair
from atom.views.judges.marks import MOST_PEOPLE, AllJudgesMarks, SharedMarks
from atom.views.study_data import StudyData

PAGE_SIZE = 20
_EXCERPT = 160


def listed_marks(
    all_: AllJudgesMarks, shared: SharedMarks, filters: Filters, asked: MarkQuestions, question: str
) -> Ints:
    """Return places among the shared marks that the chain keeps, those furthest apart first."""
    keep = all_.under(filters.node, shared.key)
    number = all_.data.model_index(filters.model)
    if number is not None:
        keep = keep & (all_.data.table.model[all_.answer(shared.key)] == number)
    named = [text[:QUESTION_CUT] for text in asked.texts]
    if question and question in named:
        keep = keep & (asked.code == named.index(question))
    at = np.flatnonzero(keep)
    gap = np.abs(shared.first - shared.second)[at]
    return at[np.argsort(-gap, kind="stable")]


def mark_pairs(
    store: Store,
    base: JudgesView,
    all_: AllJudgesMarks,
    seen: Mapping[str, StudyData],
    here: SharedMarks,
    filters: Filters,
) -> tuple[MarkPair, ...]:
    """Read a page of marks with question, criterion, both reasons and the doors to both."""
    assert base.first is not None
    assert base.second is not None
    table = all_.data.table
    answer = all_.answer(here.key)
    answers = [table.response_ids[at] for at in answer]
    criteria = [all_.criterion_ids[at] for at in all_.criterion(here.key)]
    samples = [table.sample_ids[at] for at in table.sample[answer]]
    asked = {one.id: one.question for one in store.get_many(Sample, dict.fromkeys(samples))}
    texts = {one.id: one.question for one in store.get_many(Criterion, dict.fromkeys(criteria))}
    said = [_records(store, seen, judge, answers) for judge in (base.first, base.second)]
    found = []
    for at, (name, criterion, sample) in enumerate(zip(answers, criteria, samples, strict=True)):
        model = int(table.model[answer[at]])
        door = filters.but(
            sample=sample,
            criterion=criterion,
            model=all_.data.candidates[model].id,
            show="all",
        )
        found.append(
            MarkPair(
                sample_id=sample,
                sample=_cut(asked.get(sample, "")),
                model=model,
                criterion=texts.get(criterion, criterion),
                first=float(here.first[at]),
                second=float(here.second[at]),
                first_marks=said[0].get((name, criterion), ()),
                second_marks=said[1].get((name, criterion), ()),
                first_door=door.but(judge=_seen_as(base.first)),
                second_door=door.but(judge=_seen_as(base.second)),
            )
        )
    return tuple(found)


def _seen_as(judge: Judge) -> str:
    """Return through whom a study is looked at for a judge's mark: most people are all people."""
    return PEOPLE if judge.id == MOST_PEOPLE else judge.id


def _records(
    store: Store, seen: Mapping[str, StudyData], judge: Judge, answers: Sequence[str]
) -> dict[tuple[str, str], tuple[Checkpoint, ...]]:
    """Read a judge's marks of some answers: (answer, criterion) -> one a repeat, or a person."""
    together = judge.id in (PEOPLE, MOST_PEOPLE)
    seen = {name: data for name, data in seen.items() if name != PEOPLE}
    found: dict[tuple[str, str], tuple[Checkpoint, ...]] = {}
    for name, data in seen.items():
        one = data.judge
        if one is None or (one.kind != "person" if together else name != judge.id):
            continue
        marks = marks_of(
            store, data.study, dict.fromkeys(answers), name, repeats=None, scale=data.scale
        )
        for (answer, _), points in sorted(marks.items()):
            for criterion, point in points.items():
                found[answer, criterion] = (*found.get((answer, criterion), ()), point)
    return found


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _EXCERPT else f"{text[: _EXCERPT - 1]}…"
