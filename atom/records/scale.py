"""Which scale a mark from 1 to 5 was made on.

Marks of different scales never share a mean, however alike the numbers look: before `scoring/2` a
hedge cost a point and silence was a 1.
"""

from __future__ import annotations

from typing import Final, Literal

Scale = Literal["appendix_d", "firmness", "other"]
"""`appendix_d`: ATOM's appendix D with silence told apart (METHODS T1). `firmness`: the one before
it, where 4 was a hedge and 1 a step not mentioned. `other`: what a file or a person brought, on
whatever scale the source used."""

UNSCORED: Final = 0
"""A mark that the judge's reply didn't give, in columns."""
FAILED: Final = -1
"""A mark whose call brought nothing."""
NOT_APPLICABLE: Final = -2
"""A mark that says that the criterion doesn't apply to the answer."""
SCORING: Final = "scoring"
FIRMNESS_PROMPTS: Final = frozenset({"scoring/1", "whole/1", "scan_scoring/1"})
JUDGING_STAGES: Final = frozenset({SCORING, "whole", "scan_scoring"})
"""Whose marks are our own judges'; all but the oldest prompts' are on `appendix_d`."""


def scale_of(prompt: str) -> Scale:
    """Return the scale of the marks that a prompt brought.

    Args:
        prompt: id and version as a record keeps them, `scoring/2`; or `imported`.

    Returns:
        The scale. Two marks may be averaged, compared or counted together only where theirs are
        equal; `other` is equal to itself within one source alone.
    """
    if prompt in FIRMNESS_PROMPTS:
        return "firmness"
    return "appendix_d" if prompt.partition("/")[0] in JUDGING_STAGES else "other"
