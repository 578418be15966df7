"""The diagnosis of every model on every node, or every label of a facet."""

from __future__ import annotations

from atom.analysis.capability.diagnosis import Diagnosis, DiagnosisSettings
from atom.analysis.capability.weaknesses import diagnose_parts
from atom.analysis.nodes import index_nodes
from atom.views.filters import Filters, Measure
from atom.views.looks.early import held_early
from atom.views.overview.asked_rows import asked_of, layout_of, over
from atom.views.reading import node_said
from atom.views.study_data import StudyData


def diagnosis_of(
    data: StudyData,
    filters: Filters,
    measure: Measure,
    facet: str | None,
    without: int | None = None,
) -> Diagnosis:
    """Diagnose the answers that filters keep; by process what the root filter leaves of them.

    Args:
        filters: tags, root, outcome and process narrow; the chain doesn't.
        facet: labels to look at; None = capabilities.
        without: a model that isn't looked at: an anchor.
    """
    asked = asked_of(data, filters, measure, facet, "claims", without)

    def make() -> Diagnosis:
        silent = None if facet is not None else node_said(data, filters, without).silent
        seen = diagnose_parts(
            layout_of(data, asked),
            over(data, asked),
            DiagnosisSettings(frame=asked.frame),
            silent,
        )
        if data.early is None:
            return seen
        paths = index_nodes(data.table.leaves).paths if facet is None else ()
        whole = facet is None and measure == "process" and not filters.active
        return held_early(seen, data.early, paths, whole=whole)

    return data.table.recent.get(("diagnosis", *asked.key), make)
