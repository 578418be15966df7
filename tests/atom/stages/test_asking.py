import pytest

from atom.judge.templates import TemplateError
from atom.records import Sampling
from atom.stages.asking import MAX_TOKENS, make_request, request_sampling


@pytest.mark.parametrize(
    ("temperature", "seed", "repeat", "expected"),
    [
        (0.0, None, 0, None),
        (0.0, None, 3, None),
        (0.0, 5, 3, 5),
        (0.7, None, 0, 0),
        (0.7, None, 3, 3),
        (0.7, 5, 0, 5),
        (0.7, 5, 3, 8),
        (None, None, 0, None),
        (None, None, 3, 3),
        (None, 5, 3, 8),
    ],
)
def test_a_seed_for_each_repeat_where_the_model_draws(temperature, seed, repeat, expected):
    sampling = Sampling(temperature=temperature, seed=seed)
    found = request_sampling(sampling, repeat)
    assert found.seed == expected
    assert found.temperature == temperature


def test_there_is_always_a_token_limit():
    assert request_sampling(Sampling(), 0).max_tokens == MAX_TOKENS
    assert request_sampling(Sampling(max_tokens=9), 0).max_tokens == 9


def test_schema_and_header_must_fit():
    values = {"question": "q", "choices": ""}
    with pytest.raises(TemplateError, match="reply 'text'"):
        make_request(
            "answer/1",
            values,
            pictures=(),
            sampling=Sampling(),
            repeat=0,
            schema={"type": "object"},
        )
