import json
from functools import partial

import pytest

from atom.judge.reply import Reply
from atom.judge.request import TextPart
from atom.judge.templates import load_template
from atom.judgebench.base import BenchPlan
from atom.judgebench.mm_critic.ask import (
    COMPARE,
    COMPARE_SCHEMA,
    CORRECTION,
    CORRECTION_SCHEMA,
    CRITIQUE,
    CRITIQUE_SCHEMA,
    PARAPHRASE,
    PARAPHRASE_PART,
    PARAPHRASE_SCHEMA,
    REFERENCE_PART,
    REWRITE_PART,
    RUBRIC_SCORE,
    SCORE,
    SCORE_SCHEMA,
    USUAL,
    make_worklist,
    read_correction,
    read_critique,
    read_preference,
    read_score,
    score_part,
)
from atom.records import Call, Sampling
from tests.atom.judgebench.mm_critic.test_data import BASIC, FIX, PAIR, read

MORE = {**BASIC, "more_references": [{"annotator": "Gemini", "critique": "Good."}]}


def plan(rows=(BASIC, FIX, PAIR), **more):
    options = {"scorer": "s", "parts": USUAL, "sampling": Sampling(temperature=0.0), **more}
    return BenchPlan(set_id="set", items=read(*rows).items, pictures=lambda _: (), judge="j",
                     **options)  # fmt: skip


def reply(document, state="ok"):
    call = Call(id="call", request_hash="h", task="t", endpoint="e", model="GPT-4.1", prompt="p")
    text = document if isinstance(document, str) else json.dumps(document)
    data = document if state == "ok" and isinstance(document, dict) else None
    return Reply(state=state, text=text, call=call, data=data, reason="" if data else "Unusable.")


def sent(ask):
    text = next(part.text for part in ask.build().parts if isinstance(part, TextPart))
    return json.loads(text.split("BEGIN DATA")[1].split("END DATA")[0])


ANSWERS = {
    "mmc_critique": {"critique": "It is fine.", "verdict": "right", "score": 9},
    "mmc_correction": {"correction": "Because."},
    "mmc_compare": {"reason": "so", "better": "second"},
    "mmc_score": {"reason": "so", "score": 7},
    "mmc_paraphrase": {"paraphrase": "All well."},
}


def play(worklist, have=None, answers=ANSWERS):
    """Answer round after round until nothing is open; return the rounds and the verdicts."""
    have, rounds = dict(have or {}), []
    while asks := [ask for ask in worklist.asks(have) if ask.key not in have]:
        rounds.append([(ask.by, ask.blank.part) for ask in asks])
        for ask in asks:
            have[ask.key] = ask.read(reply(answers[ask.build().task]), ask.blank)
    return rounds, have


def test_a_text_is_scored_only_once_it_is_there():
    rounds, have = play(make_worklist(plan()))
    first, second = rounds
    assert first == [("judge", "critique"), ("judge", "correction"), ("judge", "compare"),
                     ("scorer", REFERENCE_PART), ("scorer", REWRITE_PART)]  # fmt: skip
    assert sorted(second) == [
        ("scorer", PARAPHRASE_PART),
        ("scorer", "scorer/j/correction"),
        ("scorer", "scorer/j/critique"),
    ]
    assert all(one.state == "scored" for one in have.values())
    assert play(make_worklist(plan()), have)[0] == []


def test_a_text_that_could_not_be_read_is_never_scored():
    answers = {**ANSWERS, "mmc_critique": "no object", "mmc_correction": {}}
    rounds, _ = play(make_worklist(plan()), answers=answers)
    assert rounds[1:] == [[("scorer", PARAPHRASE_PART)]]


def test_without_a_scorer_only_the_judge_is_asked():
    rounds, _ = play(make_worklist(plan(scorer=None)))
    assert rounds == [[("judge", "critique"), ("judge", "correction"), ("judge", "compare")]]
    rounds, _ = play(make_worklist(plan(parts=("compare",))))
    assert rounds == [[("judge", "compare")]]


def test_the_usual_parts_are_asked_where_none_are_named():
    def keys(worklist):
        return [ask.key for ask in worklist.asks({})]

    assert keys(make_worklist(plan(parts=()))) == keys(make_worklist(plan()))


def test_a_second_judge_does_not_pay_for_the_audit_again():
    _, have = play(make_worklist(plan()))
    other = BenchPlan(set_id="set", items=plan().items, pictures=lambda _: (), judge="other",
                      scorer="s", parts=USUAL, sampling=Sampling(temperature=0.0))  # fmt: skip
    rounds, _ = play(make_worklist(other), have)
    assert {by for by, _ in rounds[0]} == {"judge"}
    assert {part for _, part in rounds[1]} == {"scorer/other/critique", "scorer/other/correction"}


