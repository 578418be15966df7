"""Terms of the glossary in a question."""

import pytest

from atom.asked.rules import read_question
from atom.asked.terms import VIEWS, terms_in
from atom.asked.view_request import ViewRequest, Vocabulary
from atom.ui.shell.glossary import glossary

NAMES = Vocabulary(models=("model-a", "model-b"), labels={"level": ("easy", "hard")},
                   capabilities=("Perception", "Perception › Text", "Sets"))  # fmt: skip


@pytest.mark.parametrize(
    ("question", "terms", "view"),
    [
        ("What is a rank set?", ("rank set",), {"page": "overview"}),
        ("sets of rank sets", ("rank set",), {"page": "tree", "capability": "Sets"}),
        ("lucky answers of model-b", ("lucky",),
         {"page": "failures", "models": ("model-b",), "outcome": "right", "process": "flawed"}),
        ("slips on hard questions", ("slip",),
         {"page": "failures", "outcome": "wrong", "process": "sound",
          "labels": ({"facet": "level", "value": "hard"},)}),
        ("where do judges differ?", ("judges differ",), {"page": "failures", "show": "disputed"}),
        ("Which judges disagree on Text?", (),
         {"page": "failures", "show": "disputed", "capability": "Perception › Text"}),
        ("how about first breaks", ("first break",), {"page": "fingerprints", "tab": "answers"}),
        ("what does peer frame mean", ("peer frame",), {"page": "fingerprints"}),
        # A term that no Explore page shows is explained, and opens nothing.
        ("what is Holm?", ("holm",), {}),
        ("explain the leak gate", ("leak gate",), {}),
        # Everybody's words are no terms, unless one asks what they are.
        ("is the value of a note low", (), {"not_understood": ("value", "note", "low")}),
    ],
)  # fmt: skip
def test_a_term_is_understood_and_opens_its_view(question, terms, view):
    assert terms_in(question, glossary()) == terms
    found = read_question(question, NAMES, glossary())
    said = found.model_dump(exclude_defaults=True)
    left = said.pop("not_understood", ())
    assert (said, left) == (
        {key: one for key, one in view.items() if key != "not_understood"},
        view.get("not_understood", ()),
    )


def test_every_term_that_opens_a_view_is_in_the_glossary_and_every_view_is_allowed():
    assert set(VIEWS) <= set(glossary())
    for view in VIEWS.values():
        assert ViewRequest(**view).page is not None
