"""`compare` and `study version`: a planted regression fails a pipeline, no change doesn't."""

from __future__ import annotations

import csv
import io
import re

import pytest

from atom.display import numbers

SAMPLES = 40
LEAVES = ("Perception > Colours", "Perception > Shapes", "Reasoning > Places")


def met(model: str, sample: int, leaf: int) -> bool:
    """v1 fails one in four, elsewhere in each capability; v2 loses colours and gains places."""
    fails = (sample + leaf) % 4 == 0
    if model == "v2" and leaf == 0:
        return not (fails or sample % 4 == 1)
    if model == "v2" and leaf == 2:
        return True
    return not fails


@pytest.fixture
def marks(tmp_path):
    """Write marks of three versions: v2 is worse at colours, v3 says what v2 says."""
    out = io.StringIO()
    rows = csv.writer(out)
    rows.writerow(["id", "question", "model", "version_of", "response", "criterion", "capability",
                   "judge", "score"])  # fmt: skip
    before = {"v1": "", "v2": "v1", "v3": "v2"}
    for model in before:
        for sample in range(SAMPLES):
            for leaf, path in enumerate(LEAVES):
                mark = met("v2" if model == "v3" else model, sample, leaf)
                rows.writerow([sample, f"What is in picture {sample}?", model, before[model],
                               f"{model} says {sample}", f"Right about {path}?", path, "Judge",
                               "yes" if mark else "no"])  # fmt: skip
    path = tmp_path / "marks.csv"
    path.write_text(out.getvalue(), encoding="utf-8")
    return path


@pytest.fixture
def study(say, marks):
    done = say("import", "auto", str(marks), "--study", "S")
    assert done.code == 0, done.err
    return "S"


def test_a_column_declares_versions_and_a_command_changes_them(say, study):
    listed = say("study", "version", "--study", study, "--json").data
    assert listed == [{"model": "v2", "version_of": "v1"}, {"model": "v3", "version_of": "v2"}]
    ring = say("study", "version", "v1", "--of", "v3", "--study", study)
    assert ring.code == 2
    assert "'v1' can't be a version of 'v3', which is a version of 'v1' itself" in ring.err
    assert say("study", "version", "v3", "--none", "--study", study).out == (
        "v2 is a version of v1\n"
    )
    assert say("study", "version", "v4", "--of", "v1", "--study", study).code == 2
    assert say("study", "version", "v3", "--study", study).code == 2


@pytest.mark.slow
def test_a_planted_regression_is_found_and_fails(say, study):
    words = ("compare", "v1", "v2", "--study", study, "--fail-on-regression", "--json")
    said = say(*words)
    assert said.code == 1
    found = said.data
    assert (found["before"], found["after"], found["regressed"]) == ("v1", "v2", True)
    worse = [one["path"] for one in found["changes"] if one["verdict"] == "worse"]
    assert worse == [["Perception"], ["Perception", "Colours"]]
    better = [one["path"] for one in found["changes"] if one["verdict"] == "better"]
    assert better == [["Reasoning", "Places"]]  # Reasoning only repeats it, and counts once
    assert found["tested"] == 1 + 4
    # Samples by the rest of their number by 4: v1 fails 0, 3 and 2 for colours, shapes and places,
    # v2 0 and 1 for colours and 3 for shapes: 2 is fixed, 1 is broken, ten samples each.
    assert (found["whole"]["fixed"], found["whole"]["broke"]) == (10, 10)
    colours = next(one for one in found["changes"] if one["path"][-1:] == ["Colours"])
    assert (colours["before"], colours["after"]) == (75.0, 50.0)
    assert (colours["fixed"], colours["broke"], colours["samples"]) == (0, 10, 40)
    # A loss of 25 points isn't one beyond 30, whose test no interval of 40 samples passes.
    beyond = say(*words, "--margin", "30")
    assert (beyond.code, beyond.data["regressed"]) == (0, False)
    assert say("compare", "v1", "v2", "--study", study).code == 0


def test_nothing_changed_fails_nothing(say, study):
    said = say("compare", "--study", study, "--fail-on-regression", "--json")
    assert said.code == 0
    assert (said.data["before"], said.data["after"]) == ("v2", "v3")
    assert said.data["whole"]["gap"] == 0
    assert {one["verdict"] for one in said.data["changes"]} == {"same"}


def test_the_note_is_short_markdown(say, study, tmp_path):
    said = say("compare", "v2", "--study", study, "--markdown", "-", "--fail-on-regression")
    assert said.code == 1
    lines = said.out.splitlines()
    assert lines[0] == "### v2 against v1"
    assert lines[2].startswith("**Worse at Colours, Perception**; better at Places; 10 samples")
    assert len(lines) < 20
    assert any(line.startswith("| ▼ Perception &gt; Colours") or "Colours" in line
               for line in lines)  # fmt: skip
    path = tmp_path / "note.md"
    told = say("compare", "v2", "--study", study, "--markdown", str(path))
    assert path.read_text(encoding="utf-8") == said.out
    # The command's lines, the note and `--json` have the same cells.
    worse = say("compare", "v2", "--study", study, "--json").data["changes"]
    colours = next(one for one in worse if one["path"][-1:] == ["Colours"])
    ends = numbers.signed_interval(colours["gap"], colours["lo"], colours["hi"])
    cells = ["75.0", "50.0", ends, numbers.p_value(colours["adjusted"]), "0", "10", "40"]
    noted = next(line for line in lines if line.startswith("| ▼") and "Colours" in line)
    shown = told.out.splitlines()
    listed = next(line for line in shown if line.startswith("▼") and "Colours" in line)
    assert [cell.strip() for cell in noted.split("|")[2:-1]] == cells
    assert re.split(" {2,}", listed)[1:] == cells


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("v1",), "isn't declared a version of anything"),
        (("v1", "v1"), "compared with itself"),
        (("v1", "v2", "v3"), "give two models"),
        (("v1", "nobody"), "nobody"),
    ],
)
def test_what_can_not_be_compared_is_a_sentence(say, study, words, told):
    said = say("compare", *words, "--study", study)
    assert said.code == 2
    assert told in said.err


def test_a_ring_in_the_files_is_refused(say, marks):
    text = marks.read_text(encoding="utf-8").replace(",v1,,", ",v1,v3,")
    marks.write_text(text, encoding="utf-8")
    said = say("import", "auto", str(marks), "--study", "S")
    assert said.code == 2
    assert "a model would come before itself" in said.err
    assert say("study", "list", "--json").data == []


def test_labels_are_called_what_they_are(say, tmp_path):
    """A stranger's table of final answers has labels, and no capability."""
    rows = ["item,prompt,system,output,is_correct,level"]
    for n in range(24):
        level = "hard" if n % 2 else "easy"
        rows.append(f"{n},Question {n}?,old,said {n},true,{level}")
        rows.append(f"{n},Question {n}?,new,said {n},{str(n % 4 == 0).lower()},{level}")
    path = tmp_path / "own.csv"
    path.write_text("\n".join(rows), encoding="utf-8")
    assert say("import", "auto", str(path), "--study", "own").code == 0
    told = say("compare", "old", "new", "--study", "own", "--markdown", "-")
    assert "| Level | right before" in told.out
    assert "the whole and every level with five samples or more" in told.out
