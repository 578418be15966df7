"""Growing a tree with a judge that is a plain function."""

import asyncio
import itertools
import json
import random

import numpy as np
import pytest

from atom.engine.induction.growing import (
    PAIRS,
    GrowSettings,
    grow,
    leaf_texts,
    nearest_leaf,
)
from atom.judge import CallRefused, Reply
from atom.records import Call, Criterion, Sample, Sampling
from atom.stages.growing.induction import SampleCriteria
from taxonomy import Node, Tree
from taxonomy.edits import Drop, Merge, replay
from taxonomy.grow import GrownTree
from taxonomy.prune import support

ROOTS = Tree("T", (Node("Perception"), Node("Reasoning")))
SKILLS = {
    "How high is the bar?": ("Perception", "Charts", "Marks", "Bar height"),
    "What does the needle show?": ("Perception", "Dials", "Scales", "Needle"),
    "What is the difference?": ("Reasoning", "Numbers", "Arithmetic", "Difference"),
}
OTHER_NAMES = {"Needle": "Pointer position", "Difference": "Subtraction of two"}


def cuts_of(*counts):
    """Make samples that ask each skill so many times, one criterion a sample."""
    out = []
    for question, count in zip(SKILLS, counts, strict=True):
        for number in range(count):
            sample = Sample(id=f"{question[:8]}{number}", dataset="d", question="Look.")
            criterion = Criterion(
                id=f"{len(out):08d}x", sample_id=sample.id, question=question, ground_truth="g"
            )
            out.append(SampleCriteria(sample=sample, criteria=(criterion,)))
    random.Random(3).shuffle(out)
    return out


class Judge:
    """Replies from a rule; every second proposal uses another name for some skills.

    The first `bad_first` proposals name no leaf.
    """

    def __init__(self, *, loose=False, same=True, refuse=(), bad_first=0, vague=()):
        self.loose, self.same, self.refuse, self.bad_first = loose, same, refuse, bad_first
        self.vague = list(vague)
        self.phases = []
        self.pairs = []
        self.proposals = 0

    async def __call__(self, phase, requests):
        self.phases += [phase] * len(requests)
        return [self.reply(request) for request in requests]

    def reply(self, request):
        data = json.loads(request.parts[-1].text.split("BEGIN DATA\n")[1].split("\nEND DATA")[0])
        if request.task == "propose":
            self.proposals += 1
            if self.proposals in self.refuse:
                return CallRefused("the server refuses this text")
            made = self.propose(data)
        elif request.task == "vague":
            named = self.vague.pop(0) if self.vague else ()
            made = {
                "leaves": [
                    {"id": one["id"], "reason": "says nothing", "vague": one["path"] in named}
                    for one in data["leaves"]
                ]
            }
        else:
            made = {"pairs": [self.compare(pair) for pair in data["pairs"]]}
        call = Call(
            id="c", request_hash="h", task="t", endpoint="e", model="m", prompt="p", reply="{}"
        )
        return Reply(state="ok", text="", call=call, data=made)

    def propose(self, data):
        adds, places = [], []
        for sample in data["samples"]:
            for item in sample["criteria"]:
                leaf = SKILLS[item["question"]]
                if self.loose and self.proposals % 2:
                    leaf = (*leaf[:3], OTHER_NAMES.get(leaf[3], leaf[3]))
                if self.proposals <= self.bad_first:
                    leaf = leaf[:3]
                path = " › ".join(leaf[:-1])
                adds.append({"path": path, "name": leaf[-1], "meaning": ""})
                places.append({"id": item["id"], "leaf": " › ".join(leaf)})
        return {"adds": adds, "places": places}

    def compare(self, pair):
        first, second = (pair[side]["path"].split(" › ") for side in ("first", "second"))
        self.pairs.append((tuple(first), tuple(second)))
        names = {OTHER_NAMES.get(path[-1], path[-1]) for path in (first, second)}
        return {"id": pair["id"], "reason": "r", "same": self.same and len(names) == 1}


def run(judge, cuts, **settings):
    return asyncio.run(
        grow(
            judge,
            cuts,
            ROOTS,
            GrowSettings(batch=3, **settings),
            judge="m",
            sampling=Sampling(temperature=0.0),
        )
    )


def test_the_skills_come_back():
    judge = Judge()
    growth = run(judge, cuts_of(6, 7, 8))
    assert set(growth.grown.tree.leaves) == set(SKILLS.values())
    assert growth.unplaced == {}
    assert growth.refused == ()
    assert judge.phases.count("proposing") == 7
    *_, last = replay(ROOTS, growth.grown.log)
    assert last.tree == growth.grown.tree


def test_two_names_of_one_skill_become_one_after_two_yeses():
    judge = Judge(loose=True)
    growth = run(judge, cuts_of(12, 14, 12))
    assert len(growth.grown.tree.leaves) == 3
    merged = [entry for entry in growth.grown.log if isinstance(entry.edit, Merge)]
    assert {entry.by for entry in merged} == {"m, same/1"}
    for entry in merged:
        pair = (entry.edit.path, entry.edit.into)
        assert pair in judge.pairs
        assert pair[::-1] in judge.pairs
    assert len(growth.grown.leaf_of) == 38


