"""Every number of the shared judgments on criteria comes out, and every trap is handled.

Truth: `shared/real/criteria/README.md` and `expected.json`, computed from the same files by others.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from atom.analysis.raters import krippendorff_alpha, rank_correlation
from atom.analysis.rubric import plain, with_parents, with_points
from atom.analysis.two_judges import JointMarks, TwoJudges, fleiss_kappa
from atom.formats import ColumnMap, read_column_map
from atom.records import CriteriaSet, Criterion, Response, Sample
from tests.atom.formats.judgments.frames import Brought, brought, inside, marked

E4 = 6e-5
"""The truth has four decimals."""


def _map(project: Path, name: str) -> ColumnMap:
    return read_column_map((project / "docs" / "maps" / f"{name}.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def truth(shared_folder: Path) -> dict[str, Any]:
    """Return the expected figures."""
    text = (shared_folder / "real" / "criteria" / "expected.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def _source(shared_folder: Path, name: str) -> Path:
    return shared_folder / "real" / "criteria" / name


def _auto(
    name: str, shared_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Brought]:
    place = tmp_path_factory.mktemp("store")
    with brought(place, inside(_source(shared_folder, name))) as found:
        yield found


@pytest.fixture(scope="module")
def dsg(shared_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Brought]:
    """DSG, by `auto`."""
    yield from _auto("dsg", shared_folder, tmp_path_factory)


@pytest.fixture(scope="module")
def thumb(shared_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Brought]:
    """THumB, by `auto`."""
    yield from _auto("thumb", shared_folder, tmp_path_factory)


@pytest.fixture(scope="module")
def ttcw(shared_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Brought]:
    """TTCW, by `auto`."""
    yield from _auto("ttcw", shared_folder, tmp_path_factory)


@pytest.fixture(scope="module")
def viescore(shared_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Brought]:
    """VIEScore, by `auto`."""
    yield from _auto("viescore", shared_folder, tmp_path_factory)


@pytest.fixture(scope="module")
def paperbench(
    shared_folder: Path, project: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Brought]:
    """PaperBench's two trees, by the map: a data set that is named has the same ids everywhere."""
    place = tmp_path_factory.mktemp("store")
    files = inside(_source(shared_folder, "paperbench/data/judge_eval"))
    with brought(place, files, _map(project, "paperbench")) as found:
        yield found


@pytest.fixture(scope="module")
def llm_rubric(shared_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Brought]:
    """LLM-Rubric, real and synthetic dialogues together, by `auto`."""
    yield from _auto("llm_rubric", shared_folder, tmp_path_factory)


def _two(first: pd.Series[float], second: pd.Series[float]) -> TwoJudges:
    return JointMarks(
        first.to_numpy(dtype=np.float64),
        second.to_numpy(dtype=np.float64),
        np.arange(len(first)),
    ).agreement()


def test_every_map_is_short_and_ships(project: Path) -> None:
    """A map has at most fifteen lines, and the shipped one is the documented one."""
    shipped = project / "atom" / "formats" / "judgments" / "maps"
    documented = {path.name for path in (project / "docs" / "maps").glob("*.yaml")}
    assert documented == {path.name for path in shipped.glob("*.yaml")} - {"signs.yaml"}
    for name in sorted(documented):
        text = (project / "docs" / "maps" / name).read_text(encoding="utf-8")
        assert text == (shipped / name).read_text(encoding="utf-8"), name
        assert len(text.splitlines()) <= 15, name
        assert read_column_map(text).has_marks


# --- DSG ------------------------------------------------------------------------------------------


