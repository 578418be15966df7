"""Tables of measures, of which one is asked for in another unit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from numpy.random import Generator

from atom.probes.worlds import leaves
from atom.probes.worlds.kit import DrawnSample
from atom.probes.worlds.steps import blend, chance, choice_list, number, option, pick, sample, whole
from atom.probes.worlds.tables import SIZE, box_of, paint_table


@dataclass(frozen=True, kw_only=True)
class _Measure:
    title: str
    corner: str
    quantity: str
    unit: str
    near: str
    other: str
    factor: int
    rows: tuple[str, ...]
    low: int
    high: int


_MEASURES: Final = (
    _Measure(
        title="Hiking routes",
        corner="Route",
        quantity="Length",
        unit="km",
        near="m",
        other="m",
        factor=1000,
        rows=("Ridge", "Lake", "Forest", "Gorge", "Summit", "Meadow"),
        low=3,
        high=38,
    ),
    _Measure(
        title="Film programme",
        corner="Film",
        quantity="Duration",
        unit="h",
        near="min",
        other="min",
        factor=60,
        rows=("Harvest", "Lantern", "Orbit", "Pilgrim", "Quartz", "Saffron"),
        low=2,
        high=9,
    ),
    _Measure(
        title="Parcel weights",
        corner="Parcel",
        quantity="Weight",
        unit="kg",
        near="g",
        other="g",
        factor=1000,
        rows=("Amber", "Basalt", "Copper", "Flint", "Granite", "Marble"),
        low=2,
        high=29,
    ),
    _Measure(
        title="Garden plots",
        corner="Plot",
        quantity="Width",
        unit="m",
        near="cm",
        other="cm",
        factor=100,
        rows=("Aster", "Clover", "Dahlia", "Iris", "Lupin", "Poppy"),
        low=4,
        high=60,
    ),
    _Measure(
        title="Water tanks",
        corner="Tank",
        quantity="Volume",
        unit="L",
        near="mL",
        other="mL",
        factor=1000,
        rows=("Barn", "Cellar", "Deck", "Garage", "Roof", "Shed"),
        low=12,
        high=95,
    ),
)
_UNITS: Final = ("km", "m", "cm", "kg", "g", "h", "min", "L", "mL")
_UNIT_WORDS: Final = {
    "km": ("kilometres",),
    "m": ("metres",),
    "cm": ("centimetres",),
    "kg": ("kilograms",),
    "g": ("grams",),
    "h": ("hours",),
    "min": ("minutes",),
    "L": ("litres",),
    "mL": ("millilitres",),
}


def draw_convert(rng: Generator) -> DrawnSample:
    """Ask for a value of a table in another unit."""
    measure = pick(rng, _MEASURES)
    rows = tuple(sample(rng, measure.rows, whole(rng, 4, 6)))
    amounts = sample(rng, range(measure.low, measure.high + 1), len(rows))
    head = f"{measure.quantity} ({measure.unit})"
    ratings = [whole(rng, 11, 99) for _ in rows]
    values = {(row, head): str(amount) for row, amount in zip(rows, amounts, strict=True)}
    values |= {(row, "Rating"): str(rating) for row, rating in zip(rows, ratings, strict=True)}
    columns = (head, "Rating") if chance(rng, 0.5) else ("Rating", head)
    size = pick(rng, (13, 14, 15, 16))
    image, frame = paint_table(
        measure.title,
        f"{measure.quantity} and guest rating",
        measure.corner,
        rows,
        columns,
        values,
        size=size,
    )
    at = whole(rng, 0, len(rows) - 1)
    row, amount = rows[at], amounts[at]
    made = amount * measure.factor
    steps = (
        option(
            "unit",
            f"In which unit is the {measure.quantity.lower()} given?",
            measure.unit,
            options=_UNITS,
            near=(measure.near,),
            synonyms=_UNIT_WORDS,
            weight=2,
            leaf=leaves.UNIT_LABEL,
            regions=[box_of(frame.columns[head])],
            anchors_any=("unit",),
            phrases=(
                "Unit: {value}.",
                "The unit in the header is {value}.",
                f"The heading gives {{value}} as the unit of the {measure.quantity.lower()}.",
            ),
        ),
        number(
            "cell",
            f"Which {measure.quantity.lower()} is printed for {row}?",
            amount,
            weight=4,
            leaf=leaves.DIGITS,
            regions=[box_of(frame.cells[row, head])],
            near=2,
            unit=measure.unit,
            anchors_all=(row,),
            phrases=(
                f"{row}: {{value}}.",
                f"For {row} the table gives {{value}}.",
                f"Following the line of {row} across, I find {{value}} printed there.",
            ),
        ),
        number(
            "converted",
            f"How much is that in {measure.other}?",
            made,
            weight=4,
            leaf=leaves.UNITS,
            regions=[box_of(frame.cells[row, head]), box_of(frame.columns[head])],
            near=2.0 * measure.factor,
            unit=measure.other,
            anchors_any=("converted", "conversion"),
            depends_on=("cell",),
            derive="product",
            phrases=(
                "Converted: {value}.",
                "Converted, that is {value}.",
                "In the smaller measure the conversion gives {value}.",
            ),
        ),
    )
    others = [amount * f for f in (10, 60, 100, 1000, 10000)]
    return DrawnSample(
        difficulty=blend((2.0, (len(rows) - 4) / 2), (2.0, (16 - size) / 3), (1.0, 0.5)),
        knobs={"rows": len(rows), "font_px": size, "factor": measure.factor},
        question=(
            f"What is the {measure.quantity.lower()} of {row}, in which unit is it given, and how "
            f"much is that in {measure.other}?"
        ),
        choices=choice_list(
            rng, str(made), [str(v) for v in sorted(others, key=lambda v: abs(v - made))]
        ),
        answer=str(made),
        answer_step="converted",
        steps=steps,
        size=SIZE,
        images=(image,),
    )
