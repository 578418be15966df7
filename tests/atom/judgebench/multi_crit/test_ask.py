import json

import pytest

from atom.judge.reply import Reply
from atom.judge.request import TextPart
from atom.judgebench.base import BenchPlan
from atom.judgebench.multi_crit.ask import (
    MultiCritWorklist,
    joint_schema,
    read_joint,
    read_single,
    shown_order,
)
from atom.records import BenchItem, Call, Sampling

CRITERIA = [
    {"key": "efficiency", "label": "a", "row": "x__efficiency", "agreement": None},
    {"key": "tone", "label": "b", "row": "x__tone", "agreement": None},
]


def item(number):
    data = {
        "pair": f"pair {number}", "prompt_id": "", "split": "reasoning", "question": "Which?",
        "pred_a": "Answer A", "pred_b": "Answer B", "model_a": "m", "model_b": "n",
        "criteria": CRITERIA,
    }  # fmt: skip
    return BenchItem(set_id="set", id=f"item {number}", position=number, data=data)


def worklist(votes=1, parts=(), count=2):
    return MultiCritWorklist(
        plan=BenchPlan(
            set_id="set",
            items=[item(number) for number in range(count)],
            pictures=lambda _: (),
            judge="judge",
            sampling=Sampling(temperature=0.0),
            votes=votes,
            parts=parts,
        )
    )


def reply(document, state="ok"):
    call = Call(id="call", request_hash="h", task="multi_crit", endpoint="e", model="m", prompt="p")
    text = document if isinstance(document, str) else json.dumps(document)
    data = document if state == "ok" and isinstance(document, dict) else None
    return Reply(state=state, text=text, call=call, data=data, reason="" if data else "Unusable.")


def sent(ask):
    text = next(part.text for part in ask.build().parts if isinstance(part, TextPart))
    return json.loads(text.split("BEGIN DATA")[1].split("END DATA")[0])


def test_one_criterion_a_request_is_usual():
    asks = worklist().asks({})
    assert [ask.blank.part for ask in asks] == ["single/efficiency", "single/tone"] * 2
    assert len({ask.key for ask in asks}) == 4
    data = sent(asks[1])
    assert data["criterion"] == {"id": "tone", "name": "Tone", "definition": ""}
    shown = [data["first_response"], data["second_response"]]
    assert shown == (["Answer A", "Answer B"] if asks[1].blank.order == "ab" else
                     ["Answer B", "Answer A"])  # fmt: skip
    assert "Nothing but the criterion counts" in asks[0].build().system


def test_all_criteria_at_once_are_named_by_their_ids():
    asks = worklist(parts=("joint",)).asks({})
    assert [ask.blank.part for ask in asks] == ["joint", "joint"]
    assert [one["id"] for one in sent(asks[0])["criteria"]] == ["efficiency", "tone"]
    assert asks[0].build().schema == joint_schema(["efficiency", "tone"])


def test_more_votes_add_to_those_there_are():
    few = {ask.key for ask in worklist(votes=1).asks({})}
    many = [ask.key for ask in worklist(votes=3).asks({})]
    assert few == set(many[: len(few)])
    assert len(many) == len(set(many)) == 12


def test_votes_are_shown_in_balanced_order_alike_for_all_criteria_of_a_pair():
    for number in range(20):
        name = f"item {number}"
        orders = [shown_order(name, repeat) for repeat in range(5)]
        assert orders.count("ba") in (2, 3)
    first = [shown_order(f"item {number}", 0) for number in range(200)]
    assert 70 < first.count("ab") < 130
    for ask in worklist(votes=2).asks({}):
        assert ask.blank.order == shown_order(ask.blank.subject_id, ask.blank.repeat)


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_a_verdict_names_the_answer_not_its_place(order):
    start = worklist().asks({})[0].blank.model_copy(update={"order": order})
    found = read_single(reply({"reason": "Shorter.", "better": "first"}), start)
    assert (found.state, found.label, found.text) == ("scored", order[0], "Shorter.")
    other = read_single(reply({"reason": "", "better": "Second response"}), start)
    assert other.label == order[1]


@pytest.mark.parametrize(
    ("document", "state", "reason"),
    [
        ({"reason": "", "better": "both"}, "ok", "names 'both'"),
        ({"reason": ""}, "ok", "no 'better'"),
        ({"not_covered": "not a probe"}, "ok", "not covered"),
        ("I refuse.", "refused", "Unusable."),
        ('{"better": "first"', "cut", "Unusable."),
    ],
)
def test_a_reply_without_a_verdict_is_unscored(document, state, reason):
    found = read_single(reply(document, state), worklist().asks({})[0].blank)
    assert found.state == "unscored"
    assert reason in found.detail


def test_a_misfit_is_read_where_it_names_a_response():
    found = read_single(reply('{"better": "second"}', "unreadable"), worklist().asks({})[0].blank)
    assert found.state == "scored"
    assert found.detail


def test_joint_verdicts_are_kept_by_criterion_and_never_mixed_up():
    start = worklist(parts=("joint",)).asks({})[0].blank.model_copy(update={"order": "ba"})
    said = {"verdicts": [
        {"id": "tone", "reason": "Warm.", "better": "first"},
        {"id": "price", "reason": "", "better": "first"},
        {"id": "efficiency", "reason": "Short.", "better": "second"},
    ]}  # fmt: skip
    found = read_joint(("efficiency", "tone"), reply(said), start)
    assert found.data["labels"] == {"efficiency": "a", "tone": "b"}
    assert found.data["reasons"]["tone"] == "Warm."
    assert found.detail == ""


def test_joint_verdicts_that_are_missing_or_contradict_each_other_are_unreadable():
    start = worklist(parts=("joint",)).asks({})[0].blank
    twice = [{"id": "tone", "reason": "", "better": place} for place in ("first", "second")]
    one = {"id": "efficiency", "reason": "", "better": "first"}
    found = read_joint(("efficiency", "tone"), reply({"verdicts": [*twice, one]}), start)
    assert set(found.data["labels"]) == {"efficiency"}
    assert "tone" in found.detail
    none = read_joint(("efficiency", "tone"), reply({"verdicts": twice}), start)
    assert none.state == "unscored"
    assert read_joint(("tone",), reply({"verdicts": ["x", 3]}), start).state == "unscored"
