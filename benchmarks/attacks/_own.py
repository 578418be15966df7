"""Somebody at their desk, who writes what they would check before they see the judge's criteria."""

from __future__ import annotations

from collections.abc import Callable

from atom.records import Criterion, Study
from atom.store import Store
from atom.ui.people.acts import Act
from atom.ui.people.desk import Desk
from atom.views.study_data import load_study


def write_criteria(
    store: Store, study: Study, who: str, words: Callable[[Criterion], str], samples: int = 4
) -> None:
    """Write, match and tick one's own criteria for some samples, as Human check keeps them.

    Args:
        store: the study's.
        study: the study.
        who: the person.
        words: what is written about a sample, by the first of the judge's criteria for it.
        samples: for how many.
    """
    desk = Desk(store, load_study(store, study.id), "own", who, "random")
    acts = 0
    for _ in range(samples):
        item = desk.item
        view = desk.view(item.sample_id) if item is not None else None
        if item is None or view is None:
            return
        sample, text = item.sample_id, words(view.criteria[0].criterion)
        acts += 1
        desk.take([Act(number=acts, item=item.id, do="give", text=text)])
        while desk.item is not None and desk.item.sample_id == sample:
            acts += 1
            desk.take([Act(number=acts, item=desk.item.id, do="give", key="1")])
