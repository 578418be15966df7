"""Multi-Crit's own drawing in the judge lab: a matrix of criteria against criteria."""

from __future__ import annotations

from atom.display import numbers
from atom.records import BenchSet
from atom.ui import kit
from atom.ui.html import Html, el
from atom.ui.lab.bench import figures
from atom.ui.lab.bench.sets import LabContext
from atom.views.lab.multi_crit import ConflictMatrix, CriteriaConflict, Standing, conflict_matrices
from atom.views.lab.page import SetProgress as JudgeStanding

_MARKS: dict[Standing, str] = {"above": "▲", "level": "●", "below": "▼"}
_WORDS: dict[Standing, str] = {
    "above": "above chance",
    "level": "not to be told from chance",
    "below": "below chance",
}
_CELL = "padding:6px 8px;text-align:center;border:1px solid var(--line)"
_HEAD = "padding:6px 8px;font-weight:600;font-size:13px;max-width:130px;vertical-align:bottom"


def draw(lab: LabContext, record: BenchSet, judges: tuple[JudgeStanding, ...]) -> None:
    """Draw which conflicts of criteria the chosen judge resolves."""
    matrices = conflict_matrices(lab.result) if lab.result else ()
    if matrices:
        kit.show(
            kit.section(
                "Which criteria does it keep apart?",
                kit.note(
                    "Each cell: of the pairs of answers on which people prefer one by the row’s "
                    "criterion and the other by the column’s, how many the judge decides exactly "
                    "so. A coin does so in 25 %. ",
                    *(f"{_MARKS[one]} {_WORDS[one]}. " for one in _MARKS),
                    style="max-width:860px",
                ),
                [matrix(one) for one in matrices],
                class_="stack",
            ),
            key="lab_conflicts",
        )


def matrix(found: ConflictMatrix) -> Html:
    """Draw one split's matrix: the upper triangle of a table, so that it reads without colour."""
    columns = range(1, len(found.names))
    title = f"Conflicts resolved: {found.split}" if found.split else "Conflicts resolved"
    head = el(
        "tr",
        el("td"),
        [el("th", found.names[at], scope="col", style=_HEAD) for at in columns],
    )
    rows = [
        el(
            "tr",
            el("th", found.names[at], scope="row", style=f"{_HEAD};text-align:left"),
            [_cell(found, at, column) for column in columns],
        )
        for at in range(len(found.names) - 1)
    ]
    return figures.matrix(title, head, rows)


def _cell(found: ConflictMatrix, row: int, column: int) -> Html:
    if column <= row:
        return el("td")
    one = found.cells.get((row, column))
    if one is None:
        return el("td", "no conflict", style=f"{_CELL};color:var(--quiet);font-size:12px")
    words = (
        f"{found.names[row]} against {found.names[column]}: {numbers.in_percent(one.value, 0)} "
        f"of {one.n:,}, "
        f"interval {one.lo:.0f} to {numbers.in_percent(one.hi, 0)}, {_WORDS[one.standing]}"
    )
    return el(
        "td",
        el(
            "div",
            f"{_MARKS[one.standing]} {numbers.in_percent(one.value, 0)}",
            style="font-weight:600",
        ),
        el("div", f"of {one.n}", style="font-size:12px;color:var(--quiet)"),
        title=words,
        style=f"{_CELL};background:{_tint(one)}",
    )


def _tint(one: CriteriaConflict) -> str:
    """Shade a cell by its share; the number in it says the same."""
    return f"color-mix(in srgb, var(--accent) {round(one.value * 0.4)}%, transparent)"
