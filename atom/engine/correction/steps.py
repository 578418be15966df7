"""What each step of a self-correction experiment does: build the request, ask, parse, records out.

Nothing here writes to the store.
"""

from __future__ import annotations

from dataclasses import replace

from atom.engine.correction.cohorts import CohortAnswer
from atom.engine.correction.trials import Rules, TrialRecords, TrialStep
from atom.engine.items import read_material
from atom.errors import StoreError
from atom.pipeline import BY_NAME
from atom.records import Call, Correction, Criterion, Outcome, Record, Response, State
from atom.stages import correction, hint, outcome
from atom.stages.sight import Material
from atom.stages.stage import Ask, Setting, StageResult
from atom.stages.stage import Subject as About
from atom.store import Store


async def perform(
    ask: Ask, store: Store, step: TrialStep, have: TrialRecords, rules: Rules
) -> StageResult:
    """Do a step.

    Args:
        ask: asks the step's model.
        store: where pictures and peers' answers are.
        rules: the experiment, the judge and the settings.

    Raises:
        AtomError: it can't be done, or no reply came.
    """
    subject = step.trial.subject
    if step.problem:
        return StageResult(records=(made(step, rules, state=step.state, detail=step.problem),))
    material = read_material(store, subject.sample)
    if step.kind == "hint":
        return await _hint(ask, store, step, material, rules)
    if step.kind == "retry":
        return await _retry(ask, step, material, rules)
    if step.kind == "rejudge":
        return await _rejudge(ask, step, material, rules)
    about, setting = _judged(step, rules)
    brought = await BY_NAME[step.kind].take(ask, material, about, setting)
    valued = _valued(step, brought.records, have)
    return replace(brought, records=(*brought.records, *valued))


def _judged(step: TrialStep, rules: Rules) -> tuple[About, Setting]:
    """Say what the judge is asked about an answer, and how."""
    subject = step.trial.subject
    about = About(
        sample=subject.sample,
        criteria_set=subject.criteria_set,
        wanted=step.criteria,
        response=step.response,
    )
    who, sampling = rules.judge_id, rules.judge_sampling
    return about, Setting(who=who, sampling=sampling, repeat=step.repeat)


async def _hint(
    ask: Ask, store: Store, step: TrialStep, material: Material, rules: Rules
) -> StageResult:
    """Let a peer write a hint; the gate looks at it when it's parsed."""
    subject, (criterion,) = step.trial.subject, step.criteria
    answer = peer_answer(store, subject, criterion)
    peer_id = subject.peers[criterion.id].peer_id
    sampling = rules.hint_sampling(peer_id)
    reply = await ask(
        hint.build(
            material.sample, material.pictures, criterion, answer, sampling, attempt=step.attempt
        )
    )
    found = hint.parse(
        reply,
        material.sample,
        criterion,
        peer_id,
        answer,
        sampling,
        step.attempt,
        truths=_others(subject, step),
        final=subject.final,
    )
    return StageResult(records=(found,), call=reply.call)


async def _retry(ask: Ask, step: TrialStep, material: Material, rules: Rules) -> StageResult:
    """Let the model answer again; a verdict that a rule can give comes along, free."""
    sample, arm, sampling = material.sample, step.trial.arm, rules.answer_sampling
    built = correction.build(
        sample,
        material.pictures,
        step.parent,
        arm,
        sampling,
        criteria=step.criteria,
        hints=step.hints,
        known=step.known,
        final=step.trial.subject.final,
        others=_others(step.trial.subject, step),
    )
    told = {
        "feedback": built.feedback,
        "criterion_ids": built.criterion_ids,
        "hints": built.hints,
        "gates": (*step.gates, *built.gates),
    }
    if built.request is None:
        return StageResult(
            records=(made(step, rules, state="unscored", detail=built.problem, **told),)
        )
    reply = await ask(built.request)
    response = correction.parse(reply, sample, step.parent, arm, built.feedback, sampling)
    verdict = outcome.check(sample, response) if response.state == "scored" else None
    row = made(
        step,
        rules,
        state=response.state,
        detail=response.detail,
        result_id=response.id,
        value=verdict.value if verdict else None,
        **told,
    )
    records: list[Record] = [response, *([verdict] if verdict else []), row]
    return StageResult(records=tuple(records), call=reply.call)


async def _rejudge(ask: Ask, step: TrialStep, material: Material, rules: Rules) -> StageResult:
    """Check the old final answer as a new one is checked: by rule, else by the judge once more."""
    first = step.trial.subject.first
    verdict, call = outcome.check(material.sample, first), None
    if verdict is None and material.sample.reference is not None:
        reply = await ask(
            outcome.build(
                material.sample,
                material.pictures,
                first,
                rules.judge_sampling,
                repeat=step.repeat,
            )
        )
        verdict, call = outcome.parse(reply, first, rules.judge_id), reply.call
    row = made(
        step,
        rules,
        state="scored",
        detail=verdict.detail if verdict and verdict.value is None else "",
        result_id=first.id,
        value=verdict.value if verdict else None,
    )
    return StageResult(records=(row,), call=call)


def made(step: TrialStep, rules: Rules, *, state: State, **told: object) -> Correction:
    """Make the row of a trial's round."""
    subject = step.trial.subject
    return Correction.model_validate(
        {
            "experiment_id": rules.experiment.id,
            "response_id": subject.first.id,
            "arm": step.trial.arm,
            "round": step.round,
            "cohort": subject.cohort,
            "state": state,
            "parent_id": step.parent.id,
            "criterion_ids": tuple(criterion.id for criterion in step.criteria),
            "hints": step.hints,
            "gates": step.gates,
            **told,
        }
    )


def _others(subject: CohortAnswer, step: TrialStep) -> tuple[Criterion, ...]:
    """Return the sample's criteria that a step isn't about; their results are masked, too."""
    about = {criterion.id for criterion in step.criteria}
    return tuple(c for c in subject.criteria.values() if c.id not in about)


def _valued(
    step: TrialStep, records: tuple[Record, ...], have: TrialRecords
) -> tuple[Correction, ...]:
    """Put the judge's verdict, where it gave one, into the trial's row."""
    row = have.corrections[(*step.trial.name, step.round)]
    verdicts = [record for record in records if isinstance(record, Outcome)]
    return tuple(row.model_copy(update={"value": one.value}) for one in verdicts[:1])


def failed_records(
    error: str, call: Call | None, step: TrialStep, store: Store, rules: Rules
) -> tuple[Record, ...]:
    """Account for a step that failed: what it would have brought, in state `failed`."""
    subject, call_id = step.trial.subject, call.id if call else None
    if step.kind == "hint":
        (criterion,) = step.criteria
        answer = peer_answer(store, subject, criterion)
        peer_id = subject.peers[criterion.id].peer_id
        sampling = rules.hint_sampling(peer_id)
        return (hint.failed(error, criterion, peer_id, answer, sampling, step.attempt, call_id),)
    if step.kind == "retry" or step.kind == "rejudge":
        return (made(step, rules, state="failed", detail=error),)
    return BY_NAME[step.kind].failed(error, call_id, *_judged(step, rules))


def peer_answer(store: Store, subject: CohortAnswer, criterion: Criterion) -> Response:
    """Read the answer that a peer writes its hint from.

    Raises:
        StoreError: it was deleted meanwhile.
    """
    found = store.get(Response, subject.peers[criterion.id].response_id)
    if found is None:
        raise StoreError(
            "a peer's answer was deleted while the experiment needed it: resume it to go on with "
            "what is there"
        )
    return found
