"""Self-correction trials as columns."""

from __future__ import annotations

import numpy as np
import pytest

from atom.analysis.correction.trials import ARMS, BROKEN, DROPPED, RIGHT_COHORT, SCORED
from atom.errors import UsageError
from atom.records import (
    APART,
    Call,
    Candidate,
    Checkpoint,
    Correction,
    CriteriaSet,
    Criterion,
    CriterionUse,
    Experiment,
    Hint,
    HintUse,
    Judge,
    Mapping,
    Outcome,
    Response,
    Sample,
    Sampling,
    Study,
    StudyCandidate,
    StudySample,
)
from atom.store import Store
from atom.views.correction.data import find_experiment, list_experiments, load_trials

LEAVES = (("Perception", "a"), ("Reasoning", "b"))


def call(name: str, cost: float | None) -> Call:
    return Call(id=name, request_hash=name, task="t", endpoint="e", model="m", prompt="p/1",
                reply="x", cost=cost)  # fmt: skip


def answer(name: str, sample: str, model: str = "m", **told) -> Response:
    return Response(id=name, sample_id=sample, candidate_id=model, prompt="p", text="t",
                    sampling=Sampling(temperature=0.7), **told)  # fmt: skip


def point(criterion: str, response: str, score: int | None, repeat: int = 0, **told) -> Checkpoint:
    state = "unscored" if score is None else "scored"
    return Checkpoint(key=f"{criterion}/{response}/{repeat}", criterion_id=criterion,
                      response_id=response, judge_id="j", prompt="p", repeat=repeat, state=state,
                      score=score, detail="" if score else "no", **told)  # fmt: skip


def verdict(response: str, value: float, **told) -> Outcome:
    return Outcome(response_id=response, value=value, **{"how": "exact", **told})


def trial(first: str, arm: str, number: int = 1, **told) -> Correction:
    given = {"state": "scored", "experiment_id": "exp"}
    return Correction(response_id=first, arm=arm, round=number, **{**given, **told})


def fill(store: Store) -> None:
    """Two samples that share pictures, a third one; one answer each, two tried again."""
    experiment = Experiment(id="exp", study_id="t", candidate_id="m", judge_id="j",
                            arms=("rejudge", "told", "guided", "peer"), rounds=2,
                            created="2026-01-02")  # fmt: skip
    records = [
        Study(id="t", name="T", judge_id="j", tree_version="v"),
        Candidate(id="m", name="model"), Candidate(id="p", name="peer"),
        Judge(id="j", name="judge"),
        experiment,
        StudyCandidate(study_id="t", candidate_id="m", position=0),
    ]  # fmt: skip
    for number, sample in enumerate(("s1", "s2", "s3")):
        uses = tuple(
            CriterionUse(criterion_id=f"{sample}c{n}", position=n, weight=(3, 7)[n])
            for n in range(2)
        )
        records += [
            Sample(id=sample, dataset="d", question="q", cluster=None if number == 2 else "both"),
            StudySample(study_id="t", sample_id=sample, position=number,
                        criteria_set_id=f"set{sample}"),
            CriteriaSet(id=f"set{sample}", sample_id=sample, judge_id="j", prompt="p",
                        state="scored", uses=uses),
            answer(f"a{number + 1}", sample, call_id="never counted"),
        ]  # fmt: skip
        for n in range(2):
            name = f"{sample}c{n}"
            records += [
                Criterion(id=name, sample_id=sample, question="q?", ground_truth="g"),
                Mapping(criterion_id=name, tree_version="v", judge_id="j", prompt="p",
                        state="scored", leaf=LEAVES[n]),
            ]  # fmt: skip
    records += [
        verdict("a1", 0.0), verdict("a2", 0.0), verdict("a3", 1.0),
        point("s1c0", "a1", 1), point("s1c1", "a1", 4), point("s2c0", "a2", 2),
        point("s2c1", "a2", 2), point("s3c0", "a3", 3), point("s3c1", "a3", None),
        # The second judgement of a1.
        point("s1c0", "a1", 3, APART, call_id="again"),
        point("s1c1", "a1", 4, APART, call_id="again"),
        trial("a1", "rejudge", result_id="a1", value=0.0),
        # Two rounds of being told: wrong, then right.
        answer("told1", "s1", arm="told", parent_id="a1", call_id="try1"), verdict("told1", 0.0),
        point("s1c0", "told1", 2, call_id="score1"), point("s1c1", "told1", 5, call_id="score1"),
        trial("a1", "told", result_id="told1", value=0.0),
        answer("told2", "s1", arm="told", parent_id="told1", call_id="try2"), verdict("told2", 1.0),
        point("s1c0", "told2", None, call_id="score2"),
        trial("a1", "told", 2, result_id="told2", value=1.0),
        # A hint with a leaking first attempt, used on a2; guided found nothing, told failed.
        answer("peer1", "s2", arm="peer", parent_id="a2", call_id="try3"), verdict("peer1", 1.0),
        Hint(id="h0", criterion_id="s2c0", peer_id="p", response_id="r", prompt="h/1",
             state="unscored", detail="It leaks.", call_id="hint0"),
        Hint(id="h1", criterion_id="s2c0", peer_id="p", response_id="r", prompt="h/1", attempt=1,
             state="scored", text="Look.", call_id="hint1"),
        trial("a2", "peer", result_id="peer1", value=1.0, criterion_ids=("s2c0",),
              hints=(HintUse(criterion_id="s2c0", hint_id="h1", peer_id="p", text="Look."),)),
        trial("a2", "guided", state="unscored", detail="nothing to ask"),
        trial("a2", "told", state="failed", detail="gone"),
        answer("right1", "s3", arm="guided", parent_id="a3", call_id="try4"),
        verdict("right1", 0.0, how="judge", judge_id="j", call_id="judge4"),
        trial("a3", "guided", result_id="right1", value=0.0, cohort="right",
              criterion_ids=("s3c0",)),
        call("again", 0.5), call("try1", 1.0), call("score1", 2.0), call("try2", 4.0),
        call("score2", 8.0), call("try3", 16.0), call("hint0", 32.0), call("hint1", 64.0),
        call("try4", 128.0), call("judge4", None),
    ]  # fmt: skip
    store.put(records)


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "s") as opened:
        fill(opened)
        yield opened


