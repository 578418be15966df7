"""Fingerprints: every mark counts what its door lists, and what was planted is found again."""

from __future__ import annotations

import csv
import io
import math
import xml.etree.ElementTree as ET
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from atom.analysis.capability.diagnosis import LABELS
from atom.records import Candidate, Study
from atom.store import Store
from atom.views import figures
from atom.views.failures.page import failures
from atom.views.filters import Filters
from atom.views.fingerprints.bars import bars
from atom.views.fingerprints.chart import cell_fill, draw_heat, unique_labels
from atom.views.fingerprints.claims import Claims, claims, opened
from atom.views.fingerprints.heat import heat_csv, heatmap
from atom.views.fingerprints.radar import FEW_AXES, MOST_AXES, layers, radars
from atom.views.fingerprints.shape import Shape, shape
from atom.views.fingerprints.statements import statements
from atom.views.fingerprints.told_apart import told_apart
from atom.views.study_data import StudyData, load_study
from tests.app.screen_store import make_store
from tests.planted import WorldSettings, plant
from tests.votes import ANCHOR, make_votes

SVG = "{http://www.w3.org/2000/svg}"


def fingerprints(data: StudyData, filters: Filters) -> SimpleNamespace:
    """Compute everything on the page, as the page does."""
    form = shape(data, filters)
    said, apart = claims(data, form), told_apart(data, form)
    return SimpleNamespace(
        statements=statements(form, said, apart),
        radars=radars(form),
        bars=bars(form, said),
        apart=apart,
        shape=form,
        claims=said,
    )


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """Return (store, study) of twelve samples in every state."""
    made = make_store(tmp_path_factory.mktemp("judged"))
    with Store.open(made.folder) as store:
        yield store, load_study(store, made.study.id)


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """Return (store, study) of outcomes without criteria."""
    made = make_store(tmp_path_factory.mktemp("outcomes"), judged=False)
    with Store.open(made.folder) as store:
        yield store, load_study(store, made.study.id)


@pytest.fixture(scope="module")
def votes(tmp_path_factory):
    """Return (store, study) of votes between answers, all against one anchor."""
    made = make_votes(tmp_path_factory.mktemp("votes"))
    with Store.open(made.folder) as store:
        yield store, load_study(store, "Votes")


def wrap(table) -> StudyData:
    """Make a study of a planted table."""
    return StudyData(
        study=Study(id="s", name="s", created="2026-01-01T00:00:00Z"),
        revision=1,
        judge=None,
        candidates=tuple(Candidate(id=one, name=f"m-{one}") for one in table.model_ids),
        tree=None,
        table=table,
        pending=0,
        sample_position={},
    )


@pytest.fixture(scope="module")
def world():
    """Return a world with planted weaknesses, and its study."""
    made = plant(WorldSettings(samples=400), np.random.default_rng(5))
    return made, wrap(made.table())


@pytest.fixture(scope="module")
def page(world):
    return fingerprints(world[1], Filters(study="s"))


def every_mark(form: Shape, said: Claims | None):
    """List every mark of the page: points of radars, cells, bars of every model."""
    marks = [mark for radar in radars(form) for axis in radar.axes for mark in axis.marks]
    heat = heatmap(form, said, every=True)
    marks += [cell.mark for row in heat.cells for cell in row]
    for model in form.models:
        drawn = bars(form, said, model)
        marks += [bar.mark for bar in drawn.rows]
    return marks


