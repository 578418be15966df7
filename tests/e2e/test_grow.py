"""A tree grows on screen, in a copy of the bundled study: stopped, taken up, taken back."""

from __future__ import annotations

import re

import pytest

from atom.analysis.capability.partitions import adjusted_mutual_information
from atom.records import Study
from atom.store import Store, leaf_mappings, study_criteria, tree_versions
from atom.views.tree.edit import use_older
from tests.e2e.holding import held

pytestmark = pytest.mark.browser
DONE = "It is the study's tree now."


def names_of(page):
    return page.locator("svg.growing text").all_inner_texts()


def has_grown(store):
    return any(one.stat().st_size for one in (store / "inductions").glob("*.jsonl"))


def test_a_tree_is_grown_stopped_taken_up_and_taken_back(start_app, page, visit, shot, tmp_path):
    """Walk B2: once no button grew a tree."""
    app = start_app(store=tmp_path / "store")
    page.goto(f"{app.url}/tree?tab=grow")
    page.get_by_role("button", name="Make my own copy").click()
    page.get_by_role("button", name="Grow the tree").wait_for()
    with Store.open(app.store) as store:
        # The same judge grows the bundled study's tree again, so it starts from the seed.
        (study,) = store.select(Study)
        use_older(store, study.id, tree_versions(store, study.id)[0].version)
    page.reload()
    page.get_by_text("free, offline").wait_for()
    shot(page, "grow-1-price")
    page.get_by_role("button", name="Grow the tree").click()
    with held(app.store, lambda: has_grown(app.store)):
        page.locator("svg.growing text", has_text="Perception").wait_for()
        page.locator(".grow-log li").first.wait_for()
        page.get_by_role("button", name="Stop", exact=True).click()
        page.get_by_text("stopping: calls in flight end first").wait_for()
    page.get_by_role("button", name="Go on").wait_for()
    page.get_by_text("stopped on request").wait_for()
    assert len(names_of(page)) > 6
    shot(page, "grow-2-stopped")
    page.get_by_role("button", name="Go on").click()
    page.get_by_text(DONE).wait_for()
    page.locator("h2", has_text=re.compile("From version 3 to version 4")).wait_for()
    shot(page, "grow-3-done")
    with Store.open(app.store) as store:
        (study,) = store.select(Study)
        *_, first, grown = tree_versions(store, study.id)
        assert (study.tree_version, grown.origin) == (grown.version, "induced")
        ids = list(study_criteria(store, study.id))
        planted, found = (leaf_mappings(store, v.version, ids) for v in (first, grown))
    shared = [one for one in ids if planted[one].leaf and found[one].leaf]
    assert len(shared) > 0.95 * len(ids)
    likeness = adjusted_mutual_information(
        [planted[one].leaf for one in shared], [found[one].leaf for one in shared]
    )
    assert likeness > 0.95
    page.get_by_role("button", name="Undo").click()
    page.get_by_text("It was taken back").wait_for()
    with Store.open(app.store) as store:
        assert store.select(Study)[0].tree_version == first.version
    assert visit.errors == []
