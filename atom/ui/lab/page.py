"""The Judge lab: its tabs, a benchmark's set, replies from elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from atom.analysis.agreement.calibration import NAME as CALIBRATION
from atom.display import numbers, writers
from atom.engine.bench.sets import delete_set, import_replies
from atom.engine.control import list_runs
from atom.errors import AtomError
from atom.formats import ImportFile
from atom.judgebench.base import Bench, BenchResult
from atom.judgebench.mm_critic.data import NAME as MM_CRITIC
from atom.judgebench.multi_crit.benchmark import BENCH as MULTI_CRIT
from atom.judgebench.registry import BENCHES
from atom.judgebench.vl_rewardbench.data import NAME as VL_REWARDBENCH
from atom.records import BenchSet
from atom.ui import kit, links
from atom.ui.html import Html, el, join
from atom.ui.lab import fidelity as lab_fidelity
from atom.ui.lab import judges as lab_judges
from atom.ui.lab import verdict as lab_verdict
from atom.ui.lab.bench import asking, figures, published, told
from atom.ui.lab.bench import describe as lab_describe
from atom.ui.lab.bench import files as judge_lab_files
from atom.ui.lab.bench import items as lab_items
from atom.ui.lab.bench import mm_critic as lab_mm_critic
from atom.ui.lab.bench import multi_crit as lab_multi_crit
from atom.ui.lab.bench import sets as lab_sets
from atom.ui.lab.bench import vl_rewardbench as lab_vl_rewardbench
from atom.ui.lab.bench.sets import LabContext
from atom.ui.lab.bench.told import FAULT, TOLD
from atom.ui.lab.hard import page as lab_hard
from atom.ui.lab.reliability import page as lab_reliability
from atom.ui.lab.sight import page as lab_sight
from atom.ui.pages import JUDGE_LAB, OVERVIEW
from atom.ui.plain import plain
from atom.ui.shell import frame, sealed, stores, team
from atom.ui.shell.frame import Here
from atom.views.filters import Filters
from atom.views.judges.figures import board_csv, of_result
from atom.views.lab.items import groups_of
from atom.views.lab.page import (
    SetProgress,
    bench_results,
    bench_sets,
    places,
    standings,
)
from atom.views.stores import OpenStore

DELETING = "lab_deleting"
PUBLISHED = "published"

OfStudy = Callable[[Here], None]
Extra = Callable[[LabContext, BenchSet, tuple[SetProgress, ...]], None]

STUDY_TABS: Mapping[str, tuple[str, OfStudy]] = {
    lab_verdict.TAB: ("For what it can be trusted", lab_verdict.draw),
    "judge": ("This study’s judge", lab_reliability.draw),
    lab_judges.TAB: ("Its judges", lab_judges.draw),
    lab_fidelity.TAB: ("Against people", lab_fidelity.draw),
    lab_sight.TAB: ("Does it look?", lab_sight.draw),
    lab_hard.TAB: ("Hard pairs", lab_hard.draw),
}
"""What there is about the study itself: key → (title, drawing)."""
EXTRAS: Mapping[str, Extra] = {
    VL_REWARDBENCH: lab_vl_rewardbench.draw,
    CALIBRATION: lab_reliability.draw_bench,
    MULTI_CRIT.name: lab_multi_crit.draw,
    MM_CRITIC: lab_mm_critic.draw,
}
"""What a benchmark draws under the tables that all have: benchmark → drawing."""


@dataclass(frozen=True, kw_only=True)
class LabTab:
    """One of the page's tabs: its title, and the parts in it as (key, title)."""

    title: str
    parts: tuple[tuple[str, str], ...]