@pytest.mark.slow
@pytest.mark.parametrize(
    ("which", "changes", "facet"),
    [
        ("judged", {}, None),
        ("judged", {"tags": (("difficulty", "hard"),)}, None),
        ("judged", {"root": "Perception"}, None),
        ("judged", {"outcome": "right"}, None),
        ("judged", {"process": "flawed"}, None),
        ("judged", {}, "difficulty"),
        ("judged", {"root": "Perception"}, "difficulty"),
        ("judged", {"measure": "outcome"}, None),
        ("outcomes", {}, None),
        ("outcomes", {"outcome": "wrong"}, None),
        ("votes", {}, None),
    ],
)
def test_every_door_lists_what_its_mark_counts(request, which, changes, facet):
    store, data = request.getfixturevalue(which)
    form = shape(data, Filters(study=data.study.id, **changes), facet=facet)
    marks = every_mark(form, claims(data, form))
    assert marks
    for mark in {(one.model, one.filters): one for one in marks}.values():
        assert mark.filters.show == "all"
        listed = failures(store, data, mark.filters)
        assert listed.checkpoints == mark.listed
        if form.unit != form.listed_unit:
            continue
        # n, what has no score, and what is set aside (only while no label or outcome narrows it).
        unscored = failures(store, data, mark.filters.but(show="unscored")).checkpoints
        aside = 0 if form.facet or "tags" in changes or "outcome" in changes else set_aside(
            data, mark
        )  # fmt: skip
        assert mark.estimate.n + unscored + aside == mark.listed


def set_aside(data, mark):
    """Count a mark's checkpoints of samples that are set aside, one by one."""
    table, path = data.table, mark.filters.node
    return sum(
        bool(table.quarantined[table.sample[answer]])
        and int(table.model[answer]) == mark.model
        and bool(table.answered[answer])
        and table.leaves[leaf][: len(path)] == path
        for answer, leaf in zip(table.response, table.leaf, strict=True)
        if leaf >= 0
    )


def test_counts_and_means_by_hand(judged):
    _, data = judged
    form = shape(data, Filters(study=data.study.id))
    table = data.table
    scores = [
        (int(score) - 1) / 4
        for score, leaf, response in zip(table.score, table.leaf, table.response, strict=True)
        if score > 0
        and leaf >= 0
        and table.leaves[leaf][-1] == "Bar height"
        and table.model[response] == 1
        and table.answered[response]
        and not table.quarantined[table.sample[response]]
    ]
    mark = form.mark(1, form.paths.index(table.leaves[0]))
    assert table.leaves[0][-1] == "Bar height"
    assert mark.estimate.n == len(scores)
    assert mark.estimate.value == pytest.approx(100 * sum(scores) / len(scores))
    assert mark.estimate.lo < mark.estimate.value < mark.estimate.hi


def test_a_parent_is_the_mean_over_its_checkpoints(world):
    _, data = world
    form = shape(data, Filters())
    for node, path in enumerate(form.paths):
        below = [int(leaf) for leaf in form.finest if form.paths[leaf][: len(path)] == path]
        n = form.n[0, below]
        assert form.n[0, node] == n.sum()
        assert form.mean[0, node] == pytest.approx((form.mean[0, below] * n).sum() / n.sum())


def test_axes_are_a_readable_number_of_nodes_of_one_layer(page):
    assert [radar.title for radar in page.radars] == [
        "Perceiving and understanding", "Reasoning and generating"
    ]  # fmt: skip
    for radar in page.radars:
        assert FEW_AXES <= len(radar.axes) <= MOST_AXES
        assert len({len(axis.path) for axis in radar.axes}) == 1
        assert all(axis.lo <= axis.middle <= axis.hi for axis in radar.axes)


def test_a_radar_is_made_of_the_layer_that_is_asked_for(page):
    form = page.shape
    assert layers(form) == (1, 2, 3, 4)
    (roots,) = radars(form, 1)
    assert [axis.path for axis in roots.axes] == [(root,) for root in dict.fromkeys(
        path[0] for path in form.paths if path)]  # fmt: skip
    for layer in (2, 3, 4):
        drawn = radars(form, layer)
        assert {len(axis.path) for radar in drawn for axis in radar.axes} == {layer}
        there = sum(len(path) == layer for path in form.paths)
        assert sum(len(radar.axes) + radar.left_out for radar in drawn) == there


def test_the_band_is_mean_and_spread_of_the_models(page):
    form, axis = page.shape, page.radars[0].axes[0]
    values = form.mean[:, form.paths.index(axis.path)]
    assert axis.middle == pytest.approx(values.mean())
    assert axis.hi - axis.middle == pytest.approx(values.std(ddof=1))


