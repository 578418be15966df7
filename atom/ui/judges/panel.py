"""A study's judges as one panel, under the tab that compares them."""

from __future__ import annotations

import math

import streamlit as st

from atom.ui import kit
from atom.ui.html import Html, el
from atom.ui.shell import stores
from atom.ui.shell.frame import Here
from atom.views.judges.panel import Advice, PanelView, panel_view
from atom.views.judges.panel_tables import options, scores, seats
from atom.views.judges.panel_words import best_words, made_of
from atom.views.stores import OpenStore
from atom.views.study_data import StudyData


def draw(here: Here) -> None:
    """Draw the panel where two judges that aren't people marked the study."""
    view = _read(
        here.store.url,
        here.entry.study.id,
        here.data.revision,
        (*here.filters.narrowing, here.filters.node, here.filters.model),
        here.store,
        here,
    )
    if view is not None:
        kit.show(told(view), key="judges_panel")


@st.cache_resource(show_spinner="Putting the judges together", max_entries=12)
def _read(
    url: str,
    study_id: str,
    revision: int,
    narrowing: tuple[object, ...],
    _store: OpenStore,
    _here: Here,
) -> PanelView | None:
    del url, study_id, revision, narrowing

    def load(judge: str) -> StudyData:
        return stores.study_data(_here.entry, judge, _here.filters.tree)

    return panel_view(_store, _here.data, load, _here.filters)


def told(view: PanelView) -> Html:
    """Say what the judges are worth together, and each of them."""
    panel = view.panel
    scale = (
        "Each judge's own error is taken out by people's labels first."
        if view.calibrated
        else f"As they mark, on the judges' scale: {view.why_raw}."
    )
    lead = (
        f"Reliability of their mean {panel.reliability:.2f}; {view.needed}."
        if math.isfinite(panel.reliability)
        else f"{view.needed[:1].upper()}{view.needed[1:]}."
    )
    drop = f"Without {view.drop} the others agree better: leave it out." if view.drop else ""
    return el(
        "div",
        el("h2", "Together, as a panel"),
        el("p", lead),
        el("p", scale, class_="quiet small"),
        kit.drawn(seats(view)),
        el("p", drop, class_="strong") if drop else None,
        _advice(view.advice) if view.advice is not None else None,
        kit.drawn(scores(view)),
        class_="stack",
        data_testid="judges-panel",
    )


def _advice(found: Advice) -> Html:
    """Say what would narrow the interval more, each with its price."""
    table = options(found)
    best = table.columns[0].title
    drawn = kit.drawn(
        table,
        on=lambda one: one.name == found.best,
        cells={best: lambda one, text: kit.strong(text) if one.name == found.best else text},
    )
    return kit.section(
        "More samples, more repeats, or another judge?",
        el("p", f"{made_of(found)} {best_words(found)}"),
        drawn,
        data_testid="panel-advice",
    )
