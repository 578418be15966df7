"""The answers behind a number, with one of them before and after."""

from __future__ import annotations

from atom.records import Arm
from atom.ui import kit, links
from atom.ui.correction import cases as correction_cases
from atom.ui.correction import experiments
from atom.ui.correction.cases import PAGE_SIZE, CaseDoors
from atom.ui.html import Html, el, join
from atom.ui.pages import CORRECTION
from atom.ui.shell.frame import Here
from atom.views.correction.case import case_view
from atom.views.correction.cases import CaseQuery, Cases, case_rows, find_cases, read_query
from atom.views.correction.form import ARMS
from atom.views.correction.page import Results, contrast_of


def draw(here: Here, looked: experiments.ChosenExperiment) -> None:
    """Draw the list left and the chosen answer right."""
    found = experiments.read_results(here, looked)
    if found is None:
        return
    query = read_query(here.query)
    cases = find_cases(found, here.data, query)
    doors = CaseDoors(here, looked.doors, query)
    if not cases.ids:
        kit.show(
            kit.empty(
                "No answer here",
                f"{cases.words}: there is none.",
                kit.button("Show all answers", looked.doors.tab("cases"), primary=True),
            ),
            key="correction_cases",
        )
        return
    chosen = _chosen(here, found, cases)
    page = _page(here, cases, chosen)
    ids = cases.ids[page * PAGE_SIZE : (page + 1) * PAGE_SIZE]
    rows = case_rows(here.store, found, cases, ids)
    narrow = query != CaseQuery()
    every = kit.door("Show all answers", looked.doors.tab("cases"), class_="small")
    kit.show(
        el(
            "div",
            el("p", every, style="margin-bottom:6px") if narrow else None,
            el(
                "div",
                correction_cases.listing(here, cases, rows, chosen, page, doors),
                el("div", _case(here, looked, found, cases, chosen, doors), style="min-width:0"),
                class_="split",
            ),
        ),
        key="correction_cases",
    )


def _chosen(here: Here, found: Results, cases: Cases) -> str:
    """Return the answer that is shown: the chain's sample, else the list's first."""
    wanted = here.filters.sample
    by_sample = {sample: name for name, sample in found.samples.items()}
    return by_sample.get(wanted or "", cases.ids[0])


def _page(here: Here, cases: Cases, chosen: str) -> int:
    asked = here.query.get("at", "")
    last = (len(cases.ids) - 1) // PAGE_SIZE
    if asked.isascii() and asked.isdigit():
        return min(max(int(asked[:6]) - 1, 0), last)
    return cases.ids.index(chosen) // PAGE_SIZE if chosen in cases.ids else 0


def arm_of(here: Here, query: CaseQuery) -> Arm | None:
    """Return the arm that is looked at: as asked for, else the list's."""
    by = next((arm for arm in ARMS if arm == here.query.get("by")), None)
    return by or query.arm or (contrast_of(query.effect).arm if query.effect else None)


def _case(
    here: Here,
    looked: experiments.ChosenExperiment,
    found: Results,
    cases: Cases,
    chosen: str,
    doors: CaseDoors,
) -> Html:
    view = case_view(
        here.store,
        here.data,
        chosen,
        arm=arm_of(here, cases.query),
        experiment_id=found.experiment.id,
        tries=found.tries,
        filters=here.filters,
    )
    if view is None:
        door = kit.button(
            "Open the result", links.address(CORRECTION.url_path, looked.doors.filters)
        )
        return kit.empty("This answer isn't here", "It was removed from the study.", door)
    note = None
    before = after = None
    if chosen in cases.ids:
        at = cases.ids.index(chosen)
        before = _door(here, found, cases, at - 1, doors)
        after = _door(here, found, cases, at + 1, doors)
    else:
        note = kit.notice("This answer isn't in the list beside it.")
    return join(note, correction_cases.case(here, view, doors, before, after))


def _door(here: Here, found: Results, cases: Cases, at: int, doors: CaseDoors) -> str | None:
    if not 0 <= at < len(cases.ids):
        return None
    return doors.to(found.samples.get(cases.ids[at]), by=here.query.get("by"))
