"""Live replay: the criteria as they are edited, the answers to choose from, what streams in."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from atom.records import (
    Candidate,
    Checkpoint,
    Outcome,
    Response,
    Sample,
    Sampling,
    Study,
    content_id,
)
from atom.stages import outcome as outcome_stage
from atom.store import Store
from atom.store.standing.answers import answers_to
from atom.store.standing.members import of_study
from atom.store.standing.outcomes import outcomes_of
from atom.views.replay.drafts import MOST_CHOICES, TYPED, DraftCriterion, Drafts, criterion_id
from atom.views.study_data import StudyData

LONGEST = 2000
"""Letters of a question or a truth that are kept."""


# --- samples and answers -------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class SampleChoice:
    """A sample that can be picked."""

    sample_id: str
    label: str


def sample_choices(store: Store, data: StudyData, *, most: int = 1000) -> tuple[SampleChoice, ...]:
    """List a study's samples in its order.

    Args:
        most: no more than this many.
    """
    ids = data.table.sample_ids[:most]
    samples = {sample.id: sample for sample in store.get_many(Sample, ids)}
    return tuple(
        SampleChoice(
            sample_id=sample_id,
            label=f"{number}. {' '.join(samples[sample_id].question.split())[:140]}",
        )
        for number, sample_id in enumerate(ids, start=1)
        if sample_id in samples
    )


@dataclass(frozen=True, kw_only=True)
class BenchAnswer:
    """An answer on the bench.

    Attributes:
        candidate: who gave it.
        place: the candidate's place in the study, for its colour; -1 outside.
        outcome: whether its final answer is right, where that is known.
    """

    response: Response
    candidate: Candidate
    place: int = -1
    outcome: Outcome | None = None


def stored_answers(store: Store, data: StudyData, sample_id: str) -> tuple[BenchAnswer, ...]:
    """Return the study's own answers to a sample, one a candidate, in its order."""
    kept = [one for one in answers_to(store, data.study, sample_id) if one.state == "scored"]
    verdicts = outcomes_of(
        store, [one.id for one in kept], data.judge.id if data.judge else data.study.judge_id
    )
    found: dict[int, BenchAnswer] = {}
    for response in sorted(kept, key=lambda r: (r.repeat, r.id)):
        place = data.model_index(response.candidate_id)
        if place is not None and place not in found:
            found[place] = BenchAnswer(
                response=response,
                candidate=data.candidates[place],
                place=place,
                outcome=next(iter(verdicts.get(response.id, ())), None),
            )
    return tuple(found[place] for place in sorted(found))


def counts_in(response: Response, study: Study) -> bool:
    """Whether an answer counts in a study: it was asked for under the study's settings."""
    return of_study(response, study)


def typed_answer(sample: Sample, text: str, writer: str, sampling: Sampling) -> BenchAnswer:
    """Make an answer of what a person typed or pasted.

    Args:
        writer: who is said to have written it; empty = typed by hand.
    """
    name = " ".join(writer.split())[:80] or "typed by hand"
    candidate = Candidate(id=content_id("candidate", "typed", name), name=name)
    text = text.strip()
    response = Response(
        id=content_id("response", sample.id, candidate.id, TYPED, text),
        sample_id=sample.id,
        candidate_id=candidate.id,
        prompt=TYPED,
        sampling=sampling,
        text=text,
    )
    return BenchAnswer(
        response=response,
        candidate=candidate,
        outcome=outcome_stage.check(sample, response) if sample.reference is not None else None,
    )


# --- scores --------------------------------------------------------------------------------------

Points = Mapping[tuple[str, str], Checkpoint]
"""Checkpoints by (criterion id, response id)."""


@dataclass(frozen=True, kw_only=True)
class ScoreLine:
    """One criterion scored on the chosen answer."""

    number: int
    draft: DraftCriterion
    criterion_id: str
    point: Checkpoint | None


