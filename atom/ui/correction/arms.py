"""What was tried, and how often it came right."""

from __future__ import annotations

import math
from collections.abc import Callable

from atom.display import numbers
from atom.ui import kit
from atom.ui.correction.doors import ExperimentDoors, opening
from atom.ui.html import Html, el, join
from atom.views.correction.arm_lines import ArmLine
from atom.views.correction.arm_table import BAR as NO_BAR
from atom.views.correction.arm_table import (
    DONE,
    FIXED,
    SHARE,
    TRIED,
    UNKNOWN,
    WRONG,
    arm_table,
    share_fixed,
)
from atom.views.correction.cases import CaseQuery, write_query
from atom.views.correction.form import ARM_WORDS
from atom.views.correction.page import Results


def arms(found: Results, doors: ExperimentDoors) -> Html | None:
    """Draw what came of each arm; nothing while nothing has come."""
    if not found.arms and found.on_right is None:
        return None
    notes = [
        el("li", f"{n} × “{ARM_WORDS[line.share.arm].name}”: {reason}", class_="text")
        for line in found.every_arm
        for reason, n in line.reasons[:4]
    ]

    def door(line: ArmLine, came: str) -> str:
        query = write_query(CaseQuery(arm=line.share.arm, cohort=line.cohort))
        return doors.tab("cases", **{**query, "came": came})

    def counted(line: ArmLine, number: int, came: str, words: str) -> Html:
        return opening(number, door(line, came), f"{ARM_WORDS[line.share.arm].name}: {words}")

    def changed(came: str) -> Callable[[ArmLine, str], Html]:
        return lambda line, text: kit.cell(text, door(line, came))

    def unknown(line: ArmLine) -> Html:
        never = line.share.trials - line.tried
        return join(
            counted(line, line.share.unknown, "unknown", "no result"),
            kit.under(f"{never:,} never asked") if never else None,
        )

    return kit.section(
        "What was tried, and how often it came right",
        kit.drawn(
            arm_table(found.every_arm, "Arms"),
            cells={
                DONE: lambda line, _: _done(line),
                TRIED: lambda line, _: counted(line, line.tried, "tried", "tried"),
                FIXED: changed("right"),
                WRONG: changed("wrong"),
                SHARE: lambda line, _: _share(line),
                NO_BAR: lambda line, _: _share_bar(line),
                UNKNOWN: lambda line, _: unknown(line),
            },
        ),
        kit.note(
            "A share of fixed answers is no gain: another try alone fixes many.",
            style="margin-top:4px",
        ),
        kit.fold(
            f"Why some have no result ({numbers.count(len(notes), 'reason')})",
            el("ul", notes, class_="small", style="margin:0"),
        )
        if notes
        else None,
    )


def _done(line: ArmLine) -> Html:
    words = ARM_WORDS[line.share.arm]
    return join(
        el("span", words.name, class_="term", tabindex="0", data_tip=words.meaning),
        kit.under("on answers that were right (break rate)") if line.cohort == "right" else None,
    )


def _share(line: ArmLine) -> Html:
    one = share_fixed(line)
    if not one.n:
        return kit.quiet(numbers.NONE)
    return join(
        el("span", one.text, " broken" if line.cohort == "right" else None),
        kit.small(f" ({one.ends})" if one.ends else "", f" of {one.n:,}"),
    )


def _share_bar(line: ArmLine) -> Html:
    one = share_fixed(line)
    if not one.n:
        return Html("")
    value, lo, hi = one.value, one.lo, one.hi

    def at(part: float) -> str:
        return f"{100 * min(max(part, 0.0), 1.0):.1f}%"

    return el(
        "svg",
        el("line", class_="track", x1="0", x2="100%", y1="9", y2="9"),
        el("line", class_="span", x1=at(lo), x2=at(hi), y1="9", y2="9")
        if math.isfinite(lo) and math.isfinite(hi)
        else None,
        el("circle", class_="mid", cx=at(value), cy="9", r="4"),
        class_="bar effect",
        role="img",
        aria_label=f"{100 * value:.0f} percent",
    )
