"""Clocks: what their hands show, and what time it is later."""

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
from atom.probes.worlds.kit import INK, PAPER, Canvas, DrawnSample, Point, Rect, around, polar
from atom.probes.worlds.steps import (
    blend,
    chance,
    choice_list,
    clock_text,
    moment,
    number,
    pick,
    whole,
)

_ROMAN: Final = ("XII", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI")


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
    centre = (CENTRE[0] + shift[0], CENTRE[1] + shift[1])
    canvas.line(
        polar(centre, -26, angle), polar(centre, reach, angle), width, fill, round_ends=True
    )


def _paint_clock(clock: _Clock) -> tuple[Canvas, dict[str, Rect]]:
    canvas = Canvas(*SIZE, GROUND)
    draw_bezel(canvas)
    rim = RADIUS - 24
    for i in range(60):
        angle = 90.0 - 6.0 * i
        if i % 5 == 0:
            draw_tick(canvas, angle, rim, rim - 14, 4.0, INK)
        elif clock.sub_ticks:
            draw_tick(canvas, angle, rim, rim - 7, 1.4, "#8893a1")
    rects: dict[str, Rect] = {}
    for i in range(12):
        at = polar(CENTRE, rim - 36, 90.0 - 30.0 * i)
        if clock.face == "none" and i % 3:
            continue
        words = _ROMAN[i] if clock.face == "roman" else str(i or 12)
        size = 20 if clock.face == "roman" else 24
        rects[f"numeral{i}"] = canvas.text(at, words, size, INK, align="m", vertical="m")
    hour_angle = 90.0 - 0.5 * (clock.minutes % 720)
    minute_angle = 90.0 - 6.0 * clock.minute
    _hand(canvas, hour_angle, 84, 10, SHADOW, (2.0, 4.0))
    _hand(canvas, minute_angle, 126, 6.5, SHADOW, (2.0, 4.0))
    _hand(canvas, hour_angle, 84, 10, INK)
    _hand(canvas, minute_angle, 126, 6.5, INK)
    canvas.disc(CENTRE, 9.5, clock.accent)
    canvas.disc(CENTRE, 3.5, PAPER)
    rects["hour"] = around([polar(CENTRE, 12, hour_angle), polar(CENTRE, 84, hour_angle)], 10)
    rects["minute"] = around(
        [polar(CENTRE, 40, minute_angle), polar(CENTRE, 126, minute_angle)], 10
    )
    rects["minute_tip"] = around([polar(CENTRE, rim - 38, minute_angle)], 26)
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


def _hand_steps(
    clock: _Clock, rects: dict[str, Rect], minute_weight: int
) -> tuple[ProgramStep, ProgramStep]:
    return (
        number(
            "hour",
            "Which hour has the short hand passed last?",
            clock.hour,
            weight=2,
            leaf=leaves.HOUR_HAND,
            regions=[box_of(rects["hour"])],
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
            regions=[box_of(rects["minute"])],
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


def _time_step(clock: _Clock, rects: dict[str, Rect]) -> ProgramStep:
    return moment(
        "time",
        "What time do both hands show together?",
        clock.minutes % 720,
        truth=clock_text(clock.minutes),
        weight=2,
        leaf=leaves.COMBINE_HANDS,
        regions=[box_of(rects["hour"]), box_of(rects["minute"])],
        anchors_any=("clock", "time shown"),
        depends_on=("hour", "minute"),
        phrases=(
            "The clock shows {value}.",
            "Time shown: {value}.",
            "Putting both hands together, the clock says {value}.",
        ),
    )


def draw_later(rng: Generator) -> DrawnSample:
    """Ask what time it is some minutes later."""
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
            regions=[box_of(rects["hour"]), box_of(rects["minute"])],
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
    return DrawnSample(
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
        size=SIZE,
        images=(canvas.finish(),),
    )


def draw_numerals(rng: Generator) -> DrawnSample:
    """Ask for the time on a face with Roman numerals."""
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
            regions=[box_of(rects["minute_tip"])],
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
            regions=[box_of(rects["hour"]), box_of(rects["minute"])],
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
    return DrawnSample(
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
        size=SIZE,
        images=(canvas.finish(),),
    )
