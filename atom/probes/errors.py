"""What the probe endpoint knows of errors: a short list of words for each kind, and nothing else.

Its embeddings and its names of groups come from these words: synthetic, so that the way from a
text to a vector and from a group to a name can be tried offline. It doesn't understand a text.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from atom.probes.draws import Draws

EMBEDDER: Final = "probe-embedding"
"""Name of the embedding model."""
DIMENSIONS: Final = 48
_KINDS: Final[Mapping[str, str]] = {
    "misread question": "question asked misunderstand misunderstood instruction another",
    "carried": "follows carried earlier inherited",
    "slip of calculation": "calculation calculates arithmetic sum added subtract slip computes",
    "format": "format letter truncated cut unreadable required",
    "omission": "mention mentions mentioned omits omitted missing leaves left stated",
    "no result": "result conclusion unfinished incomplete stops without",
    "unsupported": "invented hallucinated fabricated unsupported contradicts",
    "misread picture": "misreads misread sees taken confuses mistaken overlooks reads shows",
    "wrong value": "miss wrong value incorrect off",
}
_OF_WORD: Final = {word: kind for kind, words in _KINDS.items() for word in words.split()}
_SAYS: Final[Mapping[str, tuple[str, str]]] = {
    "misread question": ("Answers another question", "Something else was answered than asked."),
    "carried": ("Carries an error on", "The step is wrong because an earlier one was."),
    "slip of calculation": ("Slips in calculation", "Values were read and worked out wrongly."),
    "format": ("Misses the format", "The answer isn't in the form that was asked for."),
    "omission": ("Leaves it out", "The answer doesn't say what the step asks for."),
    "no result": ("Stops before a result", "The step is begun and comes to no value."),
    "unsupported": ("Makes it up", "The answer states what the picture doesn't show."),
    "misread picture": ("Misreads the picture", "The picture shows something else than it says."),
    "wrong value": ("States a wrong value", "A value is given, and it is wrong."),
    "other": ("Other errors", "These reasons have no word that the probe judge knows."),
}
_WORD: Final = re.compile(r"[^\W\d_]+")
_SHORT: Final = 4
"""Words with fewer letters (the, is, of) have no direction."""
_KNOWN: Final = 6.0
"""Weight of a word that tells a kind of error beside any other word."""


def embed(text: str) -> list[float]:
    """Turn a text into a vector of length one.

    Every word is a random direction; words of one kind of error share that kind's direction.
    """
    total = [0.0] * DIMENSIONS
    for word in _WORD.findall(text.lower()):
        kind = _OF_WORD.get(word)
        known = [(_KNOWN, f"kind {kind}")] if kind else []
        for weight, name in [(float(len(word) >= _SHORT), f"word {word}"), *known]:
            total = [old + weight * new for old, new in zip(total, _direction(name), strict=True)]
    length = math.sqrt(sum(value * value for value in total)) or 1.0
    return [value / length for value in total]


@functools.lru_cache(maxsize=4096)
def _direction(name: str) -> tuple[float, ...]:
    draws = Draws("embedding", name)
    return tuple(draws.normal(at) for at in range(DIMENSIONS))


def name_groups(data: Mapping[str, Any]) -> dict[str, object]:
    """Name groups of reasons by the words that stand in them most.

    Args:
        data: the prompt's data: `groups`, each with `number`, `words` and `reasons`.
    """
    groups = data.get("groups")
    rows: list[dict[str, object]] = []
    used: dict[str, int] = {}
    for group in groups if isinstance(groups, list) else ():
        texts = [*_texts(group.get("words")), *_texts(group.get("reasons"))]
        kind = _kind(texts)
        used[kind] = used.get(kind, 0) + 1
        name, says = _SAYS[kind]
        number = f" ({used[kind]})" if used[kind] > 1 else ""
        rows.append(
            {"number": group.get("number"), "kind": kind, "name": f"{name}{number}", "says": says}
        )
    return {"names": rows}


def _texts(given: object) -> Sequence[str]:
    return [str(one) for one in given] if isinstance(given, list) else []


def _kind(texts: Sequence[str]) -> str:
    """Return the kind whose words stand in most texts; the first of the list where some tie."""
    found = dict.fromkeys(_KINDS, 0)
    for text in texts:
        for kind in {_OF_WORD[word] for word in _WORD.findall(text.lower()) if word in _OF_WORD}:
            found[kind] += 1
    best = max(found, key=lambda kind: found[kind])
    return best if found[best] else "other"
