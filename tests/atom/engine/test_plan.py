from __future__ import annotations

from dataclasses import replace

import pytest

from atom.engine.plan import (
    HeldResponse,
    PlanKeys,
    RecordState,
    SampleState,
    finished,
    outlook,
    state_of,
)
from atom.engine.study.spec import STAGES
from atom.records import (
    Checkpoint,
    CriteriaSet,
    CriterionUse,
    Mapping,
    Outcome,
    Replay,
    Response,
    Sampling,
)

COLD = Sampling(temperature=0.0)
KEYS = PlanKeys(
    stages=frozenset(STAGES),
    judge_id="judge",
    asked=("c1", "c2"),
    prompts={stage: f"{stage}/1" for stage in STAGES},
    judge_sampling=COLD,
    answer_sampling=COLD,
    tree_version="tree",
)
NEW = SampleState(sample_id="s")


def only(keys: PlanKeys, *stages: str, **changes) -> PlanKeys:
    return replace(keys, stages=frozenset(stages), **changes)


def stages_ready(have: SampleState, keys: PlanKeys = KEYS) -> list[str]:
    return [item.stage for item in outlook(have, keys).ready]


def response(candidate: str = "c1", state: str = "scored") -> Response:
    return Response(
        id=KEYS.response_id("s", candidate),
        sample_id="s",
        candidate_id=candidate,
        prompt="answer/1",
        sampling=COLD,
        state=state,
        detail="" if state == "scored" else "why",
    )


def replay(state: str = "scored") -> Replay:
    return Replay(
        id=KEYS.replay_id("s"), sample_id="s", judge_id="judge", prompt="replay/1", state=state
    )


def criteria(*ids: str, state: str = "scored") -> CriteriaSet:
    uses = tuple(
        CriterionUse(criterion_id=name, position=n, weight=1) for n, name in enumerate(ids)
    )
    return CriteriaSet(
        id=KEYS.criteria_set_id("s"),
        sample_id="s",
        judge_id="judge",
        prompt="criteria/1",
        state=state,
        uses=uses,
    )


def done(have: SampleState, stage: str, *records, keys: PlanKeys = KEYS) -> SampleState:
    item = next(i for i in outlook(have, keys).ready if i.stage == stage)
    return finished(have, item, records)


def test_a_new_sample_begins_with_answers_and_replay():
    assert stages_ready(NEW) == ["answer", "answer", "replay"]


def test_what_follows_is_counted_beforehand():
    # ready: 2 answers + 1 replay; later: criteria, mapping, 2 scorings (verdicts may be free).
    assert outlook(NEW, KEYS).remaining == 3 + 4


def test_stages_flow_one_sample_at_a_time():
    have = done(NEW, "replay", replay())
    assert stages_ready(have) == ["answer", "answer", "criteria"]
    have = done(have, "criteria", criteria("k1", "k2"))
    assert stages_ready(have) == ["answer", "answer", "mapping"]
    have = done(have, "answer", response("c1"))
    assert stages_ready(have) == ["answer", "mapping", "scoring", "outcome"]


def test_a_verdict_by_rule_leaves_no_outcome_to_ask_for():
    verdict = Outcome(response_id=KEYS.response_id("s", "c1"), how="exact", value=1.0)
    have = done(NEW, "answer", response("c1"), verdict)
    assert "outcome" not in stages_ready(have)


def test_no_outcome_is_asked_for_without_a_reference():
    have = done(replace(NEW, has_reference=False), "answer", response("c1"))
    assert "outcome" not in stages_ready(have)


@pytest.mark.parametrize("state", ["unscored", "failed"])
def test_nothing_follows_from_an_unusable_replay(state):
    have = done(NEW, "replay", replay(state))
    assert stages_ready(have) == ["answer", "answer"]
    assert outlook(have, KEYS).remaining == 2


@pytest.mark.parametrize("state", ["unscored", "failed"])
def test_an_answer_that_is_none_is_not_scored(state):
    have = replace(
        NEW,
        criteria=RecordState(id="set", state="scored"),
        criterion_ids=("k1",),
        responses={"r": HeldResponse(candidate_id="c1", state=state)},
    )
    assert stages_ready(have, only(KEYS, "scoring", "outcome")) == []


def test_only_stages_that_are_asked_for_are_planned():
    keys = only(KEYS, "criteria", "scoring")
    assert outlook(NEW, keys).remaining == 0


def test_a_changed_criterion_rescores_only_itself():
    r = KEYS.response_id("s", "c1")
    have = replace(
        NEW,
        replay=RecordState(id="replay", state="scored"),
        criteria=RecordState(id="by-hand", state="scored"),
        criterion_ids=("k1", "new"),
        responses={r: HeldResponse(candidate_id="c1", state="scored")},
        checkpoints={KEYS.checkpoint_key("k1", r, 0): "scored"},
    )
    (item,) = outlook(have, only(KEYS, "scoring")).ready
    assert item.criterion_ids == ("new",)


def test_repeats_are_items_of_their_own():
    r = KEYS.response_id("s", "c1")
    have = replace(
        NEW,
        criteria=RecordState(id="set", state="scored"),
        criterion_ids=("k1",),
        responses={r: HeldResponse(candidate_id="c1", state="scored")},
        checkpoints={KEYS.checkpoint_key("k1", r, 0): "scored"},
    )
    items = outlook(have, only(KEYS, "scoring", repeats=3)).ready
    assert [item.repeat for item in items] == [1, 2]
    assert len({item.key for item in items}) == 2


