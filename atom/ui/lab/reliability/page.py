"""The Judge lab's tab about the study's own judge: how far can it be trusted?"""

from __future__ import annotations

import streamlit as st

from atom.analysis.agreement.calibration import NAME as CALIBRATION
from atom.records import BenchSet
from atom.ui import commands, kit
from atom.ui.html import el
from atom.ui.lab.bench.sets import LabContext
from atom.ui.lab.flaws import calibrated
from atom.ui.lab.reliability import noise, pulls, steadiness, truth
from atom.ui.people import labels as people_labels_parts
from atom.ui.people import scale as people_scale
from atom.ui.shell import stores
from atom.ui.shell.frame import Here
from atom.views.filters import Filters
from atom.views.lab.page import SetProgress
from atom.views.lab.reliability.measure import reliability
from atom.views.lab.reliability.next_steps import run_command
from atom.views.lab.reliability.tab import Reliability
from atom.views.lab.verdict_repeats import RepeatRow, verdict_repeats
from atom.views.stores import OpenStore
from atom.views.study_data import StudyData


def draw(here: Here) -> None:
    """Draw how far the study's judge can be trusted: the answer first, then its proof."""
    again = people_labels_parts.repeats(_repeats(here))
    if here.data.judge is None:
        if again is not None:
            kit.show(again, key="verdict_repeats")
        kit.show(
            kit.empty(
                "No judge has scored this study yet",
                "Let a judge score the answers: then this page says how steady it is, which "
                "branches it misreads, and what its noise does to the intervals.",
                commands.shown(here, run_command(here.entry.study.name)),
            ),
            key="reliability_none",
        )
        return
    view = read(here)
    badges = [kit.synthetic_badge()] if view.synthetic else []
    kit.show(
        el(
            "div",
            el("div", el("h2", f"How far can {view.judge} be trusted?", style="margin:0"), *badges,
               class_="row"),
            steadiness.answer(view),
            steadiness.steps(view, here),
            truth.truth(view, here.filters),
            steadiness.steadiness(view, here.filters),
            again,
            steadiness.others(view),
            noise.noise(view),
            pulls.pulls(view),
            class_="stack",
        ),
        key="reliability",
    )  # fmt: skip
    people_scale.draw(here)


def read(here: Here) -> Reliability:
    """Compute the tab, once for each revision, judge and filter."""
    own = stores.user_store()
    return _reliability(
        here.store.url,
        here.entry.study.id,
        here.data.revision,
        -1 if own is None else own.revision(),
        here.data.judge.id if here.data.judge else "",
        here.filters.narrowing,
        here.store,
        own,
        here.data,
        here.filters,
    )


def _repeats(here: Here) -> tuple[RepeatRow, ...]:
    """Compare imported scores with their repeats, once for each revision."""
    return _verdict_repeats(
        here.store.url, here.entry.study.id, here.store.revision(), here.store, here.data
    )


@st.cache_resource(show_spinner=False, max_entries=8)
def _verdict_repeats(
    url: str, study_id: str, revision: int, _store: OpenStore, _data: StudyData
) -> tuple[RepeatRow, ...]:
    del url, study_id, revision
    return verdict_repeats(_store, _data)


@st.cache_resource(show_spinner="Comparing the judge’s scores", max_entries=12)
def _reliability(
    url: str,
    study_id: str,
    revision: int,
    own_revision: int,
    judge_id: str,
    narrowing: tuple[object, ...],
    _store: OpenStore,
    _own: OpenStore | None,
    _data: StudyData,
    _filters: Filters,
) -> Reliability:
    del url, study_id, revision, own_revision, judge_id, narrowing
    return reliability(_store, _data, _filters, others=() if _own is None else (_own,))


def draw_bench(lab: LabContext, record: BenchSet, judges: tuple[SetProgress, ...]) -> None:
    """Draw the chosen judge's confusion under the calibration's own figures."""
    del judges
    if lab.chosen is None or record.benchmark != CALIBRATION:
        return
    own = lab.store
    found = calibrated(own.url, own.revision(), -1, lab.chosen.judge, own, None)
    if found is not None:
        kit.show(
            kit.section(
                f"{lab.chosen.name} against the truth, over all its probes",
                truth.calibration(found),
            ),
            key="calibration_confusion",
        )
