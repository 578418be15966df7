"""Finds the final answer of a response and compares it with the reference, by rules alone.

Three steps: find the statement that gives the final answer; read it as the reference is to be read
(an option, a number, a list, a time, yes or no, a text); compare. Wherever a step could go two
ways the result is None, and the judge decides.

Reference: METHODS A3 (i), B15.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from atom.records import Sample
from atom.stages.texts.options import plain, read_option, reference_option
from atom.stages.texts.quantities import (
    MAX_TEXT,
    Quantity,
    QuantitySpan,
    find_quantities,
    read_quantity,
    same_quantity,
    tidy,
)

RuleName = Literal["exact", "numeric", "choice"]
_LONGEST: Final = 1000
"""Characters of a statement; a longer one is no final answer."""
_TAIL: Final = 20_000
"""Characters at the end of a response in which its final answer is looked for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FinalAnswerVerdict:
    """Whether a final answer is right.

    Args:
        right: whether it agrees with the reference.
        answer: the final answer as it was read.
    """

    right: bool
    how: RuleName
    answer: str


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswerStatement:
    """The words that give a final answer.

    Args:
        sure: it's marked as the answer, or it's all there is. Otherwise it's a closing sentence.
    """

    text: str
    sure: bool


def compare_response(sample: Sample, text: str) -> FinalAnswerVerdict | None:
    """Compare the final answer of a response with the sample's reference.

    Args:
        sample: the question; its reference may be None.

    Returns:
        The verdict, or None where no rule can tell for sure.
    """
    if sample.reference is None or not sample.reference.strip():
        return None
    statements = [s for s in find_statements(text) if len(s.text) <= _LONGEST]
    opening = _OPENING.match(text)
    if opening and {plain(choice) for choice in sample.choices or (sample.reference,)} & _CLOSED:
        statements.append(AnswerStatement(text=opening[0], sure=True))
    read = [_compare(sample, sample.reference, statement) for statement in statements]
    verdicts = [verdict for verdict in read if verdict is not None]
    if not verdicts or len({verdict.right for verdict in verdicts}) > 1:
        return None  # two statements disagree: the marked one, the closing one, the first word
    return verdicts[0]


def can_refute(sample: Sample) -> bool:
    """Whether the rules can find an answer to this question wrong as well as right.

    They can for options, numbers, lists, times and yes or no. Of free words they know only equal
    ones: to count those alone would call every answer that they can decide right.
    """
    reference = sample.reference
    if reference is None or not reference.strip():
        return False
    if sample.choices:
        return reference_option(reference, sample.choices) is not None
    return (
        sample.answer_type == "list"
        or _LIST.fullmatch(reference) is not None
        or _CLOCK.fullmatch(tidy(reference)) is not None
        or plain(reference) in _ANSWERS
        or read_quantity(reference) is not None
    )


def compare_answer(sample: Sample, answer: str) -> FinalAnswerVerdict | None:
    """Compare a bare final answer with the sample's reference; as `compare_response`."""
    return compare_response(sample, answer)


# --- find the statement --------------------------------------------------------------------------

