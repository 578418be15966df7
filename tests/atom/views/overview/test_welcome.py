"""The first picture explains itself, and the tour has five stops on real pages."""

from __future__ import annotations

import pytest

from atom.store import Store
from atom.ui.pages import find_screen
from atom.ui.shell.tour import address, stop_of, strip
from atom.views.filters import Filters
from atom.views.overview.welcome import picked_case, tour
from atom.views.study_data import load_study
from tests.app.screen_store import make_store


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    made = make_store(tmp_path_factory.mktemp("welcome"))
    with Store.open(made.folder) as store:
        yield store, load_study(store, made.study.id)


def test_the_picked_case_failed_has_a_region_and_words_of_the_answer(opened):
    store, data = opened
    picked = picked_case(store, data)
    assert picked.case.mark.score <= 2
    assert picked.regions
    assert all(region.picture == 1 for region in picked.regions)
    assert picked.case.sample.pictures[0].picture_id
    assert picked.quoted
    assert picked.filters.criterion == picked.case.criterion.criterion.id
    assert picked_case(store, data) is picked


def test_a_study_without_criteria_has_no_such_case(tmp_path):
    made = make_store(tmp_path, judged=False, name="Outcomes only")
    with Store.open(made.folder) as store:
        data = load_study(store, made.study.id)
        assert picked_case(store, data) is None
        stops = tour(store, data, Filters(study=made.study.id))
        assert len(stops) == 5
        # No judge has marked a step: no stop speaks of one that it would show.
        assert "beside it stand the judge's reason" not in stops[1].words
        assert "Next: the answers." in stops[0].words


def test_a_tour_without_a_weakness_names_none(opened):
    store, data = opened
    assert picked_case(store, data).finding is None
    stops = tour(store, data, Filters(study="s"))
    assert "Next: one answer, step by step." in stops[0].words
    assert "The card at the right is the whole tree" in stops[2].words


def test_the_tour_stops_on_five_pages_of_one_study(opened):
    store, data = opened
    stops = tour(store, data, Filters(study="s", model="x", outcome="wrong"))
    pages = [find_screen(stop.page).title for stop in stops]
    assert pages == ["Overview", "Failures", "Capability tree", "Fingerprints", "Judge lab"]
    assert {stop.filters.study for stop in stops} == {"s"}
    assert {stop.filters.outcome for stop in stops} == {None}
    case = stops[1].filters
    assert data.sample_position[case.sample] >= 0
    assert case.model == stops[2].filters.model == stops[3].filters.model


def test_each_stop_leads_on_and_the_last_to_ones_own_results(opened):
    store, data = opened
    filters = Filters(study="s")
    stops = tour(store, data, filters)
    for number in range(4):
        assert address(stops, number + 1).replace("&", "&amp;") in strip(stops, number, filters)
    assert "tour=3" in address(stops, 2)
    last = strip(stops, 4, filters)
    assert ">Next<" not in last
    assert "./data?study=s" in last
    assert all(">End<" in strip(stops, number, filters) for number in range(5))


@pytest.mark.parametrize("text", [None, "", "0", "6", "x", "-1", "١", "111111"])
def test_an_address_that_names_no_stop_has_no_tour(opened, text):
    store, data = opened
    assert stop_of(text, tour(store, data, Filters())) is None
    assert stop_of("5", tour(store, data, Filters())) == 4
