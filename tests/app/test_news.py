"""While a run works a screen stays as it is, and offers what came."""

from __future__ import annotations

import shutil

import pytest
import sqlalchemy as sa

from atom.records import Checkpoint
from atom.store import Store, table
from tests.app.conftest import markup_of


def bring(folder, study_id: str, results: int) -> None:
    """Change marks as a run does that brings so many results."""
    marks = table(Checkpoint)

    def job(writer) -> None:
        writer.execute(sa.update(marks).values(score=1, value=0.0, raw="1"))
        writer.touch(study_id, results=results)

    with Store.open(folder) as store:
        store.transact(job)


@pytest.mark.slow
def test_results_of_a_run_wait_until_the_reader_looks(open_app, made, tmp_path):
    folder = tmp_path / "own"
    shutil.copytree(made.folder, folder)
    seen = open_app(folder, "pages/explore/tree.py", {"study": made.study.id})
    before = markup_of(seen.test)
    assert not [one for one in seen.test.button if one.key == "news_look"]

    bring(folder, made.study.id, 3)
    seen.test.run()
    assert markup_of(seen.test) == before
    (look,) = [one for one in seen.test.button if one.key == "news_look"]
    assert look.label == "3 new results: look"

    look.click()
    seen.test.run()
    assert markup_of(seen.test) != before
    assert not [one for one in seen.test.button if one.key == "news_look"]
