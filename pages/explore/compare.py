"""Compare: which of two is better, where, and how sure is that?"""

from __future__ import annotations

import streamlit as st

from atom.ui import kit
from atom.ui.compare import case as compare_case
from atom.ui.compare import sides, verdict, where
from atom.ui.compare import slices as compare_slices
from atom.ui.compare import versions as compare_versions
from atom.ui.html import el
from atom.ui.pages import COMPARE
from atom.ui.shell import frame, stores
from atom.views.compare.page import Comparison, compare
from atom.views.compare.pairs import nodes_csv, pair_list, pair_view, pairs_csv, read_tab
from atom.views.compare.sides import ComparedSides, choices, pick
from atom.views.study_data import StudyData


def page_number(here: frame.Here) -> int | None:
    """Return the list's page as asked for; None = the one that holds the chosen sample."""
    asked = here.query.get("at", "")
    return max(int(asked[:6]) - 1, 0) if asked.isascii() and asked.isdigit() else None


def pairs(
    here: frame.Here, view: Comparison, picked: ComparedSides, other: StudyData | None
) -> None:
    """Draw the list of pairs and the chosen one, then offer them as a file."""
    tab = read_tab(here.query.get("tab"))
    listed = pair_list(here.store, view, here.filters, tab, page_number(here))
    first = listed.rows[0].sample_id if listed.rows else None
    chosen = here.filters.but(sample=here.filters.sample or first)
    shown = pair_view(here.store, here.data, chosen, picked, other)
    kit.show(compare_case.pairs(here, view, listed, shown), key="compare_pairs")
    st.download_button(
        "Pairs as CSV",
        data=lambda: pairs_csv(here.store, view),
        file_name="pairs.csv",
        mime="text/csv",
        key="compare_pairs_csv",
    )


def body(here: frame.Here) -> None:
    """Draw the page."""
    kit.show(frame.head(here.screen, here.entry), key="compare_head")
    there = choices(here.data)
    picked = pick(here.data, here.filters, here.query)
    if picked is None:
        kit.show(sides.nobody(here), key="compare_nobody")
        return
    sides.controls(here, picked, there)
    # Who comes to compare a slice sees that first.
    asked = compare_slices.asked(here)
    if asked:
        compare_slices.draw(here, picked)
    if picked.alike:
        kit.show(sides.alone(here, picked, there), key="compare_alone")
        return
    other = None
    if picked.judge_id:
        other = stores.study_data(here.entry, picked.judge_id, here.filters.tree)
    view = compare(here.data, here.filters, picked, other, facet=here.query.get("facet"))
    kit.show(
        el("div", sides.style(), verdict.answer(here, view), class_="stack"),
        key="compare",
    )
    compare_versions.changes(here, view, picked)
    differing = where.where(here, view) or sides.unshared(here, view)
    kit.show(el("div", sides.style(), differing), key="compare_where")
    if not view.gap.samples:
        return
    if view.nodes:
        st.download_button(
            "This table as CSV",
            data=lambda: nodes_csv(view),
            file_name="differences.csv",
            mime="text/csv",
            key="compare_nodes_csv",
        )
    pairs(here, view, picked, other)
    compare_versions.form(here, picked)
    if not asked:
        compare_slices.draw(here, picked)


here = frame.here(COMPARE)
if here is not None:
    body(here)
