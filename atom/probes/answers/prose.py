"""Drawn outcomes → an answer in natural words.

Each score has a form of its own: the value (5), the value as a range or with its details left aside
(4), a near miss or "either A or B" (3), the step taken up without a result (2), a far miss (1).
Silence is a 2 as well, told apart as not addressed: the step isn't mentioned, or "I can't tell".
Hedges ("roughly", "I think") are a matter of the voice and of no score. A step's phrases supply the
words around the value; a voice supplies the rest, and no voice ever adds a number, an option or an
anchor of its own.

Reference: METHODS T1, D2; PROBES "How an answer is made and read back".
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from atom.probes.answers.derivation import RIGHT, write_value
from atom.probes.answers.reading import LETTERS
from atom.probes.answers.values import (
    AnswerPlan,
    PlantedMark,
    Silence,
    StatedValue,
    choose_values,
    values_in_band,
)
from atom.probes.draws import Draws
from atom.probes.program import Program, ProgramStep

P_RIGHT_IF_OK = 0.93
P_RIGHT_IF_NOT = 0.30
P_RIGHT_OPEN = 0.15
"""A wrong process still ends right this often where there are no choices to guess among."""

_VALUE_HEDGES = ("roughly", "about", "approximately", "around")
_HEAD_HEDGES = ("Most likely, ", "Probably, ", "Perhaps ", "I think ", "As far as I can tell, ")
_TAIL_HEDGES = (", I think", ", I believe", ", though I'm not entirely sure")
_VAGUE_HEADS = ("In broad terms, ", "Loosely speaking, ", "Details aside, ")
_VAGUE_TAILS = (", details aside", ", leaving out the finer points", ", in broad terms")
_PASSING = (
    "I took this up without getting to a result.",
    "I see what this asks for, but I leave it open.",
    "I only got halfway with this and leave it at that.",
)
_UNABLE = ("I can't tell.", "I can't make that out.", "I couldn't determine that.")
_OPENINGS = (
    "Let me go through it step by step.",
    "I looked at everything before answering.",
    "Here is what I see.",
    "Going through the question in order.",
)
_FILLERS = (
    "That settles this.",
    "The rest follows from there.",
    "Everything else looks ordinary.",
    "I checked this twice.",
    "This matters for what was asked.",
    "The remainder looks as expected.",
)
_LOST = (
    "I can't make out the rest.",
    "There is something that I can't make out.",
    "I couldn't make out everything that was asked.",
)
_LUCKY = (
    "Having gone over it again, I settle on the answer below.",
    "Something doesn't add up, so I go with what fits best.",
)
_PLURAL_AFTER_ONE = re.compile(r"(?<![\w.,])1(\**) ([a-z]{3,12}?)(s)(?![a-z'])")
_SINGULAR_ENDS = ("ss", "us", "is", "series", "times", "always", "towards")
_ARTICLE = re.compile(r"\b([Aa])n? (?=[\"'*]*\{value\})")


@dataclass(frozen=True, kw_only=True)
class Voice:
    """How a candidate writes."""

    wordy: bool
    """Fillers and an opening, longer phrases, working shown."""
    join: float
    """Share of neighbours joined into one sentence."""
    joiner: str
    layout: str
    """`prose`, `lines`, `bullets` or `numbered`."""
    hedge: int
    """Where in the list of hedges this voice begins."""
    unsure: float
    """Share of values that this voice hedges, right and wrong ones alike."""
    silent: float
    """Share of steps, the last one left out, that this voice says nothing on: a habit of writing,
    and no ability (`design/019-scale.md`)."""
    bold: bool = False
    """Values in bold."""


VOICES: tuple[Voice, ...] = (
    Voice(
        wordy=False, join=0.0, joiner=", and ", layout="prose", hedge=0, unsure=0.05, silent=0.05
    ),
    Voice(wordy=True, join=0.3, joiner=", and ", layout="prose", hedge=1, unsure=0.15, silent=0.02),
    Voice(
        wordy=True, join=0.1, joiner=", while ", layout="bullets", hedge=2, unsure=0.2, silent=0.03
    ),
    Voice(wordy=False, join=0.4, joiner="; ", layout="prose", hedge=3, unsure=0.1, silent=0.06),
    Voice(
        wordy=True,
        join=0.0,
        joiner=", and ",
        layout="numbered",
        hedge=0,
        unsure=0.25,
        silent=0.02,
        bold=True,
    ),
    Voice(
        wordy=False, join=0.2, joiner=", and ", layout="lines", hedge=2, unsure=0.05, silent=0.04
    ),
    Voice(wordy=True, join=0.5, joiner=", and ", layout="prose", hedge=3, unsure=0.3, silent=0.02),
    Voice(
        wordy=False,
        join=0.1,
        joiner=", while ",
        layout="bullets",
        hedge=1,
        unsure=0.1,
        silent=0.04,
        bold=True,
    ),
)


@dataclass(frozen=True, kw_only=True)
class PlantedAnswer:
    """An answer with what was planted in it."""

    text: str
    marks: Mapping[str, PlantedMark]
    """Step id → what the text is worth there."""
    right: bool
    """Whether the final answer is right."""
    process_ok: bool
    """Whether the answer step was stated right."""

    @property
    def scores(self) -> Mapping[str, int]:
        """Step id → the score that the text carries."""
        return {name: mark.score for name, mark in self.marks.items()}


def write_answer(
    program: Program,
    scores: Mapping[str, int],
    voice: Voice,
    draws: Draws,
    *,
    right: bool | None = None,
    silent: Mapping[str, Silence] | None = None,
    given: Collection[str] = (),
) -> PlantedAnswer:
    """Write an answer that carries the given scores.

    Args:
        scores: the drawn score 1..5 of each step; one that can't be written (a near miss of a step
            without one) becomes the nearest that can, see `PlantedAnswer.marks`.
        draws: where every choice of words is drawn from.
        right: whether the final answer is right; drawn when None.
        silent: steps that the answer is silent on, and how.
        given: steps stated as drawn even where an earlier slip would lead elsewhere.
    """
    choice = choose_values(program, scores, draws, silent=silent, given=given)
    order = [step for step in program.steps if choice.forms[step.id] != "unsaid"]
    if draws.uniform("shuffle") < 1 / 3:
        order = draws.shuffled(order, "order")
    sentences = [_sentence(program, step, choice, voice, draws) for step in order]
    sentences = _joined(sentences, voice, _names(program), draws)
    if not order or (len(order) < len(program.steps) and draws.uniform("lost") < 0.4):
        sentences.append(draws.pick(_LOST, "lost words"))
    if voice.wordy and voice.layout == "prose":
        sentences = _filled(sentences, draws)
    final, right, note = _final(program, choice, draws, right)
    if note and voice.wordy:
        sentences.append(note)
    text = _laid_out(sentences, voice.layout)
    if voice.wordy and text and draws.uniform("opening") < 0.6:
        gap = " " if voice.layout == "prose" else "\n"
        text = draws.pick(_OPENINGS, "opening words") + gap + text
    return PlantedAnswer(
        text=f"{text}\n\nAnswer: {final}" if text else f"Answer: {final}",
        marks=choice.marks,
        right=right,
        process_ok=choice.marks[program.answer_step].score >= RIGHT,
    )


def _sentence(
    program: Program, step: ProgramStep, choice: AnswerPlan, voice: Voice, draws: Draws
) -> str:
    form = choice.forms[step.id]
    if form in ("passing", "unable"):
        remarks = _PASSING if form == "passing" else _UNABLE
        return f"{step.question} {draws.pick(remarks, 'remark', step.id)}"
    stated = choice.stated[step.id]
    phrases = sorted(step.phrases, key=len, reverse=voice.wordy)
    place = int(draws.uniform("phrase", step.id) ** 1.5 * len(phrases))
    phrase = phrases[min(place, len(phrases) - 1)]
    if form == "vague":
        return _vague(program, step, phrase, stated, voice, draws)
    text = stated.text if stated.either is None else f"either {stated.text} or {stated.either}"
    if voice.bold and stated.either is None:
        text = f"**{text}**"
    if draws.uniform("unsure", step.id) < voice.unsure and stated.either is None:
        return _hedged(program, step, phrase, text, stated, voice, draws)
    working = _working(program, step, choice) if voice.wordy and phrase.count(" ") > 2 else ""
    if working and draws.uniform("working", step.id) < 0.5:
        text = f"{working} = {text}"
    return fill(phrase, text)


def _vague(
    program: Program,
    step: ProgramStep,
    phrase: str,
    stated: StatedValue,
    voice: Voice,
    draws: Draws,
) -> str:
    """Say a value as a range around it, or with its details left aside."""
    span = _range_around(step)
    turn = draws.uniform("vague form", step.id)
    if span and turn < 0.6 and not _article_before(phrase):
        return fill(phrase, span)
    sentence = fill(phrase, f"**{stated.text}**" if voice.bold else stated.text)
    if turn > 0.8 and sentence.endswith("."):
        return f"{sentence[:-1]}{draws.pick(_VAGUE_TAILS, 'vague tail', step.id)}."
    head = draws.pick(_VAGUE_HEADS, "vague head", step.id)
    return head + _lower_first(sentence.removeprefix("So "), _names(program))


def _range_around(step: ProgramStep) -> str:
    """Return `between A and B` with the truth in the middle; empty where there is no such range."""
    if step.kind != "num" or step.modulus or step.value is None:
        return ""
    near = {value for value in values_in_band(step, "near") if isinstance(value, float)}
    gaps = sorted({abs(value - step.value) for value in near})
    for gap in gaps[len(gaps) // 2 :]:
        low, high = (round(step.value + side * gap, 6) for side in (-1, 1))
        if low in near and high in near:
            return f"between {write_value(step, low)} and {write_value(step, high)}"
    return ""


def _hedged(
    program: Program,
    step: ProgramStep,
    phrase: str,
    text: str,
    stated: StatedValue,
    voice: Voice,
    draws: Draws,
) -> str:
    turn = draws.uniform("hedge form", step.id)
    number = step.kind in ("num", "time") and stated.value != 0.0
    if number and turn < 0.5 and not _article_before(phrase):
        word = _VALUE_HEDGES[(voice.hedge + draws.integer(2, "hedge", step.id)) % 4]
        head = phrase.startswith("{value}")
        return fill(phrase, f"{word.capitalize() if head else word} {text}")
    sentence = fill(phrase, text)
    if turn > 0.8 and sentence.endswith("."):
        tail = draws.pick(_TAIL_HEDGES, "tail", step.id)
        return f"{sentence[:-1]}{tail}."
    word = _HEAD_HEDGES[(voice.hedge + draws.integer(3, "head", step.id)) % len(_HEAD_HEDGES)]
    return word + _lower_first(sentence.removeprefix("So "), _names(program))


def _article_before(phrase: str) -> bool:
    return (
        re.search(r"\b(?:an?|the|at|exactly|is at|past|to|row|column)\s[\"'$]?\{value\}", phrase)
        is not None
    )


def _working(program: Program, step: ProgramStep, choice: AnswerPlan) -> str:
    """Return e.g. `49 - 7` where the step's value follows from what the answer states."""
    if step.id not in choice.coherent or step.derive not in ("difference", "sum", "product"):
        return ""
    if not re.fullmatch(r"[\d.,]+", step.truth):
        return ""
    parts = [choice.stated[name].text for name in step.depends_on if name in choice.stated]
    values = [choice.stated[name].value for name in step.depends_on if name in choice.stated]
    if len(parts) < 2 or not all(re.fullmatch(r"[\d.,]+", part) for part in parts):
        return ""
    numbers = [v for v in values if isinstance(v, float)]
    if any(choice.stated[name].either for name in step.depends_on):
        return ""
    if step.derive == "difference" and len(numbers) == 2 and numbers[0] < numbers[1]:
        parts.reverse()
    sign = {"difference": " - ", "sum": " + ", "product": " x "}[step.derive]
    return sign.join(parts)


