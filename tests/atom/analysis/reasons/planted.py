"""Reasons with planted kinds of error: five kinds, several wordings each, any subject."""

from __future__ import annotations

import numpy as np

from atom.analysis.reasons.words import less_subject, plain_words, topic

WORDINGS: dict[str, tuple[str, ...]] = {
    "omission": ("The answer never mentions {0}.", "It does not mention {0} at all.",
                 "No mention is made of {0}.", "Not mentioned: {0}."),
    "misread picture": ("It misreads {0} as {1}.", "{0} was misread instead of {1}.",
                        "Misread: {0} is taken for {1}.", "The answer misreads {0}."),
    "slip of calculation": ("The calculation of {0} is wrong.", "A calculation slip with {0}.",
                            "It makes a calculation error: {0}.", "Wrong calculation for {0}."),
    "misread question": ("It answers another question, on {0}.", "The question was about {1}.",
                         "It misunderstands the question: {0}.", "The wrong question, on {0}."),
    "format": ("No final answer in the required format.", "The final format is not followed: {0}.",
               "The required format is missing.", "Wrong format, no final letter for {0}."),
}  # fmt: skip
_SUBJECTS = (
    "bars clock triangle legend axis sphere cube arrow label table route map needle gauge angle "
    "panel tower window bottle face child dog tree month year total profit"
)
SUBJECTS = _SUBJECTS.split()


def planted(n: int, seed: int = 0) -> tuple[list[str], np.ndarray]:
    """Return what n reasons say of the error, and their planted kinds."""
    rng = np.random.default_rng(seed)
    kinds = rng.choice(len(WORDINGS), n, p=[0.3, 0.25, 0.2, 0.15, 0.1])
    reasons, about = [], []
    for kind in kinds:
        subjects = ["the " + " ".join(rng.choice(SUBJECTS, 2)) for _ in range(2)]
        text = str(rng.choice(list(WORDINGS.values())[kind])).format(*subjects)
        reasons.append(plain_words(text))
        about.append((topic(" ".join(subjects)),))
    return less_subject(reasons, about), kinds


def shuffled(texts: list[str], seed: int = 1) -> list[str]:
    """Deal the words of all texts out anew."""
    pool = [word for text in texts for word in text.split()]
    mixed = iter(np.random.default_rng(seed).permutation(pool))
    return [" ".join(next(mixed) for _ in text.split()) for text in texts]
