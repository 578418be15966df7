"""Fingerprints as radars, with their numbers and the doors of each mark."""

from __future__ import annotations

from collections.abc import Sequence

from atom.display import numbers
from atom.ui import kit, links
from atom.ui.fingerprints.place import VALUES
from atom.ui.html import Html, el, join
from atom.ui.pages import FAILURES
from atom.ui.people import scale as people_scale
from atom.ui.shell.frame import Here
from atom.views import figures
from atom.views.fingerprints.bars import SkillBar
from atom.views.fingerprints.heat import HeatColumn
from atom.views.fingerprints.radar import Radar, RadarAxis
from atom.views.fingerprints.shape import Shape, ShapeMark
from atom.views.lab.judge_marks import JudgeMark


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
        f"Scale 0–100, the rim of a radar is 100: {VALUES[form.measure]}"
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


def _doors(form: Shape, radar: Radar) -> figures.FigureDoors:
    def go(mark: ShapeMark) -> str:
        return links.address(FAILURES.url_path, mark.filters)

    def axis_tip(axis: RadarAxis) -> str:
        return (
            f"{axis.full}\nmean of the models {axis.middle:.1f}\n"
            f"opens {radar.models[0].name}'s {_listed(form, axis.marks[0])}"
            f"{judge_words(axis.judge)}"
        )

    def mark_tip(axis: RadarAxis, mark: ShapeMark) -> str:
        words = f"{form.names[mark.model].name}: {axis.full}\n{mark_words(form, mark)}"
        return words + judge_words(axis.judge)

    return figures.FigureDoors(
        axis=lambda axis: go(axis.marks[0]), mark=go, axis_tip=axis_tip, mark_tip=mark_tip
    )


def judge_words(mark: JudgeMark | None) -> str:
    """Return a line about the judge for a tooltip; nothing where nothing is known."""
    return "" if mark is None else f"\n{mark.text}: {mark.tip}"


def named(one: RadarAxis | SkillBar | HeatColumn, size: int = 34) -> Html:
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


def _listed(form: Shape, mark: ShapeMark) -> str:
    return numbers.count(mark.listed, form.listed_unit)


def mark_words(form: Shape, mark: ShapeMark) -> str:
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
        kit.MarkupColumn[RadarAxis](radar.title, named),
        *kit.each(
            range(len(radar.models)),
            lambda at: kit.model(radar.models[at].name, radar.models[at].index),
            lambda axis, at: _number(form, axis.marks[at]),
        ),
        kit.number("All models", lambda axis: numbers.score(axis.middle)),
        label=f"{radar.title}: values",
    )


def _number(form: Shape, mark: ShapeMark) -> Html:
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
