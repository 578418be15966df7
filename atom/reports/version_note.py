"""A step from one version to the next as a few lines of Markdown, for a pull request."""

from __future__ import annotations

from atom.display import writers
from atom.display.markdown import escaped
from atom.views.compare.nodes import Q
from atom.views.compare.version_table import changes, told
from atom.views.compare.versions import VersionChange, VersionStep

_MOST = 12


def version_note(step: VersionStep, study: str) -> str:
    """Write the note: the verdict, the whole, what got worse and better, and how it was tested."""
    before, after = escaped(step.before), escaped(step.after)
    lines = [f"### {after} against {before}", "", verdict_line(step, before, after), ""]
    shown = told(step)
    lines += writers.markdown(changes(step, shown[:_MOST]))
    lines += ["", f"and {len(shown) - _MOST} more"] * (len(shown) > _MOST)
    how = (
        f"{step.tested} tests together (the whole and every {step.unit.lower()} with five samples "
        "or more), "
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
            f"**Too little to tell**: {step.whole.samples:,} shared samples make no test; "
            f"{_counts(step.whole)}."
        )
    worse, better = step.regressed, step.found("better")
    head = f"**Worse at {_listed(worse)}**" if worse else "**No loss beyond chance**"
    tail = f"; better at {_listed(better)}" if better else ""
    return f"{head}{tail}; {_counts(step.whole)}."


def _counts(one: VersionChange) -> str:
    return f"{one.fixed:,} samples fixed, {one.broke:,} broken"


def _listed(changes: tuple[VersionChange, ...]) -> str:
    names = [escaped(one.name) for one in changes[:3]]
    rest = len(changes) - len(names)
    return ", ".join(names) + (f" and {rest} more" if rest else "")
