"""A team at work: signed in, held to its roles, and going on when a replica is killed."""

from __future__ import annotations

import os
import signal

import pytest
from playwright.sync_api import expect

from atom.records import Study
from atom.store import Store, find_study, load_tree
from atom.store.team.people import events_of
from atom.ui.links import address
from atom.ui.shell import welcome
from atom.views.filters import Filters
from tests.e2e.conftest import STAGE
from tests.e2e.team.identity import PEOPLE
from tests.factories import COUNT, STUDY

TABLE = "question,answer,model,response,correct\n" + "".join(
    f"How many dots are in picture {n}?,{n},model-z,{n},1\n" for n in range(9)
)


@pytest.fixture
def enter(team, new_page):
    """Return a function that signs a person in, in a browser of their own."""

    def enter(who: str):
        page = new_page(**STAGE)
        page.context.add_cookies([{"name": welcome.COOKIE, "value": "seen", "url": team.url}])
        page.goto(team.url)
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("link", name=PEOPLE[who][0]).click()
        page.get_by_test_id("role").wait_for()
        return page

    return enter


def open_rename(page, team, study, path):
    """Open a node of the tree, and the form that renames it."""
    page.goto(team.url + "/" + address("tree", Filters(study=study, node=path)).lstrip("/"))
    page.locator(".card", has_text=path[-1]).first.wait_for()
    page.locator(".st-key-tree_hand").get_by_test_id("stPopover").locator("button").click()
    return page.locator("[class*='st-key-tree_rename'] input")


def rename(page, field, name):
    field.fill(name)
    page.locator("[class*='st-key-tree_do_rename'] button").click()


@pytest.mark.slow
def test_a_team_signs_in_edits_uploads_and_outlives_a_replica(team, enter, tmp_path, shot):
    with Store.open(team.store) as store:
        study = find_study(store, STUDY).id

        # A viewer is told what they may not, and why; the button is there and does nothing.
        vera = enter("vera")
        expect(vera.get_by_test_id("role")).to_have_text("viewer")
        vera.goto(f"{team.url}/data")
        words = "Vera Viewer is a viewer; importing is for analysts and admins: ask an admin"
        expect(vera.get_by_text(words).first).to_be_visible()
        file = tmp_path / "dots.csv"
        file.write_text(TABLE, encoding="utf-8")
        vera.locator("input[type=file]").first.set_input_files(file)
        expect(vera.get_by_role("button", name="Import", exact=True)).to_be_disabled()
        shot(vera, "team_viewer")

        # Two analysts change one tree from the same version: the second is asked, none is lost.
        anna, ben = enter("anna"), enter("ben")
        ours, theirs = COUNT, COUNT[:3]
        one = open_rename(anna, team, study, ours)
        two = open_rename(ben, team, study, theirs)
        rename(anna, one, "Count every one")
        anna.locator(".card", has_text="Count every one").first.wait_for()
        rename(ben, two, "Numbers")
        ben.get_by_text("somebody else changed the tree meanwhile").first.wait_for()
        ben.get_by_role("button", name="Make it on the tree as it is now").click()
        ben.locator(".card", has_text="Numbers").first.wait_for()
        tree = load_tree(store, str(find_study(store, study).tree_version))
        assert (*COUNT[:2], "Numbers", "Count every one") in tree.leaves

        # What an analyst uploads comes in, whichever replica they are at.
        anna.goto(f"{team.url}/data")
        anna.locator("input[type=file]").first.set_input_files(file)
        anna.get_by_role("button", name="Import", exact=True).click()
        anna.get_by_role("link", name="Open the Overview").wait_for()
        assert len(store.select(Study)) == 2

        # Their replica is killed: the same link goes on at the other, still signed in.
        gone = team.replica_of(anna)
        os.killpg(team.replicas[gone].pid, signal.SIGKILL)
        team.replicas[gone].wait(timeout=15)
        link = address("tree", Filters(study=study, node=(*COUNT[:2], "Numbers")))
        anna.goto(team.url + "/" + link.lstrip("/"))
        anna.locator(".card", has_text="Numbers").first.wait_for()
        expect(anna.get_by_test_id("role")).to_have_text("analyst")
        assert team.replica_of(anna) != gone

        told = [(one.name, one.action) for one in events_of(store) if one.action != "signed in"]
        assert told == [
            ("Anna Analyst", "import"),
            ("Ben Analyst", "tree"),
            ("Anna Analyst", "tree"),
        ]
    words = "".join(log.read_text(encoding="utf-8", errors="replace") for log in team.logs)
    assert "c" * 40 not in words
    assert "Traceback" not in words
