"""What the tab about a study's judge is made of: the answer, tables, confusion, what to do next."""

from __future__ import annotations

import math
from collections.abc import Sequence

from atom.analysis.agreement.calibration import Branch, Calibration
from atom.analysis.agreement.coefficients import Agreement
from atom.analysis.agreement.judge_noise import Advice
from atom.analysis.intervals import Ints
from atom.display import numbers
from atom.ui import commands, kit, links
from atom.ui.html import Html, el, join
from atom.ui.pages import FAILURES, JUDGE_LAB, RUNS
from atom.ui.shell.frame import Here
from atom.views.filters import Filters
from atom.views.lab.asked_again import MOST, Again
from atom.views.lab.calibrations import Calibrated
from atom.views.lab.judge_marks import mark_of
from atom.views.lab.reliability import (
    LEAST_JUDGES,
    WANTED_HALF,
    AgreementRow,
    NoiseRow,
    PositionRow,
    Reliability,
)
from taxonomy import format_path

_CELL, _LEFT, _TOP = 46, 58, 40
_ADVICE: dict[Advice, str] = {
    "samples": "more samples",
    "judge": "a better judge",
    "either": "either",
    "unknown": "can’t be told",
}
_SCORES = range(1, 6)
EVEN_P = 0.05
"""At or under this the branches are said to differ."""


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
            door = kit.button("Calibrate on probes", where, primary=True)
        elif step.runs:
            door = kit.button("Open Runs", links.address(RUNS.url_path, filters))
        command = commands.shown(here, step.command) if step.command else None
        rows.append(
            el("li", el("div", el("span", step.text), door, class_="row"), command,
               style="margin-bottom:8px")
        )  # fmt: skip
    return kit.section("What to do next", el("ul", rows, class_="facts"))


# --- agreement -----------------------------------------------------------------------------------


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


def _asked_again(rows: Sequence[Again], filters: Filters) -> Html:
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
            kit.Column(
                "Checkpoint",
                lambda one: kit.door(one.criterion or one.criterion_id[:12], _case(one, filters)),
                broad=True,
            ),
            kit.Column("Model", lambda one: one.candidate),
            kit.number("Marks", lambda one: ", ".join(one.marks)),
            label="Checkpoints scored more than once",
        ),
    )


def _case(one: Again, filters: Filters) -> str:
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
        kit.Column(first, lambda row: row.name),
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


# --- against the truth ---------------------------------------------------------------------------


def truth(view: Reliability, filters: Filters) -> Html:
    """Draw the judge against exact truth: confusion, and every branch with what is wrong there."""
    title = el("h2", "Accuracy on known truth")
    if view.calibrated is None:
        where = links.address(JUDGE_LAB.url_path, filters, tab="calibration")
        return el(
            "section",
            title,
            el("p", "It was never asked about probes whose truth is known, so nobody knows which "
               "branches it misreads. ", kit.door("Calibrate it on probes", where), class_="quiet"),
        )  # fmt: skip
    found = view.calibrated
    covered = (
        f" {view.covered:,} of the {view.roots:,} branches at the top of this study’s "
        "tree are covered."
        if view.roots
        else ""
    )
    unread = f" {found.unread:,} of the replies couldn’t be read." if found.unread else ""
    words = (
        f"Simulated models answered {numbers.count(found.probes, 'fresh probe')}; what every step "
        f"of an answer deserves is known exactly. The judge scored {found.answers:,} answers, "
        f"asked just as in a study.{unread}{covered}"
    )
    return el(
        "section",
        title,
        kit.note(words, style="margin-bottom:8px;max-width:860px"),
        calibration(found),
    )


