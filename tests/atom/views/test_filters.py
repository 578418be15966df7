from hypothesis import given
from hypothesis import strategies as st

from atom.views.filters import (
    Filters,
    answer_values,
    answers_kept,
    known,
    rows_in_node,
    rows_kept,
    unknown,
)
from tests.factories import COUNT, DIFFERENCE

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
    assert filters.active == 4


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


def test_a_root_keeps_its_checkpoints_and_scores_answers_over_them(data):
    root = Filters(root="Reasoning")
    # One criterion of three a sample; 5 samples x 3 candidates, all of them there.
    assert rows_kept(data, root).sum() == 15
    assert rows_kept(data, Filters(root="Reasoning", outcome="right")).sum() == 8
    at = data.table.response_ids.index(
        next(
            name
            for name, sample, model in zip(
                data.table.response_ids, data.table.sample, data.table.model, strict=True
            )
            if (sample, model) == (0, 1)
        )
    )
    # Candidate B on sample 0 scored (5, 2, 1): under Reasoning only the 1, so (1 - 1) / 4.
    assert answer_values(data, root, "process")[at] == 0
    # All of it: (2*5 + 3*2 + 5*1) / 10 = 2.1.
    assert abs(answer_values(data, Filters(), "process")[at] - 1.1 / 4) < 1e-12


def test_masks_are_shared_and_can_not_be_changed(data):
    first, second = rows_kept(data, Filters()), rows_kept(data, Filters(model="cand-a"))
    assert first is second
    assert not first.flags.writeable


def test_what_a_link_names_in_vain_is_said_and_dropped(data):
    filters = Filters(
        model="cand-z", node=("Perception", "Smell"), root="Gardening", judge="nobody",
        tags=(("level", "easy"), ("level", "odd"), ("mood", "good")), peers=("cand-b", "cand-y"),
    )  # fmt: skip
    said = unknown(data, filters)
    assert len(said) == 7
    assert any("'cand-z'" in text and "Candidate A, Candidate B" in text for text in said)
    assert any("'Gardening'" in text and "Perception, Reasoning" in text for text in said)
    assert any("'nobody'" in text and "Judge X" in text for text in said)
    assert any("'odd'" in text and "easy" in text for text in said)
    kept = known(data, filters)
    assert (kept.model, kept.node, kept.root, kept.judge) == (None, (), None, None)
    assert (kept.tags, kept.peers) == ((("level", "easy"),), ("cand-b",))
    assert unknown(data, kept) == ()


def test_what_the_study_has_is_not_called_unknown(data):
    filters = Filters(
        model="cand-a", node=DIFFERENCE[:2], root="Reasoning", judge="judge-x",
        tags=(("level", "easy"),),
    )  # fmt: skip
    assert unknown(data, filters) == ()
    assert known(data, filters) == filters


def test_long_names_are_cut_in_what_is_said(data):
    (said,) = unknown(data, Filters(model="x" * 300))
    assert len(said) < 250


def test_every_filter_can_be_cleared(data):
    filters = Filters(
        model="m", tags=(("a", "b"),), root="r", judge="j", outcome="right", process="sound",
        show="all",
    )  # fmt: skip
    assert filters.active == 5
    assert filters.cleared == Filters(model="m")


def test_a_link_may_name_a_model_by_its_name(data):
    first, second = data.candidates[:2]
    filters = Filters(model=first.name, peers=(second.name, "nobody"))
    kept = known(data, filters)
    assert (kept.model, kept.peers) == (first.id, (second.id,))
    (said,) = unknown(data, filters)
    assert "nobody" in said
