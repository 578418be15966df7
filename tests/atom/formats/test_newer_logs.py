"""Newer logs of known tools, each kind as a case in `shared/real/cases/logs` has it."""

import io
import json
import struct
import zipfile
import zlib

import pyarrow as pa
import pytest

from atom.errors import FormatError
from atom.formats import ImportFile
from tests.imports import on_disk, take, uploaded


@pytest.fixture(scope="module")
def logs(shared_folder):
    return shared_folder / "real" / "cases" / "logs"


def one(folder, *names, **options):
    found = names or sorted(path.name for path in folder.iterdir() if path.name != "CASE.md")
    return take(None, *on_disk(folder, *found), **options)


def texts(taken):
    return [(response.repeat, response.text) for response in taken.responses]


def graded(taken):
    """Return the verdict on each answer, None where the file has none."""
    by_answer = {outcome.response_id: outcome.value for outcome in taken.outcomes}
    return [by_answer.get(response.id) for response in taken.responses]


# --- Inspect ---------------------------------------------------------------------------------


def inspect_log(samples, results=None, *, method=zipfile.ZIP_DEFLATED, **members):
    """Pack a log; zstd members are written by hand, since this Python's `zipfile` can't."""
    header = {
        "version": 2, "status": "success", "results": results or {},
        "eval": {"task": "t", "task_id": "i", "model": "m", "dataset": {"name": "d"}},
    }  # fmt: skip
    content = {"header.json": header, **members}
    content |= {f"samples/{n}_epoch_1.json": sample for n, sample in enumerate(samples, 1)}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in content.items():
            archive.writestr(name, json.dumps(value))
    return ImportFile.from_bytes("l.eval", out.getvalue() if method == 8 else zstd(content))


def zstd(content, *, broken=False):
    """Write a ZIP whose members are packed with method 93."""
    body, central = io.BytesIO(), []
    for name, value in content.items():
        raw = json.dumps(value).encode()
        packed = pa.Codec("zstd").compress(raw).to_pybytes()
        crc = zlib.crc32(raw) ^ broken
        fields = (20, 0, 93, 0, 0, crc, len(packed), len(raw), len(name), 0)
        central.append((name, body.tell(), fields))
        body.write(struct.pack("<4s5H3I2H", b"PK\x03\x04", *fields) + name.encode() + packed)
    start = body.tell()
    for name, at, fields in central:
        more = (0, 0, 0, 0, at)
        body.write(struct.pack("<4sH5H3I2H", b"PK\x01\x02", 20, *fields))
        body.write(struct.pack("<3H2I", *more) + name.encode())
    size, n = body.tell() - start, len(central)
    body.write(struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, n, n, size, start, 0))
    return body.getvalue()


def sample(number, scores=None, **more):
    return {
        "id": number, "epoch": 1, "input": f"Question {number}?", "target": "4",
        "output": {"choices": [{"message": {"content": "4"}, "stop_reason": "stop"}]},
        **({} if scores is None else {"scores": scores}), **more,
    }  # fmt: skip


def test_members_packed_with_zstd_are_read(logs):
    folder = logs / "01-inspect-zstd"
    packed, plain = one(folder, "shelf.eval"), one(folder, "shelf-deflate.eval")
    assert (
        texts(packed)
        == texts(plain)
        == [(0, "There are 4 jars."), (0, "The red one."), (0, "Yes.")]
    )
    assert graded(packed) == graded(plain) == [1, 0, 1]


def test_a_log_packed_with_zstd_by_hand_is_read_and_a_damaged_one_refused():
    content = {
        "header.json": {"version": 2, "eval": {"task": "t"}},
        "samples/1_epoch_1.json": sample(1),
    }
    found = take("inspect", ImportFile.from_bytes("l.eval", zstd(content)))
    assert texts(found) == [(0, "4")]
    with pytest.raises(FormatError, match="checksum"):
        take("inspect", ImportFile.from_bytes("l.eval", zstd(content, broken=True)))


def test_no_more_of_a_member_is_unpacked_than_it_says(monkeypatch):
    """Ten megabytes in a few hundred bytes; the header that says so little is believed."""
    content = {"header.json": {"version": 2, "eval": {"task": "t"}, "a": " " * 10_000_000}}
    told = len(json.dumps(content["header.json"]))
    content["samples/1_epoch_1.json"] = sample(1)
    whole = zstd(content)
    assert texts(take("inspect", ImportFile.from_bytes("l.eval", whole))) == [(0, "4")]
    read = []

    class Stream(pa.CompressedInputStream):
        def read(self, n):
            read.append(n)
            return super().read(n)

    monkeypatch.setattr(pa, "CompressedInputStream", Stream)
    lying = whole.replace(struct.pack("<I", told), struct.pack("<I", 2_000_000))
    with pytest.raises(FormatError, match=r"header\.json in 'l.eval' can't be read"):
        take("inspect", ImportFile.from_bytes("l.eval", lying))
    assert 0 < sum(read) <= 2_000_001


