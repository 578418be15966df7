"""The Data page's tab of files to take away."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import streamlit as st

from atom.engine.jobs import Job
from atom.exports.base import Exporter, ExportOptions, ExportResult, ExportSource
from atom.exports.registry import EXPORTERS
from atom.ui import kit
from atom.ui.data import parts as data_parts
from atom.ui.data.studies_place import StudiesPlace
from atom.ui.data.working import FILES, JOB, begin, passing_folder, watch
from atom.ui.html import el
from atom.ui.plain import plain
from atom.ui.shell import stores
from atom.views.stores import StudyEntry


def draw(around: StudiesPlace) -> None:
    """Draw the files that a study can be taken away as."""
    entry = around.entry
    if entry is None:
        kit.show(kit.empty("There is no study yet", "Bring files in on the first tab."),
                 key="data_export_none")  # fmt: skip
        return
    job = st.session_state.get(JOB)
    if job is not None and job[0] == "export":
        watch(*job)
        return
    name = el("span", entry.study.name, class_="strong text")
    kit.show(el("p", "Files of ", name, ". Nothing leaves this computer.", class_="quiet"),
             key="data_export_of")  # fmt: skip
    ready: Mapping[str, ExportResult] = st.session_state.get(FILES, {})
    for one in EXPORTERS.values():
        left, right = st.columns([2.2, 1], vertical_alignment="center")
        with left:
            kit.show(data_parts.exporter(one), key=f"data_form_{one.name}")
        with right:
            written = ready.get(_file_key(entry, one))
            if written is None:
                st.button("Make the file", key=f"data_make_{one.name}", on_click=_make,
                          args=(entry, one))  # fmt: skip
            else:
                st.download_button(
                    f"Download ({plain(data_parts.size(written.n_bytes))})",
                    # Read when it is clicked: an archive may hold gigabytes.
                    data=written.place.read_bytes,
                    file_name=_file_name(entry, one),
                    key=f"data_get_{one.name}",
                    type="primary",
                    on_click="ignore",
                )
                kit.show(
                    el(
                        "div",
                        [
                            el("p", kit.told(note), class_="quiet small text")
                            for note in written.notes
                        ],
                    ),
                    key=f"data_notes_{one.name}",
                )


def _file_key(entry: StudyEntry, one: Exporter) -> str:
    return f"{entry.key}|{one.name}|{stores.store_of(entry).revision()}"


def _file_name(entry: StudyEntry, one: Exporter) -> str:
    stem = re.sub(r"[^\w-]+", "-", entry.study.name.casefold()).strip("-")[:60] or "study"
    return f"{stem}-{one.name}{one.suffix}"


def _make(entry: StudyEntry, one: Exporter) -> None:
    store = stores.store_of(entry)
    key = _file_key(entry, one)
    ready = dict(st.session_state.get(FILES, {}))
    place = Path(tempfile.mkdtemp(dir=passing_folder())) / _file_name(entry, one)

    def export(job: Job[object]) -> object:
        options = ExportOptions(
            moment=datetime.now(UTC), progress=lambda words: job.say(f"{words}\n")
        )
        written = one.write(ExportSource(store, entry.study.id, entry.key), place, options)
        return {**ready, key: written}

    begin("export", export)
