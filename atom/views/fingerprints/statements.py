"""What stands out of the fingerprints, in a few sentences, each with its door."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from atom.analysis.capability.diagnosis import LABELS
from atom.display import numbers
from atom.views.filters import Filters
from atom.views.fingerprints.claims import Claims, claim_words
from atom.views.fingerprints.shape import Shape
from atom.views.fingerprints.told_apart import ToldApart
from atom.views.overview.statements import Statement

_SURE = 0.9
"""Share of tries from which on a model counts as told apart."""
_ALIKE = 0.15
"""Share of tries from which on two models are said to look alike; more where models are few."""
_REPEATS = 0.1
"""Correlation of a model's own halves from which on it has a shape."""


def statements(form: Shape, said: Claims | None, apart: ToldApart) -> tuple[Statement, ...]:
    """Say in a few sentences what stands out, each with its door.

    Args:
        said: what the diagnosis says.
    """
    if not form.models:
        return ()
    here = form.filters.but(node=(), sample=None, criterion=None)
    if form.selected:
        text = (
            f"Only {form.selected} are looked at, which are other samples for every model: the "
            "shapes below describe them, and nothing is claimed."
        )
        return (Statement(text=text, filters=here.but(model=None, show="all"), page="failures"),)
    found = []
    if apart.models:
        found += [
            _who_is_told(here, apart),
            _who_looks_alike(here, apart),
            _who_has_none(here, apart),
        ]
    elif apart.why:
        found.append(Statement(text=apart.why, filters=here, page="fingerprints"))
    found.append(_clearest(form, said))
    return tuple(one for one in found if one is not None)


def _who_is_told(here: Filters, apart: ToldApart) -> Statement:
    own = np.diag(apart.named)
    sure = [place for place in np.argsort(-own, kind="stable") if own[place] >= _SURE * apart.tries]
    best = apart.models[int(np.argmax(own))]
    door = here.but(model=best.model_id, peers=tuple(p for p in here.peers if p != best.model_id))
    if len(sure) == len(apart.models):
        text = (
            f"{numbers.every(len(sure), 'models')} have a shape of their own: each is recognised "
            f"in at least {int(own.min()):,} of {apart.tries:,} tries."
        )
    elif sure:
        names = [apart.models[place].name for place in sure]
        hits = int(min(own[place] for place in sure))
        least = "at least " if len(sure) > 1 else ""
        text = (
            f"{_listing(names)} {'is' if len(sure) == 1 else 'are'} told apart from all others by "
            f"shape: recognised in {least}{hits} of {apart.tries:,} tries."
        )
    else:
        text = (
            f"No model is surely told by its shape: {numbers.share(apart.first)} of tries name the "
            f"right one, where guessing would reach {numbers.share(apart.chance)}."
        )
    return Statement(text=text, filters=door, page="fingerprints")


def _who_looks_alike(here: Filters, apart: ToldApart) -> Statement | None:
    """Name the two models that are taken for one another most often; both must have a shape."""
    taken = apart.named + apart.named.T
    np.fill_diagonal(taken, 0)
    if not apart.shapes:
        return None
    flat = ~_repeats(apart)
    taken[flat], taken[:, flat] = 0, 0
    one, other = (int(place) for place in np.unravel_index(int(taken.argmax()), taken.shape))
    if taken[one, other] < max(_ALIKE, 0.6 * apart.chance) * 2 * apart.tries:
        return None
    first, second = apart.models[one], apart.models[other]
    return Statement(
        text=f"{first.name} and {second.name} look alike: in {taken[one, other]} of "
        f"{2 * apart.tries} tries one is taken for the other.",
        filters=here.but(model=first.model_id, peers=(second.model_id,)),
        page="compare",
    )


def _repeats(apart: ToldApart) -> NDArray[np.bool_]:
    """Say whose shape in one half resembles its own in the other at all, shape (K,)."""
    return np.asarray(np.diag(apart.similarity) >= _REPEATS)


def _who_has_none(here: Filters, apart: ToldApart) -> Statement | None:
    """Name the models without a shape of their own: even all over, or too little evidence."""
    flat = [int(place) for place in np.flatnonzero(~_repeats(apart))]
    if not apart.shapes or not flat or len(flat) == len(apart.models):
        return None
    names = [apart.models[place].name for place in flat]
    first = apart.models[flat[0]]
    one = len(flat) == 1
    return Statement(
        text=f"{_listing(names)} {'has' if one else 'have'} no shape that repeats: what one half "
        f"of the samples shows of {'it' if one else 'them'}, the other doesn't.",
        filters=here.but(
            model=first.model_id, peers=tuple(p for p in here.peers if p != first.model_id)
        ),
        page="fingerprints",
    )


def _clearest(form: Shape, said: Claims | None) -> Statement | None:
    """Name the claim with the largest departure among leaves (or labels)."""
    if said is None:
        return None
    pooled = np.nan_to_num(said.seen.pooled[:, form.finest])
    claimed = np.isin(
        said.seen.label[:, form.finest], (LABELS.index("confirmed"), LABELS.index("strength"))
    )
    size = np.where(claimed, np.abs(pooled), 0)
    if not size.any():
        return None
    model, place = np.unravel_index(int(size.argmax()), size.shape)
    node = int(form.finest[place])
    claim = said.at(int(model), node)
    return Statement(
        text=f"The largest departure that is sure: {form.names[int(model)].name} on "
        f"{form.name_at(node)}, {claim_words(claim, form.facet)} ({claim.glyph} {claim.words}).",
        filters=form.mark(int(model), node).filters,
        page="failures",
    )


def _listing(names: Sequence[str]) -> str:
    """Write `a`, `a and b`, `a, b and c`, `a, b and 3 more`."""
    if len(names) > 3:
        return f"{', '.join(names[:2])} and {len(names) - 2:,} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
