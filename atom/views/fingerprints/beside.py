"""The same models' shapes in another of the study's trees, beside those in the first."""

from __future__ import annotations

from dataclasses import dataclass

from atom.display import numbers
from atom.views.filters import Filters
from atom.views.fingerprints.radar import Radar, radars
from atom.views.fingerprints.shape import Shape, shape
from atom.views.fingerprints.told_apart import ToldApart, told_apart
from atom.views.study_data import StudyData
from atom.views.tree.study_trees import StudyTree


@dataclass(frozen=True, kw_only=True)
class TreeShapes:
    """What one tree makes of the models.

    Attributes:
        form: every model's values on its capabilities.
        radars: at most two, of the models that the page draws.
        apart: whether its halves tell the models apart.
        placed: scored checkpoints that hang in it.
        scored: scored checkpoints in all.
    """

    tree: StudyTree
    form: Shape
    radars: tuple[Radar, ...]
    apart: ToldApart
    placed: int
    scored: int


def shapes_in(
    data: StudyData, filters: Filters, tree: StudyTree, layer: int | None = None
) -> TreeShapes:
    """Compute the models' shapes in a tree.

    Args:
        data: the study under that tree.
        filters: what narrows it, who is drawn, and the tree's version where it isn't the study's.
        layer: the layer that radars are made of; None = the usual one.
    """
    form = shape(data, filters)
    return TreeShapes(
        tree=tree,
        form=form,
        radars=radars(form, layer),
        apart=told_apart(data, form),
        placed=int(((data.table.score > 0) & (data.table.leaf >= 0)).sum()),
        scored=int((data.table.score > 0).sum()),
    )


def beside_words(one: TreeShapes, other: TreeShapes) -> str:
    """Say which models each tree tells apart; why not where it can't be said."""
    why = next((each.apart.why for each in (one, other) if each.apart.why), "")
    if why:
        return why
    left, right = (100 * each.apart.first for each in (one, other))
    return (
        "By their shapes, the halves of the samples name the right model in "
        f"{numbers.in_percent(left, 0)} of tries "
        f"in {one.tree.name!r} ({numbers.count(one.tree.leaves, 'leaf', 'leaves')}) and in "
        f"{numbers.in_percent(right, 0)} in "
        f"{other.tree.name!r} ({numbers.count(other.tree.leaves, 'leaf', 'leaves')}); "
        "guessing would reach "
        f"{numbers.share(one.apart.chance)}."
    )
