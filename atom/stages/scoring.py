"""Checkpoint scoring: the judge scores one response at every criterion, in one call.

Entries are keyed by criterion id in prompt and reply, so that two criteria on one leaf can be told
apart. Besides a score from 1 to 5 on the scale of ATOM's appendix D, each says whether the answer
speaks to the step at all (`addressed`) and whether a slip was only inherited (`carried`).

Reference: ATOM 3.3, equation 2, appendix D; METHODS T1, T2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from atom.errors import DataError
from atom.judge.reply import Reply
from atom.judge.request import PicturePart, Request
from atom.records import (
    Checkpoint,
    CriteriaSet,
    Criterion,
    Record,
    Response,
    Sample,
    Sampling,
    State,
    own_mark,
)
from atom.stages.asking import make_request
from atom.stages.gate import keyed_entries, read_score, short_ids
from atom.stages.reading import one_line, read_reply, text_of
from atom.stages.schemas import scoring_schema
from atom.stages.sight import Material
from atom.stages.stage import Setting, Stage, Subject
from atom.stages.texts.quotes import AnswerIndex

TASK: Final = "scoring"
PROMPT: Final = "scoring/2"
BLIND: Final = f"{PROMPT} blind"
"""What records call the prompt where a judge scores without the pictures, by its run's setting."""
NO_PICTURES: Final = "no_pictures"
"""The prompt's form where the judge is shown no pictures."""
SILENCE: Final = 2
"""The score of a step that the answer is silent on."""
MOST_CARRIED: Final = 3
"""A step with a higher score is right, so there is no slip that it could have inherited."""
_FLAGS: Final[Mapping[str, bool]] = {"true": True, "yes": True, "false": False, "no": False}
MAX_ANSWER: Final = 60_000
"""Characters of an answer that a judge is shown; a longer one loses its middle."""


def build(
    sample: Sample,
    pictures: Sequence[PicturePart],
    criteria_set: CriteriaSet,
    criteria: Sequence[Criterion],
    response: Response,
    sampling: Sampling,
    *,
    repeat: int = 0,
    blind: bool = False,
) -> Request:
    """Build the request that scores a response.

    Args:
        pictures: the sample's pictures, in order.
        criteria_set: the set that stands for the sample.
        criteria: its criteria, or some of them where the others are scored already.
        repeat: 0-based index among equal requests.
        blind: leave the pictures out.

    Returns:
        The request. Weights aren't shown: they are no business of a single score.

    Raises:
        DataError: none of the criteria is in the set, or the response holds no answer.
    """
    asked = in_order(criteria_set, criteria)
    if not asked or response.state != "scored":
        raise DataError(
            f"response {response.id!r} is {response.state}, {len(asked)} criteria of the set were "
            "given: scoring needs an answer and at least one criterion"
        )
    shown_pictures = () if blind else tuple(pictures)
    short = short_ids([criterion.id for criterion in asked])
    return make_request(
        PROMPT,
        {
            "question": sample.question,
            "choices": list(sample.choices),
            "criteria": [
                {
                    "id": short[criterion.id],
                    "question": criterion.question,
                    "ground_truth": criterion.ground_truth,
                }
                for criterion in asked
            ],
            "answer": shown(response.text),
        },
        pictures=shown_pictures,
        sampling=sampling,
        repeat=repeat,
        schema=scoring_schema(len(asked)),
        form=None if shown_pictures else NO_PICTURES,
    )


def in_order(criteria_set: CriteriaSet, criteria: Sequence[Criterion]) -> tuple[Criterion, ...]:
    """Return those of the criteria that are in the set, in the set's order."""
    by_id = {criterion.id: criterion for criterion in criteria}
    uses = sorted(criteria_set.uses, key=lambda use: use.position)
    return tuple(by_id[use.criterion_id] for use in uses if use.criterion_id in by_id)


