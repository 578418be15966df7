"""The criteria of Multi-Crit: what each asks for, in our own words.

The released files name criteria by short keys. Which keys they use is established for `efficiency`
only; others are recognised by the words of the criterion's name, and a key that isn't known is used
as it reads.

Reference: Multi-Crit 3.3, Table 2.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, kw_only=True)
class BenchCriterion:
    """One criterion.

    Args:
        key: the file's own word for it in small letters, as verdicts and figures name it.
        name: as people read it.
        definition: what makes one answer better on it; empty where only the name is known.
        published: what the published tables call it; empty where it isn't one of theirs.
    """

    key: str
    name: str
    definition: str = ""
    published: str = ""


@dataclass(frozen=True, kw_only=True)
class _KnownCriteria:
    published: str
    name: str
    heads: frozenset[str]
    """Words of which a key must have one."""
    others: frozenset[str] = frozenset()
    """Words that a key may have besides."""
    definition: str


_KNOWN: Final[tuple[_KnownCriteria, ...]] = (
    _KnownCriteria(
        published="completeness",
        name="Completeness and coverage",
        definition=(
            "How much of what was asked for is there. The better answer deals with more parts "
            "of the question, and with more of what matters for it in the picture. A part that "
            "is dealt with wrongly is still dealt with."
        ),
        heads=frozenset({"completeness", "coverage"}),
    ),
    _KnownCriteria(
        published="grounding",
        name="Visual grounding",
        definition=(
            "How firmly the answer rests on what can be seen. The better answer points to more "
            "that is really visible (objects, places, colours, printed text, marks) and builds "
            "on it. General talk that would fit any picture doesn't count."
        ),
        heads=frozenset({"grounding"}),
        others=frozenset({"visual", "details", "detail"}),
    ),
    _KnownCriteria(
        published="hallucination",
        name="Factuality, no hallucination",
        definition=(
            "How free the answer is of false claims. The better answer states fewer things "
            "that the picture contradicts, that aren't in it, or that are untrue in general. "
            "What is left unsaid costs nothing here."
        ),
        heads=frozenset({"factuality", "hallucination", "hallucinations"}),
        others=frozenset({"no"}),
    ),
    _KnownCriteria(
        published="expressiveness",
        name="Creativity and expressiveness",
        definition=(
            "How richly and aptly the answer is worded. The better answer has the fresher, "
            "more vivid or more expert language, as the task calls for; the flatter and more "
            "repetitive one is worse."
        ),
        heads=frozenset({"creativity", "expressiveness"}),
    ),
    _KnownCriteria(
        published="clarity",
        name="Clarity and coherence",
        definition=(
            "How easily the answer can be followed. The better answer has the plainer "
            "sentences, the better order and the smoother connections."
        ),
        heads=frozenset({"clarity", "coherence"}),
    ),
    _KnownCriteria(
        published="logic",
        name="Logic and consistency",
        definition=(
            "How soundly one step follows from the last. The better answer reaches its results "
            "by steps that hold, without gaps, leaps or contradictions, and ends where its "
            "steps lead."
        ),
        heads=frozenset({"logic", "logical", "consistency"}),
        others=frozenset({"coherence"}),
    ),
    _KnownCriteria(
        published="exploration",
        name="Reflection and exploration",
        definition=(
            "How far the answer weighs its own steps. The better answer owns up to what is "
            "uncertain, considers other readings or ways, or checks and revises itself; the "
            "one that states everything flatly is worse."
        ),
        heads=frozenset({"reflection", "exploration"}),
    ),
    _KnownCriteria(
        published="efficiency",
        name="Conciseness and efficiency",
        definition=(
            "How little the answer spends to get where it gets. The better answer is shorter "
            "and keeps to the point; repetition, digression and filler make it worse."
        ),
        heads=frozenset({"conciseness", "efficiency"}),
    ),
)
_JOINING = frozenset({"and", "or", "of", "the"})


def find_criterion(text: str) -> BenchCriterion:
    """Return the criterion that a file's key or name means.

    Args:
        text: for example `efficiency`, `Visual Grounding and Details`, `tone_of_voice`.

    Returns:
        The criterion under the file's own key. It has a known one's name and definition where every
        word belongs to that one (the first in the published order where several fit: `coherence`
        alone is clarity); else its name is the text and it has no definition.
    """
    words = [word for word in re.split(r"[\W_]+", text.casefold()) if word]
    telling = {word for word in words if word not in _JOINING}
    key = "_".join(words)
    for known in _KNOWN:
        if telling & known.heads and telling <= known.heads | known.others:
            return BenchCriterion(
                key=key,
                name=known.name,
                definition=known.definition,
                published=known.published,
            )
    return BenchCriterion(key=key, name=" ".join(words).capitalize())


def names_of(keys: Iterable[str]) -> dict[str, str]:
    """Name criteria by key, telling apart by the key those of one name."""
    names = {key: find_criterion(key).name for key in keys}
    taken = Counter(names.values())
    return {
        key: name if taken[name] == 1 else f"{name} ({key.replace('_', ' ')})"
        for key, name in names.items()
    }


def in_order(keys: Iterable[str]) -> list[str]:
    """Sort criteria: the known ones as published, then others by key."""
    places = {known.published: place for place, known in enumerate(_KNOWN)}
    return sorted(keys, key=lambda key: (places.get(find_criterion(key).published, 99), key))
