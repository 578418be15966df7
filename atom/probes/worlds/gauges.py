"""Gauges: divisions and units, where the needle stands, and how far from the red zone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from numpy.random import Generator

from atom.probes.program import ProgramStep
from atom.probes.worlds import leaves
from atom.probes.worlds.dials import (
    CENTRE,
    GROUND,
    RADIUS,
    SHADOW,
    SIZE,
    box_of,
    draw_bezel,
    draw_tick,
)
from atom.probes.worlds.kit import INK, MUTED, Canvas, DrawnSample, Point, Rect, around, grow, polar
from atom.probes.worlds.steps import blend, chance, choice_list, number, option, pick, spread, whole

_SWEEP: Final = 270.0
_START: Final = 225.0
_ZONE_RED: Final = "#d64545"
_NEEDLE: Final = "#e0532f"


@dataclass(frozen=True, kw_only=True)
class _Meter:
    name: str
    unit: str
    near: str
    majors: tuple[int, ...]
    thing: str


_METERS: Final = (
    _Meter(name="BOILER PRESSURE", unit="kPa", near="bar", majors=(10, 20, 50), thing="boiler"),
    _Meter(name="OIL TEMPERATURE", unit="°C", near="°F", majors=(10, 20), thing="engine"),
    _Meter(name="MOTOR SPEED", unit="rpm", near="km/h", majors=(50, 100), thing="motor"),
    _Meter(name="WIND SPEED", unit="km/h", near="m/s", majors=(5, 10, 20), thing="crane"),
    _Meter(name="SUPPLY VOLTAGE", unit="V", near="A", majors=(20, 50), thing="supply"),
    _Meter(name="TYRE PRESSURE", unit="psi", near="kPa", majors=(5, 10), thing="tyre"),
)
_UNITS: Final = ("kPa", "bar", "psi", "°C", "°F", "rpm", "km/h", "m/s", "V", "A")
_UNIT_WORDS: Final = {
    "kPa": ("kilopascals",),
    "psi": ("pounds per square inch",),
    "°C": ("degrees Celsius",),
    "°F": ("degrees Fahrenheit",),
    "rpm": ("revolutions per minute",),
    "km/h": ("kilometres per hour",),
    "m/s": ("metres per second",),
    "V": ("volts",),
    "A": ("amperes",),
}


@dataclass(frozen=True, kw_only=True)
class _Gauge:
    meter: _Meter
    major: int
    count: int
    minors: int
    zone: int
    reading: int

    @property
    def top(self) -> int:
        return self.major * self.count

    @property
    def division(self) -> int:
        return self.major // self.minors

    def angle(self, value: float) -> float:
        return _START - _SWEEP * value / self.top


def _paint_gauge(gauge: _Gauge) -> tuple[Canvas, dict[str, Rect]]:
    canvas = Canvas(*SIZE, GROUND)
    draw_bezel(canvas)
    face = RADIUS - 20
    canvas.arc(CENTRE, face - 1, 2.0, _START, gauge.angle(gauge.zone), "#d5dae1")
    canvas.arc(CENTRE, face, 8.0, gauge.angle(gauge.zone), gauge.angle(gauge.top), _ZONE_RED)
    ring = face - 13
    rects: dict[str, Rect] = {}
    for i in range(gauge.count * gauge.minors + 1):
        major = i % gauge.minors == 0
        angle = _START - _SWEEP * i / (gauge.count * gauge.minors)
        draw_tick(
            canvas,
            angle,
            ring,
            ring - (17 if major else 9),
            3.0 if major else 1.5,
            INK if major else "#77828f",
        )
    size = 17 if gauge.count <= 8 else 15
    for i in range(gauge.count + 1):
        at = polar(CENTRE, ring - 37, gauge.angle(i * gauge.major))
        rects[f"label{i}"] = canvas.text(
            at, str(i * gauge.major), size, INK, align="m", vertical="m"
        )
    x, y = CENTRE
    rects["name"] = canvas.text((x, y + 86), gauge.meter.name, 12, MUTED, align="m")
    rects["unit"] = canvas.text((x, y + 117), gauge.meter.unit, 23, INK, align="m", bold=True)
    angle = gauge.angle(gauge.reading)
    tip = polar(CENTRE, ring - 5, angle)
    _needle(canvas, angle, ring - 5, (3.0, 4.0), SHADOW)
    _needle(canvas, angle, ring - 5, (0.0, 0.0), _NEEDLE)
    canvas.disc((x + 1, y + 2), 17, "#d9dee5")
    canvas.disc(CENTRE, 16, "#323d4b")
    canvas.disc(CENTRE, 10, "#566273")
    canvas.disc(CENTRE, 4, "#c9d0d9")
    rects["needle"] = around([polar(CENTRE, ring - 70, angle), tip], 10)
    zone = gauge.angle(gauge.zone)
    rects["zone"] = around([polar(CENTRE, face, zone), polar(CENTRE, ring - 40, zone)], 12)
    rects["top"] = grow(rects[f"label{gauge.count}"], 8)
    middle = gauge.count // 2
    ticks = [
        polar(CENTRE, radius, gauge.angle(value))
        for radius in (ring, ring - 46)
        for value in (middle * gauge.major, (middle + 1) * gauge.major)
    ]
    rects["division"] = around(ticks, 8)
    return canvas, rects


def _needle(canvas: Canvas, angle: float, reach: float, shift: Point, fill: str) -> None:
    centre = (CENTRE[0] + shift[0], CENTRE[1] + shift[1])
    tail = polar(centre, -46, angle)
    side_l, side_r = polar(centre, 5.0, angle + 90), polar(centre, 5.0, angle - 90)
    end = polar(centre, reach, angle)
    tip_l, tip_r = (
        (end[0] + (side[0] - centre[0]) * 0.16, end[1] + (side[1] - centre[1]) * 0.16)
        for side in (side_l, side_r)
    )
    canvas.polygon([side_l, tip_l, tip_r, side_r], fill)
    canvas.line(centre, tail, 10, fill)
    canvas.disc(tail, 8.5, fill)


def _make_gauge(rng: Generator, *, inside: bool | None = None) -> tuple[_Gauge, dict[str, bool]]:
    """Draw the numbers of a gauge; `inside` fixes on which side of the zone the needle is."""
    meter = pick(rng, _METERS)
    major = pick(rng, meter.majors)
    count = pick(rng, (6, 7, 8, 10))
    minors = pick(rng, tuple(m for m in (2, 4, 5) if major % m == 0))
    division = major // minors
    zone = major * count - division * whole(rng, minors, 2 * minors + 1)
    between = chance(rng, 0.4) and division > 1
    top = major * count
    while True:
        reading = division * whole(rng, minors, count * minors - 1)
        if between:
            reading += whole(rng, 1, division - 1)
        far_enough = abs(reading - zone) >= max(2, major * 0.4) and reading < top
        if far_enough and (inside is None or (reading < zone) == inside):
            break
    gauge = _Gauge(meter=meter, major=major, count=count, minors=minors, zone=zone, reading=reading)
    step = gauge.reading / gauge.major
    covered = abs(step - round(step)) < 0.12
    return gauge, {"between_marks": between, "needle_covers_label": covered}


def _gauge_difficulty(gauge: _Gauge, knobs: dict[str, bool]) -> float:
    return blend(
        (2.0, 1.0 if knobs["between_marks"] else 0.0),
        (1.0, (gauge.count - 6) / 4),
        (1.5, {2: 0.2, 4: 1.0, 5: 0.6}[gauge.minors]),
        (1.0, 0.0 if gauge.zone % gauge.major == 0 else 1.0),
    )


def _reading_step(gauge: _Gauge, rects: dict[str, Rect]) -> ProgramStep:
    return number(
        "reading",
        "What value does the needle show?",
        gauge.reading,
        weight=3,
        leaf=leaves.NEEDLE,
        regions=[box_of(rects["needle"])],
        tolerance=0.1 * gauge.major,
        near=0.6 * gauge.major,
        unit=gauge.meter.unit,
        anchors_any=("needle", "pointer"),
        phrases=(
            "The needle reads {value}.",
            "Needle: {value}.",
            "Following the needle out to the marks gives {value}.",
            "The tip of the pointer comes to rest at {value} on the dial.",
        ),
    )


def draw_margin(rng: Generator) -> DrawnSample:
    """Ask how far the needle is from the red zone."""
    gauge, knobs = _make_gauge(rng)
    canvas, rects = _paint_gauge(gauge)
    unit = gauge.meter.unit
    gap = abs(gauge.zone - gauge.reading)
    steps = (
        number(
            "division",
            "What is the value of the smallest division on the dial?",
            gauge.division,
            weight=2,
            leaf=leaves.SCALE,
            regions=[box_of(rects["division"])],
            near=gauge.division,
            unit=unit,
            anchors_any=("division", "divisions"),
            phrases=(
                "Smallest division: {value}.",
                "Each small division is worth {value}.",
                "Counting the marks between labels, every division stands for {value}.",
            ),
        ),
        _reading_step(gauge, rects),
        number(
            "zone",
            "At which value does the red zone start?",
            gauge.zone,
            weight=2,
            leaf=leaves.ZONE,
            regions=[box_of(rects["zone"])],
            tolerance=0.1 * gauge.major,
            near=0.6 * gauge.major,
            unit=unit,
            anchors_any=("red zone", "red band"),
            phrases=(
                "The red zone starts at {value}.",
                "The red band begins at {value}.",
                "Along the rim, the start of the red zone lines up with {value}.",
            ),
        ),
        number(
            "margin",
            "How far is the reading from the start of the red zone?",
            gap,
            weight=3,
            leaf=leaves.DIFFERENCE,
            regions=[box_of(rects["needle"]), box_of(rects["zone"])],
            tolerance=0.1 * gauge.major,
            near=0.6 * gauge.major,
            unit=unit,
            anchors_any=("margin", "distance", "apart"),
            depends_on=("reading", "zone"),
            derive="difference",
            phrases=(
                "The margin is {value}.",
                "They are {value} apart.",
                "That leaves a distance of {value}.",
                "Subtracting the smaller from the larger, the margin comes to {value}.",
            ),
        ),
    )
    return DrawnSample(
        difficulty=_gauge_difficulty(gauge, knobs),
        knobs={**knobs, "labels": gauge.count + 1, "sub_ticks": gauge.minors, "major": gauge.major},
        question=(
            f"How many {unit} lie between the needle's reading and the start of the red zone? "
            "Give the smallest division, the reading and the start of the zone as well."
        ),
        choices=choice_list(
            rng,
            str(gap),
            spread(gap, (gauge.major, -gauge.major, gauge.division, 2 * gauge.major)),
        ),
        answer=str(gap),
        answer_step="margin",
        steps=steps,
        size=SIZE,
        images=(canvas.finish(),),
    )


def draw_safe(rng: Generator) -> DrawnSample:
    """Ask on which side of the limit the needle is."""
    inside = chance(rng, 0.5)
    gauge, knobs = _make_gauge(rng, inside=inside)
    canvas, rects = _paint_gauge(gauge)
    meter = gauge.meter
    verdicts = ("within limits", "over the limit")
    truth = verdicts[0] if inside else verdicts[1]
    steps = (
        option(
            "unit",
            "In which unit is the dial marked?",
            meter.unit,
            options=_UNITS,
            near=(meter.near,),
            synonyms=_UNIT_WORDS,
            weight=2,
            leaf=leaves.UNIT_LABEL,
            regions=[box_of(grow(rects["unit"], 4))],
            anchors_any=("unit",),
            phrases=(
                "Unit: {value}.",
                "The unit on the dial is {value}.",
                "The large print in the lower half names the unit as {value}.",
            ),
        ),
        number(
            "maximum",
            "What is the largest value on the scale?",
            gauge.top,
            weight=2,
            leaf=leaves.SCALE,
            regions=[box_of(rects["top"])],
            near=gauge.major,
            unit=meter.unit,
            anchors_any=("scale",),
            phrases=(
                "The scale ends at {value}.",
                "Scale: up to {value}.",
                "The last label at the lower right shows that the scale runs up to {value}.",
            ),
        ),
        _reading_step(gauge, rects),
        option(
            "verdict",
            f"What does the red zone say about the {meter.thing}?",
            truth,
            options=verdicts,
            near=(),
            synonyms={
                verdicts[0]: ("in the safe range", "inside the limits"),
                verdicts[1]: ("in the danger range", "beyond the limit"),
            },
            weight=3,
            leaf=leaves.LIMITS,
            regions=[box_of(rects["needle"]), box_of(rects["zone"])],
            anchors_any=(f"the {meter.thing} is", "status"),
            depends_on=("reading",),
            phrases=(
                "Status: {value}.",
                f"So the {meter.thing} is {{value}}.",
                "Set against the coloured rim, the status is {value}.",
            ),
        ),
    )
    return DrawnSample(
        difficulty=_gauge_difficulty(gauge, knobs),
        knobs={**knobs, "labels": gauge.count + 1, "sub_ticks": gauge.minors, "major": gauge.major},
        question=(
            f"The {meter.thing} is over the limit when the needle stands in the red zone. "
            "Name the unit, the end of the scale and the reading. "
            f"Is the {meter.thing} within limits or over the limit?"
        ),
        choices=choice_list(rng, truth, verdicts),
        answer=truth,
        answer_step="verdict",
        steps=steps,
        size=SIZE,
        images=(canvas.finish(),),
    )
