"""The two sides of a comparison: which they are, and which answers of theirs count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from atom.analysis.intervals import Floats, Ints
from atom.analysis.layout import Layout, Mask, tree_layout
from atom.analysis.score_table import ScoreTable
from atom.views.filters import Filters, answer_values, answers_kept, measure_of
from atom.views.study_data import StudyData


@dataclass(frozen=True, kw_only=True)
class SideChoice:
    """Something that can stand on one side.

    Attributes:
        model_id: candidate id.
        colour: its place in the study.
        answer: which of its answers, from 1; None = all it gave, averaged by question.
        label: what the list of choices says.
    """

    model_id: str
    name: str
    colour: int
    answer: int | None
    label: str


@dataclass(frozen=True, kw_only=True)
class ComparedSides:
    """Which two are compared.

    Attributes:
        first: one side.
        second: the other.
        judge_id: the judge whose scores the second side is seen by; None = the same as the first.
    """

    first: SideChoice
    second: SideChoice
    judge_id: str | None = None

    @property
    def alike(self) -> bool:
        """Whether both sides are the same thing."""
        return self.first == self.second and self.judge_id is None


def choices(data: StudyData) -> tuple[SideChoice, ...]:
    """List what can stand on a side: every model that answered, and its answers one by one."""
    table = data.table
    found: list[SideChoice] = []
    for number, candidate in enumerate(data.candidates):
        repeats = np.unique(table.repeat[(table.model == number) & table.counts])
        if not len(repeats):
            continue
        whole = SideChoice(
            model_id=candidate.id,
            name=candidate.name,
            colour=number,
            answer=None,
            label=candidate.name,
        )
        if len(repeats) == 1:
            found.append(whole)
            continue
        found.append(replace(whole, label=f"{candidate.name}, all {len(repeats):,} answers"))
        found += [
            replace(whole, answer=int(at) + 1, label=f"{candidate.name}, answer {int(at) + 1}")
            for at in repeats
        ]
    return tuple(found)


def pick(data: StudyData, filters: Filters, query: Mapping[str, str]) -> ComparedSides | None:
    """Choose the two sides.

    Args:
        filters: `model` is the first side, the first of `peers` the second; where they are not
            set, the best models of the ranking that are left.
        query: `left` and `right` number an answer of either side; `other` is the id (or
            name) of the judge that the second side is seen by.

    Returns:
        The sides, perhaps alike; None when no model has answered.
    """
    there = choices(data)
    if not there:
        return None
    judge = data.judge_id(query.get("other"))
    judge = judge if data.judge is None or judge != data.judge.id else None
    ranked = _by_rank(data, filters, there)
    ids = {one.model_id for one in there}
    first = filters.model if filters.model in ids else None
    second = next((peer for peer in filters.peers if peer in ids), None)
    first = first or next((model for model in ranked if model != second), ranked[0])
    left = _side(there, first, query.get("left"))
    if second is None:
        second = first if judge else next((one for one in ranked if one != first), first)
    right = _side(there, second, query.get("right"))
    if left == right and judge is None:
        apart = _apart(data, there, left, asked="right" in query)
        left, right, judge = apart.first, apart.second, apart.judge_id
    return ComparedSides(first=left, second=right, judge_id=judge)


def _by_rank(data: StudyData, filters: Filters, there: tuple[SideChoice, ...]) -> list[str]:
    """Order models by their mean, best first; those without a value come last."""
    value = answer_values(data, filters, measure_of(data, filters))
    good = answers_kept(data, filters) & np.isfinite(value)
    model = data.table.model[good]
    size = data.table.n_models
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(model, value[good], size) / np.bincount(model, minlength=size)
    models = {one.model_id: one.colour for one in there}
    return sorted(models, key=lambda one: -np.nan_to_num(mean[models[one]], nan=-1.0))


def _side(there: tuple[SideChoice, ...], model: str, answer: str | None) -> SideChoice:
    mine = [one for one in there if one.model_id == model]
    return next((one for one in mine if str(one.answer) == answer), mine[0])


def _apart(
    data: StudyData, there: tuple[SideChoice, ...], side: SideChoice, *, asked: bool
) -> ComparedSides:
    """Tell two equal sides apart where a study allows it: by answer, else by judge."""
    single = [one for one in there if one.model_id == side.model_id and one.answer is not None]
    if len(single) >= 2 and side.answer is None and not asked:
        return ComparedSides(first=single[0], second=single[1])
    others = [one.id for one in data.judges if data.judge is not None and one.id != data.judge.id]
    if len({one.model_id for one in there}) == 1 and len(single) < 2 and others:
        return ComparedSides(first=side, second=side, judge_id=others[0])
    return ComparedSides(first=side, second=side)


@dataclass(frozen=True, kw_only=True)
class Sides:
    """Both sides' answers.

    `a` and `b` are answers of the side that the filters keep, `had_a` and `had_b` all it gave.
    """

    data: StudyData
    other: StudyData
    filters: Filters
    picked: ComparedSides
    a: Mask
    b: Mask
    had_a: Mask
    had_b: Mask
    second_sample: Ints
    """Index in the first side's study of each sample of the second side's; -1 = not there."""

    @property
    def first_model(self) -> int:
        """Index of the first side's model."""
        return self.picked.first.colour

    def first_on(self, answers: Mask) -> Mask:
        """Say which samples have one of these answers of the first side, shape (S,)."""
        return samples_with(self.data.table.sample[answers], len(self.data.table.sample_ids))

    def second_on(self, answers: Mask) -> Mask:
        """Say the same of the second side."""
        place = self.second_sample[self.other.table.sample[answers]]
        return samples_with(place[place >= 0], len(self.data.table.sample_ids))


