"""Human check, own criteria: what the judge asks against what people would ask, and both scores."""

from __future__ import annotations

import streamlit as st

from atom.display import numbers
from atom.engine.people.matching import MatchSpec, forecast_match
from atom.records import content_id
from atom.ui import kit, links, work
from atom.ui.html import Html, el
from atom.ui.pages import FAILURES, HUMAN_CHECK, RUNS
from atom.ui.shell.frame import Here
from atom.views.people.own_criteria import OwnCriteria, OwnScoreRow, own_criteria
from atom.views.people.own_table import MODEL, answer, own_csv, score_table, share

FAULT = "own_fault"
STARTED = "own_started"
_SENT = "What people wrote, with each question and the judge’s criteria; no pictures."


def figures(here: Here) -> None:
    """Draw what came of it so far: after every label, with the deck."""
    view = own_criteria(here.store, here.data, here.query.get("by", "") or "people")
    if view is None:
        return
    kit.show(told(here, view), key="own_criteria")
    st.download_button(
        "These figures (CSV)", data=own_csv(view), file_name="own-criteria.csv", mime="text/csv",
        key="own_csv",
    )  # fmt: skip


def ask(here: Here) -> None:
    """Let a judge match what people wrote; counted once it is opened, since labels go on."""
    form = st.expander("Let a judge match them", key="own_ask", on_change="rerun")
    if form.open:
        with form:
            _form(here)


def told(here: Here, view: OwnCriteria) -> Html:
    """Draw recall, precision, scores by either set, and what either lacks."""
    who = view.deciders[view.by]
    tabs = kit.tabs(
        (
            (name if key == "people" else f"the judge {name}",
             links.address(HUMAN_CHECK.url_path, here.filters, queue="own",
                           who=here.query.get("who"), by=key), key == view.by)
            for key, name in view.deciders.items()
        ),
        label="Who says what is the same",
    )  # fmt: skip
    agree = f" They agree on {share(view.agree)} of {view.agree.n:,} lines." if view.agree.n else ""
    return kit.section(
        "Are the criteria what people would ask?",
        el("p", answer(view), class_="strong"),
        el("div", kit.small("Matched by "), tabs, class_="row"),
        el("p", f"Which criteria ask the same was decided by {who}.{agree}", class_="quiet small"),
        _scores(view) if view.rows else None,
        _list(here, "What people would ask and the judge doesn’t", view.unasked),
        _list(here, "What the judge asks and people wouldn’t", view.unwanted),
        class_="stack",
        style="gap:10px",
        data_testid="own-criteria",
    )


def _scores(view: OwnCriteria) -> Html:
    def model(row: OwnScoreRow, text: str) -> Html:
        return kit.model(text, row.model)

    return el(
        "div",
        kit.drawn(score_table(view), cells={MODEL: model}),
        kit.note(f"{numbers.count(view.scored, 'question')} on which every criterion is matched or "
           "ticked. What people wrote and the judge doesn’t ask has no marks: it is in neither "
           "score."),
    )  # fmt: skip


def _list(here: Here, title: str, lines: tuple[tuple[str, str], ...]) -> Html | None:
    if not lines:
        return None
    place = here.data.sample_position
    rows = [
        el(
            "li",
            kit.door(
                f"No. {place.get(sample, -1) + 1}",
                links.address(FAILURES.url_path, here.filters.but(sample=sample)),
            ),
            ": ",
            el("span", line, class_="text"),
        )
        for sample, line in lines
    ]
    return kit.fold(title, el("ul", rows))


def _form(here: Here) -> None:
    endpoints = work.endpoints_or_none("own_endpoints", here.filters)
    if endpoints is None:
        return
    judges = [name for name, one in endpoints.items() if "judge" in one.roles]
    usual = work.usual_judge(here.store, here.data, endpoints)
    judge = st.selectbox(
        "Judge", judges, key="own_judge", index=judges.index(usual) if usual in judges else None
    )
    if not judge:
        return
    spec = MatchSpec(study_id=here.entry.study.id, judge=judge)
    key = content_id("match", repr(spec), here.store.revision(), here.store.url)
    found = work.forecasted(
        "match", key, lambda: forecast_match(here.store, spec, endpoints), "own_forecast"
    )
    if found is not None:
        kit.show(kit.facts(found.facts), key="own_forecast")
    work.start_button(
        here, "Match them", spec, [endpoints[judge]], key="own_start", sent=_SENT, fault=FAULT,
        begun=lambda run: st.session_state.update({STARTED: run.id}),
        disabled=found is None or not found.calls,
    )  # fmt: skip
    if st.session_state.get(FAULT):
        kit.show(kit.fault(st.session_state[FAULT]), key="own_fault_shown")
    run = st.session_state.pop(STARTED, None)
    if run:
        door = links.address(RUNS.url_path, here.filters, run=run)
        kit.show(kit.notice(el("span", "On its way: ", kit.door("follow it on Runs", door))),
                 key="own_started_shown")  # fmt: skip
