"""Published identities hold when our own metric code recomputes them; errata are left out."""

from __future__ import annotations

import hashlib
import math

import numpy as np
import pytest

from atom.analysis.capability.validity import LeafHomogeneity
from atom.errors import DataError
from atom.judgebench import published
from atom.judgebench.base import MetricRow
from atom.judgebench.critic_bench.measures import objective_overall, subjective_overall
from atom.judgebench.multi_crit.measures import multi_crit
from atom.judgebench.rates import macro, mean_interval, pooled, rate
from atom.judgebench.vl_rewardbench.measures import accuracy
from atom.settings import PUBLISHED_FOLDER

FOLDER = PUBLISHED_FOLDER
VLRB = {"general": 183, "hallucination": 749, "reasoning": 318}
SPLITS = {"core": 2282, "core_single_image": 1620, "open": 319, "open_single_image": 250}


def by_model(name, *keys):
    """Group values: model key -> (keys...) -> value; what isn't printed is left out."""
    table = {}
    for row in published.figures(FOLDER, name):
        if not math.isnan(row.value) and row.model != "Average":
            place = tuple(row.where[key] for key in keys)
            table.setdefault(row.model_key, {})[place] = row.value
    return table


def counts(paper, table):
    """Return derived numbers of items: (model key, split, category) -> n."""
    return {
        (row.model_key, row.where["split"], row.where["category"]): row.value
        for row in published.figures(FOLDER, "derived_counts")
        if (row.paper, row.table) == (paper, table)
    }


def missed(identity):
    return [one.item for one in published.errata(FOLDER) if one.identity == identity]


def rule(identity):
    """Return how many rows pass, and how many don't."""
    found = next(one for one in published.identities(FOLDER) if one.name == identity)
    return found.holds, found.checked - found.holds


def mean(values):
    """Average by our own code; its intervals are of no matter here."""
    return mean_interval(np.asarray(values, dtype=np.float64))[0]


def tally(pairs, slack):
    """Count what agrees: (recomputed, printed) -> (agree, don't)."""
    good = sum(abs(found - printed) <= slack + 1e-9 for found, printed in pairs)
    return good, len(pairs) - good


# --- the files --------------------------------------------------------------------------------


