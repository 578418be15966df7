"""What a study asks for: its tasks by its skills, in samples; ATOM's Table 6 on one's own data.

Reference: ATOM Table 6 (skill, task, domain, capability, data source, count).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from atom.analysis.intervals import Ints
from atom.analysis.score_table import Facet
from atom.views.facets import DATASET_FACET, SOURCE_FACET, data_facets
from atom.views.filters import Filters, answers_kept, label_name
from atom.views.study_data import StudyData

TASKS = ("task", "tasks", "template", "subtask", "category", "question_type", "type")
SKILLS = ("skill", "skills", "capability", "family", "ability", "domain", "subject", "topic")
MOST_ROWS, MOST_COLUMNS = 80, 12
MOST_NAMED = 3
"""Other labels of a task that are named."""


@dataclass(frozen=True, kw_only=True)
class TaskCell:
    """Samples that carry both labels.

    Attributes:
        n: how many.
        filters: leads to them.
    """

    n: int
    filters: Filters


@dataclass(frozen=True, kw_only=True)
class TaskRow:
    """One task.

    Attributes:
        name: its label.
        n: samples that carry it.
        share: their share of all, 0..1.
        cells: by skill, in the table's order.
        other: further facets -> the labels that its samples carry, the commonest first.
        filters: leads to its samples.
    """

    name: str
    n: int
    share: float
    cells: tuple[TaskCell, ...]
    other: tuple[str, ...]
    filters: Filters


@dataclass(frozen=True, kw_only=True)
class TaskTable:
    """Tasks by skills.

    Attributes:
        facets: labels that rows and columns can be made of, with their names.
        rows_of: the facet of the rows.
        columns_of: that of the columns; None = the study has no second one.
        columns: skills, the commonest first.
        totals: samples of each.
        others: names of the further facets.
        rows: tasks, the commonest first.
        samples: samples with answers.
        left_rows: tasks that aren't listed.
        left_columns: skills that aren't.
    """

    facets: tuple[tuple[str, str], ...]
    rows_of: str
    columns_of: str | None
    columns: tuple[str, ...]
    totals: tuple[TaskCell, ...]
    others: tuple[str, ...]
    rows: tuple[TaskRow, ...]
    samples: int
    left_rows: int
    left_columns: int


def task_table(
    data: StudyData, filters: Filters, rows: str | None = None, columns: str | None = None
) -> TaskTable | None:
    """Count a study's samples by two of their labels.

    Args:
        filters: what narrows it; the chain doesn't.
        rows: the facet of the rows; a task-like one when None or unknown.
        columns: the facet of the columns; a skill-like one when None or unknown.

    Returns:
        The table; None where the samples carry no labels.
    """
    known = {
        name: one for name, one in data_facets(data.table.facets).items() if len(one.values) > 1
    }
    if not known:
        return None
    kept = answers_kept(data, filters)
    of_rows = _chosen(known, rows, TASKS, ())
    of_columns = _chosen(known, columns, SKILLS, (of_rows,)) if len(known) > 1 else None
    task = _matrix(data, known[of_rows], kept)
    skill = None if of_columns is None else _matrix(data, known[of_columns], kept)
    samples = len(np.unique(data.table.sample[kept]))
    n = np.asarray(task.sum(axis=0)).ravel().astype(np.int64)
    order = [int(at) for at in np.argsort(-n, kind="stable") if n[at]]
    cross = np.zeros((len(n), 0)) if skill is None else (task.T @ skill).toarray()
    total = np.zeros(0, dtype=np.int64)
    if skill is not None:
        total = np.asarray(skill.sum(axis=0)).ravel().astype(np.int64)
    across = [int(at) for at in np.argsort(-total, kind="stable") if total[at]]
    shown = across[:MOST_COLUMNS]
    further = [name for name in known if name not in (of_rows, of_columns)][:MOST_NAMED]
    beside = [_commonest(data, task, known[name], kept) for name in further]
    base = filters.but(model=None, node=(), sample=None, criterion=None, show="all")

    def door(*labels: tuple[str, str]) -> Filters:
        return base.but(tags=tuple(dict.fromkeys((*filters.tags, *labels))))

    names = known[of_rows].values
    skills = () if of_columns is None else known[of_columns].values
    return TaskTable(
        facets=tuple((name, label_name(name)) for name in known),
        rows_of=of_rows,
        columns_of=of_columns,
        columns=tuple(skills[at] for at in shown),
        totals=tuple(
            TaskCell(n=int(total[at]), filters=door((of_columns or "", skills[at]))) for at in shown
        ),
        others=tuple(label_name(name) for name in further),
        rows=tuple(
            TaskRow(
                name=names[row],
                n=int(n[row]),
                share=float(n[row] / max(samples, 1)),
                cells=tuple(
                    TaskCell(
                        n=int(cross[row, at]),
                        filters=door((of_rows, names[row]), (of_columns or "", skills[at])),
                    )
                    for at in shown
                ),
                other=tuple(one[row] for one in beside),
                filters=door((of_rows, names[row])),
            )
            for row in order[:MOST_ROWS]
        ),
        samples=samples,
        left_rows=len(order[MOST_ROWS:]),
        left_columns=len(across[MOST_COLUMNS:]),
    )


def _chosen(
    known: dict[str, Facet], asked: str | None, usual: Sequence[str], taken: Sequence[str]
) -> str:
    """Choose a facet: the one asked for, a usual one, else the first that isn't a source."""
    free = [name for name in known if name not in taken] or list(known)
    if asked in free:
        return str(asked)
    plain = [name for name in free if name not in (SOURCE_FACET, DATASET_FACET)]
    return next((name for name in usual if name in free), (plain or free)[0])


def _matrix(
    data: StudyData, facet: Facet, kept: np.ndarray[tuple[int], np.dtype[np.bool_]]
) -> scipy.sparse.csr_array:
    """Say which samples carry which labels, shape (S, labels), zeros and ones."""
    good = kept[facet.response]
    sample: Ints = data.table.sample[facet.response[good]].astype(np.int64)
    width = len(facet.values)
    pairs = np.unique(sample * width + facet.value[good])
    shape = (len(data.table.sample_ids), width)
    cells = (np.ones(len(pairs), dtype=np.int64), (pairs // width, pairs % width))
    return scipy.sparse.csr_array(cells, shape=shape)


def _commonest(
    data: StudyData,
    task: scipy.sparse.csr_array,
    facet: Facet,
    kept: np.ndarray[tuple[int], np.dtype[np.bool_]],
) -> list[str]:
    """Name the labels of another facet that each task's samples carry most often."""
    cross = (task.T @ _matrix(data, facet, kept)).toarray()
    words = []
    for row in cross:
        order = [int(at) for at in np.argsort(-row, kind="stable") if row[at]]
        named = ", ".join(facet.values[at] for at in order[:MOST_NAMED])
        more = len(order) - MOST_NAMED
        words.append(f"{named} and {more} more" if more > 0 else named)
    return words
