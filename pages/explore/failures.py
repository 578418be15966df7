"""Failures: show me."""

from __future__ import annotations

from atom.ui import kit, links
from atom.ui.failures import bar, groups, heat, listing, marks
from atom.ui.failures import case as case_parts
from atom.ui.html import Html, el, join
from atom.ui.pages import FAILURES
from atom.ui.shell import frame
from atom.views.failures.page import PAGE_SIZE, FailureList, failures, listed_cells
from atom.views.failures.sample import SampleView, sample_view


def page_number(here: frame.Here, order: tuple[str, ...] | None = None) -> int:
    """Return the list's page: as asked for, else the one that holds the chosen sample."""
    asked = here.query.get("at", "")
    if asked.isascii() and asked.isdigit():
        return max(int(asked[:6]) - 1, 0)
    if order and here.filters.sample in order:
        return order.index(here.filters.sample) // PAGE_SIZE
    return 0


def neighbours(here: frame.Here, view: FailureList, sample: str) -> tuple[str | None, str | None]:
    """Return the addresses of the samples before and after the shown one."""
    if sample not in view.order:
        return None, None
    at = view.order.index(sample)
    worst = {row.sample_id: row.criterion_id for row in view.rows}

    def door(index: int) -> str | None:
        if not 0 <= index < len(view.order):
            return None
        other = view.order[index]
        filters = here.filters.but(sample=other, criterion=worst.get(other))
        return listing.to(filters, by=here.query.get("by"), vs=here.query.get("vs"))

    return door(at - 1), door(at + 1)


def chosen_case(here: frame.Here, view: FailureList) -> SampleView | None:
    """Return the chosen sample, or the worst one while none is chosen; None where there is none."""
    filters = here.filters
    if filters.sample is None and view.rows:
        first = view.rows[0]
        filters = filters.but(sample=first.sample_id, criterion=first.criterion_id)
    model = here.query.get("by") or filters.model
    return sample_view(here.store, here.data, filters.but(model=model))


def shown(here: frame.Here, view: FailureList, case: SampleView | None) -> Html:
    """Draw the case, or say why there is none."""
    filters = here.filters
    if filters.sample is None and not view.rows:
        return nothing(here)
    if case is None:
        return kit.empty(
            "This sample isn't in the study",
            "The link names a sample that was removed, or that belongs to another study.",
            kit.button(
                "Show the list",
                links.address(FAILURES.url_path, filters.but(sample=None, criterion=None)),
                primary=True,
            ),
        )
    note = None
    if case.sample.id not in view.order:
        note = kit.notice("This sample isn't in the list under the present filters.")
    return join(note, case_parts.case(here, case, *neighbours(here, view, case.sample.id)))


def nothing(here: frame.Here) -> Html:
    """Say that nothing fails here, and where to look next."""
    page, filters = FAILURES.url_path, here.filters
    if filters.find.narrows:
        return _not_found(here)
    doors = [kit.button("Show everything", links.address(page, filters.but(show="all")))]
    if filters.node or filters.active:
        less = filters.cleared.but(node=())
        doors.insert(0, kit.button("Clear filters", links.address(page, less), primary=True))
    return kit.empty(
        "Nothing here",
        "No sample is listed: nothing failed under these filters, or nothing is scored yet.",
        *doors,
    )


def _not_found(here: frame.Here) -> Html:
    """Say that nothing is found, what was looked for, and how to look elsewhere."""
    page, filters = FAILURES.url_path, here.filters
    find = filters.find
    doors = [kit.button("Clear the search", links.address(page, filters.but(find=find.cleared)),
                        primary=True)]  # fmt: skip
    if find.places:
        doors.append(kit.button("Search everywhere", links.address(
            page, filters.but(find=find.but(places=())))))  # fmt: skip
    if filters.show != "all":
        doors.append(
            kit.button("Search what passes, too", links.address(page, filters.but(show="all")))
        )
    words = f"No sample here holds {find.words!r}." if find.terms else "No sample is like that."
    if find.kind:
        words += " Groups of failures follow from the marks of today; a link to one may be older."
        doors.append(kit.button("Show the groups", groups.address(here)))
    return kit.empty("Nothing matches", words, *doors)


def body(here: frame.Here) -> None:
    """Draw the page: the row of what is looked for, then the list, the grid or the groups."""
    kit.show(frame.head(here.screen, here.entry), key="failures_head")
    lay = here.query.get("lay")
    if here.filters.find.kind and not groups.ready(here):
        return
    view = failures(here.store, here.data, here.filters, page_number(here))
    wanted = page_number(here, view.order)
    if wanted != view.page and wanted < view.pages:
        view = failures(here.store, here.data, here.filters, wanted)
    bar.draw(here, view)
    if marks.copy_in_sight(here):
        return
    if lay == groups.GROUPS and here.data.has_process:
        groups.draw(here)
    elif lay == heat.GRID and view.rows:
        cells = listed_cells(here.data, here.filters)
        kit.show(heat.grid(here, view, cells), key="failures_grid")
    else:
        as_list(here, view)


def as_list(here: frame.Here, view: FailureList) -> None:
    """Draw the list, and the chosen case beside it."""
    chosen = here.filters.sample or (view.rows[0].sample_id if view.rows else None)
    case = chosen_case(here, view)
    kit.show(
        el(
            "div",
            listing.listing(here, view, chosen),
            el("div", shown(here, view, case), style="min-width:0"),
            class_="split",
        ),
        key="failures",
        act=marks.acts(here, case),
    )


here = frame.here(FAILURES)
if here is not None:
    body(here)
