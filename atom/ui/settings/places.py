"""What has been agreed to, and where things are kept."""

from __future__ import annotations

from typing import Any

import streamlit as st

from atom.engine.studies.new import withdraw_consent
from atom.settings import app_version
from atom.ui import kit, work
from atom.ui.html import el, join
from atom.ui.shell import stores, team
from atom.views.stores import AllStudies, demo_location

"""Fields of text: an empty one is empty, not None."""


def draw_agreements(listed: AllStudies) -> None:
    """Draw which study's pictures and texts may go where, each with a way to take it back."""
    kit.show(
        join(
            el("h2", kit.term("consent", "Data sharing"), style="margin:6px 0 2px"),
            el("p", "Before the first call to a host, Atomscope asks. What you agreed to stands "
               "here.", class_="quiet small"),
        ),
        key="agreements_head",
    )  # fmt: skip
    rows = [
        (entry, host)
        for entry in listed.entries
        for host in (*entry.study.consent, *work.agreed_now(entry))
    ]
    if not rows:
        kit.show(el("p", "Nothing may leave this computer: you have agreed to no host.",
                    class_="quiet"), key="agreements_none")  # fmt: skip
    for number, (entry, host) in enumerate(rows):
        with st.container(horizontal=True, vertical_alignment="center", key=f"agree_{number}"):
            words = " (for this visit)" if entry.bundled else ""
            kit.show(
                el("p", el("span", entry.study.name, class_="strong text"), " → ",
                   el("span", f"{host}{words}", class_="text")),
                key=f"agree_words_{number}",
            )  # fmt: skip

            def withdraw(entry: Any = entry, host: str = host) -> None:
                work.disagree(entry, host)
                if not entry.bundled and host in entry.study.consent:
                    withdraw_consent(stores.store_of(entry), entry.study.id, [host])

            team.button(
                "consent", "Withdraw", key=f"withdraw_{number}", on_click=withdraw, type="tertiary"
            )


def draw_places() -> None:
    """Draw where things are."""
    settings = stores.settings()
    demo = demo_location(settings)
    facts = [
        ("Your studies", settings.shown_store, "Set ATOM_STORE, or start with "
         "--store, to keep them elsewhere."),
        ("Endpoints file", str(settings.endpoints), "Keys never stand in it."),
        ("Bundled study", demo or "not there", "Sealed: the first change makes your own copy."),
        ("Version", app_version(), ""),
    ]  # fmt: skip
    kit.show(
        join(
            el("h2", "Locations", style="margin:6px 0 6px"),
            el(
                "dl",
                [
                    (
                        el("dt", name),
                        el("dd", el("span", place, class_="text"), " ", kit.small(words)),
                    )
                    for name, place, words in facts
                ],
                class_="pairs",
            ),
        ),
        key="settings_places",
    )
