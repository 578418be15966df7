"""What the Judge lab shows: sets, figures beside their chance levels, and the papers' models."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from atom.display import numbers, writers
from atom.display.table import Table
from atom.engine.bench.judging import BenchForecast
from atom.judgebench.base import Bench, BenchResult, MetricRow, MetricTable
from atom.judgebench.items import group_of
from atom.judgebench.published import Erratum, Figure, Place
from atom.records import BenchSet
from atom.ui import kit, links
from atom.ui.html import Child, Html, el, join
from atom.ui.pages import JUDGE_LAB
from atom.views.filters import Filters
from atom.views.judges import figures
from atom.views.judges.figures import (
    HEADLINE,
    Told,
    chance,
    estimate,
    group_words,
    of_judges,
    of_table,
)
from atom.views.lab.page import (
    CHANCE_WORDS,
    BoardLine,
    Checked,
    Preview,
    Scale,
    Standing,
    against_chance,
    board,
    scale_of,
)
from atom.views.runs.page import money
from atom.views.stores import OpenStore

_MOST_ROWS, _LEAST_LINES = 18, 3
"""Rows of the headline table that stand open, and figures of which that many do at least."""
MOST_LINES = 40
"""Lines of a list of skips that are drawn; the rest is counted."""


@dataclass(frozen=True, kw_only=True)
class LabContext:
    """What a benchmark's tab looks at; handed to a benchmark's own drawing.

    Attributes:
        store: the store that holds the set.
        bench: the benchmark.
        filters: the study's chain, kept in addresses.
        judges: who has verdicts on the set.
        chosen: the judge that is looked at; None where nobody has any.
        results: every judge's figures, by the judge's id.
        groups: the names of figures whose items can be listed.
    """

    store: OpenStore
    bench: Bench
    record: BenchSet
    filters: Filters
    judges: tuple[Standing, ...] = ()
    chosen: Standing | None = None
    results: Mapping[str, BenchResult]
    groups: frozenset[str] = frozenset()

    @property
    def result(self) -> BenchResult | None:
        """The chosen judge's figures."""
        return self.results.get(self.chosen.judge) if self.chosen else None

    def address(self, who: str | None = None) -> str:
        """Return the tab's address with this set and a judge; with the chosen one if None."""
        judge = who or (self.chosen.judge if self.chosen else None)
        return set_address(self.filters, self.record, judge)


def set_address(filters: Filters, record: BenchSet, judge: str | None = None) -> str:
    """Return the address of a set, with a judge."""
    return links.address(
        JUDGE_LAB.url_path, filters, tab=record.benchmark, set=record.id[:12], who=judge
    )


ALL_ITEMS: Final = "all"
"""The group of an address that means every item."""


def items_address(lab: LabContext, group: str, who: str = "") -> str:
    """Return the address of the items behind a figure.

    Args:
        group: the figure's items, as `judgebench.items.group_of` names them.
        who: the judge; the chosen one if empty.
    """
    return links.address(
        JUDGE_LAB.url_path,
        lab.filters,
        tab=lab.record.benchmark,
        set=lab.record.id[:12],
        who=who or (lab.chosen.judge if lab.chosen else None),
        group=group or ALL_ITEMS,
    )


@dataclass(frozen=True, kw_only=True)
class LabTab:
    """One of the page's tabs: its title, and the parts in it as (key, title)."""

    title: str
    parts: tuple[tuple[str, str], ...]


def tabs(choices: Sequence[LabTab], chosen: str, filters: Filters) -> Html:
    """Draw the page's tabs and, below, the parts of the one that is open.

    Args:
        choices: the tabs; each opens its first part.
        chosen: the part that is open.
        filters: the study's chain, kept in addresses.
    """

    def to(key: str) -> str:
        return links.address(JUDGE_LAB.url_path, filters, tab=key)

    opened = next(tab for tab in choices if chosen in dict(tab.parts))
    return join(
        kit.tabs([(tab.title, to(tab.parts[0][0]), tab is opened) for tab in choices],
                 label="Judge lab"),
        kit.tabs([(title, to(key), key == chosen) for key, title in opened.parts],
                 label=opened.title)
        if len(opened.parts) > 1
        else None,
    )  # fmt: skip