def tabs(choices: Sequence[LabTab], chosen: str, filters: Filters) -> Html:
    """Draw the page's tabs and, below, the parts of the one that is open.

    Args:
        choices: the tabs; each opens its first part.
        chosen: the part that is open.
        filters: the study's chain, kept in addresses.
    """

    def to(key: str) -> str:
        return links.address(JUDGE_LAB.url_path, filters, tab=key)

    opened = next(tab for tab in choices if chosen in dict(tab.parts))
    return join(
        kit.tabs([(tab.title, to(tab.parts[0][0]), tab is opened) for tab in choices],
                 label="Judge lab"),
        kit.tabs([(title, to(key), key == chosen) for key, title in opened.parts],
                 label=opened.title)
        if len(opened.parts) > 1
        else None,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Lab:
    """Where the reader is.

    Attributes:
        filters: the study's chain, kept in addresses.
        query: the URL's own keys.
        here: the study; None where there is none.
        tabs: the tabs, each with its parts.
        chosen: the part that is open, by its key.
    """

    filters: Filters
    query: Mapping[str, str]
    here: Here | None
    tabs: tuple[LabTab, ...]
    chosen: str


def look() -> Lab:
    """Read what the reader looks at; the benchmarks need no study."""
    held = frame.query()
    query = {key: held[key][-1] for key in links.LOCAL_KEYS if key in held}
    here = frame.here(JUDGE_LAB) if stores.all_studies().first is not None else None
    tabs = (
        LabTab(title="Verdict", parts=((lab_verdict.TAB, STUDY_TABS[lab_verdict.TAB][0]),)),
        LabTab(
            title="In this study",
            parts=tuple((key, title) for key, (title, _) in STUDY_TABS.items()
                        if key != lab_verdict.TAB),
        ),
        LabTab(
            title="On benchmarks",
            parts=(*((name, bench.title) for name, bench in BENCHES.items()),
                   (PUBLISHED, "Published")),
        ),
    )  # fmt: skip
    keys = [key for tab in tabs for key, _ in tab.parts]
    first = keys[0] if here is not None else next(iter(BENCHES), PUBLISHED)
    asked = query.get("tab", "")
    return Lab(
        filters=here.filters if here is not None else Filters(),
        query=query,
        here=here,
        tabs=tabs,
        chosen=asked if asked in keys else first,
    )


def draw(lab: Lab) -> None:
    """Draw the tab that is open."""
    if lab.chosen in STUDY_TABS:
        if lab.here is not None:
            STUDY_TABS[lab.chosen][1](lab.here)
        else:
            _no_study()
    elif lab.chosen in BENCHES:
        _draw_bench(lab, BENCHES[lab.chosen])
    else:
        published.draw()


def _no_study() -> None:
    kit.show(
        kit.empty(
            "There is no study yet",
            "This tab judges the judge of a study. The benchmarks beside it need none.",
            kit.button("Open the first screen", links.address(OVERVIEW.url_path, Filters())),
        ),
        key="lab_no_study",
    )


@st.cache_resource(show_spinner=False, max_entries=16)
def _figures(
    url: str, set_id: str, revision: int, _store: OpenStore
) -> tuple[tuple[SetProgress, ...], dict[str, BenchResult], frozenset[str]]:
    del url, revision
    judges = tuple(standings(_store, set_id))
    results = bench_results(_store, set_id, [one.judge for one in judges])
    return judges, results, groups_of(_store, set_id, results.values())


def read_context(store: OpenStore, bench: Bench, record: BenchSet, lab: Lab) -> LabContext:
    """Read a set's judges and figures, once for each revision of the store."""
    judges, results, groups = _figures(store.url, record.id, store.revision(), store)
    who = lab.query.get("who", "")
    chosen = next((one for one in judges if who in (one.judge, one.name)), None)
    return LabContext(
        store=store,
        bench=bench,
        record=record,
        filters=lab.filters,
        judges=judges,
        chosen=chosen or (judges[0] if judges else None),
        results=results,
        groups=groups,
    )


def _draw_bench(lab: Lab, bench: Bench) -> None:
    kit.show(el("p", bench.about, class_="quiet"), key="lab_about")
    held = _sets(bench)
    sets = list(held.values())
    wanted = lab.query.get("set", "")
    named = next((one for one, _ in sets if wanted and one.id.startswith(wanted)), None)
    told.show()
    if not sets:
        kit.show(lab_sets.no_sets(bench), key="lab_empty")
        judge_lab_files.draw(bench, len(sets), lab.here)
        return
    if wanted and named is None:
        words = "The link names a set that isn't in your store; this is the newest one."
        kit.show(kit.notice(words), key="lab_other_set")
    record, store = held[(named or sets[0][0]).id]
    context = read_context(store, bench, record, lab)
    if lab_items.wanted(lab.query) and context.chosen is not None:
        lab_items.draw(context, lab.query)
        return
    kit.show(
        el(
            "div",
            lab_sets.set_line(record, lab.filters, [one for one, _ in sets]),
            figures.answer(context),
            figures.headline(context),
            class_="stack",
            style="gap:14px",
        ),
        key="lab_result",
    )
    if store.read_only:
        _draw_proof(context)
        _offer_copy(lab)
    else:
        alive = asking.draw_progress(store, record)
        if not alive:
            opened = not context.judges
            with st.expander("Ask a judge", expanded=opened, key=f"lab_ask_{record.id[:12]}"):
                asking.draw(store, bench, record)
        _draw_proof(context)
        with st.expander("Score replies made elsewhere", key="lab_replies"):
            _draw_replies(store, record)
    with st.expander(f"Take in more data of {plain(bench.title)}", key="lab_more"):
        judge_lab_files.draw(bench, sum(one.synthetic for one, _ in sets), lab.here)
    if store.read_only:
        return
    with st.container(horizontal=True, key="stepbar_lab_delete"):
        team.button("delete", "Delete this set…", key="lab_delete", type="tertiary",
                  on_click=lambda: st.session_state.update({DELETING: record.id}))  # fmt: skip


def _sets(bench: Bench) -> dict[str, tuple[BenchSet, OpenStore]]:
    """Return a benchmark's sets by id, each with its store: the user's own, then the bundled."""
    found: dict[str, tuple[BenchSet, OpenStore]] = {}
    for store in stores.with_sets():
        for record in bench_sets(store, bench.name):
            found.setdefault(record.id, (record, store))
    return found


def _offer_copy(lab: Lab) -> None:
    """Say that a bundled set is sealed, and offer the copy in which another judge can be asked."""
    if lab.here is None or not lab.here.entry.bundled:
        words = "This set came with Atomscope and is sealed; make one of your own below."
        kit.show(kit.notice(words), key="lab_bundled")
        return
    sealed.offer_copy(
        lab.here,
        "lab",
        "This set came with it. Your own copy brings all sets along, and there you can ask any "
        "judge; what was asked already isn't asked again.",
        button="Make my own copy",
        fault=FAULT,
        keep=("tab",),
    )


def _draw_proof(context: LabContext) -> None:
    """Draw the chosen judge's tables, a benchmark's own drawing, and the papers' models."""
    judge, result = context.chosen, context.result
    if judge is None or result is None:
        lab_describe.draw(context)
        return
    kit.show(figures.tables(context), key="lab_tables")
    extra = EXTRAS.get(context.bench.name)
    if extra is not None:
        extra(context, context.record, context.judges)
    lab_describe.draw(context)
    found = places(context.bench.name, result)
    kit.show(
        published.among(found, judge.name, synthetic=context.record.synthetic),
        key="lab_among",
    )
    names = {one.judge: one.name for one in context.judges}
    stem = f"{context.bench.name}-{context.record.id[:8]}"
    with st.container(horizontal=True, key="stepbar_lab_files"):
        st.download_button(
            "All judges’ headline figures (CSV)",
            data=lambda: board_csv(context.results, names), file_name=f"{stem}.csv",
            mime="text/csv", key="lab_board_csv",
        )  # fmt: skip
        st.download_button(
            f"All figures of {plain(numbers.middle(judge.name, 30))} (CSV)",
            data=lambda: writers.csv(*of_result(result, name=judge.name)),
            file_name=f"{stem}-judge.csv", mime="text/csv", key="lab_judge_csv",
        )  # fmt: skip


def _draw_replies(store: OpenStore, record: BenchSet) -> None:
    kit.show(
        el("p", "A file with one reply an item, as the judge wrote it. Nothing is called; what "
           "can't be read is counted as unread, and what belongs to no item is named.",
           class_="quiet small"),
        key="lab_replies_words",
    )  # fmt: skip
    left, right = st.columns([2, 1])
    with left:
        st.file_uploader("Replies", accept_multiple_files=True, key="lab_reply_files")
    with right:
        st.text_input("Whose replies are they?", key="lab_reply_name", max_chars=120,
                      placeholder="the judge's name")  # fmt: skip

    def score() -> None:
        st.session_state.pop(FAULT, None)
        files = [ImportFile.from_bytes(one.name, one.getvalue())
                 for one in st.session_state.get("lab_reply_files") or []]  # fmt: skip
        name = st.session_state.get("lab_reply_name") or ""
        if not files:
            st.session_state[FAULT] = "Choose the file that holds the replies first."
            return
        try:
            found = import_replies(store, record.id, files, name.strip())
        except AtomError as error:
            st.session_state[FAULT] = error.message
            return
        words = f"{numbers.count(len(found.verdicts), 'reply', 'replies')} taken in."
        st.session_state[TOLD] = (words, (*found.notes, *found.skipped))
        st.query_params["who"] = name.strip()

    team.button("run", "Score them", key="lab_reply_score", on_click=score)


def draw_question() -> None:
    """Open the dialog that is waiting, if any; call it once at the page's end."""
    waiting = st.session_state.pop(asking.ASKING, None)
    deleting = st.session_state.pop(DELETING, None)
    if waiting is not None:
        asking.consent(*waiting)
    elif deleting is not None:
        _delete(deleting)


@st.dialog("Delete this set?")
def _delete(set_id: str) -> None:
    store = stores.user_store()
    record = store.get(BenchSet, set_id) if store is not None else None
    if store is None or record is None:
        kit.show(el("p", "It is gone already."), key="lab_delete_words")
        return
    busy = any(status.alive for status in list_runs(store, set_id))
    words = (
        "A run works on it: stop that first."
        if busy
        else "All verdicts on it go, too, with what was paid for them. What the calls answered "
        "stays in the store: asking the same again costs nothing."
    )
    kit.show(
        join(el("p", record.name, class_="strong text"), el("p", words)), key="lab_delete_words"
    )

    def delete() -> None:
        delete_set(store, set_id)
        st.session_state[TOLD] = (f"Deleted: {record.name}.", ())
        for key in ("set", "who"):
            st.query_params.pop(key, None)

    with st.container(horizontal=True):
        if team.button(
            "delete", "Delete", key="lab_delete_yes", type="primary", disabled=busy, on_click=delete
        ):
            st.rerun()
        if st.button("Keep it", key="lab_delete_no"):
            st.rerun()
