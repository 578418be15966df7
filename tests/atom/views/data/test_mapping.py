"""Which column of a table is what: choices made on the form, and the map that they make."""

from __future__ import annotations

import pytest

from atom.errors import FormatError, UsageError
from atom.formats import ColumnMap, ImportFile
from atom.views.data.mapping import mapped_columns, refitted, wide_models, with_model
from atom.views.data.page import look

GERMAN = (
    "Ticket;Was wird gefragt;Musterantwort;bot_a;bot_b;ok_a;ok_b;team\n"
    "T0;Wie viele Äpfel?;2;2;3;yes;no;rot\n"
    "T1;Wie viele Birnen?;4;4;4;yes;yes;blau\n"
    "T2;Wie viele Pflaumen?;6;6;7;yes;no;rot\n"
    "T3;Wie viele Kürbisse?;1;1;1;yes;yes;blau\n"
)
FILE = ImportFile.from_bytes("weird.csv", GERMAN.encode("cp1252"))


@pytest.mark.parametrize("format", [None, "table"])
def test_a_table_without_a_known_question_comes_back_with_its_columns(format):
    looked = look([FILE], format=format)
    assert "no column that looks like the question" in looked.needed
    assert looked.columns == tuple(GERMAN.split("\n")[0].split(";"))
    assert (looked.rows, looked.report.dataset, looked.format) == ((), "weird", "table")
    assert looked.recognised == (format is None)


def test_a_wide_table_is_mapped_step_by_step():
    mapped = look([FILE]).mapped
    mapped = mapped_columns({"question": "Was wird gefragt"}, mapped)
    mapped = mapped_columns({"answer": "Musterantwort"}, mapped)
    mapped = mapped_columns({"responses": ["bot_a", "bot_b"], "corrects": []}, mapped)
    mapped = mapped_columns({"responses": ["bot_a", "bot_b"], "corrects": ["ok_b", "ok_a"]}, mapped)
    assert mapped.responses == {"bot_a": "bot_a", "bot_b": "bot_b"}
    assert mapped.corrects == {"bot_a": "ok_a", "bot_b": "ok_b"}
    assert not {"ok_a", "ok_b", "bot_a", "bot_b"} & {*(mapped.tags or ()), *mapped.response_tags}
    mapped = with_model(mapped, "bot_a", name=" Model A ", correct="ok_a")
    looked = look([FILE], columns=mapped)
    assert looked.needed == ""
    assert [(row.model, row.answer, row.right) for row in looked.rows[:4]] == [
        ("Model A", "2", "right"),
        ("bot_b", "3", "wrong"),
        ("Model A", "4", "right"),
        ("bot_b", "4", "right"),
    ]


def test_an_unknown_encoding_or_a_column_that_is_not_there_keeps_the_form():
    for wrong in (ColumnMap(encoding="klingon"), ColumnMap(question="gone")):
        looked = look([FILE], columns=wrong)
        assert looked.needed
        assert "bot_a" in looked.columns
        assert looked.mapped is not None
        assert looked.mapped.question is None


@pytest.mark.parametrize(
    ("name", "data"), [("x.json", b"{"), ("x.csv", b""), ("x.zip", b"PK\x03\x04")]
)
def test_what_has_no_columns_is_still_refused(name, data):
    with pytest.raises(FormatError):
        look([ImportFile.from_bytes(name, data)], format="table")


def test_a_column_taken_away_is_not_guessed_again_and_can_be_chosen_again():
    file = ImportFile.from_bytes("x.csv", b"question,note\nHow many?,a\nWhich?,b\n")
    mapped = look([file]).mapped
    assert mapped is not None
    assert mapped.question == "question"
    wrong = mapped_columns({"question": None}, mapped)
    assert wrong.ignore == ("question",)
    looked = look([file], columns=wrong)
    assert looked.needed
    mended = mapped_columns({"question": "question"}, looked.mapped)
    assert look([file], columns=mended).needed == ""
    assert "question" not in mended.ignore


def test_a_table_has_one_shape():
    long = ColumnMap(question="q", model="m", response="r", correct="c")
    wide = mapped_columns({"responses": ["r"], "corrects": []}, long)
    assert (wide.model, wide.response, wide.correct) == (None, None, None)
    assert wide.responses == {"r": "r"}
    assert mapped_columns({"response": "r", "responses": ["r"]}, wide).responses == {}
    # Anything else that is changed leaves a wide table's models as they are.
    assert mapped_columns({"id": "i", "model": None, "responses": ["r"]}, wide).responses == {
        "r": "r"
    }


def test_verdicts_go_to_the_answers_they_are_named_like_and_stand_alone_where_it_is_not_clear():
    mapped = mapped_columns(
        {"responses": ["gpt answer", "llava answer"], "corrects": ["llava ok", "gpt ok", "hit"]},
        ColumnMap(question="q"),
    )
    assert [(one.name, one.correct) for one in wide_models(mapped)] == [
        ("gpt answer", "gpt ok"),
        ("llava answer", "llava ok"),
        ("hit", "hit"),
    ]
    # Given to another model, it leaves the one that had it; a model without a column is gone.
    moved = with_model(mapped, "gpt answer", name="gpt", correct="hit")
    assert moved.corrects == {"gpt": "hit", "llava answer": "llava ok"}
    assert mapped_columns({"responses": ["llava answer"], "corrects": []}, moved).responses == {
        "llava answer": "llava answer"
    }


@pytest.mark.parametrize("name", ["", "  ", "b"])
def test_a_models_name_is_its_own(name):
    mapped = ColumnMap(question="q", responses={"a": "x", "b": "y"})
    with pytest.raises(UsageError):
        with_model(mapped, "x", name=name, correct=None)


def test_settings_are_kept_and_a_map_is_refitted_to_other_columns():
    mapped = mapped_columns(
        {"question": "Was", "tags": ["team"], "encoding": "cp1252", "tag_separator": "",
         "correct_max": 10.0, "answer_index_from": 0, "repeat": "run", "tolerance": "tol"},
        None,
    )  # fmt: skip
    assert (mapped.encoding, mapped.tag_separator, mapped.correct_max) == ("cp1252", None, 10.0)
    assert (mapped.answer_index_from, mapped.repeat, mapped.tolerance) == (0, "run", "tol")
    fitted = refitted(mapped, ["Was", "run"])
    assert (fitted.question, fitted.repeat, fitted.tolerance, fitted.tags) == (
        "Was", "run", None, None,
    )  # fmt: skip
