"""The Judge lab's part "Against people" for labels of pairs and ratings, where a study has them."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from atom.ui import kit
from atom.ui.html import el
from atom.ui.lab import people_items as lab_people_items
from atom.ui.people import labels as people_labels_parts
from atom.ui.shell.frame import Here
from atom.views.people.pair_labels import PairLabels, pair_labels
from atom.views.people.ratings import PeopleRatings, people_ratings
from atom.views.stores import OpenStore
from atom.views.study_data import StudyData


@dataclass(frozen=True, kw_only=True)
class PeopleTables:
    """People's labels of pairs and their ratings; None where a study has none."""

    pairs: PairLabels | None
    ratings: PeopleRatings | None


def draw(here: Here) -> None:
    """Draw what people say of pairs and by number, and judges beside them; nothing without any."""
    found = read(here)
    parts = [
        people_labels_parts.pairs(found.pairs, _door(here, lab_people_items.LABELS))
        if found.pairs is not None
        else None,
        people_labels_parts.ratings(found.ratings, _door(here, lab_people_items.RATINGS))
        if found.ratings is not None
        else None,
    ]
    if any(part is not None for part in parts):
        kit.show(el("div", parts, class_="stack"), key="people_labels")


def _door(here: Here, of: str) -> people_labels_parts.Door:
    return lambda judge, group: lab_people_items.address(here, of, group, judge)


def read(here: Here) -> PeopleTables:
    """Compute both, once for each revision."""
    return _labels(
        here.store.url, here.entry.study.id, here.store.revision(), here.store, here.data
    )


@st.cache_resource(show_spinner="Reading people’s labels", max_entries=8)
def _labels(
    url: str, study_id: str, revision: int, _store: OpenStore, _data: StudyData
) -> PeopleTables:
    del url, study_id, revision
    return PeopleTables(pairs=pair_labels(_store, _data), ratings=people_ratings(_store, _data))
