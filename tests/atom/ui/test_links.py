import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.ui.links import LOCAL_KEYS, address, clean_query, read_address
from atom.views.filters import KEYS, Filters


def test_an_address_is_relative_and_holds_the_chain():
    filters = Filters(study="s", model="m", node=("A", "B"), tags=(("k", "v"), ("k", "w")))
    assert address("failures", filters, at="2") == (
        "./failures?study=s&model=m&node=A+%E2%80%BA+B&tag=k%3Av&tag=k%3Aw&at=2"
    )


def test_the_first_screen_without_a_chain():
    assert address("", Filters()) == "./"


names = st.text(
    st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=30
)


@given(study=names, model=names, sample=names)
def test_what_is_written_is_read_again(study, model, sample):
    filters = Filters(study=study, model=model, sample=sample, show="all")
    page, query = read_address(address("failures", filters))
    assert page == "failures"
    assert Filters.from_query(query) == filters


@pytest.mark.parametrize(
    "text", ["http://evil.example/?study=1", "//evil.example/x", "javascript:alert(1)", "http://[x"]
)
def test_addresses_out_of_the_app_are_refused(text):
    assert read_address(text) is None


def test_unknown_keys_are_dropped_and_values_are_cut():
    query = clean_query({"study": "x" * 999, "tag": ["a:b"] * 99, "evil": "1", "model": " "})
    assert set(query) == {"study", "tag"}
    assert len(query["study"][0]) == 300
    assert len(query["tag"]) == 40


@given(st.text())
def test_any_text_is_read_or_refused(text):
    found = read_address(text)
    assert found is None or set(found[1]) <= {*KEYS, *LOCAL_KEYS}


def test_local_keys_can_be_left_out():
    assert clean_query({"at": "2", "model": "m"}, local=False) == {"model": ["m"]}
