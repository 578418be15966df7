"""A real study in the app: MathVista's published figures of two real models."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from atom.engine.imports import import_reading
from atom.formats import ImportFile, read
from atom.store import Store

MODELS = ("bard", "llava_llama_2_13b")


@pytest.fixture(scope="module")
def imported(shared_folder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("mathvista")
    source = shared_folder / "real" / "mathvista"
    files = [ImportFile.from_path(source / f"output_{model}.json") for model in MODELS]
    with Store.open(folder) as store:
        import_reading(store, read("mathvista", files), "MathVista", datetime.now(UTC))
    return folder


def test_the_published_accuracies_are_on_the_first_screen(open_app, imported, shared_folder):
    published = json.loads((shared_folder / "real" / "expected.json").read_text(encoding="utf-8"))
    markup = open_app(imported).markup
    assert "SYNTHETIC" not in markup
    for model in MODELS:
        figures = published["mathvista"][model]
        assert f"{figures['accuracy_percent']:.1f}" in markup
        for skill, (_, percent) in figures["skills_percent"].items():
            assert skill in markup
            # Published with two decimals: 47.75 is 106 of 222, 47.748, and shows as 47.7.
            assert f"{percent:.1f}" in markup or f"{percent - 0.005:.1f}" in markup


def test_its_wrong_answers_are_listed(open_app, imported):
    seen = open_app(imported, page="pages/explore/failures.py")
    assert not seen.test.exception
    assert "845 samples answered wrongly of 1,000 looked at" in seen.markup
