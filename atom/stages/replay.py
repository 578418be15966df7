"""Cognitive replay: the judge solves the sample first, step by step, grounded in the pictures.

Reference: ATOM 3.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from atom.judge.reply import Reply
from atom.judge.request import PicturePart, Request
from atom.records import Record, Replay, ReplayStep, Sample, Sampling
from atom.stages import outcome
from atom.stages.asking import make_request
from atom.stages.boxes import AS_ASKED, BoxSpace, read_regions
from atom.stages.reading import one_line, read_reply, text_of
from atom.stages.schemas import MAX_STEPS, REPLAY
from atom.stages.sight import Material
from atom.stages.stage import Ask, Setting, Stage, StageResult, Subject
from atom.stages.texts.final_answer import compare_answer

TASK: Final = "replay"
PROMPT: Final = "replay/2"
TOLD: Final = f"{PROMPT} told"
"""Names a replay whose judge was told the reference answer."""


def build(
    sample: Sample,
    pictures: Sequence[PicturePart],
    sampling: Sampling,
    *,
    repeat: int = 0,
    with_reference: bool = False,
) -> Request:
    """Build the request for a reference solution.

    Args:
        pictures: the sample's pictures, in order.
        repeat: 0-based index among equal requests.
        with_reference: whether the judge is told the reference answer, where there is one.
            Untold, its agreement says whether it can solve the sample at all.
    """
    return make_request(
        PROMPT,
        {
            "question": sample.question,
            "choices": list(sample.choices),
            "reference_answer": sample.reference if with_reference else None,
            "pictures": len(pictures),
        },
        pictures=pictures,
        sampling=sampling,
        repeat=repeat,
        schema=REPLAY,
    )


def parse(
    reply: Reply,
    sample: Sample,
    judge_id: str,
    sampling: Sampling,
    repeat: int = 0,
    *,
    with_reference: bool = False,
    space: BoxSpace = AS_ASKED,
) -> Replay:
    """Make the replay of a judge's reply.

    Args:
        judge_id: who solved it.
        repeat: as in the request.
        with_reference: as in the request.
        space: how the judge's boxes lie on the sample's pictures.

    Returns:
        The replay; unscored without steps or without a final answer. `agrees` compares its final
        answer with the sample's reference by the outcome rules: False quarantines the sample,
        None means that there is no reference or that no rule can tell (see `compare`).
    """
    blank = _replay(
        sample, judge_id, sampling, repeat, "unscored", reply.call.id, told=with_reference
    )
    usable = read_reply(reply, "steps")
    if usable.data is None:
        return blank.model_copy(update={"detail": usable.reason})
    steps, notes = _steps(usable.data["steps"], len(sample.pictures), space)
    final = one_line(text_of(usable.data.get("final_answer")))
    if not steps:
        why = f": {final}" if final else ""
        return blank.model_copy(update={"detail": f"The judge gave no steps{why}"})
    if not final:
        return blank.model_copy(update={"detail": "The judge gave no final answer."})
    if usable.note:
        notes = (usable.note, *notes)
    return blank.model_copy(
        update={
            "state": "scored",
            "detail": "; ".join(notes),
            "steps": steps,
            "final_answer": final,
            "agrees": None if (verdict := compare_answer(sample, final)) is None else verdict.right,
        }
    )


def needs_comparison(sample: Sample, solved: Replay) -> bool:
    """Whether only a reader can tell if a replay's final answer is the known one."""
    return solved.state == "scored" and solved.agrees is None and sample.reference is not None


def compare(
    sample: Sample, pictures: Sequence[PicturePart], solved: Replay, sampling: Sampling
) -> Request:
    """Build the request that compares a replay's final answer with the known one.

    Args:
        sample: the question, with its reference answer.
        pictures: the sample's pictures, in order.

    Returns:
        The request; it is the one that checks the final answers of candidates.
    """
    return outcome.ask_about(sample, pictures, solved.final_answer, sampling)


