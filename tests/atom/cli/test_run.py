from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from atom.cli.running.options import stages_of
from atom.errors import UsageError
from atom.store.store import DATABASE

START = ("run", "start", "--study", "Fresh", "--judge", "probe-judge", "--candidates", "model-a")


@pytest.mark.slow
def test_a_run_is_started_and_seen(say, probes):
    done = say(*START)
    assert done.code == 0
    assert "done, 15 of 15 items, nothing spent" in done.out
    again = say(*START, "--json").data
    assert (again["state"], again["total"]) == ("done", 0)
    rows = say("run", "status", "--json").data
    assert [row["state"] for row in rows] == ["done", "done"]
    one = say("run", "status", rows[0]["id"])
    assert one.out.startswith(f"run {rows[0]['id']}: done")
    assert say("run", "status", "--study", "Fresh").out.startswith("Run ")


@pytest.mark.slow
def test_a_run_that_the_budget_stopped_is_resumed(say, probes, place):
    file = Path(place) / "endpoints.yaml"
    file.write_text(
        "- {name: dear, base_url: 'probe:', model: probe-judge, concurrency: 1,\n"
        "   prices: {input: 10, output: 10}}\n",
        encoding="utf-8",
    )
    words = ("run", "start", "--study", "Fresh", "--judge", "dear", "--budget", "0.12")
    stopped = say(*words)
    assert stopped.code == 1
    assert "go on with: run resume" in stopped.out
    resumed = say("run", "resume", "--budget", "20", "--json")
    assert (resumed.code, resumed.data["state"]) == (0, "done")


@pytest.mark.slow
def test_a_price_that_nobody_gave_is_said_to_be_unknown(say, probes, place):
    file = Path(place) / "endpoints.yaml"
    file.write_text("- {name: mine, base_url: 'probe:', model: probe-judge}\n", encoding="utf-8")
    words = ("run", "start", "--study", "Fresh", "--judge", "mine", "--stages", "replay")
    assert "items, price unknown" in say(*words).out
    assert "price unknown" in say("run", "status").out
    assert [row["unpriced"] for row in say("run", "status", "--json").data] == [["mine"]]
    # Gone from the list, it hasn't become free.
    file.write_text("[]\n", encoding="utf-8")
    run = say("run", "status", "--json").data[0]["id"]
    assert "price unknown" in say("run", "status", run).out


def test_there_is_nothing_to_stop_or_resume(say, probes):
    assert "no run is running" in say("run", "stop").err
    assert "no run can be resumed" in say("run", "resume").err
    assert "there is no run 'x'" in say("run", "resume", "x").err
    assert say("run", "status").out == "no runs yet\n"


@pytest.mark.slow
def test_data_goes_to_another_host_only_after_a_yes(say, probes, place):
    (Path(place) / "endpoints.yaml").write_text(
        "- {name: far, base_url: 'https://models.example/v1', model: m, max_tries: 1}\n",
        encoding="utf-8",
    )
    words = ("run", "start", "--study", "Fresh", "--judge", "far", "--stages", "replay")
    said = say(*words)
    assert said.code == 2
    assert "would be sent to models.example" in said.err
    assert "agree with --yes" in said.err
    assert say("run", "status", "--json").data == []
    # The yes is kept; here the network ends at this computer, so the calls fail.
    assert say(*words, "--yes", "--json").data["failed"] == 3
    assert say(*words, "--retry-failed", "--json").data["failed"] == 3


@pytest.mark.parametrize(
    ("row", "words", "message"),
    [
        ("key_env: NO_SUCH_KEY", (), "'NO_SUCH_KEY', which isn't set"),
        ("roles: [judge]", ("--budget", "1"), "has no prices"),
    ],
)
def test_what_would_make_every_call_fail_is_told_first(say, probes, place, row, words, message):
    (Path(place) / "endpoints.yaml").write_text(
        f"- {{name: mine, base_url: 'http://127.0.0.1:9/v1', model: m, {row}}}\n",
        encoding="utf-8",
    )
    said = say("run", "start", "--study", "Fresh", "--judge", "mine", *words)
    assert (said.code, message in said.err) == (2, True), said.err
    assert say("run", "status", "--json").data == []


def test_stages_come_in_their_order_and_are_checked():
    assert stages_of("scoring,replay", with_answers=False) == ("replay", "scoring")
    assert stages_of(None, with_answers=False)[0] == "replay"
    assert stages_of(None, with_answers=True)[0] == "answer"
    with pytest.raises(UsageError, match="isn't a stage"):
        stages_of("scores", with_answers=True)
    with pytest.raises(UsageError, match="twice"):
        stages_of("replay,replay", with_answers=True)


@pytest.mark.slow
def test_a_studys_sampling_is_set_by_flags(say, probes):
    asked = (*START, "--stages", "answer", "--json")
    done = say(*asked, "--answer-temperature", "0.2", "--answer-seed", "7", "--answer-repeats", "2")
    assert (done.code, done.data["total"]) == (0, 6)
    wanted = done.data["task"]["answer_sampling"]
    assert (wanted["temperature"], wanted["seed"]) == (0.2, 7)
    # They hold from then on, but for what is set anew.
    then = say(*asked, "--answer-seed", "default").data["task"]["answer_sampling"]
    assert (then["temperature"], then["seed"]) == (0.2, None)
    assert "the temperature is 7" in say(*START, "--judge-temperature", "7").err


@pytest.mark.slow
def test_what_a_server_spoiled_is_asked_again_by_a_flag(say, probes):
    assert say(*START).code == 0
    again = say(*START, "--retry-unscored", "--json").data
    assert (again["total"], again["task"]["retry_unscored"]) == (0, True)
    assert "no run can be resumed" in say("run", "resume", "--retry-unscored").err
    said = say("run", "batch", "write", "--study", "Fresh", "--judge", "probe-judge",
               "--retry-unscored")  # fmt: skip
    assert "asked again live, not by batches" in said.err


@pytest.mark.slow
def test_marks_of_the_older_scale_are_made_anew_only_after_a_yes(say, probes, place):
    assert say(*START).code == 0
    with closing(sqlite3.connect(Path(place) / DATABASE)) as connection, connection:
        connection.execute("UPDATE checkpoints SET prompt = 'scoring/1', key = 'old ' || key")
    said = say(*START)
    assert said.code == 2
    assert "3 answers hold" in said.err
    assert "3 calls, free" in said.err
    assert "agree with --yes" in said.err
    again = say(*START, "--yes", "--json")
    assert (again.data["state"], again.data["total"]) == ("done", 3)
    assert say(*START, "--json").data["total"] == 0


@pytest.mark.slow
def test_a_panel_of_judges_marks_in_one_go(say, probes):
    told = ("run", "start", "--study", "Fresh", "--judge", "probe-judge", "--json")
    asked = say(*told, "--candidates", "model-a", "--panel", "probe-judge-noisy")
    assert asked.code == 0, asked.err
    runs = asked.data
    assert [one["judge"] for one in runs] == ["probe-judge", "probe-judge-noisy"]
    assert {one["state"] for one in runs} == {"done"}
    assert (runs[1]["task"]["stages"], runs[1]["candidates"]) == (["scoring"], [])
    assert runs[1]["done"] == 3  # an answer of each of three samples
    for wrong, words in (("probe-judge", "named once"), (",", "at least one")):
        refused = say(*told, "--panel", wrong)
        assert refused.code == 2
        assert words in refused.err
