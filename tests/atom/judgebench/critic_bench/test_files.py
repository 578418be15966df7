import csv
import json
import math

import pytest

from atom.errors import FormatError, UsageError
from atom.formats.base import ImportFile
from atom.judgebench.base import LoadOptions
from atom.judgebench.critic_bench.files import CriticPlace, load
from atom.judgebench.critic_bench.measures import objective_overall

ANSWER = {"question": "Why?", "generation": "Because.", "feedback": "Too short.",
          "feedback_score": 3, "correction": "Because of rain.",
          "metadata": {"quality": "low"}}  # fmt: skip
BLOCK = {"generation_a": "One", "generation_b": "Two"}
PAIR = {"question": "Why?", "obj": {**BLOCK, "preference": "Answer B"},
        "sub": {**BLOCK, "feedback": "B is fuller."},
        "metadata": {"quality_a_sub": "low", "quality_b_sub": "high"}}  # fmt: skip
META = {"question": "Why?", "generation": "Because.", "evaluated_feedback": "Fine.",
        "ground_truth_feedback": "Too short.", "meta_feedback_score": 2.5,
        "raw_quality": "med"}  # fmt: skip


def file(name, *rows):
    return ImportFile.from_bytes(name, json.dumps(rows).encode())


def read(*files, **options):
    return load(files, LoadOptions(set_id="set", **options))


def tree(folder, files):
    for name, rows in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(rows), encoding="utf-8")
    return ImportFile.from_path(folder)


def test_the_three_kinds_by_their_published_names():
    found = read(
        file("chat_feedback_correction.json", ANSWER),
        file("math_cot_comp_feedback.json", PAIR),
        file("meta_feedback_singlewise_code_not_exec.json", META),
    )
    answer, pair, critique = (item.data for item in found.items)
    assert (answer["kind"], answer["domain"], answer["score"], answer["quality"]) == (
        "answer", "chat", 3.0, "low")  # fmt: skip
    assert answer["correction"] == "Because of rain."
    # Both blocks hold the same pair: one item with its preference and its reference.
    assert (pair["domain"], pair["preference"], pair["critique"], pair["quality"]) == (
        "math_cot", "b", "B is fuller.", "easy")  # fmt: skip
    assert (critique["domain"], critique["score"], critique["critique"]) == (
        "code_not_exec", 2.5, "Too short.")  # fmt: skip
    assert found.notes == ("1 answer, 1 pair, 1 critique of 3 domains",)
    assert found.skipped == ()


def test_a_folder_of_both_parts_makes_one_item_of_equal_rows(tmp_path):
    hidden = {**ANSWER, "feedback_score": None}
    folder = tree(
        tmp_path / "CriticBench",
        {
            "obj_dev_data/chat_feedback_correction.json": [ANSWER],
            "sub_dev_data/chat_feedback_correction.json": [{**ANSWER, "question": "Else?"}, hidden],
            "obj_dev_data/correction_part/chat_feedback.json": [{**ANSWER, "generation": "Good."}],
        },
    )
    found = read(folder)
    assert len(found.items) == 3
    merged = next(item.data for item in found.items if len(item.data["places"]) == 2)
    assert merged["places"] == ["obj/dev/feedback/0", "sub/dev/feedback/1"]
    assert (merged["score"], merged["references"]) == (3.0, True)
    best = next(item.data for item in found.items if item.data["answer"] == "Good.")
    assert (best["corrected"], best["references"]) == (False, False)
    assert CriticPlace.parse(best["places"][0]).what == "correction_part"


@pytest.mark.parametrize(
    ("name", "row", "words"),
    [
        ("chat_feedback_correction.json", {**ANSWER, "question": " "}, "no question"),
        ("chat_feedback_correction.json", {**ANSWER, "generation": None}, "no answer"),
        ("chat_feedback_correction.json", {**ANSWER, "feedback_score": 9}, "no number from 1 to 7"),
        ("chat_feedback_correction.json", {**ANSWER, "feedback_score": math.nan}, "1 to 7"),
        ("chat_feedback_correction.json", {**ANSWER, "feedback_score": True}, "1 to 7"),
        ("chat_feedback_correction.json", {**ANSWER, "feedback_score": "good"}, "'good'"),
        ("other.json", ANSWER, "which domain"),
        ("qa_comp_feedback.json", {"question": "Why?", "obj": {"generation_a": "x"}}, "one of its"),
        ("meta_feedback_singlewise_qa.json", {**META, "evaluated_feedback": ""}, "no critique"),
    ],
)
def test_a_row_that_cannot_be_an_item_is_named(name, row, words):
    good = file("chat_feedback_correction.json", ANSWER)
    found = read(good, file(name, row))
    assert len(found.items) == 1
    assert len(found.skipped) == 1
    assert words in found.skipped[0]
    assert name in found.skipped[0]