def calibration(found: Calibrated) -> Html:
    """Draw the confusion of a judge and how it reads every branch."""
    view = found.view
    same = evenness(found.view)
    deeper = [one for one in view.leaves if one.tested]
    return el(
        "div",
        el(
            "div",
            el("div", el("p", "Truth against score, % of each truth", class_="strong small"),
               confusion_svg(view.whole.counts, "Everything")),
            el("div", branches((view.whole, *view.roots), "By branch"),
               kit.note(same) if same else None,
               style="flex:1;min-width:340px"),
            style="display:flex;flex-wrap:wrap;gap:24px;align-items:flex-start",
        ),
        kit.fold(
            "Truth against score, branch by branch",
            el(
                "div",
                [
                    el("div", el("p", format_path(one.path), class_="strong small"),
                       confusion_svg(one.counts, format_path(one.path)))
                    for one in view.roots
                    if one.n
                ],
                style="display:flex;flex-wrap:wrap;gap:20px",
            ),
        ),
        kit.fold(
            f"By capability ({len(deeper):,} with five probes or more)",
            branches(deeper, "By capability"),
        )
        if deeper
        else None,
    )  # fmt: skip


def evenness(view: Calibration) -> str:
    """Say whether the judge reads all branches alike; never against a mark that stands beside it.

    A mark is of one branch, against the truth; the test is of all together, against each other.
    """
    even = view.homogeneity
    if not math.isfinite(even.p):
        return ""
    p = f"p {numbers.p_value(even.p)}"
    if even.p <= EVEN_P:
        return f"The {even.roots:,} branches differ by more than chance at equal truths ({p})."
    if not view.flawed:
        return f"The {even.roots:,} branches don’t differ surely at equal truths ({p})."
    return (
        f"What is marked is off from the truth itself; whether the {even.roots:,} branches also "
        f"differ from one another can’t be said ({p})."
    )


def branches(rows: Sequence[Branch], label: str) -> Html:
    """Draw branches against the truth: how often right, how far off, and what is marked."""
    return kit.grid(
        rows,
        kit.Column("Branch", _branch),
        kit.number("exactly right", lambda one: numbers.percent(100 * one.accuracy, one.n)),
        kit.number("off by, points of 1–5 (95 %)", _off),
        kit.number("alpha to truth", lambda one: numbers.plain(one.alpha), broad=True),
        kit.number("steps", lambda one: kit.quiet(f"{one.n:,}")),
        kit.number("probes", lambda one: kit.quiet(f"{one.clusters:,}"), broad=True),
        kit.Column("mark", _mark),
        label=label,
    )


def _branch(one: Branch) -> Html:
    name = one.path[-1] if one.path else "Everything"
    return el("span", numbers.middle(name, 30), data_tip=format_path(one.path) or "everything")


def _off(one: Branch) -> str:
    bias = numbers.signed(one.bias, 2)
    if not math.isfinite(one.bias_lo):
        return bias
    return f"{bias} ({numbers.signed_ends(one.bias_lo, one.bias_hi, 2)})"


def _mark(one: Branch) -> Html:
    mark = mark_of(one)
    if mark is not None:
        return el("span", mark.text, class_="status weak", data_tip=mark.tip)
    if not one.path:
        return el("span", "")
    words = "nothing found" if one.tested else "too few probes"
    return kit.status("nothing" if one.tested else "insufficient", words)


def confusion_svg(counts: Ints, name: str, rows: str = "truth") -> Html:
    """Draw a confusion matrix: rows the truth 1..5, columns what the judge said.

    Each cell holds the share of its row in percent; its ink says the same. The diagonal is framed.
    """
    total = counts.sum(axis=1)
    pieces: list[Html] = [
        _text(_LEFT + 2.5 * _CELL, 14, "the judge says"),
        el("text", rows, x=-(_TOP + 2.5 * _CELL), y=14, transform="rotate(-90)",
           text_anchor="middle", font_size="12", fill="var(--quiet)"),
    ]  # fmt: skip
    for at, score in enumerate(_SCORES):
        pieces.append(_text(_LEFT + (at + 0.5) * _CELL, _TOP - 8, str(score)))
        pieces.append(_text(_LEFT - 16, _TOP + (at + 0.5) * _CELL + 4, str(score)))
        for column in range(5):
            count = int(counts[at, column])
            share = count / total[at] if total[at] else math.nan
            words = f"{rows} {score}, said {column + 1}: {count:,} of {int(total[at]):,}"
            pieces.append(
                el(
                    "g",
                    el("title", f"{name}, {words}"),
                    el("rect", x=_LEFT + column * _CELL + 1, y=_TOP + at * _CELL + 1,
                       width=_CELL - 2, height=_CELL - 2, rx=3, fill="var(--accent)",
                       fill_opacity=f"{0.5 * share if count else 0.03:.2f}",
                       stroke="var(--ink)" if at == column else "var(--line)"),
                    _text(_LEFT + (column + 0.5) * _CELL, _TOP + (at + 0.5) * _CELL + 4,
                          "–" if math.isnan(share) else f"{100 * share:.0f}" if count else "0",
                          ink=bool(count)),
                )
            )  # fmt: skip
    size = _LEFT + 5 * _CELL + 4, _TOP + 5 * _CELL + 4
    return el(
        "svg",
        pieces,
        viewBox=f"0 0 {size[0]} {size[1]}",
        width=str(size[0]),
        height=str(size[1]),
        role="img",
        aria_label=f"{name}: {rows} by row, the judge’s score by column, in percent of each row",
        style="max-width:100%",
    )