# --- sets -----------------------------------------------------------------------------------------


def no_sets(bench: Bench) -> Html:
    """Say what a benchmark asks, and that there is nothing to ask it on."""
    return kit.empty(
        f"No {bench.title} data yet",
        "Make some from probes, offline and with known truth, or read the files that you have "
        "downloaded. Both stay in your own store.",
    )


def set_line(record: BenchSet, filters: Filters, others: Sequence[BenchSet]) -> Html:
    """Draw which set is looked at, and doors to the others."""
    facts = [numbers.count(record.n_items, "item"), made_of(record), record.created[:10]]
    head = el(
        "div",
        el("h2", record.name, class_="text", style="margin:0"),
        kit.synthetic_badge() if record.synthetic else None,
        kit.small(" · ".join(fact for fact in facts if fact)),
        class_="row",
    )
    doors = [
        el("span", kit.door(numbers.middle(one.name, 44), set_address(filters, one)),
           kit.quiet(f" {one.n_items:,}"))
        for one in others if one.id != record.id
    ]  # fmt: skip
    more = el("div", "Other sets: ", doors, class_="row small") if doors else None
    notes = [
        kit.fold(
            f"{numbers.count(len(record.skipped), 'line')} about what was left out",
            lines(record.skipped),
        )
        if record.skipped
        else None,
        kit.fold("What to know about these files", lines(record.notes)) if record.notes else None,
    ]
    return el("div", head, more, [note for note in notes if note], class_="stack", style="gap:6px")


def made_of(record: BenchSet) -> str:
    """Say where a set is from."""
    if record.synthetic:
        return "made from probes"
    names = ", ".join(record.sources[:3])
    more = f" and {len(record.sources) - 3:,} more" if len(record.sources) > 3 else ""
    return f"from {names}{more}" if names else ""


def lines(texts: Sequence[str]) -> Html:
    """Draw lines of a report; file content, escaped."""
    rest = len(texts) - MOST_LINES
    more = [el("li", f"and {rest:,} more", class_="quiet")] if rest > 0 else []
    return kit.lines(texts[:MOST_LINES], more)


def preview(found: Preview) -> Html:
    """Draw what would come of files."""
    said: list[Child] = [
        el("p", f"{numbers.count(found.items, 'item')} can be taken in.", class_="strong")
        if found.items
        else el("p", "No item can be read.", class_="strong"),
    ]
    if found.without_picture:
        names = ", ".join(found.missing)
        words = (
            f"{numbers.count(found.without_picture, 'item')} without a picture: {names}. Name the "
            "folder that holds them; without it these items can't be asked about."
        )
        said.append(el("p", words, class_="text"))
    if found.skipped:
        title = f"{numbers.count(len(found.skipped), 'line')} about what is left out, and why"
        said.append(kit.fold(title, lines(found.skipped), opened=not found.items))
    if found.notes:
        said.append(kit.fold("What to know about these files", lines(found.notes), opened=True))
    if found.fields:
        pairs = [(el("dt", name), el("dd", text, class_="text")) for name, text in found.fields]
        listed = el("dl", pairs, class_="pairs small")
        said.append(kit.fold("The first item as it was read", listed))
    return el("div", said, class_="stack", style="gap:6px")


# --- figures --------------------------------------------------------------------------------------


