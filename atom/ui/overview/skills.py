"""The overview’s tables of capabilities and of right and wrong answers by their steps."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from atom.display import numbers
from atom.ui import kit, links, score_marks
from atom.ui.html import Html, el, join
from atom.ui.overview.parts import BROAD, DEEPER, FULL, MOST_LABELS
from atom.ui.pages import FAILURES, FINGERPRINTS, OVERVIEW
from atom.ui.shell.frame import Here
from atom.views.filters import label_name
from atom.views.overview.page import Overview, SkillRow
from atom.views.overview.quadrants import MIN_SAMPLES, ModelQuadrant
from taxonomy import format_path


def skills(here: Here, view: Overview) -> Html:
    """Draw capability (or label) by model; every cell is a door into the failures behind it."""
    rows = _visible(here, view)
    tabs = _skill_tabs(here, view)
    head = el("div", el("h2", _skill_title(here, view), style="margin:0"), tabs, class_="row",
              style="justify-content:space-between;margin-bottom:8px")  # fmt: skip
    if not rows:
        nothing = "No criteria belong to a tree yet" if view.facet is None else "No answers here"
        return el("section", head, el("p", f"{nothing}.", class_="quiet"))
    names = [candidate.name for candidate in here.data.candidates]
    base = len(here.filters.node) if view.facet is None else 0
    return el(
        "section",
        head,
        kit.grid(
            rows,
            kit.MarkupColumn(
                "Capability" if view.facet is None else label_name(view.facet),
                lambda row: _skill_name(here, row, base),
            ),
            kit.number("Samples", lambda row: kit.quiet(row.samples)),
            *(
                kit.number(kit.model(short, at, full=names[at]), partial(_skill_cell, at))
                for at, short in enumerate(numbers.short_names(names))
            ),
            label="Scores by capability and model",
            on=lambda row: bool(row.path) and row.path == here.filters.node,
            tight=False,
            most=None if view.facet is None else MOST_LABELS,
        ),
        _layers(here, view),
        kit.note(
            el("span", "worse", style=f"{_tint(-FULL)};padding:1px 6px;border-radius:3px"),
            " and ",
            el("span", "better", style=f"{_tint(FULL)};padding:1px 6px;border-radius:3px"),
            " than the models' mean in that row; the line under a number is its 95 % interval on "
            f"0–100; ○ under {MIN_SAMPLES} samples. A number opens the failures behind it.",
            style="margin-top:8px",
        ),
    )


def _visible(here: Here, view: Overview) -> list[SkillRow]:
    if view.facet is not None:
        return list(view.skills)
    node = here.filters.node
    depth = len(node)
    inside = [row for row in view.skills if row.path[:depth] == node]
    deeper = DEEPER if node or here.query.get("depth") == "2" else BROAD
    return [row for row in inside if depth <= row.depth <= depth + deeper and row.depth > 0]


def _layers(here: Here, view: Overview) -> Html | None:
    """Offer the layer below the roots, or to take it back."""
    below = sum(row.depth == BROAD + 1 for row in view.skills) if view.facet is None else 0
    if not below or here.filters.node:
        return None
    if here.query.get("depth") == "2":
        return el("p", kit.door("Only the roots", links.address(OVERVIEW.url_path, here.filters)))
    to = links.address(OVERVIEW.url_path, here.filters, depth="2")
    words = numbers.count(below, "capability", "capabilities")
    return el("p", kit.door(f"Show the {words} below these", to), " · ",
              kit.door("all of them, by model", links.address(FINGERPRINTS.url_path, here.filters)),
              class_="small")  # fmt: skip


def _skill_title(here: Here, view: Overview) -> str:
    if view.facet is not None:
        what = {"process": "who scores", "outcome": "who is right", "preference": "who wins votes"}
        return f"By {numbers.middle(view.facet, 44)}: {what[view.measure]} where"
    node = here.filters.node
    return f"Inside {node[-1]}" if node else "Who is good at what"


def _skill_tabs(here: Here, view: Overview) -> Html | None:
    choices: list[tuple[str, str, bool]] = []
    page = OVERVIEW.url_path
    if view.measure == "process":
        choices.append(("Capabilities", links.address(page, here.filters), view.facet is None))
    choices += [
        (label_name(name), links.address(page, here.filters, facet=name), view.facet == name)
        for name in view.facets
    ]
    return kit.tabs(choices[:8], label="What the table groups by") if len(choices) > 1 else None


def _skill_name(here: Here, row: SkillRow, base: int) -> Html:
    depth = max(row.depth - base - (1 if not base else 0), 0)
    class_ = "strong" if depth == 0 else None
    name = el("span", row.name, class_=class_)
    if row.path:
        deeper = here.filters.but(node=row.path, sample=None, criterion=None)
        to = links.address(OVERVIEW.url_path, deeper)
        name = kit.door(row.name, to, class_=class_, tip=format_path(row.path))
    return el("div", name, style=f"padding-left:{18 * depth}px")


def _skill_cell(at: int, row: SkillRow) -> Html:
    cell, known = row.cells[at], [one.estimate.value for one in row.cells if one.estimate.known]
    estimate = cell.estimate
    if not estimate.known:
        return kit.quiet(numbers.NONE)
    thin = estimate.samples < MIN_SAMPLES
    behind = numbers.count(estimate.samples, "sample")
    tip = f"{numbers.interval(estimate)}\n{numbers.count(estimate.n, 'value')} from {behind}"
    text = numbers.score(estimate.value)
    return kit.cell(
        (kit.quiet(f"○ {text}") if thin else text, score_marks.meter(estimate)),
        links.address(FAILURES.url_path, cell.filters),
        style=None if thin else _tint(estimate.value - sum(known) / len(known)),
        tip=f"insufficient: under {MIN_SAMPLES} samples\n{tip}" if thin else tip,
    )


def _tint(difference: float) -> str:
    """Colour a difference: orange worse, blue better, none at zero."""
    share = min(abs(difference) / FULL, 1.0)
    if math.isnan(share) or share < 0.12:
        return ""
    ink = "213,94,0" if difference < 0 else "36,87,214"
    return f"background:rgba({ink},{0.04 + 0.22 * share:.2f})"


@dataclass(frozen=True)
class _Corner:
    """A corner of the quadrant; the count's name is a glossary term."""

    words: str
    count: str
    outcome: str
    process: str
    ink: str

    def cell(self, item: ModelQuadrant) -> Html:
        """Write how many of a model's answers are in it."""
        number, n = getattr(item.counts, self.count), item.counts.n
        to = item.filters.but(outcome=self.outcome, process=self.process, show="all")
        return kit.cell(
            (numbers.percent(100 * number / max(n, 1), n), kit.small(f"  {number}")),
            links.address(FAILURES.url_path, to),
            tip=f"{self.words} ({self.count}): {number} of {numbers.count(n, 'answer')}",
        )


