"""`report write` and `profile show`: the same numbers as the screens, in files and tables."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from atom.reports.profile import find_model, profile
from atom.store import Store
from atom.views.filters import Filters
from atom.views.overview.page import overview
from atom.views.study_data import load_study
from tests.app.screen_store import make_store


@pytest.fixture(scope="module")
def pattern(tmp_path_factory) -> Path:
    """Return a store with one judged study, to be copied."""
    return make_store(tmp_path_factory.mktemp("pattern")).folder


@pytest.fixture
def place(pattern, tmp_path) -> str:
    """Return a store of one's own."""
    return str(shutil.copytree(pattern, tmp_path / "store"))


@pytest.mark.slow
def test_a_report_is_written_to_a_file(say, tmp_path):
    out = tmp_path / "report.html"
    said = say("report", "write", "--study", "Test study", "--out", str(out))
    assert (said.code, said.err) == (0, "")
    assert "in 4 sections" in said.out
    page = out.read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "SYNTHETIC" in page
    assert "<script" not in page


def test_models_and_forms_can_be_chosen(say, tmp_path):
    words = ("report", "write", "--study", "Test study", "--model", "model-b")
    said = say(*words, "--format", "markdown", "--cases", "1", "--base", "http://127.0.0.1:8501")
    assert "## model-b" in said.out
    assert "## model-a" not in said.out
    assert "](http://127.0.0.1:8501/failures?study=" in said.out
    found = say(*words, "--format", "json", "--json").data
    told = json.loads(found["text"])
    assert (found["sections"], len(told["sections"])) == (2, 2)
    assert found["findings"] == len(told["findings"])


def test_a_judge_writes_after_its_price_was_told(say, tmp_path):
    out = tmp_path / "report.md"
    words = ("report", "write", "--study", "Test study", "--model", "model-a", "--format")
    said = say(*words, "markdown", "--judge", "probe-judge-noisy", "--out", str(out), "--json")
    assert said.code == 0
    assert "probe-judge-noisy writes 2 sections: 2 calls, about " in said.err
    assert (said.data["written_by"], said.data["unverified"]) == ("probe-judge-noisy", 4)
    # Four marks, none of them on the first page, and the sentence that says what they mean.
    assert out.read_text(encoding="utf-8").count("*\\[unverified\\]*") == 4 + 1
    again = say(*words, "markdown", "--judge", "probe-judge-noisy", "--json")
    assert "0 calls" in again.err


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--study", "nothing"), "nothing"),
        (("--study", "Test study", "--model", "model-x"), "models are 'model-a', 'model-b'"),
        (("--study", "Test study", "--judge", "model-a"), "no endpoint|roles"),
        (("--study", "Test study", "--base", "javascript:x"), "isn't an app's address"),
        (("--study", "Test study", "--cases", "99"), "0 to 10"),
        (("--study", "Test study", "--out", "/nowhere/at/all.html"), "can't be written"),
    ],
)
def test_what_cannot_be_done_is_said(say, words, problem):
    said = say("report", "write", *words)
    assert said.code == 2
    assert any(part in said.err for part in problem.split("|"))


def test_a_file_that_is_there_is_written_over_only_when_said_so(say, tmp_path):
    """Fall 19 of design/074."""
    out = tmp_path / "report.md"
    out.write_text("mine", encoding="utf-8")
    words = ("report", "write", "--study", "Test study", "--format", "markdown", "--out", str(out))
    said = say(*words)
    assert (said.code, out.read_text(encoding="utf-8")) == (2, "mine")
    assert "--replace" in said.err
    assert say(*words, "--replace").code == 0
    assert out.read_text(encoding="utf-8") != "mine"


def test_nothing_goes_to_a_new_host_without_agreement(say, place):
    (Path(place) / "endpoints.yaml").write_text(
        "- {name: far, base_url: 'https://judge.example/v1', model: m, roles: [judge]}\n",
        encoding="utf-8",
    )
    said = say("report", "write", "--study", "Test study", "--judge", "far")
    assert said.code == 2
    assert "would be sent to judge.example" in said.err
    assert "nothing was sent" in said.err


def test_a_profile_has_the_numbers_of_the_overview(say, place):
    found = say("profile", "show", "--study", "Test study", "--model", "model-a", "--json").data
    with Store.open(place) as store:
        view = overview(load_study(store, "Test study"), Filters())
    row = next(row for row in view.ranking if row.name == "model-a")
    assert found["score"]["value"] == row.score.value
    assert (found["rank_best"], found["rank_worst"]) == (row.rank_best, row.rank_worst)
    skills = {s.path: s.cells[row.colour].estimate for s in view.skills}
    assert len(found["nodes"]) == len(skills)
    for node in found["nodes"]:
        path = tuple(node["path"].split(" › "))
        assert (node["value"], node["n"]) == (skills[path].value, skills[path].n)
        assert node["status"]
    said = say("profile", "show", "--study", "Test study", "--model", "model-a")
    assert said.out.startswith("model-a   SYNTHETIC\n")
    assert "· · · Clock reading" in said.out
    assert "right answer, wrong reason" in said.out


def test_a_profile_of_outcomes_shows_labels(say, place, tmp_path):
    made = make_store(tmp_path / "outcomes", judged=False, name="Outcomes only")
    with Store.open(made.folder) as store:
        data = load_study(store, made.study.id)
        found = profile(data, Filters(), find_model(data, "model-b"))
    assert found.measure == "outcome"
    assert {node.label for node in found.nodes} == {("difficulty", "easy"), ("difficulty", "hard")}
    assert all(node.status for node in found.nodes)


