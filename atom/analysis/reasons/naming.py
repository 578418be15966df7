"""Names of groups of reasons, by rule: their most telling words, and the kind of error.

Reference: Tomokiyo and Hurst 2003 (terms by their part in a divergence).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal, get_args

import numpy as np

from atom.analysis.intervals import Ints
from atom.analysis.reasons.words import TERM, WEAK

Kind = Literal[
    "omission", "no result", "misread picture", "misread question", "slip of calculation",
    "wrong value", "format", "unsupported", "carried", "other",
]  # fmt: skip
"""Kinds of error, in the glossary's words; `wrong value` where only that is said."""
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
_CUES: Final[tuple[tuple[Kind, str], ...]] = (
    ("carried", r"follows from|carried|because (of )?(an|the) earlier|inherit\w*|propagat\w*"),
    ("format", r"format\w*|cut off|truncat\w*|not one of the (options|choices)|unreadable|"
               r"no final|option letter|wrong language"),
    ("misread question", r"(mis\w+|different|another|wrong) (the )?question|was asked|"
                         r"question asked|instruction\w*|than asked|misinterpret\w*"),
    ("slip of calculation", r"arithmetic\w*|calculat\w*|comput\w*|sum\b|subtract\w*|multipl\w*|"
                            r"divi(ded|sion)|rounding|algebra\w*|miscalculat\w*|adding"),
    ("omission", r"not mention\w*|never mention\w*|no mention|omit\w*|omission|leaves? out|"
                 r"left out|missing|not address\w*|can't be made out|"
                 r"does(n't| not) (say|state|mention|name)|skip\w*|ignor\w*|"
                 r"says nothing|not stated|not named"),
    ("no result", r"without (a |any )?(result|conclusion|value|answer)|unfinished|incomplete|"
                  r"no (result|conclusion|value)|stops before"),
    ("unsupported", r"hallucinat\w*|invent\w*|not (in|visible in) the|fabricat\w*|unsupported|"
                    r"contradict\w*|no evidence"),
    ("misread picture", r"mis(read|s?een|identif|count|tak|recogni)\w*|sees|reads|shows|"
                        r"read wrong\w*|confus\w*|mistak\w*|wrong reading|overlook\w*"),
    ("wrong value", r"miss|wrong|incorrect\w*|off by|instead of|not right|inaccurate"),
)  # fmt: skip
"""In order: the first whose cues at least half of a group's reasons hold is the group's kind."""
_LEAST: Final = 0.5
_READ: Final = 4000
"""Different reasons that names are made from."""
_LONGEST: Final = 6
"""Words of a term at most."""
_FLOOR: Final = 0.01


def kind_of(texts: Sequence[str]) -> Kind:
    """Return the kind of error that most reasons of a group have words for; `other` without one.

    Args:
        texts: what each reason says of the error.
    """
    for kind, cues in _CUES:
        pattern = re.compile(rf"\b(?:{cues})\b")
        if sum(pattern.search(text) is not None for text in texts) >= _LEAST * max(len(texts), 1):
            return kind
    return "other"


def telling_terms(texts: Sequence[str], code: Ints, most: int = 4) -> tuple[tuple[str, ...], ...]:
    """Name each group by the words that tell it from the others, the most telling first.

    A term has one to six words. Its weight is its part in the divergence of the group from the
    rest, `p log((p + .01) / (q + .01))`, p and q the shares of reasons in the group and outside
    that hold it; of terms that tell alike the longer wins.

    Args:
        texts: reasons, shape (N,).
        code: their groups, shape (N,); -1 = in none, counted with the others.
        most: terms a group.
    """
    from sklearn.feature_extraction.text import CountVectorizer

    k = int(code.max(initial=-1)) + 1
    if not k:
        return ()
    distinct, of = np.unique(np.array(texts, dtype=np.str_), return_inverse=True)
    inside = np.zeros((k + 1, len(distinct)))
    np.add.at(inside, (np.where(code < 0, k, code), of), 1)
    if len(distinct) > _READ:
        often = np.sort(np.argsort(-inside.sum(axis=0), kind="stable")[:_READ])
        distinct, inside = distinct[often], inside[:, often]
    read = CountVectorizer(
        ngram_range=(1, _LONGEST), token_pattern=TERM, lowercase=False, binary=True
    )
    try:
        holds = np.asarray(read.fit_transform(distinct.tolist()).T @ inside.T).T
    except ValueError:
        return ((),) * k
    names = np.array(read.get_feature_names_out(), dtype=np.str_)
    length = np.char.count(names, " ") + 1
    share = holds / np.maximum(inside.sum(axis=1, keepdims=True), 1)
    found = []
    for group in range(k):
        rest = holds.sum(axis=0) - holds[group]
        away = rest / max(inside.sum() - inside[group].sum(), 1)
        weight = share[group] * np.log((share[group] + _FLOOR) / (away + _FLOOR))
        weight = np.where((share[group] >= 0.05) & (weight > 0), weight * (1 + 0.04 * length), 0)
        # A word that most reasons hold here and elsewhere ends no name.
        common = (length == 1) & (share[group] >= 0.5) & (away >= 0.5)
        idle = WEAK | {str(name) for name in names[common]}
        ranked = np.argsort(-weight, kind="stable")[:300]
        found.append(_best([str(names[at]) for at in ranked if weight[at] > 0], idle, most))
    return tuple(found)


def _best(ranked: Sequence[str], idle: frozenset[str], most: int) -> tuple[str, ...]:
    """Keep terms that say something of their own: no idle ends, no words that a kept one has."""
    kept: list[str] = []
    had: set[str] = set()
    for term in ranked:
        words = term.split()
        if words[0] in idle or words[-1] in idle or set(words) - idle <= had:
            continue
        kept.append(term)
        had.update(words)
        if len(kept) == most:
            break
    return tuple(kept)