@dataclass(frozen=True, kw_only=True)
class Scorecard:
    """The chosen answer's scores.

    Attributes:
        lines: one a criterion, in the editor's order.
        mean: weighted mean of the scored ones, 1 to 5; None without any.
        missing: ids of criteria that have no score yet, or whose call failed.
    """

    lines: tuple[ScoreLine, ...]
    mean: float | None = None
    missing: tuple[str, ...] = ()
    scored: int = 0
    unscored: int = 0
    failed: int = 0


def scorecard(sample: Sample, drafts: Drafts, response: Response, points: Points) -> Scorecard:
    """Put the chosen answer's scores beside the criteria as they are now."""
    lines = tuple(
        ScoreLine(
            number=number,
            draft=draft,
            criterion_id=(identity := criterion_id(sample, draft)),
            point=points.get((identity, response.id)),
        )
        for number, draft in enumerate(drafts, start=1)
    )
    known = [
        (line.draft.weight, line.point.score)
        for line in lines
        if line.point is not None and line.point.score is not None
    ]
    weights = sum(weight for weight, _ in known)
    states = [line.point.state if line.point else "" for line in lines]
    return Scorecard(
        lines=lines,
        mean=sum(weight * score for weight, score in known) / weights if weights else None,
        missing=tuple(
            line.criterion_id
            for line, state in zip(lines, states, strict=True)
            if state in ("", "failed")
        ),
        scored=states.count("scored"),
        unscored=states.count("unscored"),
        failed=states.count("failed"),
    )


# --- what streams in -----------------------------------------------------------------------------

_SHOWN_FIELD = {"replay": "text", "criteria": "question", "mapping": "leaf", "scoring": "reason"}
_MOST_PIECES = 30


def arriving(stage: str, text: str) -> tuple[str, ...]:
    """Read what can be shown of a reply that is still coming in.

    Args:
        stage: what was asked.
        text: the reply's beginning; JSON for every stage but an answer.

    Returns:
        The values of the field that people read, the last one perhaps unfinished; the text itself
        for an answer or a reply in another form.
    """
    name = _SHOWN_FIELD.get(stage)
    if name is None or "{" not in text:
        return (text,) if text.strip() else ()
    pattern = rf'"{name}"\s*:\s*"((?:[^"\\]|\\.)*)'
    return tuple(
        _unescaped(match.group(1))
        for match in itertools.islice(re.finditer(pattern, text), _MOST_PIECES)
    )


def _unescaped(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        return text


# --- a question of one's own ---------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class OwnPicture:
    """A picture that the reader brings."""

    name: str
    data: bytes = field(repr=False)
    media_type: str
    width: int
    height: int


@dataclass(frozen=True, kw_only=True)
class OwnQuestion:
    """A question that the reader brings.

    Attributes:
        pictures: in order.
        choices: answer options, one a line.
        reference: the right answer, where it's known.
    """

    pictures: tuple[OwnPicture, ...] = ()
    question: str = ""
    choices: str = ""
    reference: str = ""

    @property
    def options(self) -> tuple[str, ...]:
        """The answer options."""
        return tuple(line.strip() for line in self.choices.splitlines() if line.strip())

    @property
    def right(self) -> str | None:
        """The right answer: the choice's text, also where its letter was given."""
        given = self.reference.strip()
        letters = {chr(65 + n): option for n, option in enumerate(self.options[:MOST_CHOICES])}
        return letters.get(given.upper().rstrip(").")) or given or None

    @property
    def problem(self) -> str:
        """What is still missing or wrong, in words; empty when it can be asked."""
        options = self.options
        if not self.question.strip():
            return "Write the question."
        if len(options) == 1:
            return "One choice alone is no choice: give two or more, or none."
        if len(set(options)) < len(options):
            return "Two choices are the same: make them differ."
        if len(options) > MOST_CHOICES:
            return f"{len(options):,} choices: at most {MOST_CHOICES} can be lettered."
        if options and self.right is not None and self.right not in options:
            return (
                f"The right answer {self.reference.strip()[:60]!r} isn't among the choices: give "
                "one of them, or its letter."
            )
        return ""
