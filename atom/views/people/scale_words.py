"""What people's labels say of the judge's numbers, in plain words."""

from __future__ import annotations

import math

from atom.analysis.agreement.debias import MIN_LABELLED
from atom.display import numbers
from atom.views.people.scale_rows import PeopleScale, RootShift


def scale_statements(view: PeopleScale) -> tuple[str, ...]:
    """Say in plain words what the labels tell, the most important first."""
    status, names = view.status, {row.model: row.name for row in view.rows}
    if not status.checkpoints:
        return (
            "No person has scored a checkpoint here yet: every score is on the judge’s own scale.",
        )
    found = [_how_many(view)]
    whole = view.shifts[0]
    if math.isfinite(whole.shift):
        found.append(_kindness(whole))
    if len(view.labelled_models) == 1 and len(view.rows) > 1:
        name = names.get(view.labelled_models[0], "one model")
        found.append(
            f"All labels are on answers of {name}: nothing is known of how the judge treats the "
            "others, whose scores stay on the judge’s scale."
        )
    moved = [row for row in view.rows if row.enough]
    if moved:
        most = max(moved, key=lambda row: abs(row.people.value - row.judge.value))
        found.append(
            f"{most.name} moves most: {most.judge.value:.1f} by the judge, "
            f"{most.people.value:.1f} ({numbers.ends(most.people.lo, most.people.hi)}) on people’s "
            "scale."
        )
    if view.uneven:
        found.append(
            "The judge errs otherwise under some roots than under others: trust the numbers by "
            "root more than those by capability, which take its error to be the same everywhere."
        )
    return tuple(found)


def _how_many(view: PeopleScale) -> str:
    status = view.status
    samples = f"{status.samples:,} sample{'s' * (status.samples != 1)}"
    if status.lifted:
        return f"People’s labels on {samples} put every model’s score on people’s scale."
    if status.partly:
        scored = sum(status.scored)
        return (
            f"People’s labels on {samples} put {status.models:,} of {scored:,} models on people’s "
            f"scale; the others need labels on {MIN_LABELLED} samples of their answers."
        )
    most = max(status.by_model, default=0)
    return (
        f"People have labelled {samples}; {MIN_LABELLED} of a model’s are needed before its "
        f"score may be read on people’s scale (the most so far: {most})."
    )


def _kindness(whole: RootShift) -> str:
    lo, hi = sorted((abs(25 * whole.lo), abs(25 * whole.hi)))
    if whole.lo <= 0 <= whole.hi:
        return (
            "Over all labels, the judge is neither surely kinder nor surely stricter than people: "
            f"{numbers.signed(25 * whole.shift)} points of 100 "
            f"({numbers.signed_ends(25 * whole.lo, 25 * whole.hi)})."
        )
    way = "kinder" if whole.shift > 0 else "stricter"
    return (
        f"On the same checkpoints the judge is {abs(25 * whole.shift):.1f} points of 100 {way} "
        f"than people ({lo:.1f} to {hi:.1f})."
    )
