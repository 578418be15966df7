"""Commands that are short: store, endpoint, demo, probe, import."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.held import broken_sums
from tests.votes import vote_files


def test_a_whole_store_is_said_to_be_whole(say, probes):
    said = say("store", "check")
    assert said.code == 0
    assert said.out.endswith("the store is whole\n")
    assert say("store", "check", "--json", "--read-only").data["problems"] == []


def test_a_changed_picture_is_found(say, probes, place):
    picture = next((Path(place) / "pictures").rglob("*/*"))
    picture.write_bytes(b"changed")
    said = say("store", "check")
    assert said.code == 1
    assert "the store is NOT whole" in said.out
    assert say("store", "check", "--no-pictures").code == 0


def test_endpoints_are_listed_without_their_keys(say, place, monkeypatch):
    Path(place).mkdir()
    (Path(place) / "endpoints.yaml").write_text(
        "- {name: mine, base_url: 'https://h.example/v1', model: m, key_env: MY_KEY}\n",
        encoding="utf-8",
    )
    rows = {row["name"]: row for row in say("endpoint", "list", "--json").data}
    assert rows["mine"]["key"] == "MY_KEY is not set"
    monkeypatch.setenv("MY_KEY", "very-secret-key")
    said = say("endpoint", "list")
    assert "MY_KEY is set" in said.out
    assert "very-secret-key" not in said.out
    assert rows["probe-judge"]["host"] == "this computer (probe endpoint)"


def test_an_endpoint_is_tested(say):
    said = say("endpoint", "test", "probe-judge", "--json")
    assert (said.code, said.data["ok"]) == (0, True)
    assert say("endpoint", "test", "probe-judge").out.startswith("It can be used.\nCheck ")
    assert say("endpoint", "test", "nobody").code == 2


def test_a_test_on_another_host_wants_a_yes(say, tmp_path, monkeypatch):
    file = tmp_path / "e.yaml"
    monkeypatch.setenv("ATOM_ENDPOINTS", str(file))
    file.write_text("- {name: away, base_url: 'https://a.invalid/v1', model: m, max_tries: 1}")
    said = say("endpoint", "test", "away")
    assert (said.code, said.out) == (2, "")
    assert "to a.invalid: agree first (--yes" in said.err


@pytest.mark.slow
def test_a_demo_is_built_into_the_store_and_sealed(say, tmp_path):
    tiny = ("demo", "build", "--samples", "1", "--candidates", "1", "--seed", "2")
    assert "need 48 samples and 3 candidates at least" in say(*tiny).err
    assert "there is no part 'trees'; there are repeats, tree" in say(*tiny, "--parts", "trees").err
    small = (*tiny, "--parts", "none")
    said = say(*small)
    assert said.code == 0
    assert "SYNTHETIC" in said.out
    assert "already" in say(*small).err
    sealed = tmp_path / "sealed"
    data = say(*small, "--seal", str(sealed), "--json").data
    assert (data["synthetic"], data["bytes"] > 0) == (True, True)
    assert broken_sums(sealed) == []
    assert "isn't empty" in say(*small, "--seal", str(sealed)).err
    assert "fixed name" in say(*small, "--seal", str(tmp_path / "x"), "--name", "n").err


@pytest.mark.slow
def test_probes_are_written_as_files_and_come_back_by_import(say, tmp_path):
    folder = tmp_path / "probes"
    made = say("probe", "make", "--samples", "2", "--seed", "4", "--output", str(folder))
    assert made.code == 0
    rows = [json.loads(line) for line in (folder / "questions.jsonl").read_text().splitlines()]
    assert all((folder / name).exists() for row in rows for name in row["images"])
    questions = str(folder / "questions.jsonl")
    dry = say("import", "table", questions, "--dry-run", "--json").data
    assert (dry["samples"], dry["n_missing_pictures"]) == (2, 0)
    assert say("study", "list", "--json").data == []
    brought = say("import", "auto", questions, "--study", "Back")
    assert (brought.code, brought.out.splitlines()[0]) == (0, "into study 'Back'")
    (study,) = say("study", "list", "--json").data
    assert study["samples"] == 2
    judged = say("run", "start", "--study", "Back", "--judge", "probe-judge", "--json").data
    assert (judged["done"], judged["failed"]) == (6, 0)


def test_what_is_wrong_with_probes_is_told(say, tmp_path):
    assert "isn't a family" in say("probe", "make", "--study", "x", "--families", "cats").err
    assert "at least 1" in say("probe", "make", "--study", "x", "--samples", "0").err
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("x")
    assert "isn't empty" in say("probe", "make", "--output", str(tmp_path / "full")).err


def test_votes_are_taken_in_and_taken_back(say, tmp_path):
    paths = []
    for file in vote_files(4)[0]:
        paths.append(str(tmp_path / file.name))
        (tmp_path / file.name).write_bytes(file.head(10_000_000))
    brought = say("import", "mllm-bench", *paths, "--study", "Votes", "--json").data
    assert (brought["samples"], brought["preferences"]) == (4, 24)
    assert "24 votes" in say("import", "auto", *paths, "--dry-run").out
    undone = say("import", "undo", brought["import_id"], "--json").data
    assert (undone["samples"], undone["responses"], undone["preferences"]) == (4, 16, 24)
    assert "say which import" in say("import", "undo").err
    assert "there is no import" in say("import", "undo", "x").err


def test_an_import_says_what_it_left_out_as_its_account_does(say, tmp_path):
    head = "id,question,answer,model,response,correct"
    row = "1,How many legs has a spider?,8,m,8,1"
    twice = tmp_path / "twice.csv"
    twice.write_text("\n".join((head, row, row)), encoding="utf-8")
    said = say("import", "table", str(twice), "--study", "Twice")
    assert "Came in: 1 sample, 1 model, 1 answer, 1 verdict; 1 answer left out." in said.out
    assert ["Answers", "2", "1", "1"] in [line.split()[:4] for line in said.out.splitlines()]
    assert said.err.endswith("2 rows, 1 sample, 1 answer\n")
    once = tmp_path / "once.csv"
    once.write_text("\n".join((head, row)), encoding="utf-8")
    said = say("import", "table", str(once), "--study", "Once", "--dry-run")
    assert "Would come in: 1 sample, 1 model, 1 answer, 1 verdict; nothing left out." in said.out


def test_what_there_is_one_of_is_said_in_the_singular(say, tmp_path):
    table, to = tmp_path / "one.csv", tmp_path / "to"
    table.write_text(
        "id,question,answer,model,response,correct,topic\n1,Seven times six?,42,m,42,1,sums\n",
        encoding="utf-8",
    )
    said = [
        say("import", "table", str(table), "--study", "One"),
        say("profile", "show", "--study", "One", "--model", "m"),
        say("export", "csv", "--study", "One", "--out", str(to / "csv")),
        say("export", "parquet", "--study", "One", "--out", str(to / "parquet")),
        say("figure", "write", "--study", "One", "--format", "csv", "--out", str(to / "figures")),
        say("report", "write", "--study", "One", "--format", "markdown", "--out", str(to / "r.md")),
    ]
    assert [one.code for one in said] == [0] * len(said)
    texts = [*(one.out + one.err for one in said), (to / "r.md").read_text(encoding="utf-8")]
    kinds = "answers|candidates|criteria|imports|models|outcomes|responses|rows|samples|studies"
    slips = re.compile(rf"(?<![\w.,–-])1 (?:study )?(?:{kinds})\b")
    assert [found for text in texts for found in slips.findall(text)] == []
    assert "n 1 answer" in texts[1]
    assert "1 model gave 1 answer to 1 sample." in texts[-1]


def test_formats_are_listed_and_wrong_imports_are_told(say, tmp_path):
    assert {row["format"] for row in say("import", "list", "--json").data} >= {"table"}
    file = tmp_path / "rows.csv"
    file.write_text("question\nWhy?\n")
    assert "--study NAME" in say("import", "table", str(file)).err
    assert "no file is named" in say("import", "table", "--study", "x").err
    assert "there is no file" in say("import", "table", "nowhere.csv", "--study", "x").err
    assert "unknown" in say("import", "nonsense", str(file), "--study", "x").err
    assert "FILE=NAME" in say("import", "table", str(file), "--study", "x", "--candidate", "a").err


def test_a_run_folder_stands_for_its_files(say, tmp_path):
    run = tmp_path / "My_Model" / "T20260101"
    run.mkdir(parents=True)
    sheet = "index,question,prediction,hit\n0,Q?,a,1\n1,R?,b,0\n"
    (run / "My_Model_OurSet_result.csv").write_text(sheet)
    (run / "My_Model_OurSet_acc.csv").write_text('"split","Overall"\n"none","0.5"\n')
    (run / "0.png").write_bytes(b"no picture")
    (run / ".hidden").write_text("x")
    brought = say("import", "vlmevalkit", str(tmp_path / "My_Model"), "--study", "Run", "--json")
    assert brought.data["candidates"] == ["My_Model"]
    assert "My_Model_OurSet_acc.csv: 1 of 1 figures agree" in brought.data["notes"]
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "holds no file" in say("import", "auto", str(empty), "--study", "x").err


def test_an_endpoint_is_added_by_a_preset(say, place, monkeypatch):
    Path(place).mkdir()
    said = say("endpoint", "add", "flash", "--preset", "gemini", "--model", "gemini-2.5-flash")
    assert said.code == 0
    assert "GEMINI_API_KEY is not set" in said.out
    (row,) = [row for row in say("endpoint", "list", "--json").data if row["name"] == "flash"]
    assert (row["preset"], row["boxes"]) == ("gemini", "yxyx_1000")
    azure = ("endpoint", "add", "az", "--preset", "azure-openai", "--model", "gpt-4.1")
    missing = say(*azure, "--set", "resource=lab")
    assert (missing.code, "--set deployment=" in missing.err) == (2, True)
    assert say(*azure, "--set", "resource=lab", "--set", "deployment=d").code == 0
    (row,) = [row for row in say("endpoint", "list", "--json").data if row["name"] == "az"]
    assert row["key"] == "AZURE_OPENAI_API_KEY is not set"
    twice = say("endpoint", "add", "flash", "--preset", "openai", "--model", "m")
    assert (twice.code, "already" in twice.err) == (2, True)
    for words in (
        ("--preset", "opnai"), (), ("--url", "ftp://x"), ("--preset", "openai", "--set", "x=1"),
        ("--preset", "openai", "--set", "x"),
    ):  # fmt: skip
        assert say("endpoint", "add", "new", "--model", "m", *words).code == 2
    listed = say("endpoint", "presets", "--json").data
    assert len(listed) == 13
    assert all(row["sources"] for row in listed)


def test_prices_are_taken_from_a_file(say, place, tmp_path):
    Path(place).mkdir()
    for name, model in (("a", "known"), ("b", "unknown")):
        say("endpoint", "add", name, "--url", "https://h.example/v1", "--model", model)
    (tmp_path / "prices.csv").write_text("model,input,output\nknown,1.5,6\n")
    tried = say("endpoint", "prices", str(tmp_path / "prices.csv"), "--dry-run", "--json")
    assert [(row["before"], row["now"]) for row in tried.data] == [
        ("unknown", "1.5 / 6"), ("unknown", "not in the file"),
    ]  # fmt: skip
    taken = say("endpoint", "prices", str(tmp_path / "prices.csv"))
    assert (taken.code, "$1.5 in, $6 out a million tokens" in taken.out) == (0, True)
    again = say("endpoint", "prices", str(tmp_path / "prices.csv"), "--json").data
    assert [(row["before"], row["changed"]) for row in again] == [
        ("1.5 / 6", False), ("unknown", False),
    ]  # fmt: skip
    assert say("endpoint", "prices", str(tmp_path / "nope.csv")).code == 2