_MARKED: Final = (
    re.compile(
        r"\b(?:answer|ans)\b[*_ \t]{0,4}(?:is|=)?[*_ \t]{0,4}[:：][*_ \t]{0,4}(?P<said>[^\n]*)",
        re.IGNORECASE,
    ),
    re.compile(r"^[ \t]*####[ \t]+(?P<said>[^\n]+)$", re.MULTILINE),
    re.compile(r"<answer>(?P<said>[^<]{0,400})</answer>", re.IGNORECASE),
)
_SAID: Final = (
    re.compile(
        r"\banswer[ \t]+(?:to[ \t][^.:\n]{1,80}[ \t])?(?:choice[ \t]+)?"
        r"(?:is|would be|should be|must be|will be)\b(?!n['’]t|[ \t]+(?:not|n't))"
        r"[ \t]*(?:simply[ \t]+|therefore[ \t]+|thus[ \t]+)?(?P<said>[^\n:][^\n]*)",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?:correct|right|best)[ \t]+(?:option|choice|one)[ \t]+(?:is|would be)\b(?![ \t]+not)"
        r"[ \t]*:?[ \t]*(?P<said>[^\n]+)",
        re.IGNORECASE,
    ),
    re.compile(
        r"(?P<said>[^.\n]{1,80})[ \t]is[ \t]the[ \t](?:correct|right|best|final)[ \t]"
        r"(?:answer|option|choice)\b",
        re.IGNORECASE,
    ),
    re.compile(
        r"\bwhich[ \t]is[ \t](?:answer[ \t]|the[ \t])?(?:option|choice)[ \t]*(?P<said>\(?[A-Z]\)?)"
        r"(?![\w])"
    ),
    re.compile(
        r"(?<![Ii]f )(?<![Ss]hould )(?<![Ww]ould )(?<![Cc]an )"
        r"\bI(?:['’]ll|[ \t]will|[ \t]would|['’]d)?[ \t]"
        r"(?:choose|pick|select|go[ \t]with)[ \t]+(?:(?:option|choice|answer)[ \t]+)?"
        r"(?P<said>\(?[A-Z]\)?)[*_]{0,4}[.!]?[ \t]*$",
        re.MULTILINE,
    ),
)
_BOXED: Final = re.compile(r"\\f?box(?:ed)?\s*\{")
_CLOSER: Final = re.compile(
    r"^\W*(?:I hope|hope this|let me know|please let me|feel free|is there anything|do you have"
    r"|if you have|would you like|happy to help|thank)[^\n]*$",
    re.IGNORECASE,
)
_TURN: Final = re.compile(
    r"\b(?:wait|actually|correction|on second thought|scratch that|let me re|i made a mistake"
    r"|i was wrong|that's wrong|that is wrong)\b",
    re.IGNORECASE,
)
_SENTENCE_END: Final = re.compile(r"(?<![.\s])[.!?](?=[\s\"'”’)*]+(?:[^a-z]|$)|$)")
_CLAUSE_END: Final = re.compile(
    r";|,\s+(?:because|since|as|which|so)\b|\s(?:because|since)\s|\s—\s",
    re.IGNORECASE,
)
_CONCLUDES: Final = re.compile(
    r"\b(?:so|therefore|thus|hence|in conclusion|overall|in total|total|finally|consequently"
    r"|altogether|this means|we get|which gives)\b|[∴⇒]",
    re.IGNORECASE,
)
_OPTION_LINE: Final = re.compile(r"[(\[]?[A-Z][)\].:]\s")
_BOLD: Final = re.compile(r"\*\*([^*\n]{1,80})\*\*")
_NEXT_LINE: Final = re.compile(r"[\s*_]*(?P<line>[^\n]*)")
_PLACEHOLDER: Final = re.compile(r"[^\w<]*+<[^>]*+>\W*+|\W*+")


def find_statements(text: str) -> tuple[AnswerStatement, ...]:
    r"""Find the statements that give a response's final answer.

    Args:
        text: the response.

    Returns:
        The last one that is marked (`Answer: ...`, `\boxed{...}`, `the answer is ...`), unless
        the response goes on to take it back, and the closing sentence, if that's another one. A
        response of one sentence is its own statement. Empty when there is nothing to read.
    """
    text = _without_closers(text[-_TAIL:].replace("\r\n", "\n").replace("\r", "\n"))
    marked = _last_marked(text)
    if marked is None:
        return _closing(text, alone=True)
    said, end = marked
    if _TURN.search(text, end):
        return ()
    rest = text[end:].partition("\n")[2]
    return (AnswerStatement(text=said, sure=True), *_closing(rest, alone=False))


def _closing(text: str, *, alone: bool) -> tuple[AnswerStatement, ...]:
    """Return the closing sentence; `alone` if nothing else was said, so that it may stand for all.

    Code and a list of options at the end close nothing.
    """
    lines = [line.strip() for line in text.split("\n") if line.strip(" \t*_#>-|")]
    if not lines or lines[-1].endswith("```"):
        return ()
    if len(lines) > 1 and _OPTION_LINE.match(lines[-1]) and _OPTION_LINE.match(lines[-2]):
        return ()
    sentences = _sentences(lines[-1])
    whole = alone and len(lines) == 1 and len(sentences) == 1
    return (AnswerStatement(text=sentences[-1], sure=whole),)


def _without_closers(text: str) -> str:
    """Drop the courtesies at the end."""
    lines = text.rstrip().split("\n")
    while lines and (not lines[-1].strip() or _CLOSER.match(lines[-1])):
        lines.pop()
    return "\n".join(lines)


