"""Multi-Crit: the set's rows, and the ways in which a judge was asked about them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from atom.analysis.intervals import Ints
from atom.judgebench.multi_crit.ask import JOINT, SINGLE
from atom.judgebench.multi_crit.files import SPLITS, pair_of
from atom.judgebench.multi_crit.measures import (
    FIRST,
    SECOND,
    UNREAD,
    Bools,
    vote_verdicts,
)
from atom.judgebench.reading import IMPORTED
from atom.records import BenchItem, Sampling, Verdict

MISSING: Final = -2
"""A vote that isn't there: never asked for, or the call failed."""
_LABELS: Final[Mapping[str, int]] = {"a": FIRST, "b": SECOND}


@dataclass(frozen=True, kw_only=True)
class CriterionRows:
    """The set's rows: one a criterion of a pair.

    Args:
        item: index of the pair.
        criterion: its key.
        label: people's preference.
        split: split of the pair.
        agreement: how far people agree on the row; NaN where unknown.
    """

    item: Ints
    criterion: tuple[str, ...]
    label: Ints
    split: tuple[str, ...]
    agreement: tuple[float, ...]

    @property
    def splits(self) -> list[str]:
        """Splits, the published ones first."""
        known = set(self.split)
        return [*(s for s in SPLITS if s in known), *sorted(known - set(SPLITS))]

    def groups(self) -> list[tuple[str, Bools]]:
        """Return each split's name with its rows, and all together where there are several."""
        parts = [
            (SPLITS.get(split, split), np.array([one == split for one in self.split]))
            for split in self.splits
        ]
        if len(parts) > 1:
            parts.append(("", np.ones(len(self.item), dtype=bool)))
        return parts

    def whole(self, there: Bools) -> Bools:
        """Whether something is there for every criterion of a row's pair."""
        lacking = np.bincount(self.item[~there], minlength=1 + self.item.max())
        return np.equal(lacking[self.item], 0)

    def names(self, among: Bools) -> list[str]:
        """Return the criteria of some rows."""
        return [name for name, one in zip(self.criterion, among, strict=True) if one]


def rows_of(items: Sequence[BenchItem]) -> CriterionRows:
    """Lay the set's rows out."""
    entries = [
        (place, pair.split, entry)
        for place, pair in enumerate(map(pair_of, items))
        for entry in pair.criteria
    ]
    return CriterionRows(
        item=np.array([place for place, _, _ in entries], dtype=np.int64),
        criterion=tuple(entry.key for _, _, entry in entries),
        label=np.array([_LABELS[entry.label] for _, _, entry in entries], dtype=np.int64),
        split=tuple(split for _, split, _ in entries),
        agreement=tuple(
            math.nan if entry.agreement is None else entry.agreement for _, _, entry in entries
        ),
    )


@dataclass(frozen=True, kw_only=True)
class Way:
    """One way in which a judge was asked, with all that it said.

    Args:
        part: `single` or `joint`.
        prompt: template and version, or `imported`.
        votes: by row and vote: 0, 1, -1 unreadable, -2 missing.
        shown: by row and vote: which answer came first; 0 or 1, -2 missing.
        rows: the set's rows.
    """

    part: str
    prompt: str
    sampling: Sampling
    votes: Ints
    shown: Ints
    rows: CriterionRows

    @property
    def asked(self) -> Bools:
        """Whether a row has a vote."""
        return np.asarray((self.votes != MISSING).any(axis=1))

    @property
    def whole(self) -> Bools:
        """Whether every criterion of a row's pair has a vote."""
        return self.rows.whole(self.asked)

    @property
    def verdict(self) -> Ints:
        """The majority of each row's votes."""
        return vote_verdicts(self.votes)

    @property
    def words(self) -> str:
        """The way in words."""
        how = "one criterion at a time" if self.part == SINGLE else "all criteria at once"
        count = self.votes.shape[1]
        words = [how] if count == 1 else [how, f"majority of {count} votes"]
        if self.prompt == IMPORTED:
            words.append("asked elsewhere")
        elif self.sampling.temperature is not None:
            words.append(f"temperature {self.sampling.temperature:g}")
        return ", ".join(words)


def ways_of(
    items: Sequence[BenchItem], rows: CriterionRows, verdicts: Sequence[Verdict]
) -> list[Way]:
    """Sort verdicts by how they were asked for; the way that the figures are of comes first."""
    places: dict[str, dict[str, int]] = {}
    for row, (item, key) in enumerate(zip(rows.item.tolist(), rows.criterion, strict=True)):
        places.setdefault(items[item].id, {})[key] = row
    kinds: dict[tuple[str, str, str], list[Verdict]] = {}
    for verdict in verdicts:
        part = verdict.part.partition("/")[0]
        if verdict.state != "failed" and part in (SINGLE, JOINT):
            kinds.setdefault((part, verdict.prompt, verdict.sampling.key), []).append(verdict)
    ways = []
    for (part, prompt, _), found in kinds.items():
        column = {key: at for at, key in enumerate(sorted({(v.repeat, v.order) for v in found}))}
        votes = np.full((len(rows.item), len(column)), MISSING, dtype=np.int64)
        shown = votes.copy()
        for verdict in found:
            at = column[verdict.repeat, verdict.order]
            mine = places.get(verdict.subject_id, {})
            for key, code in _said(verdict, mine).items():
                votes[mine[key], at] = code
                shown[mine[key], at] = {"ab": 0, "ba": 1}.get(verdict.order, MISSING)
        kept = [at for at in range(len(column)) if (votes[:, at] != MISSING).any()]
        if kept:
            ways.append(
                Way(
                    part=part,
                    prompt=prompt,
                    sampling=found[0].sampling,
                    votes=_packed(votes[:, kept]),
                    shown=_packed(shown[:, kept], votes[:, kept]),
                    rows=rows,
                )
            )
    return sorted(
        ways, key=lambda way: (way.part != SINGLE, -int(way.asked.sum()), -way.votes.shape[1])
    )


def _packed(values: Ints, votes: Ints | None = None) -> Ints:
    """Move each row's votes to the left and drop columns that are left empty.

    Orders alternate from item to item, so that the k-th vote of one item stands in another column
    than that of the next.
    """
    there = (values if votes is None else votes) != MISSING
    order = np.argsort(~there, axis=1, kind="stable")
    width = int(there.sum(axis=1).max())
    return np.take_along_axis(np.where(there, values, MISSING), order, axis=1)[:, :width]


def _said(verdict: Verdict, keys: Iterable[str]) -> dict[str, int]:
    """Return what a verdict says by criterion; what can't be read is -1.

    Args:
        verdict: on one criterion (`single/<key>`, `joint/<key>`), or on all of its pair (`joint`).
        keys: the pair's criteria.
    """
    _, _, key = verdict.part.partition("/")
    if key:
        said = _LABELS.get(verdict.label, UNREAD) if verdict.state == "scored" else UNREAD
        return {key: said} if key in keys else {}
    labels = verdict.data.get("labels", {}) if verdict.state == "scored" else {}
    return {one: _LABELS.get(labels.get(one, ""), UNREAD) for one in keys}
