"""Criteria extraction: the judge cuts its solution into weighted atomic criteria.

Reference: ATOM 3.1, equation 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from atom.errors import UsageError
from atom.judge.reply import Reply
from atom.judge.request import PicturePart, Request, Turn
from atom.judge.templates import load_template, render_turn
from atom.records import (
    CriteriaSet,
    Criterion,
    CriterionUse,
    Record,
    Region,
    Replay,
    Sample,
    Sampling,
    State,
)
from atom.records.thoughts import tell_apart
from atom.stages.asking import make_request
from atom.stages.boxes import AS_ASKED, BoxSpace, write_regions
from atom.stages.criteria_rules import CriterionText, broken_rules
from atom.stages.gate import CriteriaReading, CriterionDraft, read_criteria
from atom.stages.reading import one_line, read_reply, text_of
from atom.stages.schemas import CRITERIA, MAX_STEPS
from atom.stages.sight import Material
from atom.stages.stage import Ask, Setting, Stage, StageResult, Subject

TASK: Final = "criteria"
PROMPT: Final = "criteria/2"
_NO_CONFLICT: Final = frozenset(("none", "no", "no conflict", "null", "n/a", "empty", "nothing"))
HAND_PROMPT: Final = "hand"
"""The prompt of a set that a person edited."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CriteriaResult:
    """A criteria set and its criteria, in the set's order.

    Args:
        criteria_set: the set; scored, unscored (with its reason) or failed.
        criteria: empty unless the set is scored.
        faults: what the judge can mend when it is asked once more, a sentence each; the set is
            unscored then.
    """

    criteria_set: CriteriaSet
    criteria: tuple[Criterion, ...] = ()
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class EditedCriterion:
    """A row of the criteria editor, as a person left it.

    Args:
        question: the open question.
        ground_truth: its local ground truth.
        weight: brought to a total of 10 by the gate.
        step: 1-based step of the replay, if any.
        regions: where to look.
    """

    question: str
    ground_truth: str
    weight: float
    step: int | None = None
    regions: tuple[Region, ...] = ()


def build(
    sample: Sample,
    pictures: Sequence[PicturePart],
    replay: Replay,
    sampling: Sampling,
    *,
    repeat: int = 0,
    space: BoxSpace = AS_ASKED,
) -> Request:
    """Build the request that cuts a replay into criteria.

    Args:
        pictures: the sample's pictures, in order.
        replay: the judge's solution; must be scored.
        repeat: 0-based index among equal requests.
        space: how the judge's boxes lie on the pictures; its replay's are shown to it that way.

    Raises:
        UsageError: the replay holds no solution.
    """
    if replay.state != "scored":
        raise UsageError(
            f"the replay of sample {sample.id!r} is {replay.state}: replay it again before "
            "cutting criteria"
        )
    return make_request(
        PROMPT,
        {
            "question": sample.question,
            "choices": list(sample.choices),
            "reference_answer": sample.reference,
            "replay": {
                "steps": [
                    {"n": n, "text": step.text, "regions": write_regions(step.regions, space)}
                    for n, step in enumerate(replay.steps, start=1)
                ],
                "final_answer": replay.final_answer,
            },
        },
        pictures=pictures,
        sampling=sampling,
        repeat=repeat,
        schema=CRITERIA,
    )


