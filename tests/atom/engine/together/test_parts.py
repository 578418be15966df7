"""Parts of a run: by the sample's id alone."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from atom.engine.together.parts import in_order, part_of
from atom.records import StudySample


def places(count: int) -> list[StudySample]:
    return [
        StudySample(study_id="s", sample_id=f"sample {number}", position=number)
        for number in range(count)
    ]


@given(st.integers(0, 60), st.integers(1, 6))
def test_every_process_goes_through_all_samples_and_begins_with_its_own(count, of):
    orders = [in_order(places(count), number, of) for number in range(of)]
    assert all(sorted(o, key=lambda one: one.position) == places(count) for o in orders)
    own = Counter(part_of(place.sample_id, of) for place in places(count))
    for number, order in enumerate(orders):
        first = order[: own[number]]
        assert {part_of(place.sample_id, of) for place in first} <= {number}


def test_parts_are_about_as_large_as_each_other():
    sizes = Counter(part_of(place.sample_id, 4) for place in places(4000))
    # Of 4,000 drawn with p = 1/4, the deviation is sqrt(4000 * 1/4 * 3/4) = 27.
    assert all(abs(size - 1000) < 5 * 27 for size in sizes.values())


def test_what_is_left_of_others_is_done_from_the_end():
    order = in_order(places(20), 0, 2)
    theirs = [place.position for place in order if part_of(place.sample_id, 2) == 1]
    assert theirs == sorted(theirs, reverse=True)
