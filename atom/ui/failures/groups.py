"""Groups of failures on the screen: what goes wrong in one way, and in which models."""

from __future__ import annotations

import math
from collections.abc import Sequence

from atom.analysis.reasons.groups import LEAST_REASONS
from atom.display import numbers
from atom.ui import kit, links, work
from atom.ui.failures import making
from atom.ui.failures.listing import to
from atom.ui.html import Html, el
from atom.ui.pages import FAILURES
from atom.ui.shell.frame import Here
from atom.views.compare.nodes import Q
from atom.views.failures.group_tables import EXAMPLE, KIND, group_table, groups_csv
from atom.views.failures.grouping import Group, chosen_by, grouping_of, is_grouped, marks_of
from atom.views.failures.groups import (
    Example,
    FailureGroups,
    GroupRow,
    failure_groups,
    opened,
)
from atom.views.failures.words import (
    ABOUT,
    NONE_WORDS,
    chosen_words,
    made_words,
    stands_out,
)

GROUPS = "groups"
"""What the address says where groups are shown."""
_LOOK = "groups of failures"
_MOST_TOLD = 4


def address(here: Here) -> str:
    """Return where the groups are."""
    base = here.filters.but(sample=None, criterion=None)
    return to(base.but(find=base.find.but(kind="")), lay=GROUPS)


def ready(here: Here) -> bool:
    """Say whether the groups are made; if not, make them in the background, and say so."""
    n = int(here.data.table.fails.sum())
    if is_grouped(here.store, here.data) or n < LEAST_REASONS:
        return True
    by = chosen_by(here.store, here.data)
    key = repr((here.store.url, here.data.study.id, here.data.revision, marks_of(here.data),
                by.model, by.at))  # fmt: skip
    state = work.worked_out(_LOOK, key, lambda: grouping_of(here.store, here.data).none,
                            f"Putting {numbers.count(n, 'reason')} into groups…")  # fmt: skip
    if state is None:
        return False
    if state.result is None and state.error:
        kit.show(kit.fault(state.error), key="groups_fault")
        return False
    return True


def draw(here: Here) -> None:
    """Draw the groups in place of the list."""
    if ready(here):
        making.draw(here)
        view = failure_groups(here.store, here.data, here.filters)
        kit.show(el("div", _groups(here, view), signature(here, view), class_="prints"),
                 key="failures_groups")  # fmt: skip


def _groups(here: Here, view: FailureGroups) -> Html:
    list_ = kit.button("Show the list", to(here.filters.but(find=here.filters.find.cleared)))
    if view.none is not None:
        return kit.empty("No groups", NONE_WORDS[view.none], list_)
    if not view.n:
        return kit.empty("Nothing matches", "No checkpoint failed under these filters.", list_)
    return kit.section(_title(view),
        kit.note(f"{made_words(view)} {chosen_words(view)}",
           style="max-width:860px", data_testid="groups-made"),
        kit.drawn(
            group_table(view),
            cells={KIND: _kind, EXAMPLE: lambda row, _: _examples(view, row)},
            on=lambda row: here.filters.find.kind == row.group.key,
        ),
        data_testid="groups",
    )  # fmt: skip


def _title(view: FailureGroups) -> str:
    first = max(view.rows, key=lambda row: row.lost)
    return (
        f"{numbers.count(view.n, 'failed checkpoint')} in "
        f"{numbers.count(len(view.rows), 'group')}; "
        f"“{first.group.name}” takes the most weight, {numbers.share(first.lost_share)} of what is "
        "lost"
    )


def _kind(row: GroupRow, name: str) -> Html:
    tip = f"telling words: {', '.join(row.group.terms)}" if row.group.terms else None
    return el("div", kit.door(name, to(row.filters), class_="strong", tip=tip), _said(row.group))


def _examples(view: FailureGroups, row: GroupRow) -> Html:
    return el("div", [_example(view, one) for one in row.examples])