def figure_bar(row: MetricRow, scale: Scale, place: int) -> Html:
    """Draw a figure with its interval, and the level of guessing as a dashed mark."""
    if scale is None or math.isnan(row.value):
        return kit.quiet(numbers.NONE if math.isnan(row.value) else "")
    lo, hi = scale

    at = kit.along(lo, hi)

    ink = kit.colour(place)
    pieces = [el("line", class_="track", x1="0", x2="100%", y1="9", y2="9")]
    words = str(estimate(row))
    if not math.isnan(row.chance):
        pieces.append(
            el("line", class_="chance", x1=at(row.chance), x2=at(row.chance), y1="0", y2="18")
        )
        words += f"; guessing gives {chance(row)}"
    if not math.isnan(row.lo) and not math.isnan(row.hi):
        pieces.append(
            el("line", class_="span", x1=at(row.lo), x2=at(row.hi), y1="9", y2="9", stroke=ink)
        )
    pieces.append(
        el("line", class_="mid", x1=at(row.value), x2=at(row.value), y1="2", y2="16", stroke=ink)
    )
    return el("svg", pieces, class_="bar lab", role="img", aria_label=words)


def _value(row: MetricRow) -> Html:
    one = estimate(row)
    return join(
        kit.strong(one.text),
        kit.small(f" ({one.ends})") if one.ends else None,
    )


def _chance(row: MetricRow) -> Html:
    if math.isnan(row.chance):
        return kit.quiet(numbers.NONE, data_tip="Guessing has no level here.")
    against = against_chance(row)
    words = CHANCE_WORDS[against]
    glyph = {"below": "▼ ", "level": "○ "}.get(against, "")
    if not words:
        return el("span", chance(row).text)
    return join(
        el(
            "span",
            el("span", glyph, aria_hidden="true"),
            words,
            class_="small quiet lab-words",
            data_tip=_CHANCE_TIPS[against],
        ),
        f" {chance(row)}",
    )


_CHANCE_TIPS = {
    "level": "Its interval holds what a judge that flips coins would reach: it can't be told "
    "apart from guessing.",
    "below": "A judge that flips coins would do better.",
}

_RULES = {
    "strict": "an unread reply counts as wrong",
    "readable only": "unread replies are left out",
    "released": "as the released code counts",
}


