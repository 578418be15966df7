"""Measure whether self-correction's effects are told from luck (METHODS D3's planted world).

Run it with `python benchmarks/correction_recovery.py --json`. Experiments are drawn without
pictures, texts or models, and each is read by the same functions as a real one. The baseline is the
truth by integration, or METHODS B14's figure where there is one. Rows that show what a naive
reading says have no bound; they stand beside the row that they mislead about.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from atom.analysis.correction.effects import CONTRASTS, Effect, effects
from atom.analysis.correction.quality import rises
from atom.analysis.correction.trials import code_of, standing
from atom.records.correction import Arm
from tests.planted import WorldSettings
from tests.planted_trials import CorrectionWorld, plant_trials, plant_unchanged, truth

Floats = NDArray[np.float64]
ALPHA = 0.05
ARMS: tuple[Arm, ...] = ("rejudge", "fresh", "told", "sham", "guided")
MEASURED = ("luck", "notification", "diagnostic value", "gain over Re-eval as printed (self)")
WITH_EFFECT = CorrectionWorld(arms=ARMS)
NULL = replace(WITH_EFFECT, told=0.0, hint=0.0)
NOISE = {"false_negative": 0.10, "false_positive": 0.05}
SELECTED = {"good_judge": (0.85, 0.02, 0.22, 0.05), "poor_judge": (0.70, 0.05, 0.49, 0.16)}
"""Share of right scores, share two or more away, METHODS' rise of failed criteria and of all."""
GOOD_LUCK = 0.3913


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """What repeated experiments in one world found.

    Attributes:
        estimate: mean by effect.
        spread: standard deviation by effect.
        coverage: share of intervals that hold the truth, by effect.
        wrong: share of two-sided tests at 5 % that reject, by effect, unadjusted.
        family: share of experiments in which a wrong gain or loss is called on two null effects.
        naive: mean share of failed answers that guided feedback fixes, with no control.
        naive_positive: share of experiments in which that is over 0.
        repetitions: how many experiments.
    """

    estimate: dict[str, float]
    spread: dict[str, float]
    coverage: dict[str, float]
    wrong: dict[str, float]
    family: float
    naive: float
    naive_positive: float
    repetitions: int


def sweep(world: CorrectionWorld, repetitions: int, seed: int) -> Sweep:
    """Draw experiments and read each of them."""
    known = truth(world)
    contrasts = tuple(each for each in CONTRASTS if each.name in MEASURED)
    target = {each.name: known.effect(each.arm, each.control, by_judge=True) for each in contrasts}
    found: dict[str, list[Effect]] = {name: [] for name in MEASURED}
    naive, called = [], 0
    for number in range(repetitions):
        trials = plant_trials(world, np.random.default_rng([seed, number]))
        seen = effects(trials, contrasts)
        for effect in seen:
            found[effect.name].append(effect)
        called += any(
            effect.verdict in {"gain", "worse"} for effect in seen if effect.role == "value"
        )
        naive.append(float(np.nanmean(standing(trials).right[:, code_of("guided")])))
    value = {name: np.array([each.estimate for each in seen]) for name, seen in found.items()}
    return Sweep(
        estimate={name: float(each.mean()) for name, each in value.items()},
        spread={name: float(each.std(ddof=1)) for name, each in value.items()},
        coverage={
            name: float(np.mean([each.lo <= target[name] <= each.hi for each in seen]))
            for name, seen in found.items()
        },
        wrong={
            name: float(np.mean([each.p <= ALPHA for each in seen])) for name, seen in found.items()
        },
        family=called / repetitions,
        naive=float(np.mean(naive)),
        naive_positive=float(np.mean(np.array(naive) > 0)),
        repetitions=repetitions,
    )


def regression(accuracy: float, far: float, repetitions: int, seed: int) -> dict[str, float]:
    """Measure how criteria rise whose answers were repeated word for word.

    Args:
        accuracy: how often the judge says the true score.
        far: how often it is off by two or more.
        repetitions: experiments.
        seed: of the draws.

    Returns:
        Mean rise of failed criteria over the scores that chose them (`naive`) and over independent
        ones (`honest`), and of all criteria of answers with a weighted score under 3 (`answers`).
    """
    settings = WorldSettings(diagonal=accuracy, far=far)
    parts: dict[str, list[float]] = {"naive": [], "answers": [], "honest": []}
    for number in range(repetitions):
        trials = plant_unchanged(settings, np.random.default_rng([seed, number]))
        again = rises(trials, failed_only=True)[1]
        parts["naive"].append(again.naive)
        parts["honest"].append(again.rise)
        answer, before = trials.answer[trials.trial], trials.before
        weighted = np.bincount(answer, weights=trials.weight * before)
        score = weighted / np.bincount(answer, weights=trials.weight)
        parts["answers"].append(float((trials.after - before)[score[answer] < 3].mean()))
    return {name: float(np.mean(values)) for name, values in parts.items()}


