"""Starting an experiment, and moving to it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import streamlit as st

from atom.display import numbers
from atom.engine.consent import give_consent
from atom.engine.control import start_work
from atom.engine.correction.forecast import (
    CorrectionForecast,
)
from atom.engine.correction.ground import CorrectionSpec
from atom.engine.jobs import Job, JobState
from atom.engine.studies.new import DEMO_COPY, own_copy
from atom.records import Experiment
from atom.ui import kit, links, work
from atom.ui.correction.experiments import FAULT, would_be_sent
from atom.ui.html import el, join
from atom.ui.pages import CORRECTION
from atom.ui.shell import stores, team
from atom.ui.shell.frame import Here
from atom.views.correction.data import list_experiments
from atom.views.filters import Filters

STARTING = "correction_starting"


def button(here: Here, spec: CorrectionSpec, found: CorrectionForecast | None) -> None:
    """Draw the button that starts it, after consent where something is sent away."""

    def start() -> None:
        if start_of(here) is not None:  # the second half of a double click
            return
        st.session_state.pop(FAULT, None)
        st.session_state[STARTING] = (here.entry.key, start_job(here, spec))

    def ask() -> None:
        work.agree_then(here, found.endpoints if found else [], would_be_sent(), start)

    nobody = found is None or not (found.failed_subjects or found.right_subjects)
    words = "It goes on when you close this page; Stop loses nothing that is done."
    if here.entry.bundled:
        words = (
            f"The bundled study is sealed: this runs in your own copy, {DEMO_COPY!r}, and the page "
            f"moves there. {words}"
        )
    with st.container(horizontal=True, vertical_alignment="center", key="stepbar_correction_start"):
        team.button(
            "run", "Start", key="correction_start", type="primary", on_click=ask, disabled=nobody
        )
        kit.show(el("p", words, class_="quiet small"), key="correction_start_words")
    if here.entry.bundled:
        _own_experiments(here)


def _own_experiments(here: Here) -> None:
    """Lead to what was tried in the user's own copy of this sealed study, running or done."""
    doors = []
    for entry in stores.all_studies().entries:
        if entry.bundled or entry.study.copied_from != here.entry.study.id:
            continue
        rows = list_experiments(stores.store_of(entry), entry.study.id)
        if rows:
            words = f"{numbers.count(len(rows), 'experiment')} in {entry.study.name}"
            doors.append(
                kit.door(words, links.address(CORRECTION.url_path, Filters(study=entry.key)))
            )
    if doors:
        kit.show(kit.notice(join("Tried already in your own copy: ", *doors)), key="correction_own")


def start_job(here: Here, spec: CorrectionSpec) -> str:
    """Start an experiment in the background, in the user's own copy where the study is sealed."""
    settings, entry, source = stores.settings(), here.entry, here.store
    target = stores.user_store(create=True) if entry.bundled else source
    hosts = work.agreed_now(entry)

    async def work_(job: Job[object]) -> object:
        assert target is not None
        asked = spec
        if entry.bundled:
            job.say("copy")
            copy = await asyncio.to_thread(own_copy, source, entry.study.id, target)
            if hosts:
                give_consent(target, copy.id, hosts)
            asked = replace(spec, study_id=copy.id)
        run = await asyncio.to_thread(start_work, target, asked, settings)
        return target.get(Experiment, run.experiment_id or "")

    return work.begin("experiment", work_)


def start_of(here: Here) -> str | None:
    """Return the job that starts an experiment of this study; other studies' are none of its."""
    key, job_id = st.session_state.get(STARTING, ("", None))
    return job_id if key == here.entry.key else None


def take_start(here: Here) -> None:
    """Move to an experiment of this study that has started, whatever part is being looked at."""
    job_id = start_of(here)
    if job_id is not None and work.state_of(job_id).status != "running":
        starting(here)


def starting(here: Here) -> None:
    """Watch the start, and move to the experiment."""
    job_id = start_of(here)
    assert job_id is not None

    def doing(now: JobState[Any]) -> str:
        return f"Copying {here.entry.study.name} and starting…" if now.text else "Starting…"

    state = work.ended(job_id, doing)
    if state is None:
        return
    st.session_state.pop(STARTING, None)
    experiment: Experiment | None = state.result
    if experiment is not None:
        filters = Filters(study=experiment.study_id, model=experiment.candidate_id)
        kit.go(links.address(CORRECTION.url_path, filters, experiment=experiment.id[:12]))
    else:
        st.session_state[FAULT] = state.error
    st.rerun()
