"""Judge lab, hard pairs: four steps on screen, and people who confirm at their desk."""

from __future__ import annotations

import html

import pytest

from atom.judgebench.vl_rewardbench.ask import HARD_PART, PAIR_PROMPT, orders_of
from atom.records import Annotation, Judge, KnownPair, PairsTask, Response, Run, Sampling, Verdict
from atom.stages.verdicts import blank
from atom.store import Store
from atom.store.standing.answers import compared_answers
from atom.ui.people.acts import Act, preferred
from atom.ui.people.deck import deck_items
from atom.ui.people.desk import Desk
from atom.views.lab.hard_pairs import hard_pairs
from atom.views.stores import OpenStore
from atom.views.study_data import load_study
from tests.app.screen_store import HOSTILE, make_store

PAGE = "pages/trust/judge_lab.py"
WARM = Sampling(temperature=0.7)
VOTES = 2
RIGHT = {"weak-a": (0, 4, 1), "weak-b": (1, 0, 4), "strong": (4, 0, 2)}
"""Right votes of each judge, out of four, on pairs 0, 1, 2, 0, 1, 2, ..."""


@pytest.fixture
def made(tmp_path):
    """Put a finished run into a store without asking anybody."""
    made = make_store(tmp_path / "own")
    judges = [Judge(id=f"id-{name}", name=f"{name} {HOSTILE}" if name == "weak-a" else name,
                    kind="model", endpoint=name) for name in RIGHT]  # fmt: skip
    with Store.open(made.folder) as store:
        answers = compared_answers(store, made.study)
        pairs = []
        for sample, group in answers.items():
            ids = sorted(one.id for one in group)
            if len(ids) > 1:
                pairs.append(KnownPair(sample_id=sample, a=ids[0], b=ids[1], better="a",
                                       by="outcome"))  # fmt: skip
        task = PairsTask(
            kind="pairs", pairs=tuple(pairs), weak=("weak-a", "weak-b"),
            weak_ids=("id-weak-a", "id-weak-b"), strong="strong", strong_id="id-strong",
            votes=VOTES, fail=1, sampling=WARM,
        )  # fmt: skip
        store.put(judges)
        store.put([Run(id="hard1", study_id=made.study.id, task=task, state="done",
                       created="2026-01-01T00:00:00Z")])  # fmt: skip
        votes = []
        for name, rights in RIGHT.items():
            for at, pair in enumerate(pairs):
                for vote, order in enumerate(orders_of(pair.name, 2 * VOTES)):
                    empty = blank(made.study.id, pair.name, HARD_PART, f"id-{name}", PAIR_PROMPT,
                                  WARM, repeat=vote, order=order)  # fmt: skip
                    label = "a" if vote < rights[at % 3] else "b"
                    votes.append(empty.model_copy(update={"state": "scored", "label": label}))
        store.put(votes)
        assert len({one.key for one in votes}) == len(store.select(Verdict))
    return made, pairs


@pytest.mark.slow
def test_the_tab_shows_four_steps_and_whom_the_set_cannot_rank(open_app, made):
    store, pairs = made
    seen = open_app(store.folder, PAGE, {"tab": "pairs"})
    assert not seen.test.exception
    words = html.unescape(seen.markup)
    # Pairs 0, 1, 2, 0, ...: weak-a fails at the first and third, weak-b at the first and second.
    assert f"{len(pairs)} of {len(pairs)} pairs are hard" in words
    kept = len(pairs[::3])
    assert f"{kept} confirmed pair" in words
    assert "can’t rank these judges" in words
    for step in ("1. Pairs", "2. Weak judges", "3. Somebody", "4. The set", "More votes make"):
        assert step in words
    assert "<script>window.pwned" not in seen.markup


@pytest.mark.slow
def test_where_no_pair_is_hard_the_set_says_how_to_find_some(open_app, made):
    store, pairs = made
    with Store.open(store.folder) as opened:
        (run,) = opened.select(Run)
        # At pairs 1, 4, ... weak-a is always right and weak-b never: both fail at none.
        sure = tuple(pairs[1::3])
        task = run.task.model_copy(update={"pairs": sure, "fail": 2})
        opened.put([run.model_copy(update={"id": "hard2", "task": task,
                                           "created": "2026-01-02T00:00:00Z"})])  # fmt: skip
    words = html.unescape(open_app(store.folder, PAGE, {"tab": "pairs"}).markup)
    assert f"0 of {len(sure)} pairs are hard" in words
    assert "there is no set to make" in words
    assert "call a pair hard where fewer than 2 fail" in words
    assert "were chosen because" not in words


def test_people_confirm_a_pair_and_overrule_the_strong_judge(made):
    store, pairs = made
    with OpenStore.open(store.folder) as opened:
        data = load_study(opened, store.study.id)
        desk = Desk(opened, data, "pairs", "Ann", "random")
        assert [item.subject_id for item in desk.items] == [pair.name for pair in pairs]
        drawn = deck_items(desk)[0]
        assert drawn["keys"] == ["1", "2", "3"]
        first, second = desk.items[:2]
        # The strong judge keeps the first pair and drops the second.
        place = 1 + first.response_ids.index(pairs[0].b)
        desk.take([Act(number=1, item=first.id, do="give", key=str(place))])
        desk.take([Act(number=2, item=second.id, do="give", key="3")])
        assert [one.label for one in opened.select(Annotation) if one.kind == "preference"]
        view = hard_pairs(opened, data)
        assert [case.decision for case in view.cases[:3]] == ["invert", "vague", "vague"]
        assert (preferred(first, 4), preferred(first, 3)) == ("", "tie")
        texts = {one.id: one.text for one in opened.select(Response)}
        assert texts[first.response_ids[0]][:20] in html.unescape(str(drawn["html"]))
