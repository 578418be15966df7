"""The Reports page's controls: the draft that is shared, writing by a judge, downloads."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from functools import partial
from typing import cast
from urllib.parse import urlsplit

import streamlit as st

from atom.engine.endpoints.configured import FAULTY_JUDGES, known_endpoints
from atom.engine.endpoints.price import cost_words
from atom.engine.jobs import Job
from atom.errors import AtomError
from atom.records import Endpoint, content_id
from atom.reports import (
    MEDIA_TYPES,
    Brief,
    Format,
    Report,
    ReportDraft,
    briefs,
    consent_question,
    file_name,
    price,
    render,
    write,
)
from atom.reports.pdf_file import find_browser, to_pdf
from atom.ui import kit, work
from atom.ui.html import el
from atom.ui.plain import plain
from atom.ui.reports import parts as report_parts
from atom.ui.reports.parts import ReportRequest
from atom.ui.shell import stores, team
from atom.ui.shell.frame import Here

WRITTEN = "reports_written"
WRITING = "reports_writing"
FAULT = "reports_fault"
_KEPT = 6
_FORMS: tuple[tuple[Format, str], ...] = (
    ("html", "Download as one HTML file"),
    ("markdown", "Markdown"),
    ("json", "JSON"),
)
_QUICK, _FEW_LEAVES = 5_000, 500
"""Answers, and leaves of the tree, of a study whose findings are there before anybody waits."""
_HIGH = 900
_DOT = "."


@st.cache_resource(show_spinner=False, max_entries=6)
def _draft(location: str, study_id: str, revision: int, chosen: str, _here: Here) -> ReportDraft:
    del location, study_id, revision, chosen
    return ReportDraft.of(_here.store, _here.data, _here.filters)


def draft_of(here: Here) -> ReportDraft | None:
    """Return everything that the study shows under the filters, found once.

    Of a large study it is found in the background: None while that takes time, which is said.
    """
    of = (
        here.store.url,
        here.entry.key,
        here.data.revision,
        repr(here.filters.but(model=None, node=(), criterion=None, sample=None, show="failed")),
    )
    draft = _draft(*of, here)
    table = here.data.table
    if len(table.model) <= _QUICK and len(table.leaves) <= _FEW_LEAVES:
        with st.spinner("Computing every finding"):
            _ = draft.findings
        return draft
    words = f"Looking for findings in {report_parts.amount(here)}: this study is a large one…"
    state = work.worked_out("reports_findings", repr(of), lambda: len(draft.findings), words)
    if state is not None and state.status != "done":
        kit.show(kit.fault(state.error or "it was stopped: try again"), key="reports_unfound")
        return None
    return None if state is None else draft


def judges() -> Mapping[str, Endpoint]:
    """Return the endpoints that may judge, by name; none where the file can't be read."""
    try:
        found = known_endpoints(stores.settings())
    except AtomError as error:
        kit.show(kit.fault(error), key="reports_endpoints")
        return {}
    return {name: endpoint for name, endpoint in found.items() if "judge" in endpoint.roles}


def key_of(here: Here, report: Report, wanted: ReportRequest) -> str:
    """Name what a judge is to write about: its findings and cases, wherever the store is by now."""
    about = "".join(
        [
            *(finding.model_dump_json() for finding in report.told),
            *(e.model_dump_json() for section in report.sections for e in section.exhibits),
        ]
    )
    return content_id("report", here.entry.key, wanted.writer, about)


def written(key: str) -> Report | None:
    """Return the report that a judge wrote in this visit, if there is one."""
    held: dict[str, Report] = st.session_state.setdefault(WRITTEN, {})
    return held.get(key)


def _keep(key: str, report: Report) -> None:
    held: dict[str, Report] = st.session_state.setdefault(WRITTEN, {})
    held[key] = report
    while len(held) > _KEPT:
        del held[next(iter(held))]


def draw_writer(
    here: Here, draft: ReportDraft, report: Report, endpoint: Endpoint, key: str
) -> None:
    """Draw the price and the button, or how far the judge is."""
    job_id = st.session_state.get(WRITING, {}).get(key)
    judged = briefs(report, draft.look)
    if job_id is not None:
        _watch(job_id, len(judged), key)
        return
    study = here.entry.study
    expected = price(here.store, study, endpoint, judged)
    words = cost_words(expected.tokens, expected.cost, [endpoint])
    if not expected.calls:
        words = "nothing to pay: the stored replies are used again"
    fault = st.session_state.pop(FAULT, None)
    if fault:
        kit.show(kit.fault(fault, title="The report was not written"), key="reports_fault_shown")
    again = written(key) is not None
    label = f"Let {endpoint.name} write {'it again' if again else 'it'}"
    budget = None
    with st.container(horizontal=True, vertical_alignment="center", key="reports_write"):
        pressed = team.button(
            "run", plain(label), key="reports_go", type="secondary" if again else "primary"
        )
        if expected.cost:
            budget = st.number_input(
                "At most, in USD", min_value=0.0, value=None, placeholder="no cap", width=150
            )
        kit.show(
            kit.small(f"{expected.sections:,} chapters, {words}"),
            key="reports_price",
        )
    if pressed:
        _ask(here, report, judged, endpoint, key, budget)


