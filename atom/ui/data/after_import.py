"""What an imported study offers next: judge its answers, add its pictures."""

from __future__ import annotations

import streamlit as st

from atom.display import numbers
from atom.engine.imports.attaching import missing_pictures
from atom.ui import kit, links
from atom.ui.html import Html, el
from atom.ui.pages import RUNS
from atom.ui.picture import attach_address
from atom.ui.shell.frame import Here
from atom.views.filters import Filters
from atom.views.stores import OpenStore


@st.cache_data(show_spinner=False, max_entries=8)
def _missing(key: str, revision: int, _store: OpenStore, study_id: str) -> int:
    del key, revision
    return len(missing_pictures(_store, study_id))


def offers(here: Here) -> Html | None:
    """Draw the two doors while a study has answers that no judge has marked."""
    data = here.data
    if data.has_process or not len(data.table.sample) or here.entry.bundled:
        return None
    missing = _missing(here.store.url, data.revision, here.store, data.study.id)
    words = (
        "These are final answers, right or wrong. A judge can mark their steps, which tells why."
    )
    if missing:
        words += f" {numbers.count(missing, 'picture')} aren't here yet: the judge would not see "
        words += "them." if missing > 1 else "it."
    judge = links.address(RUNS.url_path, Filters(study=here.entry.key))
    return el(
        "section",
        el("p", words),
        el(
            "div",
            kit.button("Judge these answers", judge, primary=True),
            kit.button("Add the pictures", attach_address(here.entry.key)) if missing else None,
            class_="row",
        ),
        class_="tour",
        aria_label="What next",
    )
