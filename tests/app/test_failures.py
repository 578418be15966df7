"""Failures: the list, and the case from the picture to the judge's reason."""

from __future__ import annotations

import re
import shutil

import pytest

from atom.ui.people.names import WHO
from tests.app.conftest import markup_of
from tests.app.screen_store import HOSTILE

PAGE = "pages/explore/failures.py"


def query_of(made, sample: int, *, model: int = 0, criterion: int | None = 0, **more):
    query = {
        "study": made.study.id,
        "sample": made.sample_ids[sample],
        "model": made.candidate_ids[model],
        **more,
    }
    if criterion is not None:
        query["criterion"] = made.criterion_ids[sample][criterion]
    return query


def test_without_a_choice_the_worst_sample_is_shown(open_app, made):
    seen = open_app(made.folder, PAGE)
    assert not seen.test.exception
    assert "Why model-" in seen.markup
    assert 'class="region lit"' in seen.markup


def test_a_deep_link_shows_region_reason_and_span(open_app, made):
    seen = open_app(made.folder, PAGE, query_of(made, 0, criterion=1))
    assert seen.markup.count('class="region lit"') == 1
    assert "The answer states a value that scores 2 against the truth." in seen.markup
    light = made.criterion_ids[0][1]
    assert f'<mark data-light="{light}" data-on="1">Bar C reaches 30.</mark>' in seen.markup
    assert "no. 1" in seen.markup


def test_all_candidates_scores_stand_in_the_criteria_table(open_app, made):
    seen = open_app(made.folder, PAGE, query_of(made, 0))
    for model in made.candidate_ids:
        chip = f"criterion={made.criterion_ids[0][0]}&amp;sample={made.sample_ids[0]}"
        by = "" if model == made.candidate_ids[0] else f"&amp;by={model}"
        assert f'{chip}{by}"' in seen.markup
    assert "All 3 answers side by side" in seen.markup


def test_hostile_texts_stay_texts(open_app, made):
    seen = open_app(made.folder, PAGE, query_of(made, 5, show="all"))
    assert not seen.test.exception
    assert "<script" not in seen.markup
    assert 'src="http' not in seen.markup
    assert "&lt;script&gt;window.pwned" in seen.markup
    assert "Show all (" in seen.markup


def test_a_missing_picture_is_a_frame_with_its_name(open_app, made):
    seen = open_app(made.folder, PAGE, query_of(made, 4))
    assert "Picture not attached" in seen.markup
    assert "charts/missing_chart_4.png" in seen.markup


def test_a_sample_without_a_picture_says_so(open_app, made):
    assert "has no picture" in open_app(made.folder, PAGE, query_of(made, 6)).markup


def test_a_quarantined_sample_is_flagged(open_app, made):
    seen = open_app(made.folder, PAGE, query_of(made, 3, show="all"))
    assert "judge and reference disagree" in seen.markup


def test_unusable_criteria_give_their_reason(open_app, made):
    seen = open_app(made.folder, PAGE, query_of(made, 7, criterion=None))
    assert "the reply held no criteria" in seen.markup


def test_an_unscored_checkpoint_gives_its_reason(open_app, made):
    seen = open_app(made.folder, PAGE, query_of(made, 2, criterion=1))
    assert "the judge declined: out of view" in seen.markup


def test_a_failed_call_gives_its_error(open_app, made):
    seen = open_app(made.folder, PAGE, query_of(made, 10, model=1, criterion=2))
    assert "rate limit: 5 tries in 60 s" in seen.markup


def test_a_checkpoint_to_come_says_so(open_app, made):
    seen = open_app(made.folder, PAGE, query_of(made, 11, model=2))
    assert "still to be scored." in seen.markup


def test_an_answer_that_failed_gives_its_error(open_app, made):
    seen = open_app(made.folder, PAGE, query_of(made, 8, model=2))
    assert "the endpoint closed the connection" in seen.markup


def test_previous_and_next_follow_the_list(open_app, made):
    seen = open_app(made.folder, PAGE)
    assert 'data-key="ArrowRight"' in seen.markup
    assert 'data-key="ArrowLeft"' not in seen.markup


def test_a_sample_outside_the_filters_is_still_shown(open_app, made):
    seen = open_app(made.folder, PAGE, query_of(made, 0, tag="difficulty:hard"))
    assert "isn&#x27;t in the list under the present filters" in seen.markup
    assert "Why model-" in seen.markup


def test_nothing_failed_offers_a_way_out(open_app, made):
    seen = open_app(made.folder, PAGE, {"tag": ["difficulty:hard", "difficulty:easy"]})
    assert "Nothing here" in seen.markup
    assert "Clear filters" in seen.markup


def test_without_criteria_wrong_answers_are_listed(open_app, made_outcomes):
    seen = open_app(made_outcomes.folder, PAGE)
    assert not seen.test.exception
    assert "answered wrongly" in seen.markup
    assert "Nothing judged yet." in seen.markup


