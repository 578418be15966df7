"""What is kept of a list of failures: a slice with a name, and tags on its samples."""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st

from atom.display import numbers
from atom.engine.people import tags
from atom.engine.people.annotations import annotator_name
from atom.engine.people.slices import delete_slice, save_slice
from atom.errors import AtomError
from atom.records import TAG_FACET
from atom.ui import kit, links
from atom.ui.failures.listing import to
from atom.ui.failures.marks import FAULT, who
from atom.ui.html import Html, el
from atom.ui.pages import COMPARE
from atom.ui.people.names import WHO
from atom.ui.plain import plain
from atom.ui.shell import team
from atom.ui.shell.frame import Here
from atom.views.failures.page import FailureList
from atom.views.failures.slices import Slice, bare, slices_of
from atom.views.filters import Filters

_DONE = "failures_tagged"


def draw(here: Here, view: FailureList) -> None:
    """Draw the button, and behind it slices and tags."""
    there = slices_of(here.store, here.data, here.entry.key)
    with st.popover("Slices, tags", width="stretch"), st.container(key="keep_box"):
        kit.show(_saved(there), key="keep_slices")
        if here.store.read_only:
            kit.show(kit.note("This study is sealed: make your own copy of it to save slices and "
                        "to tag samples (under a sample, or on Data)."),
                     key="keep_sealed")  # fmt: skip
            return
        if not who():
            st.text_input("Your name", key="keep_who", max_chars=60, on_change=_named,
                          help="Slices and tags say whose they are.")  # fmt: skip
            return
        _save(here, there)
        _tag(here, view)


def _named() -> None:
    try:
        st.session_state[WHO] = annotator_name(str(st.session_state.get("keep_who", "")))
    except AtomError as error:
        st.session_state[FAULT] = error.message


def _saved(there: tuple[Slice, ...]) -> Html:
    """List the saved slices: each opens its list, or goes to Compare."""
    if not there:
        return kit.note("No slice is saved yet. A slice is this search with its filters under a "
                  "name: a link that can be compared like a model.")  # fmt: skip
    rows = [
        el(
            "li",
            kit.door(one.name, to(one.filters)),
            kit.small(f" by {one.who}") if one.who else None,
            " ",
            kit.door("compare", links.address(COMPARE.url_path, Filters(study=one.filters.study),
                                              slice=one.name), class_="small"),
        )
        for one in there
    ]  # fmt: skip
    return el("div", el("p", "Saved slices", class_="strong", style="margin:0"),
              el("ul", rows, style="margin:4px 0;padding-left:18px"))  # fmt: skip


def _save(here: Here, there: tuple[Slice, ...]) -> None:
    names = {one.name for one in there}

    def save() -> None:
        name = str(st.session_state.get("keep_name", ""))
        query = urlencode(bare(here.filters).to_query(), doseq=True)
        try:
            save_slice(here.store, here.entry.study.id, name, query, who())
        except AtomError as error:
            st.session_state[FAULT] = error.message
            return
        st.session_state["keep_name"] = ""

    def forget() -> None:
        name = str(st.session_state.get("keep_name", "")).strip()
        if name in names:
            try:
                delete_slice(here.store, here.entry.study.id, name)
            except AtomError as error:
                st.session_state[FAULT] = error.message
                return
            st.session_state["keep_name"] = ""

    st.text_input("Save this search and its filters as", key="keep_name", max_chars=tags.MOST_NAME)
    left, right = st.columns(2)
    with left:
        team.button("label", "Save slice", key="keep_save", on_click=save, width="stretch")
    with right:
        team.button("label", "Delete slice", key="keep_forget", on_click=forget, width="stretch",
                  disabled=not names, help="The one whose name stands above.")  # fmt: skip


def _tag(here: Here, view: FailureList) -> None:
    """Tag all samples of the list, or take a tag off them; the last time can be undone."""
    facet = here.data.table.facets.get(TAG_FACET)
    st.text_input(
        plain(f"Tag all {numbers.count(view.total, 'sample')} of this list"),
        key="keep_tag",
        max_chars=tags.MOST_NAME,
        placeholder=plain(", ".join(facet.values[:4])) if facet else "for example: look again",
    )

    def act(add: bool) -> None:
        name = str(st.session_state.get("keep_tag", ""))
        try:
            done = (
                tags.add_tag(here.store, view.order, name, who())
                if add
                else tags.remove_tag(here.store, view.order, name)
            )
        except AtomError as error:
            st.session_state[FAULT] = error.message
            return
        st.session_state[_DONE] = (here.store.url, done, add)

    def undo() -> None:
        place, done, _ = st.session_state.pop(_DONE, (None, None, None))
        if place != here.store.url:
            return
        try:
            tags.undo_tag(here.store, done)
        except AtomError as error:
            st.session_state[FAULT] = error.message

    columns = st.columns(3)
    with columns[0]:
        team.button("label", "Tag them", key="keep_add", on_click=act, args=(True,),
                    width="stretch",
                  disabled=not view.total)  # fmt: skip
    with columns[1]:
        team.button("label", "Remove tag", key="keep_remove", on_click=act, args=(False,),
                    width="stretch",
                  disabled=not view.total)  # fmt: skip
    with columns[2]:
        team.button("label", "Undo", key="keep_undo", on_click=undo, width="stretch",
                  disabled=_DONE not in st.session_state)  # fmt: skip
    done = st.session_state.get(_DONE)
    if done is not None and done[0] == here.store.url:
        kit.show(kit.note(_words(*done[1:]), role="status"), key="keep_done")


def _words(done: tags.TagChange, add: bool) -> str:
    if not (done.added or done.removed):
        return f"All have “{done.name}” already." if add else f"None of them has “{done.name}”."
    if done.removed:
        some = {tag.subject_id for tag in done.removed}
        return f"Took “{done.name}” off {numbers.count(len(some), 'sample')}."
    return f"Tagged {numbers.count(len(done.added), 'sample')} “{done.name}”; it is a filter now."
