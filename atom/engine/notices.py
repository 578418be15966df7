"""What should be known before a run starts: repeats that can't differ, answers that drop out, older
marks that are made anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from atom.engine.clock import stamp, utc_now
from atom.engine.members import Members, gather
from atom.engine.studies.remark import remark_words, to_remark
from atom.engine.study.spec import RunSpec
from atom.pipeline import stages_named
from atom.records import Endpoint
from atom.store import Store, find_study
from atom.store.standing.answers import answers_under
from atom.store.standing.members import study_places


def run_notices(store: Store, spec: RunSpec, endpoints: Mapping[str, Endpoint]) -> tuple[str, ...]:
    """Say what should be known before a run starts.

    Raises:
        UsageError: it asks for something that isn't there.
    """
    return notices(store, spec, gather(store, spec, endpoints, stamp(utc_now())))


def notices(store: Store, spec: RunSpec, members: Members) -> tuple[str, ...]:
    """Say what should be known before a run starts, a sentence or two each.

    Args:
        members: who takes part.
    """
    judge_id = members.judge.id if members.judge else None
    again = remark_words(to_remark(store, spec, judge_id))
    return (*_same_requests(spec, members), *_dropped(store, members), *filter(None, (again,)))


def _same_requests(spec: RunSpec, members: Members) -> Iterator[str]:
    """Warn where a repeat is the same request as the first."""
    judged = spec.repeats > 1 and any(stage.repeats for stage in stages_named(spec.stages))
    if judged and members.judge_sampling.temperature == 0:
        yield (
            "At temperature 0 scoring an answer again sends the same request: the marks will "
            "hardly differ, and how steady the judge is can't be known. Give the judge a "
            "temperature, 0.7 for instance."
        )
    cold = [
        members.asked[name].name
        for name, sampling in members.asked_samplings.items()
        if sampling.temperature == 0
    ]
    if spec.answer_repeats > 1 and cold:
        yield (
            f"At temperature 0 {', '.join(cold)} will answer the same again and again: repeats "
            "need a temperature above 0."
        )


def _dropped(store: Store, members: Members) -> Iterator[str]:
    """Say how many answers no longer count once the run's settings are the study's."""
    now, then = find_study(store, members.study.id), members.study
    if now.answer_sampling == then.answer_sampling:
        return
    samples = [place.sample_id for place in study_places(store, then.id)]
    stay = {
        one.id for one in answers_under(store, then.answer_sampling, samples, members.candidate_ids)
    }
    there = answers_under(store, now.answer_sampling, samples, members.candidate_ids)
    gone = sum(one.id not in stay for one in there)
    if gone:
        answers = "1 answer" if gone == 1 else f"{gone:,} answers"
        yield (
            f"These settings become the study's. {answers} given under the old ones won't count "
            "in it; they stay in the store, and count again when the old settings are set again."
        )
