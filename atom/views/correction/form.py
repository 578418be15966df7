"""What a self-correction experiment is asked to do, in words: arms, effects, and the form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

from atom.records.correction import Arm, FailedRule
from atom.views.filters import Filters
from atom.views.study_data import StudyData
from taxonomy import Path

ARMS: tuple[Arm, ...] = get_args(Arm)
CONTROLS: tuple[Arm, ...] = ("rejudge", "fresh", "told", "sham")
"""What would have happened anyway."""
FEEDBACK: tuple[Arm, ...] = ("guided", "peer", "guided_peer", "oracle")
"""What says more than "that was wrong"."""
USUAL: tuple[Arm, ...] = ("rejudge", "fresh", "told", "sham", "guided", "peer")


@dataclass(frozen=True, kw_only=True)
class ArmWords:
    """An arm in plain words.

    Attributes:
        name: what it's called on the screen.
        meaning: what is done, and what it's for.
        does: what it does to answers, `… fixes`.
    """

    name: str
    meaning: str
    does: str


ARM_WORDS: Mapping[Arm, ArmWords] = {
    "rejudge": ArmWords(
        name="Judge again",
        meaning="Nobody is asked anew: the old answer is judged a second time. What comes right "
        "here is the judge changing its mind.",
        does="judging the old answer again",
    ),
    "fresh": ArmWords(
        name="Another try",
        meaning="The model answers the question once more and hears nothing. What comes right here "
        "is luck.",
        does="another try without feedback",
    ),
    "told": ArmWords(
        name="Told it's wrong",
        meaning="The model hears that its answer is wrong, and nothing else (the paper's Re-eval).",
        does="saying that it is wrong",
    ),
    "sham": ArmWords(
        name="Asked about passed steps",
        meaning="The model is asked the questions of steps that it got right (sham). As long and "
        "as specific as real feedback, but without the diagnosis.",
        does="asking about passed steps",
    ),
    "guided": ArmWords(
        name="Asked about failed steps",
        meaning="The model is asked the questions of the steps that it failed, their answers "
        "hidden (criterion-guided).",
        does="asking about the failed steps",
    ),
    "peer": ArmWords(
        name="A peer's hints",
        meaning="Another model that solved a failed step writes a hint on where to look, without "
        "giving the answer away.",
        does="hints by peers",
    ),
    "guided_peer": ArmWords(
        name="Failed steps and hints",
        meaning="The questions of the failed steps and the peers' hints together.",
        does="questions and hints together",
    ),
    "oracle": ArmWords(
        name="Truth shown",
        meaning="The answers to the steps and to the question are shown (oracle). No feedback can "
        "do better: it is the ceiling.",
        does="showing the truth",
    ),
}


@dataclass(frozen=True, kw_only=True)
class EffectWords:
    """An effect in plain words."""

    name: str
    meaning: str


EFFECT_WORDS: Mapping[str, EffectWords] = {
    "luck": EffectWords(
        name="Luck",
        meaning="What another try fixes without any feedback, beyond the judge changing its mind.",
    ),
    "notification": EffectWords(
        name="Being told",
        meaning="What hearing that it's wrong adds to another try.",
    ),
    "diagnostic value": EffectWords(
        name="Diagnosis",
        meaning="What asking about the failed steps adds to asking about passed ones: the value of "
        "knowing where to look.",
    ),
    "peer value": EffectWords(
        name="Peers' hints",
        meaning="What hints by peers add to asking about passed steps.",
    ),
    "peer over guided": EffectWords(
        name="Hints instead of questions",
        meaning="What hints by peers fix more than the questions of the failed steps do.",
    ),
    "both over guided": EffectWords(
        name="Hints on top",
        meaning="What hints add to the questions of the failed steps.",
    ),
    "both over peer": EffectWords(
        name="Questions on top",
        meaning="What the questions of the failed steps add to hints.",
    ),
    "ceiling": EffectWords(
        name="Ceiling",
        meaning="What showing the truth adds to saying that it's wrong. Feedback can't reach more.",
    ),
    "gain over Re-eval as printed (self)": EffectWords(
        name="Asked about failed steps, less told",
        meaning="The paper's gain for criterion-guided feedback. Being told asks nothing, so the "
        "length of the message and looking again are in it.",
    ),
    "gain over Re-eval as printed (peer)": EffectWords(
        name="Peers' hints, less told",
        meaning="The paper's gain for peer-assisted feedback, under the same reservation.",
    ),
}

RULE_WORDS: Mapping[FailedRule, str] = {
    "outcome": "wrong final answers",
    "score": "answers that score under 3",
    "criterion": "answers that failed a heavy step",
}


@dataclass(frozen=True, kw_only=True)
class CorrectionForm:
    """What an experiment is asked to do, as the form holds it."""

    model: str = ""
    """A candidate's id."""
    failed_rule: FailedRule = "outcome"
    node: Path = ()
    arms: tuple[Arm, ...] = USUAL
    rounds: int = 1
    limit: int | None = 40
    budget: float | None = 2.0
    threshold: int = 2
    right_answers: int = 0
    seed: int = 0
    judge: str = ""
    """An endpoint's name; empty = the study's own judge, else the usual one."""

    @property
    def problem(self) -> str:
        """What is missing or wrong, in words; empty when it can be started."""
        if not self.model:
            return "Choose a model."
        if not self.arms:
            return "Choose at least one thing to try."
        if self.right_answers and "guided" not in self.arms:
            words = ARM_WORDS["guided"].name
            return f"Right answers are asked about their weakest steps: add “{words}”."
        return ""

    @property
    def warnings(self) -> tuple[str, ...]:
        """Which claims can't be made, since a control is missing."""
        arms = set(self.arms)
        name = {arm: f"“{words.name}”" for arm, words in ARM_WORDS.items()}
        found = []
        if "rejudge" not in arms or not arms & {"fresh", "told"}:
            needs = [] if "rejudge" in arms else [name["rejudge"]]
            needs += [] if arms & {"fresh", "told"} else [f"{name['fresh']} or {name['told']}"]
            found.append(
                f"Without {' and '.join(needs)} nothing may be called a gain: how much of it is "
                "luck, or the judge changing its mind, stays unknown."
            )
        if "sham" not in arms:
            blind = [name[arm] for arm in ("guided", "peer") if arm in arms]
            if blind:
                found.append(
                    f"Without {name['sham']} nobody can say that {' or '.join(blind)} works by "
                    "what it says: a long message may do as much."
                )
        if "told" not in arms:
            printed = arms & {"guided", "peer"}
            if printed:
                found.append(f"Without {name['told']} the paper's own gain can't be shown.")
            if "oracle" in arms:
                found.append(f"Without {name['told']} the ceiling has nothing to stand on.")
        if "fresh" not in arms and "told" in arms:
            found.append(f"Without {name['fresh']} luck isn't measured by itself.")
        if "guided_peer" in arms and not arms & {"guided", "peer"}:
            found.append(
                f"{name['guided_peer']} is held against its parts: add {name['guided']} or "
                f"{name['peer']}."
            )
        return tuple(found)


