"""Drawn outcomes → an answer in natural words.

Five forms, one a score: the value (5), the value hedged (4), a near miss (3), a far miss (2), not
mentioned or not made out (1). A step's phrases supply the words around the value; a voice supplies
the rest, and no voice ever adds a number, an option or an anchor of its own.

Reference: METHODS D2; PROBES "How an answer is made and read back".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from atom.probes.draws import Draws
from atom.probes.program import Program, Step
from atom.probes.values import Choice, Stated, choose_values, values_in_band, write_value

P_RIGHT_IF_OK = 0.93
P_RIGHT_IF_NOT = 0.30
P_RIGHT_OPEN = 0.15
"""A wrong process still ends right this often where there are no choices to guess among."""

LETTERS = "ABCDEFGH"

_VALUE_HEDGES = ("roughly", "about", "approximately", "around")
_HEAD_HEDGES = ("Most likely, ", "Probably, ", "Perhaps ", "I think ", "As far as I can tell, ")
_TAIL_HEDGES = (", I think", ", I believe", ", though I'm not entirely sure")
_OPENINGS = (
    "Let me go through it step by step.",
    "I looked at everything before answering.",
    "Here is what I see.",
    "Going through the question in order.",
)
_FILLERS = (
    "That settles this part.",
    "The rest follows from there.",
    "Everything else looks ordinary.",
    "I checked this twice.",
    "This matters for what was asked.",
    "The remainder looks as expected.",
)
_LOST = (
    "I can't make out the rest.",
    "There is a part that I can't make out.",
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
    bold: bool = False
    """Values in bold."""


VOICES: tuple[Voice, ...] = (
    Voice(wordy=False, join=0.0, joiner=", and ", layout="prose", hedge=0),
    Voice(wordy=True, join=0.3, joiner=", and ", layout="prose", hedge=1),
    Voice(wordy=True, join=0.1, joiner=", while ", layout="bullets", hedge=2),
    Voice(wordy=False, join=0.4, joiner="; ", layout="prose", hedge=3),
    Voice(wordy=True, join=0.0, joiner=", and ", layout="numbered", hedge=0, bold=True),
    Voice(wordy=False, join=0.2, joiner=", and ", layout="lines", hedge=2),
    Voice(wordy=True, join=0.5, joiner=", and ", layout="prose", hedge=3),
    Voice(wordy=False, join=0.1, joiner=", while ", layout="bullets", hedge=1, bold=True),
)


@dataclass(frozen=True, kw_only=True)
class Written:
    """An answer with what was planted in it."""

    text: str
    scores: Mapping[str, int]
    """Step id → the score that the text carries."""
    right: bool
    """Whether the final answer is right."""
    process_ok: bool
    """Whether the answer step was stated right."""


def write_answer(
    program: Program,
    scores: Mapping[str, int],
    voice: Voice,
    draws: Draws,
    *,
    right: bool | None = None,
) -> Written:
    """Write an answer that carries the given scores.

    Args:
        program: the program that is being answered.
        scores: the drawn score 1..5 of each step; one that can't be written (a near miss of a step
            without one) becomes the nearest that can, see `Written.scores`.
        voice: how the candidate writes.
        draws: where every choice of words is drawn from.
        right: whether the final answer is right; drawn when None.

    Returns:
        The answer.
    """
    choice = choose_values(program, scores, draws)
    order = [step for step in program.steps if step.id in choice.stated]
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
    return Written(
        text=f"{text}\n\nAnswer: {final}" if text else f"Answer: {final}",
        scores=choice.scores,
        right=right,
        process_ok=choice.scores[program.answer_step] >= 4,
    )


def _sentence(program: Program, step: Step, choice: Choice, voice: Voice, draws: Draws) -> str:
    stated = choice.stated[step.id]
    score = choice.scores[step.id]
    phrases = sorted(step.phrases, key=len, reverse=voice.wordy)
    place = int(draws.uniform("phrase", step.id) ** 1.5 * len(phrases))
    phrase = phrases[min(place, len(phrases) - 1)]
    text = stated.text if stated.either is None else f"either {stated.text} or {stated.either}"
    if voice.bold and stated.either is None:
        text = f"**{text}**"
    working = _working(program, step, choice) if voice.wordy and phrase.count(" ") > 2 else ""
    if working and draws.uniform("working", step.id) < 0.5 and score != 4:
        text = f"{working} = {text}"
    if score == 4:
        return _hedged(program, step, phrase, text, stated, voice, draws)
    return fill(phrase, text)


def _hedged(
    program: Program,
    step: Step,
    phrase: str,
    text: str,
    stated: Stated,
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
    return re.search(r"\b(?:an?|the|at|exactly|is at)\s[\"'$]?\{value\}", phrase) is not None


def _working(program: Program, step: Step, choice: Choice) -> str:
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
    if any(choice.scores[name] == 3 and choice.stated[name].either for name in step.depends_on):
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
        fits = bool(joined) and not merged and joined[-1].endswith(".") and "\n" not in sentence
        plain = not sentence.startswith(_HEAD_HEDGES)
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
    program: Program, choice: Choice, draws: Draws, known: bool | None
) -> tuple[str, bool, str]:
    """Return the final answer as typed, whether it is right, and a sentence to explain a jump."""
    score = choice.scores[program.answer_step]
    stated = choice.stated.get(program.answer_step)
    open_question = not program.choices
    lucky = P_RIGHT_OPEN if open_question else P_RIGHT_IF_NOT
    drawn = draws.uniform("final") < (P_RIGHT_IF_OK if score >= 4 else lucky)
    right = drawn if known is None else known
    note = draws.pick(_LUCKY, "lucky") if right and score in (2, 3) else ""
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


def _open_final(program: Program, stated: Stated | None, right: bool, draws: Draws) -> str:
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