def table_study(say, tmp_path, rows, name="Mine"):
    path = tmp_path / f"{name}.csv"
    head = "id,question,model,response,correct,skill,level\n"
    path.write_text(head + "\n".join(rows) + "\n", encoding="utf-8")
    said = say("import", "table", str(path), "--study", name)
    assert said.code == 0, said.err
    return name


@pytest.mark.slow
def test_a_profile_and_a_report_look_at_the_labels_asked_for(say, tmp_path):
    rows = [
        f"{n},Question {n}?,m{k},a,{int((n + k) % 3 > 0)},s{n % 2},l{n % 3}"
        for n in range(24)
        for k in range(2)
    ]
    name = table_study(say, tmp_path, rows)

    def labels(facet):
        words = ("--study", name, "--model", "m0", "--facet", facet, "--json")
        told = say("profile", "show", *words).data
        assert told["facet"] == facet
        return {tuple(node["label"]) for node in told["nodes"]}

    assert labels("level") == {("level", f"l{n}") for n in range(3)}
    assert labels("skill") == {("skill", "s0"), ("skill", "s1")}
    written = say("report", "write", "--study", name, "--facet", "level", "--format", "markdown")
    assert "l0 (level)" in written.out
    assert "s0 (skill)" not in written.out
    wrong = say("profile", "show", "--study", name, "--model", "m0", "--facet", "colour")
    assert wrong.code == 2
    assert "labels are" in wrong.err


def test_a_judged_study_is_profiled_by_labels_too_but_reported_by_capability(say):
    words = ("--study", "Test study", "--facet", "source")
    told = say("profile", "show", "--model", "model-a", *words, "--json").data
    assert told["facet"] == "source"
    assert all(item["label"] for item in told["weaknesses"])
    said = say("report", "write", *words)
    assert said.code == 2
    assert "about its capabilities" in said.err


def test_a_profile_says_insufficient_where_nothing_could_be_tested(say, tmp_path):
    rows = [f"{n},Question {n}?,m0,a,{n % 2},s{n % 2},l{n % 2}" for n in range(6)]
    name = table_study(say, tmp_path, rows, "Few")
    said = say("profile", "show", "--study", name, "--model", "m0", "--facet", "skill")
    assert "weaknesses: insufficient" in said.out
    assert "nothing found" not in said.out.split("where")[0]


def test_one_model_says_nothing_of_what_is_hardest(say, tmp_path):
    rows = [f"{n},Question {n}?,m0,a,{int(n % 4 > 1)},s{n % 2},l{n % 3}" for n in range(40)]
    name = table_study(say, tmp_path, rows, "One")
    report = say("report", "write", "--study", name, "--format", "markdown").out
    assert "hardest" not in report.casefold()


def test_only_what_even_the_best_model_finds_hard_is_called_hard(say, tmp_path):
    # m0: 40 of 40 on easy, 0 of 40 on odd; m1: 20 of 40 on easy, 0 on odd. So m0 leads with 50 %,
    # odd (best 0 %) is hard, easy (best 100 %) is not; easy is 100 points above m0's rest.
    rows = [
        f"{n},Question {n}?,m{k},a,{int(n % 2 == 0 and (k == 0 or n % 4 == 0))},"
        f"{('easy', 'odd')[n % 2]},l0"
        for n in range(80)
        for k in range(2)
    ]
    name = table_study(say, tmp_path, rows, "Halves")
    text = say("report", "write", "--study", name, "--format", "markdown").out
    hardest = text.split("### What is hardest")[1].split("###")[0]
    assert "odd (skill)" in hardest
    assert "easy (skill)" not in hardest
    told = say("profile", "show", "--study", name, "--model", "m0", "--json").data
    assert all(-100 <= item["lo"] <= item["hi"] <= 100 for item in told["weaknesses"])
    shown = say("profile", "show", "--study", name, "--model", "m0").out
    assert "100.0 (" in shown
    assert "–100.0)" in shown


def test_a_report_on_ungraded_answers_counts_nothing_and_says_so(say, tmp_path):
    path = tmp_path / "Free.csv"
    path.write_text("id,question,model,response\n1,Why?,m0,So\n2,How?,m0,Thus\n", encoding="utf-8")
    assert say("import", "table", str(path), "--study", "Free").code == 0
    text = say("report", "write", "--study", "Free", "--format", "markdown").out
    assert "Nothing is scored or graded under this selection" in text
    assert "has outcomes" not in text


def test_labels_of_several_benchmarks_are_compared_within_their_own(say, tmp_path):
    for name, right in (("Easy", 3), ("Hard", 1)):
        rows = [
            f"{n},{name} {n}?,m0,a,{int(n % 4 < right)},{name}{n // 4 % 2},l{n % 3}"
            for n in range(80)
        ]
        path = tmp_path / f"{name}.csv"
        head = "id,question,model,response,correct,skill,level\n"
        path.write_text(head + "\n".join(rows) + "\n", encoding="utf-8")
        assert say("import", "table", str(path), "--study", "Two", "--dataset", name).code == 0
    words = ("profile", "show", "--study", "Two", "--model", "m0", "--facet")
    within = say(*words, "skill").out
    assert "within each of 2 benchmarks" in within
    assert "confirmed" not in within
    across = say(*words, "source").out
    assert "within each" not in across
    assert "▼ Hard" in across
    text = say("report", "write", "--study", "Two", "--format", "markdown").out
    assert "2 benchmarks" in text
