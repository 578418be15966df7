from statistics import mean

import pytest

from atom.probes.answers.step_reader import read_steps
from atom.probes.candidates import ALL_LEAVES, MODELS, Feedback, World, planted_world
from atom.probes.judge import AnswerJudge


@pytest.fixture(scope="module")
def world():
    return planted_world(7)


def test_abilities_are_even_and_shuffled(world):
    values = sorted(world.theta.values())
    assert values == pytest.approx([-0.2 + 0.2 * i for i in range(8)])
    assert planted_world(8).theta != world.theta
    assert World(seed=7).theta == world.theta


def test_each_model_has_three_weak_leaves_of_its_own(world):
    every = [leaf for leaves in world.weak.values() for leaf in leaves]
    assert len(every) == 24
    assert len(set(every)) == min(24, len(ALL_LEAVES))
    assert set(every) <= set(ALL_LEAVES)


def test_profiles_are_centred(world):
    for row in world.deviation.values():
        assert abs(sum(row.values())) < 1e-9
        assert set(row) == set(ALL_LEAVES)


def test_probes_use_leaves_of_the_list(programs):
    assert {step.leaf for program in programs for step in program.steps} <= set(ALL_LEAVES)


def test_an_answer_is_a_pure_function(world, programs):
    program = programs[0]
    first = world.answer("model-a", program)
    for other in MODELS:
        world.answer(other, program, repeat=3)
    assert World(seed=7).answer("model-a", program) == first
    again = program.model_validate_json(program.model_dump_json())
    assert world.answer("model-a", again) == first


def test_repeats_differ(world, programs):
    texts = {world.answer("model-a", programs[0], repeat=r).text for r in range(6)}
    assert len(texts) > 3


def test_written_scores_are_those_drawn_but_for_silence_and_inherited_slips(world, programs):
    same = own = silent = carried = 0
    for program in programs:
        for model in MODELS:
            written = world.answer(model, program)
            for step in program.steps:
                mark = written.marks[step.id]
                silent += not mark.addressed
                carried += mark.carried
                if mark.addressed and not mark.carried:
                    own += 1
                    same += mark.score == world.outcome(model, program, step)
    # What differs are near and far misses of steps that have none.
    assert same / own > 0.97
    assert silent > 20
    assert carried > 20


@pytest.mark.slow
def test_silence_is_the_voices_own_share(world, programs):
    shares = {}
    for model in MODELS:
        marks = [
            written.marks[step.id].addressed
            for program in programs
            for repeat in range(12)
            for written in [world.answer(model, program, repeat=repeat)]
            for step in program.steps
            if step.id != program.answer_step
        ]
        shares[model] = 1 - mean(marks)
        # About 1,000 steps: standard error at most sqrt(.06 * .94 / 1000) = .008.
        assert shares[model] == pytest.approx(world.voice(model).silent, abs=0.025)
    assert max(shares.values()) < 0.09


def test_the_step_that_the_question_ends_in_is_never_left_in_silence(world, programs):
    for program in programs:
        for model in MODELS:
            assert world.answer(model, program).marks[program.answer_step].addressed


def test_hedges_say_nothing_of_the_score(world, programs):
    hedged = {True: [], False: []}
    for program in programs:
        readers = read_steps(program)
        for model in MODELS:
            written = world.answer(model, program)
            judge = AnswerJudge(readers, written.text)
            for reader in readers:
                found = judge.score(reader)
                if written.marks[reader.step.id].score != 2:
                    right = written.marks[reader.step.id].score >= 4
                    hedged[right].append(judge.reading.hedged(found.start, found.end))
    # Both near the voices' mean share, .15; without a link the gap's standard error is about .02.
    assert mean(hedged[True]) > 0.08
    assert abs(mean(hedged[True]) - mean(hedged[False])) < 0.07


@pytest.mark.slow
def test_text_gives_back_every_mark_with_its_exact_span(world, programs):
    wrong = []
    total = 0
    for program in programs:
        readers = read_steps(program)
        for model in MODELS:
            for repeat in range(2):
                written = world.answer(model, program, repeat=repeat)
                judge = AnswerJudge(readers, written.text)
                for reader in readers:
                    result = judge.score(reader)
                    total += 1
                    mark = written.marks[reader.step.id]
                    got = (result.score, result.addressed, result.carried)
                    if got != (mark.score, mark.addressed, mark.carried):
                        wrong.append((reader.step.id, mark, got, written.text))
                    assert written.text[result.start : result.end] == result.quote
                    assert result.quote or not result.addressed
    assert total > 2000
    assert wrong == []


def test_ability_and_planted_weakness_show_in_raw_means(world, programs):
    own = {m: [] for m in MODELS}
    weak, rest = [], []
    for program in programs:
        for step in program.steps:
            for model in MODELS:
                scores = [world.outcome(model, program, step, repeat=r) for r in range(4)]
                is_weak = step.leaf in world.weak[model]
                own[model] += [] if is_weak else scores
                level = mean(scores) - world.theta[model]
                (weak if is_weak else rest).append(level)
    means = [mean(own[m]) for m in sorted(MODELS, key=lambda m: world.theta[m])]
    assert means[-1] - means[0] > 0.6
    pairs = [(i, j) for i in range(8) for j in range(i)]
    assert mean(means[i] > means[j] for i, j in pairs) > 0.8
    # METHODS D2: a weakness of 1.0 costs about .85 points.
    assert 0.4 < mean(rest) - mean(weak) < 1.3


def test_feedback_helps_most_where_it_names_the_step(world, programs):
    gains = {"none": [], "told": [], "named": []}
    for program in programs:
        for step in program.steps:
            for model in MODELS:
                told = Feedback(text="wrong")
                named = Feedback(text="look again", named=frozenset({step.id}))
                gains["none"].append(world.outcome(model, program, step, repeat=1))
                gains["told"].append(world.outcome(model, program, step, feedback=told))
                gains["named"].append(world.outcome(model, program, step, feedback=named))
    assert mean(gains["none"]) < mean(gains["told"]) < mean(gains["named"])


def test_voices_tell_the_models_apart(world):
    assert len({id(world.voice(m)) for m in MODELS}) == len(MODELS)
