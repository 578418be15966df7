"""Questions that stand under one id are found again by what they are made of."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from atom.formats.intake.namesakes import Namesakes
from tests.imports import take, uploaded

PARTS = st.one_of(st.none(), st.integers(0, 2))
QUESTIONS = st.lists(st.tuples(st.integers(0, 1), PARTS, PARTS), max_size=25)


def fits(one, other):
    exact, *parts = one
    return exact == other[0] and all(
        a is None or b is None or a == b for a, b in zip(parts, other[1:], strict=True)
    )


@given(QUESTIONS)
def test_the_lowest_number_that_fits_is_found(questions):
    """As looking at each of them would find it."""
    namesakes, kept = Namesakes(), []
    for question in questions:
        looked = next((n for n, one in enumerate(kept, start=2) if fits(one, question)), None)
        assert namesakes.find(7, question[0], question[1:]) == looked
        if looked is None:
            assert namesakes.next(7) == len(kept) + 2
            namesakes.add(namesakes.next(7), 7, question[0], question[1:])
            kept.append(question)


def test_a_part_that_is_told_later_counts_from_then_on():
    namesakes = Namesakes()
    namesakes.add(2, 7, 1, (None,))
    assert namesakes.find(7, 1, (5,)) == 2
    namesakes.tell(2, 7, 1, before=(None,), now=(5,))
    assert [namesakes.find(7, 1, (part,)) for part in (5, 6, None)] == [2, None, 2]
    assert namesakes.find(8, 1, (5,)) is None


def seconds(n):
    rows = [{"id": "a", "question": f"Question {number}?"} for number in range(n)]
    started = time.process_time()
    taken = take("table", uploaded("x.jsonl", rows))
    assert len(taken.samples) == n
    return time.process_time() - started


def test_thousands_of_questions_under_one_id_cost_no_more_each():
    """Linear is 4, quadratic 16."""
    assert min(seconds(4_000) for _ in range(2)) < 9 * min(seconds(1_000) for _ in range(3))


def test_an_answer_that_was_told_once_stays_known():
    """A row that leaves the answer out is the same question, and makes no room for another's."""
    rows = [("Why?", "4"), ("Why?", ""), ("Why?", "5")]
    text = "id,question,answer\n" + "".join(f"a,{q},{a}\n" for q, a in rows)
    taken = take("table", uploaded("x.csv", text))
    assert [(one.source_id, one.reference) for one in taken.samples] == [("a", "4"), ("a (2)", "5")]