def _said(group: Group) -> Html | None:
    """Say in a judge's words what a group's reasons have in common."""
    if not group.says:
        return None
    return kit.under(el("span", group.kind, class_="text"), f" · {group.says}")


def _example(view: FailureGroups, one: Example) -> Html:
    where = f" · {one.leaf}" if one.leaf else ""
    return el(
        "div",
        kit.door(numbers.middle(one.reason or "(no reason)", 96), to(one.filters), tip=one.reason),
        kit.small(f" {view.models[one.model]}{where}"),
        class_="small",
    )


# --- signatures ----------------------------------------------------------------------------------


def signature(here: Here, view: FailureGroups) -> Html | None:
    """Draw which groups make up each model's failures, beside the others'."""
    found = view.signature
    if found is None or len(view.models) < 2:
        return None
    said = [stands_out(view, m, g) for m, g in view.standing_out]
    rest = len(said) - _MOST_TOLD
    return kit.section((kit.term("failure signature", "Failure signatures"), ": ", _lead(said)),
        el("ul", [el("li", f"{one}.") for one in said[:_MOST_TOLD]],
           el("li", f"{rest:,} more in the table.") if rest > 0 else None, class_="note",
           style="margin:0 0 8px;padding-left:18px;max-width:980px") if said else None,
        kit.grid(
            [m for m in range(len(view.models)) if found.n[m]],
            kit.MarkupColumn("Model", lambda m: kit.model(view.models[m], m)),
            kit.number("Failures", lambda m: f"{found.n[m]:,}"),
            *kit.each(
                range(len(view.rows)),
                lambda g: view.rows[g].group.name,
                lambda m, g: _share(here, view, m, g),
            ),
            label="Failure signatures",
            on=lambda m: here.filters.model == here.data.candidates[m].id,
        ),
        kit.note(ABOUT, " ▲ more, ▼ less than the others, held against chance; hover for the "
           "interval.", style="max-width:860px"),
        kit.csv_link(groups_csv(view), "failure-groups.csv"),
        id="signature",
        data_testid="signature",
    )  # fmt: skip


def _lead(said: Sequence[str]) -> str:
    if not said:
        return "none differs from the others’ beyond chance"
    differ = "differs" if len(said) == 1 else "differ"
    return f"{numbers.count(len(said), 'share')} {differ} from the other models’ beyond chance"


def _share(here: Here, view: FailureGroups, m: int, g: int) -> Html:
    found = view.signature
    assert found is not None
    share, gap, p = (float(of[m, g]) for of in (found.share, found.gap, found.adjusted))
    sure = p <= Q
    sign = "" if not sure else "▲ " if gap > 0 else "▼ "
    ends = numbers.points_interval(gap, float(found.lo[m, g]), float(found.hi[m, g]))
    tip = (
        f"{found.count[m, g]:,} of {view.models[m]}’s {numbers.count(int(found.n[m]), 'failure')}"
        f"\nthe others’ mean: {numbers.share(float(found.others[m, g]), 1)}\n{ends} points"
        f"{'' if math.isnan(p) else f', adjusted p {numbers.p_value(p)}'}"
        f"{chr(10) + 'too few samples to test' if math.isnan(p) else ''}"
    )
    filters = opened(here.filters, view.rows[g].group, here.data.candidates[m].id)
    return kit.door(
        f"{sign}{100 * share:.0f}",
        links.address(FAILURES.url_path, filters),
        class_="cell heat" + (" strong" if sure else ""),
        style=f"--share:{100 * share:.0f}%",
        tip=tip,
    )


def beside_fingerprints(here: Here) -> None:
    """Draw the signatures as a tab of Fingerprints."""
    if not ready(here):
        return
    everything = here.filters.but(find=here.filters.find.cleared)
    view = failure_groups(here.store, here.data, everything)
    told = kit.empty("No failure signatures", NONE_WORDS[view.none]) if view.none else (
        el("div", signature(here, view), el("p", kit.door("The groups, with examples",
           address(here))), class_="prints")
    )  # fmt: skip
    kit.show(told, key="fingerprints_signature")
