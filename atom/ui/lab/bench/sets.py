"""A benchmark's set: which one, where it is from, what was left out, addresses that keep it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from atom.display import numbers
from atom.judgebench.base import Bench, BenchResult
from atom.records import BenchSet
from atom.ui import kit, links
from atom.ui.html import Child, Html, el
from atom.ui.pages import JUDGE_LAB
from atom.views.filters import Filters
from atom.views.lab.page import (
    BenchPreview,
    SetProgress,
)
from atom.views.stores import OpenStore

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
    judges: tuple[SetProgress, ...] = ()
    chosen: SetProgress | None = None
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


def preview(found: BenchPreview) -> Html:
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
