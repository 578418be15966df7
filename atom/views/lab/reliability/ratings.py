"""All scorings of a study's checkpoints: repeats, and other judges'."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import numpy as np

from atom.analysis.agreement.judge_noise import Ratings
from atom.analysis.intervals import Floats, Ints
from atom.analysis.layout import Mask
from atom.analysis.score_table import ScoreTable
from atom.records import Judge
from atom.store import Store
from atom.store.reading.marks import further_marks
from atom.views.study_data import StudyData

_UNIT = 1 << 20
"""Parts of a point that scores on other scales are read in."""


@dataclass(frozen=True, kw_only=True)
class RatingData:
    """A study's scorings beside those that its table holds.

    Attributes:
        ratings: items are the table's checkpoint rows; judge 0 is the one looked at.
        names: of the judges.
        cold: which ratings were asked for at temperature 0, as far as they aren't the table's own,
            shape (V,).
    """

    ratings: Ratings
    names: tuple[str, ...]
    judge_ids: tuple[str, ...]
    cold: Mask

    @property
    def cold_again(self) -> bool:
        """Whether what the judge looked at was asked again was asked at temperature 0."""
        return bool((self.cold & (self.ratings.judge == 0) & (self.ratings.repeat > 0)).any())

    @property
    def telling(self) -> Ratings:
        """The ratings that can show a judge's noise.

        At temperature 0 a second request is the first one again: equal repeats would read as a
        judge without noise, which they can't show.

        Reference:
            METHODS T3.
        """
        told = (self.ratings.repeat == 0) | ~self.cold
        columns = ("item", "judge", "repeat", "score")
        parts = {name: getattr(self.ratings, name)[told] for name in columns}
        return replace(self.ratings, **parts)


def load_ratings(store: Store, data: StudyData) -> RatingData:
    """Read all scorings of a study's checkpoints: repeats, and other judges'.

    Only what the score table doesn't hold is read. Scorings of one checkpoint by one judge count
    together only under the same prompt and sampling settings: those that were used most often.

    Args:
        data: the study, as one judge sees it.
    """
    score_table = data.table
    judge_id = data.judge.id if data.judge else None
    n = len(score_table.score)
    width = max(len(score_table.criterion_ids), 1)
    row_key = score_table.response.astype(np.int64) * width + score_table.criterion
    order = np.argsort(row_key, kind="stable")
    judges: dict[str, int] = {} if judge_id is None else {judge_id: 0}
    extra, cold = _further(store, data, judge_id, judges)
    place = np.searchsorted(row_key[order], extra[:, 0])
    there = place < len(order)
    there[there] = row_key[order[place[there]]] == extra[there, 0]
    extra = np.column_stack([order[place[there]], extra[there, 1:]])
    extra = _one_setting(extra, max(len(judges), 1))
    # What was read of the judge itself holds the first scoring, too.
    kept = np.ones(n, dtype=bool)
    kept[extra[extra[:, 1] == 0, 0]] = False
    base = np.flatnonzero(kept)
    zero = np.zeros(len(base), dtype=np.int64)
    names = {row.id: row.name for row in store.get_many(Judge, list(judges))}
    return RatingData(
        ratings=Ratings(
            item=np.concatenate([base, extra[:, 0]]),
            judge=np.concatenate([zero, extra[:, 1]]),
            repeat=np.concatenate([zero, extra[:, 2]]),
            score=_scores(score_table, base, extra[:, 3]),
            cluster=score_table.cluster[score_table.sample[score_table.response]].astype(np.int64),
            judges=max(len(judges), 1),
        ),
        names=tuple(names.get(judge, judge) for judge in judges) or ("",),
        judge_ids=tuple(judges) or ("",),
        cold=np.concatenate([np.zeros(len(base), dtype=bool), cold[extra[:, 4]]]),
    )


def _scores(table: ScoreTable, base: Ints, extra: Ints) -> Ints | Floats:
    """Return the table's own scores and those read beside it; whole numbers on our own scale."""
    if table.ours:
        return np.concatenate([table.score[base].astype(np.int64), extra])
    return np.concatenate([table.score[base].astype(np.float64), extra / _UNIT])


def _further(
    store: Store, data: StudyData, judge_id: str | None, judges: dict[str, int]
) -> tuple[Ints, Mask]:
    """Read rows of (checkpoint key, judge, repeat, score, setting), shape (V, 5).

    Also returns which settings are at temperature 0.

    Of the judge looked at, answers that were scored more than once are read whole.
    """
    table = data.table
    response_at = {name: at for at, name in enumerate(table.response_ids)}
    criterion_at = {name: at for at, name in enumerate(table.criterion_ids)}
    width = max(len(criterion_at), 1)
    settings: dict[tuple[str, str], int] = {}
    found: list[tuple[int, int, int, int, int]] = []
    for mark in further_marks(store, judge_id or "", data.scale):
        at, use = response_at.get(mark.response_id), criterion_at.get(mark.criterion_id)
        if at is None or use is None:
            continue
        setting = settings.setdefault(mark.setting, len(settings))
        number = judges.setdefault(mark.judge_id, len(judges))
        score = int(mark.score) if table.ours else _turned(table, use, mark.score)
        found.append((at * width + use, number, mark.repeat, score, setting))
    cold = [json.loads(sampling).get("temperature") == 0 for _, sampling in settings]
    return np.array(found, dtype=np.int64).reshape(-1, 5), np.array(cold, dtype=bool)


def _turned(table: ScoreTable, criterion: int, score: float) -> int:
    """Return a score on another scale as the table keeps it, in whole parts."""
    return round(_UNIT * (6 - score if table.penalty[criterion] else score))


def _one_setting(rows: Ints, judges: int) -> Ints:
    """Keep, of each checkpoint and judge, the setting with the most repeats; the last if several.

    Args:
        rows: (checkpoint, judge, repeat, score, setting), shape (V, 5).
        judges: number of judges.

    Returns:
        The rows that are left.
    """
    if not len(rows):
        return rows
    settings = int(rows[:, 4].max()) + 1
    unit = rows[:, 0] * judges + rows[:, 1]
    _, of_unit = np.unique(unit, return_inverse=True)
    key, group, count = np.unique(
        of_unit * settings + rows[:, 4], return_inverse=True, return_counts=True
    )
    best = np.zeros(int(of_unit.max()) + 1, dtype=np.int64)
    order = np.lexsort((key % settings, count))
    best[key[order] // settings] = order
    kept: Ints = rows[group == best[of_unit]]
    return kept


LEAST = 20
"""Fewer pairs than this say nothing about agreement."""
