"""What the Fingerprints page is made of: what stands out, whose shapes, radars, skill bars."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from functools import partial

import streamlit as st

from atom.display import numbers
from atom.ui import commands, kit, links
from atom.ui.html import Html, el, join
from atom.ui.pages import COMPARE, FAILURES, FINGERPRINTS
from atom.ui.people import scale as people_scale
from atom.ui.shell.frame import Here
from atom.views import figures
from atom.views.filters import Filters, Measure, label_name
from atom.views.fingerprints.heat import HeatColumn
from atom.views.fingerprints.page import (
    MOST_DRAWN,
    Bar,
    Bars,
    Mark,
    Shape,
    ShapeModel,
    claim_words,
)
from atom.views.fingerprints.radar import Axis, Radar
from atom.views.lab.judge_marks import JudgeMark
from atom.views.overview.page import Statement
from atom.views.overview.weaknesses import NodeEvidence, frame_words, more_words

LOCAL = ("tab", "facet", "rows", "cols", "colour", "beside", "layer")
_PAGES = {
    "failures": FAILURES.url_path,
    "compare": COMPARE.url_path,
    "fingerprints": FINGERPRINTS.url_path,
}
_MEASURES: dict[Measure, str] = {
    "process": "Steps",
    "outcome": "Final answers",
    "preference": "Votes",
}
_VALUES: dict[Measure, str] = {
    "process": "score",
    "outcome": "share of right answers",
    "preference": "share of votes won",
}
TABS = (
    ("shapes", "Shapes"), ("answers", "Answer by answer"), ("apart", "Told apart"),
    ("errors", "Kinds of error"),
)  # fmt: skip
_SHOWN = 12
"""Skill bars before the fold."""
_MOST_TABS = 8


def local(here: Here, **changes: str | None) -> dict[str, str]:
    """Return the page's own keys with some changed; None takes a key out."""
    held = {key: value for key, value in here.query.items() if key in LOCAL}
    return {key: value for key, value in {**held, **changes}.items() if value}


def to(here: Here, filters: Filters, **changes: str | None) -> str:
    """Write an address on this page."""
    return links.address(FINGERPRINTS.url_path, filters, **local(here, **changes))


def move(here: Here, **changes: str | None) -> None:
    """Change the page's own keys in the address; call it from a callback."""
    st.query_params.from_dict({**here.filters.to_query(), **local(here, **changes)})


def show(*content: Html | None, key: str) -> None:
    """Put a part of the page on it."""
    kit.show(el("div", *content, class_="stack prints"), key=key)


# --- empty -------------------------------------------------------------------------------------


def nothing(here: Here, form: Shape) -> Html:
    """Say what is missing, and what to do next."""
    name = here.entry.study.name
    judge = f"python -m atom run start --study {shlex.quote(name)}"
    if here.filters.active and len(here.data.table.sample):
        return kit.empty(
            "Nothing passes these filters",
            "Clear them to see the shapes of the whole study.",
            kit.button("Clear filters", to(here, here.filters.cleared), primary=True),
        )
    if not len(here.data.table.sample):
        return kit.empty(
            "This study has no answers yet",
            "A shape is made of scored answers. Let candidates answer, or import answers that you "
            "have.",
            commands.shown(here, judge),
        )
    if not form.facets and not here.data.table.leaves and here.data.has_process:
        return kit.empty(
            "No capabilities to draw a shape of",
            "The answers are scored, but the criteria belong to no tree and the samples carry no "
            "labels. Grow a tree from them.",
            commands.shown(here, f"python -m atom tree induce --study {shlex.quote(name)}"),
        )
    if not form.facets and not here.data.has_process:
        return kit.empty(
            "No labels to draw a shape of",
            "There are outcomes, but no label that groups the samples. Import them again with a "
            "column of skills or categories, or judge the answers.",
            commands.shown(here, judge),
        )
    return kit.empty(
        "Nothing is scored yet",
        "There are answers, but no judged checkpoints and no known outcomes. Judge them.",
        commands.shown(here, judge),
    )


# --- the top -----------------------------------------------------------------------------------