def test_dsg_criteria(dsg: Brought, truth: dict[str, Any]) -> None:
    """Questions, categories and dependencies are the source's."""
    want, frame = truth["dsg"], dsg.frame
    criteria = dsg.store.select(Criterion)
    asked = [one for one in criteria if not one.question.startswith("How consistent")]
    assert len(asked) == want["criteria"]
    assert len(dsg.store.select(Sample)) == want["items"]
    notes = " ".join(dsg.imported.report.notes)
    assert f"{want['criteria_with_parents']} criteria name others" in notes
    assert f"{want['criteria_with_two_or_more_parents']} of them two or more" in notes
    assert "'1, outside'" in notes
    assert "tifa160_67" in notes
    questions = frame[frame.judge == "pali17b"].drop_duplicates("criterion_id")
    # The criteria of tifa160_134 have no answers: entity 423 in all, some of them there.
    unanswered = want["criteria"] - len(questions)
    broad = questions.leaf.str[-2].value_counts()
    assert sum(want["broad_categories"].values()) == int(broad.sum()) + unanswered
    assert all(n <= want["broad_categories"][name] for name, n in broad.items())
    broken = next(
        one
        for one in dsg.store.select(CriteriaSet)
        if dsg.store.get(Sample, one.sample_id).source_id == "tifa160_67"  # type: ignore[union-attr]
    )
    assert not any(use.parents for use in broken.uses)


@pytest.mark.parametrize("judge", ["mplug", "instructblip", "pali17b"])
def test_dsg_judges(dsg: Brought, truth: dict[str, Any], judge: str) -> None:
    """Both readings, categories and correlations with people are the published ones."""
    want = truth["dsg"]["judges"][judge]
    frame = dsg.frame[dsg.frame.judge == judge]
    assert len(frame) == want["rows"]
    assert int((frame.state == "unscored").sum()) == want["answers_neither_yes_nor_no"]
    as_no = frame.assign(value=frame.value.fillna(0.0))
    for model, share in want["share_yes_over_criteria"].items():
        assert as_no[as_no.model == model].value.mean() == pytest.approx(share, abs=E4)
    for category, share in want["share_yes_by_broad_category"].items():
        of = as_no[as_no.leaf.str[-2] == category]
        assert of.value.mean() == pytest.approx(share, abs=E4)
    rows, answers = marked(frame)
    people = dsg.frame[dsg.frame.kind == "person"].groupby("answer").value.mean()
    model_of = frame.drop_duplicates("answer").set_index("answer").model
    for rule, name in ((with_parents, "with"), (plain, "without")):
        found = rule(rows, unread="unmet")
        value = pd.Series(found.value, index=answers)
        for model, score in want[f"score_{name}_dependency"].items():
            # tifa160_134 has no answers, and is published as 0 among 160.
            total = value[model_of[value.index] == model].sum()
            assert total / 160 == pytest.approx(score, abs=E4)
        whole = pd.Series(0.0, index=people.index)
        whole.update(value)
        both = _two(whole, people)
        told = want[f"{name}_dependency_vs_likert"]
        assert both.spearman.value == pytest.approx(told["spearman"], abs=E4)
        assert both.kendall.value == pytest.approx(told["kendall"], abs=E4)
        if name == "with":
            assert both.n == told["n"]
            assert int(found.touched.sum()) == want["answers_set_to_no_by_dependency"]


def test_dsg_people_and_kappa(dsg: Brought, truth: dict[str, Any]) -> None:
    """People's ratings, and how far the three VQA models agree."""
    want, frame = truth["dsg"]["likert"], dsg.frame
    people = frame[frame.kind == "person"]
    assert len(people) == want["ratings"]
    assert people.judge.nunique() == want["workers"]
    counts = people.groupby("answer").size().value_counts()
    assert {str(n): int(k) for n, k in counts.items()} == want["ratings_per_image"]
    for model, mean in want["mean"].items():
        by_picture = people[people.model == model].groupby("answer").value.mean()
        assert 4 * by_picture.mean() + 1 == pytest.approx(mean, abs=1e-3)
    table = people.pivot_table(index="judge", columns="answer", values="value")
    assert krippendorff_alpha(table.to_numpy()) == pytest.approx(want["alpha_ordinal"], abs=E4)
    marks = frame[frame.kind == "model"].assign(value=lambda one: one.value.fillna(0.0))
    wide = marks.pivot_table(index=["criterion_id", "answer"], columns="judge", values="value")
    for pair, kappa in truth["dsg"]["kappa_between_judges"].items():
        a, b = pair.split("~")
        assert _two(wide[a], wide[b]).kappa.value == pytest.approx(kappa, abs=E4), pair


# --- THumB ----------------------------------------------------------------------------------------


