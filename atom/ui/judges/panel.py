"""A study's judges as one panel, under the tab that compares them."""

from __future__ import annotations

import math

import streamlit as st

from atom.analysis.agreement.debias import Debiased
from atom.display import numbers
from atom.ui import kit
from atom.ui.html import Html, el
from atom.ui.shell import stores
from atom.ui.shell.frame import Here
from atom.views.judges.panel import Advice, PanelView, panel_view
from atom.views.judges.panel_words import OPTIONS, best_words, made_of
from atom.views.runs.page import money
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
        _seats(view),
        el("p", drop, class_="strong") if drop else None,
        _advice(view.advice) if view.advice is not None else None,
        _scores(view),
        class_="stack",
        data_testid="judges-panel",
    )


def _advice(found: Advice) -> Html:
    """Say what would narrow the interval more, each with its price."""
    columns = [
        kit.Column(title="What would narrow it"),
        kit.Column(title="Half of the interval then", number=True),
        kit.Column(title="Price, about", number=True),
    ]
    rows = [
        kit.Row(
            cells=(
                el("span", OPTIONS[one.name], class_="strong" if one.name == found.best else None),
                f"± {one.half:.2f}"
                if math.isfinite(one.half)
                else el("span", f"not known: {found.why_repeat}", class_="quiet"),
                numbers.NONE if one.price is None else money(one.price),
            ),
            on=one.name == found.best,
        )
        for one in found.options
    ]
    return el(
        "section",
        el("h2", "More samples, more repeats, or another judge?"),
        el("p", f"{made_of(found)} {best_words(found)}"),
        kit.table(columns, rows, label="What would narrow the interval", tight=True),
        data_testid="panel-advice",
    )


def _seats(view: PanelView) -> Html:
    columns = [
        kit.Column(title="Judge"),
        kit.Column(title="Marks", number=True),
        kit.Column(title="Above the others", number=True),
        kit.Column(title=""),
        kit.Column(title="Reliability without it", number=True),
        kit.Column(title="A mark costs", number=True, broad=True),
    ]
    rows = [
        kit.Row(
            cells=(
                one.judge.name,
                f"{one.marks:,}",
                numbers.signed_interval(one.shift, one.shift_lo, one.shift_hi),
                one.flaw,
                f"{one.without:.2f}" if math.isfinite(one.without) else "–",
                "–" if one.cost is None else money(one.cost),
            )
        )
        for one in view.seats
    ]
    return kit.table(columns, rows, label="Judges of the panel", tight=True)


def _scores(view: PanelView) -> Html:
    people = any(one.by_people is not None for one in view.scores)
    columns = [
        kit.Column(title="Model"),
        kit.Column(title="Panel's mean, 0–100", number=True),
        kit.Column(title="Disagreement", number=True),
        *([kit.Column(title="On people's scale", number=True)] if people else []),
    ]
    rows = [
        kit.Row(
            cells=(
                one.name,
                el("span", f"{one.mean:.1f}", el("span", f" n {one.n:,}", class_="small")),
                f"{one.disagreement:.1f}" if math.isfinite(one.disagreement) else "–",
                *([_by_people(one.by_people)] if people else []),
            )
        )
        for one in view.scores
    ]
    return kit.table(columns, rows, label="Models by the panel", tight=True)


def _by_people(found: Debiased | None) -> str:
    if found is None:
        return "–"
    return f"{100 * found.value:.1f} ({100 * found.lo:.1f} to {100 * found.hi:.1f})"
