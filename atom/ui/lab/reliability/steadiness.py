"""How steady the judge is: asked again, and beside other judges."""

from __future__ import annotations

import math
from collections.abc import Sequence

from atom.analysis.agreement.coefficients import Agreement
from atom.display import numbers
from atom.ui import commands, kit, links
from atom.ui.html import Html, el
from atom.ui.pages import FAILURES, JUDGE_LAB, RUNS
from atom.ui.shell.frame import Here
from atom.views.filters import Filters
from atom.views.lab.asked_again import MOST, RescoredCheckpoint
from atom.views.lab.reliability.tab import AgreementRow, Reliability


def answer(view: Reliability) -> Html:
    """Say in plain words how far the judge can be trusted."""
    if not view.statements:
        return el(
            "p",
            "Nothing is known yet of how far this judge can be trusted; what would tell stands "
            "below.",
        )
    return el("section", el("ul", [el("li", text) for text in view.statements], class_="facts"))


def steps(view: Reliability, here: Here) -> Html | None:
    """Say what would tell more, each with its command and a door."""
    filters = here.filters
    if not view.steps:
        return None
    rows = []
    for step in view.steps:
        door = None
        if step.calibrates:
            where = links.address(JUDGE_LAB.url_path, filters, tab="calibration")
            door = kit.button("Calibrate on test pictures", where, primary=True)
        elif step.runs:
            door = kit.button("Open Runs", links.address(RUNS.url_path, filters))
        command = commands.shown(here, step.command) if step.command else None
        rows.append(
            el("li", el("div", el("span", step.text), door, class_="row"), command,
               style="margin-bottom:8px")
        )  # fmt: skip
    return kit.section("What to do next", el("ul", rows, class_="facts"))


def steadiness(view: Reliability, filters: Filters) -> Html:
    """Draw how the judge agrees with itself, and on which checkpoints it doesn't."""
    title = el("h2", "Consistency")
    if not view.retest:
        return el(
            "section",
            title,
            el("p", "No checkpoint was scored twice by this judge, so this can’t be said.",
               class_="quiet"),
        )  # fmt: skip
    cold = (
        "The judge was asked at temperature 0, where a second request is the same as the first: "
        "only the server’s own wobble shows here."
        if view.cold
        else None
    )
    return el(
        "section",
        title,
        _agreements(view.retest, "Test-retest", change=True),
        kit.note(cold) if cold else None,
        _how(),
        _asked_again(view.again, filters),
    )


def _asked_again(rows: Sequence[RescoredCheckpoint], filters: Filters) -> Html:
    """List the checkpoints that were scored more than once, each with a door to its case."""
    changed = sum(one.apart > 0 for one in rows)
    title = f"{numbers.count(len(rows), 'checkpoint')} scored again, {changed:,} otherwise"
    if len(rows) == MOST:
        title = f"The {MOST} checkpoints that changed most when scored again"
        if not changed:
            title = f"{MOST} of the checkpoints scored again: none changed"
    return kit.fold(
        title,
        kit.grid(
            rows,
            kit.MarkupColumn(
                "Checkpoint",
                lambda one: kit.door(one.criterion or one.criterion_id[:12], _case(one, filters)),
                broad=True,
            ),
            kit.MarkupColumn("Model", lambda one: one.candidate),
            kit.number("Marks", lambda one: ", ".join(one.marks)),
            label="Checkpoints scored more than once",
        ),
    )


def _case(one: RescoredCheckpoint, filters: Filters) -> str:
    chosen = filters.but(
        sample=one.sample_id, criterion=one.criterion_id, model=one.candidate_id, node=()
    )
    return links.address(FAILURES.url_path, chosen)


def others(view: Reliability) -> Html:
    """Draw how judges agree with one another."""
    title = el("h2", "Would another judge say the same?")
    if not view.pairs:
        return el(
            "section",
            title,
            el("p", "Only one judge scored these checkpoints, so this can’t be said.",
               class_="quiet"),
        )  # fmt: skip
    whole = [
        AgreementRow(name=f"{pair.first} and {pair.second}", found=pair.rows[0].found)
        for pair in view.pairs
    ]
    return el(
        "section",
        title,
        _agreements(whole, "Agreement between judges", change=False, first="Judges"),
        [
            kit.fold(
                f"{pair.first} and {pair.second}, by branch",
                _agreements(pair.rows[1:], f"{pair.first} and {pair.second}", change=False),
            )
            for pair in view.pairs
            if len(pair.rows) > 1
        ],
        kit.note("Shift: the second judge’s mean less the first’s, in points of 1–5."),
    )


def _how() -> Html:
    return kit.note(
        kit.term("Krippendorff's alpha", "Alpha"),
        " and ",
        kit.term("weighted kappa"),
        ": 1 is complete agreement, 0 what chance alone would give. ",
        kit.term("detectable change", "Smallest real change"),
        ": a score that moves by less can’t be told from the judge’s noise. Intervals resample "
        "whole samples.",
    )


def _agreements(
    rows: Sequence[AgreementRow], label: str, *, change: bool, first: str = "Branch"
) -> Html:
    return kit.grid(
        rows,
        kit.MarkupColumn(first, lambda row: row.name),
        kit.number("same score", lambda row: numbers.percent(100 * row.found.exact, row.found.n)),
        kit.number(
            "at most one off", lambda row: numbers.percent(100 * row.found.adjacent, row.found.n)
        ),
        kit.number("alpha (95 %)", lambda row: _alpha(row.found)),
        kit.number("kappa", lambda row: numbers.plain(row.found.kappa)),
        kit.number(
            "smallest real change",
            lambda row: numbers.plain(row.found.detectable_change),
            when=change,
        ),
        kit.number("shift", lambda row: numbers.signed(row.found.shift, 2), when=not change),
        kit.number("n", lambda row: kit.quiet(f"{row.found.n:,}")),
        label=label,
    )


def _alpha(found: Agreement) -> str:
    alpha = numbers.plain(found.alpha)
    if not math.isfinite(found.alpha_lo):
        return alpha
    return f"{alpha} ({numbers.ends(found.alpha_lo, found.alpha_hi, 2)})"