def facts(here: Here, statements: Sequence[Statement]) -> Html:
    """List what stands out, each sentence a door."""

    def href(one: Statement) -> str:
        page = _PAGES[one.page]
        if page == FINGERPRINTS.url_path:
            return to(here, one.filters, tab="apart")
        return links.address(page, one.filters)

    return el(
        "section",
        el("h2", "What stands out", class_="aside"),
        el("ul", [kit.fact(one.text, href(one)) for one in statements], class_="facts"),
    )


def tab_of(here: Here) -> str:
    """Return the chosen tab; the first where the address names none that there is."""
    asked = here.query.get("tab", "")
    return asked if asked in dict(TABS) else TABS[0][0]


def head(here: Here, title: Html, chosen: str) -> Html:
    """Draw the title with the page's tabs."""
    doors = [
        (words, to(here, here.filters, tab=None if tab == TABS[0][0] else tab), tab == chosen)
        for tab, words in TABS
    ]
    return el("div", title, kit.tabs(doors, label="Views of the fingerprints"), class_="topline")


def no_answers(here: Here) -> Html:
    """Say that nothing is known answer by answer."""
    if here.filters.active:
        return kit.empty(
            "Nothing passes these filters",
            "Clear them to see every answer.",
            kit.button("Clear filters", to(here, here.filters.cleared), primary=True),
        )
    return kit.empty(
        "Nothing to tell answer by answer",
        "This needs judged answers, or right and wrong answers of two models to the same samples.",
    )


def choices(here: Here, form: Shape, *, drawn: bool = True) -> Html:
    """Draw what is looked at: the measure, capabilities or labels, and whose shapes are drawn."""
    rows = [_measures(here), _groups(here, form)]
    tabs = [row for row in rows if row is not None]
    return el("div", el("div", tabs, class_="row extra") if tabs else None,
              picks(here, form) if drawn else None, class_="stack", style="gap:10px")  # fmt: skip


def _measures(here: Here) -> Html | None:
    data = here.data
    there = {
        "process": data.has_process,
        "outcome": data.has_outcome,
        "preference": data.has_preference,
    }
    if sum(there.values()) < 2:
        return None
    known = [measure for measure in _MEASURES if there[measure]]
    chosen = here.filters.measure if here.filters.measure in known else known[0]
    return kit.tabs(
        [
            (_MEASURES[one], to(here, here.filters.but(measure=one), facet=None), one == chosen)
            for one in known
        ],
        label="What is measured",
    )


def _groups(here: Here, form: Shape) -> Html | None:
    tabs: list[tuple[str, str, bool]] = []
    if form.measure == "process" and here.data.table.leaves:
        tabs.append(("Capabilities", to(here, here.filters, facet=None), form.facet is None))
    tabs += [
        (label_name(name), to(here, here.filters, facet=name), form.facet == name)
        for name in form.facets
    ]
    return kit.tabs(tabs[:_MOST_TABS], label="What shapes are made of") if len(tabs) > 1 else None


def picks(here: Here, form: Shape) -> Html:
    """Draw whose shapes are drawn: every model a door that adds it or takes it away."""
    drawn = form.drawn()
    doors = [_pick(here, form, form.names[one], drawn) for one in form.models]
    many = doors[24:]
    return el(
        "div",
        kit.quiet(f"Drawn (up to {MOST_DRAWN}):"),
        doors[:24],
        kit.fold(f"{len(many):,} more models", el("div", many, class_="picks")) if many else None,
        class_="picks",
    )


def _pick(here: Here, form: Shape, model: ShapeModel, drawn: Sequence[int]) -> Html:
    on = model.index in drawn
    rest = [one for one in drawn if one != model.index]
    after = rest if on else [*drawn[: MOST_DRAWN - 1], model.index]
    ids = [form.names[one].model_id for one in after]
    filters = here.filters.but(model=ids[0] if ids else None, peers=tuple(ids[1:]))
    place = list(drawn).index(model.index) if on else -1
    key = figures.key_svg(place, model.index) if on else el(
        "span", class_="dot", style=f"background:{kit.colour(model.index)}", aria_hidden="true"
    )  # fmt: skip
    if on:
        tip = "take it off the radars" + ("; the skill bars are its" if place == 0 else "")
    else:
        tip = "draw it, too" if len(drawn) < MOST_DRAWN else "draw it instead of the last one"
    return el(
        "a",
        key,
        el("span", numbers.middle(model.name, 26), class_="cut"),
        href=to(here, filters),
        data_go=True,
        class_="first" if place == 0 else None,
        aria_current="true" if on else None,
        data_tip=f"{model.name}: {tip}",
    )


