import json
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atom.errors import FormatError
from atom.formats import ImportFile, read
from benchmarks.import_rate import generate_log
from tests.imports import cut_files, expected, on_disk, take, uploaded

FOLDER = "lmms_eval/liuhaotian__llava-v1.5-7b"
LOG = "20260218_234435_samples_scienceqa_img.jsonl"
RESULTS = "20260218_234435_results.json"


def row(number, **more):
    return {
        "doc_id": number, "target": "B", "filtered_resps": ["B"], "doc_hash": "same",
        "acc": 1.0, "input": f"Question {number}?", **more,
    }  # fmt: skip


@pytest.fixture(scope="module")
def real(shared_folder):
    return take(None, *on_disk(shared_folder / "real" / FOLDER, RESULTS, LOG))


def test_the_score_and_its_error_are_the_result_files(real, shared_folder):
    wanted = expected(shared_folder)["lmms_eval"]
    values = np.array([outcome.value for outcome in real.outcomes])
    assert len(values) == wanted["rows"]
    assert values.mean() == pytest.approx(wanted["exact_match"], abs=5e-5)
    assert values.std(ddof=1) / np.sqrt(len(values)) == pytest.approx(wanted["stderr"], abs=5e-5)
    assert f"scienceqa_img: exact_match 0.6951 +- 0.0103 (n = 2017), as {RESULTS} says" in (
        real.report.notes
    )
    assert real.report.candidates == ("liuhaotian/llava-v1.5-7b",)


def test_one_hash_on_all_rows_is_no_name(real):
    assert len({sample.id for sample in real.samples}) == 2017
    assert real.samples[1].question.startswith("What is the name of the colony shown?")
    assert real.samples[1].source_id == "1"


def test_the_folder_names_the_model_without_results(shared_folder):
    found = take(None, *on_disk(shared_folder / "real" / FOLDER, LOG))
    assert found.report.candidates == ("liuhaotian/llava-v1.5-7b",)
    assert found.report.dataset == "scienceqa_img"


def test_means_alone_are_refused(shared_folder):
    with pytest.raises(FormatError, match="holds only means"):
        take(None, *on_disk(shared_folder / "real" / FOLDER, RESULTS))


def test_answers_questions_and_labels_in_all_their_forms():
    rows = [
        row(0, resps=[["It is B."]]),
        row(
            1, input=None, arguments=[["Asked?", {"until": []}]], acc={"score": 0, "category": "x"}
        ),
        row(2, input="", doc={"question": "In the doc?", "options": ["a", "b"], "subject": "art"}),
        row(3, input="", acc={"other": 1}),
        row(4, input=[{"role": "user", "content": [{"type": "text", "text": "Chat?"}]}], acc=7),
        row(4, input="again"),
        {"acc": 1},
    ]
    found = take(None, uploaded("1_samples_task.jsonl", rows))
    assert [sample.question for sample in found.samples] == [
        "Question 0?", "Asked?", "In the doc?",
        "Document 3 of task (its question is not in the log)", "Chat?",
    ]  # fmt: skip
    assert found.responses[0].text == "It is B."
    assert found.outcomes[0].answer == "B"
    assert [(o.state, o.value) for o in found.outcomes] == [
        ("scored", 1), ("scored", 0), ("scored", 1), ("unscored", None), ("unscored", None),
    ]  # fmt: skip
    assert found.samples[2].choices == ("a", "b")
    assert found.tagged("subject") == {found.samples[2].id: ["art"]}
    assert found.tagged("category") == {found.samples[1].id: ["x"]}
    assert [line.split(": ", 1)[1] for line in found.report.skipped] == [
        "doc_id '4' stood before; the first row is kept", "it has no doc_id",
    ]  # fmt: skip


def test_a_result_that_differs_and_one_that_is_not_there_are_said():
    results = {
        "results": {"t": {"acc,none": 0.25, "acc_stderr,none": "N/A"}}, "configs": {},
        "model_name": "m",
    }  # fmt: skip
    files = uploaded("r.json", results), uploaded("x_samples_t.jsonl", [row(0), row(1, acc=0)])
    assert "t: acc 0.5000 +- 0.5000 (n = 2); r.json says 0.2500" in take(None, *files).report.notes


def test_several_metrics_follow_the_configuration():
    results = {"results": {}, "configs": {"t": {"metric_list": [{"metric": "f1"}]}}}
    files = uploaded("r.json", results), uploaded("x_samples_t.jsonl", [row(0, f1=0.5)])
    found = take(None, *files)
    assert found.outcomes[0].value == 0.5
    assert any("t: f1 is the verdict; acc stay in the log" in note for note in found.report.notes)


