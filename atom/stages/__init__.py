"""The pipeline's stages: build the request, parse the reply, records out. No I/O."""

from atom.stages import answer, blind, correction, criteria, hint, mapping, outcome, replay, scoring
from atom.stages.growing import induction, propose, same, vague
from atom.stages.texts import leaks

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
