import io
import json
import zipfile

import pytest

from atom.errors import FormatError
from atom.formats import ImportFile
from tests.imports import cut_files, on_disk, take, uploaded

HEADER = {"version": 2, "status": "success", "eval": {"task": "t", "task_id": "1", "model": "m"}}
SAMPLE = {
    "id": 1, "epoch": 1, "input": "Q?", "target": "A", "choices": ["one", "two"],
    "output": {"choices": [{"message": {"content": "ANSWER: A"}, "stop_reason": "stop"}]},
    "scores": {"choice": {"value": "C", "answer": "A"}}, "metadata": {"subject": "physics"},
}  # fmt: skip


def log(*samples, **header):
    return uploaded("log.json", {**HEADER, **header, "samples": list(samples)})


def eval_file(samples, header=HEADER, name="x.eval"):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_journal/start.json", json.dumps(HEADER))
        if header is not None:
            archive.writestr("header.json", json.dumps(header))
        for number, sample in enumerate(samples):
            text = sample if isinstance(sample, str) else json.dumps(sample)
            archive.writestr(f"samples/{number}_epoch_1.json", text)
    return ImportFile.from_bytes(name, out.getvalue())


@pytest.mark.parametrize(
    ("name", "samples", "graded", "mean"),
    [
        ("2025-02-11T15-17-00-05-00_popularity_dPiJifoWeEQBrfWsAopzWr.eval", 10, 0, None),
        ("2025-05-12T20-28-13-04-00_popularity.json", 3, 3, "0.6667"),
        ("log_images.json", 1, 1, "0.0000"),
        ("log_length_stop_reason.txt", 1, 1, "0.0000"),
        ("log_read_sample.eval", 1, 1, "1.0000"),
        ("log_read_sample.json", 1, 1, "1.0000"),
        ("mmlu-summary-choices.eval", 1, 1, "0.0000"),
    ],
)
def test_real_logs_come_in_with_the_score_they_say(shared_folder, name, samples, graded, mean):
    found = take(None, *on_disk(shared_folder / "real" / "inspect", name))
    assert (found.report.format, len(found.samples), len(found.outcomes)) == (
        "inspect", samples, graded,
    )  # fmt: skip
    assert len(found.responses) == samples
    if mean is not None:
        line = f"{name}: mean score {mean} (n = {graded}); the log says {mean}"
        assert line in found.report.notes


def test_a_picture_in_the_attachments_is_kept(shared_folder):
    found = take(None, *on_disk(shared_folder / "real" / "inspect", "log_images.json"))
    assert found.report.pictures == 1
    assert found.samples[0].pictures[0].picture_id
    assert found.samples[0].question == "What is this a picture of?"
    assert found.samples[0].reference == "bike"


def test_an_answer_that_was_cut_off_says_so(shared_folder):
    found = take(None, *on_disk(shared_folder / "real" / "inspect", "log_length_stop_reason.txt"))
    assert found.responses[0].detail == "cut off at the length limit"
    assert found.responses[0].text == "Hello"


def test_a_log_without_samples_is_refused_even_with_nan(shared_folder):
    with pytest.raises(FormatError, match="results without samples"):
        take(None, *on_disk(shared_folder / "real" / "inspect", "log_with_nan.txt"))


def test_choices_letters_and_labels():
    found = take(None, log(SAMPLE))
    (sample,) = found.samples
    assert (sample.choices, sample.reference) == (("one", "two"), "one")
    assert found.tagged("subject") == {sample.id: ["physics"]}
    assert found.outcomes[0].value == 1


def test_epochs_are_repeats_and_scores_of_all_kinds_are_read():
    values = ["C", "P", "I", "N", 0.25, float("nan"), "seven", True, {"a": 1}]
    samples = [
        {**SAMPLE, "epoch": at, "scores": {"s": {"value": value}}}
        for at, value in enumerate(values, start=1)
    ]
    found = take(None, log(*samples))
    assert len(found.samples) == 1
    assert [response.repeat for response in found.responses] == list(range(9))
    assert [outcome.value for outcome in found.outcomes] == [
        1, 0.5, 0, 0, 0.25, None, None, 1, None,
    ]  # fmt: skip
    assert {o.state for o in found.outcomes if o.value is None} == {"unscored"}


def test_failed_unscored_and_empty_samples_say_why():
    failed = {**SAMPLE, "id": 2, "output": {}, "scores": {}, "error": {"message": "Out of memory"}}
    found = take(None, log(failed, {**SAMPLE, "id": 3, "input": ""}, 7))
    assert (found.responses[0].state, found.responses[0].detail) == ("failed", "Out of memory")
    assert not found.outcomes
    assert [line.split(": ", 1)[1] for line in found.report.skipped] == [
        "it has no input", "it is no object",
    ]  # fmt: skip


def test_samples_of_a_zip_are_read_one_by_one_and_a_broken_one_costs_only_itself():
    samples = [{**SAMPLE, "id": at} for at in range(3)]
    found = take(None, eval_file([*samples, '{"id": 4, "inp']))
    assert len(found.samples) == 3
    assert "can't be read" in found.report.skipped[0]
    started = take(None, eval_file(samples, header=None))
    assert len(started.samples) == 3


def test_other_zips_are_refused():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(FormatError, match="is a ZIP without"):
        take(None, ImportFile.from_bytes("x.eval", out.getvalue()))


def test_questions_of_a_data_set_come_in_alone(shared_folder):
    found = take(None, *on_disk(shared_folder / "real" / "images_qa" / "inspect", "images.jsonl"))
    assert found.samples[0].reference == "3"
    assert found.report.pictures == 2
    assert not found.responses


@pytest.mark.parametrize("name", ["log_read_sample.eval", "log_read_sample.json"])
def test_cut_logs_are_read_as_far_as_they_go(shared_folder, name):
    cut_files("inspect", shared_folder / "real" / "inspect" / name, 5)
