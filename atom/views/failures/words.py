"""Sentences about groups of failures, the same on the screen and on the terminal."""

from __future__ import annotations

from typing import Final

from atom.analysis.reasons.groups import LEAST_REASONS, UngroupedCause
from atom.display import numbers
from atom.views.compare.nodes import Q
from atom.views.failures.groups import FailureGroups

NONE_WORDS: Final[dict[UngroupedCause, str]] = {
    "few": f"Too few failures to group: under {LEAST_REASONS} checkpoints failed.",
    "silent": "These reasons don’t fall into groups: most of them don’t say what went wrong.",
    "loose": "These reasons don’t fall into groups: they have no more in common than their words "
    "have by chance.",
}
"""Why there are no groups."""
ABOUT: Final = (
    "Groups come from the judge’s reasons alone, less what each step is about. A model’s share is "
    "taken among its own failures and held against the mean of the others’; intervals count "
    f"samples, and all models and groups together are held to a false discovery rate of {Q:.2f}."
)
LOOSE: Final = 0.6
"""Under this stability groups are called loose."""


def stands_out(view: FailureGroups, m: int, g: int) -> str:
    """Say how a model's share of a group differs from the others'.

    Args:
        m: the model.
        g: the group.
    """
    found = view.signature
    assert found is not None
    more = "more" if found.gap[m, g] > 0 else "less"
    gap = numbers.points_interval(
        float(found.gap[m, g]), float(found.lo[m, g]), float(found.hi[m, g])
    )
    return (
        f"{view.rows[g].group.name} makes up {more} of {view.models[m]}’s failures: "
        f"{numbers.share(found.share[m, g], 1)} of {found.n[m]:,}, the others’ mean is "
        f"{numbers.share(found.others[m, g], 1)}; {gap} points"
    )


def made_words(view: FailureGroups) -> str:
    """Say what the groups are made of, and who named them."""
    found = view.grouping
    by = found.by
    if found.by_vectors:
        of = "synthetic embeddings" if by.synthetic else "embeddings"
        made = f"Made of the reasons’ {of}, by {by.model} ({by.endpoint})."
    else:
        made = "Made of the reasons’ words (TF-IDF), offline."
        if found.missing:
            made += (
                f" Embeddings by {by.model} were chosen, and the store lacks "
                f"{numbers.count(found.missing, 'of them', 'of them')}."
            )
    if found.named:
        named = f"Named by the judge {by.named_by}; the rule’s kinds stay in links."
    elif by.names:
        named = f"Named by rule: {by.named_by} named groups that have changed since."
    else:
        named = "Named by rule."
    return f"{made} {named}"


def chosen_words(view: FailureGroups) -> str:
    """Say what speaks for the number of groups."""
    one = view.chosen
    if one is None:
        return ""
    loose = " The groups are loose: read the examples." if one.stability < LOOSE else ""
    return (
        f"{one.k:,} groups, by rule: silhouette {one.silhouette:.2f} ({one.chance:.2f} where words "
        f"are dealt out by chance); two halves of the reasons agree on them to "
        f"{one.stability:.2f} of 1.{loose}"
    )
