"""The panel's tables, for the screen, the command and its JSON."""

from __future__ import annotations

import math

from atom.display import numbers
from atom.display.estimate import Estimate
from atom.display.numbers import money
from atom.display.table import Column, Table
from atom.views.judges.panel import Advice, Option, PanelScore, PanelView, Seat
from atom.views.judges.panel_words import OPTIONS


def seats(view: PanelView) -> Table[Seat]:
    """Table the judges: how far each is off the others, and what the panel is without it."""
    columns = (
        Column[Seat](title="Judge", of=lambda one: one.judge.name, name="judge"),
        Column[Seat](title="Marks", of=lambda one: one.marks, name="marks", number=True),
        Column[Seat](title="Above the others", of=_shift, name="shift", ends=("low", "high"),
                     number=True),
        Column[Seat](title="", of=lambda one: one.flaw, name="flaw"),
        Column[Seat](title="Reliability without it", of=lambda one: one.without,
                     name="reliability_without", number=True),
        Column[Seat](title="A mark costs", of=lambda one: one.cost, write=_price,
                     name="cost_per_mark", number=True, broad=True),
    )  # fmt: skip
    return Table(label="Judges of the panel", columns=columns, rows=view.seats)


def scores(view: PanelView) -> Table[PanelScore]:
    """Table the models' means by the panel; on people's scale where that is known of any."""
    columns = (
        Column[PanelScore](title="Model", of=lambda one: one.name, name="model"),
        Column[PanelScore](title="Panel's mean, 0–100", of=lambda one: one.mean, name="mean",
                           write=numbers.score, number=True),
        Column[PanelScore](title="Disagreement", of=lambda one: one.disagreement,
                           name="disagreement", write=numbers.score, number=True),
        Column[PanelScore](title="n", of=lambda one: one.n, name="marks", number=True),
        Column[PanelScore](title="On people's scale", of=_by_people, name="by_people",
                           ends=("low", "high"), number=True, spare=True),
    )  # fmt: skip
    return Table(label="Models by the panel", columns=columns, rows=view.scores)


def options(found: Advice) -> Table[Option]:
    """Table what would narrow the interval, each with its price."""

    def half(value: float) -> str:
        return f"± {value:.2f}" if math.isfinite(value) else f"not known: {found.why_repeat}"

    columns = (
        Column[Option](title="What would narrow it", of=lambda one: one.name, name="name",
                       write=lambda name: OPTIONS[name]),
        Column[Option](title="Half of the interval then", of=lambda one: one.half, name="half",
                       write=half, number=True),
        Column[Option](title="Price, about", of=lambda one: one.price, write=_price, name="price",
                       number=True),
    )  # fmt: skip
    return Table(label="What would narrow the interval", columns=columns, rows=found.options)


def _shift(one: Seat) -> Estimate:
    return Estimate(value=one.shift, lo=one.shift_lo, hi=one.shift_hi, n=one.marks, unit="gap")


def _by_people(one: PanelScore) -> Estimate | None:
    found = one.by_people
    if found is None:
        return None
    return Estimate(value=100 * found.value, lo=100 * found.lo, hi=100 * found.hi)


def _price(price: float | None) -> str:
    return numbers.NONE if price is None else money(price)
