"""The pipeline's stages: build the request, parse the reply, records out. No I/O."""

from atom.stages import (
    answer,
    criteria,
    induction,
    mapping,
    outcome,
    propose,
    replay,
    same,
    scoring,
)

__all__ = [
    "answer",
    "criteria",
    "induction",
    "mapping",
    "outcome",
    "propose",
    "replay",
    "same",
    "scoring",
]
