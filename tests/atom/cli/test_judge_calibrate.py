"""`judge calibrate`: probes made once, a judge held against them."""

from __future__ import annotations


def test_a_judge_is_calibrated_and_asked_again_for_nothing(say):
    first = say("judge", "calibrate", "--judge", "probe-judge-noisy", "--probes", "8", "--json")
    assert first.code == 0, first.err
    metrics = {row["metric"]: row for row in first.data["headline"]}
    assert metrics["accuracy"]["n"] > 20
    # A guess at this judge's own frequencies: near 0, as the truths are spread nearly alike.
    assert abs(metrics["alpha_to_truth"]["chance"]) < 0.1
    again = say("judge", "calibrate", "--judge", "probe-judge-noisy", "--probes", "8", "--dry-run",
                "--json")  # fmt: skip
    assert again.data["calls"] == {}
    other = say("judge", "calibrate", "--judge", "probe-judge", "--probes", "8", "--dry-run")
    assert "8 calls to probe-judge" in other.out


def test_a_judge_must_be_one(say):
    wrong = say("judge", "calibrate", "--judge", "model-a", "--probes", "2")
    assert wrong.code != 0
    assert "model-a" in wrong.err
    assert say("judge", "calibrate", "--judge", "probe-judge", "--probes", "0").code != 0


def test_a_dry_run_keeps_no_probes(say):
    words = ("judge", "calibrate", "--judge", "probe-judge", "--probes", "4", "--dry-run")
    assert "4 items: 4 calls to probe-judge" in say(*words).out
    assert say("judge", "list", "--json").data["sets"] == []
