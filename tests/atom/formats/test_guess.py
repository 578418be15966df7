from __future__ import annotations

from collections.abc import Sequence

import pytest

from atom.errors import FormatError
from atom.formats.column_map import ColumnMap
from atom.formats.column_names import check_columns, column_names
from atom.formats.guess import complete_map
from atom.formats.labels import labels_of

Rows = Sequence[dict[str, object]]


def guess(rows: Rows, **given: object) -> ColumnMap:
    return complete_map(rows, ColumnMap.model_validate(given), "x.csv").columns


def notes(rows: Rows, **given: object) -> str:
    return " ".join(complete_map(rows, ColumnMap.model_validate(given), "x.csv").notes)


def test_a_common_table_is_understood() -> None:
    rows = [
        {
            "Question ID": str(at),
            "Question": f"q{at}",
            "image_path": f"{at}.png",
            "A": "cat",
            "B": "dog",
            "C": "cow",
            "answer": "B",
            "model_name": "m",
            "prediction": "dog",
            "hit": at % 2,
            "category": "animals" if at % 2 else "pets",
            "comment": f"free text {at}",
        }
        for at in range(6)
    ]
    columns = guess(rows)
    assert columns == ColumnMap(
        id="Question ID",
        question="Question",
        pictures=("image_path",),
        choices=("A", "B", "C"),
        answer="answer",
        model="model_name",
        response="prediction",
        correct="hit",
        tags=("category",),
    )


def test_what_is_given_is_not_overruled() -> None:
    rows = [{"question": "a", "prompt": "b", "answer": "x", "gold": "y"}]
    columns = guess(rows, question="prompt", answer="gold")
    assert (columns.question, columns.answer) == ("prompt", "gold")


def test_a_map_with_a_column_that_is_nowhere_is_refused() -> None:
    with pytest.raises(FormatError, match=r"'promt'.*'question'"):
        check_columns([[{"question": "a"}]], ColumnMap(question="promt"), ["x.csv"])
    check_columns([[{"q": "a"}], [{"r": "b"}]], ColumnMap(question="q", response="r"), ["x", "y"])


def test_a_table_without_questions_is_refused_with_its_columns() -> None:
    with pytest.raises(FormatError, match="'a', 'b'"):
        guess([{"a": 1, "b": 2}])


def test_wide_tables_are_understood() -> None:
    rows = [{"question": "q", "response:m1": "a", "response: m2": "b", "correct:m1": 1}]
    columns = guess(rows)
    assert columns.responses == {"m1": "response:m1", "m2": "response: m2"}
    assert columns.corrects == {"m1": "correct:m1"}


def test_models_as_objects_in_an_object_are_understood() -> None:
    said = {"m1": {"text": "a", "score": 1}, "m2": {"text": "b", "score": 0}}
    columns = guess([{"question": "q", "predictions": said}])
    assert columns.responses == {"m1": "predictions.m1.text", "m2": "predictions.m2.text"}
    assert columns.corrects == {"m1": "predictions.m1.score", "m2": "predictions.m2.score"}


def test_a_title_above_the_header_is_told() -> None:
    rows = [{"Results": "id", "column 2": "question", "column 3": "answer"}]
    with pytest.raises(FormatError, match="a title stands above the header"):
        guess(rows)


def test_an_id_that_many_questions_share_is_no_id() -> None:
    rows: Rows = [{"id": at % 3, "question": f"q{at}"} for at in range(9)]
    assert guess(rows).id is None
    assert "not taken as the id" in notes(rows)


def test_an_id_with_one_clash_is_still_an_id() -> None:
    rows: Rows = [{"id": max(at, 1), "question": f"q{at}"} for at in range(30)]
    assert guess(rows).id == "id"


def test_a_score_beyond_one_is_no_verdict() -> None:
    rows: Rows = [{"question": "q", "response": "r", "score": at} for at in (3, 5, 9)]
    assert guess(rows).correct is None
    assert "correct_max" in notes(rows)


@pytest.mark.parametrize(
    ("answers", "base"), [([0, 1, 2], 0), ([1, 2, 3], 1), ([1, 2, 1], 0), (["B", "A", "C"], None)]
)
def test_positions_from_zero_or_one(answers: list[object], base: int | None) -> None:
    rows: Rows = [{"question": "q", "choices": ["x", "y", "z"], "answer": a} for a in answers]
    assert guess(rows).answer_index_from == base


def test_numbers_that_are_choices_are_no_positions() -> None:
    rows: Rows = [{"question": "q", "choices": ["1", "2", "3"], "answer": a} for a in (1, 2, 3)]
    assert guess(rows).answer_index_from is None