def _last_marked(text: str) -> tuple[str, int] | None:
    """Return the last marked statement and where it ends."""
    found: list[tuple[int, int, str]] = []
    for pattern in _MARKED:
        for match in pattern.finditer(text):
            said, end = match["said"], match.end("said")
            if not said.strip(" \t*_"):
                said, end = _next_line(text, end)
            found.append((match.start("said"), end, said))
    for pattern in _SAID:
        for match in pattern.finditer(text):
            said = match["said"]
            cut = _SENTENCE_END.search(said)
            length = cut.start() if cut else len(said)
            found.append((match.start("said"), match.start("said") + length, said[:length]))
    for match in list(_BOXED.finditer(text))[-3:]:
        brace = _closing_brace(text, match.end())
        if brace is not None:
            found.append((match.end(), brace + 1, text[match.end() : brace]))
    found = [item for item in found if not _PLACEHOLDER.fullmatch(item[2])]
    if not found:
        return None
    _, end, said = max(found, key=lambda item: item[0])
    return said.strip(), end


def _next_line(text: str, at: int) -> tuple[str, int]:
    match = _NEXT_LINE.match(text, at)
    return (match["line"], match.end()) if match else ("", at)


def _closing_brace(text: str, at: int) -> int | None:
    depth = 1
    for place in range(at, min(len(text), at + MAX_TEXT)):
        if text[place] == "{":
            depth += 1
        elif text[place] == "}":
            depth -= 1
            if depth == 0:
                return place
    return None


def _sentences(line: str) -> list[str]:
    pieces, start = [], 0
    for match in _SENTENCE_END.finditer(line):
        if match.start() - start > 3:  # "A. red" is one piece
            pieces.append(line[start : match.end()].strip())
            start = match.end()
    rest = line[start:].strip(" \"'”’)*")
    return [*pieces, rest] if rest else pieces or [line]


# --- read and compare ----------------------------------------------------------------------------

_CLOCK: Final = re.compile(
    r"(?P<h>[0-2]?[0-9]):(?P<m>[0-5][0-9])(?::(?P<s>[0-5][0-9]))?\s*(?P<half>[ap]\.?m\.?)?",
    re.IGNORECASE,
)
_OPENING: Final = re.compile(r"[\s*_]*(?:yes|no|true|false)\b[\s*_]*[,.!;:]", re.IGNORECASE)
_CLOSED: Final = frozenset(("yes", "no", "true", "false"))
_LIST: Final = re.compile(r"\s*[\[({](?P<items>[^\[\](){}]*,[^\[\](){}]*)[\])}]\s*")
_BOUND: Final = re.compile(
    r"\b(?:less|more|fewer|greater|larger|smaller|higher|lower|bigger) than\b|\bat (?:least|most)\b"
    r"|\b(?:between|up to|not|cannot|either|neither|or|if|unless|over|under|above|below)\b|n['’]t\b"
    r"|[<>≤≥±]|\d\s*-\s*\d",
    re.IGNORECASE,
)
_ANSWERS: Final = {
    "yes": ("yes", "no"),
    "no": ("yes", "no"),
    "true": ("true", "false"),
    "false": ("true", "false"),
}


def _compare(
    sample: Sample, reference: str, statement: AnswerStatement
) -> FinalAnswerVerdict | None:
    if sample.choices:
        return _compare_option(sample, reference, statement)
    said = statement.text
    if sample.answer_type == "list" or _LIST.fullmatch(reference):
        return _compare_list(sample, reference, said) if statement.sure else None
    clock = _CLOCK.fullmatch(tidy(reference))
    if clock:
        return _compare_clock(clock, said)
    if plain(reference) in _ANSWERS:
        index = read_option(said, _ANSWERS[plain(reference)])
        if index is None:
            return None
        named = _ANSWERS[plain(reference)][index]
        return FinalAnswerVerdict(right=named == plain(reference), how="exact", answer=named)
    known = read_quantity(reference)
    if known is not None:
        return _compare_number(sample, known, statement)
    if plain(_first_clause(said)) == plain(reference) or plain(said) == plain(reference):
        return FinalAnswerVerdict(right=True, how="exact", answer=tidy(said))
    return None


def _compare_option(
    sample: Sample, reference: str, statement: AnswerStatement
) -> FinalAnswerVerdict | None:
    wanted = reference_option(reference, sample.choices)
    if wanted is None:
        return None
    for said in _readings(statement):
        index = read_option(said, sample.choices)
        if index is not None:
            return FinalAnswerVerdict(
                right=index == wanted, how="choice", answer=sample.choices[index]
            )
    return None


