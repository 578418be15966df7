"""The Human check page: who labels, which queue, the deck, files of labels."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, cast, get_args

import streamlit as st

from atom.display import numbers
from atom.engine.people.annotations import LabelFile, annotator_name, keep_labels, read_labels
from atom.engine.studies.new import DEMO_COPY
from atom.errors import AtomError
from atom.records import content_id
from atom.ui import kit, links
from atom.ui.html import Html, el
from atom.ui.pages import HUMAN_CHECK
from atom.ui.people import deck, own, progress
from atom.ui.people import scale as people_scale
from atom.ui.people import summary as human_check_summary
from atom.ui.people.acts import read_acts
from atom.ui.people.desk import Desk
from atom.ui.people.names import WHO
from atom.ui.shell import sealed, stores, team
from atom.ui.shell.frame import Here
from atom.views.lab.hard_pairs import pair_runs
from atom.views.people.annotations import (
    annotations_csv,
    load_annotations,
    load_everything,
    people_of,
)
from atom.views.people.page import QUEUES, QueueName
from atom.views.people.sample_order import Pick

DESK = "human_desk"
DECK = "human_deck"
FAULT = "human_went_wrong"
TOLD = "human_words"
WHO_TAB = "who"
"""`tab` in the address: ask for the name again."""
_PICKS: dict[Pick, tuple[str, str]] = {
    "random": ("At random", "Every root in its share. Only samples picked so may debias a mean."),
    "unsure": ("Where the judge is least sure", "Scores of 3, scores that change when asked again "
               "or by another judge, scores without a quote. These find errors; they don't count "
               "for lifting judge-scale."),
}  # fmt: skip


@cache
def _component() -> Any:
    css = "\n".join(
        (kit.ASSETS / name).read_text(encoding="utf-8") for name in ("kit.css", "labels.css")
    )
    script = (kit.ASSETS / "labels.js").read_text(encoding="utf-8")
    return st.components.v2.component("atomscope.labels", css=css, js=script, html="")


def draw(here: Here) -> None:
    """Draw the page under its title."""
    if here.entry.bundled:
        _sealed(here)
        return
    signed_in = team.name()
    who = signed_in or here.query.get("who") or str(st.session_state.get(WHO, ""))
    try:
        who = annotator_name(who) if who else ""
    except AtomError as error:
        st.session_state[FAULT] = error.message
        who = ""
    if not who or (here.query.get("tab") == WHO_TAB and not signed_in):
        _ask_name(here)
        return
    st.session_state[WHO] = who
    asked, picked = here.query.get("queue", ""), here.query.get("pick", "")
    queue: QueueName = cast("QueueName", asked) if asked in QUEUES else "scores"
    pick: Pick = cast("Pick", picked) if picked in get_args(Pick) else "random"
    _choices(here, who, queue, pick)
    desk = _desk(here, who, queue, pick)
    if desk.only is not None:
        kit.show(_only(here, who, queue, pick), key="human_only")
    _deck(desk, after=(lambda: own.figures(here)) if queue == "own" else None)
    if queue == "own":
        own.ask(here)
    with st.expander("Take labels out, or in", key="human_files"):
        _files(here, desk)


def _to(here: Here, **local: str | None) -> str:
    return links.address(HUMAN_CHECK.url_path, here.filters, **local)


def _only(here: Here, who: str, queue: QueueName, pick: Pick) -> Html:
    """Say that one model alone is labelled, which is quicker, and not blind."""
    at = here.data.model_index(here.filters.model)
    name = here.data.candidates[at].name if at is not None else ""
    every = links.address(
        HUMAN_CHECK.url_path, here.filters.but(model=None), queue=queue, who=who, pick=pick
    )
    return kit.notice(
        el("span", f"Only answers of {name}, the model in the chain: fewer labels lift its "
           "judge-scale, but you know whose they are. ", kit.door("Label all models, blind", every))
    )  # fmt: skip


# --- before the first label -----------------------------------------------------------------------


def _sealed(here: Here) -> None:
    """Draw what people have said, and offer a copy, since a sealed study can't be labelled."""
    said = human_check_summary.so_far(here)
    if said is not None:
        kit.show(said, key="human_so_far")
    sealed.offer_copy(
        here,
        "human",
        "Labels are kept with a study, and this one can't be changed. Make your own copy: it is "
        f"called {DEMO_COPY!r} and holds everything that is here.",
        button="Make my own copy, and label it",
        fault=FAULT,
        keep=("queue", "pick"),
    )
    _show_fault()


