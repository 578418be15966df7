"""For what a judge is trusted, from hand-made evidence."""

from __future__ import annotations

import math

import numpy as np
import pytest

from atom.analysis.agreement.calibration import Branch, Calibration
from atom.analysis.agreement.fidelity import FidelityShare
from atom.analysis.agreement.homogeneity import RootHomogeneity
from atom.judgebench.base import MetricRow
from atom.views.lab.verdict import JudgeEvidence, PeopleShare, benches_words, judge_verdict

ROOTS = ("Perception", "Knowledge", "Generation")


def branch(*path, flaw=None, follows_lo=0.5, p=0.5):
    return Branch(
        path=path, n=40, clusters=20, unscored=0, counts=np.zeros((5, 5), dtype=np.int64),
        accuracy=0.8, accuracy_lo=0.7, accuracy_hi=0.9, bias=0.0, bias_lo=-0.1, bias_hi=0.1,
        alpha=0.8, follows=0.8, follows_lo=follows_lo, p=p, flaw=flaw,
    )  # fmt: skip


def calibration(roots, leaves=()):
    even = RootHomogeneity(statistic=0.0, p=1.0, roots=len(roots))
    return Calibration(whole=branch(), roots=tuple(roots), leaves=tuple(leaves), homogeneity=even)


def share(value, lo, hi, samples=50):
    return FidelityShare(value=value, lo=lo, hi=hi, n=100, clusters=samples)


def verdict(probes=None, people=None, benches=None, guess=0.4):
    known = JudgeEvidence(
        judge="j", name="Judge B", probes=probes, people=people, benches=benches or {}
    )
    return judge_verdict(known, ROOTS, guess)


def test_trusted_where_it_follows_the_truth_and_not_where_a_flaw_is_found():
    found = verdict(calibration(
        [branch("Perception"), branch("Knowledge"), branch("Generation", flaw="lenient")],
        [branch("Perception", "Counting", flaw="blind")],
    ))  # fmt: skip
    assert found.sentence == "Trust Judge B for Perception and Knowledge, not for Generation."
    assert found.short == "for Perception and Knowledge, not for Generation"
    assert found.roots[0].reasons[0].words.endswith("but not in Counting")
    assert "reads it too high" in found.roots[2].reasons[0].words


def test_what_was_not_tested_is_not_known():
    found = verdict(calibration([branch("Perception"), branch("Knowledge", p=math.nan)]))
    assert [one.stand for one in found.roots] == ["trust", "unknown", "unknown"]
    assert found.sentence == (
        "Trust Judge B for Perception. Too little is known about Knowledge and Generation."
    )
    unsure = verdict(calibration([branch(root, follows_lo=-0.1) for root in ROOTS]))
    assert unsure.sentence == (
        "What is known of Judge B doesn’t tell yet whether it deserves trust."
    )


@pytest.mark.parametrize(
    ("lo", "hi", "stand"),
    [
        (0.5, 0.7, "trust"),
        (0.3, 0.5, "unknown"),
        (0.1, 0.3, "not"),
        (math.nan, math.nan, "unknown"),
    ],
)
def test_people_are_held_against_guessing(lo, hi, stand):
    people = PeopleShare(whole=share(0.6, 0.5, 0.7), by_root={"Knowledge": share(0.5, lo, hi)})
    found = verdict(people=people)
    assert [one.stand for one in found.roots] == ["unknown", stand, "unknown"]


@pytest.mark.parametrize(("samples", "stand"), [(1, "unknown"), (4, "unknown"), (5, "trust")])
def test_a_few_samples_that_people_ranked_say_nothing(samples, stand):
    few = share(1.0, 0.9, 1.0, samples)
    found = verdict(people=PeopleShare(whole=few, by_root={"Knowledge": few}))
    reason = found.roots[1].reasons[0]
    assert (found.roots[1].stand, reason.stand) == (stand, stand)
    if stand == "unknown":
        assert reason.words == f"too few samples are ranked by them ({samples})"
        assert found.short == "not known"


def test_one_reason_against_outweighs_one_for():
    people = PeopleShare(whole=share(0.2, 0.1, 0.3), by_root={"Perception": share(0.2, 0.1, 0.3)})
    found = verdict(calibration([branch("Perception")]), people)
    assert [one.stand for one in found.roots[0].reasons] == ["trust", "not"]
    assert found.sentence.startswith("Don’t trust Judge B for Perception.")


def test_a_judge_of_whom_nothing_is_known():
    found = verdict()
    assert found.sentence.startswith("Whether Judge B deserves trust isn’t known yet")
    assert found.short == "not known"
    rows = {
        "vl_rewardbench": MetricRow(metric="m", label="l", value=80, lo=70, hi=90, chance=50, n=9),
        "mm_critic": MetricRow(metric="m", label="l", value=52, lo=40, hi=64, chance=50, n=9),
    }
    found = verdict(benches=rows)
    assert found.short == benches_words(found.known) == "better than guessing on 1 of 2 benchmarks"
