"""ATOM and its rivals beside people: how often each puts answers in people's order."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

from atom.analysis.agreement.fidelity import FidelityShare, MethodAccuracy
from atom.analysis.compare.paired import PairedGap
from atom.display import numbers
from atom.display.numbers import money
from atom.ui import kit
from atom.ui.html import Child, Html, el
from atom.ui.lab import methods as lab_judge_methods
from atom.ui.lab import people_items as lab_people_items
from atom.ui.shell.frame import Here
from atom.views.lab.fidelity.people import MIN_MET
from atom.views.lab.fidelity.rows import MethodRow
from atom.views.lab.fidelity.tab import FidelityView

_Line: TypeAlias = MethodRow | tuple[str, float]
"""A method, or a share that any could be compared with: what gives it, and the share."""


def table(here: Here, view: FidelityView) -> Html:
    """Draw the methods beside people, all on the same samples."""
    judge = view.judge.id if view.judge else ""
    ties = view.people.ties
    lines: list[_Line] = [row for row in view.rows if row.accuracy is not None]
    lines += [
        ("Calling every pair a tie", ties),
        ("Guessing who is better, no ties", (1 - ties) / 2),
        ("Most that can be reached without ties", 1 - ties),
    ]

    def door(words: Child, row: MethodRow, root: str = "") -> Child:
        to = lab_people_items.address(here, lab_people_items.METHODS_OF, root, row.name, judge)
        return words if words == numbers.NONE else kit.door(words, to, class_="plain")

    def whole(line: _Line) -> Child:
        if isinstance(line, MethodRow):
            return _asked(lambda row, found: door(_wide(found.strict), row))(line)
        return kit.quiet(numbers.share(line[1], 1))

    def at_root(root: str, row: MethodRow, _: MethodAccuracy) -> Child:
        return door(_short(row.by_root.get(root)), row, root)

    rest = f"{view.rest} " if view.rest else ""
    alike = view.alike
    same = (
        f"{_listed(alike)} put all these pairs in the same order, so their figures are equal: "
        "this judge gives the same marks whichever way it is asked. "
        if alike
        else ""
    )
    return el(
        "section",
        kit.grid(
            lines,
            kit.MarkupColumn("Method", _method),
            kit.number("As people, all", whole),
            *(kit.number(root, _asked(partial(at_root, root)), broad=True) for root in view.roots),
            kit.number("Less ATOM’s", _asked(_less_atoms)),
            kit.number(
                kit.term("Kendall tau-b", "tau\u2011b"),
                _asked(lambda row, found: numbers.plain(found.tau)),
            ),
            kit.number("Ties", _asked(lambda row, found: numbers.share(found.judge_ties, 1))),
            kit.number(
                "Unread", _asked(lambda row, found: f"{row.unscored + row.failed:,}"), broad=True
            ),
            kit.number("Calls a sample", _asked(_calls)),
            kit.number("Cost a sample", _asked(_cost)),
            label="Methods beside people",
        ),
        kit.note(
            rest,
            same,
            kit.term("pairwise accuracy", "Share of pairs"),
            " in people’s order: better, worse or tie. A pair with an unread answer counts as "
            "wrong. Intervals (95 %) and differences count whole samples. A sample counts under "
            "the capability that carries most of its criteria’s weight.",
        ),
    )


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _asked(of: Callable[[MethodRow, MethodAccuracy], Child]) -> Callable[[_Line], Child]:
    """Fill the cells of methods, and none of the shares that these are compared with."""

    def cell(line: _Line) -> Child:
        if not isinstance(line, MethodRow) or line.accuracy is None:
            return ""
        return of(line, line.accuracy)

    return cell


def _method(line: _Line) -> Child:
    if not isinstance(line, MethodRow):
        return kit.quiet(line[0])
    about = f"{line.about}; takes away {line.removes}" if line.removes else line.about
    return el("span", line.title, data_tip=about)


def _less_atoms(row: MethodRow, _: MethodAccuracy) -> Child:
    return _gap(row.against_atom) if row.name != "atom" else ""


def _calls(row: MethodRow, _: MethodAccuracy) -> str:
    each = row.cost.calls_each
    return numbers.NONE if math.isnan(each) else f"{each:.1f}"


def _cost(row: MethodRow, _: MethodAccuracy) -> Html:
    usd = row.cost.usd_each
    return el("span", "not known" if usd is None else money(usd), data_tip=_tokens(row))


def _tokens(row: MethodRow) -> str:
    cost = row.cost
    calls = numbers.count(cost.calls, "call")
    if cost.tokens_in is None or cost.tokens_out is None:
        return f"{calls}; the server told no tokens"
    return f"{calls}, {cost.tokens_in:,} tokens sent, {cost.tokens_out:,} received"


def told_share(share: FidelityShare) -> str:
    """Write a share with its interval."""
    return numbers.share_interval(share.value, share.lo, share.hi)


def _wide(share: FidelityShare) -> Html:
    tip = (
        f"{numbers.count(share.n, 'pair')}, "
        f"{numbers.count(share.clusters, 'set of pictures', 'sets of pictures')}"
    )
    return el("span", kit.strong(told_share(share)), data_tip=tip)


def _short(share: FidelityShare | None) -> Child:
    if share is None or math.isnan(share.value) or share.clusters < MIN_MET:
        return lab_judge_methods.share(share)
    tip = f"{told_share(share)}, {numbers.count(share.n, 'pair')}"
    return el("span", f"{100 * share.value:.1f}", data_tip=tip)


def _gap(gap: PairedGap | None) -> Child:
    if gap is None or not gap.n:
        return numbers.NONE
    if abs(gap.gap) < 1e-12 and gap.se < 1e-12:
        return kit.quiet("the same")
    words = numbers.signed(100 * gap.gap)
    if math.isnan(gap.lo):
        return words
    sure = gap.lo > 0 or gap.hi < 0
    tip = (
        f"{numbers.signed_ends(100 * gap.lo, 100 * gap.hi)} points, p {numbers.p_value(gap.p)}; "
        f"{'told apart' if sure else 'not told apart'}"
    )
    return el("span", words, "" if sure else kit.quiet(" (unsure)"), data_tip=tip)
