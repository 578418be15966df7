"""What the papers print of the models that they examined, and where a judge stands among them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from atom.display import numbers
from atom.judgebench.published import Erratum, PrintedFigure, PrintedPlace
from atom.ui import kit
from atom.ui.html import Child, Html, el, join
from atom.views.judges.figures import (
    estimate,
)
from atom.views.lab.page import (
    PaperCheck,
    checked,
    places,
)


def among(found: Sequence[PrintedPlace], judge: str, *, synthetic: bool) -> Html:
    """Draw where a judge would stand among the papers' models."""
    if not found:
        return Html("")
    caveat = (
        "This set was made from probes: its items aren't the paper's, and are easier or harder in "
        "ways of their own. The place is shown greyed and means nothing about rank."
        if synthetic
        else "Only as far as your files are the paper's items, asked the same way: prompts, number "
        "of votes and order differ from paper to paper."
    )
    drawn = join(
        kit.note(caveat, style="margin-bottom:6px"),
        [_place(one, judge, synthetic=synthetic) for one in found],
    )
    if synthetic:
        return kit.fold("Among the papers’ models (greyed: this isn’t their data)", drawn)
    return kit.section("Among the papers’ models", drawn)


def _place(found: PrintedPlace, judge: str | None, *, synthetic: bool = False) -> Html:
    head = found.headline
    rank = ""
    if judge is not None and found.ours is not None and found.rank is not None:
        ends = found.ranks
        words = numbers.rank(*ends) if ends else str(found.rank)
        rule = f", {found.ours.rule}" if found.ours.rule else ""
        rank = f"here {estimate(found.ours)}{rule}: place {words} of {len(found.models) + 1:,}"
    about = f"{head.table}{', ' + head.data if head.data else ''}"
    title = el(
        "div",
        kit.strong(head.label),
        kit.small(about),
        el("span", rank, class_="quiet small" if synthetic else "small") if rank else None,
        kit.badge("NOT THEIR DATA") if synthetic and rank else None,
        class_="row",
    )
    return el(
        "div",
        title,
        strip(found, judge, synthetic=synthetic),
        kit.fold(
            f"{len(found.models):,} models as printed",
            ranking(found, judge, synthetic=synthetic),
        ),
        class_="lab-place",
    )


def strip(found: PrintedPlace, judge: str | None, *, synthetic: bool = False) -> Html:
    """Draw the papers' models on a line, and the judge among them."""
    ours = found.ours if judge is not None else None
    values = [one.value for one in found.models]
    chance = ours.chance if ours else math.nan
    marks = [v for v in (*values, *((ours.value, ours.lo, ours.hi) if ours else ()), chance)
             if not math.isnan(v)]  # fmt: skip
    if not marks:
        return Html("")
    room = 0.04 * (max(marks) - min(marks) or 1)
    lo = max(min(marks) - room, found.headline.lo)
    hi = min(max(marks) + room, found.headline.hi)

    def at(value: float) -> str:
        return f"{2 + 96 * min(max((value - lo) / (hi - lo or 1), 0), 1):.2f}%"

    pieces = [el("line", class_="track", x1="0", x2="100%", y1="14", y2="14")]
    if not math.isnan(chance):
        pieces.append(el("line", class_="chance", x1=at(chance), x2=at(chance), y1="3", y2="25"))
    for one in found.models:
        words = f"{one.model} {_printed(one, found)}"
        if one.errata:
            words += "\nerratum: " + "; ".join(e.words for e in one.errata)
        pieces.append(
            el("circle", class_="doubted" if one.errata else "theirs", cx=at(one.value), cy="14",
               r="4.5", data_tip=words)
        )  # fmt: skip
    if ours is not None and not math.isnan(ours.value):
        class_ = "ours probes" if synthetic else "ours"
        if not math.isnan(ours.lo) and not math.isnan(ours.hi):
            pieces.append(el("line", class_=f"{class_} span", x1=at(ours.lo), x2=at(ours.hi),
                             y1="14", y2="14"))  # fmt: skip
        pieces.append(
            el("line", class_=f"{class_} mid", x1=at(ours.value), x2=at(ours.value), y1="4",
               y2="24", data_tip=f"{judge} {estimate(ours)}")
        )  # fmt: skip
    label = (
        f"{len(found.models):,} models of the paper from {min(values, default=math.nan):.1f} to "
    )
    label += f"{max(values, default=math.nan):.1f}"
    if ours is not None and judge is not None:
        label += f"; {judge} at {estimate(ours)}"
    ends = el(
        "div",
        [
            el("span", f"{one.model} {_printed(one, found)}", class_="text")
            for one in reversed(found.models[:: max(len(found.models) - 1, 1)])
        ],
        class_="axis small quiet",
    )
    return el(
        "div",
        el("svg", pieces, class_="bar strip", role="img", aria_label=label),
        ends,
    )


def _printed(one: PrintedFigure, found: PrintedPlace) -> str:
    return numbers.plain(one.value, 2 if found.headline.unit == "points" else 1)


