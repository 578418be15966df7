"""Several judges beside people in one table: methods, criteria, capabilities, and each other.

Reference: ATOM Tables 1, 2 and 5, Figure 7.
"""

from __future__ import annotations

import math

import streamlit as st

from atom.analysis.agreement.criteria_quality import LabelMean
from atom.analysis.agreement.fidelity import FidelityShare
from atom.display import numbers
from atom.ui import kit, links
from atom.ui.html import Child, Html, el
from atom.ui.pages import JUDGE_LAB
from atom.ui.shell.frame import Here
from atom.views.lab.fidelity.people import MIN_MET
from atom.views.lab.fidelity.tab import FidelityView
from atom.views.lab.methods import JudgeMethods, JudgeRow, judge_methods
from atom.views.stores import OpenStore
from atom.views.study_data import StudyData

TOO_FEW = "○ too few"
"""Stands for a share of under five samples: 0 of 2 looks like a finding, and is none."""


def draw(here: Here, view: FidelityView, tab: str) -> Html | None:
    """Draw the study's judges side by side; nothing with fewer than two.

    Args:
        tab: the tab that a judge's own figures are on.
    """
    if len(view.judges) < 2:
        return None
    found = read(here, tuple(name for name, _ in view.judges))
    parts = [_rows(here, found, tab), _roots(found), _orders(found)]
    if not any(parts):
        return None
    left = f" {numbers.count(found.left_out, 'further judge')} not shown." if found.left_out else ""
    return kit.section(
        "The judges side by side",
        parts,
        kit.note(
            kit.term("pairwise accuracy", "Share of pairs"),
            " of answers that a judge’s scores put in people’s order, method by method; criteria "
            "and capabilities as people label them. Each judge’s figures rest on what that judge "
            "was asked, so n may differ; intervals (95 %) count whole samples. "
            f"“{TOO_FEW}”: under {MIN_MET} samples.{left}{_settling(found)}",
        ),
        data_testid="judges-by-methods",
    )


def _settling(found: JudgeMethods) -> str:
    names = [one.name for one in found.settling]
    if not names:
        return ""
    verb = "marks" if len(names) == 1 else "mark"
    return f" {', '.join(names)} {verb} only what others disagree on: not shown."


def read(here: Here, judges: tuple[str, ...]) -> JudgeMethods:
    """Compute the table, once for each revision."""
    own = here.data.judge.id if here.data.judge else ""
    return _read(
        here.store.url,
        f"{here.entry.study.id} {here.data.study.tree_version}",
        here.store.revision(),
        own,
        judges,
        here.store,
        here.data,
    )


@st.cache_resource(show_spinner="Holding the judges against people", max_entries=8)
def _read(
    url: str,
    study_id: str,
    revision: int,
    own: str,
    judges: tuple[str, ...],
    _store: OpenStore,
    _data: StudyData,
) -> JudgeMethods:
    del url, study_id, revision, own
    return judge_methods(_store, _data, judges)


def _rows(here: Here, found: JudgeMethods, tab: str) -> Html | None:
    if not found.rows:
        return None
    labelled = any(row.quality or row.hits for row in found.rows)

    def judge(row: JudgeRow) -> Html:
        to = links.address(JUDGE_LAB.url_path, here.filters, tab=tab, who=row.judge.id)
        return kit.door(row.judge.name, to)

    return kit.grid(
        found.rows,
        kit.MarkupColumn("Judge", judge),
        *kit.each(
            found.methods,
            lambda method: method[1],
            lambda row, method: share(row.accuracy.get(method[0])),
        ),
        kit.number(
            "Criteria right, 1–3",
            lambda row: _mean(row.quality.accuracy if row.quality else None),
            when=labelled,
        ),
        kit.number(
            "Criteria needed, 1–3",
            lambda row: _mean(row.quality.necessity if row.quality else None),
            when=labelled,
        ),
        kit.number(
            "Hit rate", lambda row: share(row.hits.leaf if row.hits else None), when=labelled
        ),
        label="Judges by methods",
    )


def _mean(mean: LabelMean | None) -> Child:
    if mean is None or math.isnan(mean.mean):
        return numbers.NONE
    tip = f"{mean.n:,} criteria"
    if not math.isnan(mean.lo):
        tip += f", {mean.lo:.2f} to {mean.hi:.2f}"
    return el("span", f"{mean.mean:.2f}", data_tip=tip)


def share(found: FidelityShare | None) -> Child:
    """Draw a share with its interval, n on hover; no number where too few samples are behind it."""
    if found is None or math.isnan(found.value):
        return numbers.NONE
    n = f"n = {found.n:,}, {numbers.count(found.clusters, 'sample')}"
    if found.clusters < MIN_MET:
        tip = f"{n}: from {MIN_MET} samples on a share says something"
        return el("span", TOO_FEW, class_="quiet", data_tip=tip)
    # In a narrow window the interval goes under the share, and neither is broken itself.
    value = el("span", numbers.share(found.value, 1), class_="num")
    ends = el("span", numbers.share_ends(found.lo, found.hi).strip(), class_="quiet small num")
    return el("span", value, " ", ends, class_="nowrap", data_tip=n)


def _roots(found: JudgeMethods) -> Html | None:
    with_roots = [row for row in found.rows if row.by_root]
    if len(found.roots) < 2 or not with_roots:
        return None
    return kit.grid(
        with_roots,
        kit.MarkupColumn("ATOM’s scores by capability", lambda row: row.judge.name),
        *kit.each(found.roots, str, lambda row, root: share(row.by_root.get(root))),
        label="Judges by capability",
    )


def _orders(found: JudgeMethods) -> Html | None:
    if not found.orders:
        return None
    return kit.grid(
        found.orders,
        kit.MarkupColumn("Judges", lambda one: f"{one.first.name} and {one.second.name}"),
        kit.number("Same order of two answers", lambda one: share(one.alike)),
        kit.number("pairs", lambda one: kit.quiet(f"{one.alike.n:,}")),
        label="Orders that judges share",
    )