def test_the_models_with_most_to_show_are_drawn_first(world, page):
    """Walk B16: once the page opened on the model that has nothing."""
    # Once the page opened on the best three, of which the first had nothing to show.
    sure = [page.claims.sure(one) for one in page.shape.models]
    assert max(sure) > 0
    led = opened(page.shape, page.claims)
    assert sure[led.drawn()[0]] == max(sure)
    assert sorted(sure[one] for one in led.drawn()) == sorted(sure)[-3:]
    # A choice goes first, and without claims the best stay.
    ids = world[1].table.model_ids
    chosen = shape(world[1], Filters(model=ids[2]))
    assert opened(chosen, page.claims).drawn() == (2,)
    assert opened(page.shape, None).drawn() == page.shape.drawn()


def test_the_line_in_a_bar_is_what_its_number_is_held_against(page):
    """Walk A9: once a bar's dot stood right of its line beside a number below nought."""
    # Five of twelve rows once stood right of the others' mean with a departure below zero.
    for model in page.shape.models:
        drawn = bars(page.shape, page.claims, model)
        assert drawn.looks == sum(
            bar.claim.label not in ("insufficient", "not said") for bar in drawn.rows
        ) + _above_leaves(page, model)
        for bar in drawn.rows:
            drawn_gap = bar.mark.estimate.value - bar.held
            assert drawn_gap == pytest.approx(bar.claim.effect, nan_ok=True)


def _above_leaves(page, model):
    """Count the looks at nodes that aren't leaves, which have no bar."""
    above = set(range(len(page.shape.paths))) - {int(node) for node in page.shape.finest}
    return sum(page.claims.label(model, node) not in ("insufficient", "not said") for node in above)


def test_the_chosen_model_and_its_peers_are_drawn(world):
    _, data = world
    ids = data.table.model_ids
    form = shape(data, Filters(model=ids[3], peers=(ids[1], ids[3], ids[0], ids[2], ids[4])))
    assert form.drawn() == (3, 1, 0, 2)
    best = shape(data, Filters()).drawn()
    assert len(best) == 3
    assert best[0] == int(np.argmax(shape(data, Filters()).overall))


def test_planted_weaknesses_lead_the_bars(world, page):
    made, _ = world
    hits = total = 0
    for model in page.shape.models:
        drawn = bars(page.shape, page.claims, model)
        labels = [bar.claim.label for bar in drawn.rows]
        order = ("confirmed", "suspected", "strength", "nothing found", "insufficient")
        assert labels == sorted(labels, key=order.index)
        confirmed = [bar for bar in drawn.rows if bar.claim.label == "confirmed"]
        weak = {page.shape.paths[page.shape.finest[leaf]] for leaf in
                np.flatnonzero(made.weak[model])}  # fmt: skip
        hits += sum(bar.path in weak for bar in confirmed)
        total += len(confirmed)
    assert total >= 5
    assert hits / total >= 0.8


def test_a_node_that_a_model_is_silent_on_comes_last(page):
    model = page.shape.drawn()[0]
    first = bars(page.shape, page.claims, model).rows[0]
    (node,) = [int(at) for at in page.shape.finest if page.shape.path_at(int(at)) == first.path]
    label = page.claims.seen.label.copy()
    label[model, node] = LABELS.index("not said")
    said = replace(page.claims, seen=replace(page.claims.seen, label=label))
    last = bars(page.shape, said, model).rows[-1]
    assert (last.path, last.claim.label) == (first.path, "not said")


def test_planted_shapes_are_told_apart(page):
    apart = page.apart
    assert apart.why == ""
    assert apart.first > 0.8 > 3 * apart.chance
    assert apart.two_way > 0.95
    assert apart.named.sum(axis=1).tolist() == [apart.tries] * len(apart.models)
    assert np.allclose(apart.similarity, apart.similarity.T)
    assert page.statements[0].text.endswith(f"of {apart.tries} tries.")
    assert {one.page for one in page.statements} <= {"fingerprints", "compare", "failures"}


