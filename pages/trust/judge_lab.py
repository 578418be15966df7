"""Judge lab: does the judge deserve trust, and what does its error do to the diagnosis?"""

from __future__ import annotations

from atom.ui import kit, work
from atom.ui.html import el
from atom.ui.lab import page as judge_lab_page
from atom.ui.pages import JUDGE_LAB
from atom.ui.shell import frame

work.style()
work.jobs()
lab = judge_lab_page.look()
kit.show(
    el(
        "div",
        frame.head(JUDGE_LAB, lab.here.entry if lab.here else None),
        judge_lab_page.tabs(lab.tabs, lab.chosen, lab.filters),
        style="display:flex;flex-direction:column;gap:10px;align-items:flex-start",
    ),
    key="lab_head",
)
judge_lab_page.draw(lab)
judge_lab_page.draw_question()
work.draw_question()
