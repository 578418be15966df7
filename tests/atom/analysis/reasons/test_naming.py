import numpy as np
import pytest

from atom.analysis.reasons.naming import kind_of, telling_terms


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("not mentioned", "omission"),
        ("the is left out", "omission"),
        ("takes it up without a result", "no result"),
        ("an arithmetic error in the sum", "slip of calculation"),
        ("answers another question than the one asked", "misread question"),
        ("the required format was not followed", "format"),
        ("is taken for the misread", "misread picture"),
        ("a far miss as it follows from before", "carried"),
        ("a far miss", "wrong value"),
        ("an invented that is not in the", "unsupported"),
        ("hm", "other"),
    ],
)
def test_a_kind_is_told_by_its_words(text, kind):
    assert kind_of([text, text, "x"]) == kind
    # A third of the reasons is too little.
    assert kind_of([text, "x", "x"]) == "other"


def test_the_words_that_tell_a_group_from_the_others_name_it():
    texts = ["never mentions the clock here", "gives a wrong sum here"] * 10
    first, second = telling_terms(texts, np.array([0, 1] * 10))
    # All reasons have "here", which ends no name; the longest of what tells alike comes first.
    assert first[0] == "never mentions the clock"
    assert second[0] == "gives a wrong sum"
    assert telling_terms(texts, np.full(20, -1)) == ()
    assert telling_terms(["a", "a"], np.array([0, 0])) == ((),)