def test_the_same_halves_every_time(world, page):
    made, _ = world
    again = told_apart(wrap(made.table()), page.shape)
    assert np.array_equal(again.named, page.apart.named)


def test_a_copy_looks_like_its_original(world):
    made, _ = world
    table = made.table()
    # Model 1 answers exactly as model 0 does.
    order = np.argsort(table.criterion[table.model[table.response] == 0], kind="stable")
    rows = [np.flatnonzero(table.model[table.response] == model) for model in (0, 1)]
    score = table.score.copy()
    second = rows[1][np.argsort(table.criterion[rows[1]], kind="stable")]
    score[second] = table.score[rows[0][order]]
    data = wrap(replace(table, score=score))
    found = fingerprints(data, Filters())
    assert f"{data.candidates[0].name} and {data.candidates[1].name} look alike" in " ".join(
        one.text for one in found.statements
    )
    door = next(one for one in found.statements if "look alike" in one.text)
    assert door.page == "compare"
    assert {door.filters.model, *door.filters.peers} == set(table.model_ids[:2])


def test_chosen_answers_claim_nothing(judged):
    _, data = judged
    found = fingerprints(data, Filters(outcome="right"))
    assert found.claims is None
    assert found.apart.models == ()
    assert "nothing is claimed" in found.statements[0].text
    assert all(bar.claim is None for bar in found.bars.rows)


def test_a_small_study_says_why_it_cannot_tell(judged, world):
    _, data = judged
    few = fingerprints(data, Filters())
    # Ten samples with a score are left of twelve: one is set aside, one has no criteria.
    assert few.apart.samples == 10
    assert few.apart.why.startswith("10 samples can't be cut into halves that say anything")
    assert few.statements[0].text == few.apart.why
    made, _ = world
    table = made.table()
    two = replace(table, leaf=(table.leaf % 2).astype(table.leaf.dtype))
    assert fingerprints(wrap(two), Filters()).apart.why.startswith("2 capabilities make no shape")


# --- odd studies -------------------------------------------------------------------------------


def only(table, models):
    """Keep the answers of some models alone; the others answered nothing."""
    kept = np.isin(table.model, models)
    outcome = np.where(kept, table.outcome, np.nan).astype(np.float32)
    return replace(table, answered=table.answered & kept, outcome=outcome)


def test_one_model_has_bars_but_no_peers(world):
    made, _ = world
    found = fingerprints(wrap(only(made.table(), [2])), Filters())
    assert [one.index for one in found.radars[0].models] == [2]
    assert found.radars[0].band_words == ""
    assert found.bars.frame == "own"
    assert "takes two" in found.apart.why
    heat = heatmap(found.shape, found.claims, rows="clustered", columns="clustered")
    assert len(heat.models) == 1


def test_constant_scores_have_no_shape(world):
    made, _ = world
    table = made.table()
    found = fingerprints(wrap(replace(table, score=np.full_like(table.score, 3))), Filters())
    assert "no shapes to compare" in found.apart.why
    assert {axis.middle for axis in found.radars[0].axes} == {50.0}


def test_nothing_judged_draws_nothing(world):
    made, _ = world
    table = made.table()
    empty = replace(table, score=np.zeros_like(table.score),
                    outcome=np.full_like(table.outcome, np.nan))  # fmt: skip
    found = fingerprints(wrap(empty), Filters())
    assert found.shape.models == ()
    assert found.radars == ()
    assert found.bars is None
    assert found.statements == ()


def test_unscored_checkpoints_are_left_out_of_n_but_listed(world):
    made, _ = world
    table = made.table()
    score = table.score.copy()
    score[::10] = 0
    form = shape(wrap(replace(table, score=score)), Filters())
    roots = [node for node, path in enumerate(form.paths) if len(path) == 1]
    assert form.n[:, roots].sum() == np.count_nonzero(score)
    assert form.listed[:, roots].sum() == len(score)