def test_the_scorer_sees_reference_and_text_but_not_whose_they_are():
    _, have = play(make_worklist(plan()))
    asks = {ask.blank.part: ask for ask in make_worklist(plan()).asks(have)}
    shown = sent(asks["scorer/j/critique"])
    assert (shown["kind"], shown["reference"], shown["text"]) == ("critique", "Fine.",
                                                                 "It is fine.")  # fmt: skip
    blind = sent(asks[REFERENCE_PART])
    assert (blind["reference"], blind["text"]) == ("Fine.", "Fine.")
    assert set(blind) == set(shown)
    assert sent(asks[PARAPHRASE_PART])["text"] == "All well."


def test_the_judge_is_never_shown_what_it_is_held_to():
    for ask in make_worklist(plan(scorer=None)).asks({}):
        shown = json.dumps(sent(ask))
        assert "Fine." not in shown
        assert "Because." not in shown


def test_repeats_and_other_annotators_are_scored_one_by_one():
    rounds, have = play(make_worklist(plan((MORE,), votes=2, parts=("critique", "swap"))))
    assert sorted(part for _, part in rounds[1]) == sorted(
        2 * [score_part("j", "critique"), score_part("j", "critique", 1)]
    )
    written = {one.data["annotator"] for one in have.values() if "of" in one.data}
    assert written == {"GPT-4o", "Gemini"}


def test_both_orders_are_shown_in_turn_and_read_back_to_the_files_side():
    asks = make_worklist(plan((PAIR,), votes=4)).asks({})
    assert [ask.blank.order for ask in asks] == ["ba", "ab", "ba", "ab"]
    assert sent(asks[0])["first"] == "That."
    picked = asks[0].read(reply({"reason": "", "better": "first"}), asks[0].blank)
    assert (picked.label, picked.data["shown"]) == ("b", "first")


def test_half_a_critique_still_counts_for_what_it_holds():
    blank = make_worklist(plan()).asks({})[0].blank
    partly = read_critique(
        reply('{"critique": "No.", "verdict": "who knows"}', "unreadable"), blank
    )
    assert (partly.state, partly.label, partly.value, partly.text) == ("scored", "", None, "No.")
    assert partly.detail == "The reply has no readable claim and no readable score."


@pytest.mark.parametrize(
    ("prompt", "schema"),
    [(CRITIQUE, CRITIQUE_SCHEMA), (CORRECTION, CORRECTION_SCHEMA), (COMPARE, COMPARE_SCHEMA),
     (SCORE, SCORE_SCHEMA), (PARAPHRASE, PARAPHRASE_SCHEMA)],
)  # fmt: skip
def test_every_prompt_names_what_it_is_given_and_what_it_asks_for(prompt, schema):
    template = load_template(prompt)
    assert template.reply == f"atomscope_{template.id}"
    assert all(f"`{name}`" in template.sections["user"] for name in template.variables)
    assert all(f'"{key}"' in template.sections["user"] for key in schema["properties"])
    assert "addressed to you" in template.sections["system"]


def test_replies_that_cannot_be_used_say_why():
    blank = make_worklist(plan()).asks({})[0].blank
    cases = [
        (read_critique, reply("Sorry.", "refused"), "Unusable."),
        (read_correction, reply({"not_covered": "no picture"}), "not covered: no picture"),
        (read_preference, reply({"better": "neither"}), "first or second was asked for"),
        (partial(read_score, about={}), reply({"score": 11}), "not one of 0 to 10"),
        (partial(read_score, about={}), reply({"score": True}), "not one of 0 to 10"),
    ]
    for reader, said, words in cases:
        found = reader(said, blank)
        assert (found.state, found.value) == ("unscored", None)
        assert words in found.detail


def test_the_scorer_alone_is_shown_a_sets_rubrics_and_asked_alike_of_all():
    rows = ({"task_type": "science", "rubric": "Facts."}, BASIC, FIX)
    worklist = make_worklist(plan(rows))
    first = worklist.asks({})
    judge = [ask for ask in first if ask.by == "judge"]
    assert {ask.blank.prompt for ask in judge} == {CRITIQUE, CORRECTION}
    assert all("rubric" not in sent(ask) for ask in judge)
    have = {}
    for ask in judge:
        have[ask.key] = ask.read(reply(ANSWERS[ask.blank.prompt.partition("/")[0]]), ask.blank)
    scores = [ask for ask in worklist.asks(have) if ask.blank.part.startswith("scorer/j/")]
    assert {sent(ask)["kind"]: sent(ask)["rubric"] for ask in scores} == {
        "critique": "Facts.", "correction": "",
    }  # fmt: skip
    assert all(ask.blank.prompt.startswith(f"{RUBRIC_SCORE} of ") for ask in scores)
