"""Model outputs as benchmarks publish them, promptfoo's, and OpenAI Batch files."""

import re

import pytest

from atom.errors import FormatError
from atom.formats import detect
from tests.imports import cut_files, expected, on_disk, take, uploaded

# --- MMMU ---


def test_letters_are_compared_with_the_key(shared_folder):
    names = "answer_dict_val.json", "llava1.5_13b_total_val_output.json"
    found = take(None, *on_disk(shared_folder / "real" / "mmmu", *names))
    wanted = expected(shared_folder)["mmmu"]["llava1.5_13b_multiple_choice"]
    assert len(found.outcomes) == wanted["rows"]
    assert sum(outcome.value for outcome in found.outcomes) == wanted["correct"]
    assert any(note.startswith("53 times: a short answer") for note in found.report.notes)
    assert len({value for values in found.tagged("subject").values() for value in values}) == 30


@pytest.mark.slow
def test_mmmu_pro_options_are_a_list_in_a_string(shared_folder):
    folder = shared_folder / "real" / "mmmu"
    found = take(None, *on_disk(folder, "mmmu-pro_gpt-4o_standard10_direct.jsonl"))
    wanted = expected(shared_folder)["mmmu"]["mmmu-pro_standard10_direct"]
    assert len(found.samples) == wanted["rows"]
    assert sum(outcome.value for outcome in found.outcomes) == wanted["if_right"]
    assert all(len(sample.choices) >= 2 for sample in found.samples)
    right = {o.response_id: o for o in found.outcomes}
    samples = {sample.id: sample for sample in found.samples}
    letters = 0
    for response in found.responses:
        sample, outcome = samples[response.sample_id], right[response.id]
        at = "ABCDEFGHIJ".find(outcome.answer) if len(outcome.answer) == 1 else -1
        letters += 0 <= at < len(sample.choices) and sample.choices[at] == sample.reference
    # Another letter is as good where two options have one text.
    twins = sum(len(set(sample.choices)) < len(sample.choices) for sample in found.samples)
    assert 0 <= letters - wanted["pred_equals_answer"] <= twins < 60


def test_raw_outputs_name_model_and_options(shared_folder):
    folder = shared_folder / "real" / "mmmu" / "llava1.5_13b_raw"
    found = take(None, *on_disk(folder, "Art.json"))
    assert found.report.candidates == ("llava1.5_13b",)
    assert found.samples[0].reference == "Hermione"
    assert found.samples[0].choices == ("Aurelia", "Matilda", "Hermione", "Juno")


def test_a_reply_and_what_was_read_in_it_are_one_answer(shared_folder):
    folder = shared_folder / "real" / "mmmu"
    names = (
        "answer_dict_val.json",
        "llava1.5_13b_total_val_output.json",
        "llava1.5_13b_raw/Art.json",
    )
    found = take(None, *on_disk(folder, *names))
    named = {sample.id: sample.source_id for sample in found.samples}
    art = [a for a in found.responses if re.fullmatch(r"validation_Art_\d+", named[a.sample_id])]
    assert len(art) == 30
    assert found.report.doubts == ()


def test_an_answer_without_a_letter_is_unscored_and_a_missing_one_is_none():
    key = {"validation_Art_1": {"question_type": "multiple-choice", "ground_truth": "B"}}
    said = {"validation_Art_1": "the second one"}
    found = take(None, uploaded("k.json", key), uploaded("m_output.json", said))
    assert found.outcomes == []
    assert any("it stays unscored" in note for note in found.report.notes)
    empty = take(None, uploaded("k.json", key), uploaded("m_output.json", dict.fromkeys(key)))
    assert empty.responses[0].state == "unscored"


# --- MM-Vet and HallusionBench ---


def test_ungraded_answers_come_in_under_their_ids(shared_folder):
    names = "llava_llama2_13b_chat.json", "v2_gpt-4o-2024-05-13_detail-high.json"
    found = take(None, *on_disk(shared_folder / "real" / "mm_vet", *names))
    assert (len(found.responses), len(found.outcomes)) == (218 + 517, 0)


def test_mm_vet_questions_give_pictures_and_capabilities():
    questions = {
        "v1_0": {
            "imagename": "v1_0.png", "question": "x?", "answer": "-1<AND>-5",
            "capability": ["ocr", "math"],
        }
    }  # fmt: skip
    found = take(None, uploaded("m.json", {"v1_0": "-1"}), uploaded("mm-vet.json", questions))
    (sample,) = found.samples
    assert (sample.question, sample.reference) == ("x?", "-1<AND>-5")
    assert found.tagged("capability") == {sample.id: ["ocr", "math"]}
    assert found.report.missing_pictures == ("v1_0.png",)


def test_hallusionbench_questions_have_names_of_six_parts(shared_folder):
    names = "HallusionBench.json", "HallusionBench_result_sample.json"
    found = take(None, *on_disk(shared_folder / "real" / "hallusionbench", *names))
    assert "VD_illusion_1_0_0_0" in {sample.source_id for sample in found.samples}
    assert (len(found.responses), found.report.n_skipped) == (254, 0)
    assert {sample.reference for sample in found.samples} == {"Yes", "No", None}
    assert any("worded otherwise" in note for note in found.report.notes)


# --- promptfoo ---


