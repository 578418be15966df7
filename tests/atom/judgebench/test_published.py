"""Published identities hold when our own metric code recomputes them; errata are left out."""

import csv

import pytest

from atom.judgebench.critic_bench import objective_overall, subjective_overall
from atom.judgebench.rates import macro, pooled


def read(folder, name):
    with (folder / "published" / name).open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["value"]]


def by_model(rows, *keys):
    """Group values: model -> (keys...) -> value."""
    table = {}
    for row in rows:
        table.setdefault(row["model"], {})[tuple(row[key] for key in keys)] = float(row["value"])
    return table


def misprinted(folder, identity):
    with (folder / "published" / "errata.csv").open(encoding="utf-8", newline="") as file:
        return [row["item"] for row in csv.DictReader(file) if row["identity"] == identity]


def test_vl_rewardbench_macro_is_the_plain_mean_of_three_categories(shared_folder):
    table = by_model(read(shared_folder, "vlrb_table2_accuracy.csv"), "metric", "category")
    names = ("general", "hallucination", "reasoning")
    for model, cells in table.items():
        found = macro([cells["accuracy", name] / 100 for name in names], [183, 749, 318])
        # Half a unit of the printed place, and as much again of the three inputs.
        printed = cells["macro_average_accuracy", "all"]
        assert 100 * found.value == pytest.approx(printed, abs=0.1), model
    assert len(table) == 16


def test_vl_rewardbench_overall_of_gpt_4o_is_not_the_printed_one(shared_folder):
    # METHODS A14: counts 183/749/318 give 65.63; the table prints 65.8 (errata).
    cells = by_model(read(shared_folder, "vlrb_table2_accuracy.csv"), "metric", "category")
    gpt = next(cells[name] for name in cells if name.lower().startswith("gpt-4o ") or
               name.lower() in ("gpt-4o", "gpt-4o-2024-08-06", "gpt-4o (2024-08-06)"))  # fmt: skip
    found = pooled([gpt["accuracy", n] for n in ("general", "hallucination", "reasoning")],
                   [183, 749, 318])  # fmt: skip
    assert found == pytest.approx(65.63, abs=0.01)
    assert gpt["overall_accuracy", "all"] == 65.8


@pytest.mark.parametrize("name", ["multicrit_table3_open.csv", "multicrit_table4_reasoning.csv"])
def test_multi_crit_average_is_the_plain_mean_of_the_criteria(shared_folder, name):
    table = by_model(read(shared_folder, name), "metric", "category")
    for model, cells in table.items():
        each = [v for (m, c), v in cells.items() if m == "criterion_accuracy" and c != "avg"]
        found = 100 * macro([v / 100 for v in each], [2] * len(each)).value
        assert found == pytest.approx(cells["criterion_accuracy", "avg"], abs=0.01), model
    assert len(table) == 25


def test_mm_critic_average_is_weighted_by_the_sub_datasets(shared_folder):
    table = by_model(read(shared_folder, "mmcritic_table2_main.csv"), "split", "metric")
    splits = ("core", "core_single_image", "open", "open_single_image")
    near = 0
    for cells in table.values():
        for metric, slack in (("acc_critic", 0.0035), ("critique_score", 0.0105)):
            values = [cells[split, metric] for split in splits]
            found = pooled(values, [2282, 1620, 319, 250])
            near += abs(found - cells["avg", metric]) <= slack + 1e-9
    assert near == 33  # of 36; the three others are in the errata


@pytest.mark.parametrize(
    ("name", "identity", "holds"),
    [("criticbench_table1_subjective.csv", "cb_t1_overall", 15),
     ("criticbench_table9_subjective_test.csv", "cb_t9_overall", 29),
     ("criticbench_table10_subjective_dev.csv", "cb_t10_overall", 23)],
)  # fmt: skip
def test_criticbench_subjective_overall(shared_folder, name, identity, holds):
    table = by_model(read(shared_folder, name), "dimension", "category")
    parts = [(d, "avg") for d in ("feedback", "comp_feedback", "correction", "overall")]
    good = total = 0
    for model, cells in table.items():
        if model == "Average" or not all(part in cells for part in parts):
            continue
        total += 1
        feedback, compared, corrected, printed = (cells[part] for part in parts)
        good += abs(subjective_overall(feedback, compared, corrected) - printed) <= 0.0101
    assert (good, total - good) == (holds, len(misprinted(shared_folder, identity)))


@pytest.mark.parametrize(
    ("name", "identity", "holds"),
    [("criticbench_table2_objective.csv", "cb_t2_overall", 14),
     ("criticbench_table11_objective_test.csv", "cb_t11_overall", 27),
     ("criticbench_table12_objective_dev.csv", "cb_t12_overall", 22)],
)  # fmt: skip
def test_criticbench_objective_overall(shared_folder, name, identity, holds):
    table = by_model(read(shared_folder, name), "dimension", "category")
    parts = [(d, "avg") for d in ("feedback", "comp_feedback", "correction", "meta_feedback",
                                  "overall")]  # fmt: skip
    good = total = 0
    for model, cells in table.items():
        if model == "Average" or not all(part in cells for part in parts):
            continue
        total += 1
        feedback, compared, corrected, meta, printed = (cells[part] for part in parts)
        good += abs(objective_overall(feedback, compared, corrected, meta) - printed) <= 0.0101
    assert (good, total - good) == (holds, len(misprinted(shared_folder, identity)))
