import pytest

from atom.probes.answers.values import PlantedMark
from atom.probes.draws import Draws
from atom.probes.noise import (
    CARRIED_IMAGINED,
    CARRIED_MISSED,
    SILENCE_IMAGINED,
    SILENCE_MISSED,
    coin_mark,
    confuse,
    confusion_row,
    noisy_mark,
)

MARKS = [
    PlantedMark(score=score, carried=carried)
    for score in range(1, 6)
    for carried in (False, True)
    if not (carried and score > 3)
] + [PlantedMark(score=2, addressed=False)]


def fits_the_scale(mark):
    return (mark.addressed or mark.score == 2) and (
        not mark.carried or (mark.addressed and mark.score <= 3)
    )


def test_confusion_rows():
    for score in range(1, 6):
        row = confusion_row(score)
        assert sum(row) == pytest.approx(1)
        assert row[score - 1] == 0.80
    # At 3: .18 adjacent mass, share up .5 + .2/2 = .6.
    assert confusion_row(3) == pytest.approx((0.01, 0.072, 0.80, 0.108, 0.01))
    # At 5 all adjacent mass is folded onto 4.
    assert confusion_row(5)[3] == pytest.approx(0.18)
    assert confusion_row(1)[1] == pytest.approx(0.18)


def test_the_noise_follows_its_rows_and_repeats_itself():
    draws = Draws("noise")
    said = [confuse(3, draws, n) for n in range(6000)]
    for score in range(1, 6):
        # Largest standard error: sqrt(.8 * .2 / 6000) = .005.
        assert said.count(score) / 6000 == pytest.approx(confusion_row(3)[score - 1], abs=0.02)
    assert said == [confuse(3, draws, n) for n in range(6000)]


@pytest.mark.parametrize("mark", MARKS)
def test_no_judge_breaks_the_scale(mark):
    draws = Draws("scale")
    said = [noisy_mark(mark, draws, n, rests=True) for n in range(2000)]
    said += [coin_mark(draws, n) for n in range(2000)]
    assert all(fits_the_scale(one) for one in said)


def test_silence_and_inheritance_are_missed_as_often_as_planted():
    draws, n = Draws("shares"), 6000
    silent = [
        noisy_mark(PlantedMark(score=2, addressed=False), draws, k, rests=False) for k in range(n)
    ]
    # Standard errors: sqrt(.05 * .95 / 6000) = .003, sqrt(.02 * .98 / 6000) = .002.
    assert sum(m.addressed for m in silent) / n == pytest.approx(SILENCE_MISSED, abs=0.012)
    said = [noisy_mark(PlantedMark(score=1), draws, k, rests=True) for k in range(n)]
    assert sum(not m.addressed for m in said) / n == pytest.approx(SILENCE_IMAGINED, abs=0.008)
    low = [m for m in said if m.addressed and m.score <= 3]
    assert sum(m.carried for m in low) / len(low) == pytest.approx(CARRIED_IMAGINED, abs=0.012)
    heirs = [noisy_mark(PlantedMark(score=1, carried=True), draws, k, rests=True) for k in range(n)]
    low = [m for m in heirs if m.addressed and m.score <= 3]
    seen = sum(m.carried for m in low) / len(low)
    assert seen == pytest.approx(1 - CARRIED_MISSED, abs=0.016)
    first = [noisy_mark(PlantedMark(score=1), draws, k, rests=False) for k in range(n)]
    assert not any(m.carried for m in first)


def test_the_coin_draws_every_score_alike():
    said = [coin_mark(Draws("coin"), n) for n in range(10_000)]
    for score in range(1, 6):
        # sqrt(.2 * .8 / 10000) = .004
        assert sum(m.score == score for m in said) / 10_000 == pytest.approx(0.2, abs=0.016)
