"""What the page says after an act on a set: what went wrong, or what was done."""

from __future__ import annotations

import streamlit as st

from atom.ui import kit
from atom.ui.html import join
from atom.ui.lab.bench import sets as lab_sets

FAULT = "lab_fault"
TOLD = "lab_told"


def show() -> None:
    """Say what went wrong, or what was done, once."""
    fault = st.session_state.get(FAULT)
    if fault:
        kit.show(kit.fault(fault), key="lab_fault_shown")
    told: tuple[str, tuple[str, ...]] | None = st.session_state.pop(TOLD, None)
    if told:
        more = lab_sets.lines(told[1]) if told[1] else None
        kit.show(kit.notice(join(told[0], more)), key="lab_told_shown")
