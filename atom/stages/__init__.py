"""The pipeline's stages: build the request, parse the reply, records out. No I/O."""

from atom.stages import (
    answer,
    blind,
    correction,
    criteria,
    hint,
    induction,
    leaks,
    mapping,
    outcome,
    propose,
    replay,
    same,
    scoring,
    vague,
)

__all__ = [
    "answer",
    "blind",
    "correction",
    "criteria",
    "hint",
    "induction",
    "leaks",
    "mapping",
    "outcome",
    "propose",
    "replay",
    "same",
    "scoring",
    "vague",
]
