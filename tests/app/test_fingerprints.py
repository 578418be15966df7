"""Fingerprints: what shape is each model?"""

from __future__ import annotations

import html
import re

import pytest

from atom.store import find_study
from atom.ui.links import read_address
from atom.ui.pages import SCREENS
from atom.views.tree.edit import edit_tree
from taxonomy.edits import Merge
from tests.app.screen_store import HOSTILE, NAMES, make_store
from tests.factories import COUNT, STUDY, TREE, open_small

PAGE = "pages/explore/fingerprints.py"


def doors(markup: str) -> list[tuple[str, dict[str, list[str]]]]:
    """Return every address in the markup, read."""
    found = (read_address(html.unescape(one)) for one in re.findall(r'href="([^"]+)"', markup))
    return [one for one in found if one is not None]


def menus(seen) -> dict[str, str]:
    """Return the page's own menus and their values."""
    return {
        box.key.removeprefix("fingerprint_"): box.value
        for box in seen.test.selectbox
        if box.key.startswith("fingerprint_")
    }


def test_the_page_answers_its_question(open_app, made):
    seen = open_app(made.folder, PAGE)
    assert not seen.test.exception
    for words in ("What shape is each model?", "What stands out", "Every model on every capability",
                  "Skills of", "Told apart", *NAMES):  # fmt: skip
        assert words in seen.markup
    assert 'class="heatmap' in seen.markup
    assert menus(seen) == {"rows": "score", "cols": "tree", "colour": "score", "layer": ""}
    # Two or one capability a radar here: drawn as bars, and named.
    assert 'class="radar"' in seen.markup
    apart = open_app(made.folder, PAGE, query={"tab": "apart"}).markup
    assert "Which models are told apart?" in apart
    assert "10 samples can&#x27;t be cut into halves" in apart


def test_what_the_overview_says_of_single_answers_is_shown_behind_its_doors(open_app, made):
    overview = html.unescape(open_app(made.folder).markup)
    doors = re.findall(r'<li><a href="([^"]+)"[^>]*>(How scores spread:[^<]+)<', overview)
    # Walk A5: once "most break at step 1" was said of a fifth.
    (said,) = re.findall(r"where answers first break: ([^<]*)", overview, re.I)
    assert re.match(r"the largest share \(\d+ %\) breaks at step \d", said)
    ((href, words),) = doors
    page, query = read_address(href)
    assert page == "fingerprints"
    seen = open_app(made.folder, PAGE, query=query)
    assert not seen.test.exception
    shown = html.unescape(seen.markup)
    for one in (words, "Ranks, sample by sample", "Where answers first break"):
        assert one in shown


def test_every_door_leads_somewhere(open_app, made):
    seen = open_app(made.folder, PAGE)
    pages = {screen.url_path for screen in SCREENS}
    assert {page for page, _ in doors(seen.markup)} <= pages
    into = [query for page, query in doors(seen.markup) if page == "failures" and "node" in query]
    assert len(into) >= 3 * 3
    assert all(query["show"] == ["all"] for query in into)


def test_choosing_a_model_here_chooses_it_everywhere(open_app, made):
    first, second, third = made.candidate_ids
    seen = open_app(made.folder, PAGE, query={"model": second, "peers": [first]})
    assert f'Skills of<span class="model" title="{NAMES[1]}">' in seen.markup
    picks = [q for page, q in doors(seen.markup) if page == "fingerprints"]
    # One more, and one less: the chosen one or its peer.
    assert any(q.get("peers") == [first, third] and q["model"] == [second] for q in picks)
    assert any(q.get("model") == [first] and "peers" not in q for q in picks)


def test_menus_live_in_the_address(open_app, made):
    query = {"rows": "clustered", "cols": "score", "colour": "evidence", "layer": "2"}
    seen = open_app(made.folder, PAGE, query=query)
    assert menus(seen) == query
    box = next(one for one in seen.test.selectbox if one.key == "fingerprint_colour")
    box.select("difference").run()
    assert not seen.test.exception
    assert seen.test.query_params["colour"] == "difference"
    assert seen.test.query_params["rows"] == "clustered"


