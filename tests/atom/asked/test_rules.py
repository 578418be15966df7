import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.asked.rules import read_question
from atom.asked.view_request import Vocabulary

NAMES = Vocabulary(
    models=("qwen-vl-7b", "qwen-vl-72b", "Claude/3"),
    capabilities=("Perception", "Perception › Text", "Perception › Text › Handwriting",
                  "Perception › Counting", "Reasoning › Comparison"),
    labels={"level": ("easy", "hard"), "language": ("de", "en")},
)  # fmt: skip


def wanted(question, names=NAMES):
    return read_question(question, names).model_dump(exclude_defaults=True)


@pytest.mark.parametrize(
    ("question", "view"),
    [
        ("qwen-vl-72b vs qwen-vl-7b", {"page": "compare", "models": ("qwen-vl-72b", "qwen-vl-7b")}),
        ("failures of claude/3", {"page": "failures", "models": ("Claude/3",)}),
        ("weaknesses of qwem-vl-72b", {"page": "fingerprints", "models": ("qwen-vl-72b",)}),
        ("failures in handwritting",
         {"page": "failures", "capability": "Perception › Text › Handwriting"}),
        ("level = hard, ranking",
         {"page": "overview", "labels": ({"facet": "level", "value": "hard"},)}),
        ("fingerprints per level", {"page": "fingerprints", "facet": "level"}),
        ("Why does Claude/3 fail?",
         {"page": "failures", "models": ("Claude/3",), "layout": "groups"}),
    ],
)  # fmt: skip
def test_names_and_words_make_a_view(question, view):
    assert wanted(question) == view


def test_a_short_word_is_nobodys_name():
    letters = Vocabulary(models=("model-a", "model-b"), capabilities=(), labels={})
    assert "models" not in wanted("a failure of a kind", letters)
    assert wanted("failures of model a", letters)["models"] == ("model-a",)
    assert wanted("Is B better than A?", letters)["models"] == ("model-b", "model-a")
    # One letter that isn't a model's stays unknown.
    assert wanted("failures of Z", letters)["not_understood"] == ("Z",)


def test_what_is_left_over_is_said():
    assert wanted("failures of gpt-99 on handwriting")["not_understood"] == ("gpt-99",)


@pytest.mark.slow
@given(st.text(max_size=400))
def test_any_text_makes_an_allowed_view_or_none(text):
    found = read_question(text, NAMES)
    assert set(found.models) <= set(NAMES.models)
    assert found.capability in {"", *NAMES.capabilities}
    assert all(one.value in NAMES.labels[one.facet] for one in found.labels)