# --- radars ------------------------------------------------------------------------------------


def radars(here: Here, form: Shape, items: Sequence[Radar]) -> Html:
    """Draw the radars side by side, with their numbers folded under them."""
    if not items:
        return el("p", "Nothing scored belongs to this tree.", class_="quiet")
    first = items[0]
    band = (
        el("span", el("i", class_="bandkey", aria_hidden="true"), first.band_words)
        if first.band_words
        else None
    )
    how = join(
        f"Scale 0–100, the rim of a radar is 100: {_VALUES[form.measure]}"
        f"{' of the checkpoints' if form.facet is None else ''}",
        join(", ", people_scale.word(here)) if form.measure == "process" else None,
        ". A name or a point opens the answers behind it.",
    )
    return el(
        "section",
        el("div", [_radar(here, form, one) for one in items], class_="radars"),
        kit.note(band, " · " if band else None, how),
        kit.fold(
            "The radars as a table, with intervals and n", *[_numbers(form, one) for one in items]
        ),
    )


def _radar(here: Here, form: Shape, radar: Radar) -> Html:
    left = (
        kit.note(f"{radar.left_out:,} more with less data aren’t drawn here.")
        if radar.left_out
        else None
    )
    return el(
        "div",
        el("h2", _radar_title(radar)),
        figures.draw_radar(radar, figures.SCREEN, _doors(form, radar)),
        left,
    )


def _radar_title(radar: Radar) -> str:
    """Say what a radar shows: where the chosen model lies farthest from the group's mean."""
    first = radar.models[0]
    gaps = [
        (abs(axis.marks[0].estimate.value - axis.middle), axis)
        for axis in radar.axes
        if axis.marks[0].estimate.known
    ]
    if radar.group < 2 or not gaps:
        return radar.title
    _, axis = max(gaps, key=lambda gap: gap[0])
    gap = axis.marks[0].estimate.value - axis.middle
    side = "above" if gap > 0 else "below"
    return (
        f"{radar.title}: {first.name} lies farthest from the mean on {axis.name}, "
        f"{abs(gap):.1f} {side} it"
    )


def _doors(form: Shape, radar: Radar) -> figures.Doors:
    def go(mark: Mark) -> str:
        return links.address(FAILURES.url_path, mark.filters)

    def axis_tip(axis: Axis) -> str:
        return (
            f"{axis.full}\nmean of the models {axis.middle:.1f}\n"
            f"opens {radar.models[0].name}'s {_listed(form, axis.marks[0])}"
            f"{judge_words(axis.judge)}"
        )

    def mark_tip(axis: Axis, mark: Mark) -> str:
        words = f"{form.names[mark.model].name}: {axis.full}\n{mark_words(form, mark)}"
        return words + judge_words(axis.judge)

    return figures.Doors(
        axis=lambda axis: go(axis.marks[0]), mark=go, axis_tip=axis_tip, mark_tip=mark_tip
    )


def judge_words(mark: JudgeMark | None) -> str:
    """Return a line about the judge for a tooltip; nothing where nothing is known."""
    return "" if mark is None else f"\n{mark.text}: {mark.tip}"


def named(one: Axis | Bar | HeatColumn, size: int = 34) -> Html:
    """Write a capability's name, with a glyph and a word where the judge misreads it."""
    name = el("span", numbers.middle(one.name, size), data_tip=one.full)
    if one.judge is None:
        return name
    tip = el("span", one.judge.text, class_="status weak small", data_tip=one.judge.tip)
    return join(name, " ", tip)


def judge_flaws(form: Shape, lab: str) -> Html | None:
    """Say on which branches the judge itself misreads; nothing where none is known."""
    if not form.judge_flaws:
        return None
    return kit.notice(
        join(
            [el("div", kit.strong(mark.text), f" {mark.tip}") for mark in form.judge_flaws],
            kit.door("How far can the judge be trusted?", lab),
        )
    )