def _readings(statement: AnswerStatement) -> list[str]:
    """Return what may be read: a marked statement whole, a closing sentence only if it concludes.

    In a closing sentence the one passage in bold print goes first.
    """
    if statement.sure:
        return [statement.text]
    bold = _BOLD.findall(statement.text)
    concludes = _CONCLUDES.search(statement.text) is not None
    readings = [bold[0]] if len(bold) == 1 and concludes else []
    if concludes or len(statement.text) <= 40:
        readings.append(statement.text)
    return readings


def _compare_number(
    sample: Sample, known: Quantity, statement: AnswerStatement
) -> FinalAnswerVerdict | None:
    kind = sample.answer_type.casefold()
    integer = True if kind in ("integer", "int") else False if kind == "float" else None
    for said in _readings(statement):
        quantity = _only_quantity(said, sure=statement.sure)
        if quantity is not None:
            same = same_quantity(known, quantity, tolerance=sample.tolerance, integer=integer)
            answer = tidy(_first_clause(said))
            return (
                None
                if same is None
                else FinalAnswerVerdict(right=same, how="numeric", answer=answer)
            )
    return None


def _only_quantity(said: str, *, sure: bool) -> Quantity | None:
    """Return the one quantity that a statement gives."""
    clause = _first_clause(said) if sure else said
    whole = read_quantity(said) or read_quantity(clause)
    if whole is not None:
        return whole
    text = tidy(clause).rstrip(" .!")
    after = re.split(r"[=≈]", text)[-1].strip()
    if after != text:
        return read_quantity(after)
    if _BOUND.search(text) or not (sure or _CONCLUDES.search(text)):
        return None
    found = [item.quantity for item in find_quantities(text) if not _pronoun(item)]
    return found[0] if len({item.value for item in found}) == 1 and len(found) == 1 else None


def _pronoun(item: QuantitySpan) -> bool:
    """Whether this is the word "one", which need not be a number in a sentence."""
    return item.quantity.in_words and item.quantity.number == 1


def _first_clause(said: str) -> str:
    """Return a statement up to the end of its first clause, without a remark in brackets."""
    cut = _SENTENCE_END.search(said)
    text = said[: cut.start()] if cut else said
    cut = _CLAUSE_END.search(text, 1)
    text = text[: cut.start()] if cut else text
    return re.sub(r"(?<=\w)\s*\((?![^)]*\bor\b)[^()]*\)\s*$", "", text).strip()


def _compare_list(sample: Sample, reference: str, said: str) -> FinalAnswerVerdict | None:
    wanted, given = _items(reference), _items(_first_clause(said))
    if wanted is None or given is None or len(wanted) != len(given):
        return None
    results = [
        same_quantity(one, other, tolerance=sample.tolerance)
        for one, other in zip(wanted, given, strict=True)
    ]
    if all(results):
        return FinalAnswerVerdict(right=True, how="numeric", answer=tidy(said))
    if None in results or sorted(q.value for q in wanted) == sorted(q.value for q in given):
        return None  # in another order: the question may not care
    return FinalAnswerVerdict(right=False, how="numeric", answer=tidy(said))


def _items(text: str) -> list[Quantity] | None:
    match = _LIST.fullmatch(tidy(text))
    body = match["items"] if match else tidy(text).strip("[](){} .")
    items = [read_quantity(part) for part in re.split(r",\s*(?:and\s+)?|\s+and\s+", body)]
    read = [item for item in items if item is not None]
    return read if len(read) == len(items) and len(read) > 1 else None


def _compare_clock(reference: re.Match[str], said: str) -> FinalAnswerVerdict | None:
    found = list(_CLOCK.finditer(tidy(_first_clause(said))))
    if len(found) != 1 or _BOUND.search(tidy(_first_clause(said)).replace(found[0].group(), "")):
        return None
    wanted, given = _clock(reference), _clock(found[0])
    if wanted == given:
        return FinalAnswerVerdict(right=True, how="exact", answer=found[0].group())
    if (
        (wanted[0] - given[0]) % 12 == 0
        and wanted[1:3] == given[1:3]
        and "" in (wanted[3], given[3])
    ):
        return None  # half past two and 14:30 may be the same
    return FinalAnswerVerdict(right=False, how="exact", answer=found[0].group())


def _clock(match: re.Match[str]) -> tuple[int, int, int, str]:
    half = (match["half"] or "").replace(".", "").casefold()
    return int(match["h"]), int(match["m"]), int(match["s"] or 0), half