def test_thumb(thumb: Brought, truth: dict[str, Any], shared_folder: Path) -> None:
    """Means, penalties, and the formula of the file's own total on all 2,500 rows."""
    want, frame = truth["thumb"], thumb.frame
    assert frame.answer.nunique() == want["rows"]
    assert frame["sample"].nunique() == want["images"]
    full = {"P": "Precision", "R": "Recall", "Fl": "Fluency", "Inc": "Inclusive language",
            "Con": "Conciseness"}  # fmt: skip
    for model, means in want["means"].items():
        of = frame[frame.model == model]
        for key, name in full.items():
            value = of[of.criterion == name].value.mean()
            said = 4 * value + 1 if key in "PR" else -value
            assert said == pytest.approx(means[key], abs=E4), (model, key)
    for key, n in want["rows_with_a_penalty"].items():
        assert int((frame[frame.criterion == full[key]].value > 0).sum()) == n
    rows, answers = marked(frame)
    score = pd.Series(1 + 4 * with_points(rows).value, index=answers)
    model_of = frame.drop_duplicates("answer").set_index("answer").model
    for model, means in want["means"].items():
        mean = score[model_of[score.index] == model].mean()
        assert mean == pytest.approx(means["human_score"], abs=E4)
    path = next(_source(shared_folder, "thumb").rglob("*THumB*.jsonl"))
    told = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    name_of = {(row["seg_id"], row["SYS"]): row["human_score"] for row in told}
    sample_of = frame.drop_duplicates("answer").set_index("answer")["sample"]
    equal = sum(
        abs(score[one] - name_of[sample_of[one], model_of[one]]) < 1e-9 for one in score.index
    )
    assert equal == want["rows_where_human_score_is_the_formula"]
    texts = {one.id: one.text for one in thumb.store.select(Response)}
    pr = frame[frame.criterion.isin(["Precision", "Recall"])]
    pairs = pr.assign(text=pr.answer.map(texts)).groupby(["sample", "text", "criterion"])
    apart = pairs.value.nunique()
    differing = apart[apart > 1].reset_index().groupby(["sample", "text"]).size()
    assert len(differing) == want["equal_captions_of_two_systems_with_different_P_or_R"]


# --- TTCW -----------------------------------------------------------------------------------------


def test_ttcw_people(ttcw: Brought, truth: dict[str, Any]) -> None:
    """Verdicts, shares and agreement of the experts."""
    want = truth["ttcw"]
    people = ttcw.frame[ttcw.frame.kind == "person"]
    assert len(people) == want["verdicts_by_people"]
    assert people.answer.nunique() == want["stories"]
    assert people.judge.nunique() == want["experts"]
    assert int(people.value.sum()) == want["yes"]
    for source, share in want["share_yes_by_source_all_verdicts"].items():
        assert people[people.model == source].value.mean() == pytest.approx(share, abs=E4)
    for dimension, share in want["share_yes_by_dimension"].items():
        of = people[people.leaf.str[0] == dimension]
        assert of.value.mean() == pytest.approx(share, abs=E4)
    assert {name: len(of.leaf.unique()) for name, of in people.groupby(people.leaf.str[0])} == {
        "Fluency": 5,
        "Flexibility": 3,
        "Originality": 3,
        "Elaboration": 3,
    }
    seats = people.groupby(["criterion_id", "answer"]).value.apply(list)
    assert fleiss_kappa(np.array(seats.tolist()).T) == pytest.approx(want["fleiss_kappa"], abs=E4)
    text_of = people.drop_duplicates("criterion_id").set_index("criterion_id").criterion
    by_text = seats.groupby(text_of[seats.index.get_level_values(0)].to_numpy(), sort=False)
    kappas = sorted(float(fleiss_kappa(np.array(of.tolist()).T)) for _, of in by_text)
    assert kappas == pytest.approx(sorted(want["fleiss_kappa_by_test"].values()), abs=E4)
    majority = (people.groupby(["criterion_id", "answer"]).value.mean() > 0.5).astype(float)
    file = ttcw.frame[ttcw.frame.kind == "program"].set_index(["criterion_id", "answer"]).value
    assert int((file == majority[file.index]).sum()) == want["majority_file_equals_majority"]
    for source, passed in want["mean_tests_passed_of_14_by_source_majority"].items():
        of = ttcw.frame[(ttcw.frame.kind == "program") & (ttcw.frame.model == source)]
        assert of.groupby("answer").value.sum().mean() == pytest.approx(passed, abs=E4)
    addresses = [one for one in ttcw.store.select(Response) if "an address" in one.detail]
    assert len(addresses) == want["sources_of_stories_whose_content_is_an_address"]["NewYorker"]
    assert not any(one.text for one in addresses)


