from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from atom.records import Criterion, Sample
from atom.stages.growing.induction import SampleCriteria, balanced_subset, batches, waves


def cut(number, dataset="d", criteria=4):
    sample = Sample(id=f"s{number:03d}", dataset=dataset, question="?")
    made = tuple(
        Criterion(id=f"c{number:03d}-{n}", sample_id=sample.id, question="q", ground_truth="g")
        for n in range(criteria)
    )
    return SampleCriteria(sample=sample, criteria=made)


def test_sources_give_evenly_or_all_that_they_have():
    cuts = [cut(n, "big") for n in range(50)] + [cut(50 + n, "small") for n in range(5)]
    chosen = balanced_subset(cuts, {}, 20, seed=1)
    assert Counter(c.sample.dataset for c in chosen) == {"big": 15, "small": 5}
    assert Counter(c.sample.dataset for c in balanced_subset(cuts, {}, 8, seed=1)) == {
        "big": 4,
        "small": 4,
    }


def test_a_facet_stands_for_the_source():
    cuts = [cut(n) for n in range(20)]
    source_of = {c.sample.id: "odd" if n == 7 else "even" for n, c in enumerate(cuts)}
    chosen = balanced_subset(cuts, source_of, 2, seed=0)
    assert {source_of[c.sample.id] for c in chosen} == {"odd", "even"}


def test_the_seed_decides_and_the_order_given_does_not():
    cuts = [cut(n, "ab"[n % 2]) for n in range(30)]
    one = balanced_subset(cuts, {}, 10, seed=1)
    assert balanced_subset(cuts[::-1], {}, 10, seed=1) == one
    assert balanced_subset(cuts, {}, 10, seed=2) != one
    assert set(map(id, balanced_subset(cuts, {}, None, seed=1))) == set(map(id, cuts))


@given(st.lists(st.integers(1, 9), max_size=20), st.integers(1, 12))
def test_batches_keep_samples_whole(sizes, size):
    cuts = [cut(n, criteria=count) for n, count in enumerate(sizes)]
    made = batches(cuts, size)
    assert [c for batch in made for c in batch] == cuts
    for batch in made:
        assert len(batch) == 1 or sum(len(c.criteria) for c in batch) <= size


def test_waves_grow():
    groups = [(cut(n),) for n in range(20)]
    made = waves(groups, 6)
    assert [len(wave) for wave in made] == [1, 2, 4, 6, 6, 1]
    assert [batch for wave in made for batch in wave] == groups
    assert waves([], 6) == []
