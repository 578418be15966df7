"""What a run of stages is asked to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from atom.pipeline import LOOP
from atom.records import Look, RunKind, Sampling, StageName

STAGES: tuple[StageName, ...] = tuple(stage.name for stage in LOOP)
JUDGE_STAGES = frozenset(stage.name for stage in LOOP if not stage.by_candidate)


@dataclass(frozen=True, kw_only=True)
class RunSpec:
    """What a run is asked to do.

    Args:
        study_id: the study it adds to.
        stages: which stages it does; it never asks for what another stage would have to bring.
        judge: the judge's endpoint name; None = the study's own judge, where one is needed.
        candidates: endpoint names of the candidates that answer; empty = judge what is there.
        limit: at most this many samples, in the study's order.
        at_random: these are drawn at random instead, the same ones whoever judges.
        repeats: how often the judge scores each answer; replays and criteria are asked for once.
        answer_repeats: how often each candidate answers each question.
        budget: spend cap in USD for the whole run, resumptions included.
        retry_failed: ask again for items that failed earlier.
        retry_unscored: ask again for those, and for what ended unscored through a server's fault.
        show_reference: tell the judge the reference answer when it solves a sample. Untold (the
            default), a sample whose reference it doesn't reach by itself is set aside.
        score_pictures: let the judge see the pictures when it scores; without them its marks are
            others, and count only where there are none that saw the pictures.
        judge_sampling: how the judge is asked; the study's settings from then on. None = as the
            study says.
        answer_sampling: how candidates are asked, likewise.
        look: asks for and marks these answers alone; None = all that are missing.
    """

    kind: ClassVar[RunKind] = "study"

    study_id: str
    stages: tuple[StageName, ...] = STAGES
    judge: str | None = None
    candidates: tuple[str, ...] = ()
    limit: int | None = None
    at_random: bool = False
    repeats: int = 1
    answer_repeats: int = 1
    budget: float | None = None
    retry_failed: bool = False
    retry_unscored: bool = False
    show_reference: bool = False
    score_pictures: bool = True
    judge_sampling: Sampling | None = None
    answer_sampling: Sampling | None = None
    look: Look | None = None