_CORNERS = (
    _Corner("Right answer, right reason", "sound", "right", "sound", "#14407F"),
    _Corner("Right answer, wrong reason", "lucky", "right", "flawed", "#7FAAE6"),
    _Corner("Wrong answer, right reason", "slip", "wrong", "sound", "#F2B37A"),
    _Corner("Wrong answer, wrong reason", "broken", "wrong", "flawed", "#B0500A"),
)


def quadrants(
    items: Sequence[ModelQuadrant], by_chance: Mapping[str, float] | None = None
) -> Html | None:
    """Draw right and wrong answers against the process behind them, a row a model.

    Args:
        by_chance: model id -> share of right answers with a failed process that guessing would
            give, in percent, where options can be guessed.
    """
    if not items:
        return None
    terse = any(item.counts.terse for item in items)
    swatch = "display:inline-block;width:10px;height:10px;border-radius:2px;margin-right:6px"
    return kit.section(
        "Right answer, wrong reason",
        kit.grid(
            items,
            kit.MarkupColumn("Model", lambda item: kit.model(item.name, item.colour)),
            kit.MarkupColumn("Share of answers", _corners_bar, width="26%"),
            *(
                kit.number(
                    join(
                        el("span", style=f"{swatch};background:{corner.ink}"),
                        kit.term(corner.count, f"{corner.words} ({corner.count})"),
                    ),
                    corner.cell,
                )
                for corner in _CORNERS
            ),
            kit.number(kit.term("terse", "Terse"), _terse, when=terse),
            kit.number(
                kit.term("by guessing", "Lucky of right: seen / by guessing"),
                lambda item: _by_guessing(item, by_chance or {}),
                when=bool(by_chance),
            ),
            label="Answers against the process behind them",
            tight=False,
        ),
        kit.note(
            "A reason is wrong when a step of weight 2 or more that the answer takes a stand on "
            "scores 2 or less, and not only because an earlier step was wrong. Percentages are of "
            "the model's answers with a known outcome and scored checkpoints"
            + (", terse ones left out: they say too little to be blamed." if terse else "."),
            style="margin-top:8px",
        ),
    )


def _corners_bar(item: ModelQuadrant) -> Html:
    counts, at, bars = item.counts, 0.0, []
    for corner in _CORNERS:
        share = 100 * getattr(counts, corner.count) / max(counts.n, 1)
        bars.append(el("rect", x=f"{at:.2f}%", y="1", width=f"{share:.2f}%", height="14",
                       fill=corner.ink))  # fmt: skip
        at += share
    return el("svg", bars, class_="bar", role="img",
              aria_label=f"{counts.sound:,} sound, {counts.lucky:,} lucky, {counts.slip:,} slip, "
              f"{counts.broken:,} broken of {counts.n:,}")  # fmt: skip


def _terse(item: ModelQuadrant) -> Html:
    to = item.filters.but(outcome=None, process=None, terse="yes", show="all")
    n = item.counts.terse
    said = f"{numbers.count(n, 'answer')} {'says' if n == 1 else 'say'}"
    tip = f"{said} too little to be blamed"
    return kit.counted(item.counts.terse, links.address(FAILURES.url_path, to), tip=tip)


def _by_guessing(item: ModelQuadrant, by_chance: Mapping[str, float]) -> Html:
    counts = item.counts
    right = counts.sound + counts.lucky
    seen = numbers.share(counts.lucky_share) if right else numbers.NONE
    chance = numbers.in_percent(by_chance.get(item.model_id, math.nan), 0)
    tip = (
        f"{counts.lucky:,} of {right:,} right answers, "
        f"{numbers.ends(100 * counts.lucky_lo, 100 * counts.lucky_hi, 0)} %; the second number is "
        "what it would be if every answer with failed steps were a blind guess"
    )
    return el("span", f"{seen} / {chance}", data_tip=tip)