def test_failed_items_are_left_alone_unless_asked_for():
    have = replace(NEW, replay=RecordState(id=KEYS.replay_id("s"), state="failed"))
    assert stages_ready(have, only(KEYS, "replay")) == []
    again = only(KEYS, "replay", retry_failed=True)
    (item,) = outlook(have, again).ready
    assert item.again
    assert outlook(finished(have, item, [replay("failed")]), again).remaining == 0


def test_a_finished_case_has_nothing_left():
    have = NEW
    while ready := outlook(have, KEYS).ready:
        item = ready[0]
        brought = {
            "answer": lambda i: [response(i.candidate_id)],
            "replay": lambda _: [replay()],
            "criteria": lambda _: [criteria("k1", "k2")],
            "mapping": lambda i: [
                Mapping(
                    criterion_id=c,
                    tree_version="tree",
                    judge_id="judge",
                    prompt="m",
                    state="scored",
                )
                for c in i.criterion_ids
            ],
            "scoring": lambda i: [
                Checkpoint(
                    key=KEYS.checkpoint_key(c, i.response_id, i.repeat),
                    criterion_id=c,
                    response_id=i.response_id,
                    judge_id="judge",
                    prompt="scoring/1",
                    state="scored",
                    score=5,
                )
                for c in i.criterion_ids
            ],
            "outcome": lambda i: [Outcome(response_id=i.response_id, how="judge", value=1.0)],
        }[item.stage](item)
        before = outlook(have, KEYS).remaining
        have = finished(have, item, brought)
        # An answer without a verdict by rule adds an outcome; everything else only shrinks.
        assert outlook(have, KEYS).remaining <= before - 1 + (item.stage == "answer")
    assert outlook(have, KEYS).remaining == 0


def test_planning_is_pure():
    first = outlook(NEW, KEYS)
    assert outlook(NEW, KEYS) == first
    done(NEW, "replay", replay())
    assert SampleState(sample_id="s") == NEW


@pytest.mark.parametrize(
    ("states", "account"),
    [
        (["scored"], "scored"),
        (["scored", "unscored"], "unscored"),
        (["unscored", "failed", "scored"], "failed"),
        ([], "scored"),
    ],
)
def test_an_item_is_accounted_for_by_its_worst_record(states, account):
    assert state_of([replay(state) for state in states]) == account


# Repeats, sampling, and what a server's fault left unscored


def test_repeated_answers_are_answers_of_their_own():
    keys = replace(KEYS, answer_repeats=3, asked=("c1",))
    ready = [item for item in outlook(NEW, keys).ready if item.stage == "answer"]
    assert [item.repeat for item in ready] == [0, 1, 2]
    assert len({item.key for item in ready}) == 3
    # ready: 3 answers and a replay; later: criteria, mapping, 3 answers scored twice.
    assert outlook(NEW, replace(keys, repeats=2)).remaining == 4 + 2 + 3 * 2


def test_an_endpoints_own_settings_are_part_of_its_answers_names():
    hot = replace(KEYS, asked_samplings={"c1": Sampling(temperature=0.0, max_tokens=500)})
    assert hot.response_id("s", "c1") != KEYS.response_id("s", "c1")
    assert hot.response_id("s", "c2") == KEYS.response_id("s", "c2")


def test_other_settings_of_the_judge_name_other_replays_criteria_and_marks():
    warm = replace(KEYS, judge_sampling=Sampling(temperature=0.7))
    for name in ("replay_id", "criteria_set_id"):
        assert getattr(warm, name)("s") != getattr(KEYS, name)("s")
    assert warm.checkpoint_key("c", "r", 0) != KEYS.checkpoint_key("c", "r", 0)
    assert warm.judging != KEYS.judging


@pytest.mark.parametrize("retry", ["retry_failed", "retry_unscored"])
def test_failed_items_are_asked_again_by_either_wish(retry):
    have = replace(NEW, replay=RecordState(id=KEYS.replay_id("s"), state="failed"))
    keys = only(KEYS, "replay")
    assert stages_ready(have, keys) == []
    (item,) = outlook(have, replace(keys, **{retry: True})).ready
    assert (item.again, item.spoiled) == (True, False)


def test_only_what_a_servers_fault_left_unscored_is_asked_again():
    name = KEYS.response_id("s", "c1")
    held = HeldResponse(candidate_id="c1", state="unscored")
    have = replace(NEW, responses={name: held})
    keys = only(KEYS, "answer", asked=("c1",), retry_unscored=True)
    assert outlook(have, keys).ready == ()
    (item,) = outlook(replace(have, spoiled=frozenset([name])), keys).ready
    assert (item.key, item.again, item.spoiled) == (name, True, True)


def test_a_spoiled_mark_is_asked_again_without_its_neighbours():
    answer = response()
    have = replace(
        NEW,
        criteria=RecordState(id=KEYS.criteria_set_id("s"), state="scored"),
        criterion_ids=("k1", "k2"),
        responses={answer.id: HeldResponse(candidate_id="c1", state="scored")},
    )
    marks = {c: KEYS.checkpoint_key(c, answer.id, 0) for c in ("k1", "k2")}
    have = replace(
        have,
        checkpoints=dict.fromkeys(marks.values(), "unscored"),
        spoiled=frozenset([marks["k2"]]),
    )
    (item,) = outlook(have, only(KEYS, "scoring", retry_unscored=True)).ready
    assert (item.criterion_ids, item.spoiled) == (("k2",), True)
