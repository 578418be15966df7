"""Data: what is in here, and how do I add my own?"""

from __future__ import annotations

from atom.ui import kit, work
from atom.ui.data import page as data_page
from atom.ui.data import studies
from atom.ui.data.around import look_around
from atom.ui.pages import DATA

work.style()
kit.show(kit.page_header(DATA.title, DATA.question), key="data_title")
data_page.draw(look_around())
studies.draw_question()
