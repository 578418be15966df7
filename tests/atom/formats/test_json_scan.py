from __future__ import annotations

import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atom.formats import json_scan
from atom.formats.json_scan import BrokenJsonError, JsonScanner

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


class Dripping(io.StringIO):
    """Gives a few characters at a time, however many are asked for."""

    def read(self, size: int | None = -1) -> str:
        return super().read(7)


@pytest.mark.slow
@settings(max_examples=60)
@given(st.lists(VALUES, max_size=8))
def test_an_array_reads_as_json_does_however_it_is_cut(values: list[object]) -> None:
    text = json.dumps(values, indent=1)
    assert list(JsonScanner(Dripping(text)).items()) == values
    assert list(JsonScanner(io.StringIO(text)).items()) == values


@pytest.mark.slow
@settings(max_examples=60)
@given(st.dictionaries(st.text(), VALUES, max_size=5))
def test_an_object_reads_as_json_does(values: dict[str, object]) -> None:
    text = json.dumps(values)
    pairs = list(JsonScanner(Dripping(text)).pairs())
    assert {pair.key: pair.value for pair in pairs} == values


@pytest.mark.slow
@given(st.lists(st.dictionaries(st.text(min_size=1), st.integers()), min_size=1), st.data())
def test_a_cut_array_gives_what_is_whole(values: list[object], data: st.DataObject) -> None:
    text = json.dumps(values)
    cut = text[: data.draw(st.integers(0, len(text) - 1))]
    got: list[object] = []
    with pytest.raises(BrokenJsonError) as caught:
        for value in JsonScanner(Dripping(cut)).items():
            got.append(value)
    assert got == values[: len(got)]
    assert caught.value.at_end


@pytest.mark.parametrize("text", ["[1 2]", "[1,,2]", "{1: 2}", "x", "[}", '["a" : 1]'])
def test_what_is_no_json_is_refused(text: str) -> None:
    scanner = JsonScanner(io.StringIO(text + " " * 100))
    with pytest.raises(BrokenJsonError) as caught:
        list(scanner.pairs() if text.startswith("{") else scanner.items())
    assert not caught.value.at_end


def test_odd_values_are_taken() -> None:
    text = '\ufeff [NaN, -Infinity, "a\tb", ' + "9" * 5000 + "]"
    nan, infinity, tab, digits = JsonScanner(io.StringIO(text)).items()
    assert nan != nan
    assert infinity == float("-inf")
    assert tab == "a\tb"
    assert digits == "9" * 5000


def test_deep_nesting_is_an_error_and_no_crash() -> None:
    with pytest.raises(BrokenJsonError, match="deeply"):
        list(JsonScanner(io.StringIO("[" * 200_000)).items())


def test_an_endless_string_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_scan, "_MAX_VALUE", 1_000_000)
    with pytest.raises(BrokenJsonError, match="more than"):
        list(JsonScanner(io.StringIO('["' + "a" * 5_000_000)).items())
