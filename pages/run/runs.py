"""Runs: what is running, what did it cost, and what is left?"""

from __future__ import annotations

from atom.ui import kit, work
from atom.ui.html import el
from atom.ui.pages import RUNS
from atom.ui.runs import page as runs_page
from atom.ui.shell import frame

work.style()
here = frame.here(RUNS)
if here is not None:
    kit.show(frame.head(here.screen, here.entry), key="runs_title")
    endpoints = None if here.entry.bundled else work.endpoints_or_none("endpoints_fault")
    if here.entry.bundled:
        runs_page.draw_sealed(here)
    elif endpoints is not None and not here.data.table.sample_ids:
        runs_page.draw_no_samples(here)
    elif endpoints is not None:
        runs = runs_page.found_runs(here)
        if runs:
            runs_page.draw_run(here, runs)
        else:
            words = "Nothing has run in this study yet. Say below what is to be done."
            kit.show(el("p", words, class_="quiet"), key="runs_none")
        if any(status.alive for status in runs):
            words = "You can start another run when this one has ended."
            kit.show(el("p", words, class_="quiet small"), key="runs_wait")
        else:
            runs_page.draw_start(here, endpoints)
        if runs:
            runs_page.draw_history(here, runs)
    if endpoints is not None:
        runs_page.draw_elsewhere(here)
work.draw_question()
