"""A study's judges as one panel: how far they agree, how many it takes, and whom to drop.

Reference: METHODS T5.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from atom.analysis.agreement.debias import Debiased
from atom.analysis.agreement.panel import Panel, calibrated, panel_mean, read_panel
from atom.analysis.intervals import Floats, Ints
from atom.analysis.layout import Mask
from atom.display import numbers
from atom.records import Judge, Run
from atom.store import Store, table
from atom.store.people import PEOPLE
from atom.views.filters import Filters
from atom.views.judges.given import Everyone, everyone
from atom.views.study_data import StudyData

_SEED = 53
_NEAR = 1e-6


@dataclass(frozen=True, kw_only=True)
class Seat:
    """One judge of the panel. Values in points of 0-100.

    Attributes:
        judge: who it is.
        marks: marks that it gave.
        shift: its mean less the other judges' on the same marks, with its interval.
        shift_lo: lower end.
        shift_hi: upper end.
        flaw: `lenient`, `harsh` or empty.
        without: reliability of the panel without it; NaN under three judges.
        cost: USD a mark, over its runs here; None where it has none, NaN where it is free.
    """

    judge: Judge
    marks: int
    shift: float
    shift_lo: float
    shift_hi: float
    flaw: str
    without: float
    cost: float | None


@dataclass(frozen=True, kw_only=True)
class PanelScore:
    """A model's mean by the panel, 0-100.

    Attributes:
        name: the model.
        mean: of the panel's values.
        disagreement: mean standard deviation over judges.
        n: marks.
        by_people: on the people's scale, with its interval; None without enough labels.
    """

    name: str
    mean: float
    disagreement: float
    n: int
    by_people: Debiased | None


@dataclass(frozen=True, kw_only=True)
class PanelView:
    """A study's panel.

    Attributes:
        panel: what the judges say together.
        seats: the judges.
        scores: the models, the best first.
        calibrated: whether each judge's own error was taken out first.
        why_raw: why not, in words; empty where it was.
        drop: name of the judge to leave out; empty where there is none.
    """

    panel: Panel
    seats: tuple[Seat, ...]
    scores: tuple[PanelScore, ...]
    calibrated: bool
    why_raw: str
    drop: str

    @property
    def needed(self) -> str:
        """Say how many judges it takes, as a range."""
        panel = self.panel
        if math.isnan(panel.needed):
            return "too few marks are shared to say how many judges it takes"
        if math.isinf(panel.needed):
            return "no number of judges like these is enough: they don't agree at all"
        high = "no bound" if math.isinf(panel.needed_hi) else f"{panel.needed_hi:.0f}"
        return (
            f"a reliability of .8 takes {numbers.count(int(panel.needed), 'judge')} like these "
            f"({panel.needed_lo:.0f} to {high})"
        )


def panel_view(
    store: Store, data: StudyData, load: Callable[[str], StudyData], filters: Filters
) -> PanelView | None:
    """Put a study's judges together; None where fewer than two marked anything.

    Args:
        store: where the study is.
        data: the study, as it is looked at.
        load: reads it as another judge sees it.
        filters: model, capability and tags choose the marks.
    """
    judges = [one for one in data.judges if one.kind != "person"]
    persons = [one.id for one in data.judges if one.kind == "person" and one.id != PEOPLE]
    if len(judges) < 2:
        return None
    seen = {name: load(name) for name in (*(one.id for one in judges), *persons)}
    all_ = everyone(data, seen, persons)
    judges = [one for one in judges if one.id in all_.marks and len(all_.marks[one.id].key)]
    if len(judges) < 2:
        return None
    values, keys = _matrix(all_, judges, filters)
    cluster = all_.cluster(keys)
    human = _human(all_, persons, keys)
    fine, why = _fine(values, human, cluster)
    used = values if fine is None else fine
    panel = read_panel(used, cluster)
    return PanelView(
        panel=panel,
        seats=_seats(store, data, judges, values, panel),
        scores=_scores(data, all_.answer(keys), panel, human, cluster),
        calibrated=fine is not None,
        why_raw=why,
        drop="" if panel.drop is None else judges[panel.drop].name,
    )


def _matrix(all_: Everyone, judges: list[Judge], filters: Filters) -> tuple[Floats, Ints]:
    """Return the judges' values, shape (J, n), and the keys of the marks."""
    keys = np.unique(np.concatenate([all_.marks[one.id].key for one in judges]))
    keys = keys[all_.kept(keys, filters)]
    values = np.full((len(judges), len(keys)), np.nan)
    for row, one in zip(values, judges, strict=True):
        given = all_.marks[one.id]
        _, at, of = np.intersect1d(keys, given.key, return_indices=True)
        row[at] = given.value[of]
    return values, keys


