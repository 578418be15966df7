from statistics import mean

import pytest

from atom.probes.manners import MANNERS, answer_in, known_steps
from tests.marked import judged


@pytest.fixture(scope="module")
def read(programs):
    """Return, for each manner, the probe judge's marks: rows of (known, weight, score)."""
    table = {}
    for manner in MANNERS:
        rows = []
        for program in programs:
            knows = known_steps(program)
            found = judged(program, answer_in(manner, program, knows).text)
            rows.append([(s.id in knows, s.weight, found[s.id]) for s in program.steps])
        table[manner] = rows
    return table


def strict(rows):
    return mean(mark.score for row in rows for _, _, mark in row)


def of_what_was_said(rows):
    return mean(mark.score for row in rows for _, _, mark in row if mark.addressed)


def test_the_judge_reads_what_was_planted(programs):
    for manner in MANNERS:
        for program in programs:
            written = answer_in(manner, program, known_steps(program))
            found = judged(program, written.text)
            for step in program.steps:
                mark, got = written.marks[step.id], found[step.id]
                assert (got.score, got.addressed, got.carried) == (
                    mark.score, mark.addressed, False,
                ), (manner, step.id, written.text)  # fmt: skip


def test_they_know_the_same(programs):
    shares = [len(known_steps(p)) / len(p.steps) for p in programs]
    assert 0.45 < mean(shares) < 0.75
    for program in programs:
        right = {answer_in(m, program, known_steps(program)).right for m in MANNERS}
        assert right == {program.answer_step in known_steps(program)}


def test_an_invention_costs_more_than_silence_and_abstaining_costs_the_same(read):
    # METHODS T1: inventing < abstaining = silent on strict.
    assert strict(read["silent"]) == strict(read["abstaining"])
    assert strict(read["inventing"]) < strict(read["silent"]) - 0.2
    # On what was said, silence and abstention leave what is known, and that is right.
    assert of_what_was_said(read["silent"]) == of_what_was_said(read["abstaining"]) == 5
    assert of_what_was_said(read["inventing"]) < 4


def test_the_terse_one_scores_its_knowledge_on_what_it_said(read, programs):
    said = [mark.score for row in read["terse"] for known, _, mark in row if mark.addressed]
    known = [p.answer_step in known_steps(p) for p in programs]
    assert len(said) == len(programs)
    # It is right as often as it knows the last step, and addresses no other.
    assert [score == 5 for score in said] == known
    for row in read["terse"]:
        silent = [mark for _, _, mark in row if not mark.addressed]
        assert {mark.score for mark in silent} == {2}
        assert len(silent) == len(row) - 1
    assert strict(read["terse"]) < of_what_was_said(read["terse"])


def test_the_toy_of_the_methods(programs):
    # Right final answer, nothing else: steps 2, 2, 2 and 5, so (2 + 2 + 2 + 5) / 4 = 2.75 and 5.
    program = next(p for p in programs if len(p.steps) == 4 and p.choices)
    letter = "ABCDEFGH"[program.choices.index(program.answer)]
    marks = judged(program, f"{letter}.").values()
    assert mean(m.score for m in marks) == 2.75
    assert [m.score for m in marks if m.addressed] == [5]
