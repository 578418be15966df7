"""Settings: who can be asked, where does data go, and where is it kept?"""

from __future__ import annotations

from atom.ui import frame, kit, settings_found, settings_page, stores, work
from atom.ui.pages import SETTINGS

work.style()
query = frame.query()
chosen = query["endpoint"][-1] if "endpoint" in query else None
kit.show(kit.page_header(SETTINGS.title, SETTINGS.question), key="settings_title")
endpoints = settings_page.draw_endpoints(chosen)
if chosen is None:
    settings_found.draw(settings_page.open_endpoint)
settings_page.draw_chosen(chosen, endpoints)
settings_page.draw_agreements(stores.shelf())
settings_page.draw_places()
settings_page.draw_question()