@pytest.mark.slow
@pytest.mark.parametrize("page", ["", PAGE])
@pytest.mark.parametrize(
    "query",
    [
        {"study": HOSTILE, "model": HOSTILE, "node": HOSTILE, "sample": HOSTILE},
        {"criterion": "' OR 1=1 --", "tag": ["x", ":", "::", "difficulty:"], "outcome": "maybe"},
        {"sample": "../../etc/passwd", "at": "-1", "facet": "<b>", "tab": "\u202e"},
        {"at": "99999999999999999999", "show": "everything", "measure": "x" * 5000},
        {"model": "ghost", "peers": ["a"] * 200, "unknown": "key", "node": " › ".join("abcdefgh")},
        {"at": "²", "facet": "difficulty", "measure": "outcome"},
    ],
)
def test_hostile_queries_are_tolerated(open_app, made, page, query):
    seen = open_app(made.folder, page, query)
    assert not seen.test.exception
    assert "<script" not in seen.markup
    assert "<b>" not in seen.markup
    assert 'class="head"' in seen.markup


def test_tags_that_change_nothing_say_so(open_app, made, tmp_path):
    shutil.copytree(made.folder, tmp_path / "own")
    test = open_app(tmp_path / "own", PAGE).test
    test.session_state[WHO] = "Ada"
    test.run()
    told = []
    for button in ("keep_remove", "keep_add", "keep_add", "keep_remove"):
        test.text_input(key="keep_tag").set_value("look again")
        test.button(key=button).click().run()
        told += re.findall(r'role="status"[^>]*>([^<]*look again[^<]*)<', markup_of(test))
    begin = [words.split()[0] for words in told]
    assert begin == ["None", "Tagged", "All", "Took"]


def test_one_sample_holds_the_words(open_app, made):
    seen = open_app(made.folder, PAGE, {"q": "pwned", "in": "question", "show": "all"})
    (told,) = re.findall(r"(\d+) samples? +of (\d+) that (holds?) the words", seen.markup)
    assert told == ("1", "1", "holds")


def test_a_search_lists_what_holds_the_words_and_says_where(open_app, made):
    """Walk B15: once failures had no search."""
    seen = open_app(made.folder, PAGE, {"q": '"scores 1"', "in": "reason", "sort": "models"})
    assert not seen.test.exception
    assert "that hold the words, failed by most models first" in seen.markup
    assert "<mark>scores 1</mark>" in seen.markup
    assert "models fail" in seen.markup
    assert seen.test.text_input(key="find_words").value == '"scores 1"'


@pytest.mark.parametrize("words", ["zebra", "<script>alert(1)</script>", "' OR 1=1 --", "%"])
def test_a_search_without_a_match_says_so_and_offers_a_way_out(open_app, made, words):
    seen = open_app(made.folder, PAGE, {"q": words})
    assert not seen.test.exception
    assert "Nothing matches" in seen.markup
    assert "Clear the search" in seen.markup
    assert "<script" not in seen.markup


def test_several_values_and_not_are_set_in_the_menus(open_app, made):
    """Walk B15: once filters took one value each, and no NOT."""
    seen = open_app(made.folder, PAGE)
    first, second = made.candidate_ids[:2]
    seen.test.multiselect(key="find_models").set_value([f"+{first}", f"-{second}"]).run()
    assert seen.test.query_params["fails"] in (first, [first])
    assert seen.test.query_params["passes"] in (second, [second])
    markup = markup_of(seen.test)
    assert "fails" in markup
    assert "passes" in markup


def test_the_grid_holds_every_model_and_marks_failures_by_a_sign(open_app, made):
    """Walk B15: once failures were seen one model at a time."""
    seen = open_app(made.folder, PAGE, {"lay": "grid", "sort": "models"})
    assert not seen.test.exception
    assert 'aria-label="Samples by models"' in seen.markup
    assert "▼" in seen.markup
    for model in made.candidate_ids:
        assert f"by={model}" in seen.markup
    cell = re.search(
        r'aria-label="Sample no\. \d+, model-a: \d+ of 100, \d+ failures?"', seen.markup
    )
    assert cell is not None


@pytest.mark.slow
def test_two_answers_stand_word_by_word(open_app, made):
    query = query_of(made, 0, vs=made.candidate_ids[1])
    seen = open_app(made.folder, PAGE, query)
    assert not seen.test.exception
    assert "Word by word with" in seen.markup
    assert "<del>" in seen.markup
    assert "<ins>" in seen.markup
    assert "of both texts is the same" in seen.markup
    plain = open_app(made.folder, PAGE, query_of(made, 0, vs="nobody"))
    assert "<del>" not in plain.markup


def test_hostile_answers_stay_texts_word_by_word(open_app, made):
    query = query_of(made, 5, show="all", vs=made.candidate_ids[1])
    seen = open_app(made.folder, PAGE, query)
    assert "<script" not in seen.markup
    assert 'src="http' not in seen.markup


def test_groups_say_why_there_are_none_and_a_link_to_one_leads_back(open_app, made):
    seen = open_app(made.folder, PAGE, {"study": made.study.id, "lay": "groups"})
    assert not seen.test.exception
    assert "No groups" in seen.markup
    gone = open_app(made.folder, PAGE, {"study": made.study.id, "kind": "omission"})
    assert "Nothing matches" in gone.markup
    assert "group: omission" in gone.markup
    assert "lay=groups" in gone.markup


def test_what_embeddings_cost_is_counted_when_it_is_looked_at(open_app, made):
    test = open_app(made.folder, PAGE, {"study": made.study.id, "lay": "groups"}).test
    assert "different reason" not in markup_of(test)
    test.session_state["groups_box"] = True
    test.run()
    assert not test.exception
    assert "different reason" in markup_of(test)
    assert test.button(key="groups_embed").label == r"Use embeddings by probe\-embedding"
