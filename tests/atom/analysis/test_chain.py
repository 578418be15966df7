import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from atom.analysis.chain import first_breaks

# Model 0: sample 0: 5 4 1 1 (breaks at 2); 1: 5 5 5 (never); 2: 2 5 (at 0); 3: 5 ? 1 (lost at 1).
# Model 1: sample 0: 1 (at 0), place 1 unscored after the break: still a break.
ROWS = [
    (0, 0, 0, 0, 1, 5), (0, 0, 1, 1, 1, 4), (0, 0, 2, 2, 1, 1), (0, 0, 3, 0, 1, 1),
    (0, 1, 0, 0, 1, 5), (0, 1, 1, 1, 1, 5), (0, 1, 2, 2, 1, 5),
    (0, 2, 0, 0, 1, 2), (0, 2, 1, 1, 1, 5),
    (0, 3, 0, 0, 1, 5), (0, 3, 1, 1, 1, 0), (0, 3, 2, -1, 1, 1),
    (1, 0, 0, -1, 1, 1), (1, 0, 1, 1, 1, 0),
]  # fmt: skip


def test_first_breaks_of_a_hand_worked_case(build):
    found = first_breaks(build(ROWS))
    assert found.place.tolist() == [2, -1, 0, -1, 0, -1, -1, -1]
    # Place 0: four answers, one breaks; place 1: samples 0 and 1; place 2: both, one breaks.
    assert found.at_risk[0].tolist() == [4, 2, 2, 0]
    assert found.breaks[0].tolist() == [1, 0, 1, 0]
    assert found.hazard[0][:3] == pytest.approx([0.25, 0, 0.5])
    assert np.isnan(found.hazard[0][3])
    # Intact: 3/4, 3/4, 3/8, 3/8.
    assert found.intact[0] == pytest.approx([0.75, 0.75, 0.375, 0.375])
    assert found.lost.tolist() == [1, 0]
    assert found.leaf_breaks.tolist() == [[1, 0, 1, 0], [0, 0, 0, 1]]
    assert found.leaf_exposed[0].tolist() == [4, 2, 2, 0]


def test_intervals_are_wilsons(build):
    found = first_breaks(build(ROWS))
    expected = proportion_confint(1, 4, method="wilson")
    assert (found.hazard_lo[0, 0], found.hazard_hi[0, 0]) == pytest.approx(expected, abs=1e-6)


def test_the_threshold_and_the_order_of_rows(build):
    rng = np.random.default_rng(0)
    shuffled = [ROWS[at] for at in rng.permutation(len(ROWS))]
    assert first_breaks(build(shuffled)).place.tolist() == first_breaks(build(ROWS)).place.tolist()
    assert first_breaks(build(ROWS), threshold=4).place.tolist()[0] == 1


def test_every_break_is_counted_once(build):
    found = first_breaks(build(ROWS))
    assert found.breaks.sum() == (found.place >= 0).sum() == found.leaf_breaks.sum()


def test_nothing_is_sane(build):
    none = first_breaks(build([], samples=0))
    assert none.hazard.shape == (2, 0)
    assert first_breaks(build(ROWS), np.zeros(len(ROWS), dtype=bool)).at_risk.sum() == 0
