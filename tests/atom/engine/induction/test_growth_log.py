"""What a growing tree tells those who watch it."""

import pytest

from atom.engine.induction.growth_log import GrowthLog, growth_file, read_growth
from atom.store import Store
from taxonomy import Node, Tree
from taxonomy.edits import Add, LoggedEdit
from taxonomy.grow import GrownTree

FIRST = LoggedEdit(edit=Add(("A",), "B"), by="m", why="w", round=1)
SECOND = LoggedEdit(edit=Add(("A", "B"), "C › D"), by="m", round=2)
LEAF = ("A", "B", "C › D")


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "store") as opened:
        yield opened


def grown(*entries, **held):
    return GrownTree(tree=Tree("T", (Node("A"),)), log=entries, leaf_of=held)


def test_edits_come_back_in_order_and_once(store):
    log = GrowthLog(growth_file(store, "i"))
    log.take(grown(FIRST))
    log.take(grown(FIRST, SECOND, c1=LEAF, c2=LEAF))
    watched = read_growth(store, "i")
    assert watched.entries == (FIRST, SECOND)
    assert watched.held == {LEAF: 2}


def test_whoever_begins_anew_forgets_what_was_told(store):
    GrowthLog(growth_file(store, "i")).take(grown(FIRST))
    GrowthLog(growth_file(store, "i")).take(grown())
    assert read_growth(store, "i").entries == ()


@pytest.mark.parametrize("end", ['{"edit": "{\\"kind\\"', "[]\n", '{"edit": "x", "by": 1}\n', "\0"])
def test_a_line_half_written_or_damaged_ends_the_reading(store, end):
    GrowthLog(growth_file(store, "i")).take(grown(FIRST))
    with growth_file(store, "i").open("a", encoding="utf-8") as out:
        out.write(end)
    assert read_growth(store, "i").entries == (FIRST,)


def test_nobody_has_told_yet(store):
    assert read_growth(store, "i").entries == ()
