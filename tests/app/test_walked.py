"""What once hindered somebody who walked through the app, each with its reproduction.

Behind each test's name stands what was seen. What a browser alone shows (where Back leads, what
lies below the fold, whether focus is seen) is in `tests/e2e/test_back.py`.
"""

from __future__ import annotations

import html
import json
import re
import shutil

import pytest

from atom.store import Store
from atom.ui.people import progress
from atom.ui.people.desk import Desk
from atom.views.filters import Filters
from atom.views.study_data import load_study
from atom.views.tree.chart import icicle, next_level, node_id
from atom.views.tree.colours import INK
from atom.views.tree.node_table import node_table, placed
from atom.views.tree.page import shown
from taxonomy import format_path
from tests.app.conftest import markup_of

TREE, COMPARE = "pages/explore/tree.py", "pages/explore/compare.py"
FAILURES = "pages/explore/failures.py"
BARS = "Perception › Fine detail › Reading marks › Bar height"


@pytest.fixture(scope="module")
def drawn(made):
    """Return the made study's tree in numbers."""
    with Store.open(made.folder) as store:
        data = load_study(store, made.study.id)
        return node_table(data, data.tree, placed(store, data), Filters())


def place(nodes, path):
    """Return a node's number."""
    return [format_path(one) for one in nodes.paths].index(path)


def test_a_chosen_leaf_stays_among_its_neighbours_and_is_framed(drawn):
    """Walk B3: once a click on a leaf left one blue rectangle, and a link to one no mark."""
    leaf = place(drawn, BARS)
    level = next_level(drawn, 0, leaf)
    assert level == 0
    trace = icicle(drawn, shown(drawn), "light", whose="all", height=600, level=level,
                   chosen=leaf).data[0]  # fmt: skip
    assert trace.level == node_id(0)
    framed = [one for one, ink in zip(trace.ids, trace.marker.line.color, strict=True)
              if ink == INK["light"]]  # fmt: skip
    assert framed == [node_id(leaf)]
    # With one width for each node, the bar of the way back lay across the map as white lines.
    assert trace.marker.line.width > 1


def test_no_name_in_the_map_is_under_9_px(drawn):
    """Walk B3: once the labels of leaves were 5.7 px high."""
    figure = icicle(drawn, shown(drawn), "light", whose="all", height=600)
    assert figure.layout.uniformtext.minsize >= 9
    assert figure.layout.uniformtext.mode == "hide"
    assert min(figure.data[0].textfont.size) >= 9


def test_the_map_fits_its_window_and_opens_on_what_is_weak(open_app, made):
    """Walk B3: once it was 888 px high in 720, and opened on a mean that shows no weakness."""
    seen = open_app(made.folder, TREE, {"model": made.candidate_ids[0]})
    colour = next(box for box in seen.test.selectbox if box.key == "tree_colour")
    assert colour.value == "evidence"
    (chart,) = seen.test.get("plotly_chart")
    assert json.loads(chart.proto.spec)["layout"]["autosize"] is True
    styles = " ".join(one.proto.body for one in seen.test.get("html"))
    fits = r"st-key-tree_map.*height: max\(\d+px, calc\(var\(--tall, 100vh\) - \d+px\)\)"
    assert re.search(fits, styles, re.S)


def test_what_was_chosen_is_written_whole_in_the_chain(open_app, made):
    """Walk B7: once it read "Capability N…", "steps flaw…" beside room for nothing."""
    query = {"node": "Perception › Fine detail", "outcome": "right", "process": "flawed",
             "show": "all"}  # fmt: skip
    markup = html.unescape(open_app(made.folder, FAILURES, query).markup)
    (chain,) = re.findall(r'<nav class="chain".*?</nav>', markup, re.S)
    words = re.sub(r"<[^>]+>", " ", chain)
    for whole in ("Fine detail", "answer right", "steps flawed", "everything"):
        assert whole in words
    assert "…" not in words
    assert "any model" not in words


