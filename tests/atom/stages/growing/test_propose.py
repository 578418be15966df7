"""Proposals: what is asked, and what the gate lets through."""

import json

import pytest

from atom.errors import DataError
from atom.stages.growing import propose
from atom.stages.growing.induction import SampleCriteria
from taxonomy.edits import replay
from taxonomy.grow import GrownTree, roots_of

HEIGHT = "Perception › Fine detail › Reading marks › Bar height"
NEW = "Reasoning › Quantitative › Arithmetic › Subtraction"
ADD = {"path": "Reasoning › Quantitative › Arithmetic", "name": "Subtraction", "meaning": "Take."}


@pytest.fixture
def batch(sample, criteria):
    return (SampleCriteria(sample=sample, criteria=criteria),)


@pytest.fixture
def taken(batch, tree, sampling, reply_of):
    """Return a function that lets a reply's text through the gate."""

    def take(text, start=tree):
        if not isinstance(text, str):
            text = json.dumps(text)
        reply = reply_of(propose.build(batch, start, sampling), text)
        questions = {c.id: c.question for c in batch[0].criteria}
        proposal = propose.parse(reply, batch)
        return propose.take(proposal, GrownTree(tree=start), questions, by="j", round_=1)

    return take


def places(*leaves, adds=()):
    ids = ("aaaa1111", "bbbb2222", "12345678")
    rows = [
        {"id": name, "leaf": leaf}
        for name, leaf in zip(ids, leaves, strict=False)
        if leaf is not None
    ]
    return {"adds": list(adds), "places": rows}


def test_request(batch, tree, sampling):
    request = propose.build(batch, tree, sampling)
    data = json.loads(request.parts[-1].text.split("\nBEGIN DATA\n")[1].split("\nEND DATA\n")[0])
    assert [root["name"] for root in data["roots"]] == ["Perception", "Reasoning"]
    assert data["tree"]["Perception"] == {
        "Fine detail": {
            "Reading marks": {"Bar height": "Read how far a bar reaches.", "Axis value": ""}
        }
    }
    (sample,) = data["samples"]
    assert [c["id"] for c in sample["criteria"]] == ["c1", "c2", "c3"]
    assert request.pictures == ()
    with pytest.raises(DataError, match="at least one"):
        propose.build((), tree, sampling)


def test_bare_roots_show_no_tree(batch, tree, sampling):
    request = propose.build(batch, roots_of(tree), sampling)
    assert '"tree": {}' in request.parts[-1].text


def test_a_leaf_is_used_again_however_it_is_written(taken, tree):
    done = taken(places(HEIGHT, HEIGHT.upper().replace(" › ", " > "), HEIGHT.split(" › ")))
    # The schema wants text, so a list takes the way of replies that break their schema.
    assert done.refused == {}
    assert done.grown.tree == tree
    assert done.grown.log == ()
    assert set(done.grown.leaf_of.values()) == {tuple(HEIGHT.split(" › "))}


def test_a_new_leaf_needs_its_add(taken, tree):
    done = taken(places(HEIGHT, NEW, NEW, adds=[ADD]))
    assert done.refused == {}
    (entry,) = done.grown.log
    assert entry.edit.name == "Subtraction"
    assert entry.edit.meaning == "Take."
    assert (entry.by, entry.round) == ("j", 1)
    assert entry.why == "for: Which value has May?"
    without = taken(places(HEIGHT, NEW, NEW))
    assert len(without.refused) == 2
    assert all("neither in the tree nor added" in why for why in without.refused.values())
    assert without.grown.tree == tree


def test_parents_come_first_on_bare_roots(taken, tree):
    start = roots_of(tree)
    done = taken(places(NEW, adds=[ADD]), start)
    assert [entry.edit.name for entry in done.grown.log] == [
        "Quantitative",
        "Arithmetic",
        "Subtraction",
    ]
    *_, last = replay(start, done.grown.log)
    assert last.tree == done.grown.tree
    assert sorted(done.refused.values()) == ["The judge gave no place for this criterion."] * 2


def test_adds_that_nothing_hangs_on_are_left_out(taken, tree):
    unused = {"path": "Reasoning › Magic", "name": "Wands", "meaning": ""}
    assert taken(places(HEIGHT, HEIGHT, HEIGHT, adds=[unused, ADD])).grown.tree == tree


def bad(path, name):
    return {"path": path, "name": name, "meaning": ""}


@pytest.mark.parametrize(
    ("leaf", "adds", "words"),
    [
        ("Reasoning › Quantitative › Arithmetic", [], "has 3 names"),
        ("Bar height", [], "has 1 names"),
        (f"{HEIGHT} › March", [bad(HEIGHT, "March")], "has 5 names"),
        ("Vision › A › Bb › Cc", [bad("Vision › A › Bb", "Cc")], "'Vision' is no root"),
        ("Reasoning › Qq › Aa › 123", [bad("Reasoning › Qq › Aa", "123")], "can't be a name"),
        (f"Reasoning › Qq › Aa › {'long ' * 20}", [], "can't be a name"),
        ("", [], "gave no place"),
        ("   ", [], "gave no place"),
    ],
)
def test_what_is_refused(taken, tree, leaf, adds, words):
    done = taken(places(leaf, HEIGHT, HEIGHT, adds=adds))
    (why,) = done.refused.values()
    assert words in why
    assert len(done.grown.leaf_of) == 2
    assert done.grown.tree == tree


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I can't say.", "JSON"),
        ('{"not_covered": "no idea"}', "not covered: no idea"),
        ('{"adds": [], "places": 4}', "no place"),
        ('{"adds": [], "places": [4, null, {"id": 4}]}', "no place"),
        ('{"adds": [], "places": [{"id": "ffffffff", "leaf": "A"}]}', "no place"),
        ('{"adds": {}, "places": []}', "no place"),
    ],
)
def test_useless_replies_leave_everything_as_it_was(taken, tree, text, words):
    done = taken(text)
    assert len(done.refused) == 3
    assert all(words in why for why in done.refused.values())
    assert done.grown.tree == tree


def test_two_places_for_one_criterion_are_none(taken):
    twice = places(HEIGHT, HEIGHT, HEIGHT, adds=[ADD])
    twice["places"][2] = {"id": "aaaa1111", "leaf": NEW}
    done = taken(twice)
    assert any("different places" in why for why in done.refused.values())


@pytest.mark.parametrize(
    "adds",
    [
        None,
        "x",
        [4],
        [{}],
        [{"path": 4, "name": "A"}],
        [{"path": "Reasoning", "name": ""}],
        [{"path": "", "name": "New root"}],
    ],
)
def test_odd_adds_add_nothing(taken, tree, adds):
    assert taken({**places(HEIGHT, HEIGHT, HEIGHT), "adds": adds}).grown.tree == tree
