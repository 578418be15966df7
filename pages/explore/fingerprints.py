"""Fingerprints: what shape is each model?"""

from __future__ import annotations

from atom.ui import kit, work
from atom.ui.fingerprints import blind as fingerprint_blind
from atom.ui.fingerprints import heat as fingerprint_heat
from atom.ui.fingerprints import identity as fingerprint_identity
from atom.ui.fingerprints import parts as fingerprint_parts
from atom.ui.fingerprints import trees as fingerprint_trees
from atom.ui.lab import flaws as judge_flaws
from atom.ui.looks import panel as settle_panel
from atom.ui.pages import FINGERPRINTS
from atom.ui.shell import frame
from atom.views.fingerprints.blind import blind_view
from atom.views.fingerprints.page import bars, claims, shape, statements, told_apart
from atom.views.fingerprints.radar import radars


def body(here: frame.Here) -> None:
    """Draw the page from the top, so that nothing moves aside for what comes later."""
    badges = [kit.synthetic_badge()] if here.entry.study.synthetic else []
    form = shape(here.data, here.filters, facet=here.query.get("facet"))
    form = form.judged(judge_flaws.marks(here))
    head = kit.page_header(FINGERPRINTS.title, FINGERPRINTS.question, *badges)
    if not form.models:
        fingerprint_parts.show(head, fingerprint_parts.nothing(here, form), key="fingerprints_none")
        return
    kit.show(head, key="fingerprints_head")
    early = settle_panel.early_notice(here)
    if early is not None:
        kit.show(early, key="fingerprints_early")
    flaws = fingerprint_parts.judge_flaws(form, judge_flaws.address(here))
    if flaws is not None:
        kit.show(flaws, key="fingerprints_judge")
    said = claims(here.data, form)
    form = form.opened(said)
    apart = told_apart(here.data, form)
    kit.show(fingerprint_parts.facts(here, statements(form, said, apart)), key="fingerprints_facts")
    fingerprint_parts.show(fingerprint_parts.choices(here, form), key="fingerprints_choices")
    fingerprint_trees.menus(here, form)
    other = fingerprint_trees.second(here, form)
    if other is not None:
        fingerprint_trees.draw(here, form, other)
    else:
        drawn = radars(form, fingerprint_trees.layer_of(here, form))
        fingerprint_parts.show(
            fingerprint_parts.radars(here, form, drawn), key="fingerprints_radars"
        )
    fingerprint_heat.draw(here, form, said)
    shown = bars(form, said)
    if shown is not None:
        fingerprint_parts.show(
            fingerprint_parts.skills(here, form, shown), key="fingerprints_skills"
        )
    settle_panel.draw(here, usual="nodes")
    needs = fingerprint_blind.told(here, blind_view(here.store, here.data, here.filters))
    if needs is not None:
        fingerprint_parts.show(needs, key="fingerprints_blind")
    fingerprint_parts.show(fingerprint_identity.told(here, apart), key="fingerprints_apart")


here = frame.here(FINGERPRINTS)
if here is not None:
    body(here)
    work.draw_question()
