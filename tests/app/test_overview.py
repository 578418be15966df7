"""Overview: who is ahead, and what breaks each of them?"""

from __future__ import annotations

import html

from tests.app.screen_store import NAMES


def test_the_first_screen_ranks_all_models(open_app, made):
    seen = open_app(made.folder)
    assert not seen.test.exception
    assert "Who is ahead, and what breaks each of them?" in seen.markup
    for name in NAMES:
        assert name in seen.markup
    assert "What stands out" in seen.markup
    assert "Right answer, wrong reason" in seen.markup


def test_a_synthetic_study_says_so(open_app, made):
    assert open_app(made.folder).markup.count("SYNTHETIC") >= 2


def test_quarantined_and_missing_ones_are_counted_in_sight(open_app, made):
    seen = open_app(made.folder)
    assert "1 set aside" in seen.markup
    assert "still to be scored" in seen.markup
    assert "1 answer missing or failed" in seen.markup


def test_every_number_is_a_door_that_keeps_the_study(open_app, made):
    seen = open_app(made.folder)
    address = f"./failures?study={made.study.id}&amp;model={made.candidate_ids[0]}"
    assert address in seen.markup


def test_a_node_opens_its_children(open_app, made):
    seen = open_app(made.folder, query={"node": "Perception › Fine detail"})
    assert "Inside Fine detail" in seen.markup
    assert "Bar height" in seen.markup


def test_a_study_without_criteria_is_looked_at_by_outcome(open_app, made_outcomes):
    seen = open_app(made_outcomes.folder)
    assert not seen.test.exception
    assert "Right answers, %" in seen.markup
    assert "By difficulty" in seen.markup
    assert "hard" in seen.markup


def test_a_facet_can_be_chosen(open_app, made):
    seen = open_app(made.folder, query={"facet": "difficulty"})
    assert "By difficulty" in seen.markup


def test_filters_narrow_and_can_be_cleared(open_app, made):
    seen = open_app(made.folder, query={"tag": ["difficulty:nothing like this"]})
    assert "Nothing passes these filters" in seen.markup
    assert "Clear filters" in seen.markup


def test_an_empty_store_says_what_to_do_next(open_app):
    seen = open_app()
    assert not seen.test.exception
    assert "There is no study yet" in seen.markup
    assert "demo build" in seen.markup


def test_a_sealed_study_is_shown_as_bundled(open_app, made):
    seen = open_app(demo=made.folder)
    assert not seen.test.exception
    assert "BUNDLED" in seen.markup
    assert f"demo:{made.study.id}" in html.unescape(seen.markup).replace("%3A", ":")


def test_the_users_own_study_comes_first(open_app, made, made_outcomes):
    seen = open_app(made_outcomes.folder, demo=made.folder)
    assert seen.test.sidebar.selectbox[0].value == made_outcomes.study.id
    assert len(seen.test.sidebar.selectbox[0].options) == 2


def test_picking_another_study_moves_there(open_app, made, made_outcomes):
    seen = open_app(made_outcomes.folder, demo=made.folder)
    key = f"demo:{made.study.id}"
    seen.test.sidebar.selectbox[0].set_value(key).run()
    assert seen.test.query_params["study"] in (key, [key])


def test_a_link_to_an_unknown_study_says_so(open_app, made):
    seen = open_app(made.folder, query={"study": "nowhere"})
    assert not seen.test.exception
    assert "names a study that isn&#x27;t here" in seen.markup


def test_a_damaged_store_is_a_message(open_app, tmp_path):
    folder = tmp_path / "damaged"
    folder.mkdir()
    (folder / "atomscope.sqlite").write_bytes(b"not a database at all" * 100)
    seen = open_app(folder)
    assert not seen.test.exception
    assert "damaged" in seen.markup or "can&#x27;t open" in seen.markup


def test_a_chosen_facet_leaves_the_ranking_as_it_is(open_app, made):
    seen = open_app(made.folder, query={"facet": "difficulty"})
    assert "Lowest capabilities" in seen.markup
    assert "lowest capability is Bar height" in seen.markup
