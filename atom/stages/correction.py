"""Self-correction: a model is asked again, with the feedback of an arm.

What it is sent is a conversation: the question as it was asked, its own first answer as its own
turn, word for word, and the feedback. All arms but one hide every ground truth; the leak gates read
what is about to be sent, drop what would give something away, and refuse the rest.

Reference: ATOM 3.5, 4.3 (criterion-guided and peer-assisted feedback); METHODS A2, A11, B14, B16.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from atom.errors import DataError
from atom.judge.reply import Reply
from atom.judge.request import PicturePart, Request, Turn
from atom.judge.templates import JsonValue, load_template, render
from atom.records import (
    Arm,
    Criterion,
    HintUse,
    Response,
    Sample,
    Sampling,
    content_id,
)
from atom.stages import answer
from atom.stages.asking import make_request
from atom.stages.reading import one_line
from atom.stages.texts import leaks, told

TASK: Final = "retry"
PROMPT: Final = "retry/2"
ASKING: Final = frozenset[Arm](("sham", "guided", "peer", "guided_peer", "oracle"))
"""Arms whose feedback is about criteria."""
HINTED: Final = frozenset[Arm](("peer", "guided_peer"))
"""Arms that need peers' hints."""


_FORMS: Final[Mapping[Arm, str | None]] = {
    "told": None,
    "sham": "questions",
    "guided": "questions",
    "peer": "hints",
    "guided_peer": "questions_hints",
    "oracle": "truths",
}
AnswerFault = Literal["wrong", "flawed", "open"]
"""What is known of the answer that is tried again: its final answer is wrong; it isn't, or nobody
knows, but a step failed; or neither, so that nothing may be held against it."""
_NOTHING_TO_ASK: Final = "There is nothing to ask about: no criterion is left for this feedback."
_NO_HINT: Final = "There is no hint to give: no peer's hint is left for this feedback."


@dataclass(frozen=True, kw_only=True, slots=True)
class TrialRequest:
    """What a trial sends, or why it sends nothing.

    Args:
        request: the request; None when nothing may be sent.
        feedback: the exact text of the feedback; empty for a fresh answer.
        criterion_ids: the criteria that the feedback is about after the gates, in order.
        hints: the hints that went in, in order.
        gates: what the leak gates found and did, a line each.
        leaked: whether the assembled feedback still gave something away.
        problem: why there is no request; empty when there is one.
    """

    request: Request | None
    feedback: str = ""
    criterion_ids: tuple[str, ...] = ()
    hints: tuple[HintUse, ...] = ()
    gates: tuple[str, ...] = ()
    leaked: bool = False
    problem: str = ""


def build(
    sample: Sample,
    pictures: Sequence[PicturePart],
    first: Response,
    arm: Arm,
    sampling: Sampling,
    *,
    criteria: Sequence[Criterion] = (),
    hints: Sequence[HintUse] = (),
    known: AnswerFault = "wrong",
    final: str | None = None,
    others: Sequence[Criterion] = (),
    repeat: int = 0,
) -> TrialRequest:
    """Build what a model is sent in an arm.

    Args:
        pictures: the sample's pictures, in order.
        first: the answer that is tried again.
        arm: what the model hears, see `Arm`.
        criteria: the selected criteria, in order. `sham`, `guided` and `guided_peer` show their
            questions, `oracle` their ground truths; `peer` shows neither, but needs to know what
            must not be said.
        hints: one for each criterion at most; those on other criteria are left out.
        known: what the feedback may say of the answer: it never calls a right one wrong.
        final: the known final answer where the sample has no reference.
        others: further criteria of the sample whose results must not be said either.
        repeat: 0-based index among equal requests.

    Returns:
        The request with its feedback and what the gates did. A criterion whose question gives a
        result away is dropped, and so is a hint; when nothing is left, or the assembled feedback
        still leaks, there is no request.

    Raises:
        DataError: the arm asks the model nothing (`rejudge`), or `first` holds no answer.
    """
    if arm == "rejudge" or first.state != "scored":
        raise DataError(
            f"arm {arm!r} on response {first.id!r} ({first.state}): only an answer can be tried "
            "again, and `rejudge` asks the judge, not the model"
        )
    if arm == "fresh":
        request = answer.build(sample, pictures, sampling, repeat=_repeat(first, arm, repeat))
        return TrialRequest(request=request)
    reference = sample.reference if sample.reference is not None else final
    telling = {c.id: why for c in criteria if (why := leaks.gives_away(c, sample))}
    gate = _Gate(
        sample=sample,
        secrets=tuple(c.ground_truth if c.id in telling else c for c in (*criteria, *others)),
        final=reference,
        telling=telling,
    )
    kept, used, shown = tuple(criteria), _used(arm, criteria, hints), tuple(criteria)
    if arm in ASKING and arm != "oracle":
        shown = gate.open_questions(criteria)
        used = gate.clean_hints(used, shown)
        hinted = {use.criterion_id for use in used}
        kept = tuple(c for c in criteria if c.id in hinted) if arm == "peer" else shown
    gates = list(gate.log)
    problem = _missing(arm, kept, used)
    if problem:
        return TrialRequest(request=None, gates=tuple(gates), problem=problem)
    feedback = _feedback(arm, sample, kept if arm in ASKING else (), used, reference, known)
    found = () if arm == "oracle" else gate.last_look(variable_part(arm, feedback), shown, used)
    if found:
        said = ", ".join(map(str, found))
        gates.append(f"the feedback was held back: it gives away {said}")
        return TrialRequest(
            request=None, feedback=feedback, gates=tuple(gates), leaked=True, problem=gates[-1]
        )
    return TrialRequest(
        request=_request(sample, pictures, first, sampling, feedback, repeat),
        feedback=feedback,
        criterion_ids=tuple(criterion.id for criterion in kept) if arm in ASKING else (),
        hints=used,
        gates=tuple(gates),
    )


