"""The reasons of a study's failed checkpoints in groups, made once for as long as it is looked at.

They are made of all failures, whatever the filters, so that a link to a group means the same
everywhere.

Reference: `analysis.reasons`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from atom.analysis.intervals import Ints
from atom.analysis.layout import Mask
from atom.analysis.reasons.groups import Groups, Tell, Tried, Why, group_reasons
from atom.analysis.reasons.naming import Kind, kind_of, telling_terms
from atom.analysis.reasons.words import less_subject, plain_words, topic
from atom.store import Store
from atom.views.failures.texts import texts_of
from atom.views.filters import Filters, answers_kept
from atom.views.study_data import StudyData

_TYPICAL: Final = 2000
"""Reasons of a group that its kind of error is told from."""
_KEPT: Final = "groups of reasons"


@dataclass(frozen=True, kw_only=True)
class Group:
    """A group of reasons.

    Attributes:
        key: names it in a link: its kind, with a number where several are of that kind.
        name: what a screen calls it: its kind, and the words that tell it from others of it.
        kind: the kind of error that most of its reasons have words for.
        terms: its most telling words.
    """

    key: str
    name: str
    kind: Kind
    terms: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Grouping:
    """A study's failed checkpoints in groups.

    Attributes:
        rows: the checkpoints, by index, shape (F,).
        code: the group of each; -1 = in none.
        groups: the groups, the largest first.
        tried: what their number was chosen from.
        none: why there are none.
    """

    rows: Ints
    code: Ints
    groups: tuple[Group, ...]
    tried: tuple[Tried, ...] = ()
    none: Why | None = None

    @property
    def chosen(self) -> Tried | None:
        """The number that was taken, and what speaks for it."""
        return next((one for one in self.tried if one.k == len(self.groups)), None)

    def holding(self, key: str, n: int) -> Mask | None:
        """Say which checkpoints of all N are in a group, shape (N,); None where there is none."""
        at = next((at for at, one in enumerate(self.groups) if one.key == key), None)
        if at is None:
            return None
        found = np.zeros(n, dtype=bool)
        found[self.rows[self.code == at]] = True
        return found


def is_grouped(data: StudyData) -> bool:
    """Say whether a study's reasons were grouped already, since it was read."""
    return data.table.kept.has(_KEPT)


def grouping_of(store: Store, data: StudyData, tell: Tell | None = None) -> Grouping:
    """Put the reasons of a study's failed checkpoints into groups, once.

    Args:
        store: where the reasons are.
        data: the study.
        tell: told what is done now.
    """
    return data.table.kept.get(_KEPT, lambda: _grouping(store, data, tell))


def _grouping(store: Store, data: StudyData, tell: Tell | None) -> Grouping:
    rows = np.flatnonzero(data.table.fails & data.table.of_answers(answers_kept(data, Filters())))
    said = _said_of_errors(store, data, rows) if len(rows) else []
    found = group_reasons(said, tell=tell)
    return Grouping(rows=rows, code=found.code, groups=_named(said, found), tried=found.tried,
                    none=found.none)  # fmt: skip


def _said_of_errors(store: Store, data: StudyData, rows: Ints) -> list[str]:
    """Return what the reasons of checkpoints say of the error, less what they are about."""
    table, texts = data.table, texts_of(store, data)
    question, criterion, answer = (
        [topic(text) for text in kind.distinct.to_pylist()]
        for kind in (texts.question, texts.criterion, texts.answer)
    )
    response = table.response[rows]
    about = zip(
        texts.question.code[table.sample[response]].tolist(),
        texts.criterion.code[table.criterion[rows]].tolist(),
        texts.answer.code[response].tolist(),
        strict=True,
    )
    nothing: frozenset[str] = frozenset()
    topics = [
        tuple(there[at] if at >= 0 else nothing
              for there, at in zip((question, criterion, answer), places, strict=True))
        for places in about
    ]  # fmt: skip
    codes = texts.reason.code[rows].tolist()
    reasons = texts.reason.distinct.to_pylist()
    words = {at: plain_words(reasons[at]) if at >= 0 else [] for at in dict.fromkeys(codes)}
    return less_subject([words[at] for at in codes], topics)


def _named(said: Sequence[str], found: Groups) -> tuple[Group, ...]:
    """Name groups by rule."""
    if not found.k:
        return ()
    texts: list[list[str]] = [[] for _ in range(found.k)]
    for text, code in zip(said, found.code.tolist(), strict=True):
        if code >= 0 and len(texts[code]) < _TYPICAL:
            texts[code].append(text)
    kinds = [kind_of(some) for some in texts]
    used: Counter[str] = Counter()
    named = []
    for kind, terms in zip(kinds, telling_terms(said, found.code), strict=True):
        used[kind] += 1
        number = f"-{used[kind]}" if used[kind] > 1 else ""
        words = next((term for term in terms if " " in term), "".join(terms[:1]))
        told = f": {words}" if words and (kinds.count(kind) > 1 or kind == "other") else ""
        named.append(Group(key=kind.replace(" ", "-") + number, name=f"{kind.capitalize()}{told}",
                           kind=kind, terms=terms))  # fmt: skip
    return tuple(named)
