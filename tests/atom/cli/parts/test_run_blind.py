"""`run blind` and `run start --blind`."""

from __future__ import annotations

import json

import pytest

from atom.cli.main import main
from atom.store import Store
from tests.app.screen_store import make_store
from tests.blinded import put_blind


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Make a store with a blind control of two easy questions."""
    made = make_store(tmp_path_factory.mktemp("blind"))
    with Store.open(made.folder) as store:
        put_blind(store, made, (0, 9))
    return made


@pytest.mark.slow
def test_what_the_text_answers_is_listed(made, capsys):
    where = ["--study", made.study.name, "--store", str(made.folder)]
    assert main(["run", "blind", *where, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {one["sample"] for one in found["questions_from_text"]} == {
        made.sample_ids[0], made.sample_ids[9],
    }  # fmt: skip
    assert found["from_text"] == 2
    assert {row["model"] for row in found["ranks"]} == {"model-a", "model-b", "model-c"}
    assert main(["run", "blind", *where]) == 0
    assert "2 of 10 questions are answerable from the text" in capsys.readouterr().out


def test_what_doesnt_go_together_is_refused(made, capsys):
    where = ["--study", made.study.name, "--store", str(made.folder)]
    assert main(["run", "start", *where, "--blind", "5", "--limit", "3"]) == 2
    assert "draws its questions" in capsys.readouterr().err
    assert main(["run", "start", *where, "--blind", "5"]) == 2
    assert "no model is named" in capsys.readouterr().err
