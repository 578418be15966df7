"""Roles are looked up in the store at each change, and each change is told in its transaction."""

from __future__ import annotations

import pytest

from atom.access import acting_as, operator
from atom.engine.people.annotations import give, take_back
from atom.engine.people.slices import delete_slice, save_slice
from atom.engine.people.tags import add_tag, remove_tag, undo_tag
from atom.engine.reasons.choice import use_rule_names, use_words
from atom.errors import AccessError, UsageError
from atom.records import Annotation, Sample, Study
from atom.store import (
    change_consent,
    delete_study,
    find_study,
    rename_study,
)
from atom.store.moving.copying import copy_store
from atom.store.reading.tags import tags_of_samples
from atom.store.store import Store
from atom.store.team.budgets import set_budget
from atom.store.team.people import events_of, find_person, give_role, list_people, sign_in
from atom.views.tree.edit import edit_tree
from taxonomy.edits import Rename
from tests.atom.store.team.conftest import ADA, ANNA, VERA
from tests.factories import COUNT, STUDY


def told(store):
    return [(one.name, one.action, one.before, one.after) for one in events_of(store)]


def test_each_role_may_what_is_its_own_and_no_more(team, as_):
    study = find_study(team, STUDY).id
    with as_(VERA):
        given = give(team, study, "flag", "x", "typed by hand", label="odd").now
        assert given.annotator == "Vera"
        for change in (
            lambda: rename_study(team, study, "Mine"),
            lambda: change_consent(team, study, add=["evil.host"]),
            lambda: delete_study(team, study),
            lambda: team.put([Study(id="s", name="s")]),
        ):
            with pytest.raises(AccessError, match=r"Vera is a viewer; .* ask an admin"):
                change()
    with as_(ANNA):
        rename_study(team, study, "Renamed")
        change_consent(team, study, add=["api.internal"])
        with pytest.raises(AccessError, match="Anna is an analyst; deleting is for admins"):
            delete_study(team, study)
    with as_(ADA):
        delete_study(team, study)
    assert told(team)[:4] == [
        ("Ada", "delete study", "Renamed", ""),
        ("Anna", "consent", "", "api.internal"),
        ("Anna", "rename", STUDY, "Renamed"),
        ("Vera", "label flag", "", "Vera: odd"),
    ]


def test_a_viewer_changes_what_they_wrote_and_nothing_of_others(team, as_):
    study = find_study(team, STUDY).id
    sample = team.select(Sample)[0].id
    with as_(ANNA):
        save_slice(team, study, "Reds", "q=red", "")
        add_tag(team, [sample], "odd", "")
    with as_(VERA):
        save_slice(team, study, "Mine", "q=a", "")
        save_slice(team, study, "Mine", "q=b", "")
        delete_slice(team, study, "Mine")
        undo_tag(team, add_tag(team, [sample], "mine", ""))
        for change in (
            lambda: save_slice(team, study, "Reds", "q=blue", "Anna"),
            lambda: delete_slice(team, study, "Reds"),
            lambda: remove_tag(team, [sample], "odd"),
            lambda: use_words(team, study, "j"),
            lambda: use_rule_names(team, study, "j"),
        ):
            with pytest.raises(AccessError, match="Vera is a viewer"):
                change()
    assert [one.value for one in tags_of_samples(team, [sample], "odd")] == ["odd"]
    with as_(ADA):
        delete_slice(team, study, "Reds")
        undo_tag(team, remove_tag(team, [sample], "odd"))


def test_nobody_and_strangers_change_nothing(team, as_):
    with pytest.raises(AccessError, match="nobody is signed in"):
        team.put([Study(id="s", name="s")])
    with as_("idp#99"), pytest.raises(AccessError, match="may do nothing here"):
        team.transact(lambda writer: writer.put([Study(id="s", name="s")]))
    assert team.get(Study, "s") is None


