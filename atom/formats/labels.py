"""Find the labels that a row gives its question or answer: skills, topics, difficulty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import NoneType
from typing import Any

from atom.formats.cells import (
    to_list,
    to_name,
)

_LONGEST_LABELS = 200
"""Characters of a cell whose labels are remembered."""


def labels_of(value: object, separator: str | None = None) -> tuple[str, ...]:
    """Return the labels in a cell: of a list each item, else its text, cut at the separator."""
    # The same few texts stand in row after row.
    short = value.__class__ is str and len(value) <= _LONGEST_LABELS
    return (_labels_in_text if short else _labels_in)(value, separator)


def _labels_in(value: Any, separator: str | None) -> tuple[str, ...]:
    if separator is None and (
        value.__class__ is int or (value.__class__ is str and "[" not in value)
    ):
        name = to_name(value)
        return () if name is None else (name,)
    items = to_list(value)
    if items is None:
        if isinstance(value, dict | bytes):
            return ()
        text = to_name(value)
        if text is None:
            return ()
        items = list(text.split(separator)) if separator else [text]
    labels = (to_name(item) for item in items if not isinstance(item, dict | list))
    return tuple(dict.fromkeys(label for label in labels if label))


_labels_in_text = lru_cache(maxsize=4096)(_labels_in)


_MAX_LABEL = 80
LABELS = (
    "category", "l2_category", "l2-category", "sub_category", "subcategory", "skill", "skills",
    "task", "subject", "subfield", "subdomain", "topic", "sub_topic", "domain", "field", "type",
    "question_type", "difficulty", "topic_difficulty", "level", "grade", "split", "source",
    "dataset", "language", "lang", "image_type", "img_type", "bench", "capability",
)  # fmt: skip
"""Keys whose values are labels of a question, in files that don't say which are."""


def labels_in(
    values: Mapping[str, object], keys: Sequence[str] = LABELS, separator: str | None = None
) -> tuple[tuple[str, str], ...]:
    """Return the labels among a row's cells: (facet, value), lists and separated ones apart."""
    if not values:
        return ()
    there = tuple(values)
    among = label_keys(there) if keys is LABELS else _keys_among(there, tuple(keys))
    return tuple(labels_at(values, among, separator))


def labels_at(
    values: Mapping[str, object], keys: Sequence[str], separator: str | None = None
) -> list[tuple[str, str]]:
    """Return the labels in a row's cells under these keys, all of which it has."""
    return [
        (key, label)
        for key in keys
        for label in labels_of(values[key], separator)
        if len(label) <= _MAX_LABEL and "\n" not in label
    ]


@lru_cache(maxsize=256)
def label_keys(there: tuple[str, ...]) -> tuple[str, ...]:
    """Return those of a row's keys whose values are labels of its question."""
    return _keys_among(there, LABELS)


@lru_cache(maxsize=256)
def _keys_among(there: tuple[str, ...], keys: tuple[str, ...]) -> tuple[str, ...]:
    """Return those keys that are there, in their order; most rows of a file have the same."""
    return tuple(key for key in keys if key in there)


_MAX_TAG_LENGTH = 60
_MAX_TAG_VALUES = 40
"""Values of a column that labels questions; more where each stands at least `_ROWS_A_VALUE` times
on average."""
_MAX_TAG_VALUES_LARGE = 500
_ROWS_A_VALUE = 20
_MOST_SEEN = 50_000
"""Questions of which it's remembered how a column labels them."""
_PLAIN = frozenset({str, int, float, bool, NoneType})
"""What a cell that is remembered is."""


class LabelColumn:
    """What a column's cells come to as labels of questions or answers."""

    def __init__(self) -> None:
        self._values: dict[object, tuple[int, int]] = {}
        """Cells met -> how many labels they hold, and these hashed."""
        self._distinct: set[str] = set()
        self._seen: dict[int, int] = {}
        self._n = 0
        self._bad = False
        self.varies = False
        """Whether the cells of one question differ."""

    def add(self, value: object, key: int) -> bool:
        """Take a cell of the question with this key; says whether the column can be labels."""
        met = None
        plain = value.__class__ in _PLAIN
        # 1 and True are equal, and two labels.
        known = value if value.__class__ is str else (value.__class__, value)
        if plain:
            met = self._values.get(known)
        if met is None:
            labels = labels_of(value)
            met = len(labels), hash(labels)
            if not self._can_be(labels):
                self._bad = True
                return False
            if plain and len(self._values) < 4 * _MAX_TAG_VALUES_LARGE:
                self._values[known] = met
        n, now = met
        self._n += n
        if key and not self.varies:
            before = self._seen.get(key)
            if before is None:
                if len(self._seen) < _MOST_SEEN:
                    self._seen[key] = now
            elif before != now:
                self.varies = True
                self._seen.clear()
        return True

    def _can_be(self, labels: tuple[str, ...]) -> bool:
        """Take new labels in; says whether these are labels, and not too many by now."""
        if any(len(label) > _MAX_TAG_LENGTH or "\n" in label for label in labels):
            return False
        self._distinct.update(labels)
        return len(self._distinct) <= _MAX_TAG_VALUES_LARGE

    @property
    def is_group(self) -> bool:
        """Whether the labels are few enough to group by."""
        n = len(self._distinct)
        if self._bad or n < 2 or n > max(3, self._n // 2):
            return False
        return n <= _MAX_TAG_VALUES or n * _ROWS_A_VALUE <= self._n
