"""The benchmark of errors carried forward runs, and its worlds are what they say."""

import numpy as np
import pytest

from atom.analysis.readings import claim_rows
from benchmarks.propagation import draw, measure


def test_worlds_chain_and_inherit():
    alone, inherits = (draw(200, share, "first_break", 1).table for share in (0.0, 0.9))
    assert alone.chained.all()

    def after_a_failure(table):
        score = table.score.reshape(-1, 3)
        return (score[score[:, 0] <= 2, 1] <= 2).mean()

    assert after_a_failure(inherits) > after_a_failure(alone) + 0.2
    marked = draw(200, 0.9, "marked", 1).table
    assert marked.carried_known
    assert 0 < marked.carried.mean() < 0.5
    assert not (marked.carried & (marked.position == 0)).any()
    # Without any rule every step counts; with one, some don't.
    assert claim_rows(draw(200, 0.9, "all_steps", 1).table).all()
    assert not claim_rows(inherits).all()


@pytest.mark.slow
def test_both_rules_keep_false_discoveries_low_where_all_steps_do_not():
    def false(marks):
        return np.mean([measure(1200, 0.9, marks, seed)[0] for seed in range(6)])

    assert false("marked") <= 0.10
    assert false("first_break") <= 0.10
    assert false("all_steps") > max(false("marked"), false("first_break"))
