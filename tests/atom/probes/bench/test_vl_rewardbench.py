"""VL-RewardBench on probes: the files, and the three judges."""

import json
from collections import Counter

import pytest

from atom.probes.answers.step_reader import read_steps
from atom.probes.bench.registry import BenchQuestion, make_bench_files
from atom.probes.bench.vl_rewardbench import FILE, TASKS, answer_pair, answer_point
from atom.probes.chunk import read_program
from atom.probes.draws import Draws

ITEMS = 30


@pytest.fixture(scope="module")
def files():
    return make_bench_files("vl_rewardbench", ITEMS, 3)


@pytest.fixture(scope="module")
def rows(files):
    return [json.loads(line) for line in files.rows[FILE].decode().splitlines()]


@pytest.fixture(scope="module")
def programs(files):
    return {name: read_program(data) for name, data in files.pictures.items()}


def question(row, programs, data, character="exact", draw=0):
    program = programs[row["image"]]
    return BenchQuestion(
        task="vlrb_pair",
        data={"question": row["query"], **data},
        program=program,
        readers=read_steps(program),
        character=character,
        draws=Draws("test", row["id"], draw),
    )


def pair(row, swapped=False):
    first, second = row["response"][:: -1 if swapped else 1]
    return {"first_answer": first, "second_answer": second}


@pytest.mark.slow
def test_files_have_the_published_layout(files, rows):
    assert len(rows) == ITEMS
    published = {"id", "query", "response", "image", "human_ranking", "models", "judge",
                 "rationale", "query_source", "ground_truth"}  # fmt: skip
    for row in rows:
        assert published < set(row)
        assert sorted(row["human_ranking"]) == [0, 1]
        assert row["image"] in files.pictures
        assert "synthetic" in row["query_source"]
    assert (
        make_bench_files("vl_rewardbench", 2, 3).rows
        == make_bench_files("vl_rewardbench", 2, 3).rows
    )


def test_categories_kinds_of_error_orders_and_lengths_vary(rows):
    begins = {row["id"].split("_")[0].split("-")[0] for row in rows}
    assert {"RLAIF", "wildvision", "mathverse", "mmmu"} <= begins
    tags = Counter(tag for row in rows for tag in row["human_error_analysis"] or ())
    assert len(tags) >= 4
    better_first = sum(row["human_ranking"] == [0, 1] for row in rows)
    assert 6 < better_first < 24
    longer = [len(r["response"][r["human_ranking"].index(0)])
              > len(r["response"][r["human_ranking"].index(1)]) for r in rows]  # fmt: skip
    assert 9 < sum(longer) < 21


def test_the_exact_judge_is_always_right_in_either_order(rows, programs):
    for row in rows:
        better = row["human_ranking"].index(0)
        for swapped in (False, True):
            said = answer_pair(question(row, programs, pair(row, swapped)))["verdict"]
            assert said == ("first" if (better == 0) != swapped else "second")
        one, two = (
            answer_point(question(row, programs, {"answer": text}))["score"]
            for text in row["response"]
        )
        assert (one > two) == (better == 0)
        assert 1 <= min(one, two) < max(one, two) <= 10


def test_the_noisy_judge_errs_sometimes_and_the_coin_half_the_time(rows, programs):
    def share(character):
        right = [
            answer_pair(question(row, programs, pair(row), character, draw))["verdict"]
            == ("first" if row["human_ranking"] == [0, 1] else "second")
            for row in rows
            for draw in range(10)
        ]
        return sum(right) / len(right)

    assert 0.6 < share("noisy") < 0.98
    # 300 flips: SE .0289, 3.5 SE = .101.
    assert abs(share("coin") - 0.5) < 0.101
    grades = {
        answer_point(question(rows[0], programs, {"answer": ""}, "coin", draw))["score"]
        for draw in range(200)
    }
    assert grades == set(range(1, 11))
    assert set(TASKS) == {"vlrb_pair", "vlrb_point"}
