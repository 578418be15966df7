import json
import math
from collections import Counter

import pytest

from atom.probes.answers.step_reader import read_steps
from atom.probes.bench.multi_crit import (
    FILES,
    FLIPPED,
    SPLIT_CRITERIA,
    answer_joint,
    answer_single,
    labels_of,
    look_at,
)
from atom.probes.bench.registry import MAKERS, TASKS, make_bench_files
from atom.probes.bench.types import BenchQuestion
from atom.probes.chunk import read_program
from atom.probes.draws import Draws

N = 20


@pytest.fixture(scope="module")
def files():
    return make_bench_files("multi_crit", N, 0)


@pytest.fixture(scope="module")
def pairs(files):
    """Rows by pair."""
    found = {}
    for data in files.rows.values():
        for line in data.splitlines():
            row = json.loads(line)
            found.setdefault(row["question_id"].rpartition("__")[0], []).append(row)
    return found


@pytest.fixture(scope="module")
def asked(files, pairs):
    """Every pair as a judge is asked about it: (rows, program, its steps)."""
    programs = {name: read_program(data) for name, data in files.pictures.items()}
    return [
        (rows, programs[rows[0]["image_path"]], read_steps(programs[rows[0]["image_path"]]))
        for rows in pairs.values()
    ]


def question(rows, program, steps, character, key=None, draw=0, swapped=False):
    first, second = rows[0]["pred_a"], rows[0]["pred_b"]
    if swapped:
        first, second = second, first
    data = {"question": rows[0]["question"], "first_response": first, "second_response": second}
    criteria = [{"id": row["criterion"], "name": "", "definition": ""} for row in rows]
    if key is None:
        data["criteria"] = criteria
    else:
        data["criterion"] = {"id": key, "name": "", "definition": ""}
    return BenchQuestion(
        task="multi_crit",
        data=data,
        program=program,
        readers=steps,
        character=character,
        draws=Draws("test", program.family, program.index, draw),
    )


@pytest.mark.slow
def test_files_are_in_the_published_layout(files, pairs):
    assert set(files.rows) == set(FILES.values())
    assert len(pairs) == N
    for stem, rows in pairs.items():
        for row in rows:
            assert list(row) == [
                "question_id", "image_path", "question", "pred_a", "pred_b", "model_a", "model_b",
                "split", "prompt_id", "criterion", "preference",
            ]  # fmt: skip
            assert row["question_id"] == f"{stem}__{row['criterion']}"
            assert row["criterion"] in SPLIT_CRITERIA[row["split"]]
            assert row["image_path"] in files.pictures
        assert len({row["criterion"] for row in rows}) == len(rows) > 1


def test_most_pairs_hold_a_conflict_some_hold_none_and_some_are_of_one_model(pairs):
    kinds = Counter(len({row["preference"] for row in rows}) for rows in pairs.values())
    assert kinds[2] > N / 2
    assert kinds[1] > 0
    same = sum(rows[0]["model_a"] == rows[0]["model_b"] for rows in pairs.values())
    assert 0 < same < N


def test_every_criterion_occurs_with_either_preference(pairs):
    seen = Counter((row["criterion"], row["preference"]) for rows in pairs.values() for row in rows)
    keys = {key for criteria in SPLIT_CRITERIA.values() for key in criteria}
    assert set(seen) == {(key, label) for key in keys for label in ("model_a", "model_b")}


def test_equal_seeds_give_equal_files(files):
    again = make_bench_files("multi_crit", 2, 0)
    whole = {line for data in files.rows.values() for line in data.splitlines()}
    assert {line for data in again.rows.values() for line in data.splitlines()} <= whole
    assert len(make_bench_files("multi_crit", 1, 0).rows) == 1
    assert set(MAKERS) >= {"multi_crit"}
    assert set(TASKS) >= {"multi_crit", "multi_crit_joint"}


@pytest.mark.parametrize("swapped", [False, True])
def test_the_exact_judge_agrees_with_every_label_in_either_order(asked, swapped):
    for rows, program, steps in asked:
        wanted = {row["criterion"]: (row["preference"] == "model_a") != swapped for row in rows}
        for key, first in wanted.items():
            said = answer_single(question(rows, program, steps, "exact", key, swapped=swapped))
            assert said["better"] == ("first" if first else "second")
        joint = answer_joint(question(rows, program, steps, "exact", swapped=swapped))
        assert {one["id"]: one["better"] == "first" for one in joint["verdicts"]} == wanted


@pytest.mark.parametrize(("character", "right"), [("coin", 0.5), ("noisy", 1 - FLIPPED)])
def test_the_other_judges_err_as_often_as_they_are_said_to(asked, character, right):
    hits = []
    for rows, program, steps in asked:
        for row in rows[:2]:
            for draw in range(4):
                said = answer_single(
                    question(rows, program, steps, character, row["criterion"], draw)
                )
                hits.append((said["better"] == "first") == (row["preference"] == "model_a"))
    share = sum(hits) / len(hits)
    assert abs(share - right) < 3.5 * math.sqrt(right * (1 - right) / len(hits))


def test_measures_are_of_the_text_and_the_program(asked):
    _, program, steps = next(one for one in asked if any(s.step.depends_on for s in one[2]))
    whole = " ".join(step.phrases[0].replace("{value}", step.truth) for step in program.steps)
    first, second = look_at(steps, whole), look_at(steps, "I can't tell.")
    labels = labels_of(first, second, ("completeness", "grounding", "logic", "efficiency"))
    assert labels == {"completeness": "model_a", "grounding": "model_a", "logic": "model_a",
                      "efficiency": "model_b"}  # fmt: skip
    assert labels_of(first, first, ("completeness", "clarity")) == {}
    empty = look_at(steps, "")
    assert labels_of(empty, empty, tuple({k for v in SPLIT_CRITERIA.values() for k in v})) == {}


def test_an_unknown_criterion_is_not_judged(asked):
    rows, program, steps = asked[0]
    assert answer_single(question(rows, program, steps, "exact", "charm"))["better"] == ""
