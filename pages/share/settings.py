"""Settings: who can be asked, where does data go, and where is it kept?"""

from __future__ import annotations

from atom.ui import kit, work
from atom.ui.pages import SETTINGS
from atom.ui.settings import found as settings_found
from atom.ui.settings import page as settings_page
from atom.ui.settings import people as settings_people
from atom.ui.settings import places
from atom.ui.shell import frame, stores

work.style()
query = frame.query()
chosen = query["endpoint"][-1] if "endpoint" in query else None
kit.show(frame.head(SETTINGS, None), key="settings_title")
endpoints = settings_page.draw_endpoints(chosen)
if chosen is None:
    settings_found.draw(settings_page.open_endpoint)
settings_page.draw_chosen(chosen, endpoints)
places.draw_agreements(stores.all_studies())
settings_people.draw()
places.draw_places()
settings_page.draw_question()
