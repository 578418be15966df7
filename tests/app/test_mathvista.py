"""A real study in the app: MathVista's published figures of two real models."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.slow

MODELS = ("bard", "llava_llama_2_13b")


@pytest.mark.slow
def test_the_published_accuracies_are_on_the_first_screen(open_app, mathvista, shared_folder):
    published = json.loads((shared_folder / "real" / "expected.json").read_text(encoding="utf-8"))
    markup = open_app(mathvista).markup
    assert "SYNTHETIC" not in markup
    for model in MODELS:
        figures = published["mathvista"][model]
        assert f"{figures['accuracy_percent']:.1f}" in markup
        for skill, (_, percent) in figures["skills_percent"].items():
            assert skill in markup
            # Published with two decimals: 47.75 is 106 of 222, 47.748, and shows as 47.7.
            assert f"{percent:.1f}" in markup or f"{percent - 0.005:.1f}" in markup


def test_its_wrong_answers_are_listed(open_app, mathvista):
    seen = open_app(mathvista, page="pages/explore/failures.py")
    assert not seen.test.exception
    assert "845 samples answered wrongly of 1,000 looked at" in seen.markup