def entry(test=0, provider="openai:gpt", **more):
    return {
        "promptIdx": 0, "testIdx": test, "provider": {"id": provider, "label": ""},
        "prompt": {"raw": f"How many at {test}?", "label": "p"}, "vars": {"at": test},
        "response": {"output": "3"}, "success": True, "score": 1,
        "gradingResult": {"pass": True, "score": 1},
        "testCase": {"assert": [{"type": "equals", "value": "3"}], "metadata": {"skill": "count"}},
        **more,
    }  # fmt: skip


@pytest.mark.parametrize("nested", [True, False])
def test_promptfoo_entries_are_found_where_each_version_keeps_them(nested):
    entries = [
        entry(),
        entry(score=0.5, response={"output": {"n": 2}}),
        entry(1, "other", response={}, error="no key", success=False, score=0),
        entry(2, score=None, gradingResult=None),
        entry(3, prompt={"raw": '[{"role": "system", "content": "s"}, {"role": "user", "content": '
                                '[{"type": "text", "text": "In parts?"}]}]'}),
        entry(4, prompt={}),
    ]  # fmt: skip
    whole = {"evalId": "e", "results": {"version": 3, "results": entries} if nested else entries}
    found = take(None, uploaded("out.json", whole))
    assert [sample.question for sample in found.samples] == [
        "How many at 0?", "How many at 1?", "How many at 2?", "In parts?",
    ]  # fmt: skip
    assert [(r.repeat, r.state) for r in found.responses[:3]] == [
        (0, "scored"), (1, "scored"), (0, "failed"),
    ]  # fmt: skip
    assert [outcome.value for outcome in found.outcomes] == [1, 0.5, 1]
    assert found.responses[2].detail == "no key"
    assert found.samples[0].reference == "3"
    assert set(found.tagged("skill")) == {sample.id for sample in found.samples}
    assert found.report.n_skipped == 1


def test_a_promptfoo_entry_that_is_no_object_is_named():
    asked = {"prompt": {"raw": "Q?"}, "provider": "m", "response": {"output": "A"}}
    found = take("promptfoo", uploaded("o.json", {"results": ["x", asked]}))
    assert found.report.skipped == ("o.json entry 1: it is no object",)
    assert (found.report.rows, found.report.responses) == (2, 1)


def test_promptfoo_without_results_is_refused():
    with pytest.raises(FormatError, match="no entries"):
        take("promptfoo", uploaded("o.json", {"results": {"results": []}}))


# --- OpenAI Batch ---


def request(name, text="What is it?"):
    content = [
        {"type": "text", "text": text},
        {"type": "image_url", "image_url": {"url": "https://example.invalid/a.png"}},
    ]
    messages = [{"role": "system", "content": "s"}, {"role": "user", "content": content}]
    return {
        "custom_id": name, "method": "POST", "url": "/v1/chat/completions",
        "body": {"model": "gpt-x", "messages": messages},
    }  # fmt: skip


def reply(name, text="A cat."):
    body = {"model": "gpt-x-2026", "choices": [{"message": {"content": text}}]}
    return {"id": "b", "custom_id": name, "response": {"status_code": 200, "body": body}}


def test_batch_replies_find_their_requests_in_any_order():
    requests = [request("a"), request("b", "Other?"), request("c", "Third?"), request("a")]
    replies = [reply("c", "Three."), reply("a"), reply("z"), reply("a", "again")]
    errors = [{"custom_id": "b", "response": {"status_code": 500, "body": {}}, "error": None}]
    found = take(
        None,
        uploaded("out.jsonl", replies),
        uploaded("in.jsonl", requests),
        uploaded("err.jsonl", errors),
    )
    assert [sample.source_id for sample in found.samples] == ["a", "b", "c"]
    assert [(r.state, r.text) for r in found.responses] == [
        ("scored", "A cat."), ("failed", ""), ("scored", "Three."),
    ]  # fmt: skip
    assert found.responses[1].detail == "the request failed with status 500"
    reasons = [line.split(": ", 1)[1] for line in found.report.skipped]
    assert reasons == [
        "a reply to 'a' stood before", "its custom_id stood before",
        "no request has the custom_id 'z'",
    ]  # fmt: skip
    assert found.report.missing_pictures == ("https://example.invalid/a.png",)


def test_requests_without_replies_are_counted_and_replies_alone_refused():
    found = take(None, uploaded("in.jsonl", [request("a"), request("b", "Other?")]),
                 uploaded("out.jsonl", [reply("a")]))  # fmt: skip
    assert any(note.startswith("1 requests have no reply") for note in found.report.notes)
    with pytest.raises(FormatError, match="without what was asked"):
        take(None, uploaded("out.jsonl", [reply("a")]))


# --- all ---


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("mmmu", "mmmu/answer_dict_val.json"),
        ("mmmu", "mmmu/mmmu-pro_gpt-4o_standard10_direct.jsonl"),
        ("mm-vet", "mm_vet/llava_llama2_13b_chat.json"),
        ("hallusionbench", "hallusionbench/HallusionBench.json"),
    ],
)
def test_cut_files_are_read_as_far_as_they_go(shared_folder, name, path):
    cut_files(name, shared_folder / "real" / path, 3)


def test_a_plain_table_is_still_a_table():
    for name, text in (
        ("a.csv", "input,target,response\nq,a,b\n"),
        ("a.jsonl", '{"input": "q", "target": "a", "response": "b"}\n'),
        ("a.json", '[{"question": "q", "results": 1, "options": ["a"]}]'),
    ):
        assert detect([uploaded(name, text)]).name == "table"