def _listed(form: Shape, mark: Mark) -> str:
    return numbers.count(mark.listed, form.listed_unit)


def mark_words(form: Shape, mark: Mark) -> str:
    """Say what a mark shows, and what its door opens when that is more than n."""
    estimate = mark.estimate
    n = (
        f"{numbers.interval(estimate)}\nn {numbers.count(estimate.n, form.unit)} of "
        f"{numbers.count(estimate.samples, 'sample')}"
    )
    if form.unit == form.listed_unit and mark.listed == estimate.n:
        return n
    without = mark.listed - estimate.n
    extra = f" ({without:,} without a score or set aside)" if form.unit == form.listed_unit else ""
    return f"{n}\nthe list behind it holds {_listed(form, mark)}{extra}"


def _numbers(form: Shape, radar: Radar) -> Html:
    return kit.grid(
        radar.axes,
        kit.Column[Axis](radar.title, named),
        *kit.each(
            range(len(radar.models)),
            lambda at: kit.model(radar.models[at].name, radar.models[at].index),
            lambda axis, at: _number(form, axis.marks[at]),
        ),
        kit.number("All models", lambda axis: numbers.score(axis.middle)),
        label=f"{radar.title}: values",
    )


def _number(form: Shape, mark: Mark) -> Html:
    estimate = mark.estimate
    if not estimate.known:
        return kit.quiet(numbers.NONE)
    return el(
        "a",
        numbers.interval(estimate),
        kit.small(f"  n {estimate.n:,}"),
        href=links.address(FAILURES.url_path, mark.filters),
        data_go=True,
        class_="cell",
        data_tip=mark_words(form, mark),
    )


# --- skill bars --------------------------------------------------------------------------------


def skills(here: Here, form: Shape, view: Bars) -> Html:
    """Draw the skill bars of the chosen model, the surest evidence first."""
    what = "Capability" if form.facet is None else label_name(form.facet)
    framed = view.frame is not None
    axis = el("span", el("span", "0"), el("span", f"│ {_held_words(view)}"),
              el("span", "100"), class_="axis")  # fmt: skip

    def table(bars: Sequence[Bar], label: str) -> Html:
        return kit.grid(
            bars,
            kit.Column("Evidence", partial(_claimed, view), width="150px", when=framed),
            kit.Column(what, partial(_skill, form)),
            kit.Column(
                axis,
                lambda bar: kit.cell(
                    _skill_bar(bar, view), _behind(bar), tip=_tip(form, bar), tabindex="-1"
                ),
                width="30%",
            ),
            kit.number(
                "Score" if form.measure == "process" else "%",
                lambda bar: numbers.score(bar.mark.estimate.value),
            ),
            kit.number("Departure, points", _departure, broad=True, when=framed),
            kit.number("n", lambda bar: kit.quiet(f"{bar.mark.estimate.n:,}")),
            label=label,
        )

    label = f"Skills of {view.model.name}"
    more = view.rows[_SHOWN:]
    return kit.section(_skills_title(view),
        table(view.rows[:_SHOWN], label),
        kit.fold(f"{len(more):,} more, with less evidence" if framed else f"{len(more):,} more",
                 table(more, f"{label}: the rest"))
        if more
        else None,
        kit.note(*_how(view, form),
            join(" Scores: ", people_scale.word(here), ".") if form.measure == "process" else None,
            style="margin-top:8px",
        ),
    )  # fmt: skip


def _skills_title(view: Bars) -> Html:
    name = kit.model(view.model.name, view.model.index)
    if not view.frame:
        return join("Skills of", name)
    kinds = [bar.claim.label for bar in view.rows if bar.claim is not None]
    said = [
        numbers.count(kinds.count("confirmed"), "confirmed weakness", "confirmed weaknesses"),
        f"{kinds.count('suspected')} suspected",
        numbers.count(kinds.count("strength"), "strength"),
    ]
    nothing = set(kinds) <= {"nothing found", "insufficient"}
    words = "nothing that stands out surely" if nothing else ", ".join(said)
    return join("Skills of", name, f"– {words}")


def _held_words(view: Bars) -> str:
    """Name what the line in each bar is: what the number beside it is held against."""
    if view.frame is None:
        return "the others' mean"
    return "expected from peers" if view.frame == "peer" else "expected from its other scores"