@pytest.mark.parametrize("judge", ["gpt4", "claude3-opus", "gemini-pro"])
def test_ttcw_judges(ttcw: Brought, truth: dict[str, Any], judge: str) -> None:
    """A judge against the majority, with replies that were blocked or missing as no or left out."""
    want, frame = truth["ttcw"]["judges"][judge], ttcw.frame
    mine = frame[frame.judge == judge].set_index(["criterion_id", "answer"])
    assert len(mine) == want["rows"]
    assert int((mine.state == "unscored").sum()) == want["content_blocked"]
    assert int((mine.value == 1).sum()) == want["yes"]
    told = frame[frame.kind == "program"].set_index(["criterion_id", "answer"]).value
    # What was blocked is kept with what it said, and is no number.
    assert set(mine[mine.state == "unscored"].raw) <= {"Content Blocked"}
    said = mine.value.reindex(told.index)
    as_no = said.fillna(0.0)
    kappa = _two(as_no, told).kappa.value
    assert kappa == pytest.approx(want["kappa_with_majority"], abs=E4)
    # "Found only" is what is in the file: blocked replies are there, and count as no.
    there = said.where(~said.index.isin(mine.index) | said.notna(), 0.0)
    assert _two(there, told).kappa.value == pytest.approx(
        want["kappa_with_majority_found_only"], abs=E4
    )
    hit, out = (as_no == 1) & (told == 1), (as_no == 0) & (told == 0)
    recall, precision = hit.sum() / (told == 1).sum(), hit.sum() / (as_no == 1).sum()
    assert recall == pytest.approx(want["recall"], abs=E4)
    assert precision == pytest.approx(want["precision"], abs=E4)
    assert 2 * precision * recall / (precision + recall) == pytest.approx(want["f1"], abs=E4)
    balanced = (recall + out.sum() / (told == 0).sum()) / 2
    assert balanced == pytest.approx(want["balanced_accuracy"], abs=E4)
    assert _two(as_no, told).pearson.value == pytest.approx(want["corr"], abs=E4)


# --- VIEScore -------------------------------------------------------------------------------------


def _overall(frame: pd.DataFrame) -> pd.DataFrame:
    """Return SC, PQ and O = sqrt(SC x PQ) of each picture and judge."""
    wide = frame.pivot_table(
        index=["judge", "model", "sample"], columns="criterion", values="value"
    )
    if "SC" in wide and "PQ" in wide:
        wide["O"] = np.sqrt(wide.SC * wide.PQ)
    return wide.reset_index()


def test_viescore_people(viescore: Brought, truth: dict[str, Any]) -> None:
    """People's means and agreement, task by task and model by model."""
    people = _overall(viescore.frame[viescore.frame.kind == "person"])
    for task, want in truth["viescore"].items():
        of_task = people[people["sample"].str.startswith(f"{task}/")]
        assert of_task["sample"].nunique() == want["pictures"]
        assert of_task.judge.nunique() == want["raters"]
        for model, told in want["people"].items():
            mine = of_task[of_task.model == model]
            assert mine.SC.mean() == pytest.approx(told["SC"], abs=E4)
            assert mine.PQ.mean() == pytest.approx(told["PQ"], abs=E4)
            assert mine.O.mean() == pytest.approx(told["O_mean_of_sqrt_per_rater"], abs=E4)
            for part in ("SC", "PQ"):
                table = mine.pivot_table(index="judge", columns="sample", values=part)
                alpha = krippendorff_alpha(table.to_numpy())
                assert alpha == pytest.approx(told[f"alpha_ordinal_{part}"], abs=E4)


