"""Answers that show what feedback does: right after it, where every control stayed wrong."""

from __future__ import annotations

from dataclasses import dataclass

from atom.records import Arm, Correction, Experiment, Response, Sample
from atom.store import Store, table
from atom.views.filters import Filters
from atom.views.study_data import StudyData

MOST = 8
_FEEDBACK: Arm = "guided"
_CONTROLS: tuple[Arm, ...] = ("fresh", "told", "sham")


@dataclass(frozen=True, kw_only=True)
class PickedAnswer:
    """A failed answer that came right when it was asked about its failed steps.

    Attributes:
        question: what the sample asks.
        stayed_wrong: the controls that were tried and stayed wrong, one at least.
        filters: its door.
    """

    question: str
    model: str
    stayed_wrong: tuple[Arm, ...]
    filters: Filters


def picked_answers(store: Store, data: StudyData, filters: Filters) -> tuple[PickedAnswer, ...]:
    """Pick answers from the study's experiments, those with most controls first.

    Args:
        filters: the chain, kept in the doors.

    Returns:
        At most `MOST`; none where no experiment has such an answer.
    """
    experiments = store.select(Experiment, table(Experiment).c.study_id == data.study.id)
    trials = store.get_many(Correction, [one.id for one in experiments], "experiment_id")
    came: dict[str, dict[Arm, float]] = {}
    for trial in trials:
        if trial.cohort == "failed" and trial.round == 1 and trial.value is not None:
            came.setdefault(trial.response_id, {})[trial.arm] = trial.value
    wrong = {
        name: tuple(arm for arm in _CONTROLS if values.get(arm) == 0)
        for name, values in came.items()
        if values.get(_FEEDBACK) == 1 and not any(values.get(arm) for arm in _CONTROLS)
    }
    answers = [r for r in store.get_many(Response, wrong) if r.sample_id in data.sample_position]
    answers = [r for r in answers if wrong[r.id]]
    answers.sort(key=lambda r: (-len(wrong[r.id]), data.sample_position[r.sample_id], r.id))
    samples = {s.id: s for s in store.get_many(Sample, [r.sample_id for r in answers[:MOST]])}
    names = {candidate.id: candidate.name for candidate in data.candidates}
    return tuple(
        PickedAnswer(
            question=samples[one.sample_id].question,
            model=names.get(one.candidate_id, ""),
            stayed_wrong=wrong[one.id],
            filters=filters.but(sample=one.sample_id, model=one.candidate_id, criterion=None),
        )
        for one in answers[:MOST]
    )
