import pytest

from atom.probes.draws import Draws
from atom.probes.program import band
from atom.probes.values import choose_values, derive, values_in_band, write_value


def test_offered_values_lie_in_their_band_and_read_back(programs):
    from atom.probes.covering import legal_value

    for program in programs:
        for step in program.steps:
            for wanted in ("exact", "near", "far"):
                for value in values_in_band(step, wanted):
                    assert band(step, value) == wanted
                    said = legal_value(step, write_value(step, value))
                    assert said is not None, (step.id, value, write_value(step, value))
                    assert band(step, said) == wanted


def test_the_truth_follows_from_the_true_values(programs):
    derived = 0
    for program in programs:
        true = {s.id: s.truth if s.value is None else s.value for s in program.steps}
        for step in program.steps:
            if step.derive is None:
                continue
            value = derive(program, step, true)
            assert value is not None
            assert band(step, value) == "exact"
            derived += 1
    assert derived > 10


def test_nothing_follows_from_what_is_not_stated(programs):
    for program in programs:
        assert all(derive(program, step, {}) is None for step in program.steps)


def test_misses_are_chosen_jointly(programs):
    coherent = possible = 0
    for program in programs:
        for step in program.steps:
            if step.derive is None:
                continue
            for missed in (3, 2):
                scores = dict.fromkeys((s.id for s in program.steps), 5)
                scores.update(dict.fromkeys(step.depends_on, missed))
                scores[step.id] = 2
                choice = choose_values(program, scores, Draws("joint", program.index))
                possible += 1
                coherent += step.id in choice.coherent
                for other in program.steps:
                    if other.id not in choice.coherent:
                        continue
                    stated = {k: v.value for k, v in choice.stated.items()}
                    assert derive(program, other, stated) is not None
    assert coherent / possible > 0.6


@pytest.mark.parametrize("score", [1, 2, 3, 4, 5])
def test_a_written_score_is_the_drawn_one_or_the_nearest_that_can_be_written(programs, score):
    for program in programs:
        scores = dict.fromkeys((s.id for s in program.steps), score)
        choice = choose_values(program, scores, Draws("scores"))
        for step in program.steps:
            got = choice.scores[step.id]
            assert (step.id in choice.stated) == (got > 1)
            if score in (1, 4, 5):
                assert got == score
            elif score == 2:
                assert got == 2 or not values_in_band(step, "far")
