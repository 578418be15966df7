"""Fingerprints: what shape is each model?"""

from __future__ import annotations

from atom.ui import kit, work
from atom.ui.failures import groups as failure_groups
from atom.ui.fingerprints import answers as answer_parts
from atom.ui.fingerprints import blind as fingerprint_blind
from atom.ui.fingerprints import choices, place, skills
from atom.ui.fingerprints import heat as fingerprint_heat
from atom.ui.fingerprints import identity as fingerprint_identity
from atom.ui.fingerprints import radars as fingerprints_radars
from atom.ui.fingerprints import trees as fingerprint_trees
from atom.ui.judges import differing as judges_differing
from atom.ui.lab import flaws as judge_flaws
from atom.ui.looks import panel as settle_panel
from atom.ui.pages import FINGERPRINTS
from atom.ui.shell import frame
from atom.views.fingerprints.bars import bars
from atom.views.fingerprints.blind import blind_view
from atom.views.fingerprints.claims import Claims, claims, opened
from atom.views.fingerprints.radar import radars
from atom.views.fingerprints.shape import Shape, shape
from atom.views.fingerprints.statements import statements
from atom.views.fingerprints.told_apart import ToldApart, told_apart
from atom.views.overview.differing import judges_differ, where_most
from atom.views.overview.more import overview_more


def body(here: frame.Here) -> None:
    """Draw the chosen tab."""
    chosen = place.tab_of(here)
    head = frame.head(here.screen, here.entry)
    kit.show(place.head(here, head, chosen), key="fingerprints_head")
    early = settle_panel.early_notice(here)
    if early is not None:
        kit.show(early, key="fingerprints_early")
    if chosen == "answers":
        answers(here)
        return
    if chosen == "errors":
        failure_groups.beside_fingerprints(here)
        return
    form = shape(here.data, here.filters, facet=here.query.get("facet"))
    form = form.judged(judge_flaws.marks(here))
    if not form.models:
        place.show(place.nothing(here, form), key="fingerprints_none")
        return
    said = claims(here.data, form)
    form = opened(form, said)
    apart = told_apart(here.data, form)
    if chosen == "apart":
        place.show(choices.choices(here, form, drawn=False), key="fingerprints_measure")
        place.show(fingerprint_identity.told(here, apart), key="fingerprints_apart")
        return
    shapes(here, form, said, apart)


def answers(here: frame.Here) -> None:
    """Draw what is told of single answers: spread, ranks and ties, first breaks."""
    found = answer_parts.draw(overview_more(here.data, here.filters))
    place.show(found or place.no_answers(here), key="fingerprints_answers")


def shapes(here: frame.Here, form: Shape, said: Claims | None, apart: ToldApart) -> None:
    """Draw the shapes from the top, so that nothing moves aside for what comes later."""
    flaws = fingerprints_radars.judge_flaws(form, judge_flaws.address(here))
    if flaws is not None:
        kit.show(flaws, key="fingerprints_judge")
    kit.show(place.facts(here, statements(form, said, apart)), key="fingerprints_facts")
    place.show(choices.choices(here, form), key="fingerprints_choices")
    fingerprint_trees.menus(here, form)
    other = fingerprint_trees.second(here, form)
    if other is not None:
        fingerprint_trees.draw(here, form, other)
    else:
        drawn = radars(form, fingerprint_trees.layer_of(here, form))
        place.show(fingerprints_radars.radars(here, form, drawn), key="fingerprints_radars")
    fingerprint_heat.draw(here, form, said)
    shown = bars(form, said)
    if shown is not None:
        place.show(skills.skills(here, form, shown), key="fingerprints_skills")
    apart_most = judges_differing.most(
        judges_differ(here.data, here.filters.but(node=())), where_most(here.data, here.filters)
    )
    if apart_most is not None:
        kit.show(apart_most, key="fingerprints_judges_differ")
    settle_panel.draw(here, usual="nodes")
    needs = fingerprint_blind.told(here, blind_view(here.store, here.data, here.filters))
    if needs is not None:
        place.show(needs, key="fingerprints_blind")


here = frame.here(FINGERPRINTS)
if here is not None:
    body(here)
    work.draw_question()