def test_what_is_odd_but_usable_is_counted():
    tie = {**PAIR, "obj": {**BLOCK, "preference": "C"}}
    unread = {**PAIR, "question": "How?", "obj": {**BLOCK, "preference": "first"}}
    found = read(
        file("chat_feedback_correction.json", ANSWER, ANSWER, {**ANSWER, "question": "Test"}),
        file("poems_comp_feedback.json", tie, unread),
        file("meta_feedback_singlewise_qa.json", {**META, "meta_feedback_score": None,
                                                  "annotated_scores": [1, 2, 6]}),
    )  # fmt: skip
    notes = "\n".join(found.notes)
    assert "people prefer neither answer" in notes
    assert "preference 'first' isn't read" in notes
    assert "'poems' isn't one of the nine" in notes
    assert "1 row: the same row again in one file" in notes
    assert len(found.items) == 6
    assert found.items[-1].data["score"] == 3.0
    unlabelled = read(file("qa_feedback_correction.json", {**ANSWER, "feedback_score": ""}))
    assert "no human score" in unlabelled.notes[-1]


def test_other_columns_limits_and_pictures():
    row = {"q": "Why?", "text": {"answer": "Because."}, "kind": "chat", "pic": ["gone.png"]}
    columns = {"question": "q", "generation": "text.answer", "domain": "kind", "pictures": "pic"}
    found = read(file("mine.jsonl", row, {**row, "q": "How?"}), columns=columns, limit=1)
    assert [item.data["answer"] for item in found.items] == ["Because."]
    assert found.items[0].pictures[0].name == "gone.png"
    assert "a picture is missing: it isn't there" in found.notes[-1]
    with pytest.raises(UsageError, match="no field 'qeustion'"):
        read(file("mine.json", row), columns={"qeustion": "q"})


def test_broken_files():
    half = ImportFile.from_bytes(
        "qa_feedback_correction.json", json.dumps([ANSWER] * 2)[:-9].encode()
    )
    found = read(half)
    assert len(found.items) == 1
    assert "breaks off" in found.notes[1]
    empty = ImportFile.from_bytes("qa_feedback_correction.json", b"")
    with pytest.raises(FormatError, match="empty"):
        read(empty)
    both = read(empty, file("chat_feedback_correction.json", ANSWER))
    assert (len(both.items), len(both.skipped)) == (1, 1)
    bom = json.dumps([{**ANSWER, "question": "Ä?"}], ensure_ascii=False).encode("utf-8-sig")
    assert read(ImportFile.from_bytes("qa_feedback_correction.json", bom)).items[0].data[
        "question"] == "Ä?"  # fmt: skip


def test_an_empty_folder_says_so(tmp_path):
    with pytest.raises(UsageError, match="no JSON file"):
        read(ImportFile.from_path(tmp_path))


def test_the_leaderboard_s_overall_holds_where_it_is_known_to(shared_folder):
    folder = shared_folder / "real"
    with (folder / "criticeval" / "scores_obj.csv").open(encoding="utf-8-sig", newline="") as file:
        leaders = list(csv.DictReader(file))
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))["criticeval"]
    parts = ("feedback", "comparison", "correction", "meta_feedback")
    overall = [objective_overall(*(float(row[part]) for part in parts)) for row in leaders]
    # Half a unit of the printed overall, and as much again for the four printed parts.
    fails = [
        [row["Model"], mine, float(row["overall"])]
        for row, mine in zip(leaders, overall, strict=True)
        if abs(mine - float(row["overall"])) > 0.0101
    ]
    assert len(leaders) == expected["rows"] == 36
    assert len(leaders) - len(fails) == expected["overall_formula_holds"] == 28
    for mine, theirs in zip(fails, expected["overall_formula_fails"], strict=True):
        assert mine[0] == theirs[0]
        assert mine[1:] == pytest.approx(theirs[1:], abs=0.011)


def test_a_limit_counts_items_and_later_files_still_complete_them(tmp_path):
    folder = tree(
        tmp_path / "data",
        {
            "obj_dev_data/chat_feedback_correction.json": [
                {**ANSWER, "feedback": ""}, {**ANSWER, "question": "How?"}
            ],
            "sub_dev_data/chat_feedback_correction.json": [
                {**ANSWER, "feedback_score": None}, {**ANSWER, "question": "When?"}
            ],
        },
    )  # fmt: skip
    found = read(folder, limit=1)
    assert [item.data["score"] for item in found.items] == [3.0]
    assert found.items[0].data["critique"] == "Too short."
    assert "only the first 1 items were read, as asked" in found.notes
