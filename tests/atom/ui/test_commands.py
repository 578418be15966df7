"""Commands that screens print: for the app's store, and for the reader's own copy."""

from __future__ import annotations

import shlex

from atom.engine.studies.new import DEMO_COPY, own_copy
from atom.store import Store, find_study
from atom.ui.commands import line, lines
from atom.views.stores import StudyEntry
from tests.factories import STUDY, open_small


def test_the_usual_store_is_not_named_and_another_one_is():
    assert line(["study", "list"], "workspace") == "python -m atom study list"
    assert line(["study", "list"], "/a b/c").endswith(" --store '/a b/c'")
    # A URL may hold a password.
    assert line(["x"], "postgresql://me:secret@h/d") == 'python -m atom x --store "$ATOM_STORE"'


def test_a_sealed_study_is_copied_first_and_its_copy_is_named(tmp_path):
    with open_small(tmp_path / "sealed") as source, Store.open(tmp_path / "own") as mine:
        study = find_study(source, STUDY)
        entry = StudyEntry(key="k", study=study, bundled=True)
        command = f"python -m atom run start --study {shlex.quote(study.name)} --judge x"
        copy, run = lines(command, entry, "workspace", None)
        assert shlex.split(copy)[3:] == ["study", "copy", study.name, DEMO_COPY]
        assert shlex.split(run)[3:] == ["run", "start", "--study", DEMO_COPY, "--judge", "x"]
        own_copy(source, study.id, mine, name="It's mine")
        (run,) = lines(command, entry, "/s", mine)
        assert shlex.split(run)[5:] == ["--study", "It's mine", "--judge", "x", "--store", "/s"]
        # What names no study needs no copy; one's own study stays as it is.
        assert lines("python -m atom judge list", entry, "workspace", None) == (
            "python -m atom judge list",
        )
        open_ = StudyEntry(key="k", study=study, bundled=False)
        assert lines(command, open_, "workspace", None) == (command,)