def test_a_judge_that_sees_no_duplicates_leaves_them_to_the_support():
    growth = run(Judge(loose=True, same=False), cuts_of(12, 12, 12), rounds=1)
    counts = support(growth.grown, {c: c for c in growth.grown.leaf_of})
    assert all(count.criteria >= 5 for count in counts.values())


def test_pairs_are_asked_once_as_long_as_nothing_changed():
    judge = Judge(same=False)
    run(judge, cuts_of(9, 9, 9), rounds=5)
    assert len(judge.pairs) == len(set(judge.pairs)) < PAIRS


def test_what_the_gate_refuses_is_asked_again_once():
    judge = Judge(bad_first=6)
    growth = run(judge, cuts_of(6, 6, 6))
    assert len(growth.refused) == 18
    assert "has 3 names" in growth.refused[0][1]
    assert growth.unplaced == {}
    assert {entry.round for entry in growth.grown.log} == {2}


def test_a_request_that_is_refused_for_good_costs_its_batch_one_more_try():
    growth = run(Judge(refuse=(2,)), cuts_of(6, 6, 6))
    assert len(growth.refused) == 3
    assert growth.unplaced == {}
    lost = run(Judge(refuse=range(2, 99)), cuts_of(6, 6, 6), min_criteria=1, min_samples=1)
    assert len(lost.unplaced) == 15
    assert set(lost.unplaced.values()) == {"the server refuses this text"}


def test_thin_skills_join_their_relatives_or_go():
    growth = run(Judge(), cuts_of(9, 2, 9))
    last = growth.grown.log[-1]
    assert last.by == "rule: support"
    assert isinstance(last.edit, Drop | Merge)
    assert last.edit.path == SKILLS["What does the needle show?"]


def test_the_order_does_not_matter():
    cuts = cuts_of(10, 10, 10)
    one = run(Judge(loose=True), cuts).grown
    other = run(Judge(loose=True), cuts[::-1]).grown

    def groups(grown):
        made = {}
        for criterion, leaf in grown.leaf_of.items():
            made.setdefault(leaf, set()).add(criterion)
        return sorted(map(sorted, made.values()))

    assert groups(one) == groups(other)


def test_nearest_of_a_leaf():
    bar, needle, difference = SKILLS.values()
    dot = (*bar[:3], "Dot height")
    grown = GrownTree(
        tree=run(Judge(), cuts_of(6, 6, 6)).grown.tree,
        leaf_of={"a": bar, "b": needle, "c": difference},
    )
    texts = leaf_texts(grown, {"a": "How high?", "b": "Where?", "c": "How much?"})
    assert texts[bar].endswith("How high?")
    nearest = nearest_leaf(grown, {"a": "How high?", "b": "Where?", "c": "How much?"})
    assert nearest(bar, [needle, difference]) in (needle, None)
    assert nearest(difference, [bar]) is None
    with pytest.raises(KeyError):
        nearest(dot, [bar])


def test_vectors_find_duplicates_that_letters_do_not():
    texts_seen = []

    async def embed(texts):
        texts_seen.extend(texts)
        places = [(1.0, 0.0) if "Bar" in text or "Needle" in text else (0.0, 1.0) for text in texts]
        return np.array(places, dtype=np.float32)

    def grown(judge, embed):
        return asyncio.run(
            grow(
                judge,
                cuts_of(6, 6, 6),
                ROOTS,
                GrowSettings(batch=3, rounds=1),
                judge="m",
                sampling=Sampling(temperature=0.0),
                embed=embed,
            )
        )

    _, needle, _ = SKILLS.values()
    bar = SKILLS["How high is the bar?"]
    alone, helped = Judge(), Judge()
    grown(alone, None)
    grown(helped, embed)
    assert {bar, needle} in [set(pair) for pair in helped.pairs]
    assert set(alone.pairs) <= set(helped.pairs)
    assert any(text.startswith("Needle. ") for text in texts_seen)

    async def nothing(_texts):
        return None

    without = Judge()
    grown(without, nothing)
    assert without.pairs == alone.pairs


# Weeding

DIFFERENCE = "Reasoning › Numbers › Arithmetic › Difference"


def test_a_leaf_that_is_called_vague_twice_goes_and_the_log_says_who_and_why():
    grown = run(Judge(vague=[(DIFFERENCE,), (DIFFERENCE,)]), cuts_of(9, 9, 9)).grown
    assert DIFFERENCE not in [" › ".join(leaf) for leaf in grown.tree.leaves]
    (entry,) = [entry for entry in grown.log if entry.by == "m, vague/1"]
    assert entry.why.startswith("vague: says nothing")
    assert isinstance(entry.edit, Drop | Merge)


def test_one_opinion_takes_no_leaf_out():
    grown = run(Judge(vague=[(DIFFERENCE,), ()]), cuts_of(9, 9, 9)).grown
    assert DIFFERENCE in [" › ".join(leaf) for leaf in grown.tree.leaves]


def test_whoever_watches_sees_every_edit_in_order():
    seen = []

    async def told(grown):
        seen.append(grown.log)

    judge = Judge(loose=True)
    done = asyncio.run(
        grow(
            judge,
            cuts_of(9, 9, 9),
            ROOTS,
            GrowSettings(batch=3, wave=1),
            judge="m",
            sampling=Sampling(temperature=0.0),
            told=told,
        )
    )
    assert len(seen) > 5
    assert all(later[: len(earlier)] == earlier for earlier, later in itertools.pairwise(seen))
    assert seen[-1] == done.grown.log
