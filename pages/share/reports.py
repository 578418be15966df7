"""Reports: what should others read about this study?"""

from __future__ import annotations

from atom.ui import kit, work
from atom.ui.pages import REPORTS
from atom.ui.reports import page as report_page
from atom.ui.shell import frame

work.style()
here = frame.here(REPORTS)
if here is not None:
    kit.show(frame.head(here.screen, here.entry), key="reports_title")
    report_page.draw(here)
work.draw_question()
