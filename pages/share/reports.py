"""Reports: what should others read about this study?"""

from __future__ import annotations

from atom.ui import frame, kit, report_page, work
from atom.ui.pages import REPORTS

work.style()
here = frame.here(REPORTS)
if here is not None:
    badges = [kit.synthetic_badge()] if here.entry.study.synthetic else []
    kit.show(kit.page_header(REPORTS.title, REPORTS.question, *badges), key="reports_title")
    report_page.draw(here)
work.draw_question()
