"""Parts of a synthetic study that need what screens show: hard pairs, eyes, questions in words."""

from __future__ import annotations

import asyncio
from typing import Final

from atom.engine.asked.ask import ask
from atom.engine.blind.sight import SightSpec
from atom.engine.demo.parts import examine
from atom.engine.demo.site import JUDGE, Site, clock, must_be_done, timeless_client
from atom.engine.pairs.asking import PairsSpec
from atom.engine.pairs.keeping import keep_pairs
from atom.engine.work import run
from atom.errors import StoreError
from atom.exports.hard_pairs import pair_files
from atom.probes.eyes import SIGHTED, SIGHTLESS
from atom.views.asked import vocabulary_of
from atom.views.lab.hard_pairs import hard_pairs
from atom.views.study_data import load_study

WEAK: Final = ("probe-judge-noisy", "probe-judge-coin")
PAIRS, VOTES, FAIL = 24, 3, 1
"""Pairs that are asked about, votes in either order, and weak judges that fail at a hard pair."""
LOOKED_AT, ANSWERS = 24, 2
"""Questions, and answers to each, that judges mark with the picture and without it."""
QUESTIONS: Final = (
    "where does model-b lose to model-a on charts?",
    "what is model-a weakest at?",
    "wrong answers on hard questions",
    "right answers with wrong steps by model-c",
    "which models are alike?",
)
"""Questions in words that the judge has read."""


def pairs(site: Site) -> None:
    """Have weak judges vote, a strong one confirm; keep the set and have every judge examined."""
    spec = PairsSpec(
        study_id=site.study_id, weak=WEAK, strong=JUDGE, votes=VOTES, fail=FAIL, limit=PAIRS
    )
    told = site.on_progress("pairs")
    work = run(
        site.store, spec, site.endpoints, make=timeless_client, clock=clock, on_progress=told
    )
    ended = must_be_done(asyncio.run(work))
    data = load_study(site.store, site.study_id)
    view = hard_pairs(site.store, data, ended.id)
    if view is None or not view.chosen():
        raise StoreError("the study has no hard pair that was confirmed: ask about more pairs")
    files = pair_files(site.store, data, view)
    for made in keep_pairs(site.store, site.study, ended, files.texts, files.pictures, clock=clock):
        examine(site, made)


def sight(site: Site) -> None:
    """Have a judge that doesn't look at the picture, then one that does, mark without it, too."""
    for judge in (SIGHTLESS, SIGHTED):
        spec = SightSpec(study_id=site.study_id, judge=judge, samples=LOOKED_AT, answers=ANSWERS)
        told = site.on_progress("looking")
        work = run(
            site.store, spec, site.endpoints, make=timeless_client, clock=clock, on_progress=told
        )
        must_be_done(asyncio.run(work))


def questions(site: Site) -> None:
    """Have the judge say which view answers some questions; whoever asks again pays nothing."""
    vocabulary = vocabulary_of(load_study(site.store, site.study_id))
    for at, question in enumerate(QUESTIONS, start=1):
        asked = ask(
            site.store, site.study, site.endpoints[JUDGE], question, vocabulary,
            make=timeless_client,
        )  # fmt: skip
        if asyncio.run(asked).wanted is None:
            raise StoreError(f"the judge couldn't read the question {question!r}")
        site.tell("asking", at, len(QUESTIONS))