def test_trials_are_rows(store):
    data = load_trials(store, ["exp"])
    trials = data.trials
    arm = [ARMS[code] for code in trials.arm]
    by_row = {
        (data.answer_ids[a], name, int(r)): n
        for n, (a, name, r) in enumerate(zip(trials.answer, arm, trials.round, strict=True))
    }
    assert len(by_row) == 7

    def column(values, *key):
        return values[by_row[key]]

    assert column(trials.right, "a1", "told", 1) == 0.0
    assert column(trials.right, "a1", "told", 2) == 1.0
    assert np.isnan(column(trials.right, "a2", "guided", 1))
    assert column(trials.was_right, "a3", "guided", 1) == 1.0
    assert column(trials.state, "a2", "guided", 1) == DROPPED
    assert column(trials.state, "a2", "told", 1) == BROKEN
    assert column(trials.state, "a2", "peer", 1) == SCORED
    assert column(trials.cohort, "a3", "guided", 1) == RIGHT_COHORT
    # a1 scored 1 and 4, a2 2 and 2, a3 3 and nothing: failed is 2 or less.
    assert column(trials.had_failed, "a1", "told", 1)
    assert column(trials.had_passed, "a1", "told", 1)
    assert not column(trials.had_passed, "a2", "peer", 1)
    assert not column(trials.had_failed, "a3", "guided", 1)
    # s1 and s2 share pictures.
    one, two, three = (column(trials.cluster, *key) for key in (
        ("a1", "told", 1), ("a2", "peer", 1), ("a3", "guided", 1)))  # fmt: skip
    assert one == two != three


def test_costs_count_answer_judgement_and_every_hint(store):
    data = load_trials(store, ["exp"])
    trials = data.trials
    cost = {
        (data.answer_ids[a], ARMS[c], int(r)): float(price)
        for a, c, r, price in zip(trials.answer, trials.arm, trials.round, trials.cost, strict=True)
    }
    assert cost["a1", "rejudge", 1] == 0.5
    assert cost["a1", "told", 1] == 1 + 2
    assert cost["a1", "told", 2] == 4 + 8
    # The attempt that leaked was paid for, too.
    assert cost["a2", "peer", 1] == 16 + 32 + 64
    assert cost["a2", "guided", 1] == cost["a2", "told", 1] == 0
    assert np.isnan(cost["a3", "guided", 1])


