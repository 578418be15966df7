"""The reasons of a study's failed checkpoints in groups, made once for as long as it is looked at.

They are made of all failures, whatever the filters, so that a link to a group means the same
everywhere: of their words, or of an endpoint's embeddings of these where the study's owner chose
so and the store holds them all. Names come from a rule, or from a judge that was asked for them.

Reference: `analysis.reasons`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from atom.analysis.intervals import Floats, Ints
from atom.analysis.layout import Mask
from atom.analysis.reasons.groups import (
    GroupCountTrial,
    Groups,
    Tell,
    UngroupedCause,
    group_reasons,
    says,
)
from atom.analysis.reasons.naming import KINDS, Kind, kind_of, telling_terms
from atom.analysis.reasons.words import less_subject, plain_words, topic
from atom.records import Call, content_id
from atom.records.grouped import GroupingChoice
from atom.records.vectors import embedding_id, unpack
from atom.store import Store
from atom.store.reading.grouped import grouped_by
from atom.views.failures.texts import texts_of
from atom.views.filters import Filters, answers_kept
from atom.views.study_data import StudyData

_TYPICAL: Final = 2000
"""Reasons of a group that its kind of error is told from."""
_KEPT: Final = "groups of reasons"
_SAID: Final = "what reasons say of errors"
BY_VECTORS: Final = ".e"
"""How the key of a group ends that was made from embeddings: links to other groups stay theirs."""


@dataclass(frozen=True, kw_only=True)
class Group:
    """A group of reasons.

    Attributes:
        key: names it in a link: its kind, with a number where several are of that kind.
        name: what a screen calls it: its kind, and the words that tell it from others of it.
        kind: the kind of error that most of its reasons have words for, or that a judge named.
        terms: its most telling words.
        says: what its reasons have in common, in a judge's words; empty where the rule names it.
    """

    key: str
    name: str
    kind: Kind
    terms: tuple[str, ...]
    says: str = ""


@dataclass(frozen=True, kw_only=True)
class Grouping:
    """A study's failed checkpoints in groups.

    Attributes:
        rows: the checkpoints, by index, shape (F,).
        code: the group of each; -1 = in none.
        groups: the groups, the largest first.
        tried: what their number was chosen from.
        by: how they are made, and who named them.
        missing: how many different reasons lack the embedding that was chosen: words are used.
    """

    rows: Ints
    code: Ints
    groups: tuple[Group, ...]
    tried: tuple[GroupCountTrial, ...] = ()
    none: UngroupedCause | None = None
    by: GroupingChoice = field(default_factory=GroupingChoice)
    missing: int = 0

    @property
    def by_vectors(self) -> bool:
        """Whether embeddings made the groups."""
        return bool(self.by.model) and not self.missing

    @property
    def identity(self) -> str:
        """Name these groups by what is in them: names that a judge gave hold for no others."""
        return content_id("groups", self.rows.tobytes().hex(), self.code.tobytes().hex())

    @property
    def named(self) -> bool:
        """Whether a judge named them, as they are now."""
        return bool(self.by.names) and self.by.named == self.identity

    @property
    def chosen(self) -> GroupCountTrial | None:
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


def is_grouped(store: Store, data: StudyData) -> bool:
    """Say whether a study's reasons were grouped already, as it is chosen, since it was read."""
    return data.table.kept.has(_key(chosen_by(store, data)))


def grouping_of(store: Store, data: StudyData, tell: Tell | None = None) -> Grouping:
    """Put the reasons of a study's failed checkpoints into groups, once."""
    by = chosen_by(store, data)
    made = data.table.kept.get(_key(by), lambda: _grouping(store, data, by, tell))
    return _as_named(replace(made, by=by))


def _key(by: GroupingChoice) -> tuple[str, str, str]:
    return (_KEPT, by.model, by.at)


def chosen_by(store: Store, data: StudyData) -> GroupingChoice:
    """Return what is chosen for the groups of a study's failures."""
    return grouped_by(store, data.study.id, marks_of(data))


def marks_of(data: StudyData) -> str:
    """Name the marks that groups are of: a choice holds for one judge's."""
    return data.judge.id if data.judge else data.study.id


def texts_of_errors(store: Store, data: StudyData) -> tuple[str, ...]:
    """Return what a study's reasons say of errors, each text once: what is embedded."""
    return tuple(sorted({text for text in _said(store, data) if says(text)}))


def _rows(data: StudyData) -> Ints:
    return np.flatnonzero(data.table.fails & data.table.of_answers(answers_kept(data, Filters())))


def _said(store: Store, data: StudyData) -> list[str]:
    rows = _rows(data)
    return data.table.kept.get(
        _SAID, lambda: _said_of_errors(store, data, rows) if len(rows) else []
    )


def _grouping(store: Store, data: StudyData, by: GroupingChoice, tell: Tell | None) -> Grouping:
    said = _said(store, data)
    vectors = vectors_of(store, by.model, texts_of_errors(store, data)) if by.model else {}
    missing = sum(vector is None for vector in vectors.values())
    used = {text: vector for text, vector in vectors.items() if vector is not None}
    by_vectors = bool(by.model) and not missing
    found = group_reasons(said, vectors=used if by_vectors else None, tell=tell)
    groups = _named(said, found, BY_VECTORS if by_vectors else "")
    return Grouping(rows=_rows(data), code=found.code, groups=groups, tried=found.tried,
                    none=found.none, missing=missing)  # fmt: skip


def vectors_of(store: Store, model: str, texts: Sequence[str]) -> Mapping[str, Floats | None]:
    """Read texts' embeddings by a model; None for one that the store doesn't hold."""
    names = {embedding_id(model, [text]): text for text in texts}
    found: dict[str, Floats | None] = dict.fromkeys(texts)
    for call in store.get_many(Call, names):
        rows = unpack(call.reply) if call.reply else []
        if len(rows) == 1:
            found[names[call.id]] = np.array(rows[0], dtype=np.float64)
    lengths = {len(one) for one in found.values() if one is not None}
    return found if len(lengths) <= 1 else dict.fromkeys(texts)


def _as_named(found: Grouping) -> Grouping:
    """Call groups what a judge called them, where it named these."""
    if not found.named:
        return found
    told = {one.key: one for one in found.by.names}
    known = {str(kind): kind for kind in KINDS}
    groups = [
        replace(group, name=one.name, says=one.says, kind=known.get(one.kind, group.kind))
        if (one := told.get(group.key)) is not None
        else group
        for group in found.groups
    ]
    return replace(found, groups=tuple(groups))


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


def _named(said: Sequence[str], found: Groups, ending: str) -> tuple[Group, ...]:
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
        key = kind.replace(" ", "-") + number + ending
        named.append(Group(key=key, name=f"{kind.capitalize()}{told}", kind=kind, terms=terms))
    return tuple(named)
