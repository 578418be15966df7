"""The judges' tab on judgments that nobody here wrote: published agreement comes out of the screen.

Truth: `shared/real/criteria/expected.json`.
"""

from __future__ import annotations

import csv
import json
import math
from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr

from atom.store.people import PEOPLE
from atom.views.filters import Filters
from atom.views.judges import MOST_PEOPLE, judges_view
from atom.views.people.rubric import rubric_view
from atom.views.snapshot import open_study
from tests.atom.formats.judgments.frames import brought, inside

pytestmark = pytest.mark.slow

E4 = 6e-5


@pytest.fixture(scope="module")
def truth(shared_folder):
    return json.loads((shared_folder / "real/criteria/expected.json").read_text(encoding="utf-8"))


def source(shared_folder, tmp_path_factory, name):
    files = inside(shared_folder / "real/criteria" / name)
    with brought(tmp_path_factory.mktemp(name), files) as found:
        yield found.store


@pytest.fixture(scope="module")
def dsg(shared_folder, tmp_path_factory):
    yield from source(shared_folder, tmp_path_factory, "dsg")


@pytest.fixture(scope="module")
def ttcw(shared_folder, tmp_path_factory):
    yield from source(shared_folder, tmp_path_factory, "ttcw")


@pytest.fixture(scope="module")
def viescore(shared_folder, tmp_path_factory):
    yield from source(shared_folder, tmp_path_factory, "viescore")


def opened(store, judge=None):
    return open_study(store, "study", judge, folder=store.folder / "cache")


def seen(store, first, second, filters=None, **more):
    data = opened(store, first)
    return judges_view(
        store, data, lambda judge: opened(store, judge), filters or Filters(), first=first,
        second=second, **more,
    )  # fmt: skip


@pytest.mark.slow
def test_vqa_models_agree_as_published_and_order_pictures_as_people(dsg, truth):
    want = truth["dsg"]
    for pair, kappa in want["kappa_between_judges"].items():
        first, second = pair.split("~")
        view = seen(dsg, first, second, unread="unmet")
        assert view.whole.kappa.value == pytest.approx(kappa, abs=E4)
        assert view.whole.kappa.lo < kappa < view.whole.kappa.hi
        assert view.people.alpha.value == pytest.approx(want["likert"]["alpha_ordinal"], abs=E4)
        lost = sum(want["judges"][name]["answers_neither_yes_nor_no"] for name in (first, second))
        assert view.unread == lost


def pictures(folder, judge):
    """Score each picture from the files alone, by both readings, and hold its rating beside it."""

    def rows(name):
        return csv.DictReader(next(folder.rglob(name)).read_text(encoding="utf-8").splitlines())

    rests, yes, rated = {}, defaultdict(dict), defaultdict(list)
    for row in rows("dsg-1k-anns.csv"):
        named = [one.strip() for one in row["dependency"].split(",")]
        rests[row["item_id"], row["proposition_id"]] = [one for one in named if one != "0"]
    broken = {item for (item, _), named in rests.items() if "outside" in named}
    for row in rows(f"{judge}_dsg.csv"):
        yes[row["t2i_model"], row["item_id"]][row["question_id"]] = row["answer"] == "yes"
    for row in rows("*likert*.csv"):
        rated[row["t2i_model"], row["item_id"]].append(Fraction(row["answer"]))
    found = {}
    for (model, item), ratings in rated.items():
        said = yes.get((model, item), {})
        held = [
            one and (item in broken or all(said.get(name, True) for name in rests[item, key]))
            for key, one in said.items()
        ]
        found[model, item] = (
            float(Fraction(sum(held), len(held))) if said else math.nan,
            float(Fraction(sum(said.values()), len(said))) if said else math.nan,
            float(sum(ratings) / len(ratings)),
        )
    return np.array(list(found.values())).T


@pytest.mark.slow
def test_pictures_without_any_answer_are_worth_nothing_and_not_0(dsg, truth, shared_folder):
    # Published over 800 pictures: the five of tifa160_134, which no model was asked about, are 0
    # there. A picture that nobody judged has no value: here the 795 others, exactly.
    judge = "pali17b"
    parents, plain, people = pictures(shared_folder / "real/criteria/dsg", judge)
    asked = np.isfinite(plain)
    assert (len(asked), int(asked.sum())) == (800, 795)
    view = seen(dsg, judge, PEOPLE, unread="unmet")
    rules = {one.rule: one.found for one in view.answers if one.model < 0}
    told = truth["dsg"]["judges"][judge]
    for rule, value, key in (("parents", parents, "with_dependency"),
                             ("plain", plain, "without_dependency")):  # fmt: skip
        published = told[f"{key}_vs_likert"]
        zeros = np.nan_to_num(value)
        assert spearmanr(zeros, people).statistic == pytest.approx(published["spearman"], abs=E4)
        assert kendalltau(zeros, people).statistic == pytest.approx(published["kendall"], abs=E4)
        found = rules[rule]
        assert found.n == 795
        both = value[asked], people[asked]
        assert found.spearman.value == pytest.approx(spearmanr(*both).statistic, abs=1e-9)
        assert found.kendall.value == pytest.approx(kendalltau(*both).statistic, abs=1e-9)


def test_both_readings_of_scene_graphs_stand_side_by_side(dsg, truth):
    for judge, told in truth["dsg"]["judges"].items():
        view = rubric_view(opened(dsg, judge), Filters())
        assert view.rules == ("plain", "parents")
        assert view.unread == told["answers_neither_yes_nor_no"]
        for row in view.rows:
            for rule, key in (("plain", "score_without_dependency"),
                              ("parents", "score_with_dependency")):  # fmt: skip
                cell = row.cells[rule]
                # The item without answers is published as 0 among 160.
                published = 100 * told[key][row.name]
                assert cell.unread * 159 / 160 == pytest.approx(published, abs=100 * E4)
        touched = sum(row.cells["parents"].touched for row in view.rows)
        assert touched == told["answers_set_to_no_by_dependency"]


@pytest.mark.slow
def test_story_judges_against_most_experts(ttcw, truth):
    want = truth["ttcw"]
    for judge, told in want["judges"].items():
        view = seen(ttcw, judge, MOST_PEOPLE, unread="unmet")
        # Replies that are missing are left out, blocked ones count as no.
        kappa = told["kappa_with_majority_found_only"]
        assert view.whole.kappa.value == pytest.approx(kappa, abs=E4), judge
        assert view.whole.n == told["rows"]
    assert view.people.fleiss == pytest.approx(want["fleiss_kappa"], abs=E4)
    assert view.people.people == want["experts"]


@pytest.mark.slow
def test_picture_judges_follow_people_as_published(viescore, truth):
    """Without the guesses, which are no marks here."""
    judge = next(one.name for one in opened(viescore).judges if "gpt4o" in one.name)
    want = truth["viescore"]["ImagenHub_Control-Guided_IG"]["judges"]["results_gpt4o_0shot"]
    data = opened(viescore)
    for candidate in data.candidates:
        told = want.get(candidate.name, {}).get("without_guesses")
        if told is None:
            continue
        view = seen(viescore, judge, PEOPLE, Filters(model=candidate.id))
        parts = {group.name: group.found for group in (*view.nodes, *view.questions)}
        for name in ("SC", "PQ"):
            assert parts[name].n == {"SC": told["rows"], "PQ": 150}[name]
            if name == "SC":
                spearman = told["SC"]["spearman_people"]
                assert parts[name].spearman.value == pytest.approx(spearman, abs=E4)
