from hypothesis import given
from hypothesis import strategies as st

from atom.views.filters import Filters, answers_kept, rows_in_node
from tests.factories import COUNT

query_values = st.one_of(st.text(max_size=400), st.lists(st.text(max_size=20), max_size=4))


@given(
    st.dictionaries(
        st.sampled_from(["study", "model", "node", "tag", "outcome", "show", "x"]), query_values
    )
)
def test_no_query_is_too_odd(query):
    filters = Filters.from_query(query)
    assert Filters.from_query(filters.to_query()) == filters


def test_the_chain_survives_the_url():
    filters = Filters(
        study="demo:abc", model="m", node=COUNT, criterion="c", sample="s",
        tags=(("skills", "a: b"), ("level", "easy")), outcome="wrong", process="sound",
        measure="outcome",
        show="all", peers=("k",),
    )  # fmt: skip
    assert Filters.from_query(filters.to_query()) == filters
    assert filters.active == 5


def test_quarantined_samples_never_count(data):
    assert answers_kept(data, Filters()).sum() == 15


def test_labels_must_all_hold_and_unknown_ones_match_nothing(data):
    assert answers_kept(data, Filters(tags=(("level", "easy"),))).sum() == 9
    assert answers_kept(data, Filters(tags=(("level", "easy"), ("source", "balls")))).sum() == 9
    assert answers_kept(data, Filters(tags=(("level", "easy"), ("level", "hard")))).sum() == 0
    assert answers_kept(data, Filters(tags=(("no", "such"),))).sum() == 0


def test_outcomes_narrow(data):
    right = answers_kept(data, Filters(outcome="right")).sum()
    wrong = answers_kept(data, Filters(outcome="wrong")).sum()
    # 15 answers outside of quarantine, one of them without an outcome; RIGHT has 8 right ones.
    assert (right, wrong) == (8, 6)


def test_rows_hang_under_every_ancestor(data):
    assert rows_in_node(data, ()).sum() == 53
    assert rows_in_node(data, ("Perception",)).sum() == 35
    assert rows_in_node(data, COUNT).sum() == 18
    assert rows_in_node(data, ("Nowhere",)).sum() == 0
