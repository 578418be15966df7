"""Validity: the verdict, the rivals, stability."""

from __future__ import annotations

from dataclasses import replace

import pytest

from atom.analysis.capability.validity import leave_one_out
from atom.records import Mapping
from atom.store import Store, TreeDraft, add_version, find_study, leaf_mappings, load_tree
from atom.store.reading.rivals import rival_trees
from atom.store.trees import begin_history
from atom.views.study_data import load_study
from atom.views.tree import validity as module
from atom.views.tree.node_table import placed
from atom.views.tree.validity import tree_validity
from taxonomy import tree_version
from taxonomy.edits import LoggedEdit, Merge, apply
from taxonomy.prune import RULE
from tests.app.tree_store import make_tree_store
from tests.factories import STUDY, open_small


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make_tree_store(tmp_path_factory.mktemp("valid"), 12, samples=60)


@pytest.fixture(scope="module")
def view(made):
    with Store.open(made.folder) as store:
        told = []
        found = tree_validity(
            store, load_study(store, made.study.id), lambda *step: told.append(step)
        )
    assert told[-1][0] == "stability"
    return found


def test_the_planted_tree_is_valid_and_first(view):
    assert view.own.verdict.valid()
    assert view.rank == 1
    assert (view.own.leaves, view.own.placed, view.own.thin) == (12, 240, 0)
    assert (view.scores, view.samples, view.permutations) == (960, 60, 199)


def test_rivals_stand_beside_it(view):
    names = [row.name for row in view.rivals]
    assert names == ["No data (seed tree)", "Hand-made", "Generalist", "By text", "Random"]
    random = view.rivals[-1]
    assert not random.verdict.valid()
    assert random.leaves == 12
    assert any(words.startswith("By picture") for words in view.left_out)
    assert any(words.startswith("No prune") for words in view.left_out)
    assert view.stability is None


@pytest.mark.slow
def test_a_rival_that_a_judge_mapped_is_held_against_it_as_it_was_mapped(tmp_path):
    made = make_tree_store(tmp_path / "mapped", 12, samples=20)
    with Store.open(made.folder) as store:
        data = load_study(store, made.study.id)
        before = tree_validity(store, data)
        assert [row.name for row in before.guessed] == [
            "No data (seed tree)", "Hand-made", "Generalist"
        ]  # fmt: skip
        where = placed(store, data)
        rival = next(one for one in rival_trees(store, data.study) if one.kind == "generalist")
        own = leaf_mappings(store, data.study.tree_version, list(where.criterion))
        # The same judge finds a leaf for the first half, and none for the rest.
        first = set(where.criterion[: len(where.criterion) // 2])
        store.put([
            one.model_copy(update={
                "tree_version": rival.version,
                "state": "scored" if name in first else "unscored",
                "leaf": rival.tree.leaves[number % 2] if name in first else None,
            })
            for number, (name, one) in enumerate(own.items())
        ])  # fmt: skip
        after = tree_validity(store, load_study(store, made.study.id))
    row = next(row for row in after.rivals if row.name == "Generalist")
    assert (row.leaves, row.placed, row.guessed) == (2, len(first), False)
    assert row.about.endswith("mapped by the same judge")
    assert [row.name for row in after.guessed] == ["No data (seed tree)", "Hand-made"]


def test_the_papers_numbers_are_those_of_leave_one_out(made, view):
    with Store.open(made.folder) as store:
        data = load_study(store, made.study.id)
        rows = module._rows(data, placed(store, data))
        group = module.renumber(list(placed(store, data).leaf))
    atoms = module.Atoms(
        score=rows.atoms.score, model=rows.atoms.model, sample=rows.atoms.sample,
        leaf=group[rows.criterion],
    )  # fmt: skip
    assert leave_one_out(atoms) == view.own.verdict.loo


def test_equal_data_give_an_equal_verdict(made, view):
    with Store.open(made.folder) as store:
        assert tree_validity(store, load_study(store, made.study.id)) == view


def test_a_missing_score_does_not_shift_the_others(tmp_path):
    with open_small(tmp_path) as store:
        data = load_study(store, STUDY)
        where = placed(store, data)
        rows = module._rows(data, where)
        place = module._places(rows.criterion, where.sample)
    # Three criteria a sample, in the order of its leaves, whoever has no score.
    assert set(zip(rows.criterion % 3, place, strict=True)) == {(0, 0), (1, 1), (2, 2)}
    assert len(place) == 42  # 5 samples x 3 candidates x 3, less three without a score


def test_too_little_is_no_verdict(tmp_path):
    with open_small(tmp_path) as store:
        imported = load_study(store, "Imported")
        assert tree_validity(store, imported) is None


def grow(store, study, tree, entries, share):
    """Add a grown version in which a share of the criteria keeps its leaf."""
    parent = load_tree(store, study.tree_version)
    version = tree_version(tree)
    data = load_study(store, study.id)
    where = placed(store, data)
    leaves = tree.leaves
    records = [
        Mapping(
            criterion_id=criterion, tree_version=version, judge_id="j", prompt="mapping/1",
            state="scored", leaf=leaf if n < share * len(where.leaf) else leaves[n % len(leaves)],
        )
        for n, (criterion, leaf) in enumerate(zip(where.criterion, where.leaf, strict=True))
    ]  # fmt: skip
    with store.write() as writer:
        begin_history(writer, study, parent, "")
        add_version(
            writer, study.id,
            TreeDraft(tree=tree, origin="induced", parent=parent, entries=entries), "",
        )  # fmt: skip
        writer.put(records)


def test_two_grown_trees_are_compared(tmp_path):
    made = make_tree_store(tmp_path, 12, samples=30)
    with Store.open(made.folder) as store:
        study = find_study(store, made.study.id)
        leaves = made.tree.leaves
        one = apply(made.tree, Merge(leaves[1], leaves[2])).tree
        other = apply(made.tree, Merge(leaves[3], leaves[2])).tree
        grow(store, study, one, (LoggedEdit(edit=Merge(leaves[1], leaves[2]), by="judge"),), 1.0)
        grow(store, study, other, (LoggedEdit(edit=Merge(leaves[3], leaves[2]), by="judge"),), 0.8)
        found = tree_validity(store, load_study(store, made.study.id)).stability
    assert (found.first, found.second, found.n) == (1, 2, 120)
    assert 0.3 < found.ari < 0.9
    assert 0.3 < found.ami < 1


def test_the_tree_before_pruning_is_a_rival(tmp_path):
    made = make_tree_store(tmp_path, 12, samples=30)
    with Store.open(made.folder) as store:
        study = find_study(store, made.study.id)
        leaves = made.tree.leaves
        edit = Merge(leaves[1], leaves[2])
        pruned = apply(made.tree, edit).tree
        grow(store, study, pruned, (LoggedEdit(edit=edit, by=RULE),), 0.0)
        store.replace([study.model_copy(update={"tree_version": tree_version(pruned)})])
        view = tree_validity(store, load_study(store, made.study.id))
    assert view.rivals[0].name == "No prune"
    assert 11 <= view.rivals[0].leaves <= 12


def test_rivals_that_differ_by_chance_alone_are_level(view):
    own = view.own
    near = replace(
        own, verdict=replace(own.verdict, delta_adjusted=own.verdict.delta_adjusted + 0.0005)
    )
    above = replace(own, verdict=replace(own.verdict, delta_adjusted=9.0))
    found = replace(view, rivals=(near, above))
    assert found.level == (near,)
    assert found.ahead == (above,)
    assert found.rank == 2