def test_criteria_are_rows_of_trials_with_a_result(store):
    data = load_trials(store, ["exp"])
    trials = data.trials
    assert trials.leaves == LEAVES
    assert trials.roots == ("Perception", "Reasoning")
    rows = {}
    for n in range(len(trials.trial)):
        t = trials.trial[n]
        key = (
            data.answer_ids[trials.answer[t]],
            ARMS[trials.arm[t]],
            int(trials.round[t]),
            data.criterion_ids[trials.criterion[n]],
        )
        rows[key] = (
            int(trials.before[n]), int(trials.baseline[n]), int(trials.after[n]),
            bool(trials.asked[n]), int(trials.weight[n]), int(trials.leaf[n]),
        )  # fmt: skip
    # Five trials with a result, two criteria each.
    assert len(rows) == 10
    assert rows["a1", "rejudge", 1, "s1c0"] == (1, 3, 3, False, 3, 0)
    assert rows["a1", "told", 1, "s1c0"] == (1, 3, 2, False, 3, 0)
    assert rows["a1", "told", 1, "s1c1"] == (4, 4, 5, False, 7, 1)
    assert rows["a1", "told", 2, "s1c0"] == (1, 3, 0, False, 3, 0)
    assert rows["a2", "peer", 1, "s2c0"] == (2, 0, 0, True, 3, 0)
    assert rows["a3", "guided", 1, "s3c1"] == (0, 0, 0, False, 7, 1)


def test_the_failed_share_is_of_the_models_own_first_answers(store):
    # a1 and a2 are wrong, a3 is right; corrections don't count.
    assert load_trials(store, ["exp"]).failed_share == pytest.approx(2 / 3)
    other = store.get(Experiment, "exp").model_copy(update={"failed_rule": "score"})
    store.replace([other])
    assert np.isnan(load_trials(store, ["exp"]).failed_share)


def test_two_experiments_are_joined_and_what_both_did_counts_once(store):
    one = store.get(Experiment, "exp")
    more = one.model_copy(update={"id": "more", "arms": ("told", "fresh")})
    store.put([
        more,
        trial("a1", "told", experiment_id="more", state="failed", detail="gone"),
        trial("a1", "fresh", experiment_id="more", state="failed", detail="gone"),
    ])  # fmt: skip
    trials = load_trials(store, ["exp", "more"]).trials
    told = (trials.arm == ARMS.index("told")) & (trials.answer == 0)
    assert sorted(trials.state[told]) == [SCORED, SCORED]
    assert (trials.arm == ARMS.index("fresh")).sum() == 1
    store.replace([more.model_copy(update={"threshold": 3})])
    with pytest.raises(UsageError, match="differ in study, model, judge or threshold"):
        load_trials(store, ["exp", "more"])


def test_an_experiment_without_trials_is_empty(store):
    one = store.get(Experiment, "exp")
    store.put([one.model_copy(update={"id": "new"})])
    data = load_trials(store, ["new"])
    assert (len(data.trials.answer), len(data.trials.trial)) == (0, 0)
    assert data.trials.arms == ()


def test_experiments_are_listed_and_found_by_the_beginning_of_their_name(store):
    one = store.get(Experiment, "exp")
    store.put([one.model_copy(update={"id": "exq", "created": "2026-01-03"})])
    first, second = list_experiments(store)
    assert (first.experiment.id, first.trials, first.answers) == ("exq", {}, 0)
    assert (second.model, second.judge, second.answers) == ("model", "judge", 3)
    assert second.trials == {"scored": 5, "unscored": 1, "failed": 1}
    assert list_experiments(store, "elsewhere") == []
    assert find_experiment(store, "exp").id == "exp"
    with pytest.raises(UsageError, match="several experiments begin with 'ex'"):
        find_experiment(store, "ex")
    for name in ("nothing", "", "%"):
        with pytest.raises(UsageError, match="there is no experiment"):
            find_experiment(store, name)
    with pytest.raises(UsageError, match="no experiment is named"):
        load_trials(store, [])