def test_every_file_is_what_its_checksum_says():
    lines = (FOLDER / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    listed = {name: digest for digest, name in (line.split() for line in lines)}
    there = {path.name for path in FOLDER.iterdir()} - {"SHA256SUMS"}
    assert there == set(listed)
    wrong = [
        name
        for name, digest in listed.items()
        if hashlib.sha256((FOLDER / name).read_bytes()).hexdigest() != digest
    ]
    assert wrong == []


def test_it_is_the_shared_transcription(shared_folder):
    for path in FOLDER.glob("*.csv"):
        assert path.read_bytes() == (shared_folder / "published" / path.name).read_bytes()


def test_a_missing_table_says_where_it_belongs(tmp_path):
    with pytest.raises(DataError, match="data/published"):
        published.figures(tmp_path, "vlrb_table2_accuracy")


# --- errata -----------------------------------------------------------------------------------


def test_an_erratum_stands_beside_the_figure_that_it_hits():
    rows = published.figures(FOLDER, "criticbench_table11_objective_test")
    hit = {
        (row.model_key, row.where["dimension"], row.where["category"]): [
            e.words for e in row.errata
        ]
        for row in rows
        if row.errata
    }
    assert hit["qwen-14b-chat", "overall", "avg"] == [
        "44.96 printed, 41.575 recomputed", "41.58 in table 2, 44.96 in table 11"
    ]  # fmt: skip
    assert hit["gpt-4-turbo", "comp_feedback", "avg"] == ["57.33 printed, 57.556 recomputed"]
    # Table 18 prints another average of the same figure: both places are named.
    assert "44.17 in table 18, 56.67 in table 11" in hit["gemini-pro", "correction", "avg"]
    assert ("glm4-no-tool", "feedback", "avg") not in hit


def test_a_miss_of_a_rule_that_no_paper_states_is_no_erratum():
    grid = next(one for one in published.errata(FOLDER) if one.identity == "vlrb_t2_grid")
    named = next(one for one in published.errata(FOLDER) if one.identity == "mm_t2_avg_range")
    assert (grid.counts, named.counts) == (False, True)


def test_most_errata_of_tables_find_their_figure():
    tables = [path.stem for path in FOLDER.glob("*_table*.csv")]
    hit = {e for name in tables for row in published.figures(FOLDER, name) for e in row.errata}
    lost = {
        one.identity
        for one in published.errata(FOLDER)
        if one.counts and one.kind != "text" and one not in hit
    }
    # Rows that are the same twice, and the row of averages, belong to no one model's figure.
    assert lost == {"mm_rows_differ", "cb_t2_average_row", "cb_test_dev_differ"}


# --- VL-RewardBench ---------------------------------------------------------------------------


def test_vl_rewardbench_macro_is_the_plain_mean_of_three_categories():
    table = by_model("vlrb_table2_accuracy", "metric", "category")
    pairs = []
    for cells in table.values():
        found = macro([cells["accuracy", name] / 100 for name in VLRB], list(VLRB.values()))
        pairs.append((100 * found.value, cells["macro_average_accuracy", "all"]))
    # Half a unit of the printed place, and as much again of the inputs.
    assert tally(pairs, 0.1) == rule("vlrb_t2_macro") == (16, 0)


def test_vl_rewardbench_overall_is_an_erratum_of_twelve_models():
    table = by_model("vlrb_table2_accuracy", "metric", "category")
    found = {
        model: pooled([cells["accuracy", name] for name in VLRB], list(VLRB.values()))
        for model, cells in table.items()
    }
    # METHODS A14: counts 183/749/318 give 65.63; the table prints 65.8.
    assert found["gpt-4o"] == pytest.approx(65.63, abs=0.01)
    off = {m for m, value in found.items()
           if abs(value - table[m]["overall_accuracy", "all"]) > 0.1}  # fmt: skip
    assert off == set(missed("vlrb_t2_overall"))
    assert len(off) == 12


def test_vl_rewardbench_macro_from_votes_is_the_printed_one():
    # GPT-4o: 90/183 = 49.2, 506/749 = 67.6, 224/318 = 70.4 (printed 49.1, 67.6, 70.5; 62.4).
    right = {"general": 90, "hallucination": 506, "reasoning": 224}
    votes = [[int(at < right[name])] for name, n in VLRB.items() for at in range(n)]
    names = [name for name, n in VLRB.items() for _ in range(n)]
    found = accuracy(np.asarray(votes, dtype=np.int64), names)
    assert 100 * found.macro.value == pytest.approx(62.4, abs=0.05)
    assert 100 * found.overall.strict == pytest.approx(100 * 820 / 1250)


def test_vl_rewardbench_table_3_is_the_mean_of_general_and_hallucination():
    main = by_model("vlrb_table2_accuracy", "metric", "category")
    pairs = []
    for model, cells in by_model("vlrb_table3_random", "split").items():
        two = [main[model]["accuracy", name] / 100 for name in ("general", "hallucination")]
        pairs.append((100 * macro(two, [183, 749]).value, cells["vl_rewardbench",]))
    assert tally(pairs, 0.1) == rule("vlrb_t3_vs_t2") == (6, 0)


def test_vl_rewardbench_spread_over_temperatures():
    cells = by_model("vlrb_table4_temperature", "temperature", "top_p")["gpt-4o-mini"]
    value, lo, _ = mean_interval(np.asarray(list(cells.values())))
    sd = (value - lo) / 1.959964 * math.sqrt(12)
    assert sd == pytest.approx(1.45, abs=0.005)
    main = by_model("vlrb_table2_accuracy", "metric", "category")["gpt-4o-mini"]
    assert cells["0.2", "0.2"] == main["macro_average_accuracy", "all"]


# --- Multi-Crit -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "table"), [("multicrit_table3_open", "3"), ("multicrit_table4_reasoning", "4")]
)
def test_multi_crit_average_from_verdicts_is_the_plain_mean_of_the_criteria(name, table):
    """Verdicts with the printed accuracies, as many as there were, go through the metric."""
    sizes = {criterion: int(n) for (_, _, criterion), n in counts("multi_crit", table).items()}
    pairs = []
    for cells in by_model(name, "metric", "category").values():
        names, verdict = [], []
        slack = 0.0
        for criterion, n in sizes.items():
            printed = cells["criterion_accuracy", criterion]
            right = round(printed * n / 100)
            # Models with lost answers have fewer verdicts than n: the nearest share is taken.
            slack += (100 * right / n - printed) / len(sizes)
            names += [criterion] * n
            verdict += [int(at >= right) for at in range(n)]
        found = multi_crit(
            np.arange(len(names)),
            names,
            np.zeros(len(names), dtype=np.int64),
            np.asarray(verdict, dtype=np.int64),
        )
        pairs.append((100 * found.average - slack, cells["criterion_accuracy", "avg"]))
    # 25 models on each of two splits: together the 50 of the identity.
    assert tally(pairs, 0.01) == (25, 0)
    assert rule("mc_avg_plain") == (50, 0)


