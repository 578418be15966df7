"""EvalScope's and Every Eval Ever's files, written by hand after their documented layouts."""

import json

from atom.formats import ImportFile
from tests.imports import take, uploaded

PNG = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9"
    "awAAAABJRU5ErkJggg=="
)


def review(index, value, *, prediction="4", group=None, **more):
    return {
        "index": index, "input": f"**User**: \nQuestion {group or index}?\n![image]({PNG})",
        "target": "4",
        "sample_score": {
            "score": {"value": value, "extracted_prediction": "4", "prediction": prediction},
            "sample_id": index, "group_id": index if group is None else group,
            "sample_metadata": {"subject": "art" if index % 2 else "maths"},
        },
        **more,
    }  # fmt: skip


def prediction(index, content, stop="stop"):
    return {
        "index": index, "model": "acme/vl", "messages": [{"role": "user", "content": "Asked?"}],
        "model_output": {"choices": [{"message": {"content": content}, "stop_reason": stop}]},
    }  # fmt: skip


def on_disk(folder, kind, rows, name="bench_test.jsonl"):
    place = folder / kind / "vl" / name
    place.parent.mkdir(parents=True)
    place.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return ImportFile.from_path(place)


def graded(found):
    by_answer = {outcome.response_id: outcome.value for outcome in found.outcomes}
    return [by_answer.get(response.id) for response in found.responses]


def test_a_review_alone_brings_questions_answers_scores_and_pictures():
    rows = [review(0, {"acc": 1.0, "f1": 0.4}), review(1, {"acc": 0.0, "f1": 0.2}, prediction="5")]
    file = uploaded("bench_test.jsonl", rows)
    found = take(None, file)
    assert found.report.format == "evalscope"
    assert [s.question for s in found.samples] == ["Question 0?", "Question 1?"]
    assert all(s.pictures[0].picture_id for s in found.samples)
    assert [r.text for r in found.responses] == ["4", "5"]
    assert graded(found) == [1, 0]
    assert any("acc is the verdict; f1 stay" in note for note in found.report.notes)
    assert any("mean acc 0.5000 (n = 2)" in note for note in found.report.notes)
    assert graded(take(None, file, score="f1")) == [0.4, 0.2]
    assert sorted(v for vs in found.tagged("subject").values() for v in vs) == ["art", "maths"]


def test_predictions_tell_thoughts_and_why_a_reply_ended(tmp_path):
    parts = [{"type": "reasoning", "reasoning": "Hm."}, {"type": "text", "text": "4"}]
    said = [
        prediction(0, parts),
        prediction(1, "Half an", "max_tokens"),
        prediction(2, "<think>on"),
    ]
    rows = [review(0, {"acc": 1.0}), review(1, {"acc": 0}), review(2, {"acc": 0}, prediction="x")]
    files = on_disk(tmp_path, "reviews", rows), on_disk(tmp_path, "predictions", said)
    found = take(None, *files)
    assert [(r.text, r.thoughts, r.cause) for r in found.responses] == [
        ("4", "Hm.", ""), ("Half an", "", "cut"), ("", "on", "cut"),
    ]  # fmt: skip
    assert graded(found) == [1, 0, 0]
    assert set(found.candidates.values()) == {"acme/vl"}


def test_predictions_without_a_review_bring_answers_without_verdicts(tmp_path):
    found = take(None, on_disk(tmp_path, "predictions", [prediction(0, "4")]))
    assert [(r.text, s.question) for r, s in zip(found.responses, found.samples, strict=True)] == [
        ("4", "Asked?")
    ]
    assert not found.outcomes


def test_samples_of_one_group_are_repeats_of_one_question():
    rows = [review(n, {"acc": n % 2}, group="g", prediction=str(n)) for n in range(3)]
    found = take(None, uploaded("b.jsonl", rows))
    assert len(found.samples) == 1
    assert [(r.repeat, r.text) for r in found.responses] == [(0, "0"), (1, "1"), (2, "2")]
    assert graded(found) == [0, 1, 0]


def record(name, **more):
    return {
        "schema_version": "0.2.1", "evaluation_id": "e", "model_id": "acme/vl",
        "evaluation_name": "shapes", "sample_id": name, "interaction_type": "single_turn",
        "input": {"raw": f"{name}?", "reference": ["B"], "choices": ["red", "blue"]},
        "output": {"raw": ["It is blue."], "reasoning_trace": ["Hm."]},
        "answer_attribution": [{"extracted_value": "B", "is_terminal": True}],
        "evaluation": {"score": 1.0, "is_correct": True}, "metadata": {"level": "easy"}, **more,
    }  # fmt: skip


def test_instance_level_records_come_in():
    spoken = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "red"}]
    rows = [
        record("a"),
        record("b", output={"raw": ["x", "y"]}, evaluation={"score": 0.5, "is_correct": False}),
        record(
            "c", output=None, messages=spoken, evaluation={"score": 7, "is_correct": False},
            interaction_type="multi_turn",
        ),
        record("d", output={"raw": [""]}, error="timeout", evaluation={"score": 0}),
    ]  # fmt: skip
    found = take(None, uploaded("r.jsonl", rows))
    assert found.report.format == "every-eval-ever"
    assert [(r.repeat, r.text, r.state) for r in found.responses] == [
        (0, "It is blue.", "scored"), (0, "x", "scored"), (1, "y", "scored"), (0, "red", "scored"),
        (0, "", "failed"),
    ]  # fmt: skip
    # A score outside of 0 to 1 gives way to the record's own word.
    assert graded(found) == [1, 0.5, 0.5, 0, 0]
    assert found.samples[0].reference == "blue"
    assert found.responses[0].thoughts == "Hm."
    assert found.outcomes[0].answer == "B"
    assert {v for vs in found.tagged("level").values() for v in vs} == {"easy"}