def _show_fault() -> None:
    fault = st.session_state.get(FAULT)
    if fault:
        kit.show(kit.fault(fault), key="human_fault")


def _ask_name(here: Here) -> None:
    people = people_of(load_annotations(here.store, here.entry.study.id))[:8]
    local = {key: here.query.get(key) for key in ("queue", "pick")}
    doors = [kit.button(name, _to(here, who=name, **local)) for name in people]
    kit.show(
        el(
            "div",
            el("h2", "Who labels?", style="margin:0"),
            el("p", "Each label carries a name, so that two people can be compared and a third "
               "can settle where they differ. Any name will do; it stays in this study.",
               class_="quiet"),
            el("div", kit.small("Labelled here before:"), doors,
               class_="row") if doors else None,
            class_="empty",
        ),
        key="human_who",
    )  # fmt: skip

    def named() -> None:
        try:
            name = annotator_name(str(st.session_state.get("human_name", "")))
        except AtomError as error:
            st.session_state[FAULT] = error.message
            return
        st.session_state.pop(FAULT, None)
        st.session_state[WHO] = name
        kit.go(_to(here, who=name, **local))

    _show_fault()
    with st.container(key="stepbar_human_name", width=420):
        st.text_input("Your name", key="human_name", max_chars=60, on_change=named)
        st.button("Start labelling", key="human_start", type="primary", on_click=named)


def _choices(here: Here, who: str, queue: QueueName, pick: Pick) -> None:
    """Draw which queue, which samples, and who."""
    kept = None if pick == "random" else pick
    tabs = kit.tabs(
        ((title, _to(here, queue=name, who=who, pick=kept), name == queue)
         for name, title in QUEUES.items()),
        label="Queues",
    )  # fmt: skip
    picks = None
    if queue in ("scores", "ranking", "criteria", "own"):
        picks = el(
            "span",
            kit.small("Samples: "),
            kit.tabs(
                ((words, _to(here, queue=queue, who=who, pick=name), name == pick)
                 for name, (words, _) in _PICKS.items()),
                label="How samples are picked",
            ),
            data_tip=_PICKS[pick][1],
        )  # fmt: skip
    you = el(
        "span",
        kit.small("You are "),
        el("span", who, class_="strong small"),
        " ",
        kit.door("change", _to(here, queue=queue, pick=kept, tab=WHO_TAB), class_="small"),
        class_="nowrap",
    )
    scale = kit.door("What labels do to the scores", people_scale.address(here), class_="small")
    row = el("div", tabs, picks, you, scale, class_="row", style="gap:8px 18px")
    kit.show(row, key="human_choices")


# --- the deck -------------------------------------------------------------------------------------


def _desk(here: Here, who: str, queue: QueueName, pick: Pick) -> Desk:
    """Return the desk of this session: the same one as long as nothing but labels changed."""
    data = stores.study_data(here.entry)
    key = content_id(
        "human check desk", here.store.url, here.entry.study.id, queue, who, pick,
        here.filters.model or "", len(data.table.score), data.study.tree_version or "",
        *(one.id for one in (pair_runs(here.store, data.study.id)[:1] if queue == "pairs" else ())),
    )  # fmt: skip
    held = st.session_state.get(DESK)
    if held is not None and held[0] == key and queue not in ("errors", "conflicts"):
        desk = cast("Desk", held[1])
        desk.refresh()
        return desk
    desk = Desk(here.store, data, queue, who, pick, here.filters.model)
    st.session_state[DESK] = (key, desk)
    return desk


