"""Which experiment of the study is looked at, how far it is, and its files."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from atom.engine.control import RunStatus, list_runs
from atom.ui import kit, links
from atom.ui.correction.doors import ExperimentDoors
from atom.ui.html import Html
from atom.ui.pages import SETTINGS
from atom.ui.runs import control as run_control
from atom.ui.runs import parts as runs_parts
from atom.ui.shell.frame import Here
from atom.views.correction.cases import arms_csv, cases_csv, effects_csv
from atom.views.correction.data import ExperimentRow, list_experiments
from atom.views.correction.experiment_table import experiment_table
from atom.views.correction.page import Results, results
from atom.views.filters import Filters
from atom.views.runs.page import run_view
from atom.views.stores import OpenStore

FAULT = "correction_fault"


@dataclass(frozen=True, kw_only=True)
class ChosenExperiment:
    """What the reader has of experiments.

    Attributes:
        rows: the study's experiments, the newest first.
        runs: how their runs are, by experiment.
        chosen: the one that is looked at; None where there is none.
        doors: addresses that keep it.
    """

    rows: tuple[ExperimentRow, ...]
    runs: dict[str, RunStatus]
    chosen: ExperimentRow | None
    doors: ExperimentDoors

    @property
    def status(self) -> RunStatus | None:
        """How the chosen one's run is."""
        return self.runs.get(self.chosen.experiment.id) if self.chosen else None

    @property
    def alive(self) -> bool:
        """Whether a process works on the chosen one."""
        return self.status is not None and self.status.alive


def look(here: Here) -> ChosenExperiment:
    """Read which experiments there are."""
    rows = tuple(list_experiments(here.store, here.entry.study.id))
    runs: dict[str, RunStatus] = {}
    if rows:
        for status in list_runs(here.store, here.entry.study.id):
            if status.run.experiment_id:
                runs.setdefault(status.run.experiment_id, status)
    wanted = here.query.get("experiment", "")
    # One answer that was tried on demand is no experiment to open on.
    whole = [row for row in rows if len(row.experiment.sample_ids) != 1]
    chosen = (
        next((row for row in rows if wanted and row.experiment.id.startswith(wanted)), None)
        or next((r for r in whole if (s := runs.get(r.experiment.id)) and s.alive), None)
        or next((r for r in whole if r.experiment.candidate_id == here.filters.model), None)
        or (whole[0] if whole else None)
    )
    doors = ExperimentDoors(
        filters=here.filters,
        experiment=chosen.experiment.id[:12] if chosen else None,
        tries=here.query.get("round"),
    )
    return ChosenExperiment(rows=rows, runs=runs, chosen=chosen, doors=doors)


@st.cache_resource(show_spinner=False, max_entries=8)
def _results(
    url: str, experiment_id: str, revision: int, tries: int | None, _store: OpenStore
) -> Results:
    del url, revision
    return results(_store, experiment_id, tries)


def read_results(here: Here, looked: ChosenExperiment) -> Results | None:
    """Work out what came of the chosen experiment, once for each revision of the store."""
    if looked.chosen is None:
        return None
    asked = here.query.get("round", "")
    tries = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 3 else None
    store = here.store
    return _results(store.url, looked.chosen.experiment.id, store.revision(), tries, store)


def several_models(looked: ChosenExperiment) -> bool:
    """Whether several models have experiments on several answers."""
    return len({row.model for row in looked.rows if row.answers > 1}) > 1


def parts(looked: ChosenExperiment) -> list[tuple[str | None, str]]:
    """List the parts of the page that there are."""
    found: list[tuple[str | None, str]] = []
    if looked.chosen is not None:
        found += [(None, "Result"), ("where", "Where it helps"), ("cases", "Answers")]
    if several_models(looked):
        found.append(("table4", "Table 4"))
    return [*found, ("new", "New experiment"), ("one", "One answer")]


def history(here: Here, looked: ChosenExperiment) -> Html | None:
    """Draw the list of experiments."""
    if len(looked.rows) < 2:
        return None

    def begun(row: ExperimentRow, when: str) -> Html:
        href = ExperimentDoors(filters=here.filters, experiment=row.experiment.id[:12]).tab(None)
        return kit.cell(when, href)

    runs = {key: run_view(one.run, alive=one.alive) for key, one in looked.runs.items()}
    chosen = looked.chosen.experiment.id if looked.chosen is not None else None
    return kit.fold(
        f"All experiments of this study ({len(looked.rows)})",
        kit.drawn(
            experiment_table(looked.rows, runs),
            cells={"Begun (UTC)": begun},
            on=lambda row: row.experiment.id == chosen,
        ),
    )


def draw_progress(here: Here, looked: ChosenExperiment) -> None:
    """Draw how far the chosen experiment is, with Stop or Resume; nothing when it is done."""
    status = looked.status
    if status is None or (status.run.state == "done" and not status.run.failed):
        return
    run_id, alive = status.run.id, status.alive

    def watch(now: RunStatus) -> None:
        kit.show(runs_parts.pace(run_control.watched(now), "steps"), key=f"correction_run_{run_id}")

    run_control.follow(here.store, status, watch)
    run_control.buttons(
        here,
        run_view(status.run, alive=alive),
        key="correction",
        fault=FAULT,
        sent=would_be_sent(),
        more=lambda: st.button("Show the figures so far", key="correction_refresh"),
    )


def would_be_sent() -> str:
    """Say what an experiment sends to its endpoints."""
    return (
        "The pictures and questions of these answers, the answers themselves, and questions about "
        "their steps would be sent"
    )


def no_endpoint(message: str, filters: Filters) -> Html:
    """Say why a model can't be asked again, and where to mend it."""
    door = kit.button("Open Settings", links.address(SETTINGS.url_path, filters))
    return kit.fault(message, door, title="This can't be started")


def show_fault() -> None:
    """Draw what went wrong, if anything did."""
    fault = st.session_state.get(FAULT)
    if fault:
        kit.show(no_endpoint(fault, Filters()), key="correction_fault_shown")


def draw_files(here: Here, found: Results) -> None:
    """Draw the downloads."""
    stem = f"correction-{found.experiment.id[:8]}"
    with st.container(horizontal=True, key="stepbar_correction_files"):
        st.download_button(
            "Effects (CSV)", data=lambda: effects_csv(found), file_name=f"{stem}-effects.csv",
            mime="text/csv", key="correction_effects_csv",
        )  # fmt: skip
        st.download_button(
            "What was tried (CSV)", data=lambda: arms_csv(found), file_name=f"{stem}-arms.csv",
            mime="text/csv", key="correction_arms_csv",
        )  # fmt: skip
        st.download_button(
            "Answers (CSV)", data=lambda: cases_csv(here.store, found),
            file_name=f"{stem}-answers.csv", mime="text/csv", key="correction_cases_csv",
        )  # fmt: skip
