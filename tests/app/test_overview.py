"""Overview: who is ahead, and what breaks each of them?"""

from __future__ import annotations

import html
import re
import urllib.parse
from pathlib import Path

import pytest

from atom.engine.imports.importing import import_reading
from atom.formats import ImportFile, read
from atom.store import Store
from atom.views.filters import Filters
from atom.views.overview.page import overview
from atom.views.overview.ranking_table import WEAK, ranking_table
from atom.views.study_data import load_study
from tests.app.screen_store import NAMES
from tests.votes import MOMENT

DEMO = Path(__file__).parents[2] / "data" / "demo"


def test_the_first_screen_ranks_all_models(open_app, made):
    seen = open_app(made.folder)
    assert not seen.test.exception
    assert "Who is ahead, and what breaks each of them?" in seen.markup
    for name in NAMES:
        assert name in seen.markup
    assert "What stands out" in seen.markup
    assert "Right answer, wrong reason" in seen.markup


def test_the_ranking_says_what_its_table_says_to_every_reader(open_app, made):
    markup = open_app(made.folder).markup
    with Store.open(made.folder) as store:
        found = ranking_table(overview(load_study(store, made.study.id), Filters()))
    drawn = re.search(r'aria-label="Ranking of models".*?</table>', markup, re.DOTALL)
    columns = found.shown("screen")
    rows = re.findall("<tr.*?</tr>", drawn[0], re.DOTALL)[1:]
    assert len(rows) == len(found.rows) > 1
    for row, cells in zip(found.rows, rows, strict=True):
        texts = [html.unescape(re.sub("<[^>]+>", "", one))
                 for one in re.findall("<td.*?</td>", cells, re.DOTALL)]  # fmt: skip
        assert len(texts) == len(columns)
        for column, text in zip(columns, texts, strict=True):
            # A screen has weaknesses without the words of their glyphs.
            assert text.startswith(re.sub("^([▼▽]) ", r"\1", column.text(row).split(" (")[0]))
    names = {one.title for one in found.shown("text")}
    assert {one.title for one in columns} - names == {WEAK}


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
    """Walk B10: once a study of outcomes had no way to have its answers judged."""
    seen = open_app(made_outcomes.folder)
    assert not seen.test.exception
    assert "Right answers, %" in seen.markup
    assert "By difficulty" in seen.markup
    assert "hard" in seen.markup
    assert re.search(r'href="\./runs[^"]*"[^>]*>Judge these answers<', seen.markup)


def test_a_facet_can_be_chosen(open_app, made):
    seen = open_app(made.folder, query={"facet": "difficulty"})
    assert "By difficulty" in seen.markup


def test_filters_narrow_and_can_be_cleared(open_app, made):
    seen = open_app(made.folder, query={"tag": ["difficulty:hard", "difficulty:easy"]})
    assert "Nothing passes these filters" in seen.markup
    assert "Clear filters" in seen.markup


def test_a_link_that_names_what_the_study_has_not_says_what_there_is(open_app, made):
    query = {
        "tag": ["difficulty:nothing like this"], "root": "Gardening", "judge": "nobody",
        "model": "model-z",
    }  # fmt: skip
    seen = open_app(made.folder, query=query)
    assert "There are: easy, hard." in seen.markup
    assert "There are: Perception, Reasoning." in seen.markup
    assert "There are: probe-judge." in seen.markup
    assert "There are: model-a, model-b, model-c." in seen.markup
    assert "Nothing passes these filters" not in seen.markup


def test_a_root_can_be_chosen_in_the_filters(open_app, made):
    seen = open_app(made.folder, query={"root": "Reasoning"})
    assert "under Reasoning" in seen.markup
    box = next(one for one in seen.test.selectbox if one.key == "filter_root")
    assert box.options == ["Any", "Perception", "Reasoning"]
    box.set_value("Perception").run()
    assert seen.test.query_params["root"] == "Perception"


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


@pytest.mark.slow
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
    assert ">Weaknesses<" in seen.markup
    assert "nothing found" in seen.markup


def test_a_study_of_three_models_says_what_its_frame_mixes_up(open_app, made):
    seen = open_app(made.folder)
    assert "confounded with difficulty" in seen.markup
    assert (
        "No weakness is confirmed in any model (compared with the model's own other answers"
        in html.unescape(seen.markup)
    )


@pytest.mark.slow
def test_the_bundled_study_names_weaknesses_with_frame_effect_and_n(open_app):
    seen = open_app(demo=DEMO)
    markup = html.unescape(seen.markup)
    assert not seen.test.exception
    assert 'aria-label="confirmed weakness: Needle"' in markup
    assert 'aria-label="suspected weakness: ' in markup
    assert re.search(r"[0-9.]+ \([0-9.]+–[0-9.]+\) points of 100 lower", markup)
    assert re.search("n [0-9]+ samples, [0-9]+ checkpoints", markup)
    assert "more samples there would settle it" in markup
    assert "Lowest capabilit" not in markup


@pytest.mark.slow
def test_a_weakness_opens_the_failures_behind_it(open_app):
    markup = html.unescape(open_app(demo=DEMO).markup)
    link = re.search(r'<a [^>]*aria-label="confirmed weakness: Needle"[^>]*>', markup)
    assert link is not None
    assert "./failures?study=demo" in link[0]
    assert "&model=" in link[0]
    assert "Needle" in urllib.parse.unquote_plus(re.search(r'href="([^"]*)"', link[0])[1])


@pytest.mark.slow
def test_silence_is_counted_beside_both_shares(open_app, tmp_path):
    rows = "".join(
        f"{n},Q{n}?,refuser,{'yes' if n < 5 else ''},{int(n < 5)}\n{n},Q{n}?,steady,yes,{n % 2}\n"
        for n in range(10)
    )
    made = ImportFile.from_bytes("t.csv", f"id,question,model,response,correct\n{rows}".encode())
    with Store.open(tmp_path / "s") as store:
        study = import_reading(store, read("table", [made]), "Silent", MOMENT).study
    seen = open_app(tmp_path / "s")
    assert not seen.test.exception
    words = re.sub(r"<[^>]+>|\s+", " ", html.unescape(seen.markup))
    assert "of answers given" in words
    assert "5 empty" in words
    assert "100.0 %" in words
    assert "only the 5 samples that every model answered" in words
    seen = open_app(tmp_path / "s", query={"study": study.id, "shared": "1"})
    words = re.sub(r"<[^>]+>|\s+", " ", html.unescape(seen.markup))
    assert "only samples that every model answered" in words
    assert "5 empty" not in words
