"""Overview: who is ahead, and what breaks each of them?"""

from __future__ import annotations

from atom.ui import kit, level_parts, links, work
from atom.ui.data import after_import
from atom.ui.fingerprints import answers as answer_parts
from atom.ui.html import Html, el, join
from atom.ui.lab import preference as preference_parts
from atom.ui.looks import panel as settle_panel
from atom.ui.overview import parts as overview_parts
from atom.ui.overview import skills
from atom.ui.pages import FAILURES, FINGERPRINTS, OVERVIEW
from atom.ui.people import rubric as rubric_parts
from atom.ui.shell import frame, welcome
from atom.views.filters import Filters
from atom.views.guessing import lucky_by_chance
from atom.views.lab.preference_summary import preference_summary
from atom.views.level_shares import level_shares
from atom.views.overview.more import overview_more
from atom.views.overview.page import Overview, overview
from atom.views.people.rubric import rubric_view


def body(here: frame.Here, view: Overview) -> Html:
    """Put the page together; the ranking comes first and is light."""
    head = frame.head(here.screen, here.entry)
    if not view.ranking or not any(row.score.known for row in view.ranking):
        return el("div", head, nothing(here), class_="stack")
    return el(
        "div",
        head,
        overview_parts.facts(view.statements) if view.statements else None,
        overview_parts.ranking(here, view),
        level_parts.levels(level_shares(here.data, here.filters)),
        skills.skills(here, view),
        skills.quadrants(view.quadrants, lucky_by_chance(here.store, here.data, here.filters)),
        class_="stack",
    )


def nothing(here: frame.Here) -> Html:
    """Say what is missing, and what to do next."""
    if here.filters.active:
        less = here.filters.cleared
        return kit.empty(
            "Nothing passes these filters",
            "Clear them to see the whole study.",
            kit.button("Clear filters", links.address(OVERVIEW.url_path, less), primary=True),
        )
    if not len(here.data.table.sample):
        return kit.empty(
            "This study has no answers yet",
            "Let candidates answer its samples, or import answers that you have: "
            f"`python -m atom run start --study {here.entry.study.name!r}`.",
        )
    return kit.empty(
        "Nothing is scored yet",
        "There are answers, but no judged checkpoints and no known outcomes. Judge them: "
        f"`python -m atom run start --study {here.entry.study.name!r}`.",
        kit.button(
            "Look at the answers",
            links.address(FAILURES.url_path, Filters(study=here.entry.key, show="all")),
        ),
    )


def draw(here: frame.Here) -> None:
    """Draw the page."""
    offers = after_import.offers(here)
    if offers is not None:
        kit.show(offers, key="overview_next")
    early = settle_panel.early_notice(here)
    if early is not None:
        kit.show(early, key="overview_early")
    kit.show(
        join(body(here, overview(here.data, here.filters, facet=here.query.get("facet")))),
        key="overview",
    )
    settle_panel.draw(here, usual="leader")
    votes = preference_parts.votes(preference_summary(here.store, here.data, here.filters))
    if votes is not None:
        kit.show(votes, key="overview_votes")
    by_rule = rubric_view(here.data, here.filters)
    if by_rule is not None:
        kit.show(rubric_parts.rules(by_rule), key="overview_rules")
    tab = links.address(FINGERPRINTS.url_path, here.filters, tab="answers")
    further = answer_parts.told(overview_more(here.data, here.filters), tab)
    if further is not None:
        kit.show(further, key="overview_more")


here = frame.here(OVERVIEW)
if here is not None:
    if welcome.due():
        welcome.draw(here)
    else:
        draw(here)
        work.draw_question()