def test_outcomes_are_drawn_by_label(outcomes):
    _, data = outcomes
    found = fingerprints(data, Filters())
    assert found.shape.facet == "difficulty"
    assert found.shape.unit == "answer"
    assert [axis.name for axis in found.radars[0].axes] == list(
        data.table.facets["difficulty"].values
    )
    assert statements(found.shape, found.claims, found.apart) == found.statements


def test_votes_leave_the_anchor_out(votes):
    _, data = votes
    found = fingerprints(data, Filters())
    assert found.shape.measure == "preference"
    assert found.shape.anchor.name == ANCHOR
    assert found.shape.anchor.index not in found.shape.models
    assert ANCHOR not in {one.name for one in found.apart.models}
    assert ANCHOR not in {one.name for one in found.radars[0].models}


# --- heatmap -----------------------------------------------------------------------------------


def test_orders_keep_every_cell(page):
    usual = heatmap(page.shape, page.claims)
    cells = {
        (one.mark.model, one.mark.filters.node): one.mark.estimate.value
        for row in usual.cells
        for one in row
    }
    means = [page.shape.overall[one.index] for one in usual.models]
    assert means == sorted(means, reverse=True)
    for rows in ("study", "clustered"):
        for columns in ("score", "clustered"):
            other = heatmap(page.shape, page.claims, rows=rows, columns=columns)
            again = heatmap(page.shape, page.claims, rows=rows, columns=columns)
            assert (other.models, other.columns) == (again.models, again.columns)
            assert not other.grouped
            found = {
                (one.mark.model, one.mark.filters.node): one.mark.estimate.value
                for row in other.cells
                for one in row
            }
            assert found == cells


def test_alike_models_stand_together_when_clustered(page):
    form = page.shape
    value = form.mean.copy()
    value[5] = value[0] + 3
    heat = heatmap(replace(form, mean=value), None, rows="clustered")
    order = [one.index for one in heat.models]
    assert abs(order.index(0) - order.index(5)) == 1


def test_the_difference_is_to_the_mean_of_the_others(page):
    heat = heatmap(page.shape, page.claims)
    cell = heat.cells[0][0]
    node = page.shape.paths.index(cell.mark.filters.node)
    rest = np.delete(page.shape.mean[:, node], cell.mark.model).mean()
    assert cell.difference == pytest.approx(cell.mark.estimate.value - rest)


def test_an_empty_cell_is_not_a_zero(page):
    form = page.shape
    n, mean = form.n.copy(), form.mean.copy()
    leaf = int(form.finest[0])
    n[0, leaf], mean[0, leaf], mean[1, leaf] = 0, np.nan, 0.0
    heat = heatmap(replace(form, n=n, mean=mean), page.claims, rows="study")
    empty, zero = heat.cells[0][0], heat.cells[1][0]
    assert empty.glyph == "–"
    assert empty.claim is None
    assert zero.glyph != "–"
    assert cell_fill(empty, heat, "score", "light") != cell_fill(zero, heat, "score", "light")


def test_the_picture_holds_every_cell_with_its_door(page):
    heat = heatmap(page.shape, page.claims)
    cells = len(heat.models) * len(heat.columns)
    for colouring in ("score", "difference", "evidence"):
        drawn = draw_heat(heat, page.shape, colouring, lambda cell: f"./{cell.mark.model}")
        root = ET.fromstring(drawn)
        doors = root.findall("./table/tbody/tr/td/a")
        assert len(doors) == cells
        # One stop of the Tab key; the rest by arrow keys.
        assert [door.get("tabindex") for door in doors].count("0") == 1
        assert doors[0].get("href") == f"./{heat.models[0].index}"
        assert any("▼" in "".join(door.itertext()) for door in doors)
    # A gap stands before each root but the first, in every row.
    roots = len({column.group for column in heat.columns})
    assert len(root.findall("./table/tbody/tr[1]/td")) == len(heat.columns) + roots - 1
    assert [one.text for one in root.findall("./table/tfoot/tr/th")] == list(
        dict.fromkeys(column.group for column in heat.columns)
    )


