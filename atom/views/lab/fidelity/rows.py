"""Each method beside people, over all and by capability."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from atom.analysis.agreement.fidelity import (
    FidelityShare,
    MethodAccuracy,
    PeoplePairs,
    compare_methods,
    method_accuracy,
)
from atom.analysis.compare.paired import PairedGap
from atom.analysis.intervals import Floats, Ints
from atom.methods.registry import METHODS
from atom.views.lab.fidelity.comparison import MethodRead, gaps_of, pairs_among
from atom.views.lab.fidelity.costs import MethodCost
from atom.views.lab.fidelity.criteria_labels import UNMAPPED
from atom.views.study_data import StudyData

_SEED = 20_041
"""Of the halves that a tie tolerance is fitted on."""
_ATOM = "atom"


@dataclass(frozen=True, kw_only=True)
class MethodRow:
    """A method beside people.

    Attributes:
        about: what it asks.
        removes: what of ATOM is taken away.
        samples: samples that people ranked and the method was asked about.
        accuracy: ties exact; None where there is nothing to compare.
        tolerant: ties within a tolerance that was fitted on the other half of the samples.
        by_root: root → share of pairs ordered as people do, unread ones wrong.
        against_atom: accuracy less ATOM's on pairs that both have numbers for; None for ATOM
            itself and without it.
        unscored: verdicts that couldn't be read, or checkpoints.
        failed: questions whose call failed.
        cost: of the samples that it was asked about.
    """

    name: str
    title: str
    about: str
    removes: str
    samples: int
    accuracy: MethodAccuracy | None
    tolerant: MethodAccuracy | None
    by_root: Mapping[str, FidelityShare]
    against_atom: PairedGap | None
    unscored: int
    failed: int
    cost: MethodCost


def method_rows(
    read: Mapping[str, MethodRead],
    pairs: PeoplePairs,
    shared: frozenset[str],
    roots: Mapping[str, str],
    data: StudyData,
    costs: Mapping[str, MethodCost],
) -> tuple[MethodRow, ...]:
    """Hold each method against people."""
    code = {name: at for at, name in enumerate(dict.fromkeys(pairs.sample))}
    sample = np.array([code[name] for name in pairs.sample], dtype=np.int64)
    cluster = data.clusters_of(pairs.sample)
    gaps = {name: gaps_of(one.scores, pairs) for name, one in read.items()}
    atom_gap = gaps[_ATOM] if _ATOM in read and read[_ATOM].asked else None
    rows = []
    for name, one in read.items():
        here = pairs_among(pairs, shared or one.asked)
        if not one.asked:
            here = np.zeros(len(pairs.order), dtype=np.bool_)
        given = (gaps[name][here], pairs.order[here], sample[here], cluster[here])
        some = bool(here.any())
        against = None
        if some and name != _ATOM and atom_gap is not None:
            both = here & pairs_among(pairs, read[_ATOM].asked)
            against = compare_methods(
                gaps[name][both], atom_gap[both], pairs.order[both], cluster[both]
            )
        method = METHODS[name]
        rows.append(
            MethodRow(
                name=name,
                title=method.title,
                about=method.about,
                removes=method.removes,
                samples=len(set(sample[here].tolist())),
                accuracy=method_accuracy(*given) if some else None,
                tolerant=method_accuracy(*given, rng=np.random.default_rng(_SEED))
                if some
                else None,
                by_root=_by_root(gaps[name], pairs, here, roots, sample, cluster),
                against_atom=against if against is not None and against.n else None,
                unscored=one.unscored,
                failed=one.failed,
                cost=costs[name],
            )
        )
    return tuple(rows)


def alike_methods(
    read: Mapping[str, MethodRead], pairs: PeoplePairs, shared: frozenset[str]
) -> tuple[str, ...]:
    """Name the most methods that order every shared pair alike; one asking twice is no news."""
    here = pairs_among(pairs, shared)
    if not here.any():
        return ()
    groups: dict[tuple[float, ...], list[str]] = {}
    for name, one in read.items():
        gap = gaps_of(one.scores, pairs)[here]
        if one.asked and not np.isnan(gap).any():
            groups.setdefault(tuple(np.sign(gap).tolist()), []).append(name)
    most = max(groups.values(), key=len, default=[])
    stored = [name for name in most if METHODS[name].source == "checkpoints"]
    if len(most) - max(len(stored) - 1, 0) < 2:
        return ()
    return tuple(METHODS[name].title for name in most)


def _by_root(
    gap: Floats,
    pairs: PeoplePairs,
    here: NDArray[np.bool_],
    roots: Mapping[str, str],
    sample: Ints,
    cluster: Ints,
) -> dict[str, FidelityShare]:
    names = np.array([roots.get(name, UNMAPPED) for name in pairs.sample], dtype=object)
    found = {}
    for root in dict.fromkeys(names[here].tolist()):
        mine = here & (names == root)
        accuracy = method_accuracy(gap[mine], pairs.order[mine], sample[mine], cluster[mine])
        found[root] = accuracy.strict
    return found


def roots_of_pairs(
    pairs: PeoplePairs, shared: frozenset[str], roots: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the roots with pairs, the most first."""
    count = Counter(
        roots.get(name, UNMAPPED) for name in pairs.sample if name in shared or not shared
    )
    order = sorted(count, key=lambda root: (root == UNMAPPED, -count[root], root))
    return tuple(order)
