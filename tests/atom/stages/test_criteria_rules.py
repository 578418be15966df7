"""What a judge's own criteria may not do."""

import pytest

from atom.stages.criteria_rules import CriterionText, asks_yes_or_no, broken_rules


def one(question, truth, weight=3):
    return CriterionText(question=question, ground_truth=truth, weight=weight)


GOOD = (
    one("Which value has March?", "42"),
    one("Which value has May?", "35"),
    one("How large is the difference?", "7", 4),
)


def test_a_good_set_breaks_no_rule(sample):
    assert broken_rules(sample, GOOD, final="7") == ()


@pytest.mark.parametrize(
    ("question", "truth"),
    [
        ("Is the door open?", "open"),
        ("Are there clouds in the sky?", "a few clouds"),
        ("Does the line rise after March?", "it rises"),
        ("Isn’t the bar red?", "red"),
        ("In the left panel, is the bar taller?", "taller"),
        ("Whether the lamp is lit", "lit"),
        ("State whether the lamp is lit.", "lit"),
        ("The lamp is lit, isn't it?", "lit"),
        ("What about the lamp?", "Yes, it is lit"),
        ("Is the lamp lit or not?", "lit"),
        ("Can the sign be read?", "it can"),
        ("Is it clear what the sign says?", "it is"),
    ],
)
def test_yes_or_no(question, truth, sample):
    assert asks_yes_or_no(question, truth)
    (fault,) = broken_rules(sample, (one(question, truth), *GOOD[1:]), final="7")
    assert fault == "criterion 1 can be answered by yes or no: ask for the thing itself"


@pytest.mark.parametrize(
    ("question", "truth"),
    [
        ("Which door is open?", "the left one"),
        ("Is the line rising or falling?", "rising"),
        ("In March, was the bar red, blue or green?", "blue"),
        ("Can you name the animal on the left?", "a fox"),
        ("What is the lamp's state?", "lit"),
        ("How many doors are there, and which are open?", "2, the left one"),
        ("Name the island.", "Isla"),
        ("Does the picture show a cat or a dog?", "a dog"),
        ("Which words does the sign show?", "No entry"),
    ],
)
def test_more_than_yes_or_no(question, truth):
    assert not asks_yes_or_no(question, truth)


def test_a_question_that_holds_its_truth(sample):
    faults = broken_rules(
        sample, (one("By how much is 42 larger than the other value?", "42"), *GOOD[1:]), final="7"
    )
    assert faults == ("criterion 1: the question holds its answer, '42'",)


@pytest.mark.parametrize(("weight", "broken"), [(4, False), (5, True), (9, True)])
def test_the_final_answer_carries_four_at_most(sample, weight, broken):
    faults = broken_rules(sample, (*GOOD[:2], one("How large is it?", "7", weight)), final="7")
    assert faults == (
        (f"criterion 3 asks for the final answer and carries {weight} of 10: 4 at most",)
        if broken
        else ()
    )


def test_an_option_is_the_final_answer_by_its_text(sample):
    choice = sample.model_copy(update={"choices": ("5", "7"), "reference": "B"})
    faults = broken_rules(choice, (*GOOD[:2], one("How large is it?", "7", 6)), final="B) 7")
    assert len(faults) == 1


def test_a_heavy_step_on_the_way_is_no_fault(sample):
    heavy = (one("Which value has March?", "42", 6), one("How large is it?", "7", 4))
    assert broken_rules(sample, heavy, final="7") == ()


@pytest.mark.parametrize(
    ("question", "choices"), [("Is there a dog?", ()), ("There is a dog.", ("True", "False"))]
)
def test_where_the_sample_asks_yes_or_no_its_last_criterion_may(sample, question, choices):
    polar = sample.model_copy(
        update={"question": question, "choices": choices, "reference": "No" if choices else "no"}
    )
    seen = one("Which animals stand on the lawn?", "two cats", 6)
    assert broken_rules(polar, (seen, one("Is there a dog?", "no", 4)), final="no") == ()
    two = broken_rules(polar, (one("Is there a cat?", "yes"), one("Is there a dog?", "no", 4)),
                       final="no")  # fmt: skip
    assert len(two) == 1
    assert two[0].startswith("criterion 1 ")
