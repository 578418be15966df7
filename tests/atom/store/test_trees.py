"""A study's trees: history, logs, and results that are carried along."""

import pytest

from atom.errors import DataError, UsageError
from atom.records import CriteriaSet, CriterionUse, Mapping, Study, StudySample, TreeRecord
from atom.store import (
    Store,
    TreeDraft,
    add_version,
    begin_history,
    carried,
    copy_study,
    delete_study,
    find_version,
    leaf_mappings,
    load_tree,
    study_criteria,
    tree_log,
    tree_versions,
    use_version,
)
from atom.store.trees import CARRIED
from taxonomy import Node, Tree, tree_version
from taxonomy.edits import LoggedEdit, Merge, replay
from taxonomy.grow import GrownTree, additions

ROOTS = Tree("T", (Node("A"), Node("B")))
X = ("A", "G", "P", "X")
Y = ("A", "G", "P", "Y")


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "store") as opened:
        opened.put([Study(id="s", name="S")])
        yield opened


def grown_tree():
    grown = GrownTree(tree=ROOTS)
    for leaf in (X, Y):
        grown = grown.edited(additions(grown.tree, leaf, {}, by="judge", why="for: q", round_=1))
    return grown


def publish(store, draft, study_id="s"):
    with store.write() as writer:
        made = add_version(writer, study_id, draft, "2026-01-01")
        use_version(writer, study_id, made.version)
    return made


def test_a_version_is_its_parent_and_its_log(store):
    grown = grown_tree()
    draft = TreeDraft(tree=grown.tree, origin="induced", parent=ROOTS, entries=grown.log, note="n")
    made = publish(store, draft)
    assert (made.position, made.parent_version) == (0, tree_version(ROOTS))
    assert store.get(Study, "s").tree_version == made.version
    log = tree_log(store, "s", 0)
    assert log == grown.log
    *_, last = replay(load_tree(store, made.parent_version), log)
    assert last.tree == load_tree(store, made.version) == grown.tree


def test_a_return_to_an_older_tree_is_a_new_point(store):
    grown = grown_tree()
    merged = grown.edited([LoggedEdit(edit=Merge(Y, X), by="hand", why="same")])
    entries = merged.log[len(grown.log) :]
    publish(store, TreeDraft(tree=grown.tree, origin="induced"))
    publish(store, TreeDraft(tree=merged.tree, origin="hand", parent=grown.tree, entries=entries))
    publish(store, TreeDraft(tree=grown.tree, origin="hand", note="undone"))
    points = tree_versions(store, "s")
    assert [p.position for p in points] == [0, 1, 2]
    assert points[0].version == points[2].version != points[1].version
    assert len(store.select(TreeRecord)) == 2
    assert find_version(store, "s", "1") == points[1]
    assert find_version(store, "s", points[0].version[:6]) == points[2]
    with pytest.raises(UsageError, match="0 tree versions fit '7'"):
        find_version(store, "s", "7")


def test_the_tree_that_was_there_is_the_first_point(store):
    study = store.get(Study, "s")
    with store.write() as writer:
        begin_history(writer, study, grown_tree().tree, "2026-01-01")
        begin_history(writer, study, ROOTS, "2026-01-02")
        begin_history(writer, study.model_copy(update={"id": "t"}), None, "2026-01-02")
    (point,) = tree_versions(store, "s")
    assert (point.origin, point.version) == ("seed", tree_version(grown_tree().tree))
    assert tree_versions(store, "t") == []


def test_a_tree_that_is_not_there(store):
    with pytest.raises(DataError, match="no tree 'x'"):
        load_tree(store, "x")
    store.put([TreeRecord(version="x", name="x", body="{}")])
    with pytest.raises(DataError, match="can't be read"):
        load_tree(store, "x")


def mapping(criterion, leaf, state="scored"):
    return Mapping(
        criterion_id=criterion,
        tree_version="old",
        judge_id="j",
        prompt="mapping/1",
        state=state,
        leaf=leaf,
        detail="" if leaf else "why not",
    )


def test_results_are_carried_along():
    old = [mapping("a", X), mapping("b", Y), mapping("c", ("A", "G", "P", "Gone"))]
    old += [mapping("d", None, "unscored"), mapping("e", None, "failed")]
    moves = {Y: X, ("A", "G", "P", "Gone"): None}
    new = carried(old, moves, "new")
    assert [(m.criterion_id, m.leaf) for m in new] == [("a", X), ("b", X)]
    assert {(m.tree_version, m.prompt, m.state) for m in new} == {("new", CARRIED, "scored")}
    assert new[0].detail == "carried from tree old"
    assert new[1].detail == "carried from tree old, where it was A › G › P › Y"
    with_unscored = carried(old, moves, "new", with_unscored=True)
    assert [m.criterion_id for m in with_unscored] == ["a", "b", "d"]
    assert with_unscored[2].detail == "why not"


def test_the_study_s_criteria_in_its_order(store):
    def criteria_set(name, criteria, state="scored"):
        uses = tuple(
            CriterionUse(criterion_id=c, position=n, weight=1) for n, c in enumerate(criteria)
        )
        return CriteriaSet(
            id=name, sample_id=f"sample {name}", judge_id="j", prompt="p", state=state, uses=uses
        )

    store.put([criteria_set("1", ["a", "b"]), criteria_set("2", ["c"]), criteria_set("3", ["d"])])
    store.put([criteria_set("4", [], "unscored")])
    for position, name in enumerate(["2", "1", "4", None]):
        sample = f"sample {name}"
        place = StudySample(study_id="s", sample_id=sample, position=position, criteria_set_id=name)
        store.put([place])
    found = study_criteria(store, "s")
    assert list(found.items()) == [("c", "sample 2"), ("a", "sample 1"), ("b", "sample 1")]
    store.put([mapping("a", X), mapping("c", Y)])
    assert {c: m.leaf for c, m in leaf_mappings(store, "old", list(found)).items()} == {
        "a": X,
        "c": Y,
    }


def test_history_is_copied_and_deleted_with_its_study(store, tmp_path):
    grown = grown_tree()
    publish(store, TreeDraft(tree=grown.tree, origin="induced", parent=ROOTS, entries=grown.log))
    with Store.open(tmp_path / "other") as other:
        copy = copy_study(store, other, "s", "Copy")
        (point,) = tree_versions(other, copy.id)
        assert tree_log(other, copy.id, 0) == grown.log
        assert load_tree(other, point.parent_version) == ROOTS
    delete_study(store, "s")
    assert tree_versions(store, "s") == []
    assert tree_log(store, "s", 0) == ()
    assert len(store.select(TreeRecord)) == 2
