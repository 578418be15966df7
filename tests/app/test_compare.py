"""Compare: which of two is better, where, and how sure is that?"""

from __future__ import annotations

import html
import re
import shutil
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.app.conftest import markup_of
from tests.app.screen_store import HOSTILE, NAMES

PAGE = "pages/explore/compare.py"
DEMO = Path(__file__).parents[2] / "data" / "demo"


@pytest.fixture
def show(open_app, made):
    """Return a function that opens the page on the judged study: (**query) -> Seen."""
    return lambda **query: open_app(made.folder, PAGE, query)


def doors(seen, page):
    """Return the queries of all doors to a page."""
    found = re.findall(rf'href="\./{page}\?([^"]*)"', seen.markup)
    return [parse_qs(html.unescape(query)) for query in found]


@pytest.mark.slow
def test_the_answer_comes_first(show, made):
    a, b, c = made.candidate_ids
    alike = html.unescape(show(model=a, peers=[c]).markup)
    assert "model-a and model-c score alike: 0.0 points apart (−44.5 to 44.5) on 8" in alike
    assert "The means are equal" in alike
    seen = show(model=a, peers=[b])
    assert not seen.test.exception
    text = html.unescape(seen.markup)
    assert "Which of two is better, where, and how sure is that?" in text
    assert re.search(r"model-\w scores [\d.]+ points \(−?[\d.]+ to −?[\d.]+\) higher than", text)
    assert "shared samples: not beyond chance (p" in text
    assert "would settle a difference of this size" in text
    assert "1 set aside (judge and reference disagree)" in text
    assert "Right answers: " in text


def test_both_sides_are_chosen_and_held_in_the_address(show, made):
    a, b, c = made.candidate_ids
    seen = show(model=a, peers=[b])
    first, second = (seen.test.selectbox(key=key) for key in ("compare_first", "compare_second"))
    assert (first.value, second.value) == NAMES[:2]
    second.set_value(NAMES[2]).run()
    assert seen.test.query_params["model"] in (a, [a])
    assert seen.test.query_params["peers"] in (c, [c])
    assert not seen.test.exception


def test_the_swap_turns_the_sides(show, made):
    a, b, _ = made.candidate_ids
    seen = show(model=a, peers=[b], tab="first")
    swap = re.search(r'<a href="([^"]*)"[^>]*>⇄ Swap', seen.markup)
    query = parse_qs(urlsplit(html.unescape(swap[1])).query)
    assert (query["model"], query["peers"], query["tab"]) == ([b], [a], ["second"])


@pytest.mark.slow
def test_a_node_is_a_door_to_its_pairs_and_to_its_failures(show, open_app, made):
    """Walk A2: once a column called "Failures" counted all answers."""
    a, b, _ = made.candidate_ids
    seen = show(model=a, peers=[b], depth="all")
    text = html.unescape(seen.markup)
    assert "All 8 capabilities" in text or "All 9 capabilities" in text
    rows = re.findall(r"<tr[^>]*>(?:(?!</tr>).)*</tr>", seen.markup)
    row = next(one for one in rows if "./failures?" in one)
    pairs, behind = re.search(r'compare\?[^"]*"[^>]*>(\d+)<', row)[1], re.search(
        r'<a href="(\./failures\?[^"]*)"[^>]*>(\d+) of (\d+)<', row
    )  # fmt: skip
    query = parse_qs(urlsplit(html.unescape(behind[1])).query)
    node = query["node"][0]
    inside = show(model=a, peers=[b], node=node)
    assert f"Pairs inside {node.split(' › ')[-1]}" in inside.markup
    assert f"All {pairs}<" in inside.markup
    assert (query["model"], query["peers"]) == ([a], [b])
    failed = open_app(made.folder, "pages/explore/failures.py", query)
    assert 0 < int(behind[2]) < int(behind[3])
    assert re.search(rf"\b{behind[2]} samples?\b", failed.markup)


def test_where_nothing_failed_there_is_no_door_to_failures(show, made):
    """Walk A2: once "Failures" stood beside answers of which none failed."""
    a, b, _ = made.candidate_ids
    seen = show(model=a, peers=[b], depth="all", outcome="right")
    rows = re.findall(r"<tr[^>]*>(?:(?!</tr>).)*</tr>", seen.markup)
    none = [one for one in rows if re.search(r">0 of \d+<", one)]
    assert none
    assert not [one for one in none if "./failures?" in one]


def test_the_chosen_pair_shows_both_answers_and_reasons(show, made):
    a, b, _ = made.candidate_ids
    criterion = made.criterion_ids[0][1]
    seen = show(model=a, peers=[b], sample=made.sample_ids[0], criterion=criterion)
    text = html.unescape(seen.markup)
    assert "Sample no. 1" in text
    assert "Criteria, both answers" in text
    assert "Why model-a gets" in text
    assert "Why model-b gets" in text
    assert text.count('class="said"') >= 2