def test_viescore_guesses_are_no_numbers(viescore: Brought, truth: dict[str, Any]) -> None:
    """A score that the file itself calls a guess is kept, said, and unscored."""
    frame = viescore.frame
    for task, told in truth["viescore"].items():
        for judge, models in told["judges"].items():
            name = judge.removeprefix("results_").removesuffix("_0shot")
            for model, want in models.items():
                for part in ("SC", "PQ") if model != "average_spearman" else ():
                    if part not in want:
                        continue
                    mine = frame[
                        (frame.judge == name) & (frame.model == model)
                        & (frame.criterion == part) & frame["sample"].str.startswith(task)
                    ]  # fmt: skip
                    assert len(mine) == want[part]["rows"]
                    guessed = mine[mine.detail.str.contains("guess_if_cannot_parse")]
                    assert len(guessed) == want[part]["rows_guessed_because_unreadable"]
                    assert guessed.value.isna().all()
                    assert (guessed.raw != "").all()
                    parts = {
                        str(n): int(k)
                        for n, k in mine.raw.map(lambda raw: raw.count(",") + 1)
                        .value_counts().items()
                    }  # fmt: skip
                    assert parts == want[part]["parts_per_row"]
                    bare = int((~mine.raw.str.startswith("[")).sum())
                    assert bare == want[part]["rows_score_not_a_list"]


def _with_judge(
    frame: pd.DataFrame, task: str, judge: str, models: dict[str, Any], *, guesses: bool
) -> None:
    """Hold a judge's means and correlations against the truth."""
    marks = frame[frame["sample"].str.startswith(f"{task}/")]
    people = _overall(marks[marks.kind == "person"]).groupby(["model", "sample"])[["SC", "PQ", "O"]]
    # The published coefficients rank the rounding noise of numpy's mean of three: with exact ties
    # that of O for ControlNet is .2815 in place of .2819.
    told = people.agg(lambda marks: np.mean(marks.tolist()))
    mine = _overall(marks[marks.judge == judge]).set_index(["model", "sample"])
    found: dict[str, list[float]] = {"SC": [], "PQ": [], "O": []}
    for model, want in models.items():
        if model == "average_spearman" or "PQ" not in want:
            continue
        of = mine.loc[model].dropna(subset=["O"])
        said = want if guesses else want.get("without_guesses", want)
        assert len(of) == (said["rows"] if "rows" in said else said["rows_both"])
        for part, seen in found.items():
            values = of[part].dropna()
            r = rank_correlation(
                values.to_numpy(), told.loc[model].loc[values.index, part].to_numpy()
            )
            if said[part]["mean_of_min"] is None:
                assert values.empty
                continue
            assert values.mean() == pytest.approx(said[part]["mean_of_min"], abs=E4)
            assert r == pytest.approx(said[part]["spearman_people"], abs=E4), (model, part)
            if "std" in said[part]:
                assert values.std(ddof=0) == pytest.approx(said[part]["std"], abs=E4)
            seen.append(r)
    if guesses:
        for part, want in models["average_spearman"].items():
            assert np.tanh(np.mean(found[part])) == pytest.approx(want, abs=E4)


