"""The tree that a study begins with, before anyone has chosen, grown or imported one."""

from __future__ import annotations

from typing import Final

from atom.errors import AtomError
from atom.probes.chunk import read_program
from atom.records import Sample, Study
from atom.store import Store, study_places
from taxonomy import Tree, load_anchors, load_general

_LOOKED_AT: Final = 12


def first_tree(store: Store, study: Study) -> Tree:
    """Return the tree of a study that names none.

    Returns:
        The probe world's tree where the study's questions were drawn by the probes (the first
        dozen are looked at: the study, the sample or its picture says so), else the general one.
    """
    return load_anchors() if study.synthetic or _is_drawn(store, study.id) else load_general()


def _is_drawn(store: Store, study_id: str) -> bool:
    ids = [place.sample_id for place in study_places(store, study_id)[:_LOOKED_AT]]
    return any(
        sample.synthetic or _has_program(store, sample) for sample in store.get_many(Sample, ids)
    )


def _has_program(store: Store, sample: Sample) -> bool:
    for slot in sample.pictures:
        if slot.picture_id is None:
            continue
        try:
            if read_program(store.pictures.read(slot.picture_id)) is not None:
                return True
        except (AtomError, OSError):
            continue
    return False
