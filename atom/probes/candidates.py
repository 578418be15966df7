"""Synthetic candidates with planted abilities and weaknesses.

An answer is a pure function of (world seed, model, program, repeat): every draw is a hash of these,
so that a run can be repeated, resumed and compared, and a later test knows what to recover.

Reference: METHODS D2 (abilities, weaknesses, graded outcomes), D3 (process and outcome, feedback).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import exp

from atom.probes.answers.prose import VOICES, PlantedAnswer, Voice, write_answer
from atom.probes.answers.values import Silence
from atom.probes.draws import Draws
from atom.probes.program import Program, ProgramStep
from atom.probes.worlds import leaves as probe_leaves
from atom.probes.worlds.leaves import Leaf

MODELS: tuple[str, ...] = tuple(f"model-{letter}" for letter in "abcdefgh")
DRIFTING = frozenset({"model-a"})
DEFAULT_SEED = 7
_SILENCES: tuple[Silence, ...] = ("unable", "unsaid")
ALL_LEAVES: tuple[Leaf, ...] = tuple(
    sorted(v for k, v in vars(probe_leaves).items() if k.isupper() and isinstance(v, tuple))
)
"""Every leaf that a drawn probe can test."""


@dataclass(frozen=True, kw_only=True)
class PlantedSpread:
    """The sizes of what is planted, in units of the latent scale.

    Reference: METHODS D2.
    """

    lowest: float = -0.2
    highest: float = 1.2
    deviation: float = 0.15
    weak: float = 1.0
    weak_leaves: int = 3
    leaf: float = 0.4
    difficulty: float = 1.1
    """Slope on the program's own difficulty (0..1, centred at 0.5)."""
    sample: float = 0.5
    """Together with the slope about N(0, .6) over evenly spread difficulties."""
    step: float = 0.7
    taste: float = 0.5
    """A model's luck with a sample, the same in every repeat."""
    cuts: tuple[float, float, float, float] = (-1.6, -0.7, 0.1, 0.9)
    slope: float = 1.7
    told: float = 0.3
    """Gain of being told that the answer is wrong."""
    hint: float = 0.8
    """Further gain on a step that the feedback names."""
    drift: float = 1.6
    """Further gain of a drifting model on such a step: it could do it, and didn't look."""


@dataclass(frozen=True, kw_only=True)
class Feedback:
    """What a candidate was told about its first answer."""

    text: str
    named: frozenset[str] = frozenset()
    """Ids of the steps that the feedback names and that the answer didn't have right."""
    shown: frozenset[str] = frozenset()
    """Ids of the steps whose true result the feedback shows."""
    final: bool = False
    """Whether it shows the right final answer."""
    answer: str = ""
    """The answer that the feedback is about."""


