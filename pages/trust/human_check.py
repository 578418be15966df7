"""Human check: do people agree with the judge?"""

from __future__ import annotations

from atom.ui import kit, work
from atom.ui.pages import HUMAN_CHECK
from atom.ui.people import page as human_check_page
from atom.ui.shell import frame

here = frame.here(HUMAN_CHECK)
if here is not None:
    work.style()
    kit.show(frame.head(here.screen, here.entry), key="human_head")
    human_check_page.draw(here)