def _line(
    name: str, value: float, baseline: float, n: int, note: str, unit: str = "share",
    bounds: tuple[float, float] | None = None,
) -> dict[str, object]:  # fmt: skip
    if bounds is not None:
        least, most = bounds
        short = not least <= value <= most
        required = f"required {least:.4g} to {most:.4g}" if least > -1 else f"at most {most:.4g}"
        note = f"{'short: ' if short else ''}{required}; {note}"
    return {
        "name": name,
        "value": round(value, 4),
        "unit": unit,
        "baseline": round(baseline, 4),
        "ratio": round(value / baseline, 3) if baseline else None,
        "n": n,
        "note": note,
    }


def _slug(name: str) -> str:
    plain = "".join(letter if letter.isalnum() else "_" for letter in name.lower())
    return "_".join(part for part in plain.split("_") if part)


def effect_lines(repetitions: int, seed: int) -> Iterator[dict[str, object]]:
    """Recovery, coverage and noise, with METHODS D3's shifts planted."""
    slack = 3 * math.sqrt(0.05 * 0.95 / repetitions)
    tight = repetitions >= 800
    for title, world in (
        ("", WITH_EFFECT),
        ("noisy_judge_", replace(WITH_EFFECT, **NOISE)),
    ):
        found, known = sweep(world, repetitions, seed), truth(world)
        for each in (each for each in CONTRASTS if each.name in MEASURED):
            true = known.effect(each.arm, each.control, by_judge=True)
            error = found.spread[each.name] / math.sqrt(repetitions)
            near = 0.02 if tight else max(0.02, 3 * error)
            yield _line(
                f"{title}{_slug(each.name)}", found.estimate[each.name], true, repetitions,
                f"mean estimate, standard error {error:.4f}",
                bounds=(true - near, true + near),
            )  # fmt: skip
            yield _line(
                f"{title}{_slug(each.name)}_coverage", found.coverage[each.name], 0.95,
                repetitions, "of 95 % intervals",
                bounds=(0.93, 0.97) if tight else (0.93 - slack, 0.97 + slack),
            )  # fmt: skip
        if title:
            plain = known.effect("guided", "sham")
            yield _line(
                "noisy_judge_dampening", found.estimate["diagnostic value"] / plain, 0.85,
                repetitions, "estimate over the true effect on the same answers; 1 - FN - FP",
                unit="ratio",
                bounds=(0.85 - 0.02 / plain, 0.85 + 0.02 / plain) if tight else None,
            )  # fmt: skip


def null_lines(repetitions: int, seed: int) -> Iterator[dict[str, object]]:
    """What the tests and the naive gain say where feedback does nothing at all."""
    slack = 0.0 if repetitions >= 800 else 3 * math.sqrt(0.05 * 0.95 / repetitions)
    for title, world in (("null_", NULL), ("null_noisy_judge_", replace(NULL, **NOISE))):
        found, known = sweep(world, repetitions, seed + 1), truth(world)
        for name in MEASURED[1:]:
            yield _line(
                f"{title}{_slug(name)}_rejected", found.wrong[name], ALPHA, repetitions,
                f"tests at 5 % with nothing there; mean estimate {found.estimate[name]:+.4f}",
                bounds=(-1.0, 0.065 + slack),
            )  # fmt: skip
        yield _line(
            f"{title}gain_called", found.family, ALPHA, repetitions,
            "experiments in which guided feedback is called a gain or worse",
            bounds=(-1.0, 0.065 + slack),
        )  # fmt: skip
        yield _line(
            f"{title}naive_gain", found.naive, known.judged["guided"], repetitions,
            f"contrast: share 'corrected' with no effect at all (METHODS {GOOD_LUCK} without "
            f"noise); over 0 in {found.naive_positive:.0%} of experiments",
        )  # fmt: skip


def quality_lines(repetitions: int, seed: int) -> Iterator[dict[str, object]]:
    """How far criteria rise that were only chosen by a low score."""
    for name, (accuracy, far, published, whole) in SELECTED.items():
        found = regression(accuracy, far, repetitions, seed + 2)
        yield _line(
            f"{name}_failed_criteria_naive", found["naive"], published, repetitions,
            "contrast: repeated answers judged again, against the scores that chose them",
            unit="points",
        )  # fmt: skip
        yield _line(
            f"{name}_failed_answers_naive", found["answers"], whole, repetitions,
            "contrast: the same, all criteria of answers under 3", unit="points",
        )  # fmt: skip
        yield _line(
            f"{name}_failed_criteria_honest", found["honest"], 0.0, repetitions,
            "the same answers against an independent judgement; nothing changed",
            unit="points", bounds=(-0.02, 0.02),
        )  # fmt: skip


def lines(repetitions: int, seed: int) -> Iterator[dict[str, object]]:
    """Measure everything."""
    yield from effect_lines(repetitions, seed)
    yield from null_lines(repetitions, seed)
    yield from quality_lines(max(2, repetitions // 20), seed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--reps", type=int, default=800, help="experiments a world")
    parser.add_argument("--seed", type=int, default=0, help="of the draws")
    options = parser.parse_args()
    for line in lines(options.reps, options.seed):
        plain = "{name:58} {value:<8} (baseline {baseline})  {note}".format_map(line)
        sys.stdout.write((json.dumps(line) if options.json else plain) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
