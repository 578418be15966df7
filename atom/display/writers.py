"""Tables for a terminal, a file and a pull request; a screen's writer is `ui.kit.drawn`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from atom.display.csv_text import csv_text
from atom.display.facts import Facts
from atom.display.markdown import escaped
from atom.display.markup import Html, el
from atom.display.table import Table

R = TypeVar("R")


def lines(table: Table[R]) -> list[str]:
    """Lay a table out in lines, numbers to the right."""
    shown = table.shown("text")
    cells = [[column.text(row) for column in shown] for row in table.rows]
    return laid_out(
        [column.title for column in shown], cells, right=[column.number for column in shown]
    )


def laid_out(
    head: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[bool]
) -> list[str]:
    """Lay texts out in columns.

    Args:
        head: the headings.
        rows: a text a column; its white space becomes single spaces.
        right: whether a column is aligned to the right.
    """
    cells = [[" ".join(text.split()) for text in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(head, *cells, strict=True)]

    def line(texts: Sequence[str]) -> str:
        parts = (
            text.rjust(width) if to_right else text.ljust(width)
            for text, width, to_right in zip(texts, widths, right, strict=True)
        )
        return "  ".join(parts).rstrip()

    return [line(head), *map(line, cells)]


def said(facts: Facts) -> list[str]:
    """Say facts in lines."""
    return [facts.head, *facts.more, *(lines(facts.table) if facts.table else ())]


def csv(*tables: Table[R]) -> str:
    """Write tables of the same columns as one CSV."""
    rows = (row.values() for table in tables for row in table.documents)
    return csv_text(tables[0].names, (tuple(row) for row in rows))


def markdown(table: Table[R]) -> list[str]:
    """Write a table in Markdown's signs, texts escaped."""
    shown = table.shown("text")

    def line(texts: Iterable[str]) -> str:
        return "".join(f"| {text} " if text else "| " for text in texts) + "|"

    ruler = "|".join("--:" if column.number else "---" for column in shown)
    return [
        line(column.title for column in shown),
        f"|{ruler}|",
        *(line(escaped(column.text(row)) for column in shown) for row in table.rows),
    ]


def html(table: Table[R]) -> Html:
    """Write a table as markup without style, texts escaped."""
    shown = table.shown("text")
    return el(
        "table",
        el("thead", el("tr", [el("th", column.title, scope="col") for column in shown])),
        el(
            "tbody",
            [el("tr", [el("td", column.text(row), class_="num" if column.number else None)
                       for column in shown]) for row in table.rows],
        ),
    )  # fmt: skip
