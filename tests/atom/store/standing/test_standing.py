"""What counts, rule by rule, on a study with one of everything awkward."""

from __future__ import annotations

import pytest

from atom.records import (
    APART,
    Candidate,
    Checkpoint,
    CriteriaSet,
    CriterionUse,
    Import,
    Outcome,
    Replay,
    Response,
    Sample,
    Sampling,
    Study,
    StudyCandidate,
    StudySample,
)
from atom.store import Store, count_study, study_candidates, study_places
from atom.store.standing.answers import answers_to, compared_answers, first_answers, study_answers
from atom.store.standing.criteria import in_order, quarantined, standing_sets
from atom.store.standing.marks import marks_of, prompt_order, scores_of
from atom.store.standing.members import of_settings
from atom.store.standing.outcomes import outcomes_of, settled_outcomes, values_of

WANTED = Sampling(temperature=0.7)
STUDY = Study(id="t", name="T", judge_id="mine", answer_sampling=WANTED)


def answer(name: str, **told) -> Response:
    given = {"sample_id": "s", "candidate_id": "m", "prompt": "answer/1", "sampling": WANTED}
    return Response(id=name, **{**given, "text": "x", **told})


def outcome(how: str, value: float | None, judge: str = "", response: str = "a") -> Outcome:
    state = "unscored" if value is None else "scored"
    return Outcome(response_id=response, how=how, judge_id=judge, value=value, state=state)


def mark(key: str, score: int | None, **told) -> Checkpoint:
    given = {"criterion_id": "c", "response_id": "a", "judge_id": "mine", "prompt": "scoring/9"}
    return Checkpoint(
        key=key, state="unscored" if score is None else "scored", score=score, **{**given, **told}
    )


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "s") as opened:
        opened.put([
            STUDY,
            Sample(id="s", dataset="d", question="?"), Sample(id="z", dataset="d", question="?"),
            Candidate(id="m", name="m"), Candidate(id="n", name="n"),
            StudySample(study_id="t", sample_id="s", position=0),
            StudyCandidate(study_id="t", candidate_id="m", position=1),
            StudyCandidate(study_id="t", candidate_id="n", position=0),
        ])  # fmt: skip
        yield opened


def test_what_a_study_leaves_open_may_be_anything():
    open_ = Sampling(temperature=0.7, seed=3, reasoning_effort="low")
    assert of_settings("answer/1", open_, WANTED)
    assert not of_settings("answer/1", Sampling(temperature=0.6), WANTED)
    assert not of_settings("answer/1", Sampling(), WANTED)
    assert of_settings("typed", Sampling(), WANTED)
    assert of_settings("imported", Sampling(temperature=1.0), WANTED)


def test_a_study_has_its_own_answers_and_no_other(store):
    store.put([
        answer("own"), answer("second", repeat=1), answer("hot", sampling=Sampling(temperature=1)),
        answer("typed", prompt="typed", sampling=Sampling(), candidate_id="n"),
        answer("imported", prompt="imported", sampling=Sampling(), candidate_id="n"),
        answer("again", arm="told", parent_id="own"), answer("stranger", candidate_id="q"),
        answer("elsewhere", sample_id="z"),
    ])  # fmt: skip
    wanted = {"own", "second", "typed", "imported"}
    assert {one.id for one in study_answers(store, STUDY)} == wanted
    assert {one.id for one in answers_to(store, STUDY, "s")} == wanted
    assert count_study(store, "t").responses == len(wanted)
    assert [one.id for one in compared_answers(store, STUDY)["s"]] == ["imported", "own"]


def test_the_first_answer_is_the_first_one_with_a_text(store):
    store.put([
        answer("silent", text=""), answer("lost", state="failed", repeat=1),
        answer("there", repeat=2),
        answer("nothing", candidate_id="n", prompt="imported", text=""),
    ])  # fmt: skip
    found = first_answers(study_answers(store, STUDY))
    assert {key[1]: one.id for key, one in found.items()} == {"m": "there", "n": "nothing"}
    assert not found["s", "n"].judgeable
    assert [one.id for one in compared_answers(store, STUDY)["s"]] == ["there"]


@pytest.mark.parametrize(
    ("there", "how"),
    [
        ([("judge", 1, "other"), ("judge", 0, "mine"), ("exact", 1, ""), ("imported", 0.5, "")],
         "imported"),
        ([("judge", 1, "other"), ("judge", 0, "mine"), ("exact", 1, ""), ("imported", None, "")],
         "exact"),
        ([("judge", 1, "other"), ("judge", 0, "mine"), ("choice", None, "")], "mine"),
        ([("judge", 1, "other"), ("judge", None, "mine")], "other"),
    ],
)  # fmt: skip
def test_imported_then_by_rule_then_this_judge_then_another(store, there, how):
    store.put([answer("a"), *(outcome(kind, value, judge) for kind, value, judge in there)])
    first = outcomes_of(store, ["a"], "mine")["a"][0]
    assert how in (first.how, first.judge_id)
    assert values_of(store, ["a"], "mine") == {"a": first.value}


def test_another_judges_outcome_doesnt_settle_a_run(store):
    store.put([answer("a"), outcome("judge", 1.0, "other")])
    assert settled_outcomes(store, ["a"], "mine") == {}
    store.put([outcome("exact", None)])
    assert settled_outcomes(store, ["a"], "mine") == {"a": "unscored"}


