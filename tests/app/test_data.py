"""Data: bringing files in, studies and their imports, exports."""

from __future__ import annotations

import pytest

from atom.exports.archive import write_archive
from atom.exports.registry import EXPORTERS
from atom.records import Candidate, Checkpoint, Import, Outcome, Response
from atom.store import Store, list_studies
from tests.app.conftest import markup_of
from tests.app.screen_store import make_store
from tests.app.work_store import see_end, settle
from tests.atom.exports.whole_study import MOMENT
from tests.factories import HOSTILE, STUDY, open_small

PAGE = "pages/share/data.py"
TABLE = (
    "prompt,gold,model,reply,ok\n"
    f'"{HOSTILE.replace(chr(34), chr(34) * 2)}",2,model-z,two,1\n'
    "How many cats?,3,model-z,four,0\n"
    ",,,,\n"
)


@pytest.fixture
def file(tmp_path):
    found = tmp_path / "cats.csv"
    found.write_text(TABLE, encoding="utf-8")
    return found


def test_an_empty_store_says_what_to_do(open_app):
    seen = open_app(page=PAGE)
    assert not seen.test.exception
    assert "Nothing of yours is in here yet" in seen.markup
    assert "A table has a row an answer" in seen.markup


@pytest.mark.parametrize("path", ["~nobody-of-this-name/x.csv", "x" * 5000, "gone\x00.csv", "gone"])
def test_a_path_that_cannot_be_looked_at_is_named(open_app, path):
    test = open_app(page=PAGE).test
    test.text_area(key="data_paths_0").set_value(path).run()
    assert not test.exception
    assert "there is no file or folder" in markup_of(test)
    assert "A table has a row an answer" not in markup_of(test)


@pytest.mark.slow
def test_a_table_is_looked_at_mapped_checked_brought_in_and_taken_back(open_app, file, tmp_path):
    """Walk B10: once taking an import back left an empty study, and its name taken."""
    place = tmp_path / "store"
    test = open_app(place, PAGE).test
    test.text_area(key="data_paths_0").set_value(str(file)).run()
    assert not test.exception
    markup = markup_of(test)
    assert "Recognised as" in markup
    assert "How many cats?" in markup
    assert "<script>alert" not in markup
    for field, column in (("answer", "gold"), ("response", "reply"), ("correct", "ok")):
        test.selectbox(key=f"data_col_{field}_0").set_value(column).run()
        assert test.selectbox(key=f"data_col_{field}_0").value == column
    test.button(key="data_check").click().run()
    settle(test)
    assert "Would come in: 2 samples, 1 model, 2 answers" in markup_of(test)
    test.button(key="data_bring").click().run()
    settle(test)
    assert "Open the Overview" in markup_of(test)
    with Store.open(place) as store:
        (study,) = list_studies(store)
        assert study.name == "cats"
        assert len(store.select(Response)) == 2
    test.button(key="data_undo").click().run()
    assert "brought 2 questions and 2 answers into" in markup_of(test)
    test.button(key="data_undo_no").click().run()
    with Store.open(place) as store:
        assert len(store.select(Response)) == 2
    test.button(key="data_undo").click().run()
    assert test.checkbox(key="data_undo_study").value
    test.button(key="data_undo_yes").click().run()
    assert not test.exception
    markup = markup_of(test)
    assert "Taken back: 2 samples, 2 answers. “cats” is gone from the list." in markup
    with Store.open(place) as store:
        assert (store.select(Import), store.select(Response)) == ([], [])
        assert list_studies(store) == []


GERMAN = (
    "Ticket;Was wird gefragt;Musterantwort;bot_a;bot_b;ok_a;ok_b;team\n"
    "T0;Wie viele Äpfel?;2;2;3;10;0;rot\n"
    "T1;Wie viele Birnen?;4;4;4;10;5;blau\n"
    "T2;Wie viele Pflaumen?;6;6;7;10;0;rot\n"
)


@pytest.mark.slow
@pytest.mark.parametrize("form", [None, "table"])
def test_a_table_whose_question_is_not_recognised_is_mapped_on_the_form(open_app, tmp_path, form):
    file, place = tmp_path / "weird.csv", tmp_path / "store"
    file.write_bytes(GERMAN.encode("cp1252"))
    test = open_app(place, PAGE).test
    test.text_area(key="data_paths_0").set_value(str(file)).run()
    if form:
        test.selectbox(key="data_format_0").set_value(form).run()
    assert "which column is the question" in markup_of(test)
    assert "no column that looks like the question" in markup_of(test)
    assert not any(one.key == "data_bring" for one in test.button)
    test.selectbox(key="data_col_question_0").set_value("Was wird gefragt").run()
    test.selectbox(key="data_col_answer_0").set_value("Musterantwort").run()
    test.multiselect(key="data_col_responses_0").set_value(["bot_a", "bot_b"]).run()
    test.multiselect(key="data_col_corrects_0").set_value(["ok_a", "ok_b"]).run()
    assert test.selectbox(key="data_verdict_bot_b_0").value == "ok_b"
    test.number_input(key="data_col_correct_max_0").set_value(10.0).run()
    test.text_input(key="data_model_bot_a_0").set_value("bot_b").run()
    assert "can&#x27;t both be called" in markup_of(test)
    test.text_input(key="data_model_bot_a_0").set_value("Bot A").run()
    assert not test.exception
    markup = markup_of(test)
    assert "which column is the question" not in markup
    assert "Wie viele Äpfel?" in markup
    assert ">50 %<" in markup
    test.button(key="data_bring").click().run()
    settle(test)
    with Store.open(place) as store:
        assert {one.name for one in store.select(Candidate)} == {"Bot A", "bot_b"}
        assert sorted(one.value for one in store.select(Outcome)) == [0.0, 0.0, 0.5, 1.0, 1.0, 1.0]


