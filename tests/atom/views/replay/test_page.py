"""Live replay's editor, answers and scores, without a screen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.records import Checkpoint, Mapping, Outcome, Response, Sample, Sampling
from atom.stages import criteria
from atom.stages.criteria import EditedCriterion
from atom.store import Store
from atom.views.replay.drafts import (
    DraftCriterion,
    added,
    balanced,
    changed,
    criterion_id,
    drafts_of,
    dropped,
    mappings_of,
    moved,
    result_of,
    total,
    with_leaves,
)
from atom.views.replay.page import OwnQuestion, arriving, scorecard, stored_answers, typed_answer
from atom.views.study_data import load_study
from tests.factories import JUDGE, STUDY, make_study

SAMPLE = Sample(id="s", dataset="d", question="How high is A?", reference="20")
LEAF = ("Perception", "Fine detail", "Reading marks", "Bar height")


def judged():
    rows = [
        EditedCriterion(question=f"Q{n}?", ground_truth=f"T{n}", weight=weight, step=n)
        for n, weight in ((1, 3), (2, 3), (3, 4))
    ]
    return criteria.edited(SAMPLE, "j", "r", rows)


def keys(drafts) -> list[str]:
    return [draft.key for draft in drafts]


def test_a_judges_criteria_come_into_the_editor():
    drafts = drafts_of(judged())
    assert [(d.question, d.truth, d.weight, d.step) for d in drafts] == [
        ("Q1?", "T1", 3, 1),
        ("Q2?", "T2", 3, 2),
        ("Q3?", "T3", 4, 3),
    ]


def test_an_unchanged_editor_gives_the_judges_own_set():
    result = judged()
    assert result_of(SAMPLE, "j", "r", drafts_of(result), result) is result


def test_a_changed_criterion_alone_gets_another_id():
    result = judged()
    drafts = changed(drafts_of(result), "j1", truth="other")
    edited = result_of(SAMPLE, "j", "r", drafts, result)
    assert edited.criteria_set.source == "hand"
    before, after = ([c.id for c in r.criteria] for r in (result, edited))
    assert [a == b for a, b in zip(before, after, strict=True)] == [True, False, True]


def test_a_set_that_cannot_be_used_says_why():
    result = judged()
    edited = result_of(SAMPLE, "j", "r", added(drafts_of(result)), result)
    assert edited.criteria_set.state == "unscored"
    assert "criterion 4 has no question" in edited.criteria_set.detail


def test_moving_out_of_step_order_keeps_the_new_order():
    result = judged()
    drafts = moved(drafts_of(result), "j0", 1)
    assert keys(drafts) == ["j1", "j0", "j2"]
    edited = result_of(SAMPLE, "j", "r", drafts, result)
    assert [c.question for c in edited.criteria] == ["Q2?", "Q1?", "Q3?"]
    assert moved(drafts, "j1", -1) == drafts
    assert moved(drafts, "nobody", 1) == drafts


def test_dropping_and_adding():
    drafts = dropped(drafts_of(judged()), "j1")
    assert keys(drafts) == ["j0", "j2"]
    more = added(drafts, {"h1"})
    assert keys(more) == ["j0", "j2", "h2"]
    assert more[-1].weight == 3
    assert more[-1].blank
    full = drafts
    for _ in range(20):
        full = added(full)
    assert len(full) == 8


def test_weights_are_brought_to_ten_by_largest_remainder():
    # 3 : 3 : 5 of 10 = 2.73, 2.73, 4.55; floors 2, 2, 4; the two left go to the .73 ones
    drafts = changed(drafts_of(judged()), "j2", weight=5)
    assert [draft.weight for draft in balanced(drafts)] == [3, 3, 4]
    assert balanced(()) == ()


@pytest.mark.slow
@given(st.lists(st.integers(1, 10), min_size=1, max_size=8))
def test_balanced_weights_total_ten_and_none_is_below_one(weights):
    drafts = tuple(DraftCriterion(key=str(n), weight=weight) for n, weight in enumerate(weights))
    result = balanced(drafts)
    assert total(result) == 10
    assert min(draft.weight for draft in result) >= 1


def mapping(draft: DraftCriterion, leaf=LEAF) -> Mapping:
    return Mapping(
        criterion_id=criterion_id(SAMPLE, draft),
        tree_version="t",
        judge_id="j",
        prompt="mapping/1",
        state="scored",
        leaf=leaf,
    )


def test_leaves_are_taken_from_the_judge_and_kept_from_a_hand():
    drafts = changed(drafts_of(judged()), "j1", leaf=("A", "B", "C", "D"))
    given_ = [mapping(draft) for draft in drafts]
    hung = with_leaves(SAMPLE, drafts, given_)
    assert [draft.leaf for draft in hung] == [LEAF, ("A", "B", "C", "D"), LEAF]
    found = mappings_of(SAMPLE, hung, {m.criterion_id: m for m in given_}, "t", "j")
    assert [m.prompt for m in found] == ["mapping/1", "hand", "mapping/1"]


def point(draft: DraftCriterion, score: int | None, state: str = "scored") -> Checkpoint:
    return Checkpoint(
        key=f"{draft.key}",
        criterion_id=criterion_id(SAMPLE, draft),
        response_id="a",
        judge_id="j",
        prompt="scoring/1",
        state=state,
        score=score,
    )


def test_a_scorecard_counts_every_state_and_weighs_the_scored():
    drafts = added(drafts_of(judged()))
    points = {
        (p.criterion_id, "a"): p
        for p in (
            point(drafts[0], 5),
            point(drafts[1], None, "unscored"),
            point(drafts[2], None, "failed"),
        )
    }
    response = Response(id="a", sample_id="s", candidate_id="c", prompt="typed", text="x")
    card = scorecard(SAMPLE, drafts, response, points)
    assert (card.scored, card.unscored, card.failed) == (1, 1, 1)
    assert card.mean == 5
    assert card.missing == tuple(criterion_id(SAMPLE, d) for d in drafts[2:])
    nothing = scorecard(SAMPLE, drafts, response, {})
    assert nothing.mean is None
    assert len(nothing.missing) == 4


def test_a_mean_is_weighted():
    drafts = drafts_of(judged())
    points = {
        (p.criterion_id, "a"): p
        for p in (point(d, s) for d, s in zip(drafts, (1, 2, 5), strict=True))
    }
    response = Response(id="a", sample_id="s", candidate_id="c", prompt="typed", text="x")
    # (3*1 + 3*2 + 4*5) / 10 = 2.9
    assert scorecard(SAMPLE, drafts, response, points).mean == pytest.approx(2.9)


def test_a_typed_answer_gets_its_verdict_by_rule():
    right = typed_answer(SAMPLE, " It's 20.\nAnswer: 20 ", " Ann  B ", Sampling())
    assert right.outcome is not None
    assert right.outcome.value == 1
    assert right.candidate.name == "Ann B"
    assert typed_answer(SAMPLE, "x", "", Sampling()).candidate.name == "typed by hand"
    assert (
        right.response.id
        == typed_answer(SAMPLE, "It's 20.\nAnswer: 20", "Ann B", Sampling()).response.id
    )


@pytest.mark.parametrize(
    ("stage", "text", "pieces"),
    [
        ("replay", '{"steps": [{"text": "One.", "regions": []}, {"text": "Tw', ("One.", "Tw")),
        ("scoring", '{"scores": [{"id": "1", "reason": "a \\"b\\" \\n"', ('a "b" \n',)),
        ("criteria", '{"criteria": [{"question": "broken \\u12', ("broken \\u12",)),
        ("answer", '{"text": 1}', ('{"text": 1}',)),
        ("replay", "", ()),
        ("replay", "I think", ("I think",)),
        ("mapping", "{}", ()),
    ],
)
def test_what_streams_in_is_read_as_far_as_it_came(stage, text, pieces):
    assert arriving(stage, text) == pieces


@pytest.mark.slow
@given(st.text())
def test_nothing_that_streams_in_breaks_the_reader(text):
    for stage in ("replay", "criteria", "mapping", "scoring", "answer"):
        arriving(stage, '{"text": "' + text)


@pytest.mark.parametrize(
    ("question", "problem"),
    [
        (OwnQuestion(), "Write the question."),
        (OwnQuestion(question="Which?", choices="red"), "One choice alone"),
        (OwnQuestion(question="Which?", choices="red\nred"), "the same"),
        (OwnQuestion(question="Which?", choices="a\nb", reference="c"), "isn't among"),
        (OwnQuestion(question="Which?", choices="\n".join(map(str, range(27)))), "at most 26"),
        (OwnQuestion(question="Which?", choices="red\nblue", reference="b)"), ""),
        (OwnQuestion(question="Which?", reference="anything"), ""),
    ],
)
def test_a_question_of_ones_own_says_what_is_missing(question, problem):
    assert problem in question.problem
    assert bool(problem) == bool(question.problem)


def test_a_letter_stands_for_its_choice():
    assert OwnQuestion(question="?", choices="red\nblue", reference="b)").right == "blue"
    assert OwnQuestion(question="?", choices="red\nblue").right is None


@pytest.mark.slow
def test_stored_answers_show_the_outcome_that_every_other_screen_shows(tmp_path):
    with Store.open(tmp_path) as store:
        make_study(store)
        sample = Sample.make_id("balls", "0")
        data = load_study(store, STUDY)
        (right, *_) = stored_answers(store, data, sample)
        # The judge contradicts the rule; the rule counts.
        store.put([Outcome(response_id=right.response.id, how="judge", judge_id=JUDGE, value=0.0)])
        data = load_study(store, STUDY)
        (again, *_) = stored_answers(store, data, sample)
        at = data.table.response_ids.index(right.response.id)
    assert (again.outcome.how, again.outcome.value) == ("exact", 1.0)
    assert data.table.outcome[at] == again.outcome.value
