"""What the rules that came with criteria do to answers' values, beside the plain mean."""

from __future__ import annotations

import math

from atom.display import numbers
from atom.ui import kit, links
from atom.ui.html import Child, Html, el
from atom.ui.pages import FAILURES
from atom.views.people.rubric import TITLES, RubricView, Rule, RuleRow

_TOUCHED = {"parents": ("mark set to 0", "marks set to 0"),
            "gates": ("must-have missed", "must-haves missed"),
            "points": ("penalty taken", "penalties taken")}  # fmt: skip


def rules(view: RubricView) -> Html:
    """Draw the models by rule, and say what each rule is."""
    return kit.section(
        "By its criteria’s own rules",
        kit.grid(
            view.rows,
            kit.MarkupColumn("Model", _model),
            *kit.each(view.rules, TITLES.__getitem__, _cell),
            label="Values by rule",
            tight=False,
        ),
        kit.note(_words(view)),
        data_testid="rubric-rules",
    )


def _model(row: RuleRow) -> Html:
    href = links.address(FAILURES.url_path, row.filters)
    return kit.door(kit.model(row.name, row.model), href)


def _cell(row: RuleRow, rule: Rule) -> Child:
    cell = row.cells[rule]
    if not cell.estimate.known:
        return numbers.NONE
    tip = [f"{numbers.count(cell.estimate.n, 'answer')}, "
           f"{numbers.count(cell.estimate.samples, 'sample')}"]  # fmt: skip
    if abs(cell.unread - cell.estimate.value) >= 0.05:
        tip.append(f"{cell.unread:.1f} with unread marks counted as not met")
    more: list[Child] = []
    if rule != "plain":
        tip.append(numbers.count(cell.touched, *_TOUCHED[rule]))
        gap = cell.less.gap
        change = "the same" if abs(gap) < 0.05 else numbers.signed(gap)
        if not math.isnan(cell.less.lo) and abs(gap) >= 0.05:
            tip.append(f"{numbers.signed_ends(cell.less.lo, cell.less.hi)} against as marked")
        more = [kit.small(f" {change}")]
    return el("span", numbers.interval(cell.estimate), more, data_tip="\n".join(tip))


def _words(view: RubricView) -> str:
    parts = ["Means of answers’ values, 0–100, each criterion by its share of the weight."]
    if "parents" in view.rules:
        parts.append(
            f"{numbers.count(view.children, 'criterion rests', 'criteria rest')} on others: a "
            "child counts 0 where any parent’s own mark in that answer isn’t met. (What an answer "
            "reached, which weaknesses rest on, leaves such a child out instead.)"
        )
    if "gates" in view.rules:
        caps = " or ".join("0" if cap == 0 else f"{100 * cap:.0f}" for cap in view.caps)
        parts.append(
            f"{numbers.count(view.must_haves, 'criterion', 'criteria')} must be met: an answer "
            f"that misses one reaches {caps} at most."
        )
    if "points" in view.rules:
        parts.append(
            f"{numbers.count(view.penalties, 'penalty', 'penalties')}: points earned less points "
            "taken, of all that can be earned, 0 at least, as the ranking counts them. As marked, "
            "a penalty that isn’t taken counts as a criterion met."
        )
    if view.unread:
        parts.append(
            f"{numbers.count(view.unread, 'mark')} couldn’t be read and "
            f"{'is' if view.unread == 1 else 'are'} left out; hover for what they would change."
        )
    if view.void:
        parts.append(f"{numbers.count(view.void, 'mark')} not applicable.")
    return " ".join(parts)
