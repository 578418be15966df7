import json
from collections import Counter

import pytest

from atom.errors import FormatError, UsageError
from atom.formats import ImportFile
from atom.judgebench.base import LoadOptions
from atom.judgebench.describe import describe
from atom.judgebench.items import card_of
from atom.judgebench.mm_critic.benchmark import BENCH
from atom.judgebench.mm_critic.data import load, pairing

BASIC = {
    "id": "b1", "dimension": "basic", "subset": "core", "task_type": "science", "question": "How?",
    "response": "So.", "correct": True, "quality": 8, "reference_critique": "Fine.",
    "annotator": "GPT-4o",
}  # fmt: skip
FIX = {
    "id": "k1", "dimension": "correction", "task_type": "coding", "question": "Why?",
    "response": "Hm.", "quality": 2, "reference_correction": "Because.",
}  # fmt: skip
PAIR = {
    "id": "p1", "dimension": "comparison", "task_type": "planning", "question": "Which?",
    "response_a": "This.", "response_b": "That.", "quality_a": 3, "quality_b": 9,
}  # fmt: skip


def lines(rows, name="rows.jsonl"):
    text = "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows)
    return ImportFile.from_bytes(name, (text + "\n").encode())


def read(*rows, **options):
    return load([lines(rows)], LoadOptions(set_id="set", **options))


def test_the_three_dimensions_come_in_with_what_they_are_held_to():
    loaded = read(BASIC, FIX, PAIR)
    basic, fix, pair = loaded.items
    assert basic.data["correct"] is True
    assert basic.data["references"] == [{"annotator": "GPT-4o", "text": "Fine.", "paraphrase": ""}]
    assert fix.data["references"][0]["text"] == "Because."
    assert (pair.data["preferred"], pairing(pair, "analysis")) == ("b", "G3")
    assert [item.position for item in loaded.items] == [0, 1, 2]
    assert loaded.skipped == ()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"id": ""}, "no `id`"),
        ({"dimension": "grading"}, "`dimension` is 'grading'"),
        ({"question": " "}, "no `question`"),
        ({"response": ""}, "no text in `response`"),
        ({"correct": "perhaps"}, "`correct` is 'perhaps'"),
        ({"quality": 11}, "`quality` is '11'"),
        ({"quality": 4.5}, "`quality` is '4.5'"),
        ({"correct": None, "reference_critique": None}, "neither `correct` nor"),
    ],
)
def test_a_basic_row_that_cannot_be_used_is_named(change, reason):
    loaded = read({**BASIC, **change}, FIX)
    assert [item.data["id"] for item in loaded.items] == ["k1"]
    assert len(loaded.skipped) == 1
    assert loaded.skipped[0].startswith("rows.jsonl line 1: ")
    assert reason in loaded.skipped[0]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"quality_b": 3}, "neither is better"),
        ({"quality_b": None}, "lacks `quality_a` or `quality_b`"),
        ({"preferred": "a"}, "`preferred` is 'a', but"),
        ({"preferred": "both"}, "a or b is expected"),
        ({"response_b": "This."}, "the same text"),
    ],
)
def test_a_pair_that_contradicts_itself_is_named(change, reason):
    loaded = read({**PAIR, **change}, FIX)
    assert len(loaded.items) == 1
    assert reason in loaded.skipped[0]


def test_a_second_row_of_an_id_and_a_broken_line_cost_no_other_row():
    loaded = read(BASIC, "{broken", BASIC, FIX)
    assert [item.data["id"] for item in loaded.items] == ["b1", "k1"]
    assert "line 2" in loaded.skipped[0]
    assert "stood before, at rows.jsonl line 1" in loaded.skipped[1]
    assert "left out: 2 of 4 rows" in loaded.notes


def test_what_the_user_should_know_is_counted():
    loaded = read(
        {**BASIC, "task_type": "poetry", "images": ["gone.png"]},
        {**BASIC, "id": "b2", "reference_critique": None},
        {**FIX, "quality": "high"},
    )
    assert len(loaded.items) == 3
    told = " ".join(loaded.notes)
    for words in ("none of the eight", "no `reference_critique`", "high quality is to be corrected",
                  "weren't found: 1 (first: gone.png)", "no picture (`images`)"):  # fmt: skip
        assert words in told


def test_a_column_map_names_other_columns_and_shared_values():
    row = {"qid": 7, "q": "How?", "answer": "So.", "label": "Error", "crit": "No."}
    columns = {"id": "qid", "question": "q", "response": "answer", "correct": "label",
               "reference_critique": "crit", "subset": "=Core Single-image"}  # fmt: skip
    (item,) = read(row, columns=columns).items
    assert item.data["correct"] is False
    assert item.data["subset"] == "core_single_image"
    with pytest.raises(UsageError, match="names 'answers'"):
        read(row, columns={"answers": "answer"})


def test_foreign_columns_bring_the_expected_layout():
    with pytest.raises(FormatError, match=r"no row has the column 'id'.*`response_a`"):
        read({"prompt": "How?", "text": "So."})


def test_dimension_is_told_by_the_fields_and_bands_may_be_words():
    rows = [{k: v for k, v in row.items() if k != "dimension"} for row in (BASIC, FIX, PAIR)]
    rows[2] |= {"quality_a": "med", "quality_b": "low"}
    found = read(*rows).items
    assert [item.data["dimension"] for item in found] == ["basic", "correction", "comparison"]
    assert (found[2].data["preferred"], pairing(found[2], "annotator")) == ("a", "G1")


