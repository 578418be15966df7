"""The grid on the screen: samples down, models across, each cell the weight held there."""

from __future__ import annotations

import math
from functools import partial
from itertools import starmap

import numpy as np

from atom.display import numbers
from atom.ui import kit, score_marks
from atom.ui.failures.listing import pager, shows, summary, to
from atom.ui.html import Html, el
from atom.ui.media import thumbnail
from atom.ui.shell.frame import Here
from atom.views.failures.grid import FailureCells
from atom.views.failures.page import FailureList, FailureRow

GRID = "grid"
"""What the address says where the grid is shown."""


def grid(here: Here, view: FailureList, cells: FailureCells) -> Html:
    """Draw a page of samples by models.

    Args:
        cells: all samples by models.
    """
    base = here.filters.but(sample=None, criterion=None)
    listed = np.array([here.data.sample_position[name] for name in view.order], dtype=np.int64)
    names = [one.name for one in here.data.candidates]

    def model(number: int, short: str) -> kit.MarkupColumn[FailureRow]:
        return kit.MarkupColumn(
            _head(names[number], short, number, cells, listed),
            lambda row: _cell(here, row, number, cells),
            slim=True,
        )

    return el(
        "div",
        el(
            "div",
            shows(here, base, lay=GRID),
            kit.note(summary(here, view), style="margin:8px 0 4px 4px"),
            _legend(view),
        ),
        kit.grid(
            view.rows,
            kit.MarkupColumn("Sample", partial(_sample, here), width="34%"),
            *starmap(model, enumerate(numbers.short_names(names))),
            label="Samples by models",
        ),
        pager(base, view, GRID),
        class_="gridview",
    )


def _legend(view: FailureList) -> Html:
    held = "of the weight held" if view.measure == "process" else "of the answer's worth"
    chips = [score_marks.score_chip(at, text=str(25 * (at - 1))) for at in (1, 2, 3, 4, 5)]
    return el("p", chips, f"of 100 {held}", kit.quiet("▼ fails, and how often"),
              kit.quiet("– nothing known"), class_="legend",
              style="gap:6px;flex-wrap:wrap")  # fmt: skip


def _head(name: str, short: str, number: int, cells: FailureCells, listed: np.ndarray) -> Html:
    fails = int((cells.failed[listed, number] > 0).sum())
    return el(
        "span",
        el("span", class_="dot", style=f"background:{kit.colour(number)}"),
        el("span", short),
        el("span", f"▼ {fails:,}", class_="quiet small", style="white-space:nowrap"),
        class_="model",
        style="flex-direction:column;gap:2px",
        data_tip=f"{name} fails {numbers.count(fails, 'sample')} of these {len(listed):,}",
    )


def _sample(here: Here, row: FailureRow) -> Html:
    sample = here.filters.but(sample=row.sample_id, criterion=None)
    return el(
        "a",
        thumbnail(here.store, row.sample_id, row.picture_id, row.picture_name),
        el(
            "span",
            el("span", row.question or "(no question)", class_="lines"),
            kit.small(row.told) if row.told else None,
            kit.status("quarantined") if row.quarantined else None,
        ),
        href=to(sample),
        data_go=True,
        class_="head",
    )


def _cell(here: Here, row: FailureRow, number: int, cells: FailureCells) -> Html:
    """Draw a cell: the weight held, and by a sign, not a colour, whether the model fails."""
    index = here.data.sample_position[row.sample_id]
    value, failed = float(cells.value[index, number]), int(cells.failed[index, number])
    name = here.data.candidates[number].name
    if not math.isfinite(value):
        return kit.quiet("–", data_tip=f"{name}: nothing known here")
    sign = "" if not failed else "▼" if failed == 1 else f"▼{failed}"
    words = f"{name}: {100 * value:.0f} of 100"
    words += f", {numbers.count(failed, 'failure')}" if failed else ", no failure"
    chip = score_marks.score_chip(1 + round(4 * value), text=f"{100 * value:.0f}", note=words)
    return el(
        "a",
        chip,
        el("span", sign, class_="sign", aria_hidden="true"),
        href=to(
            here.filters.but(sample=row.sample_id, criterion=None, model=here.filters.model),
            by=cells.model_ids[number],
        ),
        data_go=True,
        class_="cell",
        aria_label=f"Sample no. {index + 1}, {words}",
    )