def _text(x: float, y: float, words: str, *, ink: bool = False) -> Html:
    return el("text", words, x=f"{x:.0f}", y=f"{y:.0f}", text_anchor="middle", font_size="12",
              fill="var(--ink)" if ink else "var(--quiet)")  # fmt: skip


# --- pulls ---------------------------------------------------------------------------------------


def pulls(view: Reliability) -> Html:
    """Draw what else may sway the judge: the place, the length, the family."""
    return kit.section(
        "What else may sway it?",
        _place(view.position),
        _length(view),
        el("p", _family(view), style="margin-top:8px"),
    )


def _place(rows: Sequence[PositionRow]) -> Html:
    if not rows:
        return el(
            "p",
            "Place: no votes on pairs in both orders are stored, so it can’t be said whether the "
            "answer shown first has it easier.",
            class_="quiet",
        )
    return join(
        kit.grid(
            rows,
            kit.Column("Judge", lambda row: numbers.middle(row.judge, 30)),
            kit.Column("Pairs of", lambda row: kit.short(row.where, 60)),
            kit.number(
                "same winner when swapped",
                lambda row: numbers.percent(
                    100 * row.found.consistent / row.found.pairs, row.found.pairs
                ),
            ),
            kit.number(
                "the first shown wins",
                lambda row: numbers.percent(100 * row.found.first_share, row.found.pairs),
            ),
            kit.number(
                "pull of the first place (95 %)",
                lambda row: numbers.signed_interval(row.found.beta, row.found.lo, row.found.hi, 2),
            ),
            kit.number("pairs", lambda row: kit.quiet(f"{row.found.pairs:,}")),
            label="Position bias",
        ),
        kit.note("Pull: 0 means that the place doesn’t matter; positive leans to the answer shown "
           "first (half the log odds of the two kinds of conflict)."),
    )  # fmt: skip


def _length(view: Reliability) -> Html:
    pull = view.length
    if math.isnan(pull.slope):
        words = "Length: too few questions with several scored answers to say."
        return el("p", words, class_="quiet", style="margin-top:8px")
    held = "with the final answer’s outcome held equal" if pull.controlled else (
        "the outcome isn’t known, so quality isn’t held equal"
    )  # fmt: skip
    return el(
        "p",
        f"Length: an answer twice as long as another to the same question scores "
        f"{numbers.signed(pull.slope, 2)} points of 1–5 "
        f"({numbers.signed_ends(pull.lo, pull.hi, 2)}; {pull.n:,} answers to "
        f"{pull.clusters:,} questions, {held}).",
        style="margin-top:8px",
    )


def _family(view: Reliability) -> str:
    if view.synthetic:
        return "Family: the judge is simulated and reads the truth; it has no kin."
    if view.family:
        return (
            f"Family: the judge shares its family with {', '.join(view.family[:8])}. Judges tend "
            "to be kinder to their own kind."
        )
    return "Family: no model here is of the judge’s own family, as far as names tell."


