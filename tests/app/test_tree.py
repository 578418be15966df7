"""Capability tree: what is being tested, and who fails where? All tabs, all states."""

from __future__ import annotations

import html
import json
import shutil
from urllib.parse import quote_plus, urlencode

import pytest

from atom.store import Store, find_study, tree_log, tree_versions
from atom.views.study_data import load_study
from atom.views.tree.edit import edit_tree
from atom.views.tree.node_table import placed
from taxonomy.edits import Merge, Rename
from tests.app.conftest import Seen, markup_of
from tests.app.screen_store import make_store
from tests.app.tree_store import HOSTILE, make_tree_store
from tests.app.work_store import see_end, settle

PAGE = "pages/explore/tree.py"
BARS = "Perception › Fine detail › Reading marks › Bar height"


@pytest.fixture(scope="session")
def big(tmp_path_factory):
    return make_tree_store(tmp_path_factory.mktemp("big"), 24, samples=36)


@pytest.fixture
def mine(made, tmp_path):
    """Return a copy of the judged study's store that may be changed."""
    return shutil.copytree(made.folder, tmp_path / "mine")


def button(seen, key):
    return next(b for b in seen.test.button if b.key.startswith(key))


def select(seen, key):
    return next(box for box in seen.test.selectbox if box.key == key)


def spec(seen):
    (chart,) = seen.test.get("plotly_chart")
    return json.loads(chart.proto.spec)


@pytest.mark.slow
def test_the_map_shows_every_node_and_the_whole_trees_card(open_app, made):
    seen = open_app(made.folder, PAGE)
    assert not seen.test.exception
    assert "What is being tested, and who fails where?" in seen.markup
    labels = spec(seen)["data"][0]["labels"]
    assert labels[:3] == ["Test tree", "Perception", "Fine detail"]
    assert len(labels) == 10  # the whole, 2 roots, 2 categories, 2 parents, 3 capabilities
    assert "The whole tree" in seen.markup
    assert seen.markup.count("model-c") >= 1


def test_a_link_opens_a_nodes_card(open_app, made):
    seen = open_app(made.folder, PAGE, {"node": BARS, "model": made.candidate_ids[1]})
    assert "The value of a bar." in seen.markup
    assert "11 criteria · 11 samples" in seen.markup
    assert "Criteria that lose most, model-b" in seen.markup
    assert f"node={quote_plus(BARS)}" in seen.markup


@pytest.mark.slow
def test_words_find_nodes(open_app, made):
    seen = open_app(made.folder, PAGE, {"find": "clock"})
    assert "Clock reading" in seen.markup
    assert "has the words" in open_app(made.folder, PAGE, {"find": "zebra"}).markup


@pytest.mark.slow
def test_colour_depth_and_support_live_in_the_address(open_app, made):
    query = {"colour": "difference", "depth": "2", "model": made.candidate_ids[0]}
    seen = open_app(made.folder, PAGE, query)
    assert len(spec(seen)["data"][0]["labels"]) == 5
    assert "minus the mean of the others" in seen.markup
    select(seen, "tree_colour").set_value("support").run()
    assert seen.test.query_params["colour"] in ("support", ["support"])
    odd = open_app(made.folder, PAGE, {"colour": "red", "depth": "-1", "support": "x"})
    assert not odd.test.exception


@pytest.mark.slow
def test_a_press_while_a_move_is_on_its_way_does_not_take_it_back(open_app, made):
    """It brings the address before the move: the browser hears of the next one a moment later."""
    query = {"study": made.study.id, "node": BARS}
    seen = open_app(made.folder, PAGE, query)
    test = seen.test

    def see(address):
        test.query_params.clear()
        test.query_params.update(address)
        test.context = {"url": f"http://127.0.0.1/tree?{urlencode(address)}"}
        test.run()
        return {key: "".join(value) for key, value in test.query_params.items()}

    test.context = {"url": f"http://127.0.0.1/tree?{urlencode(query)}"}
    select(seen, "tree_colour").set_value("support").run()
    moved = query | {"colour": "support"}
    for _ in range(2):
        assert see(query) == moved
        assert select(seen, "tree_colour").value == "support"
    # The browser has heard of it: what brings the first address from now on is a way back.
    assert see(moved) == moved
    assert see(query) == query
    assert select(seen, "tree_colour").value == "score"


@pytest.mark.slow
def test_evidence_of_a_model_is_a_link(open_app, made):
    query = {"colour": "evidence", "model": made.candidate_ids[1], "node": BARS}
    seen = open_app(made.folder, PAGE, query)
    assert not seen.test.exception
    assert select(seen, "tree_colour").value == "evidence"
    for glyph, words in (("▼", "confirmed weakness"), ("▽", "suspected"), ("▲", "strength"),
                         ("·", "nothing found"), ("○", "insufficient")):  # fmt: skip
        assert f'aria-hidden="true">{glyph}</span>{words}' in seen.markup
    assert "own frame, confounded with difficulty; effects in points of 100" in seen.markup
    assert 'class="found"' in seen.markup
    assert "n 10 samples, 10 checkpoints" in seen.markup  # one is set aside
    labels = spec(seen)["data"][0]["labels"]
    assert labels[0] == "Test tree"
    assert all(label[0] in "▼▽▲·○" and label[1] == " " for label in labels[1:])
    assert "colour=evidence" in seen.markup  # the doors keep it
    network = open_app(made.folder, PAGE, {**query, "tab": "network"})
    assert not network.test.exception
    assert "confirmed weakness" in network.markup


