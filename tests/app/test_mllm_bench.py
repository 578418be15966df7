"""A real study of votes in the app: MLLM-Bench's published votes on seven models."""

from __future__ import annotations

import json

import pytest

from atom.store import Store
from atom.views.study_data import load_study
from tests.votes import make_votes

FAILURES = "pages/explore/failures.py"


@pytest.fixture(scope="module")
def voted(tmp_path_factory):
    return make_votes(tmp_path_factory.mktemp("votes"))


@pytest.mark.slow
def test_the_published_counts_are_on_the_first_screen(open_app, mllm_bench, shared_folder):
    text = (shared_folder / "real" / "expected.json").read_text(encoding="utf-8")
    expected = json.loads(text)["mllm_bench"]
    seen = open_app(mllm_bench)
    assert not seen.test.exception
    for name, counts in expected.items():
        assert name in seen.markup
        decided = counts["candidate"] + counts["anchor"] + counts["order_conflict"]
        share = 100 * (counts["candidate"] + 0.5 * counts["order_conflict"]) / decided
        assert f"{share:.1f}" in seen.markup
        rate = 100 * counts["order_conflict"] / 420
        assert f">{counts['order_conflict']:,}<" in seen.markup
        assert f"{rate:.1f} %" in seen.markup
    assert "Not all models were judged by the same judges" in seen.markup
    assert "the anchor, not ranked" in seen.markup


def test_lost_votes_are_listed_and_a_sample_shows_its_votes(open_app, mllm_bench):
    with Store.open(mllm_bench) as store:
        data = load_study(store, "MLLM-Bench")
    phi = next(c for c in data.candidates if "phi-3" in c.name)
    seen = open_app(mllm_bench, page=FAILURES, query={"model": phi.id})
    assert not seen.test.exception
    assert "263 samples lost by vote of 412 looked at" in seen.markup
    assert "the file holds no answer text" in seen.markup
    assert "Second one shown first" in seen.markup


@pytest.mark.slow
def test_a_judges_words_are_shown_as_text(open_app, voted):
    seen = open_app(voted.folder, page=FAILURES, query={"show": "all"})
    assert not seen.test.exception
    assert "&lt;b&gt;Words of" in seen.markup
    assert "<b>Words of" not in seen.markup


def test_a_filter_that_leaves_no_votes_is_sane(open_app, voted):
    seen = open_app(voted.folder, query={"tag": ["capability:Charts", "capability:OCR"]})
    assert not seen.test.exception
    assert "Nothing passes these filters" in seen.markup


@pytest.mark.parametrize(
    "page", ["pages/explore/tree.py", "pages/run/runs.py", "pages/run/replay.py"]
)
def test_other_pages_open_on_a_study_of_votes(open_app, voted, page):
    assert not open_app(voted.folder, page=page).test.exception