def _used(arm: Arm, criteria: Sequence[Criterion], hints: Sequence[HintUse]) -> tuple[HintUse, ...]:
    """Return the first hint on each criterion, in the criteria's order."""
    if arm not in HINTED:
        return ()
    by_criterion: dict[str, HintUse] = {}
    for use in hints:
        if one_line(use.text):
            by_criterion.setdefault(use.criterion_id, use)
    return tuple(by_criterion[c.id] for c in criteria if c.id in by_criterion)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Gate:
    """What must not be said about a sample, and what was done so that it isn't.

    Args:
        secrets: criteria whose ground truths are masked; the truth alone where its question must
            not be shown either, so that its words count as news.
        final: the known final answer.
        telling: criterion → why its own question gives its answer away.
        log: what was found and done, a line each.
    """

    sample: Sample
    secrets: tuple[str | Criterion, ...]
    final: str | None
    telling: Mapping[str, str]
    log: list[str] = field(default_factory=list)

    def look(
        self,
        text: str,
        shown: Sequence[Criterion] = (),
        *,
        near: bool = False,
        apart: bool = False,
    ) -> tuple[told.Leak, ...]:
        """Find what a text gives away to somebody who is shown these criteria's questions."""
        return leaks.find(
            text,
            sample=self.sample,
            truths=self.secrets,
            final=self.final,
            question=" ".join(criterion.question for criterion in shown),
            near=near,
            apart=apart,
        )

    def last_look(
        self, text: str, shown: Sequence[Criterion], hints: Sequence[HintUse]
    ) -> tuple[told.Leak, ...]:
        """Find what the assembled feedback gives away, whatever put it there.

        Besides the questions and hints that were let through, nothing may name a result at all.
        """
        hinted = {_line(use.text) for use in hints}
        rest = "\n".join(line for line in text.splitlines() if line not in hinted)
        found = (*self.look(text, shown), *self.look(rest, shown, apart=True))
        return tuple(dict.fromkeys(found))

    def open_questions(self, criteria: Sequence[Criterion]) -> tuple[Criterion, ...]:
        """Leave out criteria whose question gives away its own result, another's, or the final."""
        kept = []
        for criterion in criteria:
            found = ", ".join(map(str, self.look(criterion.question)))
            reason = self.telling.get(criterion.id) or (found and f"it gives away {found}")
            if reason:
                self.log.append(f"criterion {criterion.id[:8]} was dropped: {reason}")
            else:
                kept.append(criterion)
        return tuple(kept)

    def clean_hints(
        self, hints: Sequence[HintUse], shown: Sequence[Criterion]
    ) -> tuple[HintUse, ...]:
        """Leave out hints that give something away, and those on criteria that were dropped.

        The words of an open question are no leak: the one who gets the hint may know them.
        """
        by_id = {criterion.id: criterion for criterion in shown}
        kept = []
        for use in hints:
            about = by_id.get(use.criterion_id)
            if about is None:
                continue
            found = ", ".join(map(str, self.look(use.text, (about,), near=True)))
            if found:
                name = use.criterion_id[:8]
                self.log.append(f"the hint on criterion {name} was dropped: it gives away {found}")
            else:
                kept.append(use)
        return tuple(kept)


def _missing(arm: Arm, kept: Sequence[Criterion], used: Sequence[HintUse]) -> str:
    """Tell why an arm has nothing to say."""
    if arm in ASKING and not kept:
        return _NO_HINT if arm == "peer" else _NOTHING_TO_ASK
    if arm in HINTED and not used:
        return _NO_HINT
    return ""