def test_multi_crit_average_is_not_weighted_by_verdicts():
    sizes = {criterion: n for (_, _, criterion), n in counts("multi_crit", "3").items()}
    table = by_model("multicrit_table3_open", "metric", "category")
    pairs = [
        (pooled([c["criterion_accuracy", k] for k in sizes], list(sizes.values())),
         c["criterion_accuracy", "avg"])
        for c in table.values()
    ]  # fmt: skip
    assert tally(pairs, 0.01)[0] == 0
    assert rule("mc_avg_weighted")[0] == 0


# --- MM-CRITIC --------------------------------------------------------------------------------


def test_mm_critic_average_is_weighted_by_the_sub_datasets():
    table = by_model("mmcritic_table2_main", "split", "metric")
    near = off = 0
    for metric, slack in (("acc_critic", 0.0035), ("critique_score", 0.0105)):
        pairs = [
            (pooled([cells[split, metric] for split in SPLITS], list(SPLITS.values())),
             cells["avg", metric])
            for cells in table.values()
        ]  # fmt: skip
        good, bad = tally(pairs, slack)
        near, off = near + good, off + bad
    assert (near, off) == rule("mm_t2_avg_range") == (33, 3)
    assert len(missed("mm_t2_avg_range")) == 3


def test_mm_critic_core_averages_are_near_the_task_types_weighted():
    sizes = {
        (row.where["split"], row.where["category"]): row.value
        for row in published.figures(FOLDER, "mmcritic_table6_dataset_stats")
    }
    near = off = 0
    for name, slack in (
        ("mmcritic_table11_score_core", 0.0505),
        ("mmcritic_table12_score_core_single", 0.0505),
        ("mmcritic_table15_acc_core", 0.0055),
        ("mmcritic_table16_acc_core_single", 0.0055),
    ):
        pairs = []
        for cells in by_model(name, "split", "category").values():
            types = [key for key in cells if key[1] != "avg"]
            found = pooled([cells[key] for key in types], [sizes[key] for key in types])
            pairs.append((found, next(v for key, v in cells.items() if key[1] == "avg")))
        good, bad = tally(pairs, slack)
        near, off = near + good, off + bad
    assert (near, off) == rule("mm_types_avg_near") == (68, 4)


def test_mm_critic_judge_swap_averages():
    sizes = counts("mm_critic", "19")
    table = by_model("mmcritic_table19_judge_ablation", "annotator", "judge", "split", "metric")
    good = off = 0
    for writer, judge in (("Gemini-2.5-flash", "GPT-4.1"),
                          ("Gemini-2.5-flash", "Claude-4.0-sonnet")):  # fmt: skip
        pairs = []
        for cells in table.values():
            values = [cells[writer, judge, split, "critique_score"] for split in SPLITS]
            each = [sizes["", split, f"{writer}/{judge}"] for split in SPLITS]
            printed = cells[writer, judge, "avg", "critique_score"]
            pairs.append((pooled(values, each), printed))
        hit, miss = tally(pairs, 0.001)
        good, off = good + hit, off + miss
    assert (good, off) == rule("mm_t19_score_avg") == (9, 1)


# --- CriticBench ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "identity"),
    [
        ("criticbench_table1_subjective", "cb_t1_overall"),
        ("criticbench_table9_subjective_test", "cb_t9_overall"),
        ("criticbench_table10_subjective_dev", "cb_t10_overall"),
    ],
)
def test_criticbench_subjective_overall(name, identity):
    parts = [(d, "avg") for d in ("feedback", "comp_feedback", "correction", "overall")]
    pairs = []
    for cells in by_model(name, "dimension", "category").values():
        if all(part in cells for part in parts):
            *each, printed = (cells[part] for part in parts)
            pairs.append((subjective_overall(*each), printed))
    assert tally(pairs, 0.0101) == rule(identity)
    assert tally(pairs, 0.0101)[1] == len(missed(identity))


