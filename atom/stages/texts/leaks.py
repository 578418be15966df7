"""Leak gates: whether a text that should only guide gives a result away.

A text leaks when it adds a word or number of a ground truth or of the final answer that the
question and its options don't hold already, or when it singles out one of the options, or one of
the alternatives or numbers among which the question lets choose. Spelling is no way around it:
number words, other scripts' digits, roman numerals, spelled-out letters and invisible signs are
read as what they mean. Other *words* for a result, a ball for a sphere, pass: that's what the
behavioural gate is for (`blind`).

Reference: ATOM 3.5 (ground truth is masked); METHODS B16.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from atom.records import Criterion, Sample
from atom.stages.texts.options import reference_option
from atom.stages.texts.singled import (
    alternatives_of,
    find_alternatives,
    find_echo,
    find_letters,
    find_option,
)
from atom.stages.texts.told import (
    KnownContent,
    Leak,
    find_new_numbers,
    find_told,
    shown,
    without_labels,
    words_beside_numbers,
    yes_or_no,
)
from atom.stages.texts.wording import Wording, read_wording

_POLAR: Final = re.compile(
    r"\s*(?:and |so |now |then )?(?:is|are|was|were|does|do|did|has|have|had|can|could|will|would"
    r"|should|must|isn't|aren't|wasn't|weren't|doesn't|don't|didn't|hasn't|can't|won't)\b",
    re.I,
)
_TAG: Final = re.compile(
    r",\s*(?:right|correct|true|yes|no"
    r"|(?:is|are|was|were|do|does|did|has|have|can|will)(?:n't)?\s+(?:it|they|there|he|she|this|that))"
    r"\s*\?\s*$"
    r"|^\s*(?:isn't|aren't|wasn't|weren't|doesn't|don't|didn't|hasn't|can't|won't)\b"
    r"|^\s*is it (?:not|true|correct)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class _Secret:
    """A result that must not be said, and the text in which it may be looked for by its seeker."""

    truth: str
    question: str


def find(
    text: str,
    *,
    sample: Sample,
    truths: Sequence[str | Criterion] = (),
    final: str | None = None,
    question: str = "",
    near: bool = True,
    apart: bool = False,
) -> tuple[Leak, ...]:
    """Find what a text gives away.

    Args:
        text: the hint or feedback.
        sample: the question; what it and its options hold is known already.
        truths: what must not be said. A criterion brings its own question, whose words tell nothing
            new about its truth; a plain text is taken with `question`.
        final: the known final answer; None takes the sample's reference.
        question: the question that the text is about.
        near: whether to be strict, as with a hint: where a truth is a number, every new number
            counts, as it may be a rounded one; and a result of `question` or the final answer that
            the questions name in another role must not be said apart from that role.
        apart: whether that last rule holds for every truth.

    Returns:
        The leaks, none twice, in no more than one of each kind for each truth; empty = clean.
    """
    answer = sample.reference if final is None else final
    secrets = [
        _Secret(truth.ground_truth, truth.question)
        if isinstance(truth, Criterion)
        else _Secret(truth, question)
        for truth in truths
    ]
    if answer is not None and answer.strip():
        secrets.append(_Secret(_final_text(sample, answer), ""))
    said = without_labels(read_wording(text), sample)
    given = (sample.question, *sample.choices)
    leaks: list[Leak] = []
    for secret in secrets:
        known = KnownContent.of((*given, secret.question, question))
        told = find_told(said, secret.truth, known)
        leaks += told
        leaks += find_alternatives(said, secret.truth, (sample.question, question))
        if not told and (apart or (near and secret.question in ("", question))):
            leaks += find_echo(said, secret.truth, sample, question)
    if near and any(read_wording(secret.truth).values for secret in secrets):
        known = KnownContent.of((*given, question, *(secret.question for secret in secrets)))
        leaks += find_new_numbers(said, known, [secret.truth for secret in secrets])
    if sample.choices:
        leaks += find_option(said, sample, question, named_is_known=not near)
        leaks += find_letters(said, sample)
    return tuple(dict.fromkeys(leaks))


def gives_away(criterion: Criterion, sample: Sample | None = None) -> str:
    """Tell whether a criterion's own question holds its answer.

    Args:
        sample: its sample; what its question and options hold is no news.

    Returns:
        The reason; empty when the question keeps its answer to itself. A question that lets choose
        among alternatives may name the answer among them. One that is answered by yes gives it
        away by asking: it says what is the case.
    """
    question, truth = criterion.question, criterion.ground_truth
    sides = yes_or_no(truth)
    polar = _POLAR.match(question.replace("’", "'")) is not None
    if sides == "yes" and (polar or _TAG.search(question.replace("’", "'"))):
        return "the question says what is the case and is answered by yes"
    if sides == "no" and _TAG.search(question.replace("’", "'")):
        return "the question suggests its answer"
    if sides is not None or alternatives_of(truth, (question,)):
        return ""
    asked, true = read_wording(question), read_wording(truth)
    words = [token for token in true.tokens if token.content]
    stems = set(asked.stems)
    if words and all(token.stem in stems or token.numeral for token in words):
        numbers = [number for number in true.numbers if number.values & asked.values]
        if len(numbers) == len(true.numbers) and (polar or _new_to(true, sample)):
            return f"the question holds its answer, {shown(truth)!r}"
    if true.numbers and not words_beside_numbers(true) and true.values & asked.values:
        known = read_wording(" ; ".join((sample.question, *sample.choices)) if sample else "")
        if (true.values & asked.values) - known.values:
            return f"the question holds its answer, {shown(truth)!r}"
    return ""


def _new_to(true: Wording, sample: Sample | None) -> bool:
    """Whether a truth says something that its sample doesn't."""
    if sample is None:
        return True
    known = KnownContent.of((sample.question, *sample.choices))
    return any(t.content and t.stem not in known.stems for t in true.tokens) or bool(
        true.values - known.values
    )


def _final_text(sample: Sample, answer: str) -> str:
    """Return a final answer as text: an option's letter alone says nothing."""
    if sample.choices:
        index = reference_option(answer, sample.choices)
        if index is not None:
            return sample.choices[index]
    return answer


# --- words and numbers of a truth ----------------------------------------------------------------


# --- one of several ------------------------------------------------------------------------------