def test_the_scorer_with_an_accuracy_is_followed_and_another_can_be_chosen(logs):
    folder = logs / "05-inspect-two-scorers"
    found = one(folder)
    assert graded(found) == [1, 0, 1]
    (note,) = [note for note in found.report.notes if "--score" in note]
    assert all(name in note for name in ("'match' is followed", "'format_ok'", "'judge'"))
    assert graded(take(None, *on_disk(folder, "log.eval"), score="judge")) == [0.25, 0.25, 0.25]
    with pytest.raises(FormatError, match="no score 'other'; it has 'format_ok', 'judge', 'match'"):
        take(None, *on_disk(folder, "log.eval"), score="other")


def test_a_score_that_is_not_there_is_an_error(logs):
    folder = logs / "25-lmms-eval-empty-answers"
    with pytest.raises(FormatError, match="it has 'exact_match'"):
        one(folder, score="acc")
    table = uploaded("t.csv", "id,question,answer\n1,Q?,a\n")
    with pytest.raises(FormatError, match="no scores to choose among"):
        take("table", table, score="acc")


def test_scores_that_stand_in_reductions_only_are_found():
    reduced = [
        {
            "scorer": "match",
            "samples": [{"sample_id": 1, "value": 1.0}, {"sample_id": 2, "value": "I"}],
        }
    ]
    results = {"scores": [{"name": "match", "metrics": {"accuracy": {"value": 0.5}}}]}
    log = inspect_log([sample(1), sample(2), sample(3)], results, **{"reductions.json": reduced})
    found = take("inspect", log)
    assert graded(found) == [1, 0, None]
    assert any("for all its epochs" in note for note in found.report.notes)


def test_numbers_that_are_none_leave_their_sample_unscored_and_the_others_alone(logs):
    for name in ("log.eval", "log.json"):
        found = one(logs / "02-inspect-nan-list", name)
        assert graded(found) == [1, None, None]
        assert [outcome.state for outcome in found.outcomes] == ["scored", "unscored", "unscored"]


def test_why_an_answer_is_no_ordinary_one_and_its_thoughts_are_kept_apart():
    def said(content, stop="stop"):
        return {"output": {"choices": [{"message": {"content": content}, "stop_reason": stop}]}}

    parts = [{"type": "reasoning", "reasoning": "Hm."}, {"type": "text", "text": "4"}]
    found = take(
        "inspect",
        inspect_log(
            [
                sample(1, **said(parts)),
                sample(2, **said("<think>40?</think>42")),
                sample(3, **said("Half an ans", "max_tokens")),
                sample(4, **said("", "content_filter")),
                sample(5, **said("<think>on and on")),
            ]
        ),
    )
    told = [(r.text, r.thoughts, r.cause) for r in found.responses]
    assert told == [
        ("4", "Hm.", ""), ("42", "40?", ""), ("Half an ans", "", "cut"), ("", "", "filtered"),
        ("", "on and on", "cut"),
    ]  # fmt: skip


# --- lmms-eval and lm-evaluation-harness -------------------------------------------------------


def test_of_likelihoods_the_likeliest_option_is_the_answer(logs):
    found = one(logs / "07-lm-eval-loglikelihood")
    assert texts(found) == [(0, "square"), (0, "circle"), (0, "star")]
    assert [s.reference for s in found.samples] == ["square", "star", "star"]
    assert graded(found) == [1, 0, 1]


def test_options_that_stand_in_the_arguments_only_are_found():
    row = {
        "doc_id": 0, "doc": {"query": "Which?"}, "target": " b", "acc": 1.0, "filtered_resps": [],
        "resps": [[["-2.5", "False"]], [["-0.5", "True"]]],
        "arguments": {
            f"gen_args_{n}": {"arg_0": "Which?", "arg_1": f" {c}"} for n, c in enumerate("ab")
        },
    }  # fmt: skip
    found = take(None, uploaded("1_samples_t.jsonl", [row]))
    assert texts(found) == [(0, "b")]
    assert found.samples[0].choices == ("a", "b")
    assert found.samples[0].reference == "b"


def test_several_answers_to_a_document_are_repeats(logs):
    found = one(logs / "09-lmms-eval-repeats")
    assert texts(found)[:3] == [(0, "STOP"), (1, "STEP"), (2, "STOP")]
    assert texts(found)[9:] == [(0, "STOP"), (1, "STAP"), (2, "STIP")]
    # The file's mean stays what it is: (.6667 + .6667 + .6667 + 1) / 4 = .75.
    assert graded(found)[9:] == [1, None, None]
    assert graded(found)[:3] == [0.6667] * 3
    assert any("0.7500" in note for note in found.report.notes)