@pytest.mark.parametrize(
    ("name", "identity"),
    [
        ("criticbench_table2_objective", "cb_t2_overall"),
        ("criticbench_table11_objective_test", "cb_t11_overall"),
        ("criticbench_table12_objective_dev", "cb_t12_overall"),
    ],
)
def test_criticbench_objective_overall(name, identity):
    parts = [
        (d, "avg") for d in ("feedback", "comp_feedback", "correction", "meta_feedback", "overall")
    ]
    pairs = []
    for cells in by_model(name, "dimension", "category").values():
        if all(part in cells for part in parts):
            *each, printed = (cells[part] for part in parts)
            pairs.append((objective_overall(*each), printed))
    assert tally(pairs, 0.0101) == rule(identity)
    assert tally(pairs, 0.0101)[1] == len(missed(identity))


@pytest.mark.parametrize(
    ("name", "identity", "easy", "hard"),
    [
        ("criticbench_table2_objective", "cb_t2_comp_avg", 186, 264),
        ("criticbench_table11_objective_test", "cb_t11_comp_avg", 186, 264),
        ("criticbench_table12_objective_dev", "cb_t12_comp_avg", 170, 280),
    ],
)
def test_criticbench_comparison_is_pooled_over_easy_and_hard_pairs(name, identity, easy, hard):
    pairs = []
    for cells in by_model(name, "dimension", "category").values():
        levels = [("comp_feedback", one) for one in ("easy", "hard", "avg")]
        if all(level in cells for level in levels):
            *each, printed = (cells[level] for level in levels)
            pairs.append((pooled(each, [easy, hard]), printed))
    assert tally(pairs, 0.0101) == rule(identity)


@pytest.mark.parametrize(
    ("name", "identity"),
    [
        ("criticbench_table1_subjective", "cb_t1_average_row"),
        ("criticbench_table2_objective", "cb_t2_average_row"),
    ],
)
def test_criticbench_average_rows_are_means_over_models(name, identity):
    columns: dict[tuple[str, str], list[float]] = {}
    printed = {}
    for row in published.figures(FOLDER, name):
        place = (row.where["dimension"], row.where["category"])
        if row.model == "Average":
            printed[place] = row.value
        elif not math.isnan(row.value):
            columns.setdefault(place, []).append(row.value)
    pairs = [(mean(columns[place]), value) for place, value in printed.items()]
    assert tally(pairs, 0.01) == rule(identity)


TASK_TABLES = [
    ("criticbench_table13_feedback_subjective_test", "test", 35, 0),
    ("criticbench_table14_comp_subjective_test", "test", 33, 1),
    ("criticbench_table15_feedback_subjective_dev", "dev", 28, 0),
    ("criticbench_table16_comp_subjective_dev", "dev", 27, 0),
    ("criticbench_table17_correction_subjective", "test", 32, 0),
    ("criticbench_table17_correction_subjective", "dev", 23, 3),
    ("criticbench_table18_correction_objective", "test", 33, 0),
    ("criticbench_table18_correction_objective", "dev", 26, 0),
]


@pytest.mark.parametrize(("name", "split", "holds", "fails"), TASK_TABLES)
def test_criticbench_task_averages_are_plain_means(name, split, holds, fails):
    identity = f"cb_t{name.split('_')[1].removeprefix('table')}_{split}_avg"
    rows: dict[str, list[published.PrintedFigure]] = {}
    for row in published.figures(FOLDER, name):
        if row.where["split"] == split and not math.isnan(row.value):
            rows.setdefault(row.model_key, []).append(row)
    off = []
    for model, cells in rows.items():
        tasks = [one for one in cells if not one.where["category"].startswith("avg")]
        average = next((one for one in cells if one.where["category"] == "avg"), None)
        if average is None or not tasks:
            continue
        # Half a unit of the second place, and as much of the inputs; where the text cuts off the
        # second decimal, up to a unit of the first.
        slack = 0.1 if "cut off" in average.note else 0.01
        if abs(mean([one.value for one in tasks]) - average.value) > slack + 1e-9:
            off.append(model)
    assert rule(identity) == (holds, fails)
    assert set(off) == {item.split()[0] for item in missed(identity)}


# --- ATOM -------------------------------------------------------------------------------------


def test_atom_table_1_average_is_not_plain_but_weighted():
    weights = {c: value for (_, _, c), value in counts("atom", "1").items()}
    pairs, plain = [], []
    for row in by_model("atom_table1_pairwise_accuracy", "method", "category").values():
        for method in {key[0] for key in row}:
            each = [row[method, category] for category in weights]
            pairs.append((pooled(each, list(weights.values())), row[method, "average"]))
            plain.append((mean(each), row[method, "average"]))
    assert tally(pairs, 0.035) == rule("atom_t1_avg_weighted") == (24, 0)
    assert tally(plain, 0.01)[0] == rule("atom_t1_avg_plain")[0] == 0