def grammar(sentence: str) -> str:
    """Mend a filled-in sentence: capital at the start, "1 sphere" in the singular."""
    sentence = _PLURAL_AFTER_ONE.sub(_singular, sentence)
    for at, char in enumerate(sentence):
        if char.isalnum():
            return sentence[:at] + char.upper() + sentence[at + 1 :]
        if char not in "*\"'(":
            break
    return sentence


def _singular(hit: re.Match[str]) -> str:
    word = hit.group(2) + hit.group(3)
    kept = word if word.endswith(_SINGULAR_ENDS) else hit.group(2)
    return f"1{hit.group(1)} {kept}"


def fill(phrase: str, text: str) -> str:
    """Put a value into a phrase's slot, with the right article before it."""
    first = re.match(r"[*\"']*(?:8|1[18](?!\d)|[aeioAEIO]|u(?!n?i))", text)
    filled = _ARTICLE.sub(r"\1n " if first else r"\1 ", phrase)
    return grammar(filled.replace("{value}", text))


def _names(program: Program) -> frozenset[str]:
    """Return the words that keep their capital inside a sentence."""
    words: set[str] = set()
    for step in program.steps:
        for text in (step.truth, *step.options, *step.anchors_all, *step.anchors_any):
            words.update(word for word in re.findall(r"[A-Za-z]+", text) if word[0].isupper())
    return frozenset(words)


