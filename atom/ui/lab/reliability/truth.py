"""The judge held against known truth: its confusion, and its branches."""

from __future__ import annotations

import math
from collections.abc import Sequence

from atom.analysis.agreement.calibration import Branch, Calibration
from atom.analysis.intervals import Ints
from atom.display import numbers
from atom.ui import kit, links
from atom.ui.html import Html, el
from atom.ui.pages import JUDGE_LAB
from atom.views.filters import Filters
from atom.views.lab.calibrations import CalibratedJudge
from atom.views.lab.judge_marks import mark_of
from atom.views.lab.reliability.tab import Reliability
from taxonomy import format_path

_CELL, _LEFT, _TOP = 46, 58, 40


_SCORES = range(1, 6)


EVEN_P = 0.05
"""At or under this the branches are said to differ."""


def truth(view: Reliability, filters: Filters) -> Html:
    """Draw the judge against exact truth: confusion, and every branch with what is wrong there."""
    title = el("h2", "Accuracy on known truth")
    if view.calibrated is None:
        where = links.address(JUDGE_LAB.url_path, filters, tab="calibration")
        return el(
            "section",
            title,
            el("p", "It was never asked about test pictures whose truth is known, so nobody knows "
               "which branches it misreads. ", kit.door("Calibrate it on test pictures", where),
               class_="quiet"),
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
        f"Simulated models answered {numbers.count(found.probes, 'fresh test picture')}; what "
        "every step of an answer deserves is known exactly. "
        f"The judge scored {numbers.count(found.answers, 'answer')}, "
        f"asked just as in a study.{unread}{covered}"
    )
    return el(
        "section",
        title,
        kit.note(words, style="margin-bottom:8px;max-width:860px"),
        calibration(found),
    )


def calibration(found: CalibratedJudge) -> Html:
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
            f"By capability ({len(deeper):,} with five test pictures or more)",
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
        kit.MarkupColumn("Branch", _branch),
        kit.number("exactly right", lambda one: numbers.percent(100 * one.accuracy, one.n)),
        kit.number("off by, points of 1–5 (95 %)", _off),
        kit.number("alpha to truth", lambda one: numbers.plain(one.alpha), broad=True),
        kit.number("steps", lambda one: kit.quiet(f"{one.n:,}")),
        kit.number("probes", lambda one: kit.quiet(f"{one.clusters:,}"), broad=True),
        kit.MarkupColumn("mark", _mark),
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
    words = "nothing found" if one.tested else "too few test pictures"
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
