"""Data: bringing files in, studies and their imports, exports."""

from __future__ import annotations

import pytest

from atom.exports import EXPORTERS, write_archive
from atom.records import Import, Response
from atom.store import Store, list_studies
from tests.app.conftest import markup_of
from tests.app.screen_store import make_store
from tests.app.work_store import settle
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


@pytest.mark.parametrize("path", ["~nobody-of-this-name/x.csv", "x" * 5000, "gone\x00.csv", "gone"])
def test_a_path_that_cannot_be_looked_at_is_named(open_app, path):
    test = open_app(page=PAGE).test
    test.text_area(key="data_paths_0").set_value(path).run()
    assert not test.exception
    assert "there is no file or folder" in markup_of(test)


def test_a_table_is_looked_at_mapped_checked_brought_in_and_taken_back(open_app, file, tmp_path):
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
    assert "Taken back: 2 samples and 2 answers" in markup_of(test)
    with Store.open(place) as store:
        assert (store.select(Import), store.select(Response)) == ([], [])


def test_what_cannot_be_read_is_told_and_what_was_typed_stays(open_app, tmp_path):
    broken = tmp_path / "x.json"
    broken.write_text("{", encoding="utf-8")
    test = open_app(tmp_path / "store", PAGE).test
    for path in (str(broken), str(tmp_path / "none.csv")):
        test.text_area(key="data_paths_0").set_value(path).run()
        assert not test.exception
        assert "can&#x27;t be read as they are" in markup_of(test)
        assert test.text_area(key="data_paths_0").value == path


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


def test_studies_are_renamed_copied_and_deleted(open_app, tmp_path):
    made = make_store(tmp_path / "judged")
    test = open_app(made.folder, PAGE, {"tab": "studies"}).test
    assert not test.exception
    name = test.text_input[0]
    name.set_value("Another name").run()
    test.button(key="data_rename").click().run()
    assert "It is called “Another name” now." in markup_of(test)
    test.button(key="data_copy").click().run()
    assert "Copied to" in markup_of(test)
    test.button(key="data_delete").click().run()
    assert "goes from the list" in markup_of(test)
    test.button(key="data_delete_yes").click().run()
    with Store.open(made.folder) as store:
        assert len(list_studies(store)) == 1


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