def _lower_first(sentence: str, names: frozenset[str]) -> str:
    first = re.match(r"[A-Za-z]+", sentence)
    if first is None or first.group() in names or first.group() == "I":
        return sentence
    return sentence[0].lower() + sentence[1:]


def _joined(sentences: list[str], voice: Voice, names: frozenset[str], draws: Draws) -> list[str]:
    joined: list[str] = []
    merged = False
    for at, sentence in enumerate(sentences):
        both = f"{joined[-1]} {sentence}" if joined else ""
        fits = bool(joined) and not merged and joined[-1].endswith(".")
        plain = "\n" not in both and "? " not in both
        plain = plain and not sentence.startswith((*_HEAD_HEDGES, *_VAGUE_HEADS))
        if fits and plain and draws.uniform("join", at) < voice.join:
            joined[-1] = joined[-1][:-1] + voice.joiner + _lower_first(sentence, names)
            merged = True
        else:
            joined.append(sentence)
            merged = False
    return joined


def _filled(sentences: list[str], draws: Draws) -> list[str]:
    filled: list[str] = []
    for at, sentence in enumerate(sentences):
        filled.append(sentence)
        if draws.uniform("filler", at) < 0.15:
            filled.append(draws.pick(_FILLERS, "filler words", at))
    return filled


