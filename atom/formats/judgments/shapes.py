"""Rows of any shape to rows of one mark each: lists, objects, trees, columns of marks, cells."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from atom.formats.cells import to_list, to_number, to_text
from atom.formats.column_names import cell
from atom.formats.judgments.paths import match_cell

Values = dict[str, object]
KEY, VALUE, NUMBER, PATH = "key", "value", "number", "path"
"""What members of an object and numbered lines are called; a member's place; a leaf's path."""
CRITERION, MARK = "criterion", "mark"
DEEPER = ".*"
"""After a column of `each`: its members are objects or lists, whose members are opened."""
MOST_LEVELS = 60
_MAX_NAME = 160
_NUMBERED = re.compile(
    r"^[ \t]*(?:[-*][ \t]*)?(?:Q|#)?(\d{1,4})[ \t]*[.):\-][ \t]*(.*)$", re.IGNORECASE
)


class ShapeError(Exception):
    """A row isn't of the shape that the map says; the message says why."""


def numbered_lines(text: str) -> list[tuple[str, str]]:
    """Cut a text at its numbered lines: `1. yes`, `2) no`, `Q3: yes`.

    Returns:
        (number, what stands behind it, further lines included); nothing where no line is numbered.
    """
    found: list[tuple[str, str]] = []
    for line in text.splitlines():
        match = _NUMBERED.match(line)
        if match is not None:
            found.append((match[1], match[2].strip()))
        elif found and line.strip():
            number, before = found[-1]
            found[-1] = (number, f"{before}\n{line.strip()}".strip())
    return found


def members(value: object) -> list[Values] | None:
    """Return what a cell holds: a list's items, an object's entries, or numbered lines.

    Returns:
        A row for each member: an object's own fields, or `value`; entries of objects and numbered
        lines have a `key`. None where the cell holds no such thing.
    """
    if isinstance(value, str):
        value = _from_text(value)
    if isinstance(value, Mapping):
        return [
            {KEY: str(key), **(item if isinstance(item, dict) else {VALUE: item})}
            for key, item in value.items()
        ]
    if isinstance(value, list | tuple):
        return [dict(item) if isinstance(item, dict) else {VALUE: item} for item in value]
    return None


def _from_text(text: str) -> object:
    stripped = text.strip()
    if stripped.startswith("{"):
        try:
            return json.loads(stripped)
        except (ValueError, RecursionError):
            return None
    items = to_list(stripped)
    if items is not None:
        return items
    return dict(numbered_lines(text)) or None


def exploded(row: Values, columns: Sequence[str]) -> Iterator[Values]:
    """Give a row for each member of its cells; lists that are named together run side by side.

    Args:
        row: the row; its other cells are kept, a member's own fields come before them.
        columns: which cells; one that is there only inside another's members is opened in turn (an
            empty one there leaves the member as it is: a criterion that nobody voted on), and of
            `name.*` the members of all members of `name`.

    Raises:
        ShapeError: a cell holds no list, or lists of one row have different lengths.
    """
    here = [name for name in columns if cell(row, name.removesuffix(DEEPER)) is not None]
    later = [name for name in columns if name not in here]
    if not here:
        raise ShapeError(f"it has no list or object in {columns[0]!r}")
    opened: list[tuple[str, list[Values]]] = []
    for name in here:
        found = _members_of(row, name)
        if found is None:
            raise ShapeError(f"its {name!r} is no list, object or numbered lines")
        opened.append((name, found))
    lengths = {len(found) for _, found in opened}
    if len(lengths) > 1:
        raise ShapeError(
            f"its lists have different lengths: "
            f"{', '.join(f'{name!r} {len(found)}' for name, found in opened)}"
        )
    for at in range(lengths.pop()):
        made = dict(row)
        made[NUMBER] = str(at + 1)
        for name, found in opened:
            member = found[at]
            if VALUE in member:
                made[name] = member[VALUE]
            made.update(member)
        if not later:
            yield made
            continue
        yield from list(exploded(made, later)) or [made]


def _members_of(row: Values, name: str) -> list[Values] | None:
    """Return the members of a cell; of `name.*` those of all its members, one after the other."""
    outer = name.removesuffix(DEEPER)
    value = cell(row, outer)
    if outer == name:
        return members(value)
    inner = value.values() if isinstance(value, Mapping) else value
    if not isinstance(inner, Iterable) or isinstance(inner, str):
        return None
    opened = [members(one) for one in inner]
    return [one for found in opened for one in found or ()] if None not in opened else None


def leaves(node: Mapping[str, object], children: str, weight: str, label: str) -> Iterator[Values]:
    """Walk a weighted tree and give a row for each leaf.

    Args:
        node: the root, or any node.
        children: the key that holds a node's children.
        weight: the key of a node's weight among its siblings.
        label: the key of a node's name or requirement.

    Returns:
        Each leaf's own fields; under `weight` its share of the whole (the product of the shares on
        its way, adding to 1), under `path` the names of the nodes above it.

    Raises:
        ShapeError: a weight is no number, or the tree is too deep.
    """
    yield from _leaves(node, children, weight, label, 1.0, ())


