"""Figures to publish: the button at the top of a page whose charts can be taken along."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

import streamlit as st

from atom.errors import AtomError
from atom.exports.figures import Figure, FigureOffer, FigureSource, Format, offers_of, render
from atom.ui import kit
from atom.ui.html import el
from atom.ui.pages import Screen
from atom.ui.plain import plain
from atom.views.filters import Filters
from atom.views.stores import OpenStore
from atom.views.study_data import StudyData

_MIME: Mapping[Format, str] = {
    "svg": "image/svg+xml",
    "png": "image/png",
    "pdf": "application/pdf",
    "csv": "text/csv",
    "txt": "text/plain",
}
_WORDS: Mapping[Format, str] = {
    "svg": "SVG", "png": "PNG", "pdf": "PDF", "csv": "CSV", "txt": "Caption",
}  # fmt: skip


def has(screen: Screen) -> bool:
    """Whether a screen has figures to take along."""
    return bool(offers_of(screen.url_path))


def draw(
    screen: Screen, store: OpenStore, data: StudyData, filters: Filters, query: Mapping[str, str]
) -> None:
    """Draw the button and what is behind it.

    Args:
        query: the page's own keys.
    """
    offers = offers_of(screen.url_path)
    asked = FigureSource(store=store, data=data, filters=filters, query=query)
    with st.popover("Figures", width="stretch"), st.container(key="figure_body"):
        kit.show(
            el("p", "As shown, with caption and data: for papers, slides or redrawing.",
               class_="quiet small", style="margin:0"), key="figure_words",
        )  # fmt: skip
        titles = {one.name: one.title for one in offers}
        name = st.selectbox("Figure", list(titles), format_func=lambda one: titles.get(one, one),
                            key=f"figure_of_{screen.url_path or 'overview'}")  # fmt: skip
        offer = next((one for one in offers if one.name == name), offers[0])
        with st.container(horizontal=True, key="figure_files"):
            for form, words in _WORDS.items():
                st.download_button(
                    plain(words),
                    data=lambda form=form: _file(offer, asked, form),  # type: ignore[misc]
                    file_name=f"{_stem(offer, data)}.{form}",
                    mime=_MIME[form],
                    key=f"figure_{form}",
                )


def _file(offer: FigureOffer, asked: FigureSource, form: Format) -> bytes:
    """Draw a figure when it is asked for; a sentence where the study can't fill it."""
    try:
        figure = offer.draw(asked)
    except AtomError as error:
        figure = Figure(name=offer.name, title=f"{offer.title}: nothing to draw",
                        caption=error.message, columns=("why",), rows=[(error.message,)],
                        drawn='<svg viewBox="0 0 480 8"></svg>')  # fmt: skip
    return render(figure, form)


def _stem(offer: FigureOffer, data: StudyData) -> str:
    study = re.sub(r"[^\w-]+", "-", data.study.name).strip("-")[:40]
    return f"{study or hashlib.sha256(data.study.id.encode()).hexdigest()[:8]}-{offer.name}"
