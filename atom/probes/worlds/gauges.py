"""Gauges and clocks: dials whose needle or hands are read against printed marks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from numpy.random import Generator

from atom.probes.program import Box, Program, Step
from atom.probes.worlds import leaves
from atom.probes.worlds.kit import (
    INK,
    MUTED,
    PAPER,
    Canvas,
    Drawn,
    Point,
    Rect,
    around,
    grow,
    polar,
    thousandths,
)
from atom.probes.worlds.steps import (
    blend,
    chance,
    choice_list,
    clock_text,
    generator,
    moment,
    number,
    option,
    pick,
    spread,
    whole,
)

TEMPLATES: Final = ("margin", "safe", "later", "numerals")

_SIZE: Final = (520, 480)
_CENTRE: Final[Point] = (260.0, 240.0)
_RADIUS: Final = 208.0
_SWEEP: Final = 270.0
_START: Final = 225.0

_GROUND: Final = "#eef1f5"
_ZONE_RED: Final = "#d64545"
_NEEDLE: Final = "#e0532f"
_SHADOW: Final = "#e3e6eb"


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
_ROMAN: Final = ("XII", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI")


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


def draw(seed: int, index: int, template: str | None = None) -> Drawn:
    """Draw one dial sample; the template is drawn at random where none is named."""
    rng = generator(seed, index)
    chosen = pick(rng, TEMPLATES)
    chosen = template or chosen
    makers = {"margin": _margin, "safe": _safe, "later": _later, "numerals": _numerals}
    return makers[chosen](rng, seed, index)


def _box(rect: Rect) -> Box:
    return thousandths(rect, _SIZE)


def _tick(
    canvas: Canvas, angle: float, outer: float, inner: float, width: float, fill: str
) -> None:
    canvas.line(polar(_CENTRE, outer, angle), polar(_CENTRE, inner, angle), width, fill)


def _bezel(canvas: Canvas) -> None:
    x, y = _CENTRE
    canvas.disc((x, y + 7), _RADIUS + 2, "#dde2e9")
    canvas.disc((x, y + 4), _RADIUS + 1, "#cfd5de")
    for inset, fill in (
        (0, "#8b95a3"),
        (2, "#c3cad4"),
        (6, "#e9edf2"),
        (11, "#aab3bf"),
        (13, PAPER),
    ):
        canvas.disc(_CENTRE, _RADIUS - inset, fill)


def _paint_gauge(gauge: _Gauge) -> tuple[Canvas, dict[str, Rect]]:
    canvas = Canvas(*_SIZE, _GROUND)
    _bezel(canvas)
    face = _RADIUS - 20
    canvas.arc(_CENTRE, face - 1, 2.0, _START, gauge.angle(gauge.zone), "#d5dae1")
    canvas.arc(_CENTRE, face, 8.0, gauge.angle(gauge.zone), gauge.angle(gauge.top), _ZONE_RED)
    ring = face - 13
    rects: dict[str, Rect] = {}
    for i in range(gauge.count * gauge.minors + 1):
        major = i % gauge.minors == 0
        angle = _START - _SWEEP * i / (gauge.count * gauge.minors)
        _tick(
            canvas,
            angle,
            ring,
            ring - (17 if major else 9),
            3.0 if major else 1.5,
            INK if major else "#77828f",
        )
    size = 17 if gauge.count <= 8 else 15
    for i in range(gauge.count + 1):
        at = polar(_CENTRE, ring - 37, gauge.angle(i * gauge.major))
        rects[f"label{i}"] = canvas.text(
            at, str(i * gauge.major), size, INK, align="m", vertical="m"
        )
    x, y = _CENTRE
    rects["name"] = canvas.text((x, y + 86), gauge.meter.name, 12, MUTED, align="m")
    rects["unit"] = canvas.text((x, y + 117), gauge.meter.unit, 23, INK, align="m", bold=True)
    angle = gauge.angle(gauge.reading)
    tip = polar(_CENTRE, ring - 5, angle)
    _needle(canvas, angle, ring - 5, (3.0, 4.0), _SHADOW)
    _needle(canvas, angle, ring - 5, (0.0, 0.0), _NEEDLE)
    canvas.disc((x + 1, y + 2), 17, "#d9dee5")
    canvas.disc(_CENTRE, 16, "#323d4b")
    canvas.disc(_CENTRE, 10, "#566273")
    canvas.disc(_CENTRE, 4, "#c9d0d9")
    rects["needle"] = around([polar(_CENTRE, ring - 70, angle), tip], 10)
    zone = gauge.angle(gauge.zone)
    rects["zone"] = around([polar(_CENTRE, face, zone), polar(_CENTRE, ring - 40, zone)], 12)
    rects["top"] = grow(rects[f"label{gauge.count}"], 8)
    middle = gauge.count // 2
    ticks = [
        polar(_CENTRE, radius, gauge.angle(value))
        for radius in (ring, ring - 46)
        for value in (middle * gauge.major, (middle + 1) * gauge.major)
    ]
    rects["division"] = around(ticks, 8)
    return canvas, rects


def _needle(canvas: Canvas, angle: float, reach: float, shift: Point, fill: str) -> None:
    centre = (_CENTRE[0] + shift[0], _CENTRE[1] + shift[1])
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


def _reading_step(gauge: _Gauge, rects: dict[str, Rect]) -> Step:
    return number(
        "reading",
        "What value does the needle show?",
        gauge.reading,
        weight=3,
        leaf=leaves.NEEDLE,
        regions=[_box(rects["needle"])],
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


def _margin(rng: Generator, seed: int, index: int) -> Drawn:
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
            regions=[_box(rects["division"])],
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
            regions=[_box(rects["zone"])],
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
            regions=[_box(rects["needle"]), _box(rects["zone"])],
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
    program = Program(
        family="gauges",
        template="margin",
        seed=seed,
        index=index,
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
        size=_SIZE,
    )
    return Drawn(program=program, images=(canvas.finish(),), quantise=True)


def _safe(rng: Generator, seed: int, index: int) -> Drawn:
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
            regions=[_box(grow(rects["unit"], 4))],
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
            regions=[_box(rects["top"])],
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
            regions=[_box(rects["needle"]), _box(rects["zone"])],
            anchors_any=(f"the {meter.thing} is", "status"),
            depends_on=("reading",),
            phrases=(
                "Status: {value}.",
                f"So the {meter.thing} is {{value}}.",
                "Set against the coloured rim, the status is {value}.",
            ),
        ),
    )
    program = Program(
        family="gauges",
        template="safe",
        seed=seed,
        index=index,
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
        size=_SIZE,
    )
    return Drawn(program=program, images=(canvas.finish(),), quantise=True)


@dataclass(frozen=True, kw_only=True)
class _Clock:
    minutes: int
    face: str
    sub_ticks: bool
    accent: str

    @property
    def hour(self) -> int:
        return self.minutes // 60 % 12 or 12

    @property
    def minute(self) -> int:
        return self.minutes % 60


def _hand(
    canvas: Canvas, angle: float, reach: float, width: float, fill: str, shift: Point = (0.0, 0.0)
) -> None:
    centre = (_CENTRE[0] + shift[0], _CENTRE[1] + shift[1])
    canvas.line(
        polar(centre, -26, angle), polar(centre, reach, angle), width, fill, round_ends=True
    )


def _paint_clock(clock: _Clock) -> tuple[Canvas, dict[str, Rect]]:
    canvas = Canvas(*_SIZE, _GROUND)
    _bezel(canvas)
    rim = _RADIUS - 24
    for i in range(60):
        angle = 90.0 - 6.0 * i
        if i % 5 == 0:
            _tick(canvas, angle, rim, rim - 14, 4.0, INK)
        elif clock.sub_ticks:
            _tick(canvas, angle, rim, rim - 7, 1.4, "#8893a1")
    rects: dict[str, Rect] = {}
    for i in range(12):
        at = polar(_CENTRE, rim - 36, 90.0 - 30.0 * i)
        if clock.face == "none" and i % 3:
            continue
        words = _ROMAN[i] if clock.face == "roman" else str(i or 12)
        size = 20 if clock.face == "roman" else 24
        rects[f"numeral{i}"] = canvas.text(at, words, size, INK, align="m", vertical="m")
    hour_angle = 90.0 - 0.5 * (clock.minutes % 720)
    minute_angle = 90.0 - 6.0 * clock.minute
    _hand(canvas, hour_angle, 84, 10, _SHADOW, (2.0, 4.0))
    _hand(canvas, minute_angle, 126, 6.5, _SHADOW, (2.0, 4.0))
    _hand(canvas, hour_angle, 84, 10, INK)
    _hand(canvas, minute_angle, 126, 6.5, INK)
    canvas.disc(_CENTRE, 9.5, clock.accent)
    canvas.disc(_CENTRE, 3.5, PAPER)
    rects["hour"] = around([polar(_CENTRE, 12, hour_angle), polar(_CENTRE, 84, hour_angle)], 10)
    rects["minute"] = around(
        [polar(_CENTRE, 40, minute_angle), polar(_CENTRE, 126, minute_angle)], 10
    )
    rects["minute_tip"] = around([polar(_CENTRE, rim - 38, minute_angle)], 26)
    return canvas, rects


def _overlap(minutes: int) -> float:
    """Return how closely the hands lie together: 1 on top of each other, 0 from 40 degrees on."""
    gap = abs(0.5 * (minutes % 720) - 6.0 * (minutes % 60)) % 360
    return max(0.0, 1.0 - min(gap, 360 - gap) / 40.0)


def _make_clock(rng: Generator, face: str, *, step: int) -> _Clock:
    while True:
        minutes = step * whole(rng, 0, 720 // step - 1)
        if _overlap(minutes) < 0.7 and minutes % 60 not in (0, 58, 59, 1):
            break
    return _Clock(
        minutes=minutes,
        face=face,
        sub_ticks=chance(rng, 0.7) or step == 5,
        accent=pick(rng, ("#e0532f", "#2f6fde", "#1d9a6c")),
    )


def _hand_steps(clock: _Clock, rects: dict[str, Rect], minute_weight: int) -> tuple[Step, Step]:
    return (
        number(
            "hour",
            "Which hour has the short hand passed last?",
            clock.hour,
            weight=2,
            leaf=leaves.HOUR_HAND,
            regions=[_box(rects["hour"])],
            near=1,
            modulus=12,
            anchors_any=("hour hand", "short hand"),
            phrases=(
                "Hour hand: past {value}.",
                "The hour hand is past {value}.",
                "Looking at the short hand, the last hour it has passed is {value}.",
            ),
        ),
        number(
            "minute",
            "How many minutes does the long hand show?",
            clock.minute,
            weight=minute_weight,
            leaf=leaves.MINUTE_HAND,
            regions=[_box(rects["minute"])],
            tolerance=1.0,
            near=4.0,
            modulus=60,
            unit="minutes",
            anchors_any=("minute hand", "long hand"),
            phrases=(
                "Minute hand: {value}.",
                "The minute hand is at {value}.",
                "Counting on from the top of the dial, the long hand has moved on by {value}.",
            ),
        ),
    )


def _time_step(clock: _Clock, rects: dict[str, Rect]) -> Step:
    return moment(
        "time",
        "What time do both hands show together?",
        clock.minutes % 720,
        truth=clock_text(clock.minutes),
        weight=2,
        leaf=leaves.COMBINE_HANDS,
        regions=[_box(rects["hour"]), _box(rects["minute"])],
        anchors_any=("clock", "time shown"),
        depends_on=("hour", "minute"),
        phrases=(
            "The clock shows {value}.",
            "Time shown: {value}.",
            "Putting both hands together, the clock says {value}.",
        ),
    )


def _later(rng: Generator, seed: int, index: int) -> Drawn:
    face = pick(rng, ("arabic", "arabic", "none"))
    clock = _make_clock(rng, face, step=1)
    canvas, rects = _paint_clock(clock)
    wait = pick(rng, (20, 25, 35, 40, 45, 50, 75, 95, 110))
    later = (clock.minutes + wait) % 720
    steps = (
        *_hand_steps(clock, rects, 3),
        _time_step(clock, rects),
        moment(
            "later",
            f"What time will it be {wait} minutes later?",
            later,
            truth=clock_text(later),
            weight=3,
            leaf=leaves.TIME_SUM,
            regions=[_box(rects["hour"]), _box(rects["minute"])],
            anchors_all=("later",),
            constants=(f"{wait} minutes later",),
            depends_on=("time",),
            derive="add",
            phrases=(
                f"{wait} minutes later it is {{value}}.",
                f"Then, {wait} minutes later, the display would be {{value}}.",
                f"Adding the wait, {wait} minutes later it will be {{value}}.",
            ),
        ),
    )
    program = Program(
        family="gauges",
        template="later",
        seed=seed,
        index=index,
        difficulty=blend(
            (2.0, 0.0 if face == "arabic" else 1.0),
            (1.5, 0.0 if clock.sub_ticks else 1.0),
            (1.5, _overlap(clock.minutes)),
            (1.0, wait / 110),
        ),
        knobs={
            "face": face,
            "sub_ticks": clock.sub_ticks,
            "overlap": round(_overlap(clock.minutes), 3),
            "minutes_added": wait,
        },
        question=(
            f"What time will this clock show {wait} minutes later? "
            "Say first where each hand stands and what time it shows now."
        ),
        choices=choice_list(
            rng,
            clock_text(later),
            [clock_text((later + d) % 720) for d in (60, -10, 10, -60, 30)],
        ),
        answer=clock_text(later),
        answer_step="later",
        steps=steps,
        size=_SIZE,
    )
    return Drawn(program=program, images=(canvas.finish(),), quantise=True)


def _numerals(rng: Generator, seed: int, index: int) -> Drawn:
    clock = _make_clock(rng, "roman", step=5)
    canvas, rects = _paint_clock(clock)
    afternoon = (clock.minutes % 720) + 720
    day_text = f"{afternoon // 60}:{afternoon % 60:02d}"
    mark = clock.minute // 5 or 12
    hour, minute = _hand_steps(clock, rects, 2)
    steps = (
        hour,
        number(
            "numeral",
            "For which number does the Roman numeral at the tip of the long hand stand?",
            mark,
            weight=2,
            leaf=leaves.NUMERALS,
            regions=[_box(rects["minute_tip"])],
            near=1,
            modulus=12,
            anchors_any=("numeral",),
            phrases=(
                "Numeral: {value}.",
                "The numeral at its tip means {value}.",
                "In ordinary figures the Roman numeral stands for {value}.",
            ),
        ),
        minute,
        _time_step(clock, rects),
        moment(
            "day_time",
            "It is afternoon: what is the time in 24-hour form?",
            afternoon,
            truth=day_text,
            weight=2,
            leaf=leaves.TIME_FORMAT,
            regions=[_box(rects["hour"]), _box(rects["minute"])],
            modulus=1440,
            anchors_any=("24-hour form", "24-hour notation"),
            constants=("24-hour form", "24-hour notation"),
            depends_on=("time",),
            derive="add",
            phrases=(
                "In 24-hour form: {value}.",
                "As it is afternoon, the 24-hour form is {value}.",
                "Written in 24-hour notation this becomes {value}.",
            ),
        ),
    )
    program = Program(
        family="gauges",
        template="numerals",
        seed=seed,
        index=index,
        difficulty=blend((2.0, 0.6), (1.5, _overlap(clock.minutes))),
        knobs={"face": "roman", "sub_ticks": True, "overlap": round(_overlap(clock.minutes), 3)},
        question=(
            "It is afternoon. Which number is the Roman numeral that the long hand points at, "
            "where do both hands stand, and what is the time in 24-hour form?"
        ),
        choices=choice_list(
            rng,
            day_text,
            [
                f"{t // 60}:{t % 60:02d}"
                for t in (720 + (afternoon + d) % 720 for d in (60, -5, 30, -60))
            ],
        ),
        answer=day_text,
        answer_step="day_time",
        steps=steps,
        size=_SIZE,
    )
    return Drawn(program=program, images=(canvas.finish(),), quantise=True)
