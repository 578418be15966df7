"""How far a panel's judges differ, beside the scores that they differ about."""

from __future__ import annotations

from collections.abc import Sequence

from atom.display import numbers
from atom.ui import kit, links
from atom.ui.html import Html, el, join
from atom.ui.pages import FAILURES
from atom.views.overview.differing import PanelDifference


def cell(found: PanelDifference | None, text: str) -> Html | None:
    """Draw the share of a model's checkpoints on which judges differ; it opens them."""
    if found is None:
        return None
    if not found.n:
        tip = "No checkpoint of this model is marked by two judges"
        return kit.quiet(text, data_tip=tip)
    return kit.cell(text, _to(found), tip=_tip(found))


def line(found: PanelDifference | None) -> Html | None:
    """Say in a line on how many checkpoints of a node judges differ; nothing with one judge."""
    if found is None or not found.n:
        return None
    return el(
        "div",
        "≠ ",
        kit.term("judges differ"),
        f" on {numbers.percent(found.share, found.n)} of ",
        kit.door(numbers.count(found.n, "checkpoint"), _to(found)),
        class_="quiet small",
        data_tip=_tip(found),
        data_testid="judges-differ",
    )


def most(all_: PanelDifference | None, found: Sequence[PanelDifference]) -> Html | None:
    """Say where judges differ most, each capability a door; nothing with one judge."""
    if all_ is None or not all_.n or not found:
        return None
    named = [
        join(
            kit.door(numbers.middle(one.path[-1], 30), _to(one)),
            f" ({numbers.percent(one.share, one.n)})",
        )
        for one in found
    ]
    listed = [piece for one in named for piece in (", ", one)][1:]
    return kit.note(
        "≠ ",
        kit.term("judges differ", "Judges differ"),
        f" on {numbers.percent(all_.share, all_.n)} of the checkpoints that several marked, most "
        "on ",
        *listed,
        ".",
        data_testid="judges-differ-most",
    )


def _to(found: PanelDifference) -> str:
    return links.address(FAILURES.url_path, found.filters)


def _tip(found: PanelDifference) -> str:
    share = numbers.percent(found.share, found.n)
    return (
        f"Of {found.n:,} checkpoints that two judges or more marked, they differ by a step or "
        f"more on {share}. Standard deviation over judges, as they mark: "
        f"{found.disagreement:.1f} points of 100"
    )