def test_a_role_that_is_taken_away_is_gone_at_the_next_action(team, as_):
    study = find_study(team, STUDY).id
    with as_(ANNA):
        rename_study(team, study, "One")
        with as_(ADA):
            give_role(team, "a@x", None)
        with pytest.raises(AccessError, match="Anna may do nothing here"):
            rename_study(team, study, "Two")
    assert find_study(team, study).name == "One"
    # A sign-in doesn't bring it back: it was given by hand. `claim` lets the provider say it again.
    assert sign_in(team, ANNA, "Anna", "a@x", role="admin", issued=2).role is None
    with as_(ADA):
        give_role(team, "Anna", None, by_claim=True)
    assert sign_in(team, ANNA, "Anna", "a@x", role="admin", issued=2).role is None
    assert sign_in(team, ANNA, "Anna", "a@x", role="admin", issued=3).role == "admin"
    assert ("sign-in", "signed in", "none", "admin") in told(team)


def test_an_older_cookie_gives_no_role_back(team):
    assert sign_in(team, ANNA, "Anna", "a@x", role="viewer", issued=9).role == "viewer"
    assert sign_in(team, ANNA, "Anna", "a@x", role="analyst", issued=5).role == "viewer"


def test_only_admins_give_roles_and_the_last_one_stays(team, as_):
    with as_(ANNA), pytest.raises(AccessError, match="for admins"):
        give_role(team, "Anna", "admin")
    with as_(ADA):
        with pytest.raises(UsageError, match="only admin"):
            give_role(team, "Ada", "viewer")
        give_role(team, "Anna", "admin")
        give_role(team, "Ada", "viewer")
        with pytest.raises(AccessError):
            give_role(team, "Ada", "admin")
    with pytest.raises(UsageError, match=r"names nobody.*a@x"):
        find_person(team, "Zoe")


def test_what_is_given_again_is_told_once(team, as_):
    """A command that was killed after its end is given again."""
    with as_(ADA):
        for _ in range(2):
            assert give_role(team, "Anna", "admin").by_hand
            set_budget(team, "viewer", 12.0)
        set_budget(team, "admin", None)  # it had none
        assert [what for _, what, *_ in told(team)][:2] == ["budget", "role"]
        assert sum(what in ("budget", "role") for _, what, *_ in told(team)) == 2
        for _ in range(2):
            assert not give_role(team, "Anna", None, by_claim=True).by_hand
            set_budget(team, "viewer", None)
        assert sum(what in ("budget", "role") for _, what, *_ in told(team)) == 4


def test_two_of_one_name_sign_labels_apart(team):
    sign_in(team, "idp#4", "anna", "other@x", role="viewer", issued=1)
    assert {one.name for one in list_people(team)} == {"Vera", "Anna", "Ada", "anna (other@x)"}


def test_what_is_undone_is_not_told(team, as_):
    study = find_study(team, STUDY).id
    before = told(team)
    with as_(ANNA), pytest.raises(KeyError), team.write() as writer:
        writer.tell("rename", study=study)
        raise KeyError
    assert told(team) == before


def test_a_label_is_taken_back_by_whoever_gave_it(team, as_):
    study = find_study(team, STUDY).id
    with as_(VERA):
        change = give(team, study, "flag", "x", "", label="odd")
    with as_(ANNA), pytest.raises(AccessError, match="Vera's"):
        take_back(team, change)
    with as_(VERA):
        take_back(team, change)
    assert team.select(Annotation) == []


def test_of_two_edits_of_one_tree_none_is_lost_and_both_are_told(team, as_):
    """The second is made on the tree that the first left, or refused and made again."""
    study = find_study(team, STUDY)
    with as_(ANNA):
        edit_tree(team, study.id, Rename(COUNT, "Count every one"), seen=study.tree_version)
    with as_(ADA):
        with pytest.raises(Exception, match="somebody else changed the tree"):
            edit_tree(team, study.id, Rename(COUNT[:3], "Counts"), seen=study.tree_version)
        now = find_study(team, study.id).tree_version
        tree = edit_tree(team, study.id, Rename(COUNT[:3], "Counts"), seen=now)
    assert (*COUNT[:2], "Counts", "Count every one") in tree.leaves
    edits = [(one.name, one.action) for one in events_of(team, study=study.id)]
    assert edits == [("Ada", "tree"), ("Anna", "tree")]


def test_an_operator_and_a_copy_bring_people_and_log_along(team, tmp_path):
    with acting_as(operator("root")), Store.open(tmp_path / "copy") as target:
        copy_store(team, target)
        assert [one.name for one in list_people(target)] == ["Ada", "Anna", "Vera"]
        assert told(target) == told(team)