def _deck(desk: Desk, after: Callable[[], None] | None = None) -> None:
    """Draw what is labelled now, and what follows from the labels so far.

    Args:
        after: draws what follows; again after every label.
    """
    name = content_id(
        "deck", desk.data.study.id, desk.queue, desk.annotator, desk.pick, desk.only or ""
    )[:16]
    key = f"{DECK}_{name}"

    def acted() -> None:
        state = st.session_state.get(key)
        acts = read_acts(state.get("acts") if state is not None else None)
        try:
            desk.take(acts)
        except AtomError as error:
            st.session_state[FAULT] = f"{error.message} The label is kept here and tried again."
        else:
            st.session_state.pop(FAULT, None)

    def look() -> None:
        _show_fault()
        item = desk.item
        data = {
            "desk": name,
            "ack": desk.acknowledged,
            "at": item.id if item is not None else "",
            "items": deck.deck_items(desk),
            "html": str(progress.top(desk)),
            "foot": str(progress.foot(desk)),
            "end": str(progress.end(desk)),
            "leaves": list(desk.leaves) if desk.queue in ("criteria", "conflicts") else [],
        }
        _component()(data=data, key=key, on_acts_change=acted)
        if after is not None:
            after()

    st.fragment(look)()


# --- files ----------------------------------------------------------------------------------------


def _files(here: Here, desk: Desk) -> None:
    told = st.session_state.pop(TOLD, None)
    if told:
        kit.show(kit.notice(told), key="human_told")
    left, right = st.columns(2)
    with left:
        st.download_button(
            "All labels of this study (CSV)",
            data=lambda: annotations_csv(load_everything(here.store, here.entry.study.id)),
            file_name=f"labels-{here.entry.study.id[:8]}.csv",
            mime="text/csv",
            key="human_csv",
        )
    with right:
        file = st.file_uploader(
            "Take labels in (CSV as saved here)", type=["csv"], key="human_upload"
        )
    if file is None:
        return
    try:
        found = read_labels(here.store, here.entry.study.id, file.getvalue())
    except AtomError as error:
        kit.show(kit.fault(error), key="human_file_fault")
        return
    _look_first(here, desk, found)


def _look_first(here: Here, desk: Desk, found: LabelFile) -> None:
    """Say what would be kept and what not, before anything is."""
    kinds = ", ".join(f"{n} {kind}" for kind, n in found.by_kind.items()) or "nothing"
    reasons = [el("li", kit.told(f"row {row}: {why}")) for row, why in found.skipped[:50]]
    kit.show(
        el(
            "div",
            el("p", f"{numbers.count(len(found.new), 'new label')}, "
               f"{len(found.changed):,} that differ from those here, {found.same:,} that are here "
               f"already, {numbers.count(len(found.skipped), 'row')} left out ({kinds})."),
            kit.fold(f"What is left out, and why ({len(found.skipped)})", el("ul", reasons))
            if reasons
            else None,
        ),
        key="human_file_look",
    )  # fmt: skip

    def keep(*, replace: bool) -> None:
        try:
            n = keep_labels(here.store, found, replace=replace)
        except AtomError as error:
            st.session_state[FAULT] = error.message
            return
        desk.refresh()
        st.session_state[TOLD] = f"Kept {numbers.count(n, 'label')}."

    with st.container(horizontal=True, key="stepbar_human_file"):
        if found.new:
            team.button(
                "import",
                f"Keep the {len(found.new):,} new",
                key="human_keep",
                type="primary",
                on_click=keep,
                kwargs={"replace": False},
            )
        if found.changed:
            team.button("import", f"Keep all, replacing {len(found.changed)}", key="human_replace",
                      on_click=keep, kwargs={"replace": True})  # fmt: skip