def test_hostile_text_stays_text(show, made):
    a, b, _ = made.candidate_ids
    seen = show(model=a, peers=[b], sample=made.sample_ids[5])
    assert not seen.test.exception
    assert "<script>" not in seen.markup
    assert html.escape(HOSTILE.split()[0]) in seen.markup


@pytest.mark.slow
def test_a_link_to_a_sample_that_is_no_pair_says_so(show, made):
    a, b, _ = made.candidate_ids
    assert "isn&#x27;t in the list" in show(model=a, peers=[b], sample=made.sample_ids[3]).markup
    assert "isn&#x27;t in the study" in show(model=a, peers=[b], sample="nowhere").markup


@pytest.mark.slow
@pytest.mark.parametrize(
    "query",
    [
        {"tab": "fail"},
        {"tab": "neither_right", "at": "99"},
        {"facet": "difficulty", "depth": "all"},
        {"outcome": "right"},
        {"process": "flawed"},
        {"root": "Reasoning"},
        {"tag": ["difficulty:hard"]},
        {"model": "nobody", "peers": ["nobody else"], "left": "9", "right": "x", "other": "y"},
        {"measure": "outcome"},
    ],
)
def test_every_choice_gives_a_page(show, query):
    seen = show(**query)
    assert not seen.test.exception
    assert "Where they differ" in seen.markup


def test_filters_on_answers_say_what_they_do_to_pairs(show):
    text = html.unescape(show(outcome="right").markup)
    assert "a pair needs both answers kept" in text
    assert "dropped by the filters" in text
    assert "McNemar" not in text


def test_the_same_thing_twice_offers_another(show, made):
    a = made.candidate_ids[0]
    seen = show(model=a, peers=[a])
    assert not seen.test.exception
    assert "Both sides are the same" in seen.markup
    assert "Compare it with model-b" in seen.markup


def test_nothing_shared_offers_a_way_out(show):
    seen = show(tag=["difficulty:hard", "difficulty:easy"])
    assert not seen.test.exception
    assert "share no sample that counts" in seen.markup
    assert "Clear filters" in seen.markup


@pytest.mark.slow
def test_a_study_of_outcomes_groups_by_label(open_app, made_outcomes):
    seen = open_app(made_outcomes.folder, PAGE, {"depth": "all"})
    assert not seen.test.exception
    text = html.unescape(seen.markup)
    assert re.search(r"(is|are) right", text)
    assert "Both values of difficulty" in text
    assert "Criteria, both answers" not in text
    links = doors(seen, "failures")
    assert any(link.get("tag") == ["difficulty:hard"] for link in links)


def test_an_empty_store_says_what_to_do_next(open_app):
    seen = open_app(page=PAGE)
    assert not seen.test.exception
    assert "There is no study yet" in seen.markup


def test_the_bundled_study_says_where_the_first_two_differ(open_app):
    if not (DEMO / "SHA256SUMS").exists():
        pytest.skip("the bundled study isn't in this checkout (data/demo)")
    seen = open_app(demo=DEMO, page=PAGE)
    assert not seen.test.exception
    text = html.unescape(seen.markup)
    assert "higher than model-e on 300 shared samples: beyond chance" in text
    assert "model-b is ahead (4)" in text
    assert "Changed object" in text
    # Every door on this page writes both sides down.
    assert all(one.get("model") and one.get("peers") for one in doors(seen, "compare")[1:] if
               "tab" in one or "node" in one)  # fmt: skip


@pytest.mark.slow
def test_versions_are_declared_and_what_changed_is_said(open_app, made, tmp_path):
    a, b, _ = made.candidate_ids
    shutil.copytree(made.folder, tmp_path / "mine")
    seen = open_app(tmp_path / "mine", PAGE, {"model": b, "peers": [a]})
    assert 'data-testid="versions"' not in seen.markup
    said = seen.test.selectbox(key=f"compare_version_of_{b}").set_value(a).run()
    assert not said.exception
    seen = open_app(tmp_path / "mine", PAGE, {"model": b, "peers": [a]})
    text = html.unescape(seen.markup)
    assert 'data-testid="versions"' in text
    assert "model-a → model-b" in text
    assert re.search(r"\d+ samples? fixed</a> \(failed before, and no longer\)", text)
    assert re.search(r"Of the \d+ samples that model-b fails: \d+ already in model-a", text)
    tabs = {one.get("tab", [""])[0] for one in doors(seen, "compare")}
    assert {"first_fails", "second_fails"} <= tabs
    ring = open_app(tmp_path / "mine", PAGE, {"model": a, "peers": [b]})
    assert "model-a is the earlier of the two" in html.unescape(ring.markup)
    ring.test.selectbox(key=f"compare_version_of_{a}").set_value(b).run()
    assert "which is a version of" in html.unescape(markup_of(ring.test))