# --- noise ---------------------------------------------------------------------------------------


def noise(view: Reliability) -> Html | None:
    """Draw every model's number with the judge's noise in its interval."""
    if not view.noise:
        return None
    whole = [row for row in view.noise if not row.branch]
    parts = [row for row in view.noise if row.branch]
    words = (
        "The variance of a mean has three parts: other samples could have been drawn, the same "
        "judge says something else when asked again, another judge is kinder or stricter. The "
        "first two shrink with more samples; a judge’s kindness doesn’t."
        if view.separable
        else f"With {view.judges} judges there is one difference between them, which tells no "
        f"share of anything: it takes {LEAST_JUDGES} judges of the same checkpoints. How kind this "
        "judge is beside others isn’t in these intervals."
        if view.judges > 1
        else "With one judge, asked at temperature 0, a repeat is the same request: the judge’s "
        "noise can’t be told from the samples’, and how kind this judge is beside others isn’t in "
        "these intervals."
        if view.cold and view.retest
        else "With one judge, asked once, the judge’s noise can’t be told from the samples’. It is "
        "inside these intervals as far as it differs from answer to answer; how kind this judge "
        "is beside others is not."
    )
    return kit.section("More samples, or a better judge?",
        kit.note(words, style="margin-bottom:8px;max-width:860px"),
        _noise_table(whole, view, "Noise by model"),
        kit.fold("By branch", _noise_table(parts, view, "Noise by model and branch"))
        if parts
        else None,
        kit.note("Means of all checkpoints, unweighted, on 0–100. The forecast is of samples in "
           f"all, for plus or minus {WANTED_HALF:g} points; ∞: the judges’ differences alone are "
           "wider than that."),
    )  # fmt: skip


def _noise_table(rows: Sequence[NoiseRow], view: Reliability, label: str) -> Html:
    split = view.separable
    return kit.grid(
        rows,
        kit.Column("Model", lambda row: kit.model(row.name, row.model)),
        kit.Column("Branch", lambda row: row.branch, when=any(row.branch for row in rows)),
        kit.number("score 0–100", lambda row: numbers.interval(row.plain)),
        kit.number("with the judge’s noise", lambda row: _wider(row, view.judges)),
        kit.number("samples · repeats · judges, % of the variance", _shares, when=split),
        kit.Column("what helps more", lambda row: _ADVICE[row.advice], when=split),
        kit.number(f"samples for ±{WANTED_HALF:g}", _needed),
        kit.number("samples", lambda row: kit.quiet(f"{row.estimate.samples:,}")),
        label=label,
    )


def _needed(row: NoiseRow) -> str:
    if math.isnan(row.needed):
        return numbers.NONE
    if math.isinf(row.needed):
        return "∞"
    return "reached" if row.needed <= row.estimate.samples else f"{row.needed:,.0f}"


def _wider(row: NoiseRow, judges: int) -> str:
    if math.isnan(row.judges):
        return "unknown: one judge" if judges < 2 else "unknown: too few judges"
    return numbers.ends(row.estimate.lo, row.estimate.hi)


def _shares(row: NoiseRow) -> Html:
    parts = (
        ("samples", row.samples, 0.25),
        ("repeats", row.repeats, 0.6),
        ("judges", row.judges, 1.0),
    )
    words = " · ".join(
        numbers.NONE if math.isnan(share) else f"{100 * share:.0f}" for _, share, _ in parts
    )
    start = 0.0
    boxes = []
    for name, share, ink in parts:
        if math.isfinite(share) and share > 0:
            boxes.append(
                el("rect", el("title", f"{name}: {numbers.share(share)}"), x=f"{100 * start:.1f}",
                   y="0", width=f"{100 * share:.1f}", height="9", fill="var(--ink)",
                   fill_opacity=f"{ink}")
            )  # fmt: skip
            start += share
    bar = el("svg", boxes, viewBox="0 0 100 9", width="100", height="9", aria_hidden="true",
             style="margin-right:8px;vertical-align:middle")  # fmt: skip
    return el("span", bar, words, class_="nowrap")
