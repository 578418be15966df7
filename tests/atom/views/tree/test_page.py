"""Numbers of the tree, by hand on the small study."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from atom.store import Store
from atom.views.filters import Filters
from atom.views.overview.evidence import GLYPHS, Evidence, NodeEvidence
from atom.views.overview.page import overview
from atom.views.study_data import load_study
from atom.views.tree.chart import chosen_by_click, clicked, icicle, next_level, node_colours
from atom.views.tree.colours import (
    difference_colour,
    evidence_colour,
    ink_on,
    luminance,
    score_colour,
)
from atom.views.tree.node_table import node_table, placed
from atom.views.tree.page import node_card, node_values, resolve, search, shown
from taxonomy import Node, Tree
from tests.app.tree_store import HOSTILE, make_tree_store
from tests.factories import COUNT, DIFFERENCE, SOME, STUDY, open_small


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with open_small(tmp_path_factory.mktemp("small")) as store:
        yield store


@pytest.fixture(scope="module")
def data(store):
    return load_study(store, STUDY)


@pytest.fixture(scope="module")
def nodes(store, data):
    return node_table(data, data.tree, placed(store, data), Filters())


def at(nodes, *path):
    return nodes.paths.index(path)


def test_every_criterion_is_placed_in_the_studys_order(store, data):
    where = placed(store, data)
    assert len(where.criterion) == 18  # 6 samples x 3 criteria
    assert where.leaf[:3] == (COUNT, SOME, DIFFERENCE)
    assert where.sample.tolist() == [n // 3 for n in range(18)]


def test_support_counts_criteria_and_distinct_samples(nodes):
    assert nodes.criteria[0] == 18
    assert nodes.samples[0] == 6
    assert nodes.criteria[at(nodes, "Perception")] == 12
    assert nodes.samples[at(nodes, "Perception")] == 6
    assert nodes.criteria[at(nodes, *DIFFERENCE)] == 6
    assert nodes.unplaced == 0
    assert nodes.n_leaves == 3


def test_a_mean_is_over_the_checkpoints_under_the_node(nodes):
    # Candidate c on Count all, samples 0..4 (5 is set aside): 1, 2, 3, 1, 2 -> mean 1.8.
    assert nodes.mean[2, at(nodes, *COUNT)] == pytest.approx(25 * 0.8)
    # Its parent adds Count some: 1, 5, 3, 2, 2 -> 13; together 22 / 10.
    assert nodes.mean[2, at(nodes, *COUNT[:3])] == pytest.approx(25 * 1.2)
    assert nodes.n[2, at(nodes, *COUNT[:3])] == 10
    assert nodes.clusters[2, at(nodes, *COUNT[:3])] == 5


def test_numbers_agree_with_the_overview(data, nodes):
    for row in overview(data, Filters()).skills:
        for model, cell in enumerate(row.cells):
            mine, theirs = nodes.estimate(model, nodes.paths.index(row.path)), cell.estimate
            assert (mine.n, mine.samples) == (theirs.n, theirs.samples)
            assert mine.value == pytest.approx(theirs.value, nan_ok=True)


def test_nodes_under_a_node_are_a_run_of_numbers(nodes):
    for index, path in enumerate(nodes.paths):
        under = [p for p in nodes.paths if p[: len(path)] == path]
        assert int(nodes.end[index]) - index == len(under)


def test_filters_narrow_scores_and_not_support(store, data, nodes):
    hard = node_table(data, data.tree, placed(store, data), Filters(tags=(("level", "hard"),)))
    assert hard.criteria.tolist() == nodes.criteria.tolist()
    # Candidate c, Count all, samples 3 and 4: 1 and 2.
    assert hard.mean[2, at(hard, *COUNT)] == pytest.approx(25 * 0.5)


def test_leaves_of_different_depth_roll_up(store, data):
    where = placed(store, data)
    deep = Tree(
        "Deep",
        (Node("A", "", (Node("B"), Node("C", "", (Node("D", "", (Node("E"),)),)))),),
    )
    leaf = tuple(("A", "B") if n % 3 == 0 else ("A", "C", "D", "E") for n in range(18))
    moved = type(where)(criterion=where.criterion, sample=where.sample, leaf=leaf)
    found = node_table(data, deep, moved, Filters())
    assert dict(zip(found.paths, found.criteria.tolist(), strict=True)) == {
        (): 18, ("A",): 18, ("A", "B"): 6, ("A", "C"): 12, ("A", "C", "D"): 12,
        ("A", "C", "D", "E"): 12,
    }  # fmt: skip
    assert found.mean[2, 1] == pytest.approx(nodes_mean(data, 2))


def nodes_mean(data, model):
    table = data.table
    keep = (table.model[table.response] == model) & (table.score > 0)
    keep &= ~table.quarantined[table.sample[table.response]]
    return 25 * (float(table.score[keep].mean()) - 1)


def test_a_difference_is_to_the_mean_of_the_others(nodes):
    leaf = at(nodes, *COUNT)
    others = (nodes.mean[0, leaf] + nodes.mean[1, leaf]) / 2
    assert node_values(nodes, "difference", 2)[leaf] == pytest.approx(nodes.mean[2, leaf] - others)
    assert shown(nodes, colouring="difference").colouring == "score"


def labelled(nodes):
    """Give every node but the whole tree a label, all six in turn."""
    found = {
        path: NodeEvidence(label=label, frame="peer", effect=-12.3, lo=-20.0, hi=-4.6, n=40,
                           samples=30, more_samples=math.nan)
        for path, label in zip(nodes.paths[1:], 9 * tuple(GLYPHS), strict=False)
    }  # fmt: skip
    return Evidence(frame="peer", margin=2.5, q=0.1, nodes=found)


def test_evidence_is_about_one_model_and_is_never_guessed(nodes):
    assert shown(nodes, colouring="evidence").colouring == "score"
    assert shown(nodes, colouring="evidence", evidence=labelled(nodes)).colouring == "score"
    assert shown(nodes, colouring="evidence", model=1).colouring == "score"
    view = shown(nodes, colouring="evidence", model=1, evidence=labelled(nodes))
    assert view.colouring == "evidence"
    assert view.said(0) is None
    assert math.isnan(view.value[0])
    assert view.value[1] == -12.3
    assert shown(nodes, model=1, evidence=labelled(nodes)).said(1) is None


def test_evidence_has_a_glyph_before_the_name_and_says_what_it_rests_on(nodes):
    view = shown(nodes, colouring="evidence", model=1, evidence=labelled(nodes))
    trace = icicle(nodes, view, "light", whose="model-b", height=600).data[0]
    for index, path in enumerate(nodes.paths):
        said = view.said(index)
        assert trace.labels[index] == (f"{said.glyph} {path[-1]}" if path else nodes.tree.name)
    assert (trace.text[0], trace.text[1]) == ("", "−12.3")
    assert trace.hovertext[1].split("<br>")[2:] == [
        "model-b: ▼ confirmed weakness",
        "12.3 (4.6–20.0) points of 100 lower",
        "than the other models&#x27; scores on the same criteria predict",
        "peer frame; n 30 samples, 40 checkpoints",
    ]
    assert "nothing is claimed of the whole tree" in trace.hovertext[0]


def test_a_map_that_was_clicked_keeps_nothing_that_the_browser_drew(nodes):
    """Back before the answer to a click left the map where the click had put it."""
    first, second = (
        icicle(nodes, shown(nodes), "light", whose="all", height=600, clicks=clicks).layout
        for clicks in (0, 1)
    )
    assert first.uirevision != second.uirevision


@pytest.mark.parametrize(("height", "readable"), [(300, 11), (640, 9)])
def test_a_leaf_of_which_something_is_claimed_is_high_enough_for_its_name(
    tmp_path, height, readable
):
    made = make_tree_store(tmp_path, 30, samples=12)
    with Store.open(made.folder) as store:
        data = load_study(store, made.study.id)
        nodes = node_table(data, data.tree, placed(store, data), Filters())
    leaves = [at for at in range(len(nodes.paths)) if nodes.is_leaf[at]]
    held = Evidence(frame="peer", margin=2.5, q=0.1, nodes={
        nodes.paths[at]: NodeEvidence(
            label="confirmed" if at == leaves[3] else "nothing found", frame="peer", effect=-12.3,
            lo=-20.0, hi=-4.6, n=40, samples=30, more_samples=math.nan,
        ) for at in leaves
    })  # fmt: skip
    view = shown(nodes, colouring="evidence", model=1, evidence=held)
    trace = icicle(nodes, view, "light", whose="b", height=height, readable=readable).data[0]
    share = {one: value / sum(trace.values) for one, value in zip(trace.ids, trace.values,
                                                                  strict=True)}  # fmt: skip
    # Plotly leaves 3 pixels free on each side of a line of text, which is 1.42 times its size.
    assert height * share[str(leaves[3])] > 1.42 * readable + 6 - 1e-6
    assert min(share[str(at)] for at in leaves) > 0


def test_every_label_has_its_own_readable_colour(nodes):
    view = shown(nodes, colouring="evidence", model=1, evidence=labelled(nodes))
    for scheme in ("light", "dark"):
        grounds = [evidence_colour(label, scheme) for label in GLYPHS]
        assert len(set(grounds)) == len(GLYPHS)
        assert node_colours(view, scheme)[1:7] == grounds
        for ground in grounds:
            ink, base = luminance(ink_on(ground)), luminance(ground)
            assert (max(ink, base) + 0.05) / (min(ink, base) + 0.05) >= 4.5


def test_support_and_depth_choose_what_is_drawn(nodes):
    assert len(shown(nodes).nodes) == len(nodes.paths)
    few = shown(nodes, min_criteria=7)
    assert [nodes.paths[i] for i in few.nodes] == [(), *(COUNT[:n] for n in (1, 2, 3))]
    assert few.hidden == 3
    assert max(len(nodes.paths[i]) for i in shown(nodes, max_depth=2).nodes) == 2


def test_a_search_finds_names_before_meanings(nodes):
    assert search(nodes, "count")[0].path == COUNT[:3]  # all three fit; it has most criteria
    assert search(nodes, "Count all")[0].path == COUNT
    assert search(nodes, "seeing")[0].path == ("Perception",)
    assert search(nodes, "nothing like it") == ()
    assert search(nodes, "  ") == ()


def test_a_link_finds_its_node_again():
    tree = Tree("T", (Node("A > B", "", (Node("c / d"),)), Node("x" * 400)))
    assert resolve(tree, ("A", "B", "c", "d")) == ("A > B", "c / d")
    assert resolve(tree, ("x" * 300,)) == ("x" * 400,)
    assert resolve(tree, ("nowhere",)) == ()


def test_a_card_has_scores_and_what_goes_wrong(store, data, nodes):
    card = node_card(store, data, nodes, Filters(node=COUNT, model="cand-c"))
    assert (card.kind, card.criteria, card.samples, card.leaves) == ("capability", 6, 6, 1)
    assert [score.model_id for score in card.scores] == ["cand-a", "cand-b", "cand-c"]
    # Candidate c scores 1 on samples 0 and 3, then 2.
    assert [item.score for item in card.worst] == [1.0, 1.0, 2.0]
    assert card.worst[0].filters.criterion is not None
    assert card.worst[0].filters.model == "cand-c"
    whole = node_card(store, data, nodes, Filters())
    assert (whole.kind, whole.leaves, whole.name) == ("tree", 3, "Small tree")


def test_colours_are_symmetric_and_readable():
    assert difference_colour(0, "light") == "#FFFFFF"
    assert difference_colour(-99, "light") == difference_colour(-25, "light")
    assert score_colour(math.nan, "light") == "#F6F7F9"
    for scheme in ("light", "dark"):
        for value in range(0, 101, 5):
            for ground in (score_colour(value, scheme), difference_colour(value - 50, scheme)):
                ink, base = luminance(ink_on(ground)), luminance(ground)
                assert (max(ink, base) + 0.05) / (min(ink, base) + 0.05) >= 4.5


def test_an_icicle_has_every_node_once_and_names_as_text(tmp_path):
    made = make_tree_store(tmp_path, 30, samples=12)
    with Store.open(made.folder) as store:
        data = load_study(store, made.study.id)
        nodes = node_table(data, data.tree, placed(store, data), Filters())
    figure = icicle(nodes, shown(nodes), "light", whose="all", height=600)
    trace = figure.data[0]
    assert len(set(trace.ids)) == len(nodes.paths)
    assert trace.parents[0] == ""
    assert set(trace.parents[1:]) <= set(trace.ids)
    assert "<script" not in str(figure.to_json()).replace("\\u003c", "<")
    assert HOSTILE[:8] not in trace.labels
    assert len(node_colours(shown(nodes, colouring="support"), "dark")) == len(nodes.paths)


def test_clicks_are_read_as_untrusted(nodes):
    assert clicked("whole", nodes) == 0
    assert clicked("2", nodes) == 2
    for text in ("", "-1", "99999", "1e3", "²", "x" * 20):
        assert clicked(text, nodes) is None


def test_a_click_on_the_node_drawn_first_goes_up(nodes):
    inner, leaf = at(nodes, *COUNT[:3]), at(nodes, *COUNT)
    assert next_level(nodes, 0, inner) == inner
    assert next_level(nodes, inner, leaf) == inner
    assert next_level(nodes, at(nodes, "Reasoning"), leaf) == 0
    assert chosen_by_click(nodes, inner, inner) == nodes.parent[inner]
    assert chosen_by_click(nodes, inner, leaf) == leaf
    assert chosen_by_click(nodes, 0, 0) == 0


def test_a_study_without_scores_has_no_numbers(store, data):
    empty = node_table(
        data,
        data.tree,
        type(placed(store, data))(criterion=(), sample=np.zeros(0, dtype=np.int64), leaf=()),
        Filters(),
    )
    assert not np.isfinite(empty.mean).any()
    assert empty.criteria.tolist() == [0] * len(empty.paths)


def test_the_studys_own_layout_gives_what_its_criteria_give_one_by_one(store, data, monkeypatch):
    where = placed(store, data)
    choices = (Filters(), Filters(outcome="wrong"), Filters(root="Reasoning"))
    fast = [node_table(data, data.tree, where, filters) for filters in choices]
    monkeypatch.setattr("atom.views.tree.node_table._is_own", lambda *_: False)
    for filters, quick in zip(choices, fast, strict=True):
        # Another reading of the same places, so that nothing kept is used.
        slow = node_table(data, data.tree, replace(where), filters)
        for name in ("mean", "lo", "hi", "n", "clusters", "criteria", "samples"):
            np.testing.assert_allclose(getattr(quick, name), getattr(slow, name), err_msg=name)