def parse(
    reply: Reply,
    sample: Sample,
    replay: Replay,
    judge_id: str,
    sampling: Sampling,
    repeat: int = 0,
    *,
    space: BoxSpace = AS_ASKED,
) -> CriteriaResult:
    """Make the criteria set of a judge's reply.

    Args:
        replay: the solution that was cut.
        judge_id: who cut it.
        repeat: as in the request.

    Returns:
        The set and its criteria. What the gate changed stands in `adjustments`. Unscored, with the
        reason, is the set of a reply that can't be used, that says the known answer contradicts
        the solution, or whose criteria break the rules of `criteria_rules`: these the judge may
        mend once, see `again`. A set is unscored as a whole: its weights are shares of one way.
    """
    blank = _blank(sample, replay.id, judge_id, sampling, repeat, "unscored").model_copy(
        update={"call_id": reply.call.id}
    )
    usable = read_reply(reply, "criteria")
    if usable.data is None:
        return CriteriaResult(criteria_set=blank.model_copy(update={"detail": usable.reason}))
    notes = tuple(filter(None, (usable.note,)))
    conflict = one_line(text_of(usable.data.get("conflict")))
    if conflict and conflict.strip(" .").casefold() not in _NO_CONFLICT:
        if sample.reference is not None and not replay.agrees:
            detail = f"The known answer contradicts the judge's own solution: {conflict}"
            return CriteriaResult(criteria_set=blank.model_copy(update={"detail": detail}))
        notes += (f"the judge saw a conflict that there isn't: {conflict}",)
    reading = read_criteria(
        usable.data["criteria"],
        n_steps=len(replay.steps),
        n_pictures=len(sample.pictures),
        space=space,
    )
    result = _result(sample, blank, reading, notes)
    if reading.problem:
        return replace(result, faults=(reading.problem,))
    faults = broken_rules(sample, _checked(reading.drafts), final=replay.final_answer)
    if not faults:
        return result
    detail = f"The criteria break the rules that they were given: {'; '.join(faults)}."
    return CriteriaResult(criteria_set=blank.model_copy(update={"detail": detail}), faults=faults)


def again(request: Request, reply: Reply, faults: Sequence[str]) -> Request:
    """Build the turn that sends criteria back to the judge, with what is wrong with them.

    Args:
        request: the first question.
        faults: what is wrong, a sentence each.

    Returns:
        The same conversation, gone on with; it is asked once.
    """
    listed = "\n".join(f"- {one_line(fault)}" for fault in faults)
    return replace(
        request,
        turns=(
            *request.turns,
            Turn(role="assistant", text=tell_apart(reply.text).answer or reply.text),
            Turn(role="user", text=render_turn(load_template(PROMPT), "again", {"faults": listed})),
        ),
    )


def mended(result: CriteriaResult, faults: Sequence[str]) -> CriteriaResult:
    """Note in a set which faults of a first one it was asked to mend."""
    found, told = result.criteria_set, "; ".join(faults)
    if found.state == "scored":
        note = f"asked once more, since the first criteria broke the rules: {told}"
        return replace(
            result,
            criteria_set=found.model_copy(update={"adjustments": (*found.adjustments, note)}),
        )
    detail = f"{found.detail} The first criteria couldn't be used either: {told}."
    return replace(result, criteria_set=found.model_copy(update={"detail": detail}))


def _checked(drafts: Sequence[CriterionDraft]) -> list[CriterionText]:
    return [
        CriterionText(question=d.question, ground_truth=d.ground_truth, weight=d.weight)
        for d in drafts
    ]


def edited(
    sample: Sample, judge_id: str, replay_id: str | None, rows: Sequence[EditedCriterion]
) -> CriteriaResult:
    """Make the criteria set that a person edited; the same gate stands before it.

    Args:
        judge_id: the judge whose set was edited.
        replay_id: the replay that it rests on, if any.
        rows: the editor's rows, in order.

    Returns:
        The set, with source `hand`; unscored, with the reason, if the rows can't be used. An
        unchanged criterion keeps its id, so that nothing is paid for twice. What breaks the rules
        for a judge's criteria is noted as a warning: a person may know better.
    """
    items = [
        {
            "question": row.question,
            "ground_truth": row.ground_truth,
            "weight": row.weight,
            "step": row.step,
            "regions": write_regions(row.regions),
        }
        for row in rows
    ]
    reading = read_criteria(items, n_steps=MAX_STEPS, n_pictures=len(sample.pictures))
    blank = CriteriaSet(
        id=CriteriaSet.make_id(sample.id, judge_id, HAND_PROMPT, Sampling(), 0, [replay_id, items]),
        sample_id=sample.id,
        judge_id=judge_id,
        replay_id=replay_id,
        prompt=HAND_PROMPT,
        source="hand",
        state="unscored",
    )
    faults = broken_rules(sample, _checked(reading.drafts), final=None) if reading.drafts else ()
    return _result(sample, blank, reading, tuple(f"warning: {fault}" for fault in faults))