def test_an_answer_beside_a_model_is_the_models() -> None:
    rows: Rows = [{"question": "q", "answer": "a", "gold": "g", "model": "m"}]
    columns = guess(rows)
    assert (columns.response, columns.answer) == ("answer", "gold")
    assert "model's answer" in notes(rows)


def test_bytes_are_preferred_to_names_and_numbered_pictures_kept_together() -> None:
    both: Rows = [{"question": "q", "image": "a.png", "decoded_image": {"bytes": b"x"}}]
    assert guess(both).pictures == ("decoded_image",)
    several: Rows = [{"question": "q", "image_1": "a", "image_2": None}]
    assert guess(several).pictures == ("image_1", "image_2")
    by_content: Rows = [{"question": "q", "filename": "./d/a.PNG"}]
    assert guess(by_content).pictures == ("filename",)


def test_a_label_that_differs_between_answers_is_the_answers() -> None:
    rows: Rows = [
        {
            "id": at // 2,
            "question": f"q{at // 2}",
            "response": "r",
            "model": f"m{at % 2}",
            "speed": "fast" if at % 2 else "slow",
            "skill": "counting" if at < 6 else "reading",
        }
        for at in range(12)
    ]
    columns = guess(rows)
    assert (columns.tags, columns.response_tags) == (("skill",), ("speed",))


def test_ignored_columns_are_left_alone() -> None:
    rows: Rows = [{"question": "q", "skill": "ab"[at % 2], "id": at} for at in range(9)]
    columns = guess(rows, ignore=["skill", "id"])
    assert (columns.tags, columns.id) == ((), None)


def test_objects_become_dotted_columns() -> None:
    row = {"a": {"b": {"c": 1}}, "image": {"bytes": b"", "path": "x"}, "opts": {"A": 1, "B": 2}}
    assert column_names([row]) == ("a.b.c", "image", "opts")


@pytest.mark.parametrize(
    ("value", "separator", "labels"),
    [
        ("a", None, ("a",)),
        (["a", "b", "a", None], None, ("a", "b")),
        ("['a', 'b']", None, ("a", "b")),
        ("ocr,math", ",", ("ocr", "math")),
        (float("nan"), None, ()),
        ({"a": 1}, None, ()),
        (3.0, None, ("3",)),
    ],
)
def test_labels(value: object, separator: str | None, labels: tuple[str, ...]) -> None:
    assert labels_of(value, separator) == labels


def walk_rows(whose: str, identity: str = "item") -> list[dict[str, object]]:
    """Return what a newcomer's table holds: two questions, three systems."""
    return [
        {
            identity: f"q{n}", "prompt": f"How many tins are on shelf {n}?", "gold": str(n),
            "topic": "shelves", whose: name, "output": f"{name} says {n}", "is_correct": 1,
        }
        for n in range(2)
        for name in ("red", "green", "blue")
    ]  # fmt: skip


@pytest.mark.parametrize("whose", ["system", "engine", "llm", "VLM", "model_name"])
@pytest.mark.parametrize("identity", ["item", "item_id", "example_id"])
def test_systems_and_items_are_known_by_their_usual_names(whose, identity):
    """Walk A1: once a table of three systems came in as one model of the file's name."""
    guess = complete_map(walk_rows(whose, identity), ColumnMap(), "x.csv")
    assert (guess.columns.model, guess.columns.id) == (whose, identity)
    assert guess.doubts == ()


def test_several_answers_to_one_question_ask_whose_they_are():
    """Walk A1: once two of three answers to a question were left out without a warning."""
    guess = complete_map(walk_rows("arm"), ColumnMap(), "x.csv")
    assert guess.columns.model is None
    (doubt,) = guess.doubts
    assert "only the first of each would come in" in doubt
    assert "'arm' tells them apart (`model: arm`)" in doubt
    told = ColumnMap(model="arm")
    assert complete_map(walk_rows("arm"), told, "x.csv").doubts == ()
    # One answer a question needs no name: the file has it.
    assert complete_map(walk_rows("arm")[::3], ColumnMap(), "x.csv").doubts == ()


def test_a_system_prompt_names_no_model():
    rows = [{**row, "system": "You are helpful.\nAnswer briefly."} for row in walk_rows("model")]
    assert complete_map(rows, ColumnMap(), "x.csv").columns.model == "model"
    rows = [{name: value for name, value in row.items() if name != "model"} for row in rows]
    assert complete_map(rows[::3], ColumnMap(), "x.csv").columns.model is None
