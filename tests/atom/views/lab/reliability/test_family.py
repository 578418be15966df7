"""Names of models tell their family, whoever writes them."""

from __future__ import annotations

import pytest

from atom.records import Candidate, Judge
from atom.views.lab.reliability.family import family_of, same_family


@pytest.mark.parametrize(
    ("name", "family", "expected"),
    [("Qwen2-VL-72B", "", "alibaba"), ("x", "Qwen", "alibaba"), ("openai/gpt-4o", "", "openai"),
     ("anything", "OpenAI", "openai"), ("GPT_4V", "", "openai"), ("o3-mini", "", "openai"),
     ("42", "", ""), ("my-model", "", "my")],
)  # fmt: skip
def test_families(name, family, expected):
    assert family_of(name, family) == expected


def test_the_judge_s_own_family_is_named_and_simulated_ones_have_none():
    judge = Judge(id="j", name="gpt-4o-2024-08-06")
    mine = Candidate(id="a", name="GPT-4V", family="openai")
    other = Candidate(id="b", name="gemini-1.5-pro")
    assert same_family(judge, [mine, other]) == ("GPT-4V",)
    assert same_family(judge.model_copy(update={"synthetic": True}), [mine]) == ()
    assert same_family(judge, [mine.model_copy(update={"synthetic": True})]) == ()
    assert same_family(None, [mine]) == ()
    assert same_family(Judge(id="k", name="123"), [Candidate(id="c", name="456")]) == ()