@pytest.mark.slow
def test_a_wrong_mapping_can_be_put_right_or_forgotten(open_app, file, tmp_path):
    test = open_app(tmp_path / "store", PAGE).test
    test.text_area(key="data_paths_0").set_value(str(file)).run()
    assert not any(one.key == "data_map_undo_0" for one in test.button)
    question = "data_col_question_0"
    assert test.selectbox(key=question).value == "prompt"
    test.selectbox(key=question).set_value(None).run()
    assert "which column is the question" in markup_of(test)
    test.selectbox(key=question).set_value("prompt").run()
    assert "How many cats?" in markup_of(test)
    test.selectbox(key=question).set_value(None).run()
    test.button(key="data_map_undo_0").click().run()
    assert test.selectbox(key=question).value == "prompt"
    assert "How many cats?" in markup_of(test)
    assert not any(one.key == "data_map_undo_0" for one in test.button)
    # An encoding that nobody knows is told, and can be undone as well.
    test.text_input(key="data_col_encoding_0").set_value("klingon").run()
    assert "is unknown" in markup_of(test)
    test.text_input(key="data_col_encoding_0").set_value("utf-8").run()
    assert "How many cats?" in markup_of(test)
    for field, column in (("repeat", "ok"), ("tolerance", "gold")):
        test.selectbox(key=f"data_col_{field}_0").set_value(column).run()
        assert test.selectbox(key=f"data_col_{field}_0").value == column
    test.selectbox(key="data_col_answer_index_from_0").set_value(1).run()
    test.text_input(key="data_col_tag_separator_0").set_value(",").run()
    assert not test.exception
    assert test.selectbox(key="data_col_answer_index_from_0").value == 1
    assert test.text_input(key="data_col_tag_separator_0").value == ","


def test_what_cannot_be_read_is_told_and_what_was_typed_stays(open_app, tmp_path):
    broken = tmp_path / "x.json"
    broken.write_text("{", encoding="utf-8")
    test = open_app(tmp_path / "store", PAGE).test
    for path in (str(broken), str(tmp_path / "none.csv")):
        test.text_area(key="data_paths_0").set_value(path).run()
        assert not test.exception
        assert "can&#x27;t be read as they are" in markup_of(test)
        assert test.text_area(key="data_paths_0").value == path


@pytest.mark.slow
def test_an_archive_comes_in_and_again_as_a_copy(open_app, tmp_path):
    with open_small(tmp_path / "source") as store:
        write_archive(store, STUDY, tmp_path / "a.zip", MOMENT)
    place = tmp_path / "store"
    test = open_app(place, PAGE).test
    test.text_area(key="data_paths_0").set_value(str(tmp_path / "a.zip")).run()
    assert "study&#x27;s archive" in markup_of(test)
    test.button(key="data_bring").click().run()
    settle(test)
    assert f"“{STUDY}” is in" in markup_of(test)
    test.text_area(key="data_paths_1").set_value(str(tmp_path / "a.zip")).run()
    assert test.text_input(key="data_copy_name").value == f"{STUDY} 2"
    test.button(key="data_bring").click().run()
    settle(test)
    with Store.open(place) as store:
        assert [one.name for one in list_studies(store)] == [STUDY, f"{STUDY} 2"]


@pytest.mark.slow
def test_studies_are_renamed_copied_and_deleted(open_app, tmp_path):
    made = make_store(tmp_path / "judged")
    test = open_app(made.folder, PAGE, {"tab": "studies"}).test
    assert not test.exception
    name = test.text_input[0]
    name.set_value("Another name").run()
    test.button(key="data_rename").click().run()
    assert "It is called “Another name” now." in markup_of(test)
    test.button(key="data_copy").click().run()
    see_end(test)
    assert "Copied to" in markup_of(test)
    test.button(key="data_delete").click().run()
    assert "goes from the list" in markup_of(test)
    test.button(key="data_delete_yes").click().run()
    with Store.open(made.folder) as store:
        assert len(list_studies(store)) == 1


@pytest.mark.slow
def test_every_form_is_offered_with_what_it_drops(open_app, made):
    test = open_app(made.folder, PAGE, {"tab": "export"}).test
    markup = markup_of(test)
    for one in EXPORTERS.values():
        assert one.title in markup
        assert all(drop.replace("'", "&#x27;") in markup for drop in one.drops)
    test.button(key="data_make_csv").click().run()
    settle(test)
    assert not test.exception
    assert "Download (" in str([one.proto.label for one in test.get("download_button")])


