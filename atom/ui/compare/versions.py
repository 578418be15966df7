"""Versions on Compare: what was fixed, what broke, since when; and who comes after whom."""

from __future__ import annotations

import streamlit as st

from atom.display import numbers
from atom.engine.studies.versions import declare
from atom.errors import AtomError
from atom.ui import kit
from atom.ui.compare import sides
from atom.ui.compare.sides import pinned, to
from atom.ui.html import Html, el, join
from atom.ui.plain import plain
from atom.ui.shell.frame import Here
from atom.views.compare import version_table
from atom.views.compare.page import Comparison
from atom.views.compare.sides import ComparedSides, SideChoice
from atom.views.compare.version_table import GLYPHS, place
from atom.views.compare.versions import (
    VersionChange,
    VersionLine,
    VersionStep,
    declared_versions,
    latest_with,
    version_line,
    version_step,
)

_NONE = ""
_FAULT = "compare_version_fault"
_SHOWN = 8
_CLASSES = {"worse": "behind", "better": "ahead"}


def changes(here: Here, view: Comparison, picked: ComparedSides) -> None:
    """Draw what changed, where both are versions of one line."""
    declared = declared_versions(here.store, here.entry.study.id)
    latest = latest_with(here.data, declared, picked.first.model_id, picked.second.model_id)
    if latest is not None:
        line = version_line(here.data, here.filters, declared, latest)
        if line is not None:
            kit.show(_section(here, view, picked, line), key="compare_versions")


def _section(here: Here, view: Comparison, picked: ComparedSides, line: VersionLine) -> Html:
    at = [one.model_id for one in line.sides]
    first, second = (at.index(side.model_id) for side in (picked.first, picked.second))
    return el(
        "section",
        sides.style(),
        el("h2", "Versions", style="margin:0 0 6px"),
        el("div", _steps(here, picked, line), style="margin-bottom:10px"),
        _changes(here, view, picked) if first > second else _turn(here, picked),
        _since(line),
        class_="lines",
        data_testid="versions",
    )


def _steps(here: Here, picked: ComparedSides, line: VersionLine) -> Html:
    """Draw a door for each step of the line, the earliest first."""
    doors = []
    for before, after in zip(line.sides, line.sides[1:], strict=False):
        step = ComparedSides(first=after, second=before, judge_id=None)
        chosen = (picked.first.model_id, picked.second.model_id) == (
            after.model_id,
            before.model_id,
        )
        names = (numbers.middle(one.name, 24) for one in (before, after))
        doors.append((" → ".join(names), to(here, step, pinned(here, step), tab=None), chosen))
    return kit.tabs(doors, label="Steps from version to version")


def _turn(here: Here, picked: ComparedSides) -> Html:
    words = f"{picked.first.name} is the earlier of the two. "
    return el(
        "p",
        words,
        kit.door("See what the later one changed", sides.swapped(here, picked)),
        class_="small",
    )


def _changes(here: Here, view: Comparison, picked: ComparedSides) -> Html:
    """Say what got worse and better, and open what was fixed and what broke."""
    step = version_step(view)
    filters = pinned(here, picked).but(sample=None, criterion=None)
    fixed = to(here, picked, filters, tab="second_fails")
    broken = to(here, picked, filters, tab="first_fails")
    shown = (*step.regressed, *step.found("better"))
    return join(
        el("p", _verdict(step), class_="strong"),
        el(
            "p",
            kit.door(f"{numbers.count(step.whole.fixed, 'sample')} fixed", fixed),
            " (failed before, and no longer), ",
            kit.door(f"{numbers.count(step.whole.broke, 'sample')} broken", broken),
            f" (failed since), of {step.whole.samples:,} that both answered.",
            class_="small",
        ),
        el("div", _table(here, picked, step, shown[:_SHOWN]), style="margin:8px 0")
        if shown
        else None,
        kit.note(
            f"{numbers.count(step.tested, 'test')} together, the whole and every "
            f"{step.unit.lower()} with "
            "enough samples (below, each level of the tree stands for itself): beyond chance at a ",
            kit.term("false discovery rate"),
            " of 10 %. ",
            el("code", "compare --fail-on-regression"),
            " says the same to a pipeline.",
        ),
    )


def _verdict(step: VersionStep) -> str:
    if not step.tested:
        return "Too little to tell whether anything got worse."
    worse, better = step.regressed, step.found("better")
    head = f"Worse at {_listed(worse)}" if worse else "No loss beyond chance"
    return f"{head}; better at {_listed(better)}." if better else f"{head}."


def _listed(changes: tuple[VersionChange, ...]) -> str:
    rest = len(changes) - 3
    return ", ".join(one.name for one in changes[:3]) + (f" and {rest} more" if rest > 0 else "")


def _table(
    here: Here, picked: ComparedSides, step: VersionStep, rows: tuple[VersionChange, ...]
) -> Html:
    def door(one: VersionChange, _: str) -> Html:
        name = place(one)
        inside = one.inside or pinned(here, picked).but(sample=None, criterion=None)
        glyph = el("span", GLYPHS[one.verdict], class_="glyph", aria_hidden="true")
        mark = el("span", glyph, class_=f"diff {_CLASSES[one.verdict]}")
        return el("a", mark, numbers.middle(name, 60), href=to(here, picked, inside, tab=None),
                  data_go=True, class_="cell", data_tip=name)  # fmt: skip

    return kit.drawn(version_table.changes(step, rows[:_SHOWN]), cells={step.unit: door})


def _since(line: VersionLine) -> Html | None:
    """Say since which version the latest one's failures stand."""
    total = sum(one.samples for one in line.since)
    latest = line.sides[-1].name
    if not total:
        return el(
            "p", f"{latest} fails no sample that it shares with the version before.", class_="small"
        )
    told = [
        f"{one.samples:,} {'already in' if one.first else 'since'} {one.name}"
        for one in line.since
        if one.samples
    ]
    words = f"Of the {numbers.count(total, 'sample')} that {latest} fails: {', '.join(told)}."
    return el("p", words, class_="small", data_testid="since")


# --- who comes after whom ------------------------------------------------------------------------


def form(here: Here, picked: ComparedSides) -> None:
    """Draw the form that declares the first side a later version of another model."""
    model: SideChoice = picked.first
    declared = declared_versions(here.store, here.entry.study.id)
    with st.expander("Versions: say which model comes after which"):
        if here.entry.bundled:
            kit.show(
                kit.notice("This study is sealed; versions are declared in your own copy of it."),
                key="compare_version_sealed",
            )
            return
        names = {one.id: one.name for one in here.data.candidates if one.id != model.model_id}
        options = {_NONE: "no other: it is a first version", **names}
        key = f"compare_version_of_{model.model_id}"
        before = declared.get(model.model_id, _NONE)
        st.session_state[key] = before if before in options else _NONE

        def changed() -> None:
            st.session_state.pop(_FAULT, None)
            chosen = st.session_state[key] or None
            try:
                declare(here.store, here.entry.study.id, model.model_id, chosen)
            except AtomError as error:
                st.session_state[_FAULT] = error.message

        st.selectbox(
            plain(f"{model.name} is a later version of"), list(options),
            format_func=lambda one: options.get(one, one), key=key, on_change=changed,
        )  # fmt: skip
        fault = st.session_state.pop(_FAULT, None)
        if fault:
            kit.show(kit.notice(fault), key="compare_version_fault_shown")
