"""Reports: what should others read about this study?"""

from __future__ import annotations

from atom.ui import kit, work
from atom.ui.pages import REPORTS
from atom.ui.reports import page as report_page
from atom.ui.shell import frame

work.style()
here = frame.here(REPORTS)
if here is not None:
    badges = [kit.synthetic_badge()] if here.entry.study.synthetic else []
    kit.show(kit.page_header(REPORTS.title, REPORTS.question, *badges), key="reports_title")
    report_page.draw(here)
work.draw_question()