def failed(
    error: str,
    sample: Sample,
    replay: Replay,
    judge_id: str,
    sampling: Sampling,
    repeat: int = 0,
    call_id: str | None = None,
) -> CriteriaResult:
    """Make the criteria set that stands for a call that brought nothing."""
    blank = _blank(sample, replay.id, judge_id, sampling, repeat, "failed")
    return CriteriaResult(
        criteria_set=blank.model_copy(update={"detail": error, "call_id": call_id})
    )


def _blank(
    sample: Sample,
    replay_id: str,
    judge_id: str,
    sampling: Sampling,
    repeat: int,
    state: State,
) -> CriteriaSet:
    return CriteriaSet(
        id=CriteriaSet.make_id(sample.id, judge_id, PROMPT, sampling, repeat),
        sample_id=sample.id,
        judge_id=judge_id,
        replay_id=replay_id,
        prompt=PROMPT,
        sampling=sampling,
        repeat=repeat,
        state=state,
    )


def _result(
    sample: Sample, blank: CriteriaSet, reading: CriteriaReading, notes: tuple[str, ...]
) -> CriteriaResult:
    if reading.problem:
        detail = f"The criteria can't be used: {reading.problem}."
        return CriteriaResult(criteria_set=blank.model_copy(update={"detail": detail}))
    criteria = tuple(_criterion(sample, draft) for draft in reading.drafts)
    uses = tuple(
        CriterionUse(
            criterion_id=criterion.id,
            position=position,
            weight=draft.weight,
            stated_weight=draft.stated_weight,
            step=draft.step,
            regions=draft.regions,
        )
        for position, (criterion, draft) in enumerate(zip(criteria, reading.drafts, strict=True))
    )
    return CriteriaResult(
        criteria_set=blank.model_copy(
            update={"state": "scored", "uses": uses, "adjustments": (*notes, *reading.notes)}
        ),
        criteria=criteria,
    )


def _criterion(sample: Sample, draft: CriterionDraft) -> Criterion:
    # Questions of a set differ (the gate sees to it), so the ordinal among equals is always 0.
    return Criterion(
        id=Criterion.make_id(sample.id, draft.question, draft.ground_truth),
        sample_id=sample.id,
        question=draft.question,
        ground_truth=draft.ground_truth,
    )


class CriteriaStage(Stage):
    """The judge cuts its solution into weighted criteria; faulty ones it may mend once."""

    name = TASK
    prompt = PROMPT
    needs = frozenset({"replay"})
    points = True

    def build(self, material: Material, subject: Subject, setting: Setting) -> Request:
        """Show the solution and ask for its criteria."""
        return build(
            subject.sample,
            material.pictures,
            subject.solved,
            setting.sampling,
            space=material.space,
        )

    def read(
        self, reply: Reply, material: Material, subject: Subject, setting: Setting
    ) -> tuple[Record, ...]:
        """Read the criteria and the set that they make."""
        result = self._result(reply, material, subject, setting)
        return (*result.criteria, result.criteria_set)

    async def take(
        self, ask: Ask, material: Material, subject: Subject, setting: Setting
    ) -> StageResult:
        """Ask for criteria, and once more where they broke the rules."""
        request = self.build(material, subject, setting)
        reply = await ask(request)
        seen = replace(material, space=await material.shown(reply, copied=True))
        result = self._result(reply, seen, subject, setting)
        if faults := result.faults:
            reply = await ask(again(request, reply, faults))
            result = mended(self._result(reply, seen, subject, setting), faults)
        return StageResult(records=(*result.criteria, result.criteria_set), call=reply.call)

    def failed(
        self, error: str, call_id: str | None, subject: Subject, setting: Setting
    ) -> tuple[Record, ...]:
        """Return the set that didn't come."""
        who, how = setting.who, setting.sampling
        result = failed(error, subject.sample, subject.solved, who, how, call_id=call_id)
        return (result.criteria_set,)

    @staticmethod
    def _result(
        reply: Reply, material: Material, subject: Subject, setting: Setting
    ) -> CriteriaResult:
        return parse(
            reply,
            subject.sample,
            subject.solved,
            setting.who,
            setting.sampling,
            space=material.space,
        )


STAGE: Final = CriteriaStage()
