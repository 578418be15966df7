"""Reads which of several options a final answer names: by letter, by text, or by both."""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import ascii_uppercase
from typing import Final

from atom.stages.texts.quantities import read_quantity, same_quantity, tidy

_LETTER: Final = re.compile(
    r"(?:(?:so|thus|therefore|hence),?\s+)?"
    r"(?:(?:the\s+)?(?:correct\s+|right\s+|best\s+)?(?:option|choice|answer|letter)\s*+(?:is\b)?\s*+:?\s*+)?"
    r"(?P<open>[(\[{<]?)\s?(?P<letter>[A-Za-z])\s?(?P<close>[)\]}>]?)"
    r"(?P<sep>[.:,;](?=\s|$)|\s-(?=\s)|(?=\s|$)|(?<=[)\]}>]))\s*(?P<rest>.*)",
    re.DOTALL | re.IGNORECASE,
)
_MORE_LETTERS: Final = re.compile(
    r"(?:(?:and|or|&|/|,)\s*)+[(\[]?[A-Z][)\]]?(?:\W|$)|[(\[]?[A-Z][)\]]?[.,]?$"
)
_LOOSE_LETTER: Final = re.compile(
    r"\(([A-Z])\)|\b[Oo]ption\s+([A-Z])\b|\b[Cc]hoice\s+([A-Z])\b|\b[Aa]nswer\s+([A-Z])\b(?!\s+\w)"
)
_EITHER: Final = re.compile(
    r"\b(?:or|either|neither|nor|not|except|rather than|instead of|other than|unlike|unless"
    r"|cannot|unsure|doubt)\b|n['’]t\b",
    re.IGNORECASE,
)
_CLOSED: Final = ({"yes", "no"}, {"true", "false"})
_LEADING: Final = re.compile(
    r"(?:(?:so|thus|therefore|hence|well|then|it is|it's|that is|is|the answer is|the statement is"
    r"|the answer to the question is)[,:]?\s+)*"
    r"(yes|true|false"
    r"|no(?=\W*$|\W*[,.;:!]|\s+(?:it|there|the|this|that|they|he|she|i|we|you)\b))\b(?!-)",
    re.IGNORECASE,
)


def plain(text: str) -> str:
    """Fold a text for comparison: case, articles, dress and the marks around it don't count."""
    folded = tidy(text).casefold().strip(" .,:;!?\"'“”‘’()[]{}<>*_")
    return re.sub(r"^(?:the|an?)\s+(?=\S)", "", folded)


def reference_option(reference: str, choices: Sequence[str]) -> int | None:
    """Return the index of the choice that a reference means: its text, else its letter."""
    folded = [plain(choice) for choice in choices]
    wanted = plain(reference)
    if folded.count(wanted) == 1:
        return folded.index(wanted)
    letter = reference.strip().strip("().").upper()
    if wanted not in folded and len(letter) == 1 and letter in ascii_uppercase[: len(choices)]:
        return ascii_uppercase.index(letter)
    return None


def read_option(text: str, choices: Sequence[str]) -> int | None:
    """Return the index of the one choice that a final answer names.

    Args:
        text: the final answer: `B`, `(b)`, `B) red`, `red`, `it is the red one, option (B)`.
        choices: the options in the order of their letters, at most 26.

    Returns:
        The index; None where none, several, or a letter and another option's text are named.
    """
    text = tidy(text).strip(" \"'“”")
    if not text or len(choices) > len(ascii_uppercase):
        return None
    folded = [plain(choice) for choice in choices]
    exact = [index for index, choice in enumerate(folded) if choice and choice == plain(text)]
    lettered = _strict_letter(text, choices, folded)
    if exact:
        if len(exact) > 1 or (lettered is not None and lettered != exact[0]):
            return None
        return exact[0]
    if lettered is not None:
        return lettered if lettered >= 0 else None
    leading = _LEADING.match(text)
    if set(folded) in _CLOSED:
        return (
            folded.index(leading[1].lower()) if leading and leading[1].lower() in folded else None
        )
    numeric = _by_number(text, choices)
    if numeric is not None:
        return numeric
    return _mentioned(text, choices, folded)


def _strict_letter(text: str, choices: Sequence[str], folded: Sequence[str]) -> int | None:
    """Return the option of a leading letter; -1 if that reading contradicts itself."""
    match = _LETTER.fullmatch(text)
    if match is None:
        return None
    letter, rest = match["letter"], match["rest"].strip()
    wrapped = bool(match["close"])
    index = ascii_uppercase.find(letter.upper())
    if index >= len(folded):
        return None
    if letter.islower() and rest and not wrapped:
        return None
    own = _begins(rest, folded)
    if rest and not wrapped and not match["sep"] and own != index:
        return None  # "A cat": an article
    if rest and _MORE_LETTERS.match(rest):
        return -1
    if (own is not None and own != index) or _other_number(rest, choices[index]):
        return -1
    twins = [i for i, choice in enumerate(folded) if choice == letter.casefold()]
    return -1 if twins and index not in twins else index


def _other_number(rest: str, choice: str) -> bool:
    """Whether a number is given that isn't the option's own."""
    said, own = read_quantity(rest), read_quantity(choice)
    return said is not None and own is not None and not same_quantity(own, said)


def _begins(rest: str, folded: Sequence[str]) -> int | None:
    """Return the option with whose text this begins, the longest one."""
    start = plain(rest) if rest else ""
    fits = [
        index
        for index, choice in enumerate(folded)
        if choice and re.match(re.escape(choice) + r"(?![\w])", start)
    ]
    return max(fits, key=lambda index: len(folded[index]), default=None)


def _by_number(text: str, choices: Sequence[str]) -> int | None:
    said = read_quantity(text)
    if said is None:
        return None
    options = [read_quantity(choice) for choice in choices]
    same = [
        index
        for index, option in enumerate(options)
        if option is not None and same_quantity(option, said, tolerance=0.0)
    ]
    return same[0] if len(same) == 1 else None


def _mentioned(text: str, choices: Sequence[str], folded: Sequence[str]) -> int | None:
    """Return the only option that a statement mentions, by letter in brackets or by text."""
    letters = {
        ascii_uppercase.index(letter)
        for groups in _LOOSE_LETTER.findall(text)
        for letter in groups
        if letter and letter in ascii_uppercase[: len(choices)]
    }
    texts = _texts_in(text, choices, folded)
    if len(letters) == 1:
        index = next(iter(letters))
        return index if not texts or index in texts else None
    if letters or len(texts) != 1 or _EITHER.search(text):
        return None
    return next(iter(texts))


def _texts_in(text: str, choices: Sequence[str], folded: Sequence[str]) -> set[int]:
    """Return the options whose texts stand in a statement; `red` isn't in `dark red` if that is."""
    rest = tidy(text).casefold()
    found = set()
    for index in sorted(range(len(folded)), key=lambda i: -len(folded[i])):
        choice = folded[index]
        if len(choice) < 2 and not choice.isdigit():
            continue  # a single letter is a label or an article
        pattern = re.compile(rf"(?<![\w])(?<![0-9][.,]){re.escape(choice)}(?![\w])(?![.,][0-9])")
        if choice and pattern.search(rest):
            found.add(index)
            rest = pattern.sub(" ", rest)
    return found
