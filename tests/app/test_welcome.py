"""The door comes first, and only until something was chosen; help stands on every page."""

from __future__ import annotations

import pytest

from tests.app.conftest import markup_of


def test_the_door_is_the_first_screen_until_a_way_is_taken(open_app, made):
    """Walk B8: once nothing on the first screen said what this is."""
    seen = open_app(made.folder, door=True)
    assert not seen.test.exception
    for words in (
        "Take the tour",
        "Bring my results",
        "Judge my model",
        "See where a model breaks",
    ):
        assert words in seen.markup
    assert 'class="region lit"' in seen.markup
    assert "Ranking of models" not in seen.markup
    # A choice dismisses it for good.
    seen.test.query_params["study"] = made.study.id
    assert "Ranking of models" in markup_of(seen.test.run())
    seen.test.query_params.clear()
    assert "Ranking of models" in markup_of(seen.test.run())


@pytest.mark.slow
def test_a_link_to_a_page_never_meets_the_door(open_app, made):
    for query in ({"study": made.study.id}, {"model": made.candidate_ids[0]}):
        assert "Ranking of models" in open_app(made.folder, query=query, door=True).markup
    again = open_app(made.folder, query={"study": made.study.id, "welcome": "yes"})
    assert "See where a model breaks" in again.markup


@pytest.mark.slow
def test_a_stop_of_the_tour_stands_on_its_page(open_app, made):
    seen = open_app(made.folder, query={"study": made.study.id, "tour": "1"}, door=True)
    assert "Tour, 1 of 5" in seen.markup
    assert "Ranking of models" in seen.markup
    gone = open_app(made.folder, query={"study": made.study.id, "tour": "9"})
    assert "Tour, " not in gone.markup


def test_help_holds_the_words_of_the_page_and_the_guide(open_app, made):
    """Walk B8: once the app had no help and no switch of themes."""
    seen = open_app(made.folder, "pages/explore/compare.py")
    shown = markup_of(seen.test, with_help=True)
    assert "Words on Compare" in shown
    assert "Paired difference" in shown
    seen.test.button(key="help_guide").click().run()
    assert any("Compare two" in one.value for one in seen.test.markdown)
