"""The probes that a judge is calibrated on: made once for all judges, so that they compare."""

from __future__ import annotations

from typing import Final

from atom.analysis.agreement.calibration import NAME
from atom.engine.bench.judging import BenchSpec
from atom.engine.bench.sets import make_probe_set
from atom.engine.clock import Clock, utc_now
from atom.records import BenchSet
from atom.store import Store

ANSWERS: Final = 240
"""Answers that a judge scores unless said otherwise: some 60 probes, 1,000 steps."""


def calibration_name(answers: int | None = None, seed: int = 0) -> str:
    """Name the set of these probes; arguments as of `calibration_set`."""
    return f"Probes {seed} ({ANSWERS if answers is None else answers} answers)"


def calibration_set(
    store: Store, answers: int | None = None, seed: int = 0, *, clock: Clock = utc_now
) -> BenchSet:
    """Return the set of these probes, made now if it isn't there.

    Args:
        answers: how many answers; None = `ANSWERS`.
        seed: of the probes.
        clock: UTC time, for records.

    Raises:
        UsageError: the number is out of range.
    """
    count = ANSWERS if answers is None else answers
    name = calibration_name(count, seed)
    there = store.get(BenchSet, BenchSet.make_id(NAME, name))
    return there or make_probe_set(store, NAME, count, seed, name=name, clock=clock)


def calibration_spec(
    store: Store, judge: str, answers: int | None = None, *, budget: float | None = None
) -> BenchSpec:
    """Say what calibrating a judge asks: one score of every step, at temperature 0.

    Args:
        judge: name of the judge's endpoint.
        answers: how many answers; None = `ANSWERS`.
        budget: spend cap in USD.
    """
    return BenchSpec(set_id=calibration_set(store, answers).id, judge=judge, budget=budget)