def first_form(data: StudyData, filters: Filters) -> CorrectionForm:
    """Return the form as it stands at first: the chain's model and capability, controls on."""
    known = [candidate.id for candidate in data.candidates]
    model = filters.model if filters.model in known else (known[0] if known else "")
    usual = USUAL if data.has_process else tuple(arm for arm in USUAL if arm in CONTROLS[:3])
    few = tuple(arm for arm in usual if arm != "peer" or len(known) > 1)
    rule: FailedRule = "outcome" if data.has_outcome else "score"
    return CorrectionForm(model=model or "", node=filters.node, arms=few, failed_rule=rule)


def arms_possible(data: StudyData) -> tuple[Arm, ...]:
    """Return the arms that a study can have: without criteria nothing can be asked about."""
    if data.has_process:
        return ARMS if len(data.candidates) > 1 else tuple(a for a in ARMS if "peer" not in a)
    return ("rejudge", "fresh", "told", "oracle") if data.has_outcome else ()


def nodes_of(data: StudyData) -> tuple[Path, ...]:
    """Return the places of the tree that hold criteria, roots first, then deeper ones."""
    found = {leaf[:depth] for leaf in data.table.leaves for depth in range(1, len(leaf) + 1)}
    return tuple(sorted(found, key=lambda path: (len(path), path)))
