"""What a reason says of the error, less what it is about.

A judge's reason holds words of two kinds: what the step is about (colours, bars, a year), and what
went wrong with it (not mentioned, misread, added up wrongly). Groups of errors across capabilities
need the second kind alone. So a word that mostly stands where the question, the criterion or the
answer has it, too, is left out of all reasons; function words stay; numbers and quoted words go.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

_WORD: Final = re.compile(r"[぀-ヿ㐀-鿿가-힯]|[^\W\d_]+(?:['’][^\W\d_]+)?")
"""A letter of a script without spaces stands alone; two of them make a term."""
_QUOTED: Final = re.compile(r"(?<!\w)(['\"“‘«`])[^\n]{1,120}?(['\"”’»`])(?!\w)")
TERM: Final = r"\S+"
"""What is a word in texts that `less_subject` made: what stands between spaces."""
MOST_READ: Final = 600
"""Characters of a reason that are read: what went wrong is said early."""
_MOST_TOPIC: Final = 4000
_SUBJECT: Final = 0.5
"""A word is about the subject where at least this share of the reasons that use it have it from
there."""
_FUNCTION: Final = (
    "a about after again all also although an and any are as at be because been before being both "
    "but by can can't cannot could did didn't do does doesn't doing done don't either else for "
    "from had has hasn't have he her his how if in instead into is isn't it its itself just less "
    "may might more most must neither never no none nor not nothing of off on one only or other "
    "out over per rather same she should so some such than that the their them then there these "
    "they this those though through to too under until up was wasn't were weren't what when where "
    "which while who why will with without wouldn't would yet you"
)
FUNCTION: Final = frozenset(_FUNCTION.split())
"""Words that say how things hang together, whatever a text is about."""
_WEAK: Final = (
    "a an and any are as at be been being but by did do does for from had has have he her his i if "
    "in into is it its of on or over she so some such than that the their them then there these "
    "they this those to up was were which while who will with would you may might also just though "
    "although answer answers answered response responses model picture image figure criterion step "
    "steps reasoning"
)
WEAK: Final = frozenset(_WEAK.split())
"""Words that say nothing of an error: what is left where a subject was cut out, and what every
reason speaks of."""
_ENDING: Final = re.compile(r"(?<=\w{4})(?:ations?|ions?|ings?|ed|es|s|ly)$")


def words_of(text: str) -> list[str]:
    """Return a text's words in lower case, numbers left out."""
    return [word.replace("’", "'") for word in _WORD.findall(text.lower())]


def topic(text: str) -> frozenset[str]:
    """Return the words that say what a text is about: all but function words."""
    return frozenset(words_of(text[:_MOST_TOPIC])) - FUNCTION


def plain_words(reason: str) -> list[str]:
    """Return a reason's words, without numbers and without what it quotes."""
    return words_of(_QUOTED.sub(" ", reason[:MOST_READ]))


def less_subject(
    reasons: Sequence[Sequence[str]], topics: Iterable[Sequence[frozenset[str]]]
) -> list[str]:
    """Return what reasons say of the error, in words with a space between two.

    Args:
        reasons: each reason's words (`plain_words`), shape (N,).
        topics: what each is about (`topic`): its question, its criterion, its answer.
    """
    used: Counter[str] = Counter()
    shared: Counter[str] = Counter()
    for words, about in zip(reasons, topics, strict=True):
        each = set(words)
        used.update(each)
        for one in about:
            found = each & one
            shared.update(found)
            each -= found
    subject = {word for word, n in shared.items() if n >= _SUBJECT * used[word]}
    return [" ".join(word for word in words if word not in subject) for words in reasons]


def stems(text: str) -> str:
    """Return a text's telling words without their endings, so that *omits* is *omitted*."""
    return " ".join(_ENDING.sub("", word) for word in text.split() if word not in WEAK)
