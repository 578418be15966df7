"""The probe judge as a rival: exact, noisy and coin, by the noise model that is written down."""

from __future__ import annotations

import pytest

from atom.probes.answers.covering import with_truth
from atom.probes.answers.step_reader import read_steps
from atom.probes.bench import methods as rival
from atom.probes.bench.registry import TASKS
from atom.probes.bench.types import BenchQuestion
from atom.probes.candidates import planted_world
from atom.probes.draws import Draws
from atom.probes.worlds.make import make_probes


@pytest.fixture(scope="module")
def programs():
    return [probe.program for probe in make_probes(4, 3, mix={"charts": 1, "gauges": 1})]


@pytest.fixture(scope="module")
def answers(programs):
    world = planted_world()
    return [[world.answer(model, program) for model in world.models[:4]] for program in programs]


def ask(program, task, character="exact", seed=0, **data):
    question = BenchQuestion(
        task=task, data=data, program=program, readers=read_steps(program), character=character,
        draws=Draws("test", seed),
    )  # fmt: skip
    return TASKS[task](question)


def texts(written):
    return [{"id": name, "answer": one.text} for name, one in zip("ABCD", written, strict=True)]


def test_the_truth_is_read_back_from_the_text(programs, answers):
    for program, written in zip(programs, answers, strict=True):
        for one in written:
            found = rival.step_scores(read_steps(program), one.text)
            assert found == tuple(one.scores[step.id] for step in program.steps)


def test_the_exact_judge_follows_the_truth(programs, answers):
    for program, written in zip(programs, answers, strict=True):
        totals = [
            sum(step.weight * one.scores[step.id] for step in program.steps) for one in written
        ]
        ranked = ask(program, "batch_rank", answers=texts(written))["ranking"]
        assert [row["rank"] for row in ranked] == [1 + sum(t > mine for t in totals)
                                                   for mine in totals]  # fmt: skip
        for total, one in zip(totals, written, strict=True):
            # Weights total 10: S = total / 10; on 1..10 it is 1 + 9 (S - 1) / 4, half up.
            point = ask(program, "pointwise", answer=one.text)["score"]
            assert point == int(1 + 9 * (total / 10 - 1) / 4 + 0.5)
            assert ask(program, "whole", answer=one.text)["score"] == int(total / 10 + 0.5)


def test_scan_looks_where_answers_differ(programs, answers):
    program, written = programs[0], answers[0]
    rows = ask(program, "scan_criteria", answers=texts(written))["criteria"]
    apart = [step.question for step in program.steps
             if len({one.scores[step.id] for one in written}) > 1]  # fmt: skip
    assert [row["criterion"] for row in rows] == apart
    same = ask(program, "scan_criteria", answers=texts([written[0]] * 4))["criteria"]
    assert [row["criterion"] for row in same] == [rival.WHOLE_CRITERION]
    items = [{"id": "k1", "criterion": apart[0]}, {"id": "k2", "criterion": "Is it nice?"}]
    scores = ask(program, "scan_scoring", criteria=items, answer=written[0].text)["scores"]
    assert scores[0]["score"] in range(1, 6)
    assert scores[1]["score"] is None


def test_a_wrong_truth_is_legal_and_wrong(programs):
    for step in (step for program in programs for step in program.steps):
        text = rival.other_truth(step)
        if text is not None:
            assert with_truth(step, text) not in (None, step)


@pytest.mark.slow
def test_the_noisy_judge_misses_and_spoils_as_often_as_it_should(programs):
    program = programs[0]
    able = [step for step in program.steps if rival.other_truth(step) is not None]
    asked, kept, spoilt = 1500, 0, 0
    for seed in range(asked):
        rows = ask(program, "bare_criteria", "noisy", seed)["criteria"]
        kept += len(rows)
        truth = {step.question: step.truth for step in program.steps}
        spoilt += sum(row["ground_truth"] != truth[row["question"]] for row in rows)
    # Keeping two at least adds next to nothing with four steps or more.
    assert kept / asked / len(program.steps) == pytest.approx(1 - rival.NOISE.drop, abs=0.03)
    share = spoilt / kept * len(program.steps) / len(able)
    assert share == pytest.approx(rival.NOISE.wrong_truth, abs=0.025)
    whole = ask(program, "bare_criteria")["criteria"]
    assert [row["question"] for row in whole] == [step.question for step in program.steps]


def test_a_coin_knows_nothing(programs, answers):
    text = answers[0][0].text
    scores = [
        ask(programs[0], "pointwise", "coin", n, answer=text)["score"] for n in range(9000, 11000)
    ]
    assert set(scores) == set(range(1, 11))
    assert sum(scores) / 2000 == pytest.approx(5.5, abs=3.5 * 2.87 / 2000**0.5)
    ranking = ask(programs[0], "batch_rank", "coin", answers=texts(answers[0]))["ranking"]
    ranks = [row["rank"] for row in ranking]
    assert sorted(ranks) == [1, 2, 3, 4]


@pytest.mark.parametrize("task", rival.TASKS)
@pytest.mark.parametrize("data", [{}, {"answer": 7, "answers": "x", "criteria": [3, None]}])
def test_odd_data_is_answered(programs, task, data):
    for character in ("exact", "noisy", "coin"):
        assert isinstance(ask(programs[0], task, character, **data), dict)
