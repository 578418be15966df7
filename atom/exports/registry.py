"""The forms that a study can be exported in."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from atom.errors import UsageError
from atom.exports import csv_tables, evaltree_form, html_study, judgments, llm_comparator
from atom.exports.archive import write_archive
from atom.exports.base import Exporter, ExportOptions, ExportResult, ExportSource


def _write_parquet(source: ExportSource, place: Path, options: ExportOptions) -> ExportResult:
    made = write_archive(
        source.store,
        source.study_id,
        place,
        options.moment,
        on_kind=lambda kind, n: options.progress(f"{kind}: {n:,}"),
    )
    notes = [f"stays in the store: {line}" for line in made.manifest.outside]
    if made.manifest.missing_pictures:
        n = len(made.manifest.missing_pictures)
        notes.append(f"{n:,} pictures were missing from the store already")
    return ExportResult(
        place=place,
        n_bytes=made.n_bytes,
        counts=made.manifest.counts,
        drops=made.manifest.drops,
        notes=tuple(notes),
    )


EXPORTERS: Mapping[str, Exporter] = {
    one.name: one
    for one in (
        Exporter(
            name="parquet",
            title="Everything: Parquet, JSON lines and pictures",
            about="The exact study, to keep or to hand on: it comes back with every id and value "
            "equal, here or by the command study import.",
            suffix=".zip",
            folder=True,
            drops=(),
            write=_write_parquet,
        ),
        html_study.EXPORTER,
        csv_tables.EXPORTER,
        judgments.EXPORTER,
        llm_comparator.EXPORTER,
        evaltree_form.EXPORTER,
    )
}


def find_exporter(name: str) -> Exporter:
    """Return the form of this name.

    Raises:
        UsageError: there is none.
    """
    if name == "openai-batch":
        raise UsageError(
            "calls that are still to be made belong to a run, so that their replies find their way "
            "back: `run batch write --study NAME --judge ENDPOINT` writes them, `run batch take` "
            "reads the replies"
        )
    if name not in EXPORTERS:
        raise UsageError(f"form {name!r} is unknown; known forms: {', '.join(EXPORTERS)}")
    return EXPORTERS[name]