def test_the_schemes_sort_a_pair_differently():
    # 4 is low in the analysis bands and medium in the annotators'; 10 is no longer "high" there.
    (pair,) = read({**PAIR, "quality_a": 4, "quality_b": 9}).items
    assert (pairing(pair, "analysis"), pairing(pair, "annotator")) == ("G3", "G2")
    (pair,) = read({**PAIR, "quality_a": 4, "quality_b": 10}).items
    assert pairing(pair, "annotator") == ""


def test_the_better_response_is_shown_first_half_of_the_time():
    rows = [{**PAIR, "id": f"p{n}", "quality_a": 3 if n % 3 else 9, "quality_b": 9 if n % 3 else 3}
            for n in range(20)]  # fmt: skip
    turns = Counter(item.data["turn"][0] == item.data["preferred"] for item in read(*rows).items)
    assert turns == {True: 10, False: 10}


def test_a_limit_stops_reading():
    loaded = read(BASIC, FIX, PAIR, limit=2)
    assert len(loaded.items) == 2
    assert "only the first 2 items were read, as asked" in loaded.notes


REPLIES = [
    {"id": "b1", "critique": "All well.", "correct": "Correct", "score": 9},
    {"id": "k1", "correction": "Because of that."},
    {"id": "p1", "preference": "B", "order": "ba"},
    {"id": "b1", "scorer": "GPT-4.1", "of": "critique", "score": 7},
    {"id": "k1", "scorer": "GPT-4.1", "of": "correction", "score": "6"},
    {"id": "b1", "scorer": "GPT-4.1", "of": "reference", "score": 9},
]


def test_replies_made_elsewhere_are_measured_without_a_call():
    items = read(BASIC, FIX, PAIR).items
    replies = BENCH.read_replies([lines(REPLIES)], items, "other")
    assert replies.skipped == ()
    rows = {row.metric: row for row in BENCH.measure(items, replies.verdicts).headline}
    assert rows["acc_critic"].value == 100
    assert rows["critique_score"].value == 7
    assert rows["critique_score_anchored"].value == 6  # 7 - (9 - 8)
    assert rows["correction_critique_score"].value == 6
    assert rows["acc_prefer"].value == 100


def test_raw_replies_in_the_papers_form_are_read():
    items = read(BASIC, FIX, PAIR).items
    rows = [
        {"id": "b1", "reply": 'Well: {"correct": "Error", "critique": "Not so."}'},
        {"id": "k1", "reply": '```json\n{"modified answer": "Because."}\n```'},
        {"id": "p1", "reply": '{"choice": "A", "explanation": "so"}', "order": "ba"},
        {"id": "b1", "repeat": 1, "reply": "I can't tell."},
    ]
    found = BENCH.read_replies([lines(rows)], items, "other").verdicts
    told = [(one.part, one.state, one.label, one.text) for one in found]
    assert told == [
        ("critique", "scored", "wrong", "Not so."),
        ("correction", "scored", "", "Because."),
        ("compare", "scored", "b", ""),  # A of the shown order ba is the file's b.
        ("critique", "unscored", "", ""),
    ]


def test_replies_that_belong_to_nothing_are_named():
    items = read(BASIC, FIX).items
    rows = [
        {"id": "x", "critique": "?"},
        {"id": "k1", "critique": "?"},
        {"id": "b1"},
        {"id": "b1", "scorer": "s", "of": "critique", "score": 5},
        {"id": "b1", "critique": "One.", "correct": True},
        {"id": "b1", "critique": "Two.", "correct": True},
        {"id": "b1", "scorer": "s", "of": "style", "score": 5},
        {"id": "b1", "scorer": "t", "score": 80.84},
    ]
    replies = BENCH.read_replies([lines(rows)], items, "other")
    reasons = ["no item 'x'", "no use", "holds no reply", "has such a reply already", "`of` is 's"]
    assert len(replies.skipped) == len(reasons)
    for reason, line in zip(reasons, replies.skipped, strict=True):
        assert reason in line
    assert [one.state for one in replies.verdicts] == ["scored", "scored", "unscored"]


def test_rubrics_come_by_task_type_for_all_or_with_an_item():
    rubrics = lines(
        [
            {"task_type": "science", "rubric": "In line with facts."},
            {"rubric": "Legible."},
            {"task_type": "Math", "rubric": "Right steps first."},
        ],
        "My rubrics.jsonl",
    )
    items = lines([{**BASIC, "limit": 1}, {**FIX, "rubric": "It runs."}, PAIR])
    # Files of rubrics are read first, wherever they stand, and count nothing to a limit.
    loaded = load([items, rubrics], LoadOptions(set_id="set", limit=3))
    assert [one.data["rubric"] for one in loaded.items] == [
        "Legible.\n\nIn line with facts.", "It runs.", "Legible.",
    ]  # fmt: skip
    assert "3 of 3 items have a rubric, which the scorer is shown" in loaded.notes
    assert "rubrics of task types without an item: mathematics" in loaded.notes
    assert loaded.skipped == ()
    (told,) = [describe(BENCH.name, loaded.items).rubrics]
    assert told[1] == ("coding", "It runs.")
    assert ("Rubric that the scorer is shown", "It runs.") in card_of(
        BENCH.name, loaded.items[1]
    ).truth


def test_a_set_without_rubrics_is_as_it_was():
    assert all("rubric" not in one.data for one in read(BASIC, FIX, PAIR).items)