def ranking(found: PrintedPlace, judge: str | None, *, synthetic: bool = False) -> Html:
    """Draw the papers' models as a list, the judge at its place, errata with both values."""
    lines: list[PrintedFigure | None] = [*found.models]
    if judge is not None and found.ours is not None and found.rank is not None:
        lines.insert(found.rank - 1, None)
    number = {id(one): str(place) for place, one in enumerate(found.models, start=1)}
    class_ = "quiet text" if synthetic else "strong text"
    ours = str(estimate(found.ours)) if found.ours is not None else None

    def of(
        theirs: Callable[[PrintedFigure], Child], here: Child
    ) -> Callable[[PrintedFigure | None], Child]:
        """Fill a column: what it has of a paper's model, and of the judge."""
        return lambda one: here if one is None else theirs(one)

    return kit.grid(
        lines,
        kit.number("", of(lambda one: number[id(one)], "")),
        kit.MarkupColumn(
            "Model",
            of(lambda one: el("span", one.model, class_="text"), el("span", judge, class_=class_)),
        ),
        kit.MarkupColumn(
            "Group",
            of(
                lambda one: kit.quiet(one.group.replace("_", " ")),
                kit.quiet("here, on probes" if synthetic else "here"),
            ),
            broad=True,
        ),
        kit.number(
            "Printed", of(lambda one: _printed(one, found), el("span", ours, class_=class_))
        ),
        kit.MarkupColumn(
            kit.term("erratum", "Erratum"),
            of(
                lambda one: _errata(one.errata),
                kit.small("not their data") if synthetic else "",
            ),
        ),
        label=f"{found.headline.label} as printed",
        on=lambda one: one is None,
    )


def _errata(errata: Sequence[Erratum]) -> Html | str:
    if not errata:
        return ""
    words = "; ".join(dict.fromkeys(one.words for one in errata))
    return el("span", el("span", "! ", aria_hidden="true"), words, class_="small")


def printed(title: str, found: Sequence[PrintedPlace]) -> Html:
    """Draw one benchmark's printed figures."""
    return kit.section(
        title,
        [_place(one, None) for one in found],
    )


def doubts(found: Sequence[PaperCheck]) -> Html:
    """Draw what doesn't agree within the papers, and the rules that found it."""
    folds = []
    for paper in found:
        contradicted = numbers.count(len(paper.errata), "figure")
        folds.append(
            kit.fold(f"{paper.paper}: {contradicted} that another one contradicts", _wrong(paper))
        )
        folds.append(
            kit.fold(
                f"{paper.paper}: the {len(paper.identities):,} rules that were checked",
                _identities(paper),
            )
        )
    return kit.section(
        "Where the papers’ own figures disagree",
        kit.note(
            "A hollow dot above is a figure that another one contradicts; both values stand "
            "beside it. Some may be damage of the text that we have, not of the paper."
        ),
        folds,
    )


def _wrong(paper: PaperCheck) -> Html:
    return kit.grid(
        paper.errata,
        kit.MarkupColumn("Table", lambda one: one.table),
        kit.MarkupColumn(
            "What",
            lambda one: el("span", one.item.removeprefix("range "), class_="text"),
            width="40%",
        ),
        kit.number("Printed", lambda one: f"{one.printed:g}".replace("-", "−")),
        kit.number("Other", lambda one: f"{round(one.recomputed, 4):g}".replace("-", "−")),
        kit.MarkupColumn("Where the other is from", _other),
        label=f"Errata of {paper.paper}",
    )


def _other(one: Erratum) -> Html:
    where = one.comment.replace("recomputed = ", "printed in ")
    return kit.small(where or "recomputed from the paper’s other figures")


_KINDS = {
    "exact": "the paper’s definition",
    "cross": "one figure printed twice",
    "text": "prose against a table",
    "inferred": "a rule that no paper states",
}


def _identities(paper: PaperCheck) -> Html:
    return kit.grid(
        paper.identities,
        kit.MarkupColumn("Rule", lambda one: el("span", one.words, class_="text"), width="60%"),
        kit.MarkupColumn("What kind", lambda one: kit.quiet(_KINDS.get(one.kind, one.kind))),
        kit.number("Holds", lambda one: f"{one.holds:,} of {one.checked:,}"),
        label=f"Rules checked in {paper.paper}",
    )


def draw() -> None:
    """Draw the tab of what the papers print."""
    titles = {
        "vl_rewardbench": "VL-RewardBench",
        "multi_crit": "Multi-Crit",
        "mm_critic": "MM-CRITIC",
        "critic_bench": "CriticBench",
    }
    kit.show(
        el(
            "div",
            el("p", "What the papers print of the models that they examined, right or wrong. Your "
               "own judge stands among them on a benchmark's tab.", class_="quiet"),
            [printed(title, places(name)) for name, title in titles.items()],
            doubts(checked()),
            class_="stack",
        ),
        key="lab_published",
    )  # fmt: skip