def _human(all_: Everyone, persons: list[str], keys: Ints) -> Floats:
    found = np.full(len(keys), np.nan)
    name = PEOPLE if PEOPLE in all_.marks else persons[0] if persons else ""
    if name in all_.marks:
        given = all_.marks[name]
        _, at, of = np.intersect1d(keys, given.key, return_indices=True)
        found[at] = given.value[of]
    return found


def _fine(values: Floats, human: Floats, cluster: Ints) -> tuple[Floats | None, str]:
    """Calibrate all judges by people's labels, or none and why."""
    if not np.isfinite(human).any():
        return None, "no mark is labelled by people"
    known = np.isfinite(values)
    steps = 1 + 4 * values
    whole = np.abs(steps - np.round(steps)) < _NEAR
    if not whole[known].all():
        return None, "marks aren't on the scale of 1 to 5"
    scores = np.where(known, np.round(np.nan_to_num(steps)), 0).astype(np.int64)
    labels = np.where(np.isfinite(human), np.round(1 + 4 * human), np.nan)
    return calibrated(scores, labels, cluster, np.random.default_rng(_SEED))


def _seats(
    store: Store, data: StudyData, judges: list[Judge], values: Floats, panel: Panel
) -> tuple[Seat, ...]:
    spent = _spent(store, data.study.id)
    seats = []
    for at, judge in enumerate(judges):
        marks = int(np.isfinite(values[at]).sum())
        cost = spent.get(judge.endpoint or "")
        seats.append(
            Seat(
                judge=judge,
                marks=marks,
                shift=100 * float(panel.shift[at]),
                shift_lo=100 * float(panel.shift_lo[at]),
                shift_hi=100 * float(panel.shift_hi[at]),
                flaw="lenient" if at in panel.lenient else "harsh" if at in panel.harsh else "",
                without=float(panel.without[at]),
                cost=None if cost is None or not marks else cost / marks,
            )
        )
    return tuple(seats)


def _spent(store: Store, study_id: str) -> Mapping[str, float]:
    """Return what each judge's runs of the study's stages cost, by endpoint."""
    runs = table(Run).c
    found: dict[str, float] = {}
    for run in store.select(Run, runs.study_id == study_id):
        if run.kind == "study" and run.judge and not run.candidates:
            found[run.judge] = found.get(run.judge, 0.0) + run.cost
    return found


def _scores(
    data: StudyData, answer: Ints, panel: Panel, human: Floats, cluster: Ints
) -> tuple[PanelScore, ...]:
    model = data.table.model[answer]
    found = []
    for number, candidate in enumerate(data.candidates):
        mine: Mask = (model == number) & np.isfinite(panel.value)
        if not mine.any():
            continue
        people = panel_mean(panel.value[mine], human[mine], cluster[mine])
        apart = panel.disagreement[mine]
        apart = apart[np.isfinite(apart)]
        found.append(
            PanelScore(
                name=candidate.name,
                mean=100 * float(panel.value[mine].mean()),
                disagreement=100 * float(apart.mean()) if len(apart) else math.nan,
                n=int(mine.sum()),
                by_people=people if people.enough else None,
            )
        )
    return tuple(sorted(found, key=lambda one: -one.mean))
