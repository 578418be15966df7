"""The items behind the Judge lab's figures about people: pairs and things, each with its door."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import streamlit as st

from atom.judgebench.items import ItemStanding
from atom.methods.registry import METHODS
from atom.ui import links
from atom.ui.lab.bench import items as lab_items
from atom.ui.lab.bench.item_query import ItemQuery, ItemsPlace
from atom.ui.pages import FAILURES, JUDGE_LAB
from atom.ui.shell.frame import Here
from atom.views.lab.fidelity.comparison import PeopleComparison, hold
from atom.views.lab.fidelity.tab import as_judged
from atom.views.lab.items import ItemList, ItemRow, ItemView, find_row, laid_open
from atom.views.lab.people_items import (
    SAMPLE,
    label_items,
    method_items,
    method_reasons,
    rating_items,
)
from atom.views.people.pair_labels import labelled
from atom.views.people.ratings import scores_of, things_of
from atom.views.stores import OpenStore
from atom.views.study_data import StudyData

TAB: Final = "people"
METHODS_OF, LABELS, RATINGS = "methods", "labels", "ratings"
"""What of people the items are, as the address's `of` says."""

People = tuple[tuple[str, str, tuple[ItemRow, ...]], ...]
"""(id, name, rows) of each judge or method, all of the same items in the same order."""


def address(here: Here, of: str, group: str, who: str, judge: str = "") -> str:
    """Return the address of the items behind a figure.

    Args:
        of: `METHODS_OF`, `LABELS` or `RATINGS`.
        group: the figure's items; empty = all.
        who: the method, or the judge by name.
        judge: of methods, the judge's id.
    """
    return ItemQuery(group=group, who=who).address(_base(here, of, judge))


def _base(here: Here, of: str, judge: str) -> str:
    return links.address(JUDGE_LAB.url_path, here.filters, tab=TAB, of=of, left=judge or None)


def wanted(query: Mapping[str, str]) -> bool:
    """Say whether an address asks for items about people."""
    return lab_items.wanted(query) and query.get("of") in (METHODS_OF, LABELS, RATINGS)


def draw(here: Here, query: Mapping[str, str]) -> bool:
    """Draw the items that an address asks for.

    Returns:
        Whether there are any; nothing is drawn without.
    """
    of, judge = query["of"], query.get("left", "")
    everybody = _people(
        here.store.url, here.entry.study.id, here.store.revision(), of, judge, here.store, here.data
    )
    if not everybody:
        return False
    who = query.get("who", "")
    chosen = next((name for name, _, _ in everybody if name == who), everybody[0][0])
    rows = {name: mine for name, _, mine in everybody}

    def opened(listed: ItemList, item: str | None) -> ItemView | None:
        return _opened(here, of, judge, everybody, chosen, listed, item)

    def sample(row: ItemRow) -> str:
        filters = here.filters.but(sample=str(row.item.data[SAMPLE]), criterion=None)
        return links.address(FAILURES.url_path, filters)

    lab_items.draw_place(
        ItemsPlace(
            store=here.store,
            stem=f"people-{of}-items",
            base=_base(here, of, judge),
            figures=links.address(JUDGE_LAB.url_path, here.filters, tab=TAB, who=judge or None),
            judges=tuple((name, title) for name, title, _ in everybody),
            judge=chosen,
            rows=lambda name, order: rows[name] if not order else (),
            opened=opened,
            sample=sample,
        ),
        query,
    )
    return True


def _opened(
    here: Here,
    of: str,
    judge: str,
    everybody: People,
    chosen: str,
    listed: ItemList,
    item: str | None,
) -> ItemView | None:
    row = find_row(listed, item)
    if row is None:
        return None
    judges: list[tuple[str, str, ItemStanding]] = []
    for name, title, rows in everybody:
        mine = next((one.found for one in rows if one.item.id == row.item.id), None)
        if mine is None or not mine.said:
            continue
        if of == METHODS_OF and name == chosen:
            data = as_judged(here.store, here.data, judge or None)
            reasons = method_reasons(here.store, data, name, row)
            mine = replace(mine, said=(*mine.said, *reasons))
        judges.append((name, title, mine))
    return laid_open(here.store, listed, row, tuple(judges))


@st.cache_resource(show_spinner="Reading what people said", max_entries=4)
def _people(
    url: str, study_id: str, revision: int, of: str, judge: str, _store: OpenStore, _data: StudyData
) -> People:
    del url, study_id, revision
    if of == METHODS_OF:
        data = as_judged(_store, _data, judge or None)
        held: PeopleComparison = hold(_store, data, _data)
        return tuple(
            (name, METHODS[name].title, rows)
            for name in METHODS
            if (rows := method_items(_store, data, held, name))
        )
    if of == LABELS:
        found = labelled(_store, _data)
        names: Sequence[str] = () if found is None else tuple(found.said) or ("",)
        return tuple(
            (name, name or "people", label_items(_store, _data, found, name))
            for name in names
            if found is not None
        )
    things = things_of(_store, _data)
    if things is None:
        return ()
    judged = scores_of(_store, _data, things)
    return tuple(
        (name, name or "people", rating_items(_store, _data, things, judged, name))
        for name in (tuple(one.name for one in judged[1]) or ("",))
    )
