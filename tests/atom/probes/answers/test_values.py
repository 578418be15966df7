import pytest

from atom.probes.answers.derivation import derive, follows, write_value
from atom.probes.answers.values import PlantedMark, choose_values, values_in_band
from atom.probes.draws import Draws
from atom.probes.program import band


def test_offered_values_lie_in_their_band_and_read_back(programs):
    from atom.probes.answers.covering import legal_value

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
            value = derive(program.steps, step, true)
            assert value is not None
            assert band(step, value) == "exact"
            assert follows(program.steps, step, value, true)
            derived += 1
    assert derived > 10


def test_nothing_follows_from_what_is_not_stated(programs):
    for program in programs:
        for step in program.steps:
            assert derive(program.steps, step, {}) is None
            value = step.truth if step.value is None else step.value
            assert not follows(program.steps, step, value, {})


@pytest.mark.parametrize("own", [1, 2, 3, 4, 5])
def test_a_slip_is_inherited_whatever_the_step_itself_drew(programs, own):
    carried = mended = own_shows = 0
    for program in programs:
        for step in program.steps:
            if step.derive is None:
                continue
            scores = dict.fromkeys((s.id for s in program.steps), 5) | {step.id: own}
            for slipped in (3, 1):
                drawn = scores | dict.fromkeys(step.depends_on, slipped)
                choice = choose_values(program, drawn, Draws("slip", program.index))
                stated = {k: v.value for k, v in choice.stated.items() if v.either is None}
                made = derive(program.steps, step, stated)
                mark = choice.marks[step.id]
                wrong = made is not None and band(step, made) != "exact"
                if wrong:
                    assert mark.carried
                    assert step.id in choice.coherent
                    assert band(step, stated[step.id]) == {1: "far", 3: "near"}[mark.score]
                    carried += 1
                else:
                    # The slips leave the result right, or nothing follows from them.
                    assert not mark.carried
                    own_shows += 1
                mended += made is not None and not wrong
    assert carried > 20
    assert own_shows >= mended


def test_no_step_is_carried_where_nothing_before_it_slipped(programs):
    for program in programs:
        for own in (1, 3):
            for step in program.steps:
                scores = dict.fromkeys((s.id for s in program.steps), 5) | {step.id: own}
                choice = choose_values(program, scores, Draws("first", program.index))
                assert not choice.marks[step.id].carried


def test_a_given_step_is_stated_as_drawn(programs):
    for program in programs:
        for step in program.steps:
            if step.derive is None:
                continue
            scores = dict.fromkeys((s.id for s in program.steps), 1) | {step.id: 5}
            choice = choose_values(program, scores, Draws("given"), given={step.id})
            assert choice.marks[step.id] == PlantedMark(score=5)


@pytest.mark.parametrize("how", ["unable", "unsaid"])
def test_silence_is_a_2_whatever_was_drawn(programs, how):
    for program in programs:
        silent = {step.id: how for step in program.steps}
        for score in (1, 5):
            scores = dict.fromkeys(silent, score)
            choice = choose_values(program, scores, Draws("hush"), silent=silent)
            assert set(choice.marks.values()) == {PlantedMark(score=2, addressed=False)}
            assert not choice.stated


@pytest.mark.parametrize("score", [1, 2, 3, 4, 5])
def test_a_written_score_is_the_drawn_one_or_the_nearest_that_can_be_written(programs, score):
    for program in programs:
        scores = dict.fromkeys((s.id for s in program.steps), score)
        choice = choose_values(program, scores, Draws("scores"))
        for step in program.steps:
            got = choice.marks[step.id]
            assert got.addressed
            assert (step.id in choice.stated) == (got.score != 2)
            if got.carried:
                continue
            if score in (2, 4, 5):
                assert got.score == score
            elif score == 1:
                # No far value: the near one is the nearest to it.
                assert got.score == (1 if values_in_band(step, "far") else 3)
            else:
                assert got.score == 3
