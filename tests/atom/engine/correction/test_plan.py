"""What a self-correction experiment still has to do, from values alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from atom.engine.correction.cohorts import CohortAnswer, PeerAnswer
from atom.engine.correction.ground import ARMS
from atom.engine.correction.plan import (
    MOST_HINTS,
    NOTHING_FAILED,
    NOTHING_PASSED,
    NOTHING_SCORED,
    asked_about,
    next_step,
    outlook,
)
from atom.engine.correction.trials import Rules, Trial, TrialRecords, trials_of
from atom.records import (
    APART,
    Checkpoint,
    Correction,
    CriteriaSet,
    Criterion,
    CriterionUse,
    Experiment,
    Hint,
    Outcome,
    Response,
    Sample,
    Sampling,
)
from atom.stages import scoring

JUDGE, ANSWER = Sampling(temperature=0.0), Sampling(temperature=0.7)
SAMPLE = Sample(
    id="s", dataset="d", question="Which way does the arrow point?", choices=("left", "right"),
    reference="left",
)  # fmt: skip
WEIGHTS = {"c1": 3, "c2": 2, "c3": 5}


def rules(**changes) -> Rules:
    asked = {"id": "e", "study_id": "t", "candidate_id": "m", "judge_id": "j", "arms": ARMS}
    experiment = Experiment(**{**asked, **changes})
    return Rules(experiment=experiment, judge_id="j", judge_sampling=JUDGE, answer_sampling=ANSWER)


def answer(name: str, text: str = "Answer: B", **told) -> Response:
    return Response(id=name, sample_id="s", candidate_id="m", prompt="answer/1", text=text, **told)


def scores(response_id: str, values, repeat: int = 0, **told) -> tuple[Checkpoint, ...]:
    return tuple(
        Checkpoint(
            key=Checkpoint.make_key(c, response_id, "j", scoring.PROMPT, JUDGE, repeat),
            criterion_id=c, response_id=response_id, judge_id="j", prompt=scoring.PROMPT,
            sampling=JUDGE, repeat=repeat, **({"state": "scored", "score": value} | told),
        )
        for c, value in zip(WEIGHTS, values, strict=True)
    )  # fmt: skip


def subject(values=(1, 4, 2), **changes) -> CohortAnswer:
    criteria = {
        c: Criterion(id=c, sample_id="s", question=f"What is at place {c}?", ground_truth="x")
        for c in WEIGHTS
    }
    uses = tuple(
        CriterionUse(criterion_id=c, position=n, weight=w)
        for n, (c, w) in enumerate(WEIGHTS.items())
    )
    made = CohortAnswer(
        sample=SAMPLE,
        first=answer("first"),
        cohort="failed",
        value=0.0,
        criteria_set=CriteriaSet(
            id="set", sample_id="s", judge_id="j", prompt="p", state="scored", uses=uses
        ),
        criteria=criteria,
        checkpoints=scores("first", values) if values else (),
        peers={
            "c1": PeerAnswer(peer_id="p", response_id="r1"),
            "c3": PeerAnswer(peer_id="q", response_id="r2"),
        },
    )
    return replace(made, **changes)


def row(arm, number=1, *, result="second", state="scored", **told) -> Correction:
    return Correction(
        experiment_id="e", response_id="first", arm=arm, round=number, state=state,
        result_id=result if state == "scored" else None, **told,
    )  # fmt: skip


def had(*records) -> TrialRecords:
    have = TrialRecords()
    have.fold(records)
    return have


def right(name: str, value: float = 1.0) -> Outcome:
    return Outcome(response_id=name, how="choice", value=value)


def step(arm, have=None, asked=None, who=None):
    return next_step(
        Trial(subject=who or subject(), arm=arm), have or TrialRecords(), asked or rules()
    )


def test_every_failed_answer_is_in_every_arm_and_right_ones_in_guided_alone():
    both = (subject(), subject(cohort="right"))
    trials = trials_of(both, ARMS)
    assert [t.arm for t in trials] == [*ARMS, "guided"]
    assert trials_of((subject(cohort="right"),), ("told",)) == []


@pytest.mark.parametrize("arm", ["fresh", "told", "sham", "guided", "oracle"])
def test_a_round_is_a_try_then_its_scores(arm):
    first = step(arm)
    assert (first.kind, first.round, first.parent.id) == ("retry", 1, "first")
    there = (row(arm), answer("second", "Answer: A"), right("second"))
    then = step(arm, had(*there))
    assert (then.kind, then.response.id, then.repeat) == ("scoring", "second", 0)
    assert [c.id for c in then.criteria] == ["c1", "c2", "c3"]
    assert step(arm, had(*there, *scores("second", (5, 5, 5)))) is None


def test_what_is_asked_about():
    asked = step("guided").criteria
    # Weight times severity: c3 5 * 3 = 15 (score 2), c1 3 * 4 = 12 (score 1).
    assert [c.id for c in asked] == ["c3", "c1"]
    assert [c.id for c in step("sham").criteria] == ["c2"]
    assert step("told").criteria == ()


def test_nothing_to_ask_costs_nothing_and_says_why():
    fine, bad = subject((5, 4, 3)), subject((1, 1, 2))
    one = step("guided", who=fine)
    assert (one.state, one.problem) == ("unscored", NOTHING_FAILED)
    assert step("sham", who=bad).problem == NOTHING_PASSED
    assert step("oracle", who=subject(())).problem == NOTHING_SCORED
    work = outlook(Trial(subject=fine, arm="guided"), TrialRecords(), rules(rounds=3))
    assert (work.remaining, work.problem) == (0, NOTHING_FAILED)
    assert step("guided", had(row("guided", state="unscored", detail=NOTHING_FAILED))) is None


def test_a_right_answer_without_a_failed_criterion_is_asked_about_its_lowest():
    fine = subject((4, 3, 3), cohort="right")
    # Both lowest ones (3), the heavier c3 first.
    assert asked_about(fine, fine.checkpoints, "guided", 2) == ("c3", "c2")
    every = subject((5, 5, 5), cohort="right")
    # All are lowest: the two heaviest.
    assert asked_about(every, every.checkpoints, "guided", 2) == ("c3", "c1")
    failed = subject((2, 5, 5), cohort="right")
    assert asked_about(failed, failed.checkpoints, "guided", 2) == ("c1",)


def test_an_outcome_that_no_rule_gave_is_asked_of_the_judge():
    there = (row("told"), answer("second", "I can't say."))
    assert step("told", had(*there)).kind == "outcome"
    unclear = Outcome(response_id="second", how="judge", judge_id="j", state="unscored")
    assert step("told", had(*there, unclear)).kind == "scoring"
    unknown = subject(sample=SAMPLE.model_copy(update={"reference": None}))
    assert step("told", had(*there), who=unknown).kind == "scoring"


def test_judging_again_is_a_verdict_and_an_independent_score():
    assert step("rejudge").kind == "rejudge"
    made = row("rejudge", result="first", value=0.0)
    then = step("rejudge", had(made))
    assert (then.kind, then.response.id, then.repeat) == ("scoring", "first", APART)
    assert step("rejudge", had(made, *scores("first", (1, 3, 2), repeat=APART))) is None
    # The scores that answers were chosen by don't stand in for it.
    assert step("rejudge", had(made, *scores("first", (1, 4, 2)))).kind == "scoring"
    bare = subject(
        (), criteria={}, criteria_set=None, sample=SAMPLE.model_copy(update={"reference": None})
    )
    assert "nothing can be judged" in step("rejudge", who=bare).problem


def test_an_answer_without_criteria_is_tried_and_its_outcome_is_all():
    bare = subject((), criteria={}, criteria_set=None)
    there = (row("told"), answer("second", "Answer: A"), right("second"))
    assert step("told", who=bare).kind == "retry"
    assert step("told", had(*there), who=bare) is None
    assert step("guided", who=bare).problem == NOTHING_SCORED


# Rounds


def after_one(arm, text, value, values, **changes):
    there = (row(arm), answer("second", text), right("second", value), *scores("second", values))
    return step(arm, had(*there), rules(rounds=2, **changes))


def test_a_second_round_tries_the_first_rounds_answer_again():
    again = after_one("guided", "Answer: B, again", 0.0, (1, 4, 5))
    assert (again.kind, again.round, again.parent.id) == ("retry", 2, "second")
    assert [c.id for c in again.criteria] == ["c1"]
    assert after_one("told", "Answer: B, again", 0.0, (1, 4, 5)).round == 2
    assert after_one("fresh", "Answer: B, again", 0.0, (1, 4, 5)).parent.id == "second"


@pytest.mark.parametrize("arm", ["fresh", "told", "sham", "guided", "oracle"])
def test_all_arms_stop_when_the_answer_no_longer_failed(arm):
    assert after_one(arm, "Answer: A", 1.0, (1, 4, 2)) is None
    # By the sample's score, a right answer may still be a failed one: 3*1 + 2*4 + 5*2 = 21 < 30.
    assert after_one(arm, "Answer: A", 1.0, (1, 4, 2), failed_rule="score") is not None
    assert after_one(arm, "Answer: A", 0.0, (3, 3, 3), failed_rule="score") is None


def test_a_round_that_changes_nothing_is_the_last():
    assert after_one("told", "  Answer:   B ", 0.0, (1, 4, 2)) is None


def test_where_nothing_failed_any_more_there_is_nothing_to_ask():
    assert after_one("guided", "Answer: B, sure", 0.0, (5, 4, 3)) is None
    assert after_one("sham", "Answer: B, sure", 0.0, (1, 1, 1)) is None
    assert after_one("told", "Answer: B, sure", 0.0, (5, 4, 3)) is not None


def test_the_rounds_end():
    there = (row("told"), answer("second", "Answer: B."), right("second", 0.0),
             *scores("second", (1, 4, 2)))  # fmt: skip
    assert step("told", had(*there), rules(rounds=1)) is None


# Hints


def hint(criterion_id, attempt=0, **told) -> Hint:
    asked, who = rules(), subject()
    peer = who.peers[criterion_id]
    return Hint(
        id=asked.hint_id(who, criterion_id, attempt), criterion_id=criterion_id,
        peer_id=peer.peer_id, response_id=peer.response_id, prompt="hint/1", attempt=attempt,
        **({"state": "scored", "text": "Look at the left side."} | told),
    )  # fmt: skip


def leak(criterion_id, attempt):
    return hint(criterion_id, attempt, state="unscored", detail="It gives away x.")


def test_hints_come_first_one_for_each_criterion():
    one = step("peer")
    assert (one.kind, one.criteria[0].id, one.attempt) == ("hint", "c3", 0)
    two = step("peer", had(hint("c3")))
    assert (two.kind, two.criteria[0].id) == ("hint", "c1")
    tried = step("peer", had(hint("c3"), hint("c1")))
    assert tried.kind == "retry"
    assert [(h.criterion_id, h.peer_id) for h in tried.hints] == [("c3", "q"), ("c1", "p")]
    assert step("guided_peer", had(hint("c3"), hint("c1"))).hints == tried.hints


def test_a_leaking_hint_is_asked_for_again_then_left_out_and_counted():
    leaks = []
    for attempt in range(MOST_HINTS):
        found = step("peer", had(*leaks, hint("c1")))
        assert (found.kind, found.attempt) == ("hint", attempt)
        leaks.append(leak("c3", attempt))
    tried = step("peer", had(*leaks, hint("c1")))
    assert [h.criterion_id for h in tried.hints] == ["c1"]
    assert len(tried.gates) == MOST_HINTS + 1
    assert tried.gates[0] == "hint on criterion c3, attempt 1: It gives away x."
    assert tried.gates[-1] == "no hint on criterion c3: 3 attempts were not usable"


def test_where_no_hint_is_left_nothing_is_sent():
    gone = [leak(c, n) for c in ("c1", "c3") for n in range(MOST_HINTS)]
    nothing = step("peer", had(*gone))
    assert (nothing.kind, nothing.state) == ("retry", "unscored")
    assert nothing.problem.startswith("no hint is left for it: hint on criterion c3, attempt 1")
    alone = step("peer", who=subject(peers={}))
    assert "no peer passed it" in alone.problem


def test_a_hint_that_failed_fails_the_trial():
    down = hint("c3", state="failed", detail="The server is gone.", text="")
    failed = step("peer", had(down))
    assert (failed.state, failed.problem) == ("failed", "no hint: The server is gone.")
    again = step("peer", had(down), replace(rules(), retry_failed=True))
    assert (again.kind, again.attempt) == ("hint", 0)


# Failures


def test_what_failed_is_asked_again_only_when_that_is_wanted():
    failed = had(row("told", state="failed", detail="gone"))
    wanted = replace(rules(), retry_failed=True)
    assert step("told", failed) is None
    again = step("told", failed, wanted)
    assert again.kind == "retry"
    failed.tried.add(again.key)
    assert step("told", failed, wanted) is None


def test_a_failed_judgement_is_asked_again_when_that_is_wanted():
    bad = scores("second", (None, None, None), state="failed", score=None, detail="gone")
    there = had(row("told"), answer("second", "Answer: A"), right("second"), *bad)
    assert step("told", there) is None
    assert step("told", there, replace(rules(), retry_failed=True)).kind == "scoring"


# Counting


def test_what_is_left_is_foreseen():
    # By rule: 1 try + 1 scoring a round.
    assert outlook(Trial(subject=subject(), arm="told"), TrialRecords(), rules()).remaining == 2
    assert (
        outlook(Trial(subject=subject(), arm="told"), TrialRecords(), rules(rounds=3)).remaining
        == 6
    )
    # Two hints, a try and a scoring.
    work = outlook(Trial(subject=subject(), arm="peer"), TrialRecords(), rules())
    assert (work.hints, work.remaining) == (("c3", "c1"), 4)
    assert outlook(Trial(subject=subject(), arm="peer"), had(hint("c3")), rules()).remaining == 3
    # The old answer is judged by rule, so that only its scores cost a call.
    assert (
        outlook(Trial(subject=subject(), arm="rejudge"), TrialRecords(), rules(rounds=3)).remaining
        == 1
    )
    vague = subject(first=answer("first", "It points somewhere."))
    assert outlook(Trial(subject=vague, arm="rejudge"), TrialRecords(), rules()).remaining == 2
    # 1 try + 1 verdict + 1 scoring, three rounds.
    assert outlook(Trial(subject=vague, arm="told"), TrialRecords(), rules(rounds=3)).remaining == 9
    there = had(row("told"), answer("second", "Answer: A"), right("second"))
    assert outlook(Trial(subject=subject(), arm="told"), there, rules(rounds=2)).remaining == 3
