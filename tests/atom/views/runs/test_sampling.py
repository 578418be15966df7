from __future__ import annotations

import pytest

from atom.judge.servers.endpoints import builtin_endpoints
from atom.records import Endpoint, Sampling
from atom.views.runs.sampling import FIELDS, heat_words, open_words, sampling_words, with_setting

AT = {field.name: field for field in FIELDS}


def test_every_setting_but_further_fields_can_be_set():
    assert {*AT} == {*Sampling.model_fields} - {"extra"}


@pytest.mark.parametrize(
    ("sampling", "words"),
    [
        (Sampling(temperature=0.7, seed=3), "temperature 0.7, seed 3"),
        (Sampling(reasoning_effort="low", extra='{"top_k":20}'), 'effort low, and {"top_k":20}'),
        (Sampling(), "as the server has it"),
    ],
)
def test_settings_are_told_in_a_line(sampling, words):
    assert sampling_words(sampling) == words


def test_the_button_names_the_temperature():
    assert heat_words(Sampling(temperature=0.0)) == "0"
    assert heat_words(Sampling()) == "the server's own"


def test_what_is_left_open_is_the_endpoints_or_the_servers():
    probe = builtin_endpoints()[0]
    own = Endpoint(name="a", base_url="https://a.example/v1", model="m", temperature=0.3)
    assert open_words(AT["temperature"], [own]) == "0.3, the endpoint's"
    assert open_words(AT["temperature"], [own, probe]) == "each endpoint's"
    assert open_words(AT["temperature"], []) == "the server's"
    assert open_words(AT["max_tokens"], [own]) == "4096"


def test_an_empty_field_leaves_a_setting_open():
    warm = Sampling(temperature=0.7, reasoning_effort="low")
    assert with_setting(warm, "reasoning_effort", "") == Sampling(temperature=0.7)
    assert with_setting(warm, "temperature", None).temperature is None
    assert with_setting(warm, "seed", 4).seed == 4
