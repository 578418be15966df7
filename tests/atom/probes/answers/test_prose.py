import pytest

from atom.probes.answers.prose import VOICES, fill, grammar, write_answer
from atom.probes.draws import Draws


@pytest.mark.parametrize(
    ("phrase", "value", "sentence"),
    [
        ("there are {value} spheres.", "1", "There are 1 sphere."),
        ("It counts {value} buses.", "11", "It counts 11 buses."),
        ("That leaves {value} series.", "1", "That leaves 1 series."),
        ("Drawn as a {value}.", "area chart", "Drawn as an area chart."),
        ("Drawn as an {value}.", "bar chart", "Drawn as a bar chart."),
        ("It is a {value}.", "unit", "It is a unit."),
        ("{value} it is.", "blue", "Blue it is."),
    ],
)
def test_small_grammar(phrase, value, sentence):
    assert fill(phrase, value) == sentence


def test_grammar_leaves_a_list_marker_alone():
    assert grammar("**blue** it is") == "**Blue** it is"


def test_every_answer_ends_with_its_final_line(programs):
    for program in programs:
        for number, voice in enumerate(VOICES):
            scores = dict.fromkeys((s.id for s in program.steps), 5)
            written = write_answer(program, scores, voice, Draws("final", number))
            last = written.text.rsplit("\n", 1)[1]
            assert last.startswith("Answer: ")
            said = last.removeprefix("Answer: ")
            if program.choices:
                assert (program.choices["ABCDEFGH".index(said)] == program.answer) == written.right
            else:
                assert (said == program.answer) == written.right


def test_the_order_is_shuffled_in_about_a_third(programs):
    program = next(p for p in programs if len(p.steps) >= 4)
    scores = dict.fromkeys((s.id for s in program.steps), 5)
    texts = [
        write_answer(program, scores, VOICES[0], Draws("order", n)).text.split("\n")[0]
        for n in range(300)
    ]
    firsts = [phrase.split("{value}") for phrase in program.steps[0].phrases]
    kept = sum(
        any((text.startswith(p[0]) and p[0]) or p[1] in text[:60] for p in firsts) for text in texts
    )
    assert 0.5 < kept / 300 < 1


def test_right_follows_the_process(programs):
    ok = [0, 0]
    bad = [0, 0]
    for program in programs:
        for n in range(20):
            draws = Draws(program.family, program.template, program.index, n)
            scores = {s.id: 1 + draws.integer(5, s.id) for s in program.steps}
            written = write_answer(program, scores, VOICES[n % 8], draws.below("w"))
            cell = ok if written.process_ok else bad
            cell[0] += written.right
            cell[1] += 1
    # Binomial standard errors are about .015 and .02.
    assert abs(ok[0] / ok[1] - 0.93) < 0.06
    assert 0.12 < bad[0] / bad[1] < 0.36
