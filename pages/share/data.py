"""Data: what is in here, and how do I add my own?"""

from __future__ import annotations

from atom.ui import kit, work
from atom.ui.data import page as data_page
from atom.ui.data import studies
from atom.ui.data.studies_place import look_around
from atom.ui.pages import DATA
from atom.ui.shell import frame

work.style()
around = look_around()
kit.show(frame.head(DATA, around.entry), key="data_title")
data_page.draw(around)
studies.draw_question()