@dataclass(frozen=True, kw_only=True)
class World:
    """Everything that is planted; equal seeds give equal worlds."""

    seed: int
    models: tuple[str, ...] = MODELS
    leaves: tuple[Leaf, ...] = ALL_LEAVES
    spread: PlantedSpread = PlantedSpread()
    drifting: frozenset[str] = DRIFTING
    """Models whose slips are lapses of attention: being asked about a step mends most of them."""

    @cached_property
    def theta(self) -> Mapping[str, float]:
        """Model → ability, spread evenly and shuffled."""
        count = len(self.models)
        width = self.spread.highest - self.spread.lowest
        values = [self.spread.lowest + width * i / max(count - 1, 1) for i in range(count)]
        return dict(zip(self.models, self._draws.shuffled(values, "theta"), strict=True))

    @cached_property
    def weak(self) -> Mapping[str, tuple[Leaf, ...]]:
        """Model → its planted weak leaves; no two models share one while leaves last."""
        order = self._draws.shuffled(self.leaves, "weak")
        take = min(self.spread.weak_leaves, len(order))
        return {
            model: tuple(order[(i * take + j) % len(order)] for j in range(take))
            for i, model in enumerate(self.models)
        }

    @cached_property
    def leaf_difficulty(self) -> Mapping[Leaf, float]:
        """Leaf → how hard it is for everyone."""
        return {leaf: self._leaf_difficulty(leaf) for leaf in self.leaves}

    @cached_property
    def deviation(self) -> Mapping[str, Mapping[Leaf, float]]:
        """Model → leaf → small profile, centred within the model; weaknesses are not in it."""
        table: dict[str, Mapping[Leaf, float]] = {}
        for model in self.models:
            row = {leaf: self._raw_deviation(model, leaf) for leaf in self.leaves}
            centre = sum(row.values()) / max(len(row), 1)
            table[model] = {leaf: value - centre for leaf, value in row.items()}
        return table

    @cached_property
    def _draws(self) -> Draws:
        return Draws("world", self.seed)

    def _leaf_difficulty(self, leaf: Sequence[str]) -> float:
        return self.spread.leaf * self._draws.normal("leaf", *leaf)

    def _raw_deviation(self, model: str, leaf: Sequence[str]) -> float:
        return self.spread.deviation * self._draws.normal("deviation", model, *leaf)

    def eta(self, model: str, program: Program, step: ProgramStep) -> float:
        """Return a model's latent level on a step.

        `eta = theta + dev - Delta weak - b - beta - d + u`: ability, profile, planted weakness,
        leaf difficulty, sample difficulty, step difficulty, and the model's luck with the sample.

        Args:
            model: one of `models`.

        Returns:
            The level; higher answers better.

        Reference: METHODS D2.
        """
        spread, leaf = self.spread, step.leaf
        sample = (program.family, program.template, program.seed, program.index)
        hard = self.leaf_difficulty.get(leaf)
        own = self.deviation[model].get(leaf)
        level = self.theta[model] + (self._raw_deviation(model, leaf) if own is None else own)
        level -= spread.weak * (leaf in self.weak[model])
        level -= self._leaf_difficulty(leaf) if hard is None else hard
        level -= spread.difficulty * (program.difficulty - 0.5)
        level -= spread.sample * self._draws.normal("sample", *sample)
        level -= spread.step * self._draws.normal("step", *sample, step.id)
        return level + spread.taste * self._draws.normal("taste", model, *sample)

    def outcome(
        self,
        model: str,
        program: Program,
        step: ProgramStep,
        *,
        repeat: int | str = 0,
        feedback: Feedback | None = None,
    ) -> int:
        """Draw a step's score: `P(s >= c) = sigma(1.7 (eta - kappa_c))`.

        Args:
            model: one of `models`.
            repeat: names the repeat; equal repeats give equal draws.
            feedback: what the model was told about an earlier answer, if anything.

        Returns:
            1..5; a result that was shown is repeated as it is. What an answer says can be worth
            less where an earlier slip is inherited, and nothing where it is silent on the step.
        """
        if feedback is not None and step.id in feedback.shown:
            return 5
        level = self.eta(model, program, step)
        if feedback is not None:
            named = self.spread.hint + self.spread.drift * (model in self.drifting)
            level += self.spread.told + named * (step.id in feedback.named)
        draw = self._answer_draws(model, program, repeat, feedback).uniform("outcome", step.id)
        chances = (1 / (1 + exp(-self.spread.slope * (level - cut))) for cut in self.spread.cuts)
        return 1 + sum(draw < chance for chance in chances)

    def answer(
        self,
        model: str,
        program: Program,
        *,
        repeat: int | str = 0,
        feedback: Feedback | None = None,
    ) -> PlantedAnswer:
        """Write a model's answer to a probe.

        Args:
            model: one of `models`.
            repeat: names the repeat.
            feedback: what the model was told about an earlier answer, if anything.

        Returns:
            The text, with what was planted in it. Silence is the voice's own share, whatever the
            model knows, and never meets the step that the question ends in.
        """
        scores = {
            step.id: self.outcome(model, program, step, repeat=repeat, feedback=feedback)
            for step in program.steps
        }
        draws = self._answer_draws(model, program, repeat, feedback)
        right = True if feedback is not None and feedback.final else None
        shown = frozenset() if feedback is None else feedback.shown
        voice = self.voice(model)
        silent = {
            step.id: draws.pick(_SILENCES, "silence", step.id)
            for step in program.steps
            if step.id not in shown
            and step.id != program.answer_step
            and draws.uniform("silent", step.id) < voice.silent
        }
        return write_answer(program, scores, voice, draws, right=right, silent=silent, given=shown)

    def voice(self, model: str) -> Voice:
        """Return how a model writes."""
        return VOICES[self.models.index(model) % len(VOICES)]

    def _answer_draws(
        self, model: str, program: Program, repeat: int | str, feedback: Feedback | None
    ) -> Draws:
        sample = (program.family, program.template, program.seed, program.index)
        if feedback is None:
            return self._draws.below("answer", model, *sample, repeat, None)
        told = (feedback.text, feedback.answer)
        return self._draws.below("answer", model, *sample, repeat, *told)


@lru_cache(maxsize=16)
def planted_world(seed: int = DEFAULT_SEED) -> World:
    """Return the planted truth behind the synthetic candidates.

    Returns:
        The world; `theta`, `weak`, `deviation` and `leaf_difficulty` are what tests must recover.
    """
    return World(seed=seed)