def test_names_to_merge_into_are_told_apart_at_their_end(open_app, made, drawn, tmp_path):
    """Walk B9: once the list cut names at the end, where they differ: "…Reading scales › Zo"."""
    mine = shutil.copytree(made.folder, tmp_path / "mine")
    seen = open_app(mine, TREE, {"node": BARS})
    assert not seen.test.exception
    merge = next(box for box in seen.test.selectbox if (box.key or "").startswith("tree_merge"))
    assert merge.options
    # The menu itself cuts what is longer than it is wide: each begins with its own name.
    begun = [option.partition(" ‹ ")[0] for option in merge.options]
    assert set(begun) <= {path[-1] for path in drawn.paths if path}
    assert len(set(begun)) == len(begun)


def where(block, label, path=()):
    """Return the places of the menu with a label: each the way down to it, by number."""
    if getattr(block, "type", "") == "popover" and block.proto.popover.label == label:
        return [path]
    return [found for number, one in getattr(block, "children", {}).items()
            for found in where(one, label, (*path, number))]  # fmt: skip


@pytest.mark.slow
def test_a_menu_stays_where_it_is_while_a_node_is_chosen_in_it(open_app, made, tmp_path):
    """Walk B9: once the notice of the last edit vanished above it, which shut the menu."""
    mine = shutil.copytree(made.folder, tmp_path / "mine")
    test = open_app(mine, TREE, {"node": BARS}).test
    next(box for box in test.text_input if box.key.startswith("tree_rename")).set_value("Bars")
    next(one for one in test.button if one.key.startswith("tree_do_rename")).click().run()
    assert "Renamed" in markup_of(test)
    # A browser shuts a menu that stands in another place than the run before.
    (place_before,) = where(test.main, "Change by hand")
    merge = next(box for box in test.selectbox if (box.key or "").startswith("tree_merge"))
    merge.select_index(0).run()
    assert "Renamed" not in markup_of(test)
    assert where(test.main, "Change by hand") == [place_before]
    assert not next(one for one in test.button if one.key == "tree_do_merge").disabled


def test_human_check_says_what_it_costs_in_key_presses(made, tmp_path):
    """Walk B14: once "30 samples lift judge-scale" didn't say that these are 960 key presses."""
    mine = shutil.copytree(made.folder, tmp_path / "mine")
    with Store.open(mine) as store:
        desk = Desk(store, load_study(store, made.study.id), "scores", "Ada", "random", None)
        keys = desk.progress().keys
        assert keys > 0
        words = html.unescape(str(progress.top(desk)))
    assert f"about {keys:,} more labels, a key each" in words


def test_each_chart_of_a_difference_and_each_strip_has_its_scale(open_app, made):
    """Walk B17: once the dumbbells of Compare and the strip of a node's card had no axis."""
    a, b, _ = made.candidate_ids
    top = re.search(
        r'<div class="vs">.*?</section>|<div class="vs">.*',
        open_app(made.folder, COMPARE, {"model": a, "peers": [b]}).markup,
        re.S,
    )[0]
    axes = re.findall(r'class="axis[^"]*">(.*?)</span></span>', top)
    ends = [re.findall(r"<span>([^<]+)", axis) for axis in axes[:2]]
    assert ends[0] == ["0", "50", "100"]
    lo, middle, hi = ends[1]
    assert (lo, middle) == (f"−{hi.removeprefix('+')}", "0")
    card = open_app(made.folder, TREE, {"node": BARS}).markup
    (strip,) = re.findall(r'class="strip">.*?</section>', card, re.S)
    axis = re.search(r'class="axis[^"]*">(.*?)</span></span>', strip)[1]
    assert re.findall(r"<span>([^<]+)", axis) == ["0", "50", "100"]


def test_each_thing_that_was_walked_into_has_a_test_that_names_it(project):
    """The walk's ten defects of kind A and seventeen of kind B; `design/085` lists the tests."""
    named: set[str] = set()
    for file in (project / "tests").rglob("test_*.py"):
        for found in re.findall(r'"""Walk ([AB0-9, ]+):', file.read_text(encoding="utf-8")):
            named |= set(found.split(", "))
    assert named == {f"A{n}" for n in range(1, 11)} | {f"B{n}" for n in range(1, 18)}
