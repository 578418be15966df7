"""`correct run|list|show`, on three probes that three models answered."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from atom.cli.main import main
from atom.cli.results.correction import _kind
from atom.store import Store, list_studies

ANSWER = ("run", "start", "--study", "Fresh", "--judge", "probe-judge",
          "--candidates", "model-h,model-d,model-b", "--json")  # fmt: skip
ARMS = ("--arms", "rejudge,fresh,told,guided,peer")
FAILED = ("--failed", "criterion", "--threshold", "4")
RUN = ("correct", "run", "--study", "Fresh", "--model", "model-h", *FAILED, *ARMS)


@pytest.fixture(scope="module")
def answered_folder(tmp_path_factory) -> Path:
    """Draw three probes, let three models answer and judge them, once."""
    folder = tmp_path_factory.mktemp("answered") / "store"
    made = ("probe", "make", "--samples", "3", "--seed", "5", "--families", "charts",
            "--study", "Fresh")  # fmt: skip
    assert main([*made, "--store", str(folder)]) == 0
    assert main([*ANSWER, "--store", str(folder)]) == 0
    return folder


@pytest.fixture
def answered(answered_folder, place) -> None:
    shutil.copytree(answered_folder, place)


@pytest.mark.slow
def test_it_is_foreseen_carried_out_listed_and_shown(say, answered):
    dry = say(*RUN, "--dry-run")
    assert dry.code == 0
    assert "2 of model-h's 3 answers failed; 2 take part." in dry.out
    assert "28–38 calls: about 68,700 tokens, free, offline." in dry.out
    fewer = say(*RUN, "--limit", "1", "--dry-run").out
    assert "Left out: 1 (not drawn: there are more than the limit)." in fewer
    assert say("correct", "list").out == "no experiments yet\n"
    foreseen = say(*RUN, "--dry-run", "--json").data

    done = say(*RUN, "--json")
    assert done.code == 0, done.err
    assert "28–38 calls: about 68,700 tokens, free, offline." in done.err
    run = done.data["run"]
    assert (run["state"], run["failed"]) == ("done", 0)
    assert 0 < run["done"] == run["total"] <= foreseen["most_calls"]
    assert [row["arm"] for row in done.data["arms"]] == [
        "rejudge", "fresh", "told", "guided", "peer",
    ]  # fmt: skip
    names = {row["name"] for row in done.data["effects"]}
    assert {"luck", "notification", "diagnostic value"} <= names
    # Sham didn't run, so that guided feedback has no control and nothing is called a gain.
    refused = next(r for r in done.data["effects"] if r["name"] == "diagnostic value")
    assert refused["verdict"] == "refused: no control ran"

    (row,) = say("correct", "list", "--json").data
    assert row["model"] == "model-h"
    assert row["run"]["id"] == run["id"]
    listed = say("correct", "list", "--study", "Fresh").out
    assert ("model-h" in listed, run["id"] in listed) == (True, True)
    shown = say("correct", "show", row["experiment"]["id"][:8])
    assert shown.code == 0
    assert "Right final answers after 1 try" in shown.out
    assert "What an arm adds to its control" in shown.out
    assert say("correct", "show", row["experiment"]["id"], "--json").data == {
        key: value for key, value in done.data.items() if key != "run"
    }
    again = say(*RUN, "--json").data["run"]
    assert (again["id"], again["done"]) == (run["id"], run["done"])
    assert say("run", "resume", run["id"], "--json").data["state"] == "done"


@pytest.mark.slow
def test_a_run_of_it_is_an_ordinary_run(say, answered):
    say(*RUN)
    rows = say("run", "status", "--json").data
    assert {row["task"]["kind"] for row in rows} == {"study", "experiment"}
    (mine,) = [row for row in rows if row["task"]["kind"] == "experiment"]
    assert say("run", "status", mine["id"]).out.startswith(f"run {mine['id']}: done")


@pytest.mark.slow
def test_a_price_is_agreed_to_first(say, answered, place):
    (Path(place) / "endpoints.yaml").write_text(
        "- {name: dear, base_url: 'probe:', model: probe-judge, roles: [judge],\n"
        "   prices: {input: 10, output: 10}}\n",
        encoding="utf-8",
    )
    words = (*RUN[:6], "--judge", "dear", *FAILED, "--arms", "fresh,told")
    said = say(*words)
    assert said.code == 2
    assert "agree with --yes, or look with --dry-run" in said.err
    assert say("correct", "list", "--json").data == []
    done = say(*words, "--yes", "--json")
    assert done.code == 0
    assert done.data["run"]["cost"] > 0
    assert all(row["cost"] > 0 for row in done.data["arms"])
    stopped = say(*words, "--yes", "--seed", "1", "--rounds", "2", "--budget", "0", "--json")
    assert (stopped.code, stopped.data["run"]["state"]) == (1, "stopped")


@pytest.mark.slow
def test_the_bundled_studys_copy_is_used(say, answered, place, monkeypatch, tmp_path):
    shutil.move(place, tmp_path / "bundled")
    monkeypatch.setenv("ATOM_DEMO", str(tmp_path / "bundled"))
    assert say(*RUN, "--arms", "told", "--dry-run").code == 0
    wrong = say(*RUN, "--model", "nosuch", "--yes")
    assert "there is no model 'nosuch'" in wrong.err
    listed = say("correct", "list", "--study", "Fresh")
    assert "its experiments live in your own copy, 'Demo (yours)'" in listed.out
    assert "bundled: 'Fresh'" in say("correct", "list", "--study", "x").err
    with Store.open(place) as store:
        assert not list_studies(store)
    said = say(*RUN, "--arms", "told", "--json")
    assert said.code == 0
    assert "this goes into your own copy, 'Demo (yours)'" in said.err
    with Store.open(place) as store:
        assert [study.name for study in list_studies(store)] == ["Demo (yours)"]
    again = say("correct", "run", "--study", "Demo (yours)", *RUN[4:], "--arms", "told", "--json")
    assert again.data["experiment"]["id"] == said.data["experiment"]["id"]
    assert "your own copy" not in again.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--arms", "told,magic"), "'magic' isn't an arm; arms are rejudge, fresh"),
        (("--model", "x"), "there is no model 'x' in this study"),
        (("--study", "x"), "there is no study 'x'"),
        (("--rounds", "9"), "9 rounds: 1 to 5 are allowed"),
        (("--node", "No such root"), "no criterion is mapped under 'No such root'"),
        (("--peers", "model-x"), "there is no endpoint 'model-x'"),
    ],
)
def test_what_is_wrong_is_said(say, answered, words, said):
    found = say(*RUN, *words)
    assert found.code == 2
    assert said in found.err


def test_unknown_experiments_and_rounds_are_said(say, answered):
    assert "there is no experiment 'x'" in say("correct", "show", "x").err
    made = say(*RUN, "--arms", "told", "--json").data["experiment"]["id"]
    assert "has rounds 1 to 1" in say("correct", "show", made, "--round", "2").err


def test_gates_are_counted_without_names():
    assert _kind("hint on criterion 0a1b2c3d, attempt 1: It gives away x.") == (
        "hint on criterion attempt 1"
    )
    assert _kind("criterion 0a1b2c3d was dropped: it gives away x") == "criterion was dropped"
