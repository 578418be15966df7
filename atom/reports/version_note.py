"""A step from one version to the next as a few lines of Markdown, for a pull request."""

from __future__ import annotations

import math

from atom.display import numbers
from atom.display.markdown import escaped
from atom.views.compare.nodes import Q
from atom.views.compare.versions import WHOLE, Change, VersionStep
from taxonomy import format_path

_MOST = 12
_UNITS = {"process": "score", "outcome": "right", "preference": "votes won"}


def version_note(step: VersionStep, study: str) -> str:
    """Write the note: the verdict, the whole, what got worse and better, and how it was tested."""
    before, after = escaped(step.before), escaped(step.after)
    lines = [f"### {after} against {before}", "", verdict_line(step, before, after), ""]
    lines += _table(step)
    how = (
        f"{step.tested} tests together (the whole and every capability with five samples or more), "
        f"Benjamini-Hochberg at q {Q:.2f}".replace("0.", ".")
    )
    margin = f", losses and gains beyond {step.margin:g} points" if step.margin else ""
    judge = f"; marked by {escaped(step.judge)}" if step.judge and step.measure == "process" else ""
    lines += ["", f"Study {escaped(study)}: {step.whole.samples:,} shared samples, paired{judge}; "
              f"{how}{margin}."]  # fmt: skip
    return "\n".join(lines) + "\n"


def verdict_line(step: VersionStep, before: str, after: str) -> str:
    """Say in one line whether anything got worse."""
    if not step.whole.samples:
        return f"**Nothing to compare**: {after} and {before} share no sample that counts."
    if not step.tested:
        return (
            f"**Too little to tell**: {step.whole.samples} shared samples make no test; "
            f"{_counts(step.whole)}."
        )
    worse, better = step.regressed, step.found("better")
    head = f"**Worse at {_listed(worse)}**" if worse else "**No loss beyond chance**"
    tail = f"; better at {_listed(better)}" if better else ""
    return f"{head}{tail}; {_counts(step.whole)}."


def _counts(one: Change) -> str:
    return f"{one.fixed:,} samples fixed, {one.broke:,} broken"


def _listed(changes: tuple[Change, ...]) -> str:
    names = [escaped(one.name) for one in changes[:3]]
    rest = len(changes) - len(names)
    return ", ".join(names) + (f" and {rest} more" if rest else "")


def _table(step: VersionStep) -> list[str]:
    shown = (*step.regressed, *step.found("better"))
    if not any(one.name == WHOLE for one in shown):
        shown = (step.whole, *shown)
    unit = _UNITS.get(step.measure, "value")
    head = [f"| | {unit} before | after | difference (95 %) | fixed | broken | n |",
            "|---|--:|--:|--:|--:|--:|--:|"]  # fmt: skip
    rows = [_row(one) for one in shown[:_MOST]]
    more = len(shown) - _MOST
    return [*head, *rows, *([f"| and {more} more | | | | | | |"] if more > 0 else [])]


def _row(one: Change) -> str:
    sign = {"worse": "▼ ", "better": "▲ "}.get(one.verdict, "")
    name = escaped(format_path(one.path) if one.path else one.name)
    cells = (f"{sign}{name}", _number(one.before), _number(one.after),
             "" if math.isnan(one.gap) else numbers.signed_interval(one.gap, one.lo, one.hi),
             f"{one.fixed:,}", f"{one.broke:,}", f"{one.samples:,}")  # fmt: skip
    return f"| {' | '.join(cells)} |"


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.1f}"
