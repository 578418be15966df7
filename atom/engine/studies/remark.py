"""Marking again what a judge marked on an older scale: how much there is, before it is paid for.

Marks of two scales never share a mean, so a study whose judge marked it before the scale changed
reads the older marks until the first newer ones come, and then only those. A run of the scoring
stage marks all of it again; `forecast` has its price.
"""

from __future__ import annotations

from atom.engine.study.spec import RunSpec
from atom.pipeline import stages_named
from atom.records import Study
from atom.store import Store
from atom.store.standing.marks import OlderMarks, older_marks


def to_remark(store: Store, spec: RunSpec, judge_id: str | None) -> OlderMarks:
    """Count the older marks that a run would make anew; none where it doesn't score.

    Args:
        judge_id: the run's judge as records name it; None where it isn't known yet.
    """
    study = store.get(Study, spec.study_id)
    scores = any(stage.repeats for stage in stages_named(spec.stages))
    if study is None or judge_id is None or not scores:
        return OlderMarks()
    return older_marks(store, study, judge_id)


def remark_words(older: OlderMarks) -> str:
    """Say what a run marks again and why; empty where there is nothing."""
    if not older.answers:
        return ""
    answers = "1 answer holds" if older.answers == 1 else f"{older.answers:,} answers hold"
    marks = "1 mark" if older.marks == 1 else f"{older.marks:,} marks"
    again = "it is marked" if older.answers == 1 else "they are marked"
    return (
        f"{answers} {marks} of this judge on the older scale ({', '.join(older.prompts)}), where "
        f"silence was a 1 and a hedge cost a point. In this run {again} again, and the older marks "
        "then no longer count: marks of two scales never share a mean."
    )
