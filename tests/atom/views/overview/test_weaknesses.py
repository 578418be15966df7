"""Weaknesses as the screens show them, held against what was planted."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from atom.analysis.capability.diagnosis import LABELS
from atom.analysis.capability.weaknesses import diagnose
from atom.analysis.layout import tree_layout
from atom.analysis.nodes import index_nodes
from atom.analysis.readings import claim_rows
from atom.probes.candidates import planted_world
from atom.records import Study
from atom.store import Store
from atom.views.failures.page import failures
from atom.views.filters import Filters, answers_kept
from atom.views.overview.evidence import GLYPHS, NodeEvidence, evidence
from atom.views.overview.page import overview
from atom.views.overview.weakness_words import effect_words, evidence_words, frame_words, more_words
from atom.views.overview.weaknesses import ORDER, Weakness, leading, weaknesses
from atom.views.study_data import load_study
from tests.planted import WorldSettings, plant

LEGEND = ("Understanding", "Charts", "Parts of a chart", "Legend mapping")
MARKS = ("Understanding", "Diagrams", "Notation", "Figure marks")
DEMO = Path(__file__).parents[4] / "data" / "demo"


@pytest.fixture(scope="module")
def demo_store():
    with Store.open(DEMO, read_only=True) as opened:
        yield opened


@pytest.fixture(scope="module")
def demo(demo_store):
    (study,) = demo_store.select(Study)
    return load_study(demo_store, study.id)


@pytest.fixture(scope="module")
def page(demo):
    return overview(demo, Filters(study=demo.study.id))


def item(status="confirmed", path=("A", "B"), pooled=-10.0, **changes):
    fields = {
        "status": status, "name": path[-1], "path": path, "label": None, "frame": "peer",
        "measure": "process", "effect": pooled, "lo": pooled - 5, "hi": pooled + 5,
        "pooled": pooled, "mean": 50.0, "n": 40, "samples": 30, "more_samples": math.nan,
        "filters": Filters(),
    }  # fmt: skip
    return Weakness(**{**fields, **changes})


def test_a_study_with_five_samples_a_model_claims_no_weakness(data):
    page = overview(data, Filters(study=data.study.id))
    assert all(leading(row.findings) == () for row in page.ranking)
    assert page.weaknesses.frame == "own"
    assert any("No weakness" in statement.text for statement in page.statements)


def test_under_five_samples_nothing_is_tested(data):
    aside = np.arange(len(data.table.sample_ids)) >= 4
    few = replace(data, table=replace(data.table, quarantined=aside))
    seen = weaknesses(few, Filters(), "process")
    assert all(model.tested == 0 and model.found == () for model in seen.models)


def test_confirmed_leaves_of_the_demo_are_planted_ones(page):
    planted = planted_world().weak
    claims = [
        (row.name, finding.path)
        for row in page.ranking
        for finding in row.findings
        if finding.status == "confirmed" and len(finding.path) == 4
    ]
    false = [path for name, path in claims if path not in planted[name]]
    assert len(claims) >= 6
    assert len(false) <= len(claims) / 5


def test_planted_worlds_are_recovered_without_many_false_claims(demo):
    world = plant(WorldSettings(samples=400), np.random.default_rng(3))
    table = world.table()
    planted = replace(demo, table=table, candidates=demo.candidates[: table.n_models])
    seen = weaknesses(planted, Filters(), "process")
    at = {leaf: number for number, leaf in enumerate(table.leaves)}
    hits = [
        bool(world.weak[number, at[finding.path]])
        for number, model in enumerate(seen.models)
        for finding in model.found
        if finding.status == "confirmed" and finding.path in at
    ]
    assert sum(hits) >= 6
    assert hits.count(False) <= len(hits) / 5


def test_findings_are_those_of_the_diagnosis_in_points_of_a_hundred(demo, page):
    keep = answers_kept(demo, Filters())
    rows = keep[demo.table.response] & claim_rows(demo.table)
    raw = diagnose(tree_layout(demo.table), rows)
    for row in page.ranking:
        effects = {round(100 * f.effect, 9) for f in raw.findings(row.colour, ORDER)}
        assert {round(finding.effect, 9) for finding in row.findings} <= effects
        kinds = [ORDER.index(finding.status) for finding in row.findings]
        assert kinds == sorted(kinds)


def test_a_chain_of_only_children_is_named_once_by_its_deepest_node(page):
    for row in page.ranking:
        for finding in row.findings:
            twins = [
                other
                for other in row.findings
                if finding.under(other) and (other.n, other.samples) == (finding.n, finding.samples)
            ]
            assert not twins


def test_counts_equal_those_behind_the_door(demo_store, demo, page):
    for row in page.ranking[:3]:
        for finding in row.findings:
            listed = failures(demo_store, demo, finding.filters)
            assert listed.looked_at == finding.samples
            assert finding.filters.model == row.model_id
            assert finding.filters.node == finding.path


def test_filters_hold(demo):
    filters = Filters(tags=(("difficulty", "hard"),))
    whole = overview(demo, Filters())
    part = overview(demo, filters)
    most = max(f.samples for row in whole.ranking for f in row.findings)
    assert all(f.samples < most for row in part.ranking for f in row.findings)
    assert all(f.filters.tags == filters.tags for row in part.ranking for f in row.findings)


def test_statements_name_the_largest_confirmed_weakness(page):
    _, *others = page.ranking
    confirmed = [
        (row, one) for row in others for one in leading(row.findings) if one.status == "confirmed"
    ]
    row, one = max(confirmed, key=lambda pair: abs(pair[1].pooled))
    text = next(s.text for s in page.statements if f"{row.name}'s" in s.text)
    assert f"{row.name}'s {one.name}: {effect_words(one)}" in text
    words = f"than the other models' scores on the same criteria predict ({one.samples} samples)"
    assert words in text


def test_the_leaders_own_weakness_comes_first(demo):
    # The leader misses every criterion of two leaves; the second model does so on one.
    table = demo.table
    leader, second = 1, 4
    model = table.model[table.response]
    score = table.score.copy()
    score[(model == leader) & (table.leaf == table.leaves.index(LEGEND))] = 1
    score[(model == second) & (table.leaf == table.leaves.index(MARKS))] = 1
    page = overview(replace(demo, table=replace(table, score=score)), Filters())
    assert page.ranking[0].colour == leader
    texts = [statement.text for statement in page.statements]
    assert texts[1].startswith("model-b's largest confirmed weakness is Legend mapping: ")
    assert texts[2].startswith(("The largest confirmed weakness of any", "Among the others"))
    assert page.statements[1].filters.node == LEGEND


def test_outcomes_are_looked_at_by_label(demo):
    page = overview(demo, Filters(measure="outcome"), facet="template")
    assert page.weaknesses.facet == "template"
    assert all(row.tested > 0 for row in page.ranking)
    for row in page.ranking:
        for finding in row.findings:
            assert finding.path == ()
            assert finding.label in finding.filters.tags


def test_a_label_that_is_missed_on_purpose_is_confirmed_by_outcome(demo):
    table = demo.table
    facet = table.facets["template"]
    outcome = np.ones_like(table.outcome)
    outcome[::7] = 0
    missed = facet.response[facet.value == 0]
    outcome[missed[table.model[missed] == 2]] = 0
    changed = replace(demo, table=replace(table, outcome=outcome))
    page = overview(changed, Filters(measure="outcome"), facet="template")
    confirmed = {
        (row.colour, finding.name)
        for row in page.ranking
        for finding in row.findings
        if finding.status == "confirmed"
    }
    assert confirmed == {(2, facet.values[0])}


def test_without_a_tree_there_is_nothing_to_look_at(demo):
    bare = replace(demo.table, leaves=(), leaf=np.full_like(demo.table.leaf, -1))
    page = overview(replace(demo, table=bare), Filters())
    assert page.weaknesses is None
    assert all(row.findings == () and row.tested == 0 for row in page.ranking)


def test_leading_names_the_deepest_and_the_surest_of_a_branch():
    leaf = item(path=("A", "B", "C"))
    above = item(path=("A", "B"), pooled=-12.0)
    root = item("suspected", path=("A",), pooled=-30.0)
    other = item("suspected", path=("D",), pooled=-3.0)
    strong = item("strength", path=("E",), pooled=9.0)
    assert leading([above, leaf, root, other, strong]) == (leaf, other)


def test_words():
    peer = item(pooled=-12.3, lo=-20.0, hi=-4.6)
    assert effect_words(peer) == (
        "12.3 (4.6–20.0) points of 100 lower than the other models' scores on the same criteria "
        "predict"
    )
    own = item("suspected", pooled=-4.0, lo=-9.0, hi=1.0, frame="own", more_samples=31.2)
    assert effect_words(own) == (
        "4.0 (−1.0 to 9.0) points of 100 lower than on the rest of its own criteria"
    )
    assert "7.0 (2.0–12.0) points of 100 higher" in effect_words(item("strength", pooled=7.0))
    assert frame_words(peer) == "peer frame"
    assert frame_words(own) == "own frame, confounded with difficulty"
    assert more_words(peer) == ""
    assert more_words(own) == "about 32 more samples there would settle it"
    assert "alone would not" in more_words(replace(own, more_samples=math.inf))


def test_a_nodes_evidence_is_the_overviews(demo, page):
    for row in page.ranking:
        held = evidence(demo, Filters(), row.colour)
        assert held.frame == page.weaknesses.frame
        assert held.margin == pytest.approx(page.weaknesses.margin)
        for finding in row.findings:
            one = held.at(finding.path)
            assert one.label == finding.status
            assert (one.effect, one.lo, one.hi) == (finding.effect, finding.lo, finding.hi)
            assert (one.n, one.samples) == (finding.n, finding.samples)
            assert evidence_words(one) == effect_words(finding)
            assert more_words(one) == more_words(finding)
            assert frame_words(one) == frame_words(finding)


def test_every_node_has_a_label_and_the_whole_tree_none(demo):
    keep = answers_kept(demo, Filters())
    rows = keep[demo.table.response] & claim_rows(demo.table)
    raw = diagnose(tree_layout(demo.table), rows)
    held = evidence(demo, Filters(), 2)
    paths = index_nodes(demo.table.leaves).paths
    assert [held.at(path).label for path in paths] == [LABELS[n] for n in raw.label[2]]
    assert held.at(()) is None
    assert set(GLYPHS) == set(LABELS)
    assert len({glyph for glyph, _ in GLYPHS.values()}) == len(LABELS)


def test_a_node_without_criteria_is_insufficient(demo):
    one = evidence(demo, Filters(), 0).at(("Elsewhere",))
    assert (one.label, one.n, one.glyph) == ("insufficient", 0, "○")
    assert evidence_words(one) == "no score here yet"


def test_evidence_follows_the_filters_and_not_the_chain(demo):
    whole = evidence(demo, Filters(), 0)
    chain = evidence(demo, Filters(node=LEGEND, model=demo.candidates[1].id), 0)
    assert {path: replace(one, more_samples=0) for path, one in chain.nodes.items()} == {
        path: replace(one, more_samples=0) for path, one in whole.nodes.items()
    }
    hard = evidence(demo, Filters(tags=(("difficulty", "hard"),)), 0)
    assert all(hard.nodes[path].n <= one.n for path, one in whole.nodes.items())
    assert hard.nodes[LEGEND].n < whole.nodes[LEGEND].n


def test_evidence_without_leaves_is_insufficient_everywhere(demo):
    bare = replace(demo.table, leaves=(), leaf=np.full_like(demo.table.leaf, -1))
    held = evidence(replace(demo, table=bare), Filters(), 0)
    assert held.frame == "peer"
    assert held.at(LEGEND).label == "insufficient"


def test_words_of_a_node_say_which_way_its_effect_goes():
    base = NodeEvidence(label="nothing found", frame="own", effect=-1.0, lo=-4.0, hi=2.0, n=9,
                        samples=8, more_samples=math.nan)  # fmt: skip
    assert evidence_words(base) == (
        "1.0 (−2.0 to 4.0) points of 100 lower than on the rest of its own criteria"
    )
    up = replace(base, effect=1.0, lo=-2.0, hi=4.0, frame="peer")
    assert evidence_words(up).startswith("1.0 (−2.0 to 4.0) points of 100 higher than the other")
    assert evidence_words(replace(base, effect=math.nan)) == "nothing to compare it with"
    vague = replace(base, label="insufficient", lo=math.nan, hi=math.nan)
    assert evidence_words(vague).startswith("1.0 points of 100 lower")