def _feedback(
    arm: Arm,
    sample: Sample,
    criteria: Sequence[Criterion],
    hints: Sequence[HintUse],
    reference: str | None,
    known: AnswerFault,
) -> str:
    """Assemble the text of the feedback."""
    template = load_template(PROMPT)
    values: dict[str, JsonValue] = {
        "opening": template.sections[f"user_opening_{known}"],
        "questions": _lines([criterion.question for criterion in criteria]),
        "hints": _lines([use.text for use in hints]),
        "truths": "",
        "reference": "",
        "finish": "",
    }
    form = _FORMS[arm]
    if arm == "oracle":
        values["truths"] = _lines([f"{c.question} {c.ground_truth}" for c in criteria])
        if reference is not None and reference.strip():
            form, values["reference"] = "truths_reference", one_line(reference)
    finish = "finish_choices" if sample.choices else "finish"
    values["finish"] = render(template, values, form=finish).user
    return render(template, values, form=form).user


def _lines(texts: Sequence[str]) -> str:
    """Write texts as a list, each on one line, so that none can imitate another part."""
    return "\n".join(_line(text) for text in texts)


def _line(text: str) -> str:
    return f"- {one_line(text)}"


def variable_part(arm: Arm, feedback: str) -> str:
    """Return the lines of a feedback that its template doesn't hold word for word.

    The template says the same to everybody, so it gives nothing away.
    """
    form = _FORMS[arm]
    sections = load_template(PROMPT).sections
    fixed = {
        line
        for name in (
            "user" if form is None else f"user_{form}",
            "user_finish",
            "user_finish_choices",
            *(f"user_opening_{known}" for known in get_args(AnswerFault)),
        )
        for line in sections[name].splitlines()
        if "{{" not in line
    }
    return "\n".join(line for line in feedback.splitlines() if line not in fixed)


def _request(
    sample: Sample,
    pictures: Sequence[PicturePart],
    first: Response,
    sampling: Sampling,
    feedback: str,
    repeat: int,
) -> Request:
    """Make the conversation: the question as it was asked, the answer, the feedback."""
    asked = answer.build(sample, pictures, sampling)
    made = make_request(
        PROMPT,
        dict.fromkeys(("opening", "questions", "hints", "truths", "reference", "finish"), ""),
        pictures=(),
        sampling=sampling,
        repeat=repeat,
    )
    return Request(
        task=made.task,
        prompt_id=made.prompt_id,
        system=made.system,
        parts=asked.parts,
        sampling=made.sampling,
        repeat=repeat,
        turns=(
            Turn(role="assistant", text=first.text),
            Turn(role="user", text=feedback),
        ),
    )


# --- what comes back -----------------------------------------------------------------------------


def parse(
    reply: Reply,
    sample: Sample,
    first: Response,
    arm: Arm,
    feedback: str,
    sampling: Sampling,
    repeat: int = 0,
) -> Response:
    """Make the response of a reply.

    Args:
        first: the answer that was tried again.
        arm: as in `build`.
        feedback: the text that was sent, `TrialRequest.feedback`.
        repeat: as in `build`.

    Returns:
        The response, as for any answer, named by its parent, arm and feedback as well.
    """
    said = answer.parse(reply, sample, first.candidate_id, sampling, _repeat(first, arm, repeat))
    return _named(said, sample, first, arm, feedback, sampling, repeat)


def failed(
    error: str,
    sample: Sample,
    first: Response,
    arm: Arm,
    feedback: str,
    sampling: Sampling,
    repeat: int = 0,
    call_id: str | None = None,
) -> Response:
    """Make the response that stands for a call that brought nothing."""
    nothing = answer.failed(
        error, sample, first.candidate_id, sampling, _repeat(first, arm, repeat), call_id
    )
    return _named(nothing, sample, first, arm, feedback, sampling, repeat)


def _named(
    response: Response,
    sample: Sample,
    first: Response,
    arm: Arm,
    feedback: str,
    sampling: Sampling,
    repeat: int,
) -> Response:
    return response.model_copy(
        update={
            "id": response_id(sample, first, arm, feedback, sampling, repeat),
            "prompt": _prompt(arm),
            "parent_id": first.id,
            "arm": arm,
        }
    )


def response_id(
    sample: Sample,
    first: Response,
    arm: Arm,
    feedback: str,
    sampling: Sampling,
    repeat: int = 0,
) -> str:
    """Name the response of a trial before it's asked for."""
    return Response.make_id(
        sample.id,
        first.candidate_id,
        _prompt(arm),
        sampling,
        _repeat(first, arm, repeat),
        parent_id=first.id,
        arm=arm,
        feedback=feedback_id(feedback),
    )


def feedback_id(feedback: str) -> str | None:
    """Name a feedback by its text; None when there is none."""
    return content_id("feedback", feedback) if feedback else None


def _prompt(arm: Arm) -> str:
    return answer.PROMPT if arm == "fresh" else PROMPT


def _repeat(first: Response, arm: Arm, repeat: int) -> int:
    """Return the repeat of a trial's answer: a fresh one is a later repeat of the same question."""
    return first.repeat + 1 + repeat if arm == "fresh" else repeat


# --- choices -------------------------------------------------------------------------------------