def make_sides(data: StudyData, filters: Filters, picked: ComparedSides, other: StudyData) -> Sides:
    """Find out which answers are whose, and which of them count.

    Args:
        data: the study, as the first side's judge sees it.
        other: the study, as the second side's judge sees it.
    """
    had_a, had_b = _answers_of(data, picked.first), _answers_of(other, picked.second)
    if other.table.sample_ids == data.table.sample_ids:
        place = np.arange(len(data.table.sample_ids))
    else:
        at = data.sample_position
        place = np.array([at.get(name, -1) for name in other.table.sample_ids], dtype=np.int64)
    return Sides(
        data=data,
        other=other,
        filters=filters,
        picked=picked,
        a=had_a & answers_kept(data, filters),
        b=had_b & answers_kept(other, filters),
        had_a=had_a,
        had_b=had_b,
        second_sample=place,
    )


def _answers_of(data: StudyData, side: SideChoice) -> Mask:
    table, number = data.table, data.model_index(side.model_id)
    mine = table.counts & (table.model == (-1 if number is None else number))
    return np.asarray(
        mine if side.answer is None else mine & (table.repeat == side.answer - 1), dtype=bool
    )


def samples_with(sample: NDArray[np.integer], size: int) -> Mask:
    """Say which of the samples are named, shape (S,)."""
    found = np.zeros(size, dtype=bool)
    found[sample] = True
    return found


def mean_by_sample(sample: NDArray[np.integer], value: Floats, answers: Mask, size: int) -> Floats:
    """Average the answers of each sample, shape (S,); NaN where none of them has a value."""
    good = answers & np.isfinite(value)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(
            np.bincount(sample[good], value[good], size) / np.bincount(sample[good], minlength=size)
        )


@dataclass(frozen=True, kw_only=True)
class ModelLayout:
    """One model's checkpoints by the nodes of the tree.

    Attributes:
        layout: of these rows alone.
        rows: which rows of the table they are.
    """

    layout: Layout
    rows: Ints


def layout_of(table: ScoreTable, model: int) -> ModelLayout:
    """Lay one model's rows out by the tree; it is done once and kept with the table.

    A comparison needs the nodes of one side alone: the other side only gives each criterion a
    value. So it costs a share of a layout of all models.
    """

    def make() -> ModelLayout:
        rows = np.flatnonzero(table.of_answers(table.model == model))
        columns = (
            "response", "criterion", "leaf", "weight", "position", "score", "addressed", "carried",
            "scale",
        )  # fmt: skip
        mine = replace(table, apart=None, disagreement=None,
                       **{name: getattr(table, name)[rows] for name in columns})  # fmt: skip
        return ModelLayout(layout=tree_layout(mine), rows=rows)

    return table.kept.get(("model layout", model), make)


def criterion_means(table: ScoreTable, rows: Mask) -> Floats:
    """Average the scored rows of each criterion, on [0, 1]; NaN where there is none."""
    good = np.flatnonzero(rows & (table.score > 0))
    item, size = table.criterion[good], len(table.criterion_ids)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(item, table.score[good], size) / np.bincount(item, minlength=size)
    return np.asarray((mean - 1) / 4)
