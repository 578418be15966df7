"""A study's judges as one panel: how far they agree, how many it takes, and whom to drop.

Reference: METHODS T5.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from atom.analysis.agreement.debias import DebiasedMean
from atom.analysis.agreement.panel import (
    Narrowing,
    Panel,
    calibrated,
    narrowing,
    panel_mean,
    read_panel,
)
from atom.analysis.intervals import Floats, Ints
from atom.analysis.layout import Mask
from atom.display import numbers
from atom.records import Checkpoint, Judge
from atom.store import Store, table
from atom.store.people import PEOPLE
from atom.store.reading.calls import cost_of_marks
from atom.store.standing.marks import repeated_marks
from atom.views.filters import Filters
from atom.views.judges.marks import AllJudgesMarks, everyone
from atom.views.study_data import StudyData

_SEED = 53
_WIDE = 1.96
_NEAR = 1e-6
_UNKNOWN = {
    True: "calibration by people's labels leaves no mark to compare with itself",
    False: "not every judge was asked twice",
}
"""Why nothing is known of a repeat, by whether the marks were calibrated."""


@dataclass(frozen=True, kw_only=True)
class Seat:
    """One judge of the panel. Values in points of 0-100.

    Attributes:
        marks: marks that it gave.
        shift: its mean less the other judges' on the same marks, with its interval.
        shift_lo: lower end.
        flaw: `lenient`, `harsh` or empty.
        without: reliability of the panel without it; NaN under three judges.
        cost: USD a mark, by the calls that brought its first marks; None where one has no price,
            or the marks were imported.
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
    by_people: DebiasedMean | None


@dataclass(frozen=True, kw_only=True)
class Option:
    """Something that would narrow the panel's interval.

    Attributes:
        name: `samples` (as many again), `repeat` (every judge once more) or `judge` (one more).
        half: half of the 95 % interval then, in points of 0-100; NaN where it isn't known.
        price: USD, about, of the judges' marks; None where a price is unknown.
    """

    name: Literal["samples", "repeat", "judge"]
    half: float
    price: float | None


@dataclass(frozen=True, kw_only=True)
class Advice:
    """What the interval of the panel's mean over all marks is made of, and what would narrow it.

    Attributes:
        half: half of the 95 % interval now, in points of 0-100.
        judges: share of the variance that is the judges' noise.
        options: what could be done.
        best: which narrows most for the money, or most of all where nothing has a price.
        marks: marks that all judges gave.
        why_repeat: why it isn't known what a repeat would bring, in words; empty where it is.
    """

    half: float
    judges: float
    options: tuple[Option, ...]
    best: str
    marks: int
    why_repeat: str = ""

    @property
    def by_price(self) -> bool:
        """Whether the best is the best for its price."""
        return all(one.price for one in self.options if math.isfinite(one.half))


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
        advice: what would narrow the interval more; None where too little is shared.
    """

    panel: Panel
    seats: tuple[Seat, ...]
    scores: tuple[PanelScore, ...]
    calibrated: bool
    why_raw: str
    drop: str
    advice: Advice | None = None

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
    seats = _seats(store, data, judges, values, panel)
    within = _within(store, data, judges, all_, keys) if fine is None else None
    return PanelView(
        panel=panel,
        seats=seats,
        advice=_advice(narrowing(used, cluster, within), seats, calibrated=fine is not None),
        scores=_scores(data, all_.answer(keys), panel, human, cluster),
        calibrated=fine is not None,
        why_raw=why,
        drop="" if panel.drop is None else judges[panel.drop].name,
    )


def _within(
    store: Store, data: StudyData, judges: Sequence[Judge], all_: AllJudgesMarks, keys: Ints
) -> Floats | None:
    """Return the variance of each judge's marks when it is asked again; None where one never was.

    Where every judge was asked twice already, its mark is the mean of both (METHODS T3), and a
    further repeat would save less: that is left unsaid.
    """
    mark = table(Checkpoint).c
    twice = [
        bool(store.select(Checkpoint, mark.judge_id == one.id, mark.repeat == 1, limit=1))
        for one in judges
    ]
    if not all(twice):
        return None
    ids = [data.table.response_ids[int(at)] for at in np.unique(all_.answer(keys))]
    found = []
    for one in judges:
        groups = repeated_marks(store, data.study, ids, one.id, data.scale).values()
        values = [[mark.value for mark in marks if mark.value is not None] for marks in groups]
        spreads = [float(np.var(each, ddof=1)) for each in values if len(each) > 1]
        found.append(float(np.mean(spreads)) if spreads else math.nan)
    return np.array(found)


def _advice(found: Narrowing, seats: Sequence[Seat], *, calibrated: bool) -> Advice | None:
    """Say what would narrow the interval, each with its price.

    A mark of the judges costs `c_j` USD: the same n marks of as many samples again, or of every
    judge once more, cost `n sum_j c_j`, those of another judge `n` times the mean of `c_j`.
    """
    if not found.now > 0:
        return None
    costs = [one.cost for one in seats]
    known = [one for one in costs if one is not None]
    all_ = found.n * sum(known) if len(known) == len(costs) else None
    one = found.n * sum(known) / len(known) if known else None
    options = (
        Option(name="samples", half=100 * _WIDE * found.twice, price=all_),
        Option(name="repeat", half=100 * _WIDE * found.repeat, price=all_),
        Option(name="judge", half=100 * _WIDE * found.another, price=one),
    )
    return Advice(
        half=100 * _WIDE * found.now,
        judges=(found.judges / found.now) ** 2,
        options=options,
        best=_best(options, 100 * _WIDE * found.now),
        marks=found.n,
        why_repeat="" if math.isfinite(found.repeat) else _UNKNOWN[calibrated],
    )


def _best(options: Sequence[Option], now: float) -> str:
    """Return the option that takes most of the variance away for its price."""
    told = [one for one in options if math.isfinite(one.half)]
    gains = {one.name: now**2 - one.half**2 for one in told}
    if all(one.price for one in told):
        gains = {one.name: gains[one.name] / (one.price or 1.0) for one in told}
    best = max(gains, key=lambda name: gains[name])
    return best if gains[best] > 0 else ""


def _matrix(all_: AllJudgesMarks, judges: list[Judge], filters: Filters) -> tuple[Floats, Ints]:
    """Return the judges' values, shape (J, n), and the keys of the marks."""
    keys = np.unique(np.concatenate([all_.marks[one.id].key for one in judges]))
    keys = keys[all_.kept(keys, filters)]
    values = np.full((len(judges), len(keys)), np.nan)
    for row, one in zip(values, judges, strict=True):
        given = all_.marks[one.id]
        _, at, of = np.intersect1d(keys, given.key, return_indices=True)
        row[at] = given.value[of]
    return values, keys


def _human(all_: AllJudgesMarks, persons: list[str], keys: Ints) -> Floats:
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
    seats = []
    for at, judge in enumerate(judges):
        marks = int(np.isfinite(values[at]).sum())
        seats.append(
            Seat(
                judge=judge,
                marks=marks,
                shift=100 * float(panel.shift[at]),
                shift_lo=100 * float(panel.shift_lo[at]),
                shift_hi=100 * float(panel.shift_hi[at]),
                flaw="lenient" if at in panel.lenient else "harsh" if at in panel.harsh else "",
                without=float(panel.without[at]),
                cost=cost_of_marks(store, data.study.id, judge.id).each,
            )
        )
    return tuple(seats)


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
