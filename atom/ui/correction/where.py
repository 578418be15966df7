"""Where feedback helps: by root, which capabilities are recoverable, what came right together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from atom.analysis.correction.quality import Repair, RepairLabel
from atom.analysis.intervals import MIN_CLUSTERS
from atom.display import numbers
from atom.ui import kit, links
from atom.ui.correction.doors import ExperimentDoors, opening
from atom.ui.correction.effects import axis, effect_bar, estimate, half_width, verdict
from atom.ui.html import Html, el
from atom.ui.pages import CORRECTION
from atom.views.correction.cases import CaseQuery, repair_control
from atom.views.correction.effect_table import (
    points,
)
from atom.views.correction.form import ARM_WORDS, EFFECT_WORDS
from atom.views.correction.page import RepairLine, Results, UnlockedLine
from atom.views.correction.steps import CaseSelection
from taxonomy import Path, format_path

_MOST = 10
"""Rows of a long table that are shown at once."""


_REPAIRS: dict[RepairLabel, tuple[str, str]] = {
    "attention drift": ("▲", "recoverable: attention drift"),
    "lack of capability": ("▼", "stubborn: lack of capability"),
    "undecided": ("○", "undecided"),
}


def by_root(found: Results, doors: ExperimentDoors) -> Html | None:
    """Draw the main effect root by root."""
    if not found.by_root or found.main is None:
        return None
    main = found.main.name
    span = half_width([line.effect for line in found.by_root])
    name = EFFECT_WORDS[main].name
    return kit.section(
        f"{name}, by where answers failed",
        kit.grid(
            found.by_root,
            kit.MarkupColumn(
                "Answers with a failed step under", lambda line: line.path[-1], width="27%"
            ),
            kit.MarkupColumn(
                axis(span),
                lambda line: effect_bar(line.effect.estimate, line.effect.lo, line.effect.hi, span),
                width="32%",
            ),
            kit.number(
                "Points (95\N{NO-BREAK SPACE}%)", lambda line: estimate(points(line.effect))
            ),
            kit.number(
                "Pairs",
                lambda line: opening(
                    line.effect.n,
                    doors.cases(CaseQuery(effect=main, came="pairs", under=line.path)),
                    f"{line.path[-1]}: pairs",
                ),
            ),
            kit.MarkupColumn("Conclusion", lambda line: verdict(line.effect)),
            label="By root",
        ),
    )


def by_leaf(found: Results, doors: ExperimentDoors) -> Html | None:
    """Draw which capabilities are recoverable and which are stubborn."""
    if not found.by_leaf:
        return None
    enough = [line for line in found.by_leaf if line.repair.clusters >= MIN_CLUSTERS]
    few = [line for line in found.by_leaf if line.repair.clusters < MIN_CLUSTERS]
    control = repair_control(found)
    drawn = partial(_repairs, doors=doors, against=ARM_WORDS[control].name if control else "")
    recover = sum(line.repair.label == "attention drift" for line in found.by_leaf)
    stubborn = sum(line.repair.label == "lack of capability" for line in found.by_leaf)
    return kit.section(
        f"{numbers.count(recover, 'capability', 'capabilities')} recoverable, "
        f"{stubborn:,} stubborn, {len(found.by_leaf) - recover - stubborn:,} undecided",
        el("p", kit.term("attention drift", "Attention drift"), ": it can do it when told where to "
           "look. ", kit.term("lack of capability", "Lack of capability"), ": most steps stay "
           "failed even with the strongest help.", class_="quiet small",
           style="margin-bottom:4px"),
        drawn(enough, "Recoverable or stubborn") if enough else None,
        kit.fold(
            f"Under {MIN_CLUSTERS} independent answers, too few to tell ({len(few)})",
            drawn(few, "Too few to tell"),
        )
        if few
        else None,
    )  # fmt: skip


def _repairs(
    lines: Sequence[RepairLine], label: str, *, doors: ExperimentDoors, against: str
) -> Html:
    def counted(line: RepairLine, number: int, came: CaseSelection, what: str) -> Html:
        to = doors.cases(CaseQuery(arm=line.repair.arm, came=came, under=line.path))
        return opening(number, to, f"{line.path[-1]}: {what}")

    return kit.grid(
        lines,
        kit.MarkupColumn("Capability", lambda one: _leaf(one.path), width="24%"),
        kit.number("Failed steps", lambda one: counted(one, one.repair.n, "steps", "failed steps")),
        kit.number("Repaired", lambda one: counted(one, one.repaired, "repaired", "repaired")),
        kit.number(
            f"After “{against}”" if against else "Control",
            lambda one: numbers.percent(100 * one.repair.control_share, one.repair.n),
        ),
        kit.number("Beyond it (95 %)", lambda one: _beyond(one.repair)),
        kit.number("Strongest help", lambda one: _help(one.repair), broad=True),
        kit.MarkupColumn("What it is", lambda one: _repaired(one.repair)),
        label=label,
    )


def _leaf(path: Path) -> Html:
    return el("span", path[-1], data_tip=format_path(path))


def _beyond(item: Repair) -> Html:
    if not (math.isfinite(item.estimate) and item.clusters >= MIN_CLUSTERS):
        return kit.quiet(numbers.NONE)
    ends = f" ({numbers.points_ends(item.lo, item.hi)})" if math.isfinite(item.lo) else ""
    return el("span", numbers.points(item.estimate), kit.small(ends))


def _help(item: Repair) -> Html:
    if item.help is None or item.help_arm is None:
        return kit.quiet(numbers.NONE)
    share = numbers.percent(100 * item.help.value, item.help.n)
    return el("span", share, data_tip=ARM_WORDS[item.help_arm].name)


def _repaired(item: Repair) -> Html:
    glyph, words = _REPAIRS[item.label]
    mark = el("span", glyph, class_="glyph", aria_hidden="true")
    return el("span", mark, words, class_="status", data_tip=item.reason)


def unlocking(found: Results, doors: ExperimentDoors) -> Html | None:
    """Draw which steps came right together with the answer."""
    lines = [line for line in found.unlocking if line.unlocked.asked]
    if not lines:
        return None

    def counted(line: UnlockedLine, came: CaseSelection) -> Html:
        to = doors.cases(CaseQuery(arm="guided", came=came, under=line.path))
        return opening(getattr(line.unlocked, came), to, f"{line.path[-1]}: {came}")

    def right(line: UnlockedLine, *, repaired: bool) -> str:
        one = line.unlocked
        if repaired:
            return numbers.percent(100 * one.fixed_when_flipped, one.flipped)
        return numbers.percent(100 * one.fixed_otherwise, one.asked - one.flipped)

    keys = [
        el(
            "li",
            kit.door(
                numbers.middle(" ".join(key.question.split()), 110),
                links.address(
                    CORRECTION.url_path,
                    doors.filters.but(
                        sample=found.samples.get(key.response_id), criterion=key.criterion_id
                    ),
                    experiment=doors.experiment,
                    tab="cases",
                    arm="guided",
                    by="guided",
                ),
                class_="text",
            ),
            kit.small(f" {key.path[-1]}" if key.path else ""),
        )
        for key in found.keys[:40]
    ]
    return kit.section(
        "Which steps came right together with the answer",
        el("p", "What went together, not what caused what.", class_="quiet small"),
        kit.grid(
            lines,
            kit.MarkupColumn("Capability", lambda one: _leaf(one.path), width="26%"),
            kit.number("Asked about", lambda one: counted(one, "asked")),
            kit.number("Repaired", lambda one: counted(one, "flipped")),
            kit.number("… and answer right", lambda one: counted(one, "unlocked")),
            kit.number("Right when repaired", lambda one: right(one, repaired=True), broad=True),
            kit.number("Right otherwise", lambda one: right(one, repaired=False), broad=True),
            label="Unlocked",
            most=_MOST,
        ),
        kit.fold(f"The single steps ({len(found.keys)})", el("ul", keys, class_="small"))
        if keys
        else None,
    )
