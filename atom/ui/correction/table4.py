"""The paper's Table 4, from this study's experiments."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from atom.ui import kit
from atom.ui.correction.doors import ExperimentDoors
from atom.ui.correction.experiments import ChosenExperiment
from atom.ui.html import Html, el
from atom.ui.shell.frame import Here
from atom.views.correction.data import ExperimentRow
from atom.views.correction.steps import Table4, table4_view
from atom.views.stores import OpenStore


def table4(found: Table4, doors: ExperimentDoors) -> Html:
    """Draw the paper's Table 4."""
    head, *lines = found.lines

    def cell(at: int, row: tuple[int, Sequence[str]]) -> Html:
        place, line = row
        if place % 2:
            return kit.small("mean step score" if at == 1 else line[at])
        if not at and line[0] in found.used:
            href = ExperimentDoors(filters=doors.filters, experiment=found.used[line[0]]).tab(None)
            return kit.door(line[0], href)
        return el("span", line[at])

    notes = [
        "Upper lines: percent of initially wrong answers that are right after the strategy, by "
        "the root that carries most weight. Lower lines: mean score 1–5 of the steps. Gain is the "
        "average less Re-eval's, as the paper prints it: it has no control for a message's length.",
    ]
    if found.apart:
        notes.append(f"Left out, judged by another judge or threshold: {', '.join(found.apart)}.")
    return kit.section(
        "The paper's Table 4, from this study",
        kit.grid(
            enumerate(lines),
            *(
                kit.MarkupColumn(title, partial(cell, at), number=at > 1)
                for at, title in enumerate(head)
            ),
            label="Table 4",
        ),
        kit.note(" ".join(notes), style="margin-top:6px"),
    )


@st.cache_resource(show_spinner=False, max_entries=4)
def _laid_out(
    url: str, revision: int, names: tuple[str, ...], _store: OpenStore,
    _rows: tuple[ExperimentRow, ...],
) -> Table4 | None:  # fmt: skip
    del url, revision, names
    return table4_view(_store, _rows)


def read_table4(here: Here, looked: ChosenExperiment) -> Table4 | None:
    """Lay out the paper's Table 4."""
    names = tuple(row.experiment.id for row in looked.rows)
    return _laid_out(here.store.url, here.store.revision(), names, here.store, looked.rows)