def compared(reply: Reply, solved: Replay) -> Replay:
    """Enter what the judge says of its own final answer.

    Returns:
        The replay with `agrees` set; still None, with the reason, where the reply is unusable or
        says that it's unclear.
    """
    said = outcome.read_verdict(reply)
    how = f"the final answer was compared by the judge in call {reply.call.id}"
    words = {True: "it agrees with the known one", False: "it disagrees", None: "it can't tell"}
    note = f"{how}: {words[said.right]}{f' ({said.detail})' if said.detail else ''}"
    detail = "; ".join(filter(None, (solved.detail, note)))
    return solved.model_copy(update={"agrees": said.right, "detail": detail})


def _steps(
    value: object, n_pictures: int, space: BoxSpace
) -> tuple[tuple[ReplayStep, ...], tuple[str, ...]]:
    steps: list[ReplayStep] = []
    notes: list[str] = []
    for item in value if isinstance(value, list | tuple) else ():
        text = text_of(item.get("text") if isinstance(item, Mapping) else item)
        if not text:
            notes.append("a step without text was dropped")
            continue
        stated = item.get("regions") if isinstance(item, Mapping) else None
        where = f"step {len(steps) + 1}"
        regions = read_regions(stated, n_pictures, where=where, space=space)
        notes += regions.notes
        steps.append(ReplayStep(text=text, regions=regions.regions))
    if len(steps) > MAX_STEPS:
        notes.append(f"{len(steps)} steps, the first {MAX_STEPS} were kept")
    return tuple(steps[:MAX_STEPS]), tuple(notes)


def failed(
    error: str,
    sample: Sample,
    judge_id: str,
    sampling: Sampling,
    repeat: int = 0,
    call_id: str | None = None,
    *,
    with_reference: bool = False,
) -> Replay:
    """Make the replay that stands for a call that brought nothing."""
    blank = _replay(sample, judge_id, sampling, repeat, "failed", call_id, told=with_reference)
    return blank.model_copy(update={"detail": error})


def _replay(
    sample: Sample,
    judge_id: str,
    sampling: Sampling,
    repeat: int,
    state: str,
    call_id: str | None,
    *,
    told: bool,
) -> Replay:
    prompt = TOLD if told else PROMPT
    return Replay.model_validate(
        {
            "id": Replay.make_id(sample.id, judge_id, prompt, sampling, repeat),
            "sample_id": sample.id,
            "judge_id": judge_id,
            "prompt": prompt,
            "sampling": sampling,
            "repeat": repeat,
            "state": state,
            "call_id": call_id,
        }
    )


class ReplayStage(Stage):
    """The judge solves the sample, told the reference answer or not.

    Where no rule can compare its final answer with the known one, the judge is asked to compare
    them, in a question of its own.
    """

    name = TASK
    prompt = PROMPT
    points = True

    def named(self, setting: Setting) -> str:
        """Keep solutions of a judge that was told the answer apart."""
        return TOLD if setting.told else PROMPT

    def build(self, material: Material, subject: Subject, setting: Setting) -> Request:
        """Ask for a solution, step by step."""
        return build(
            subject.sample, material.pictures, setting.sampling, with_reference=setting.told
        )

    def read(
        self, reply: Reply, material: Material, subject: Subject, setting: Setting
    ) -> tuple[Record, ...]:
        """Read the steps and the final answer."""
        return (
            parse(
                reply,
                subject.sample,
                setting.who,
                setting.sampling,
                with_reference=setting.told,
                space=material.space,
            ),
        )

    async def take(
        self, ask: Ask, material: Material, subject: Subject, setting: Setting
    ) -> StageResult:
        """Let the judge solve it and, where no rule can, compare its answer with the known one."""
        reply = await ask(self.build(material, subject, setting))
        seen = replace(material, space=await material.shown(reply))
        brought = StageResult(records=self.read(reply, seen, subject, setting), call=reply.call)
        solved = brought.one(Replay)
        if needs_comparison(subject.sample, solved):
            question = compare(subject.sample, material.pictures, solved, setting.sampling)
            brought = replace(brought, records=(compared(await ask(question), solved),))
        return brought

    def failed(
        self, error: str, call_id: str | None, subject: Subject, setting: Setting
    ) -> tuple[Record, ...]:
        """Return the solution that didn't come."""
        return (
            failed(
                error,
                subject.sample,
                setting.who,
                setting.sampling,
                call_id=call_id,
                with_reference=setting.told,
            ),
        )


STAGE: Final = ReplayStage()
