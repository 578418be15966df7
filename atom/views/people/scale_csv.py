"""The panel's numbers as CSV."""

from __future__ import annotations

from atom.display.csv_text import csv_text
from atom.display.estimate import Estimate
from atom.views.people.scale_rows import PeopleScale
from taxonomy import format_path

COLUMNS = (
    "level", "model", "node", "judge_mean", "judge_lo", "judge_hi", "people_mean", "people_lo",
    "people_hi", "labels_only_mean", "labels_only_lo", "labels_only_hi", "judge_relied_on",
    "judge_minus_people", "labelled_samples", "other_samples", "labelled_samples_needed",
    "people_scale", "method",
)  # fmt: skip
"""Columns of the file: means on 0-100."""


def scale_csv(view: PeopleScale) -> str:
    """Write the panel's numbers as CSV: models, models by root, models by capability."""
    lines: list[tuple[object, ...]] = []
    for row in (*view.rows, *view.roots):
        needed = "" if row.needed is None else row.needed
        lines.append(
            ("root" if row.root else "model", row.name, row.root, *_three(row.judge),
             *_three(row.people), *_three(row.alone), row.trust, row.shift, row.labelled,
             row.unlabelled, needed, "yes" if row.enough else "no", "cluster PPI++")
        )  # fmt: skip
    own = {row.model for row in view.rows if row.enough}
    for leaf in view.leaves:
        blank = ("",) * 8
        says = "yes" if leaf.model in own else "if all models are judged alike"
        lines.append(
            ("capability", leaf.name, format_path(leaf.path), *_three(leaf.judge),
             *_three(leaf.people), *blank, says, "inverse confusion")
        )  # fmt: skip
    return csv_text(COLUMNS, lines)


def _three(one: Estimate) -> tuple[float, float, float]:
    return one.value, one.lo, one.hi
