"""People's labels of pairs, their ratings and imported repeats, from made and from real files."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import numpy as np
import pytest

from atom.cli.main import main
from atom.engine.imports.importing import import_reading
from atom.formats import read
from atom.store import Store
from atom.views.filters import Filters
from atom.views.lab.preference_summary import preference_summary
from atom.views.lab.verdict_repeats import verdict_repeats
from atom.views.people.pair_labels import SECOND, pair_labels
from atom.views.people.ratings import people_ratings
from atom.views.study_data import load_study
from tests.factories import open_small
from tests.imports import expected, on_disk, uploaded

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
REAL = {
    "PandaLM": ("pandalm", "testset-v1.json", "gpt-3.5-turbo-testset-v1.json",
                "pandalm-7b-testset-v1.json"),
    "Edits": ("image_edit_judge", "human_ratings.csv", "judge_all_main.jsonl",
              "judge_all_category_wise.jsonl"),
    "WildVision": ("wildvision", "scores.csv"),
    "Prometheus": ("prometheus", "mt_bench_eval_first160.json"),
}  # fmt: skip


@pytest.fixture(scope="module")
def real(tmp_path_factory, shared_folder):
    """Import the real files into one store, a study each."""
    place = tmp_path_factory.mktemp("people") / "store"
    with Store.open(place) as store:
        for name, (folder, *files) in REAL.items():
            reading = read(None, on_disk(shared_folder / "real" / folder, *files))
            import_reading(store, reading, name, MOMENT)
        yield store


# --- pairs ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_pandalms_kappas_majorities_and_accuracies_are_the_published_ones(real, shared_folder):
    wanted = expected(shared_folder)["pandalm"]
    view = pair_labels(real, load_study(real, "PandaLM"))
    for one in view.kappas:
        key = f"kappa_{one.first[-1]}{one.second[-1]}"
        assert one.kappa.value == pytest.approx(wanted[key], abs=5e-5)
        assert one.kappa.lo < one.kappa.value < one.kappa.hi
    assert (view.pairs, view.foreign, view.conflicts) == (999, 0, 0)
    counts = {"0": view.ties, "1": view.first, "2": view.second}
    assert counts == wanted["majority_label_counts"]
    assert view.open == wanted["no_majority_rows"]
    assert view.alpha.lo < view.alpha.value < view.alpha.hi
    found = {(row.judge, row.scores.counted): row for row in view.judges}
    keys = {
        ("pandalm-7b", "wrong"): "pandalm7b",
        ("gpt-3.5-turbo", "tie"): "gpt35_unparsed_as_tie",
        ("gpt-3.5-turbo", "wrong"): "gpt35_unparsed_as_wrong",
    }
    for key, name in keys.items():
        row = found.pop(key)
        ours = {
            "accuracy": row.scores.accuracy, "macro_precision": row.scores.precision,
            "macro_recall": row.scores.recall, "macro_f1": row.scores.f1,
        }  # fmt: skip
        assert ours == pytest.approx(wanted[name], abs=5e-5)
        assert row.accuracy.value == pytest.approx(row.scores.accuracy)
        assert row.accuracy.lo < row.accuracy.value < row.accuracy.hi
        assert row.scores.unread == (25 if key[0].startswith("gpt") else 0)
    # 697 - 667 of 999 pairs.
    assert (view.lead.ahead, view.lead.behind) == ("gpt-3.5-turbo", "pandalm-7b")
    assert view.lead.gap.gap == pytest.approx(30 / 999)
    # What is left is the third way; a judge without unread verdicts has one way only.
    assert found.keys() == {("gpt-3.5-turbo", "left out")}
    assert found["gpt-3.5-turbo", "left out"].scores.n == 999 - wanted["gpt35_garbage_rows"]
    # Always "second": 472 of 999.
    assert view.commonest_label == SECOND
    assert view.commonest.accuracy == pytest.approx(472 / 999)


PAIR = {"motivation_app": "App", "cmp_key": "m1_m2", "response1": "one", "response2": "two"}
SAID = ((1, 1, 2), (2, 2, 2), (0, 0, 1), (0, 1, 2))


def test_a_small_case_by_hand(tmp_path):
    """Majorities: first, second, tie, none; the judge says first, unread, second, second."""
    pairs = [
        {**PAIR, "idx": at, "instruction": f"Do {at}.",
         **{f"annotator{n + 1}": label for n, label in enumerate(labels)}}
        for at, labels in enumerate(SAID)
    ]  # fmt: skip
    verdicts = [{"idx": at, "j_result": said} for at, said in enumerate(["1", "junk", "2", "2"])]
    files = [uploaded("testset-v1.json", pairs), uploaded("j-testset-v1.json", verdicts)]
    with Store.open(tmp_path / "s") as store:
        import_reading(store, read(None, files), "Small", MOMENT)
        view = pair_labels(store, load_study(store, "Small"))
    assert (view.first, view.second, view.ties, view.open) == (1, 1, 1, 1)
    ways = {row.scores.counted: row.scores for row in view.judges}
    # One of three right; the unread one's right label is "second", so it is never right.
    assert [ways[way].accuracy for way in ("tie", "wrong", "left out")] == pytest.approx(
        [1 / 3, 1 / 3, 1 / 2]
    )
    # Wrong: precision (tie 0, first 1, second 0/1) / 3.
    assert ways["wrong"].precision == pytest.approx(1 / 3)
    assert {scores.unread for scores in ways.values()} == {1}
    kappa = next(one for one in view.kappas if (one.first, one.second) ==
                 ("annotator1", "annotator2"))  # fmt: skip
    # Equal 3 of 4; chance (2 tie x 1 + 1 first x 2 + 1 second x 1) / 16 = 5/16.
    assert kappa.kappa.value == pytest.approx((3 / 4 - 5 / 16) / (1 - 5 / 16))


# --- ratings -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_edit_judges_correlations_are_as_expected(real, shared_folder):
    wanted = expected(shared_folder)["image_edit_judge"]
    view = people_ratings(real, load_study(real, "Edits"))
    assert (view.raters, view.samples) == (wanted["raters"], wanted["images"])
    assert (view.lowest, view.highest, view.unjudged) == (1, 7, ("overall",))
    rows = {row.criterion: row for row in view.rows}
    assert len(rows) == 13
    for at, judge in enumerate(view.judges):
        row = wanted[judge.name]
        whole = view.whole.correlations[at]
        assert whole.n == judge.shared == row["pairs"]
        assert whole.value == pytest.approx(row["pooled_spearman"], abs=5e-5)
        assert whole.lo < whole.value < whole.hi
        for name in ("alignment", "spatial_relationship"):
            found = rows[name].correlations[at]
            assert found.value == pytest.approx(row[f"{name}_spearman"], abs=5e-5)
            assert found.n == 75
    assert {judge.name for judge in view.judges} == {"all_main", "all_category_wise"}
    # 0.0653 by the `krippendorff` package, too (tests/atom/formats/test_judge_files.py).
    assert view.whole.alpha.lo < view.whole.alpha.value < view.whole.alpha.hi
    alphas = [row.alpha.value for row in view.rows]
    assert alphas == sorted(alphas, reverse=True)
    assert 0 < view.one_rater < 1


# --- votes by strength ---------------------------------------------------------------------------


def test_wildvisions_fifteen_rows_are_as_published(real, shared_folder):
    wanted = expected(shared_folder)["wildvision"]
    view = preference_summary(real, load_study(real, "WildVision"), Filters(study="x"))
    assert not view.both_orders
    ties = {row.name.removesuffix(" (again)"): row
            for row in view.levels if row.counts.counted == "tie"}  # fmt: skip
    assert ties.keys() == wanted.keys()
    for name, row in wanted.items():
        found = ties[name]
        assert found.counts.n == 500
        assert 100 * found.win.value == pytest.approx(row["win_rate"], abs=0.051), name
        assert found.reward.gap == pytest.approx(row["reward"], abs=0.051), name
        assert found.counts.tie == row["tie_including_unparsed"]
        assert found.counts.unread == row["unparsed"]
        assert found.win.lo <= found.win.value <= found.win.hi
        assert found.reward.lo < found.reward.gap < found.reward.hi
    (left_out,) = (row for row in view.levels if row.counts.counted == "left out")
    same = ties[left_out.name].counts
    assert (left_out.counts.n, left_out.counts.tie) == (480, same.tie - 20)
    assert left_out.win.value == pytest.approx((same.much_better + same.better) / 480)
    rates = [row.win.value for row in view.levels if row.counts.counted == "tie"]
    assert rates == sorted(rates, reverse=True)


# --- repeats -------------------------------------------------------------------------------------


def test_prometheus_judge_agrees_with_itself_as_expected(real, shared_folder):
    wanted = expected(shared_folder)["prometheus"]
    (row,) = verdict_repeats(real, load_study(real, "Prometheus"))
    assert (row.judge, row.kind, row.times) == ("gpt4", "rubric", 3)
    assert row.things == wanted["usable"]
    assert round(row.equal.value * row.things) == wanted["all_three_equal"]
    assert row.spread == wanted["max_spread"]
    assert row.pearson == pytest.approx(wanted["pearson_1_2"], abs=5e-5)
    assert row.mean == pytest.approx(wanted["mean_score"], abs=6e-5)
    assert row.alpha.lo < row.alpha.value < row.alpha.hi
    assert row.unread == 0


# --- absence and the command line ----------------------------------------------------------------


def test_a_sample_that_is_not_the_study_s_stands_alone(tmp_path):
    with open_small(tmp_path / "s") as store:
        data = load_study(store, "Small study")
    known = data.table.sample_ids[0]
    found = data.clusters_of(["gone", known, "gone", "lost"]).tolist()
    assert found[1] == data.table.cluster[0]
    assert found[0] == found[2]
    assert not {found[0], found[3]} & set(data.table.cluster.tolist())
    assert found[0] != found[3]


def test_a_study_without_any_of_it_has_none_of_it(tmp_path):
    with open_small(tmp_path / "s") as store:
        data = load_study(store, "Small study")
        assert pair_labels(store, data) is None
        assert people_ratings(store, data) is None
        assert verdict_repeats(store, data) == ()


@pytest.mark.slow
def test_the_command_line_prints_the_same(real, capsys):
    place = ("--store", str(real.folder))
    assert main(["fidelity", "show", "--study", "PandaLM", *place]) == 0
    out = capsys.readouterr().out
    lines = {line.split("  ")[0]: line for line in out.splitlines()}
    assert "66.8 %" in lines["pandalm-7b"]
    assert "57.4 %" in lines["pandalm-7b"]
    assert "kappa of annotator1 and annotator2: 0.852" in out
    for way in ("as ties       71.1 % (", "as wrong      69.8 % (", "left out      71.6 % ("):
        assert way in out
    assert main(["fidelity", "show", "--study", "Edits", "--json", *place]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["pair_labels"] is None
    whole = [one["value"] for one in shown["ratings"]["whole"]["correlations"]]
    assert np.round(sorted(whole), 4).tolist() == [0.0604, 0.2047]