@pytest.mark.slow
def test_an_import_that_asks_first_goes_on_with_a_tick(open_app, tmp_path):
    """Walk A1: once what was guessed came in before anybody was asked."""
    table = tmp_path / "dogs.csv"
    rows = "".join(f"{n},Dog {n}?,x,{n}\n" for n in range(1, 10))
    table.write_text(f"id,question,response,gpt4_score\n{rows}", encoding="utf-8")
    place = tmp_path / "store"
    test = open_app(place, PAGE).test
    test.text_area(key="data_paths_0").set_value(str(table)).run()
    assert "looks like a result" in markup_of(test)
    test.button(key="data_bring").click().run()
    settle(test)
    assert "Look at this before it comes in" in markup_of(test)
    with Store.open(place) as store:
        assert list_studies(store) == []
    test.checkbox(key="data_accept_0").set_value(True).run()
    test.button(key="data_bring").click().run()
    settle(test)
    assert not test.exception
    assert "Open the Overview" in markup_of(test)
    assert "Here before" in markup_of(test)
    with Store.open(place) as store:
        assert len(store.select(Response)) == 9


@pytest.mark.slow
def test_changed_contents_are_replaced_with_a_tick(open_app, tmp_path):
    table = tmp_path / "dogs.csv"
    place = tmp_path / "store"
    test = open_app(place, PAGE).test
    for turn, said in enumerate(("yes", "no")):
        table.write_text(f"id,question,response,correct\n1,Dog?,{said},1\n", encoding="utf-8")
        test.text_area(key=f"data_paths_{turn}").set_value(str(table)).run()
        if turn:
            test.selectbox(key="data_into_1").set_value("dogs").run()
        test.button(key="data_bring").click().run()
        settle(test)
    assert "1 answer (" in markup_of(test)
    test.checkbox(key="data_replace_1").set_value(True).run()
    test.button(key="data_bring").click().run()
    settle(test)
    with Store.open(place) as store:
        assert [answer.text for answer in store.select(Response)] == ["no"]
        assert len(store.select(Import)) == 1


JUDGED = "id,question,model,criterion,weight,score,reason\n" + "".join(
    f'q{n},What is {n}?,model-{m},{HOSTILE if part else "clear"!s},{part + 1},{n + m + part},so\n'
    .replace(HOSTILE, '"' + HOSTILE.replace(chr(34), chr(34) * 2) + '"')
    for n in range(4) for m in range(2) for part in range(2)
)  # fmt: skip


@pytest.mark.slow
def test_judgments_wait_for_their_scale_and_come_in(open_app, tmp_path):
    place, file = tmp_path / "store", tmp_path / "judged.csv"
    file.write_text(JUDGED, encoding="utf-8")
    test = open_app(place, PAGE).test
    test.text_area(key="data_paths_0").set_value(str(file)).run()
    assert not test.exception
    markup = markup_of(test)
    assert "Recognised as" in markup
    assert "judgments" in markup
    assert "the scale of the marks isn't obvious" in " ".join(markup.split()).replace("&#x27;", "'")
    test.text_area(key="data_map_text_0").set_value("scale: {from: 0, to").run()
    assert "the column map isn't YAML" in markup_of(test).replace("&#x27;", "'")
    test.text_area(key="data_map_text_0").set_value("scale: {from: 0, to: 8}").run()
    assert not test.exception
    markup = markup_of(test)
    assert "Mark as written" in markup
    assert "0.125" in markup  # the second mark: 1 of 8
    assert "<script>alert" not in markup
    assert test.selectbox(key="data_judged_criterion_0").value == "criterion"
    test.selectbox(key="data_judged_weight_0").set_value(None).run()
    assert not test.exception
    test.button(key="data_map_undo_0").click().run()
    assert "isn't obvious" in markup_of(test).replace("&#x27;", "'")
    test.text_area(key="data_map_text_0").set_value("scale: {from: 0, to: 8}").run()
    test.button(key="data_bring").click().run()
    settle(test)
    assert "Open the Overview" in markup_of(test)
    with Store.open(place) as store:
        marks = store.select(Checkpoint)
        assert len(marks) == 16
        assert {one.value for one in marks} == {n / 8 for n in range(6)}


def test_a_known_formats_map_can_be_begun_with(open_app, tmp_path):
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "x_dsg.csv").write_text(
        "item_id,t2i_model,question_id,answer\na,m,1,yes\na,m,2,bananas\n", encoding="utf-8"
    )
    test = open_app(page=PAGE).test
    test.text_area(key="data_paths_0").set_value(str(folder)).run()
    test.selectbox(key="data_format_0").set_value("judgments").run()
    test.selectbox(key="data_map_known_0").set_value("DSG").run()
    assert not test.exception
    markup = markup_of(test).replace("&#x27;", "'")
    assert "unscored: 'bananas' is no mark of this scale" in markup