@pytest.mark.slow
def test_evidence_without_a_model_asks_for_one(open_app, made):
    seen = open_app(made.folder, PAGE, {"colour": "evidence"})
    assert not seen.test.exception
    assert "Evidence is about one model: choose one" in seen.markup
    assert "Mean of all models, mean score of 0–100" in seen.markup
    assert "confirmed weakness" not in seen.markup
    assert 'class="found"' not in seen.markup
    assert "Perception" in spec(seen)["data"][0]["labels"]
    select(seen, "tree_model").set_value(made.candidate_ids[0]).run()
    assert seen.test.query_params["colour"] in ("evidence", ["evidence"])
    assert "confirmed weakness" in markup_of(seen.test)


@pytest.mark.slow
def test_the_network_is_one_page_in_a_frame(open_app, big):
    seen = open_app(big.folder, PAGE, {"tab": "network"})
    assert not seen.test.exception
    (frame,) = seen.test.get("iframe")
    assert "vis-network" in str(frame.proto) or "vis.Network" in str(frame.proto)
    assert "<script>window.pwned" not in str(frame.proto)


@pytest.mark.slow
def test_hostile_names_are_text_everywhere(open_app, big):
    node = "Perception › Perception field 1 › Group 1 of Perception"
    for tab in ("map", "versions"):
        seen = open_app(big.folder, PAGE, {"tab": tab, "node": node, "find": "script"})
        assert not seen.test.exception
        assert HOSTILE not in seen.markup
        assert HOSTILE not in html.unescape(json.dumps([e.value for e in seen.test.markdown]))


def test_versions_of_an_untouched_study(open_app, made):
    seen = open_app(made.folder, PAGE, {"tab": "versions"})
    assert not seen.test.exception
    assert "1 tree in this study&#x27;s history" in seen.markup
    assert "IN USE" in seen.markup
    assert {b.proto.label for b in seen.test.get("download_button")} == {
        "Download YAML", "GraphML", "EvalTree form",
        "SVG", "PNG", "PDF", "CSV", "Caption",
    }  # fmt: skip


@pytest.mark.slow
def test_a_rename_by_hand_undo_and_the_diff(open_app, mine, made):
    seen = open_app(mine, PAGE, {"node": BARS})
    field = next(box for box in seen.test.text_input if box.key.startswith("tree_rename"))
    field.set_value("Height of bars")
    button(seen, "tree_do_rename").click().run()
    assert not seen.test.exception
    shown = markup_of(seen.test)
    assert "Renamed &#x27;Bar height&#x27; to &#x27;Height of bars&#x27;." in shown
    assert "renamed Bar height to Height of bars" in shown  # in the card's edits
    with Store.open(mine) as store:
        (entry,) = tree_log(store, made.study.id, 1)
        assert entry.edit == Rename(tuple(BARS.split(" › ")), "Height of bars")
        assert entry.by == "hand"
    versions = open_app(mine, PAGE, {"tab": "versions"})
    assert "From version 0 to version 1: 1 renamed, 2 kept" in versions.markup
    seen = open_app(mine, PAGE, {"node": BARS.replace("Bar height", "Height of bars")})
    button(seen, "tree_undo").click().run()
    assert "Undone: rename" in markup_of(seen.test)
    assert button(seen, "tree_redo").disabled is False
    with Store.open(mine) as store:
        assert [p.note for p in tree_versions(store, made.study.id)][-1] == "undo"


@pytest.mark.slow
def test_a_merge_by_hand(open_app, mine, made):
    seen = open_app(mine, PAGE, {"node": BARS})
    box = next(b for b in seen.test.selectbox if (b.key or "").startswith("tree_merge"))
    box.select_index(0).run()
    button(seen, "tree_do_merge").click().run()
    assert not seen.test.exception
    with Store.open(mine) as store:
        (entry,) = tree_log(store, made.study.id, 1)
        assert isinstance(entry.edit, Merge)
        data = load_study(store, made.study.id)
        leaves = list(placed(store, data).leaf_of.values())
    assert entry.edit.path not in leaves
    merged = leaves.count(entry.edit.into)
    assert merged > 20
    assert f"{merged} criteria · 11 samples" in markup_of(seen.test)


@pytest.mark.slow
def test_an_edit_that_does_not_fit_says_why(open_app, mine):
    seen = open_app(mine, PAGE, {"node": BARS})
    field = next(box for box in seen.test.text_input if box.key.startswith("tree_rename"))
    field.set_value("Clock reading")
    button(seen, "tree_do_rename").click().run()
    assert "The tree is as it was" in markup_of(seen.test)
    assert "choose another name, or merge" in markup_of(seen.test)


