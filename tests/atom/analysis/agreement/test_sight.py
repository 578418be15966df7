"""Whether a judge looks, on marks that are worked out by hand and on planted judges."""

from __future__ import annotations

import math

import numpy as np
import pytest

from atom.analysis.agreement.sight import SightMarks, moved_marks, read_sight
from atom.records import SHOWN

NAN = math.nan


def marks_of(cluster, visual, **values) -> SightMarks:
    """Make marks; what isn't given wasn't asked."""
    n = len(cluster)
    return SightMarks(
        cluster=np.array(cluster),
        visual=np.array(visual, dtype=bool),
        value={name: np.array(values.get(name, [NAN] * n), dtype=float) for name in SHOWN},
        asked={name: np.full(n, name in values) for name in SHOWN},
    )


def planted(rng, *, questions=60, pull=0.0, noise=0.1, leak=0.0) -> SightMarks:
    """Draw marks: 4 criteria to an answer, half of them visual, of which `pull` moves."""
    cluster = np.repeat(np.arange(questions), 8)
    visual = np.tile([True, True, False, False], 2 * questions)
    truth = rng.random(len(cluster)) < 0.6

    def drawn(share):
        flips = rng.random(len(cluster)) < noise
        flips ^= rng.random(len(cluster)) < np.where(visual, share, leak if share else 0)
        return (truth ^ flips).astype(float)

    values = {"picture": drawn(0), "again": drawn(0), "none": drawn(pull), "other": drawn(pull)}
    return marks_of(cluster, visual, **values)


def test_what_moves_by_hand():
    base = np.array([1, 1, 0, 1, NAN])
    now = np.array([0.25, 1, 0, NAN, 1])
    asked = np.array([True, True, True, True, True])
    # One changed sides, one fell silent, two stayed; without a baseline nothing is known.
    assert moved_marks(base, now, asked)[:4].tolist() == [1, 0, 0, 1]
    assert math.isnan(moved_marks(base, now, asked)[4])
    marks = marks_of([0] * 5, [True] * 5, picture=base, none=now)
    found = read_sight(marks, np.random.default_rng(0)).by["none", "visual"]
    assert (found.n, found.clusters) == (4, 1)
    assert found.moved.value == pytest.approx(2 / 4)
    assert found.silent == pytest.approx(1 / 4)
    # (-.75 + 0 + 0) / 3 where there are both
    assert found.shift.value == pytest.approx(-0.25)
    assert found.size.value == pytest.approx(0.25)
    assert math.isnan(found.moved.lo)  # one question has no spread


def test_what_moves_again_is_taken_off():
    # Of four visual marks one moves by chance, three without the picture: 3/4 - 1/4.
    marks = marks_of(
        [0, 1, 2, 3], [True] * 4, picture=[1, 1, 1, 1], again=[0, 1, 1, 1], none=[0, 0, 0, 1],
        other=[0, 0, 1, 1],
    )  # fmt: skip
    found = read_sight(marks, np.random.default_rng(0))
    assert found.by["none", "visual"].excess.value == pytest.approx(0.5)
    assert found.pull.value == pytest.approx((0.5 + 0.25) / 2)
    assert found.finding == "few"


def test_no_change_at_all_is_bounded_by_how_few_questions_there_are():
    same = [1.0, 0.0] * 40
    four = ("picture", "again", "none", "other")
    few, many = (
        read_sight(
            marks_of(list(range(n)), [True] * n, **dict.fromkeys(four, same[:n])),
            np.random.default_rng(0),
        )
        for n in (25, 80)
    )  # fmt: skip
    assert (few.finding, many.finding) == ("unclear", "text")
    assert 0 < many.pull.hi < 0.1 < few.pull.hi
    assert many.by["none", "visual"].moved.lo == 0  # a share isn't below none


def test_a_judge_without_marks_won_t_mark():
    n = 30
    silent = marks_of(
        list(range(n)), [True] * n, picture=[1.0] * n, again=[1.0] * n, none=[NAN] * n,
        other=[1.0] * n,
    )  # fmt: skip
    assert read_sight(silent, np.random.default_rng(0)).finding == "refuses"


def test_without_visual_criteria_all_count():
    rng = np.random.default_rng(5)
    marks = planted(rng, pull=0.4, leak=0.4)
    alike = SightMarks(
        cluster=marks.cluster, visual=np.zeros(len(marks.cluster), dtype=bool), value=marks.value,
        asked=marks.asked,
    )  # fmt: skip
    found = read_sight(alike, rng)
    assert (found.led, found.finding) == ("all", "reads")
    assert math.isnan(found.elsewhere.value)


def test_planted_judges_are_told_apart():
    """Sensitivity and specificity of at least .95 over forty judges of either kind."""
    said = {
        pull: [
            read_sight(planted(rng, pull=pull), rng, draws=200)
            for rng in map(np.random.default_rng, range(40))
        ]
        for pull in (0.0, 0.3)
    }
    assert sum(one.finding == "reads" for one in said[0.3]) >= 38
    assert sum(one.finding == "reads" for one in said[0.0]) <= 2
    assert sum(one.finding == "text" for one in said[0.0]) >= 30
    # The pull is what was planted, less what chance turns back: .3 * (1 - 2 * .18).
    mean = np.mean([one.pull.value for one in said[0.3]])
    assert mean == pytest.approx(0.3 * (1 - 2 * 0.18), abs=0.03)
    assert not any(one.everywhere for one in said[0.3])


def test_a_judge_that_moves_everywhere_is_called_so():
    rng = np.random.default_rng(3)
    assert read_sight(planted(rng, pull=0.4, leak=0.4), rng).everywhere