def test_unknown_orders_are_dropped(open_app, made):
    seen = open_app(made.folder, PAGE, query={"rows": "../..", "cols": HOSTILE, "colour": "red"})
    assert not seen.test.exception
    assert menus(seen) == {"rows": "score", "cols": "tree", "colour": "score", "layer": ""}


def test_chosen_answers_claim_nothing(open_app, made):
    seen = open_app(made.folder, PAGE, query={"outcome": "right", "colour": "evidence"})
    assert not seen.test.exception
    assert "nothing is claimed" in seen.markup
    assert "confirmed weakness" not in seen.markup
    assert menus(seen)["colour"] == "score"


@pytest.mark.slow
def test_two_trees_stand_beside_each_other_and_a_link_says_which(open_app, tmp_path):
    with open_small(tmp_path / "own") as store:
        before = find_study(store, STUDY).tree_version
        into = next(leaf for leaf in TREE.leaves if leaf[:2] == COUNT[:2] and leaf != COUNT)
        edit_tree(store, STUDY, Merge(COUNT, into))
        after = find_study(store, STUDY).tree_version
    query = {"study": STUDY, "beside": before, "layer": "4"}
    seen = open_app(tmp_path / "own", PAGE, query=query)
    assert not seen.test.exception
    assert "The same models in two trees" in seen.markup
    assert menus(seen)["tree"] == after
    # The merged leaf is an axis in the tree of before alone, and its doors lead under that tree.
    counts = [q for page, q in doors(seen.markup) if q.get("node", [""])[0].endswith(COUNT[-1])]
    assert counts
    assert {q["tree"][0] for q in counts} == {before}
    # The other way round: the chain names the tree that isn't the study's own.
    seen = open_app(tmp_path / "own", PAGE, query={"study": STUDY, "tree": before})
    assert "tree: " in seen.markup
    assert menus(seen)["tree"] == before
    counts = [q for page, q in doors(seen.markup) if q.get("node", [""])[0].endswith(COUNT[-1])]
    assert counts
    # Every door goes on under it.
    assert all(q["tree"] == [before] for q in counts)


def test_outcomes_are_drawn_by_label(open_app, made_outcomes):
    seen = open_app(made_outcomes.folder, PAGE)
    assert not seen.test.exception
    assert "Every model on every label" in seen.markup
    into = [query for page, query in doors(seen.markup) if page == "failures" and "tag" in query]
    assert {query["tag"][0] for query in into} == {"difficulty:easy", "difficulty:hard"}


@pytest.mark.parametrize("facet", ["difficulty", "nothing such"])
def test_a_facet_can_be_chosen(open_app, made, facet):
    seen = open_app(made.folder, PAGE, query={"facet": facet})
    assert not seen.test.exception
    assert ("Every model on every label" in seen.markup) == (facet == "difficulty")


def test_a_filter_that_keeps_nothing_says_so(open_app, made):
    query = {"tag": ["difficulty:hard", "difficulty:easy"]}
    seen = open_app(made.folder, PAGE, query=query)
    assert not seen.test.exception
    assert "Nothing passes these filters" in seen.markup
    assert "Clear filters" in seen.markup


@pytest.mark.slow
def test_hostile_names_stay_text(open_app, tmp_path, monkeypatch):
    from tests.app import screen_store

    bad = [one.model_copy(update={"name": f"{HOSTILE} {one.name}"[:200]})
           for one in screen_store.CANDIDATES]  # fmt: skip
    monkeypatch.setattr(screen_store, "CANDIDATES", tuple(bad))
    made = make_store(tmp_path / "hostile")
    seen = open_app(made.folder, PAGE)
    assert not seen.test.exception
    assert "<script>window" not in seen.markup
    assert "<img" not in seen.markup