def shown(answer: str) -> str:
    """Return an answer as a judge is shown it: a very long one without its middle."""
    if len(answer) <= MAX_ANSWER:
        return answer
    head, tail = answer[: MAX_ANSWER // 2], answer[-(MAX_ANSWER // 2) :]
    return f"{head}\n[... {len(answer) - len(head) - len(tail)} characters left out ...]\n{tail}"


def parse(
    reply: Reply,
    criteria_set: CriteriaSet,
    criteria: Sequence[Criterion],
    response: Response,
    judge_id: str,
    sampling: Sampling,
    repeat: int = 0,
    *,
    blind: bool = False,
) -> tuple[Checkpoint, ...]:
    """Make the checkpoints of a judge's reply.

    Args:
        criteria: as in the request.
        judge_id: who scored.
        repeat: as in the request.
        blind: as in the request.

    Returns:
        One checkpoint for each criterion, in the set's order: scored, or unscored because the
        reply is unusable, leaves the criterion out, declines, gives no whole number from 1 to 5,
        gives two different scores, or credits an answer that it says is silent on the step. What
        else in the marks doesn't fit together is put right by the scale's own rules, and told in
        `detail`, see `settle`.
    """
    asked = in_order(criteria_set, criteria)

    def blank(criterion: Criterion, detail: str) -> Checkpoint:
        return _checkpoint(
            criterion,
            response,
            judge_id,
            sampling,
            repeat,
            "unscored",
            detail,
            reply.call.id,
            BLIND if blind else PROMPT,
        )

    usable = read_reply(reply, "scores", partial=True)
    if usable.data is None:
        return tuple(blank(criterion, usable.reason) for criterion in asked)
    keyed = keyed_entries(usable.data["scores"], [criterion.id for criterion in asked])
    index = AnswerIndex(response.text)
    note = "" if len(response.text) <= MAX_ANSWER else "Scored without the middle of the answer."
    checkpoints = []
    for criterion in asked:
        entries = keyed.entries[criterion.id]
        if entries:
            checkpoints.append(_scored(blank(criterion, note), entries, index))
            continue
        detail = "The judge gave no score for this criterion."
        if usable.cut:
            detail = f"The reply was cut before this criterion. {reply.reason}".strip()
        if keyed.unknown:
            detail += f" It named unknown ids: {', '.join(keyed.unknown[:8])}."
        checkpoints.append(blank(criterion, detail))
    return tuple(checkpoints)


def _scored(
    blank: Checkpoint, entries: Sequence[Mapping[str, object]], index: AnswerIndex
) -> Checkpoint:
    """Put what the entries say into a checkpoint that's unscored so far."""
    scores = [read_score(entry.get("score")) for entry in entries]
    first = entries[0]
    reason = one_line(text_of(first.get("reason")))
    quote = text_of(first.get("quote"))[:1000]
    told = {"reason": reason, "quote": quote, "span": index.locate(quote)}
    if len(set(scores)) > 1:
        said = ", ".join(one_line(f"{entry.get('score')}", 20) for entry in entries[:8])
        detail = f"The judge contradicts itself on this criterion: {said}."
        return blank.model_copy(update={**told, "detail": detail})
    score = scores[0]
    if score.declined:
        detail = reason or "The judge declined to score this criterion."
        return blank.model_copy(update={**told, "detail": detail})
    if score.score is None:
        return blank.model_copy(update={**told, "detail": f"Not usable: {score.problem}."})
    marks = settle(
        score.score,
        [entry.get("addressed") for entry in entries],
        [entry.get("carried") for entry in entries],
        quoted=bool(quote),
    )
    notes = " ".join(filter(None, (blank.detail, *marks.notes)))
    if marks.score is None:
        return blank.model_copy(update={**told, "detail": notes})
    return blank.model_copy(
        update={
            **told,
            "state": "scored",
            **own_mark(marks.score),
            "addressed": marks.addressed,
            "carried": marks.carried,
            "detail": notes,
        }
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class StepMark:
    """What a judge says of a step, brought in line with the scale.

    Args:
        score: 1..5; None where the parts contradict each other.
        addressed: whether the answer speaks to the step; None where the judge didn't say.
        carried: whether a slip was only inherited; None where the judge didn't say.
        notes: what was changed or can't be used, in sentences.
    """

    score: int | None
    addressed: bool | None
    carried: bool | None
    notes: tuple[str, ...] = ()


def settle(
    score: int, addressed: Sequence[object], carried: Sequence[object], *, quoted: bool
) -> StepMark:
    """Bring a score and its two marks in line with the scale's own rules.

    Silence is a 2, and what is silent can't be right, wrong or inherited:

    - silent with a 1 and no quote: silence, a 2 (the judge kept to a scale that calls silence 1);
      with a quote, the judge both denies and points at a statement: no score.
    - silent with a 5 and a quote: the answer says that the thing can't be known, which is the
      truth: addressed.
    - silent with a 3, a 4, or a 5 without a quote: credit for what isn't said: no score.
    - carried at 4 or 5, or silent: there is no slip to inherit: not carried.

    Args:
        score: 1..5, as the judge gave it.
        addressed: what its entries for the step say there, one each.
        carried: likewise.
        quoted: whether it points at a passage of the answer.

    Returns:
        The marks. What isn't said, or isn't true or false, is None: it isn't made up.

    Reference: METHODS T1, T2.
    """
    said, inherited = _flag(addressed), _flag(carried)
    unsaid = [name for name, flag in (("addressed", said), ("carried", inherited)) if flag is None]
    notes = [f"The judge left open whether this is {' or '.join(unsaid)}."] if unsaid else []
    if said is False and score != SILENCE:
        if score == 1 and not quoted:
            notes.append("The judge gave silence a 1; on this scale it is a 2.")
            score = SILENCE
        elif score == 5 and quoted:
            notes.append(
                "The judge called this not addressed and right, with a quote: the answer says what "
                "is true, so it's addressed."
            )
            said = True
        else:
            notes.append(
                f"The judge contradicts itself: it gives {score} and says that the answer doesn't "
                "speak to this step."
            )
            return StepMark(score=None, addressed=None, carried=None, notes=tuple(notes))
    if inherited and (said is False or score > MOST_CARRIED):
        why = "silent on this step" if said is False else "right here"
        notes.append(f"The judge called this carried, but the answer is {why}: not carried.")
        inherited = False
    return StepMark(score=score, addressed=said, carried=inherited, notes=tuple(notes))


def _flag(values: Sequence[object]) -> bool | None:
    """Read what entries for one step say yes or no to; None where they don't, or don't agree."""
    words = [_FLAGS.get(v.strip().casefold()) if isinstance(v, str) else v for v in values]
    agreed = all(isinstance(word, bool) and word == words[0] for word in words)
    return words[0] is True if agreed else None


def failed(
    error: str,
    criteria_set: CriteriaSet,
    criteria: Sequence[Criterion],
    response: Response,
    judge_id: str,
    sampling: Sampling,
    repeat: int = 0,
    call_id: str | None = None,
    *,
    blind: bool = False,
) -> tuple[Checkpoint, ...]:
    """Make the checkpoints that stand for a call that brought nothing."""
    prompt = BLIND if blind else PROMPT
    return tuple(
        _checkpoint(
            criterion, response, judge_id, sampling, repeat, "failed", error, call_id, prompt
        )
        for criterion in in_order(criteria_set, criteria)
    )


def _checkpoint(
    criterion: Criterion,
    response: Response,
    judge_id: str,
    sampling: Sampling,
    repeat: int,
    state: State,
    detail: str,
    call_id: str | None,
    prompt: str,
) -> Checkpoint:
    return Checkpoint(
        key=Checkpoint.make_key(criterion.id, response.id, judge_id, prompt, sampling, repeat),
        criterion_id=criterion.id,
        response_id=response.id,
        judge_id=judge_id,
        prompt=prompt,
        sampling=sampling,
        repeat=repeat,
        state=state,
        detail=detail,
        call_id=call_id,
    )


class ScoringStage(Stage):
    """The judge scores an answer at the criteria that are wanted."""

    name = TASK
    prompt = PROMPT
    needs = frozenset({"criteria_set", "wanted", "response"})
    repeats = True

    def named(self, setting: Setting) -> str:
        """Keep marks that were given without the pictures apart."""
        return BLIND if setting.blind else PROMPT

    def build(self, material: Material, subject: Subject, setting: Setting) -> Request:
        """Show the answer beside the criteria."""
        return build(
            subject.sample,
            material.pictures,
            _only(subject),
            subject.wanted,
            subject.answered,
            setting.sampling,
            repeat=setting.repeat,
            blind=setting.blind,
        )

    def read(
        self, reply: Reply, material: Material, subject: Subject, setting: Setting
    ) -> tuple[Record, ...]:
        """Read a mark for each criterion."""
        return parse(
            reply,
            _only(subject),
            subject.wanted,
            subject.answered,
            setting.who,
            setting.sampling,
            setting.repeat,
            blind=setting.blind,
        )

    def failed(
        self, error: str, call_id: str | None, subject: Subject, setting: Setting
    ) -> tuple[Record, ...]:
        """Return the marks that didn't come."""
        return failed(
            error,
            subject.cut,
            subject.wanted,
            subject.answered,
            setting.who,
            setting.sampling,
            setting.repeat,
            call_id,
            blind=setting.blind,
        )


def _only(subject: Subject) -> CriteriaSet:
    """Cut the set down to the criteria that are wanted, so that an unchanged one isn't scored."""
    ids = {criterion.id for criterion in subject.wanted}
    uses = tuple(use for use in subject.cut.uses if use.criterion_id in ids)
    return subject.cut.model_copy(update={"uses": uses})


STAGE: Final = ScoringStage()