def test_labels_are_never_twice():
    assert unique_labels(["a", "a", "b", "a"]) == ["a", "a (2)", "b", "a (3)"]
    assert len(set(unique_labels(["x" * 60 + "1", "x" * 59 + "y1"]))) == 2


def test_a_tree_of_many_leaves_is_drawn_by_the_layer_above(page):
    form = page.shape
    many = 70
    paths = tuple(("Perception", f"g{leaf // 10}", f"leaf {leaf}") for leaf in range(many))
    above = tuple(dict.fromkeys(path[:2] for path in paths))
    nodes = (("Perception",), *above, *paths)
    k = len(form.names)
    big = replace(
        form,
        paths=nodes,
        finest=np.arange(1 + len(above), len(nodes)),
        **{name: np.full((k, len(nodes)), 40.0) for name in ("mean", "lo", "hi")},
        **{name: np.full((k, len(nodes)), 5) for name in ("n", "samples", "listed")},
    )
    heat = heatmap(big, None)
    assert heat.coarse
    assert [column.path for column in heat.columns] == list(above)
    assert len(heatmap(big, None, every=True).columns) == many


def test_the_file_holds_all_and_no_formula(page):
    form = replace(
        page.shape,
        names=tuple(replace(one, name=f"={one.name}") for one in page.shape.names),
    )
    heat = heatmap(form, page.claims, every=True)
    rows = list(csv.DictReader(io.StringIO(heat_csv(heat))))
    assert len(rows) == len(form.models) * len(form.finest)
    assert all(row["model"].startswith("'=") for row in rows)
    first = heat.cells[0][0].mark
    assert float(rows[0]["score"]) == pytest.approx(first.estimate.value, abs=1e-3)
    assert int(rows[0]["n"]) == first.estimate.n


# --- figures -----------------------------------------------------------------------------------


def test_figures_stand_alone(page):
    for text in map(figures.radar_svg, page.radars):
        root = ET.fromstring(text)
        assert root.tag == f"{SVG}svg"
        tags = {one.tag.removeprefix(SVG) for one in root.iter()}
        assert tags <= {"svg", "g", "title", "text", "tspan", "path", "line", "rect", "circle",
                        "polygon"}  # fmt: skip
        assert "var(" not in text
        assert "href" not in text


def test_figures_escape_names(page):
    bad = '<script>alert(1)</script>"&'
    radar = page.radars[0]
    radar = replace(
        radar,
        axes=tuple(replace(axis, name=bad, path=(bad,)) for axis in radar.axes),
        models=tuple(replace(one, name=bad) for one in radar.models),
    )
    for text in (
        figures.radar_svg(radar),
        figures.radar_svg(replace(radar, axes=radar.axes[:2])),
    ):
        assert "<script" not in text
        ET.fromstring(text)


def test_two_axes_are_drawn_as_bars(page):
    radar = page.radars[0]
    few = ET.fromstring(figures.radar_svg(replace(radar, axes=radar.axes[:2])))
    names = {one.text for one in few.iter(f"{SVG}text")}
    assert {"0", "50", "100"} <= names
    assert not list(few.iter(f"{SVG}tspan"))


def test_a_line_breaks_where_a_model_has_no_value(page):
    radar = page.radars[0]
    axis = radar.axes[0]
    none = replace(axis.marks[0], estimate=replace(axis.marks[0].estimate, value=math.nan))
    broken = replace(axis, marks=(none, *axis.marks[1:]))
    text = figures.radar_svg(replace(radar, axes=(broken, *radar.axes[1:])))
    assert "nan" not in text
    # One model fewer is drawn at that axis: its point, and two of its line's pieces.
    assert figures.radar_svg(radar).count("<circle") - text.count("<circle") == 1


def test_colours_are_the_screens(project):
    from atom.ui.kit import COLOURS

    assert figures.COLOURS == COLOURS
    assert [figures.colour(place) for place in range(8)] == list(COLOURS)
