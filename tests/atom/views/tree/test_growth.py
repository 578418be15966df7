"""The picture of a growing tree: it keeps its places, and counts what happened."""

import math

from hypothesis import given
from hypothesis import strategies as st

from atom.views.tree.growth import growth_view
from taxonomy import Node, Tree
from taxonomy.edits import Add, Drop, LoggedEdit, Merge, Rename

ROOTS = Tree("T", (Node("Perception"), Node("Reasoning")))
JUDGE = "m, propose/2"


def leaf(*names):
    """Return the edits that add a leaf, upper nodes first."""
    return [LoggedEdit(edit=Add(names[:d], names[d]), by=JUDGE) for d in range(1, len(names))]


DIALS = ("Perception", "Dials", "Scales")
FIRST = [*leaf(*DIALS, "Needle"), LoggedEdit(edit=Add(DIALS, "Pointer"), by=JUDGE)]


def test_what_was_drawn_stays_where_it_was():
    one = growth_view(ROOTS, FIRST, {})
    later = [*FIRST, *leaf("Reasoning", "Numbers", "Arithmetic", "Sum")]
    two = growth_view(ROOTS, later, {}, one)
    assert two.tree == growth_view(ROOTS, later, {}).tree
    assert all(two.places[path] == place for path, place in one.places.items())
    fresh = {node.path for node in two.nodes if node.fresh}
    assert fresh == {("Reasoning", "Numbers", "Arithmetic", "Sum")[:d] for d in (2, 3, 4)}


def test_counts_and_events():
    needle, pointer = (*DIALS, "Needle"), (*DIALS, "Pointer")
    entries = [
        *FIRST,
        LoggedEdit(edit=Add(DIALS, "Various"), by=JUDGE),
        LoggedEdit(edit=Merge(pointer, needle), by="m, same/1", why="one ability"),
        LoggedEdit(edit=Drop((*DIALS, "Various")), by="m, vague/1", why="vague: says nothing"),
        LoggedEdit(edit=Rename(needle, "Needle position"), by="hand"),
    ]
    view = growth_view(ROOTS, entries, {(*DIALS, "Needle position"): 7})
    assert (view.leaves, view.added, view.united, view.pruned, view.placed) == (1, 3, 1, 1, 7)
    renamed, dropped, united, *_ = view.events
    assert (renamed.kind, renamed.what, renamed.into) == (
        "renamed",
        "Scales › Needle",
        "Needle position",
    )
    assert (dropped.kind, dropped.into) == ("pruned", "")
    assert (united.kind, united.into, united.why) == ("united", "Scales › Needle", "one ability")
    # Criteria count upwards: a leaf of 7 makes its three ancestors and the middle 7, too.
    assert [node.criteria for node in view.nodes if node.path[:1] != ("Reasoning",)] == [7] * 5


def test_a_growth_that_began_anew_is_drawn_anew():
    one = growth_view(ROOTS, FIRST, {})
    again = growth_view(ROOTS, FIRST[:2], {}, one)
    assert again.tree == growth_view(ROOTS, FIRST[:2], {}).tree
    assert again.n_edits == 2


def test_a_merge_for_want_of_support_is_pruning():
    entries = [
        *FIRST,
        LoggedEdit(edit=Merge((*DIALS, "Pointer"), (*DIALS, "Needle")), by="rule: support"),
    ]
    view = growth_view(ROOTS, entries, {})
    assert (view.united, view.pruned, view.events[0].kind) == (0, 1, "pruned")


def test_bare_roots_are_a_picture_too():
    view = growth_view(ROOTS, (), {})
    assert [node.path for node in view.nodes] == [(), ("Perception",), ("Reasoning",)]
    assert view.edges == ((0, 1), (0, 2))
    assert view.events == ()


@given(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=6, unique=True))
def test_every_node_has_a_finite_place_and_an_edge(names):
    entries = [*leaf("Perception", "Dials", "Scales", "x")]
    entries += [LoggedEdit(edit=Add(DIALS, name), by=JUDGE) for name in names]
    view = growth_view(ROOTS, entries, {})
    assert all(math.isfinite(node.x) and math.isfinite(node.y) for node in view.nodes)
    assert sorted(child for _, child in view.edges) == list(range(1, len(view.nodes)))
