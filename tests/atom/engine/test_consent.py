from __future__ import annotations

import pickle

import pytest

from atom.engine.consent import ConsentNeeded, ConsentQuestion, give_consent, is_remote
from atom.records import Endpoint, Study


@pytest.mark.parametrize(
    ("base_url", "remote"),
    [
        ("probe:", False),
        ("probe:http://127.0.0.1:80/v1", False),
        ("probe:http://models.example/v1", True),
        ("https://api.openai.com/v1", True),
        ("http://localhost:8000/v1", False),
        ("http://a.localhost/v1", False),
        ("http://127.0.0.9:8000/v1", False),
        ("http://[::1]:8000/v1", False),
        ("http://10.0.0.1/v1", True),
        ("http://localhost.example/v1", True),
        ("nonsense", True),
    ],
)
def test_only_this_computer_needs_no_consent(base_url, remote):
    assert is_remote(Endpoint(name="e", base_url=base_url, model="m")) is remote


def test_consent_is_kept_with_the_study(store, study):
    give_consent(store, study.id, ["a", "b"])
    give_consent(store, study.id, ["b", "c"])
    assert store.select(Study)[0].consent == ("a", "b", "c")


def test_the_question_names_host_and_numbers_and_pickles():
    question = ConsentQuestion(host="h.example", endpoints=("e",), pictures=3, texts=2)
    error = ConsentNeeded([question])
    assert "3 pictures and 2 questions" in error.message
    assert "h.example" in error.message
    assert pickle.loads(pickle.dumps(error)).questions == (question,)