def test_the_newest_prompts_mark_counts_by_its_number_even_where_it_has_no_score(store):
    store.put([
        answer("a"), mark("k9", 1), mark("k10", 5, prompt="scoring/10"),
        mark("other", 2, judge_id="other", prompt="scoring/11"),
        mark("again", 3, repeat=1), mark("d", 4, criterion_id="d"),
        mark("d10", None, criterion_id="d", prompt="scoring/10"),
    ])  # fmt: skip
    assert prompt_order("scoring/9") < prompt_order("scoring/10")
    assert scores_of(store, STUDY, ["a"], "mine") == {("a", 0): {"c": 5}}
    assert marks_of(store, STUDY, ["a"], "mine")["a", 0]["d"].state == "unscored"
    assert scores_of(store, STUDY, ["a"], "mine", repeats=(1,)) == {("a", 1): {"c": 3}}
    assert set(marks_of(store, STUDY, ["a"], "mine", repeats=None)) == {("a", 0), ("a", 1)}


def test_criteria_come_by_position_and_a_sample_stands_aside_with_its_own_replay(store):
    uses = tuple(CriterionUse(criterion_id=f"c{n}", position=n, weight=5) for n in (1, 0))
    replay = {"sample_id": "s", "judge_id": "mine", "prompt": "p", "state": "scored"}
    one = CriteriaSet(id="set", sample_id="s", judge_id="j", prompt="p", state="scored", uses=uses)
    store.put([
        one, Replay(id="good", agrees=True, **replay), Replay(id="bad", agrees=False, **replay),
    ])  # fmt: skip
    assert [use.criterion_id for use in in_order(one)] == ["c0", "c1"]
    place = StudySample(study_id="t", sample_id="s", position=0, replay_id="good")
    assert quarantined(store, [place]) == set()
    assert quarantined(store, [place.model_copy(update={"replay_id": "bad"})]) == {"s"}
    assert standing_sets(store, [place]) == {}
    assert list(standing_sets(store, [place.model_copy(update={"criteria_set_id": "set"})])) == [
        "s"
    ]


def test_what_only_an_unfinished_import_brought_counts_nowhere(store):
    begun = Import(id="i", study_id="t", format="table", sources=("f.csv",), closed=False)
    store.put([
        begun, answer("own"), answer("new", prompt="imported", candidate_id="n"),
        answer("lone", prompt="imported", candidate_id="k"),
        answer("both", prompt="imported", repeat=1),
        outcome("imported", 1.0, response="own"), outcome("exact", 0.0, response="own"),
        StudySample(study_id="t", sample_id="z", position=1),
        Candidate(id="k", name="k"), StudyCandidate(study_id="t", candidate_id="k", position=2),
        Import(id="old", study_id="t", format="table", sources=("g.csv",)),
    ])  # fmt: skip
    with store.write() as writer:
        writer.link_import("i", [("response", "new"), ("response", "lone"), ("response", "both"),
                                 ("outcome", "own"), ("place", "z"), ("seat", "k")])  # fmt: skip
        writer.link_import("old", [("response", "both")])
    assert {one.id for one in study_answers(store, STUDY)} == {"own", "both"}
    assert {one.id for one in answers_to(store, STUDY, "s")} == {"own", "both"}
    assert values_of(store, ["own"], "mine") == {"own": 0.0}
    assert [one.how for one in outcomes_of(store, ["own"], "mine")["own"]] == ["exact"]
    assert [place.sample_id for place in study_places(store, "t")] == ["s"]
    assert [one.id for one in study_candidates(store, "t")] == ["n", "m"]
    counts = count_study(store, "t")
    assert (counts.samples, counts.candidates, counts.responses) == (1, 2, 2)
    store.replace([begun.model_copy(update={"closed": True})])
    assert {one.id for one in study_answers(store, STUDY)} == {"own", "new", "lone", "both"}
    assert values_of(store, ["own"], "mine") == {"own": 1.0}
    counts = count_study(store, "t")
    assert (counts.samples, counts.candidates, counts.responses) == (2, 3, 4)


def test_an_experiments_second_judgement_is_apart_also_where_it_was_repeat_one(store):
    def mark(prompt: str, repeat: int, score: int) -> Checkpoint:
        return Checkpoint(
            key=f"{prompt}/{repeat}", criterion_id="c", response_id="a", judge_id="j",
            prompt=prompt, repeat=repeat, state="scored", score=score,
        )  # fmt: skip

    store.put([mark("scoring/1", 0, 1), mark("scoring/1", 1, 2)])
    assert scores_of(store, STUDY, ["a"], "j", repeats=(0, APART)) == {
        ("a", 0): {"c": 1}, ("a", APART): {"c": 2},
    }  # fmt: skip
    assert scores_of(store, STUDY, ["a"], "j", repeats=(1,)) == {}
    store.put([mark("scoring/9", 1, 3), mark("scoring/9", APART, 4)])
    assert scores_of(store, STUDY, ["a"], "j", repeats=(1, APART)) == {
        ("a", 1): {"c": 3}, ("a", APART): {"c": 4},
    }  # fmt: skip


def test_marks_that_saw_the_pictures_come_before_blind_ones():
    names = ["scoring/3 blind", "scoring/2", "scoring/10 blind", "scoring/10"]
    assert sorted(names, key=prompt_order) == [
        "scoring/3 blind", "scoring/10 blind", "scoring/2", "scoring/10",
    ]  # fmt: skip
