import choix
import numpy as np
import pytest

from atom.analysis.compare.preference import (
    FIRST,
    SECOND,
    TIE,
    Games,
    davidson,
    strength_intervals,
    tally,
)


def games(rows, k):
    a, b, result, cluster = (np.array(column, dtype=np.int64) for column in zip(*rows, strict=True))
    return Games(first=a, second=b, result=result, cluster=cluster, n_models=k)


def play(strength, nu, per_pair, rng):
    rows = []
    for i in range(len(strength)):
        for j in range(i + 1, len(strength)):
            p = np.array(
                [np.exp(strength[i]), np.exp(strength[j]),
                 nu * np.exp((strength[i] + strength[j]) / 2)]
            )  # fmt: skip
            drawn = rng.choice([FIRST, SECOND, TIE], per_pair, p=p / p.sum())
            rows += [(i, j, int(r), at) for at, r in enumerate(drawn)]
    return games(rows, len(strength))


def test_two_models_of_the_hand_worked_case():
    # W = 50, L = 25, T = 25: l1 - l2 = ln 2, nu = T / sqrt(W L) = 25/35.355 = .70711.
    found = davidson(np.array([[0, 50.0], [25, 0]]), np.array([[0, 25.0], [25, 0]]))
    assert found.strength[0] - found.strength[1] == pytest.approx(np.log(2), abs=1e-5)
    assert found.tie == pytest.approx(0.70711, abs=1e-5)
    # P(first) + half of the ties: .5 + .125.
    assert found.probability()[0, 1] == pytest.approx(0.625, abs=1e-5)
    assert not found.penalised


def test_without_ties_it_equals_choix():
    rng = np.random.default_rng(0)
    wins = rng.integers(1, 30, (5, 5)).astype(float)
    np.fill_diagonal(wins, 0)
    pairs = [(i, j) for i in range(5) for j in range(5) for _ in range(int(wins[i, j]))]
    expected = choix.ilsr_pairwise(5, pairs, alpha=0.0)
    found = davidson(wins, np.zeros((5, 5)))
    assert found.strength == pytest.approx(expected - expected.mean(), abs=1e-5)
    assert found.tie == 0


def test_planted_strengths_are_found():
    """METHODS B11: 300 games a pair."""
    truth = np.array([0.0, 0.3, 0.6, 1.0, 1.4])
    found = davidson(*tally(play(truth, 0.8, 300, np.random.default_rng(1))))
    assert found.strength == pytest.approx(truth - truth.mean(), abs=0.15)
    assert found.tie == pytest.approx(0.8, abs=0.1)


def test_the_order_of_models_and_sides_does_not_matter():
    played = play(np.array([0.0, 0.5, 1.0]), 0.5, 40, np.random.default_rng(2))
    one = davidson(*tally(played))
    sides = Games(
        first=played.second,
        second=played.first,
        result=np.array([SECOND, FIRST, TIE])[played.result],
        cluster=played.cluster,
        n_models=3,
    )
    assert davidson(*tally(sides)).strength == pytest.approx(one.strength)
    turned = davidson(one.wins[::-1, ::-1], one.ties[::-1, ::-1])
    assert turned.strength[::-1] == pytest.approx(one.strength, abs=1e-5)


def test_a_model_that_never_loses_stays_finite_and_says_so():
    found = davidson(np.array([[0, 9.0], [0, 0]]), np.zeros((2, 2)))
    assert found.penalised
    assert np.isfinite(found.strength).all()
    assert found.strength[0] > found.strength[1]


def test_no_games_one_model_and_nobody_are_sane():
    none = davidson(np.zeros((3, 3)), np.zeros((3, 3)))
    assert none.strength == pytest.approx(np.zeros(3))
    assert davidson(np.zeros((1, 1)), np.zeros((1, 1))).strength.tolist() == [0]
    assert davidson(np.zeros((0, 0)), np.zeros((0, 0))).strength.shape == (0,)
    empty = np.zeros(0, dtype=np.int64)
    nobody = Games(first=empty, second=empty, result=empty, cluster=empty, n_models=2)
    assert np.isnan(strength_intervals(nobody, np.random.default_rng(0)).lo).all()


def test_intervals_resample_clusters():
    played = play(np.array([0.0, 1.2]), 0.5, 60, np.random.default_rng(3))
    found = strength_intervals(played, np.random.default_rng(4), draws=60)
    point = davidson(*tally(played)).strength
    assert (found.lo < point).all()
    assert (point < found.hi).all()
    # The same games ten times over, in the same clusters, are no more evidence.
    often = Games(
        first=np.tile(played.first, 10),
        second=np.tile(played.second, 10),
        result=np.tile(played.result, 10),
        cluster=np.tile(played.cluster, 10),
        n_models=2,
    )
    again = strength_intervals(often, np.random.default_rng(4), draws=60)
    assert again.hi - again.lo == pytest.approx(found.hi - found.lo, rel=1e-3)


@pytest.mark.parametrize("ties", [0.0, 0.3])
@pytest.mark.parametrize("open_ended", [False, True])
def test_intervals_are_those_of_full_refits(ties, open_ended):
    rng = np.random.default_rng(8)
    k, n, draws = 4, 240, 12
    second = rng.integers(1, k, n)
    result = np.where(rng.random(n) < ties, TIE, rng.random(n) < 0.4).astype(np.int64)
    if open_ended:
        result[second == 1] = FIRST
    played = Games(
        first=np.zeros(n, dtype=np.int64), second=second, result=result, cluster=np.arange(n),
        n_models=k,
    )  # fmt: skip
    same = np.random.default_rng(9)
    refits = []
    for _ in range(draws):
        weight = np.bincount(same.integers(0, n, n), minlength=n).astype(np.float64)
        refits.append(davidson(*tally(played, weight)).strength)
    found = strength_intervals(played, np.random.default_rng(9), draws=draws)
    lo, hi = np.quantile(refits, [0.025, 0.975], axis=0)
    assert found.lo == pytest.approx(lo, abs=2e-3)
    assert found.hi == pytest.approx(hi, abs=2e-3)