def _leaves(
    node: Mapping[str, object],
    children: str,
    weight: str,
    label: str,
    share: float,
    above: tuple[str, ...],
) -> Iterator[Values]:
    below = node.get(children)
    if not isinstance(below, list) or not below:
        yield {**node, weight: share, PATH: list(above)}
        return
    if len(above) > MOST_LEVELS:
        raise ShapeError(f"its tree is deeper than {MOST_LEVELS} levels")
    weights = [_weight(one, weight) for one in below]
    total = sum(weights)
    name = _node_name(node.get(label))
    taken: dict[str, int] = {}
    for one, own in zip(below, weights, strict=True):
        if not own:
            continue  # a node without weight decides nothing
        child = dict(one)
        if child.get(children):
            # Siblings of one name stay apart: they are nodes of their own.
            text = _node_name(child.get(label))
            n = taken[text.casefold()] = taken.get(text.casefold(), 0) + 1
            if n > 1:
                child[label] = f"{text} ({n})"
        yield from _leaves(child, children, weight, label, share * own / total, (*above, name))


def _weight(node: object, key: str) -> float:
    if not isinstance(node, Mapping):
        raise ShapeError("a node of its tree is no object")
    given = node.get(key)
    number = 1.0 if given is None else to_number(given)
    if number is None or number < 0:
        raise ShapeError(f"a node's weight is {given!r:.40}, which is no positive number")
    return number


def _node_name(value: object) -> str:
    text = " ".join((to_text(value) or "(no name)").split())
    return text if len(text) <= _MAX_NAME else text[: _MAX_NAME - 1] + "…"


def wide(row: Values, axis: str, columns: Mapping[str, str], mark: str) -> Iterator[Values]:
    """Give a row for each of several columns of marks.

    Args:
        axis: what the columns are: `model`, `criterion` or `judge`.
        columns: name -> column.
        mark: under which key a column's cell goes.
    """
    for name, column in columns.items():
        yield {**row, axis: name, mark: cell(row, column)}


def in_cell(row: Values, criteria: Sequence[str], mark: str) -> Iterator[Values]:
    """Give a row for each mark of a cell that holds a list, one for each criterion in order.

    Raises:
        ShapeError: it holds no list of so many.
    """
    value = cell(row, mark)
    items = [value] if value is None else to_list(value)
    if items is None or (value is not None and len(items) != len(criteria)):
        raise ShapeError(f"its cell {str(value)[:40]!r} isn't a list of {len(criteria):,} marks")
    for at, name in enumerate(criteria):
        yield {**row, CRITERION: name, mark: items[at] if value is not None else None}


@dataclass(frozen=True, kw_only=True)
class RowShape:
    """How a file's rows are brought to one mark each; everything is optional.

    Args:
        captured: what the file's path says.
        split: column -> pattern of its cells.
        tree: the key of a node's children.
        weight: the key of a node's weight.
        label: the key of a node's requirement.
        each: cells that are opened.
        axes: (axis, name -> column).
        cell: criteria whose marks stand in one cell.
        mark: the column of the mark.
    """

    captured: Mapping[str, str]
    split: Mapping[str, str]
    tree: str | None
    weight: str
    label: str
    each: tuple[str, ...]
    axes: tuple[tuple[str, Mapping[str, str]], ...]
    cell: tuple[str, ...]
    mark: str

    @property
    def is_plain(self) -> bool:
        """Whether rows are what they are."""
        return not (self.split or self.tree or self.each or self.axes or self.cell)

    def rows(self, values: Values) -> list[Values]:
        """Bring one row of a file to rows of one mark each.

        Raises:
            ShapeError: it isn't of this shape.
        """
        if self.captured:
            values = {**values, **self.captured}
        if self.is_plain:
            return [values]
        first = {name: made for name, made in self.split.items() if name not in self.each}
        found_rows = [_cut(values, first) if first else values]
        if self.tree is not None:
            outer = {key: value for key, value in values.items() if key != self.tree}
            found_rows = [
                {**outer, **leaf} for leaf in leaves(values, self.tree, self.weight, self.label)
            ]
        if self.each:
            found_rows = [one for row in found_rows for one in exploded(row, self.each)]
        later = {name: made for name, made in self.split.items() if name in self.each}
        if later:
            found_rows = [_cut(row, later) for row in found_rows]
        for axis, columns in self.axes:
            found_rows = [one for row in found_rows for one in wide(row, axis, columns, self.mark)]
        if self.cell:
            found_rows = [one for row in found_rows for one in in_cell(row, self.cell, self.mark)]
        return found_rows


def _cut(row: Values, split: Mapping[str, str]) -> Values:
    """Read the parts of cells that are made of several."""
    for column, pattern in split.items():
        text = to_text(cell(row, column))
        found = None if text is None else match_cell(pattern, text)
        if found is None:
            raise ShapeError(f"its {column!r} isn't made as {pattern!r}")
        row = {**row, **found}
    return row
