"""Branches that the study's judge misreads, for every screen that shows branches."""

from __future__ import annotations

import streamlit as st

from atom.ui import links
from atom.ui.pages import JUDGE_LAB
from atom.ui.shell import stores
from atom.ui.shell.frame import Here
from atom.views.lab.calibrations import CalibratedJudge, calibration_of
from atom.views.lab.judge_marks import JudgeMark, find_mark, marks_of
from atom.views.stores import OpenStore
from taxonomy import Path


def address(here: Here) -> str:
    """Return where the tab is."""
    return links.address(JUDGE_LAB.url_path, here.filters, tab="judge")


def marks(here: Here) -> dict[Path, JudgeMark]:
    """Return the branches on which the study's judge misreads, for fingerprints and the tree."""
    if here.data.judge is None:
        return {}
    own = stores.user_store()
    found = calibrated(
        here.store.url,
        here.store.revision(),
        -1 if own is None else own.revision(),
        here.data.judge.id,
        here.store,
        own,
    )
    return marks_of(found.view if found else None)


def mark_at(here: Here, path: Path) -> JudgeMark | None:
    """Return what is wrong with the judge on a node; None where nothing is known."""
    return find_mark(marks(here), path)


@st.cache_resource(show_spinner=False, max_entries=32)
def calibrated(
    url: str,
    revision: int,
    own_revision: int,
    judge_id: str,
    _store: OpenStore,
    _own: OpenStore | None,
) -> CalibratedJudge | None:
    """Hold a judge against the truth, once for each revision; None where it was never asked."""
    del url, revision, own_revision
    return calibration_of((_store,) if _own is None else (_store, _own), judge_id)
