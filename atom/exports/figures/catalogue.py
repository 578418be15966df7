"""Which figures there are, and on which page each is at home."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from atom.errors import UsageError
from atom.exports.figures import fingerprints, others, overview
from atom.exports.figures.base import Figure, FigureSource


@dataclass(frozen=True, kw_only=True)
class FigureOffer:
    """A figure that can be drawn.

    Args:
        name: on the command line.
        title: in a menu.
        page: url path of the page that shows the same.
        draw: makes it; raises `UsageError` where the study can't fill it.
    """

    name: str
    title: str
    page: str
    draw: Callable[[FigureSource], Figure]


OFFERS: tuple[FigureOffer, ...] = (
    FigureOffer(name="ranking", title="Ranking with intervals", page="", draw=overview.ranking),
    FigureOffer(name="reasons", title="Right and wrong reasons", page="", draw=overview.reasons),
    FigureOffer(name="tree", title="The capability tree", page="tree", draw=others.tree_map),
    FigureOffer(name="radar", title="First radar", page="fingerprints", draw=fingerprints.radar),
    FigureOffer(name="radar-2", title="Second radar", page="fingerprints",
                draw=partial(fingerprints.radar, place=1)),
    FigureOffer(name="heatmap", title="Every model on every capability", page="fingerprints",
                draw=fingerprints.heat),
    FigureOffer(name="skills", title="One model's skills", page="fingerprints",
                draw=fingerprints.skills),
    FigureOffer(name="breaks", title="Where answers first break", page="fingerprints",
                draw=overview.first_breaks),
    FigureOffer(name="scores", title="How scores spread", page="fingerprints",
                draw=overview.distribution),
    FigureOffer(name="ranks", title="Places sample by sample", page="fingerprints",
                draw=overview.ranks),
    FigureOffer(name="differences", title="Where the two differ", page="compare",
                draw=others.differences),
    FigureOffer(name="effects", title="What feedback does", page="correction", draw=others.effects),
)  # fmt: skip


def offers_of(page: str) -> tuple[FigureOffer, ...]:
    """Return the figures that are at home on a page.

    Args:
        page: its url path.
    """
    return tuple(one for one in OFFERS if one.page == page)


def find_offers(names: Sequence[str]) -> tuple[FigureOffer, ...]:
    """Return the named figures; all where none is named.

    Raises:
        UsageError: there is none of that name.
    """
    known = {one.name: one for one in OFFERS}
    for name in names:
        if name not in known:
            raise UsageError(f"there is no figure {name!r}; these can be drawn: {', '.join(known)}")
    return tuple(known[name] for name in dict.fromkeys(names)) if names else OFFERS