def test_thoughts_are_kept_apart_and_a_cut_thought_is_no_answer(logs):
    found = one(logs / "10-lmms-eval-reasoning-tags")
    assert texts(found) == [(0, "42"), (0, ""), (0, "9")]
    assert [r.thoughts for r in found.responses] == [
        "The needle could be at 40. No, 24? I go with 42.", "The needle is between 6 and",
        "it says so.",
    ]  # fmt: skip
    assert [r.cause for r in found.responses] == ["", "cut", ""]
    assert graded(found) == [1, 0, 1]


def test_a_row_for_each_filter_is_one_answer():
    def rows(number):
        for name, value in (("strict", 0.0), ("flexible", 1.0)):
            yield {
                "doc_id": number, "input": f"Question {number}?", "target": "4", "filter": name,
                "resps": [["It is 4"]], "filtered_resps": ["4"], "exact_match": value,
            }  # fmt: skip

    log = uploaded("1_samples_t.jsonl", [row for number in range(3) for row in rows(number)])
    found = take(None, log)
    assert graded(found) == [0, 0, 0]
    assert found.report.n_skipped == 0
    assert any("strict is followed; flexible" in note for note in found.report.notes)
    assert graded(take(None, log, score="flexible")) == [1, 1, 1]


def test_all_pictures_of_a_document_are_named():
    row = {
        "doc_id": 0, "input": "Same?", "target": "no", "resps": ["no"], "filtered_resps": ["no"],
        "doc": {"image_2": "b.png", "image_1": "a.png", "image_3": "", "note": "x"},
    }  # fmt: skip
    found = take(None, uploaded("1_samples_t.jsonl", [row]))
    assert [slot.name for slot in found.samples[0].pictures] == ["a.png", "b.png"]


def test_an_empty_answer_that_the_file_grades_keeps_its_grade(logs):
    found = one(logs / "25-lmms-eval-empty-answers")
    assert graded(found) == [1, 1] + [0] * 8
    assert [r.cause for r in found.responses] == ["", ""] + ["empty"] * 8


# --- batches -----------------------------------------------------------------------------------


def test_batches_on_responses_are_read(logs):
    found = one(logs / "15-batch-responses-api")
    assert [s.question for s in found.samples] == [
        "Question 1: name the colour.", "Question 2: name the colour.",
    ]  # fmt: skip
    assert texts(found) == [(0, "red"), (0, "red")]
    assert all(s.pictures[0].picture_id for s in found.samples)
    assert set(found.candidates.values()) == {"acme-pro"}


def test_why_a_batch_gave_no_ordinary_answer():
    def asked(name):
        return {
            "custom_id": name,
            "method": "POST",
            "url": "/v1/responses",
            "body": {"model": "m", "input": f"{name}?"},
        }

    def said(name, body):
        return {"custom_id": name, "response": {"status_code": 200, "body": {"model": "m", **body}}}

    def message(*parts):
        return {"output": [{"type": "message", "content": list(parts)}]}

    cut = {"incomplete_details": {"reason": "max_output_tokens"}}
    refusal = {"type": "refusal", "refusal": "No."}
    chat = {"choices": [{"message": {"content": None, "refusal": "No."}, "finish_reason": "stop"}]}
    thinking = {
        "output": [
            {"type": "reasoning", "summary": [{"text": "Hm"}]},
            *message({"text": "4"})["output"],
        ]
    }
    bodies = [message({"text": "Half"}) | cut, message(refusal), chat, thinking]
    found = take(
        "openai-batch",
        uploaded("in.jsonl", [asked(f"q{n}") for n in range(len(bodies))]),
        uploaded("out.jsonl", [said(f"q{n}", body) for n, body in enumerate(bodies)]),
    )
    assert [(r.text, r.cause, r.thoughts) for r in found.responses] == [
        ("Half", "cut", ""), ("", "refused", ""), ("", "refused", ""), ("4", "", "Hm"),
    ]  # fmt: skip
    assert all(r.state != "failed" for r in found.responses)


# --- what was right and stays so ------------------------------------------------------------------


def test_half_a_letter_is_shown_as_a_question_mark(logs):
    assert all("�" in r.text or r.text.isascii() for r in one(logs / "17-lone-surrogate").responses)


@pytest.mark.parametrize("name", ["big.csv", "big.jsonl", "big.parquet"])
def test_large_ids_stay_apart(logs, name):
    ids = [s.source_id for s in one(logs / "18-large-ids", name).samples]
    assert len(set(ids)) == len(ids)
    assert all(len(i) >= 16 for i in ids)


def test_nested_columns_of_parquet_come_in(logs):
    found = one(logs / "19-parquet-nested")
    assert [len(s.pictures) for s in found.samples] == [2, 1]
    assert [s.choices for s in found.samples] == [("first", "second"), ("yes", "no")]