def test_two_tasks_in_one_data_set_stay_apart():
    logs = [uploaded(f"x_samples_{task}.jsonl", [row(0)]) for task in ("t", "u")]
    assert len({sample.id for sample in take(None, *logs).samples}) == 2
    both = take(None, *logs, dataset="Mine")
    assert {sample.source_id for sample in both.samples} == {"t/0", "u/0"}
    assert sorted(value for values in both.tagged("task").values() for value in values) == [
        "t",
        "u",
    ]


def test_two_models_answers_to_one_task_are_to_the_same_questions(tmp_path):
    folders = [tmp_path / name for name in ("org__one", "org__two")]
    for folder in folders:
        folder.mkdir()
        lines = [json.dumps(row(name, doc={"subject": "maps"})) for name in (0, 1, "b")]
        (folder / "x_samples_t.jsonl").write_text("\n".join(lines))
    files = [ImportFile.from_path(folder / "x_samples_t.jsonl") for folder in folders]
    found = take("lmms-eval", *files)
    # 3 questions, each once; 2 models x 3 answers.
    assert (found.report.samples, found.report.tags, found.report.responses) == (3, 3, 6)
    assert len(found.samples) == 3
    assert {answer.sample_id for answer in found.responses} == {one.id for one in found.samples}


def test_a_cut_line_costs_only_itself(shared_folder):
    cut_files("lmms-eval", shared_folder / "real" / FOLDER / LOG, 4)
    text = "\n".join(json.dumps(row(at)) for at in range(3))[:-20]
    found = take(None, uploaded("x_samples_t.jsonl", text))
    assert (len(found.samples), found.report.n_skipped) == (2, 1)


def test_memory_does_not_grow_with_the_log(tmp_path, monkeypatch):
    def peak(rows):
        path = tmp_path / f"{rows}_samples_t.jsonl"
        generate_log(path, rows, seed=1)
        tracemalloc.start()
        reading = read("lmms-eval", [ImportFile.from_path(path)])
        for _ in reading:
            pass
        assert reading.report.samples == rows
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    # A batch is full after 20 rows of 4 records; more than a few batches never add up.
    monkeypatch.setattr("atom.formats.intake.collector._BATCH_ROWS", 80)
    peak(10)
    assert peak(600) < 1.3 * peak(150)


_TEXTS = st.sampled_from(["It is B.", "", " ", "<think>so</think> B", "Ünïcode ◁", "a\x00b", None])
_ROWS = st.fixed_dictionaries(
    {
        "doc_id": st.sampled_from([*range(6), "7", " 8", -1, None, "n" * 600]),
        "doc": st.fixed_dictionaries(
            {},
            optional={
                "subject": st.sampled_from(["art", ["a", "b"], "", 4, "x" * 90, "line\nline"]),
                "level": st.sampled_from(["low", None]),
                "image": st.just("one.png"),
                "question": st.just("In the doc?"),
            },
        ),
        "target": st.sampled_from(["B", 3, 0.5, None, "[1]", "['x', 'x', 'y']", ["p", "q"], ""]),
        "resps": st.one_of(_TEXTS, st.lists(st.lists(_TEXTS, max_size=2), max_size=2)),
        "filtered_resps": st.one_of(_TEXTS, st.lists(_TEXTS, max_size=2)),
        "acc": st.sampled_from([1.0, 0, True, 7, None, "yes", {"score": 1, "category": "c"}]),
    },
    optional={
        "input": st.sampled_from(["Asked?", "", [["Nested?"]], [{"content": "Chat?"}]]),
        "arguments": st.just([["Argued?", {}]]),
        "other": st.sampled_from([0.5, {"topic": "t"}]),
    },
)


@given(st.lists(_ROWS, min_size=1, max_size=8), st.booleans())
@settings(max_examples=60, deadline=None)
def test_a_plain_row_comes_to_what_a_closer_look_makes_of_it(rows, in_two):
    # An empty list of options says nothing, but no row that has one is taken for a plain one.
    closer = [row | {"doc": {**row["doc"], "options": []}} for row in rows]
    found, looked = (
        take(
            None,
            uploaded("1_samples_task.jsonl", given),
            *([uploaded("2_samples_task.jsonl", given)] if in_two else ()),
        )
        for given in (rows, closer)
    )
    for name in ("samples", "responses", "outcomes", "tags", "report"):
        assert getattr(found, name) == getattr(looked, name), name
