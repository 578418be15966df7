from pathlib import Path

import pytest

from atom.settings import Settings
from atom.views.stores import demo_location, list_all, open_store, user_location
from tests.factories import STUDY, open_small


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("studies")
    open_small(place).close()
    return place


def settings(store, demo) -> Settings:
    return Settings(store=str(store), demo=Path(demo), endpoints=Path("none.yaml"))


def test_nothing_is_made_by_looking(tmp_path):
    chosen = settings(tmp_path / "mine", tmp_path / "demo")
    listed = list_all(chosen, open_store)
    assert listed.entries == ()
    assert listed.first is None
    assert not (tmp_path / "mine").exists()
    assert user_location(chosen) is None
    assert user_location(chosen, create=True) == str(tmp_path / "mine")
    assert demo_location(chosen) is None


def test_the_users_studies_come_first_and_the_bundled_ones_are_marked(folder, tmp_path):
    listed = list_all(settings(folder, folder), open_store)
    assert [entry.bundled for entry in listed.entries] == [False, False, True, True]
    assert listed.entries[2].key == f"demo:{listed.entries[2].study.id}"
    assert listed.first is not None
    assert not listed.first.bundled


def test_a_study_is_found_by_key_id_and_name(folder, tmp_path):
    listed = list_all(settings(tmp_path / "none", folder), open_store)
    entry = next(entry for entry in listed.entries if entry.study.name == STUDY)
    for name in (entry.key, entry.study.id, STUDY):
        assert listed.find(name) == entry
    assert listed.find("nowhere") is None


def test_a_store_that_cant_be_opened_is_a_fault(folder, tmp_path):
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "atomscope.sqlite").write_bytes(b"nonsense" * 500)
    listed = list_all(settings(broken, folder), open_store)
    assert len(listed.entries) == 2
    assert len(listed.faults) == 1
