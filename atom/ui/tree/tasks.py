"""Capability tree › Tasks: what the study asks for, tasks by skills, in samples."""

from __future__ import annotations

import streamlit as st

from atom.display import numbers
from atom.ui import kit, links
from atom.ui.html import Child, Html, el
from atom.ui.pages import FAILURES
from atom.ui.plain import plain
from atom.ui.shell.frame import Here
from atom.ui.tree import query as tree_query
from atom.views.filters import label_name
from atom.views.tree.tasks import TaskCell, TaskRow, TaskTable, task_table


def draw(here: Here) -> None:
    """Draw the tab."""
    view = task_table(here.data, here.filters, here.query.get("rows"), here.query.get("cols"))
    if view is None:
        kit.show(
            kit.empty(
                "The samples carry no labels",
                "A table of tasks and skills is made of labels: import the samples with a column "
                "of tasks, skills or categories.",
            ),
            key="tasks_none",
        )
        return
    left, right, _ = st.columns([1, 1, 2])
    names = dict(view.facets)
    with left:
        _menu(here, "rows", "Tasks", view.rows_of, [one for one in names if one != view.columns_of])
    if view.columns_of is not None:
        with right:
            others = [one for one in names if one != view.rows_of]
            _menu(here, "cols", "Skills", view.columns_of, others)
    kit.show(
        el("div", tree_query.style(), _answer(view), _table(view), class_="stack"),
        key="tree_tasks",
    )


def _menu(here: Here, name: str, label: str, chosen: str, options: list[str]) -> None:
    key = f"tasks_{name}"
    st.session_state[key] = chosen

    def changed() -> None:
        tree_query.move(here, here.filters, **{name: str(st.session_state[key])})

    st.selectbox(plain(label), options, format_func=label_name, key=key, on_change=changed)


def _answer(view: TaskTable) -> Html:
    first = view.rows[0] if view.rows else None
    words = (
        f"{numbers.count(view.samples, 'sample')} of "
        f"{numbers.count(len(view.rows) + view.left_rows, 'task')}"
    )
    if view.columns_of:
        words += f" and {numbers.count(len(view.columns) + view.left_columns, 'skill')}"
    if first is not None:
        words += (
            f"; the most frequent task is {first.name} "
            f"({numbers.percent(100 * first.share, view.samples)})."
        )
    return el("section", el("div", words, class_="answer"), class_="verdict")


def _table(view: TaskTable) -> Html:
    left = []
    if view.left_rows:
        left.append(f"{view.left_rows:,} rarer tasks")
    if view.left_columns:
        left.append(f"{view.left_columns:,} rarer skills")
    return el(
        "section",
        kit.grid(
            (*view.rows, None) if view.columns else view.rows,
            kit.MarkupColumn(label_name(view.rows_of), _task),
            *kit.each(
                range(len(view.columns)),
                lambda at: numbers.middle(view.columns[at], 22),
                lambda row, at: _cell(row.cells[at] if row else view.totals[at]),
            ),
            kit.number("Samples", lambda row: f"{row.n if row else view.samples:,}"),
            *(_other(name, at) for at, name in enumerate(view.others)),
            label="Tasks by skills",
        ),
        kit.note("Samples with answers; one that carries several labels counts in each. A number "
           "opens its samples." + (f" Not listed: {' and '.join(left)}." if left else "")),
        data_testid="task-table",
    )  # fmt: skip


def _task(row: TaskRow | None) -> Html:
    if row is None:
        return kit.strong("All")
    href = links.address(FAILURES.url_path, row.filters)
    return kit.door(numbers.middle(row.name, 60), href, tip=row.name)


def _other(name: str, at: int) -> kit.MarkupColumn[TaskRow | None]:
    def labels(row: TaskRow | None) -> Child:
        if row is None:
            return ""
        text = row.other[at]
        return el("span", numbers.middle(text, 60), class_="small quiet", data_tip=text)

    return kit.MarkupColumn(name, labels, broad=True)


def _cell(one: TaskCell) -> Html:
    if not one.n:
        return kit.quiet("·")
    href = links.address(FAILURES.url_path, one.filters)
    return kit.cell(f"{one.n:,}", href)