def _unsure(claim: NodeEvidence, view: Bars) -> Html | None:
    """Say why a departure whose interval leaves zero out is no finding."""
    if claim.label != "nothing found" or not (claim.lo > 0 or claim.hi < 0):
        return None
    words = f"not surely beyond {view.margin:g} points in {view.looks:,} looks"
    return kit.under(words)


def _behind(bar: Bar) -> str:
    return links.address(FAILURES.url_path, bar.mark.filters)


def _tip(form: Shape, bar: Bar) -> str:
    tip, claim = f"{bar.full}\n{mark_words(form, bar.mark)}", bar.claim
    if claim is not None:
        more = more_words(claim)
        tip += f"\n{claim.glyph} {claim.words}: {claim_words(claim, form.facet)}"
        tip += f"\n{frame_words(claim)}" + (f"\n{more}" if more else "")
    return tip + judge_words(bar.judge)


def _claimed(view: Bars, bar: Bar) -> Html | None:
    claim = bar.claim
    if claim is None:
        return None
    kind = {"confirmed": "weak", "suspected": "weak", "strength": "strong-at"}
    glyph = el("span", claim.glyph, class_="glyph", aria_hidden="true")
    quiet = "" if claim.label in kind else " quiet"
    status = el("span", glyph, claim.words, class_=f"status {kind.get(claim.label, '')}{quiet}")
    return join(status, _unsure(claim, view))


def _skill(form: Shape, bar: Bar) -> Html:
    name = kit.door(numbers.middle(bar.name, 34), _behind(bar), tip=_tip(form, bar))
    if bar.judge is None:
        return name
    doubt = el("div", bar.judge.text, class_="status weak small", data_tip=bar.judge.tip)
    return join(name, doubt)


def _departure(bar: Bar) -> str:
    claim = bar.claim
    return numbers.signed_interval(claim.effect, claim.lo, claim.hi) if claim else numbers.NONE


def _skill_bar(bar: Bar, view: Bars) -> Html:
    estimate, ink = bar.mark.estimate, kit.colour(view.model.index)

    def at(value: float) -> str:
        return f"{min(max(value, 0), 100):.2f}%"

    parts = [el("line", class_="track", x1="0", x2="100%", y1="8", y2="8")]
    words = "no value"
    if estimate.known:
        parts.append(el("line", class_="span", x1=at(estimate.lo), x2=at(estimate.hi), y1="8",
                        y2="8", stroke=ink))  # fmt: skip
        parts.append(el("circle", cx=at(estimate.value), cy="8", r="4.5", fill=ink))
        words = numbers.interval(estimate)
    if not math.isnan(bar.held):
        parts.append(el("line", class_="peer", x1=at(bar.held), x2=at(bar.held), y1="0", y2="16"))
        words += f"; {_held_words(view)} {bar.held:.1f}"
    return el("svg", parts, class_="bar skill", role="img", aria_label=words)


def _how(view: Bars, form: Shape) -> list[Html | str]:
    if view.selected:
        return [
            f"Only {view.selected} are looked at: nothing is claimed, and the order is the tree's."
        ]
    if view.frame is None:
        return ["Nothing is claimed."]
    same = "criteria" if form.facet is None else "questions"
    if view.frame == "peer":
        against: list[Html | str] = [
            f"what the other models' scores on the same {same} predict (",
            kit.term("peer frame"),
            ")",
        ]
    else:
        rest = "criteria" if form.facet is None else "answers"
        against = [f"the rest of the model's own {rest} (", kit.term("own frame"), ", ",
                   kit.term("confounded with difficulty"), ")"]  # fmt: skip
    return [
        "Sorted by evidence, not by size: ▼ ",
        kit.term("confirmed weakness", "confirmed weakness"),
        ", ▽ ",
        kit.term("suspected weakness", "suspected"),
        ", ▲ ",
        kit.term("strength"),
        ", · nothing found, ○ ",
        kit.term("insufficient"),
        ". Held against ",
        *against,
        f"; a departure counts beyond {view.margin:g} points, ",
        kit.term("false discovery rate"),
        f" {numbers.share(view.q)}. A name opens the answers behind it.",
    ]