def gain(value, base):
    """Return a gain with two places, as the papers print it."""
    return round(value - base, 2)


def test_atom_gain_over_the_strongest_rival():
    gains = {}
    for model, row in by_model("atom_table1_pairwise_accuracy", "method", "category").items():
        ours = next(key for key in row if key[0].startswith("atom") and key[1] == "average")
        rivals = [v for key, v in row.items() if key[1] == "average" and key != ours]
        gains[model] = gain(row[ours], max(rivals))
    assert max(gains, key=gains.__getitem__) == "gpt-5"
    assert gains["gpt-5"] == pytest.approx(7.92)
    assert min(gains.values()) > 0


def test_atom_drops_of_the_ablations():
    pairs = []
    for cells in by_model("atom_table2_ablation", "variant", "metric").values():
        full = cells["full", "pairwise_ranking_accuracy"]
        for (variant, metric), value in cells.items():
            if metric == "pairwise_ranking_accuracy" and variant != "full":
                drop = next(v for (name, m), v in cells.items() if name == variant and m != metric)
                pairs.append((gain(full, value), drop))
    # Drops are printed with one place.
    assert tally(pairs, 0.05) == rule("atom_t2_drop") == (15, 3)


def test_atom_validity_deltas():
    rows: dict[str, dict[str, float]] = {}
    for row in published.figures(FOLDER, "atom_table3_taxonomy_validity"):
        rows.setdefault(row.where["taxonomy"], {})[row.where["metric"]] = row.value
    pairs = []
    for cells in rows.values():
        found = LeafHomogeneity(mae_global=cells["mae_global"], mae_node=cells["mae_intra"],
                                n=int(cells["n_valid"]))  # fmt: skip
        pairs.append((found.delta, cells["delta"]))
    assert tally(pairs, 0.001) == rule("atom_t3_delta") == (7, 0)


@pytest.mark.parametrize(
    ("name", "before", "after", "identity"),
    [
        ("multicrit_table16_thinking", "no_think", "think", "mc_t16_delta"),
        ("multicrit_table18_joint", "single", "joint", "mc_t18_delta"),
    ],
)
def test_multi_crit_deltas(name, before, after, identity):
    # A table's three rows a model have three keys: a group of rows is told by its order.
    rows: dict[tuple[str, ...], list[tuple[str, float]]] = {}
    for row in published.figures(FOLDER, name):
        place = tuple(row.where[key] for key in ("split", "metric", "category"))
        rows.setdefault(place, []).append((row.where["setting"], row.value))
    pairs = []
    for cells in rows.values():
        columns = {s: [v for setting, v in cells if setting == s] for s in (before, after, "delta")}
        lined = zip(columns[before], columns[after], columns["delta"], strict=True)
        pairs += [(gain(late, early), delta) for early, late, delta in lined]
    assert tally(pairs, 0.0101) == rule(identity) == (32, 0)


# --- a judge among the papers' models ---------------------------------------------------------


def test_every_headline_finds_its_models():
    for headline in published.headlines():
        place = published.place(FOLDER, headline)
        assert len(place.models) >= 9, headline
        values = [one.value for one in place.models]
        assert values == sorted(values, reverse=True)
        assert headline.lo <= values[-1] <= values[0] <= headline.hi


def row_of(value, lo=math.nan, hi=math.nan):
    return MetricRow(metric="macro_average_accuracy", label="Macro", value=value, lo=lo, hi=hi)


def test_a_judge_is_placed_among_the_models():
    headline = next(h for h in published.headlines() if h.label == "Macro accuracy")
    place = published.place(FOLDER, headline, row_of(62.45, 50.0, 70.0))
    # Gemini-1.5-Pro has 62.5; GPT-4o 62.4; nobody is above 70; four models are above 50.
    assert place.rank == 2
    above = sum(one.value > 50 for one in place.models)
    assert place.ranks == (1, 1 + above)
    assert published.place(FOLDER, headline, row_of(math.nan)).rank is None
    assert published.place(FOLDER, headline, row_of(10.0)).ranks is None
    assert headline.matches(row_of(1.0))


def test_the_rate_of_a_share_is_the_share():
    assert rate(np.asarray([1, 1, 0, -1])).strict == 0.5
