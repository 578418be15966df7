"""Data: the studies that are here, for the Data page and for `study list`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from atom.display.table import Column, Table
from atom.records import Import
from atom.store import Store, count_study, table
from atom.views.stores import StudyEntry


@dataclass(frozen=True, kw_only=True)
class StudyCard:
    """A study as the list shows it."""

    entry: StudyEntry
    samples: int
    candidates: int
    responses: int
    imports: int


def study_card(store: Store, entry: StudyEntry) -> StudyCard:
    """Count what a study holds.

    Args:
        store: the store that holds it.
    """
    counts = count_study(store, entry.study.id)
    return StudyCard(
        entry=entry,
        samples=counts.samples,
        candidates=counts.candidates,
        responses=counts.responses,
        imports=len(imports_of(store, entry.study.id)),
    )


def imports_of(store: Store, study_id: str) -> tuple[Import, ...]:
    """Return a study's imports, the newest first."""
    columns = table(Import).c
    found = store.select(Import, columns.study_id == study_id, order_by=[columns.created])
    return tuple(reversed(found))


def study_table(cards: Sequence[StudyCard]) -> Table[StudyCard]:
    """List studies, in the order given."""
    return Table(
        label="Studies",
        columns=(
            Column(title="Study", of=lambda card: card.entry.study.name, name="name"),
            Column(title="Samples", of=lambda card: card.samples, name="samples", number=True),
            Column(title="Models", of=lambda card: card.candidates, name="candidates", number=True),
            Column(title="Answers", of=lambda card: card.responses, name="responses", number=True),
            Column(
                title="Imports", of=lambda card: card.imports, name="imports", number=True,
                broad=True,
            ),
            Column(
                title="Made", of=lambda card: card.entry.study.created, name="created",
                write=lambda at: str(at)[:10], broad=True,
            ),
            Column(
                title="Synthetic", of=lambda card: card.entry.study.synthetic, name="synthetic",
                seen="text",
            ),
            Column(
                title="Where", of=lambda card: "bundled" if card.entry.bundled else "store",
                name="where", seen="text",
            ),
            Column(title="Id", of=lambda card: card.entry.study.id, name="id", seen="text"),
            Column(title="", of=lambda _: "Open", seen="screen"),
        ),
        rows=cards,
    )  # fmt: skip