@pytest.mark.slow
def test_a_change_that_came_second_is_offered_again(open_app, mine, made):
    seen = open_app(mine, PAGE, {"node": BARS})
    field = next(box for box in seen.test.text_input if box.key.startswith("tree_rename"))
    field.set_value("Height of bars")
    with Store.open(mine) as store:
        leaf = next(
            leaf for leaf in load_study(store, made.study.id).tree.leaves if "Clock" in leaf[-1]
        )
        edit_tree(store, made.study.id, Rename(leaf, "Reading clocks"))
    button(seen, "tree_do_rename").click().run()
    assert not seen.test.exception
    shown = markup_of(seen.test)
    assert "somebody else changed the tree meanwhile" in shown
    assert "Reading clocks" in shown
    assert "rename" in shown.partition("Your change:")[2][:200].lower()
    button(seen, "tree_again").click().run()
    assert "Renamed &#x27;Bar height&#x27; to &#x27;Height of bars&#x27;." in markup_of(seen.test)
    assert not [b for b in seen.test.button if b.key == "tree_again"]
    with Store.open(mine) as store:
        names = {leaf[-1] for leaf in load_study(store, made.study.id).tree.leaves}
    assert {"Height of bars", "Reading clocks"} <= names


@pytest.mark.slow
def test_a_bundled_study_is_copied_first(open_app, made, tmp_path):
    sealed = shutil.copytree(made.folder, tmp_path / "sealed")
    own = tmp_path / "own"
    seen = open_app(own, PAGE, {"node": BARS}, demo=sealed)
    assert not [b for b in seen.test.button if b.key.startswith("tree_do_rename")]
    button(seen, "tree_copy").click().run()
    see_end(seen.test)
    assert not seen.test.exception
    with Store.open(own) as store:
        copy = find_study(store, "Demo (yours)")
    assert copy.copied_from == made.study.id
    assert [b for b in seen.test.button if b.key.startswith("tree_do_rename")]


@pytest.mark.slow
def test_validity_says_the_verdict_in_words_first(open_app, big):
    test = open_app(big.folder, PAGE, {"tab": "validity"}).test
    settle(test)
    assert not test.exception
    seen = Seen(test=test, markup=markup_of(test))
    assert "The tree is valid" in seen.markup
    for words in ("Hand-made", "Generalist", "Random", "x25", "x20", "no hit rate",
                  "Would it grow the same again?"):  # fmt: skip
        assert words in seen.markup
    assert seen.markup.index("The tree is valid") < seen.markup.index("Against its rivals")


@pytest.mark.slow
def test_a_study_without_a_tree_says_what_to_do(open_app, made_outcomes):
    seen = open_app(made_outcomes.folder, PAGE)
    assert not seen.test.exception
    assert "has no capability tree yet" in seen.markup
    assert "Judge it on Runs" in seen.markup
    for tab in ("network", "versions", "validity"):
        assert not open_app(made_outcomes.folder, PAGE, {"tab": tab}).test.exception
    growing = open_app(made_outcomes.folder, PAGE, {"tab": "grow"})
    assert "Nothing to grow a tree from yet" in growing.markup


def test_a_small_study_s_tree_is_proposed_from_all_its_samples(open_app, made, tmp_path):
    mine = shutil.copytree(made.folder, tmp_path / "mine")
    test = open_app(mine, PAGE, {"tab": "grow"}).test
    assert not test.exception
    (box,) = (one for one in test.number_input if one.key.startswith("grow_samples"))
    assert box.value is None
    assert box.placeholder == "all"


def test_without_any_study_there_is_a_way_on(open_app):
    assert "There is no study yet" in open_app(None, PAGE).markup


@pytest.mark.slow
def test_a_tree_of_a_file_is_taken(open_app, tmp_path):
    made = make_store(tmp_path / "one")
    seen = open_app(made.folder, PAGE, {"tab": "versions"})
    text = (
        "name: Mine\nroots: [{name: A, children: [{name: B, children: [{name: C, "
        "children: [{name: D}]}]}]}]"
    )
    (upload,) = seen.test.file_uploader
    upload.upload("mine.yaml", text.encode()).run()
    button(seen, "tree_do_upload").click().run()
    assert not seen.test.exception
    assert "is the study&#x27;s tree now: 1 leaves" in markup_of(seen.test)
    assert "criteria belong to no capability" in markup_of(seen.test)


@pytest.mark.slow
def test_criteria_and_tasks_answer_first_and_open_samples(open_app, made):
    seen = open_app(made.folder, PAGE, {"tab": "criteria"})
    assert not seen.test.exception
    assert "Nothing is known against any of the 29 criteria." in seen.markup
    assert "Nobody has labelled criteria yet." in seen.markup
    assert "queue=criteria" in seen.markup
    assert "Do the weights decide?" in seen.markup
    seen = open_app(made.folder, PAGE, {"tab": "tasks"})
    assert not seen.test.exception
    assert "the most frequent task is" in seen.markup
    assert "tag=" in seen.markup
