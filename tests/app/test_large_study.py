"""A large study shows what was made last, and when, while newer sums are made."""

from __future__ import annotations

import re
import shutil

import pytest

from atom.store import Store
from atom.ui.shell import stores
from atom.views.prepared.making import prepare
from atom.views.snapshot import snapshot_folder
from tests.app.conftest import markup_of
from tests.app.test_news import bring


@pytest.mark.slow
def test_a_large_study_is_shown_as_of_a_time_while_newer_results_are_added(
    open_app, made, tmp_path, monkeypatch
):
    folder = tmp_path / "own"
    shutil.copytree(made.folder, folder)
    asked = []
    monkeypatch.setenv("ATOM_LARGE", "10")
    monkeypatch.setattr(
        stores, "prepare_behind",
        lambda *given, rest_until, **more: asked.append((given[1], rest_until)) or True,
    )  # fmt: skip
    # The first time it is read as it stands, and made ready behind the page.
    seen = open_app(folder, "pages/explore/overview.py", {"study": made.study.id})
    assert asked
    assert asked[0] == (made.study.id, 0.0)
    as_read = markup_of(seen.test)

    def make():
        with Store.open(folder) as store:
            return prepare(store, made.study.id, folder=snapshot_folder(store), processes=1)

    first = make()
    asked.clear()
    seen.test.run()
    assert markup_of(seen.test) == as_read
    assert not asked

    bring(folder, made.study.id, 3)
    seen.test.run()
    shown = markup_of(seen.test)
    assert re.search(r"As of \d\d:\d\d; 3 newer results are being added\.", shown)
    assert asked[-1] == (made.study.id, first.rest_until)
    assert "ready_look" not in [one.key for one in seen.test.button]

    make()
    seen.test.run()
    (look,) = [one for one in seen.test.button if one.key == "ready_look"]
    assert re.search(r"newer results are added as of \d\d:\W?\d\d: look", look.label)
    look.click()
    seen.test.run()
    assert "As of" not in markup_of(seen.test)
    assert markup_of(seen.test) != as_read