def _ask(
    here: Here,
    report: Report,
    judged: Sequence[Brief],
    endpoint: Endpoint,
    key: str,
    budget: float | None,
) -> None:
    question = consent_question(here.entry.study, endpoint, len(judged))
    hosts = work.hosts_to_ask(here.entry, [endpoint])

    def start() -> None:
        agreed = (*work.agreed_now(here.entry), *hosts)

        async def write_(job: Job[Report]) -> Report:
            return await write(
                here.store,
                here.entry.study,
                report,
                judged,
                endpoint,
                budget=budget,
                agreed=agreed,
                on_section=lambda done, total: job.say(_DOT),
            )

        job = work.jobs().start("report", write_)
        st.session_state.setdefault(WRITING, {})[key] = job.id

    if hosts and question is not None:
        work.ask_first(
            here.entry, hosts, f"{question.sentence[0].upper()}{question.sentence[1:]}.", start
        )
    else:
        start()
        st.rerun()


def _watch(job_id: str, sections: int, key: str) -> None:
    @st.fragment(run_every=work.LOOK_EVERY)
    def look() -> None:
        job = work.jobs().get(job_id)
        state = job.snapshot() if job is not None else None
        if state is not None and state.status == "running":
            done = state.text.count(_DOT)
            with st.container(horizontal=True, vertical_alignment="center"):
                st.button("Stop", key="reports_stop", on_click=job.cancel if job else None)
                kit.show(
                    el(
                        "span",
                        f"{done:,} of {sections:,} chapters written, {state.seconds:.0f} s",
                        class_="quiet small",
                        role="status",
                    ),
                    key="reports_progress",
                )
            return
        st.session_state.get(WRITING, {}).pop(key, None)
        if state is None:
            st.session_state[FAULT] = "the server was restarted: try again"
        elif state.status == "done":
            _keep(key, cast("Report", state.result))
        elif state.status == "cancelled":
            st.session_state[FAULT] = "you stopped it; the text composed by rule is shown"
        else:
            st.session_state[FAULT] = state.error
        st.rerun()

    look()


def app_address() -> str:
    """Return the app's own address, for links in a file; empty where it isn't known."""
    parts = urlsplit(st.context.url or "")
    if parts.scheme not in ("http", "https") or not parts.netloc:
        return ""
    folder = parts.path.rstrip("/")
    folder = folder.removesuffix("/reports").removesuffix("reports")
    return f"{parts.scheme}://{parts.netloc}{folder}".rstrip("/")


def draw_downloads(here: Here, report: Report) -> None:
    """Draw a button for each form."""
    base = app_address()
    with st.container(horizontal=True, vertical_alignment="center", key="reports_downloads"):
        for form, label in _FORMS:
            st.download_button(
                label,
                partial(render, here.store, report, form, base=base),
                file_name=file_name(report, form),
                mime=MEDIA_TYPES[form],
                key=f"reports_{form}",
                on_click="ignore",
            )
        if find_browser() is not None:
            st.download_button(
                "PDF",
                lambda: to_pdf(render(here.store, report, "html", base=base)),
                file_name=file_name(report, "html").removesuffix("html") + "pdf",
                mime="application/pdf",
                key="reports_pdf",
                on_click="ignore",
            )
    if find_browser() is None:
        words = "A PDF needs Chromium, Chrome or Edge on this computer; the HTML file prints well."
        kit.show(el("p", words, class_="quiet small"), key="reports_no_pdf")


def draw_preview(here: Here, report: Report) -> None:
    """Show the HTML file as it is, in a frame of its own.

    A data address gives the frame an origin of its own: whatever was in the file could neither run
    (the file's own policy) nor reach the app.
    """
    page = render(here.store, report, "html", base=app_address())
    data = base64.b64encode(page.encode("utf-8")).decode("ascii")
    st.iframe(f"data:text/html;charset=utf-8;base64,{data}", height=_HIGH, alt="The report")


def draw(here: Here) -> None:
    """Draw the page below its title."""
    wanted = report_parts.wish(here)
    above = st.container()
    draft = draft_of(here)
    if draft is None:
        with above:
            kit.show(report_parts.choices(here, wanted, tuple(judges())), key="reports_choices")
        return
    if not any(row.score.known for row in draft.look.view.ranking):
        kit.show(report_parts.nothing_to_report(here), key="reports_nothing")
        return
    writers = judges()
    offered = [name for name in writers if name == wanted.writer or name not in FAULTY_JUDGES]
    kit.show(report_parts.choices(here, wanted, offered), key="reports_choices")
    spec = report_parts.spec_of(here, draft, wanted)
    with st.spinner("Composing the report"):
        report = draft.report(spec)
    if wanted.writer and wanted.writer not in writers:
        kit.show(report_parts.unknown_writer(here, wanted), key="reports_unknown")
    elif wanted.writer:
        key = key_of(here, report, wanted)
        draw_writer(here, draft, report, writers[wanted.writer], key)
        report = written(key) or report
    kit.show(report_parts.summary(here, wanted, report), key="reports_summary")
    draw_downloads(here, report)
    kit.show(report_parts.tabs(here, wanted), key="reports_tabs")
    if wanted.tab == "findings":
        kit.show(report_parts.findings(here, wanted, report), key="reports_findings")
    else:
        draw_preview(here, report)