def _laid_out(sentences: list[str], layout: str) -> str:
    if layout == "bullets":
        return "\n".join(f"- {s}" for s in sentences)
    if layout == "numbered":
        return "\n".join(f"{n}. {s}" for n, s in enumerate(sentences, start=1))
    return ("\n" if layout == "lines" else " ").join(sentences)


def _final(
    program: Program, choice: AnswerPlan, draws: Draws, known: bool | None
) -> tuple[str, bool, str]:
    """Return the final answer as typed, whether it is right, and a sentence to explain a jump."""
    score = choice.scores[program.answer_step]
    stated = choice.stated.get(program.answer_step)
    open_question = not program.choices
    lucky = P_RIGHT_OPEN if open_question else P_RIGHT_IF_NOT
    drawn = draws.uniform("final") < (P_RIGHT_IF_OK if score >= RIGHT else lucky)
    right = drawn if known is None else known
    note = draws.pick(_LUCKY, "lucky") if right and score < RIGHT and stated is not None else ""
    if program.answer not in program.choices and not open_question:
        open_question = True
    if open_question:
        return _open_final(program, stated, right, draws), right, note
    answer_at = program.choices.index(program.answer)
    if right:
        return LETTERS[answer_at], True, note
    wrong = [at for at in range(len(program.choices)) if at != answer_at]
    if not wrong:
        return LETTERS[answer_at], True, note
    if stated is not None:
        said = {stated.text.casefold(), (stated.either or "").casefold()}
        told = [at for at in wrong if program.choices[at].casefold() in said]
        if told:
            return LETTERS[told[0]], False, note
    return LETTERS[draws.pick(wrong, "letter")], False, note


def _open_final(program: Program, stated: StatedValue | None, right: bool, draws: Draws) -> str:
    if right:
        return program.answer
    step = program.step(program.answer_step)
    if stated is not None:
        true = (None, step.truth, program.answer)
        texts = [text for text in (stated.text, stated.either) if text and text not in true]
        if texts:
            return texts[0]
    others = values_in_band(step, "far") or values_in_band(step, "near")
    return write_value(step, draws.pick(others, "slip")) if others else "not sure"