def headline(lab: LabContext) -> Html:
    """Draw the headline figures of all judges side by side."""
    lines_ = board(lab.results)
    if not lines_:
        return Html("")
    names = {one.judge: one.name for one in lab.judges}
    shown = max(_LEAST_LINES, _MOST_ROWS // max(len(lab.judges), 1))
    scales = {id(row): scale_of(list(line.cells.values()))
              for line in lines_ for row in line.cells.values()}  # fmt: skip

    def drawn(some: Sequence[BoardLine]) -> Html:
        return _drawn(lab, of_judges([line.cells for line in some], names), scales)

    return join(
        drawn(lines_[:shown]),
        kit.fold(
            f"{numbers.count(len(lines_) - shown, 'more figure')} of every judge",
            drawn(lines_[shown:]),
        )
        if len(lines_) > shown
        else None,
    )


def _drawn(lab: LabContext, table: Table[Told], scales: Mapping[int, Scale]) -> Html:
    """Draw figures with their bars, and the doors to what is behind them.

    Args:
        table: the figures.
        scales: the ends of each figure's scale, by the identity of its row.
    """
    place = {one.judge: number for number, one in enumerate(lab.judges)}
    chosen = lab.chosen.judge if lab.chosen is not None else None

    def judge(one: Told, text: str) -> Html:
        name = kit.model(numbers.middle(text, 30), place[one.judge], full=text)
        return kit.cell(name, lab.address(one.judge))

    def once(one: Told, text: str) -> Child:
        return "" if one.again else el("span", text, class_="text", data_tip=one.row.note or None)

    cells: dict[str, Callable[[Told, str], Child]] = {
        figures.FIGURE: once,
        figures.OF: lambda one, text: "" if one.again else el("span", text, class_="text"),
        figures.JUDGE: judge,
        figures.BAR: lambda one, _: figure_bar(one.row, scales[id(one.row)], place[one.judge]),
        figures.VALUE: lambda one, _: _value(one.row),
        figures.GUESSING: lambda one, _: _chance(one.row),
        figures.N: lambda one, text: _n(lab, one, text),
        figures.COUNTING: lambda one, text: el("span", text, data_tip=_RULES.get(text)),
    }
    several = len({one.judge for one in table.rows}) > 1
    return kit.drawn(table, cells=cells, on=lambda one: several and one.judge == chosen)


def answer(lab: LabContext) -> Html:
    """Say in a sentence how the chosen judge did."""
    result, judge = lab.result, lab.chosen
    if result is None or judge is None:
        return el("p", "Nobody has judged this set yet. Ask a judge below, or take in replies that "
                  "you have.", class_="quiet")  # fmt: skip
    first = next((row for row in result.headline if not math.isnan(row.value)), None)
    if first is None:
        return el("p", el("span", judge.name, class_="strong text"),
                  " has no reply that could be read yet: ",
                  f"{judge.unscored:,} unread, {judge.failed:,} failed.")  # fmt: skip
    against = against_chance(first)
    verdict = {
        "above": " is better than guessing",
        "level": " can't be told apart from guessing",
        "below": " is worse than guessing",
        "unknown": " has a first figure",
    }[against]
    level = "" if math.isnan(first.chance) else f"; guessing gives {chance(first)}"
    group = f", {group_words(first.group)}," if first.group else ""
    facts = [
        f"{_lower(first.label)}{group} {estimate(first)}{level}",
        f"n = {first.n:,}",
        f"{numbers.count(judge.unscored, 'reply', 'replies')} unread" if judge.unscored else "",
        f"{judge.failed:,} failed" if judge.failed else "",
    ]
    missing = (
        f" {numbers.count(result.missing, 'item')} of {result.items:,} have no verdict yet."
        if result.missing
        else ""
    )
    return el(
        "p",
        el("span", judge.name, class_="strong text"),
        verdict,
        ": ",
        ", ".join(fact for fact in facts if fact),
        ".",
        missing,
        " Its replies were made elsewhere." if judge.imported else None,
    )


def _lower(text: str) -> str:
    """Begin a label small within a sentence, unless it begins with a name such as `PAcc`."""
    return text[0].lower() + text[1:] if text[1:2].islower() else text


def tables(lab: LabContext) -> Html:
    """Draw the chosen judge's further tables, each with its CSV."""
    result, judge = lab.result, lab.chosen
    if result is None or judge is None or not result.tables:
        return Html("")
    return el(
        "section",
        el("h2", f"{judge.name} in detail", class_="text"),
        [_table(lab, one, judge, opened=not number) for number, one in enumerate(result.tables)],
    )


def _n(lab: LabContext, one: Told, text: str) -> Html:
    """Write how many items a figure is of, as a door to them."""
    group = group_of(one.row, "" if one.table == HEADLINE else one.table)
    if not one.row.n or group not in lab.groups:
        return kit.quiet(text)
    return kit.door(text, items_address(lab, group, who=one.judge), tip="Open these items")


def _table(lab: LabContext, table: MetricTable, judge: Standing, *, opened: bool) -> Html:
    values = of_table(table, judge.judge, judge.name)
    by_unit = {row.unit: scale_of([one for one in table.rows if one.unit == row.unit])
               for row in table.rows}  # fmt: skip
    scales = {id(row): by_unit[row.unit] for row in table.rows}
    stem = f"{judge.name}-{table.title}".lower()
    name = "".join(c if c.isascii() and c.isalnum() else "-" for c in stem)[:80].strip("-")
    return kit.fold(
        f"{table.title} ({len(table.rows)})",
        el("p", kit.told(table.note), class_="note text") if table.note else None,
        _drawn(lab, values, scales)
        if table.rows
        else el("p", "Nothing to show yet.", class_="quiet"),
        kit.csv_link(writers.csv(values), f"{name}.csv"),
        opened=opened,
    )


def matrix(title: str, head: Html, rows: Sequence[Html]) -> Html:
    """Draw a grid of cells that carry their own style, under its title."""
    return el(
        "div",
        el("p", title, class_="strong", style="margin:0;padding:4px 0"),
        el("table", el("thead", head), el("tbody", rows), aria_label=title,
           style="border-collapse:collapse"),
        style="overflow-x:auto",
    )  # fmt: skip


# --- asking ---------------------------------------------------------------------------------------


def forecast(found: BenchForecast, offline: bool) -> Html:
    """Draw what a run would ask and cost."""
    if not sum(found.calls.values()):
        if found.later:
            return kit.notice("All first questions are answered; what they need scored is left.")
        return kit.notice("Nothing is left to ask: every verdict of this kind is there already.")
    calls = ", ".join(
        f"{numbers.count(n, 'call')} to {name}" for name, n in found.calls.items() if n
    )
    price = "free, offline" if offline else money(found.cost)
    later = " What it writes is then scored, which comes on top." if found.later else ""
    return el(
        "p",
        kit.strong(f"{numbers.count(found.items, 'item')}: {calls}, {price}."),
        kit.quiet(later),
    )


# --- the papers' models ---------------------------------------------------------------------------


def among(found: Sequence[Place], judge: str, *, synthetic: bool) -> Html:
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


def _place(found: Place, judge: str | None, *, synthetic: bool = False) -> Html:
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


def strip(found: Place, judge: str | None, *, synthetic: bool = False) -> Html:
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


def _printed(one: Figure, found: Place) -> str:
    return numbers.plain(one.value, 2 if found.headline.unit == "points" else 1)


def ranking(found: Place, judge: str | None, *, synthetic: bool = False) -> Html:
    """Draw the papers' models as a list, the judge at its place, errata with both values."""
    lines: list[Figure | None] = [*found.models]
    if judge is not None and found.ours is not None and found.rank is not None:
        lines.insert(found.rank - 1, None)
    number = {id(one): str(place) for place, one in enumerate(found.models, start=1)}
    class_ = "quiet text" if synthetic else "strong text"
    ours = str(estimate(found.ours)) if found.ours is not None else None

    def of(theirs: Callable[[Figure], Child], here: Child) -> Callable[[Figure | None], Child]:
        """Fill a column: what it has of a paper's model, and of the judge."""
        return lambda one: here if one is None else theirs(one)

    return kit.grid(
        lines,
        kit.number("", of(lambda one: number[id(one)], "")),
        kit.Column(
            "Model",
            of(lambda one: el("span", one.model, class_="text"), el("span", judge, class_=class_)),
        ),
        kit.Column(
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
        kit.Column(
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


def printed(title: str, found: Sequence[Place]) -> Html:
    """Draw one benchmark's printed figures."""
    return kit.section(
        title,
        [_place(one, None) for one in found],
    )


def doubts(found: Sequence[Checked]) -> Html:
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


def _wrong(paper: Checked) -> Html:
    return kit.grid(
        paper.errata,
        kit.Column("Table", lambda one: one.table),
        kit.Column(
            "What",
            lambda one: el("span", one.item.removeprefix("range "), class_="text"),
            width="40%",
        ),
        kit.number("Printed", lambda one: f"{one.printed:g}".replace("-", "−")),
        kit.number("Other", lambda one: f"{round(one.recomputed, 4):g}".replace("-", "−")),
        kit.Column("Where the other is from", _other),
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


def _identities(paper: Checked) -> Html:
    return kit.grid(
        paper.identities,
        kit.Column("Rule", lambda one: el("span", one.words, class_="text"), width="60%"),
        kit.Column("What kind", lambda one: kit.quiet(_KINDS.get(one.kind, one.kind))),
        kit.number("Holds", lambda one: f"{one.holds:,} of {one.checked:,}"),
        label=f"Rules checked in {paper.paper}",
    )


def svg_text(word: str, x: float, y: float, anchor: str, kind: str) -> Html:
    """Write a word into a drawing."""
    return el("text", word, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor, class_=kind)