def _judged(truth: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for task, told in truth["viescore"].items():
        for judge, models in told["judges"].items():
            if "average_spearman" in models:
                yield task, judge.removeprefix("results_").removesuffix("_0shot"), models


def test_viescore_without_guesses(viescore: Brought, truth: dict[str, Any]) -> None:
    """What comes in by `auto` gives the figures without the random numbers."""
    for task, judge, models in _judged(truth):
        kept = {
            name: want
            for name, want in models.items()
            if name != "average_spearman" and want.get("without_guesses", {}).get("rows") != 0
        }
        _with_judge(viescore.frame, task, judge, kept, guesses=False)
    assert viescore.frame[viescore.frame.judge == "cogvlm"].value.isna().all()


def test_viescore_as_published(
    shared_folder: Path, project: Path, truth: dict[str, Any], tmp_path: Path
) -> None:
    """A map that doesn't call guesses unreadable gives the published figures."""
    columns = _map(project, "viescore")
    assert columns.scale is not None
    scale = columns.scale.model_copy(update={"unreadable": ()})
    published = columns.model_copy(update={"scale": scale})
    with brought(tmp_path, inside(_source(shared_folder, "viescore")), published) as found:
        for task, judge, models in _judged(truth):
            _with_judge(found.frame, task, judge, models, guesses=True)


# --- PaperBench -----------------------------------------------------------------------------------


def _nodes(frame: pd.DataFrame) -> dict[tuple[str, ...], float]:
    """Return the weighted mean of the leaves below each node."""
    found: dict[tuple[str, ...], list[tuple[float, float]]] = {}
    for leaf, weight, value in zip(frame.leaf, frame.weight, frame.value, strict=True):
        path = leaf[:-1] if leaf[-1] == "(directly)" else leaf
        for n in range(1, len(path) + 1):
            found.setdefault(path[:n], []).append((weight, value))
    return {
        path: sum(w * v for w, v in pairs) / sum(w for w, _ in pairs)
        for path, pairs in found.items()
    }


def _pruned(frame: pd.DataFrame) -> float:
    """Return a tree's score where only these leaves are left: shares are of what is left."""
    share: dict[tuple[str, ...], float] = {}
    below: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    score: dict[tuple[str, ...], float] = {}
    for row in frame.itertuples():
        path = row.leaf[:-1] if row.leaf[-1] == "(directly)" else row.leaf
        path = (*path, row.criterion_id)
        for n in range(1, len(path) + 1):
            share[path[:n]] = share.get(path[:n], 0.0) + row.weight
        if row.kept:
            score[path] = row.value
            for n in range(1, len(path)):
                below.setdefault(path[:n], set()).add(path[: n + 1])

    def of(node: tuple[str, ...]) -> float:
        if node in score:
            return score[node]
        total = sum(share[one] for one in below[node])
        return sum(share[one] * of(one) for one in below[node]) / total

    roots = [node for node in below if len(node) == 1]
    assert len(roots) == 1
    return of(roots[0])


@pytest.mark.parametrize("paper", ["all-in-one", "rice"])
def test_paperbench(
    paperbench: Brought,
    truth: dict[str, Any],
    paper: str,
    shared_folder: Path,
    project: Path,
    tmp_path: Path,
) -> None:
    """The tree's score, every inner node's, and each category's come out of leaves and shares."""
    want = truth["paperbench"][paper]
    frame = paperbench.frame[paperbench.frame["sample"] == paper]
    assert len(frame) == want["leaves"]
    assert frame.weight.sum() == pytest.approx(1)
    total = (frame.weight * frame.value).sum()
    assert total == pytest.approx(want["weighted_tree_score"], abs=E4)
    assert total == pytest.approx(want["check_sum_of_share_times_score"], abs=E4)
    assert frame.value.mean() == pytest.approx(want["plain_share_of_leaves_met"], abs=E4)
    folder = _source(shared_folder, "paperbench/data/judge_eval") / paper
    root = json.loads(next(folder.rglob("*.json")).read_text(encoding="utf-8"))
    stored: list[float] = []

    def walk(node: dict[str, Any]) -> None:
        if node["sub_tasks"]:
            stored.append(node["score"])
            for child in node["sub_tasks"]:
                walk(child)

    walk(root)
    mine = sorted(_nodes(frame).values())
    assert len(mine) == want["inner_nodes"]
    assert mine == pytest.approx(sorted(stored), abs=1e-9)
    assert int((frame.reason != "").sum()) == want["leaves_with_explanation"]
    columns = _map(project, "paperbench").model_copy(update={"capability": "task_category"})
    with brought(tmp_path, inside(folder), columns) as found:
        category = found.frame.set_index("criterion_id").leaf.str[-1]
    named = frame.assign(category=frame.criterion_id.map(category))
    for name, (met, n) in want["leaves_met_by_category"].items():
        of = named[named.category == name]
        assert (int(of.value.sum()), len(of)) == (met, n)
        share = want["weight_share_of_category"][name]
        assert of.weight.sum() == pytest.approx(share, abs=E4)
        score = _pruned(named.assign(kept=named.category == name))
        assert score == pytest.approx(want["tree_score_of_one_category_only"][name], abs=E4)


# --- LLM-Rubric -----------------------------------------------------------------------------------


def _part(frame: pd.DataFrame, part: str) -> pd.DataFrame:
    synthetic = frame.model == "synthetic"
    return frame[synthetic if part == "synth" else ~synthetic]


@pytest.mark.parametrize("part", ["real", "synth"])
def test_llm_rubric_people(llm_rubric: Brought, truth: dict[str, Any], part: str) -> None:
    """0 and empty cells don't apply; people's means, by question and by system."""
    want = truth["llm_rubric"][part]
    both = _part(llm_rubric.frame, part)
    people = both[both.kind == "person"]
    # The published means are over dialogues that the model marked as well.
    by_machine = set(both[both.kind == "model"]["sample"])
    assert people["sample"].nunique() == want["texts"]
    assert people.judge.nunique() == want["people"]
    for question, n in want["zero_or_empty_means_not_applicable"].items():
        of = people[people.criterion == question]
        assert len(of) == want["human_rows"]
        assert int((of.state == "not_applicable").sum()) == n
        compared = of[of["sample"].isin(by_machine)].value
        mean = want["people_mean"][question]
        assert 3 * compared.mean() + 1 == pytest.approx(mean, abs=E4)
    twice = people[people.repeat > 0].groupby("criterion").size()
    assert set(twice) == ({want["same_person_and_text_twice"]} if part == "synth" else set())
    for system, means in want.get("people_mean_by_system", {}).items():
        for question, mean in means.items():
            of = people[(people.model == system) & (people.criterion == question)].value
            if mean is None:
                assert of.isna().all()
            else:
                assert 3 * of.mean() + 1 == pytest.approx(mean, abs=E4)
    for question, alpha in want.get("alpha_ordinal", {}).items():
        of = people[people.criterion == question]
        seats = of.groupby("sample").value.apply(lambda one: one.dropna().tolist())
        most = max(map(len, seats))
        table = np.array([[*one, *([np.nan] * (most - len(one)))] for one in seats]).T
        assert krippendorff_alpha(table) == pytest.approx(alpha, abs=E4), question


@pytest.mark.parametrize("part", ["real", "synth"])
def test_llm_rubric_machine(llm_rubric: Brought, truth: dict[str, Any], part: str) -> None:
    """A distribution is read as its expected value; what it holds is kept, so is its mode."""
    want = truth["llm_rubric"][part]
    frame = _part(llm_rubric.frame, part)
    machine = frame[frame.kind == "model"].set_index(["sample", "criterion"])
    people = frame[frame.kind == "person"].set_index(["sample", "criterion"])
    assert len(machine) == want["machine_rows"]
    mode = machine.raw.map(
        lambda raw: float(max(json.loads(raw).items(), key=lambda one: one[1])[0])
    )
    for question, told in want["machine_argmax"].items():
        expected = 3 * machine.xs(question, level="criterion").value + 1
        human = people.xs(question, level="criterion").value.dropna() * 3 + 1
        human = human[human.index.isin(expected.index)]
        of_machine = expected.reindex(human.index)
        likeliest = mode.xs(question, level="criterion").reindex(human.index)
        assert len(human) == told["n"]
        mean = want["machine_expected_mean"][question]
        assert of_machine.mean() == pytest.approx(mean, abs=E4)
        both, point = _two(of_machine, human), _two(likeliest, human)
        for name, value, key in (
            ("rmse", both.rmse.value, "rmse_expected"),
            ("pearson", both.pearson.value, "pearson_expected"),
            ("spearman", both.spearman.value, "spearman_expected"),
            ("kendall", both.kendall.value, "kendall_expected"),
            ("rmse", point.rmse.value, "rmse_argmax"),
            ("pearson", point.pearson.value, "pearson_argmax"),
            ("exact", point.exact.value, "exact_agreement_argmax"),
            ("kappa", point.kappa.value, "kappa_argmax"),
        ):
            if told[key] is None:
                assert np.isnan(value), (question, name)
            else:
                assert value == pytest.approx(told[key], abs=E4), (question, key)


def test_llm_rubric_says_what_is_doubtful(shared_folder: Path, tmp_path: Path) -> None:
    """One question's marks run against all others, and the account says so."""
    with brought(tmp_path, inside(_source(shared_folder, "llm_rubric/data/real_data"))) as found:
        notes = found.imported.report.notes
    assert any(note.startswith("a high mark of 'Q8' may be a bad one") for note in notes), notes
