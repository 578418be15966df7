"""What came of a self-correction experiment, against a table of eight answers kept by hand."""

from __future__ import annotations

import csv
import io

import pytest

from atom.analysis.correction.effects import CONTRASTS
from atom.display import writers
from atom.store import Store
from atom.ui.correction import arms
from atom.ui.correction import effects as correction_effects
from atom.ui.correction.doors import ExperimentDoors
from atom.ui.html import escape
from atom.views.correction.arm_table import arm_table
from atom.views.correction.cases import (
    CaseQuery,
    arms_csv,
    case_rows,
    cases_csv,
    effects_csv,
    find_cases,
    read_query,
    write_query,
)
from atom.views.correction.data import list_experiments
from atom.views.correction.effect_table import apart_words, effect_table
from atom.views.correction.page import results
from atom.views.correction.steps import table4_view
from atom.views.filters import Filters
from atom.views.study_data import load_study
from tests.app.correction_store import BOTH, FAILED, first_id, put_experiment
from tests.app.screen_store import LEAVES, make_store


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Return the study with a whole experiment and one without controls, its store open."""
    made = make_store(tmp_path_factory.mktemp("correction"))
    whole = put_experiment(made)
    bare = put_experiment(made, arms=("guided",), candidate=1)
    with Store.open(made.folder) as store:
        data = load_study(store, made.study.id)
        yield made, store, data, results(store, whole.id), results(store, bare.id)


def numbers(made, found):
    """Return the samples' numbers of some answers."""
    by_id = {first_id(made, number): number for number in range(12)}
    return [by_id[name] for name in found.ids]


@pytest.mark.slow
def test_arms_count_what_the_table_says(world):
    found = world[3]
    counted = {
        line.share.arm: (line.share.trials, line.fixed, line.wrong, line.share.unknown)
        for line in found.arms
    }
    assert counted == {
        "rejudge": (8, 0, 8, 0),
        "fresh": (8, 2, 6, 0),
        "told": (8, 2, 6, 0),
        "sham": (8, 1, 5, 2),
        "guided": (8, 5, 0, 3),
        "peer": (2, 1, 1, 0),
    }
    assert found.on_right is not None
    assert (found.on_right.fixed, found.on_right.wrong) == (1, 1)
    assert found.broken.value == 0.5
    guided = next(line for line in found.arms if line.share.arm == "guided")
    assert guided.tried == 6  # two of eight had nothing to ask
    assert dict(guided.reasons) == {"there is nothing to ask about": 2, "rate limit": 1}


def test_diagnosis_is_compared_where_steps_failed_and_passed(world):
    made, _, data, found, _ = world
    effect = found.main
    assert effect.name == "diagnostic value"
    assert (effect.n, effect.arm_only, effect.control_only, effect.both) == (5, 4, 0, 1)
    assert effect.apart == 3  # samples 0, 1 and 7
    assert effect.estimate == pytest.approx(0.8)  # (5 - 1) / 5
    assert effect.mid_p == pytest.approx(0.0625)  # 2 * 0.5 ** 4 / 2
    pairs = find_cases(found, data, CaseQuery(effect=effect.name, came="pairs"))
    assert numbers(made, pairs) == list(BOTH)
    assert numbers(made, find_cases(found, data, CaseQuery(effect=effect.name, came="apart"))) == [
        0, 1, 7,
    ]  # fmt: skip


def test_every_number_has_its_answers(world):
    _, _, data, found, _ = world

    def count(**query):
        return find_cases(found, data, CaseQuery(**query)).count

    for line in found.arms:
        arm = line.share.arm
        assert count(arm=arm) == line.share.trials
        assert count(arm=arm, came="tried") == line.tried
        assert count(arm=arm, came="right") == line.fixed
        assert count(arm=arm, came="wrong") == line.wrong
        assert count(arm=arm, came="unknown") == line.share.unknown
    assert count(arm="guided", cohort="right") == found.on_right.share.trials
    assert count(arm="guided", cohort="right", came="wrong") == found.on_right.wrong
    for effect in (*found.effects, *found.printed):
        cells = {
            "pairs": effect.n, "first": effect.arm_only, "second": effect.control_only,
            "both": effect.both, "neither": effect.neither, "apart": effect.apart,
            "unpaired": effect.unpaired,
        }  # fmt: skip
        for came, number in cells.items():
            assert count(effect=effect.name, came=came) == number, (effect.name, came)
    for line in found.by_root:
        where = {"effect": found.main.name, "under": line.path}
        assert count(came="pairs", **where) == line.effect.n
    for line in found.by_leaf:
        where = {"arm": "guided", "under": line.path}
        assert count(came="steps", **where) == line.repair.n
        assert count(came="repaired", **where) == line.repaired
    for line in found.unlocking:
        for came in ("asked", "flipped", "unlocked"):
            assert count(came=came, under=line.path) == getattr(line.unlocked, came)


def test_steps_repaired_are_those_of_the_table(world):
    found = world[3]
    # Guided answers score 5, 4, 1: bar heights of 3, 6, 9 and clocks of 4, 8 are repaired,
    # the differences of 3, 6 and 9 aren't.
    counted = {line.path: (line.repair.n, line.repaired) for line in found.by_leaf}
    assert counted == {LEAVES[0]: (3, 3), LEAVES[1]: (2, 2), LEAVES[2]: (3, 0)}
    assert all(line.repair.label == "undecided" for line in found.by_leaf)
    assert {key.path for key in found.keys} == {LEAVES[0], LEAVES[1]}


def test_gates_are_counted(world):
    gates = world[3].gates
    # One criterion of each of two answers: two attempts, of which the first leaks.
    assert (gates.written, gates.leaked, gates.again, gates.no_peer) == (4, 2, 2, 2)


def test_the_first_sentence_names_effect_control_and_luck(world):
    said = world[3].headline
    assert said.sentence.startswith(
        "Asking about the failed steps fixes 80.0 points more than asking about passed steps (95 %"
    )
    assert "5 pairs" in said.sentence
    assert said.sentence.endswith("that may be chance.")
    assert said.luck == "Luck alone fixed 25 % of 8."


def test_without_controls_no_gain_is_claimed(world):
    bare = world[4]
    assert not bare.controlled
    assert {effect.verdict for effect in bare.effects} == {"refused: no control ran"}
    assert "That is no gain: without controls" in bare.headline.sentence
    assert bare.headline.luck == ""


@pytest.mark.slow
def test_an_unfinished_experiment_says_that_it_is_too_early(tmp_path):
    made = make_store(tmp_path)
    begun = put_experiment(made, state="stopped", numbers=(3,), drop_all=True)
    with Store.open(made.folder) as store:
        store.replace([begun.model_copy(update={"limit": 60})])
        found = results(store, begun.id)
        assert found.controlled
        assert found.headline.sentence.startswith("Too early: 1 of 60 answers tried;")
        assert "refused: no control ran" not in {effect.verdict for effect in found.effects}


@pytest.mark.slow
def test_an_unfinished_experiment_without_planned_controls_is_refused(tmp_path):
    made = make_store(tmp_path)
    bare = put_experiment(made, arms=("guided",), state="stopped")
    with Store.open(made.folder) as store:
        found = results(store, bare.id)
        assert not found.controlled
        assert "That is no gain" in found.headline.sentence


@pytest.mark.slow
def test_no_share_of_nothing_is_named(tmp_path):
    made = make_store(tmp_path)
    bare = put_experiment(made, arms=("guided",), drop_all=True)
    with Store.open(made.folder) as store:
        said = results(store, bare.id).headline.sentence
        assert said == "After asking about the failed steps, no answer has a result."


@pytest.mark.slow
def test_nothing_came_of_anything(tmp_path):
    made = make_store(tmp_path)
    dropped = put_experiment(made, drop_all=True)
    with Store.open(made.folder) as store:
        found = results(store, dropped.id)
        assert all(line.share.unknown == line.share.trials for line in found.arms)
        assert found.headline.sentence.startswith(("Nothing", "After"))
        assert find_cases(found, load_study(store, made.study.id), CaseQuery()).count == 8


@pytest.mark.slow
def test_one_trial(tmp_path):
    made = make_store(tmp_path)
    one = put_experiment(made, arms=("fresh", "guided"), numbers=(3,))
    with Store.open(made.folder) as store:
        found = results(store, one.id)
        assert found.failed == 1
        assert found.headline.sentence
        assert table4_view(store, list_experiments(store)) is None


def test_a_list_holds_what_its_page_needs(world):
    made, store, data, found, _ = world
    cases = find_cases(found, data, CaseQuery(arm="guided", came="steps", under=LEAVES[0]))
    rows = case_rows(store, found, cases, cases.ids)
    assert [row.sample_id for row in rows] == [made.sample_ids[n] for n in (3, 6, 9)]
    assert [row.steps for row in rows] == [1, 1, 1]
    marks = dict(rows[0].marks)
    assert marks == {
        "rejudge": False, "fresh": False, "told": False, "sham": False, "guided": True,
        "peer": True,
    }  # fmt: skip


@pytest.mark.parametrize(
    "query",
    [
        CaseQuery(),
        CaseQuery(arm="sham", came="unknown"),
        CaseQuery(cohort="right", arm="guided", came="wrong"),
        CaseQuery(effect=CONTRASTS[2].name, came="first", under=("Perception",)),
        CaseQuery(arm="guided", came="steps", under=LEAVES[0]),
    ],
)
def test_a_query_survives_its_address(query):
    assert read_query({k: v for k, v in write_query(query).items() if v}) == query


@pytest.mark.parametrize(
    "given",
    [{"arm": "nonsense"}, {"came": "<b>"}, {"effect": "x"}, {"cohort": "other"}, {"under": " › "}],
)
def test_an_address_that_cannot_be_read_asks_for_all(given):
    assert read_query(given) == CaseQuery()


def test_a_place_that_is_not_there_has_no_answers(world):
    _, _, data, found, _ = world
    for query in (
        CaseQuery(arm="guided", under=("Nowhere",)),
        CaseQuery(arm="guided", came="steps", under=("No", "such", "leaf", "here")),
        CaseQuery(effect="both over peer"),
    ):
        assert find_cases(found, data, query).ids == ()


def test_files_hold_the_effects_and_all_answers(world):
    _, store, _, found, _ = world
    effects = list(csv.DictReader(io.StringIO(effects_csv(found))))
    assert len(effects) == len(found.effects) + len(found.printed)
    one = next(row for row in effects if row["name"] == "diagnostic value")
    assert (one["n"], float(one["estimate"])) == ("5", pytest.approx(0.8))
    # The screen and the command write the same cells of the same rows.
    table = effect_table(found.effects, "Effects")
    texts = {column.text(row) for column in table.shown("text")[1:] for row in table.rows}
    doors = ExperimentDoors(filters=Filters(), experiment=found.experiment.id)
    drawn = str(correction_effects.effects(found, doors))
    written = "\n".join(writers.lines(table))
    assert "+80.0" in "".join(texts)
    for text in texts:
        assert text in written
        assert all(escape(part) in drawn for part in text.rstrip(")").split(" ("))
    answers = list(csv.DictReader(io.StringIO(cases_csv(store, found))))
    assert len(answers) == len(FAILED) + 2
    assert sum(row["guided"] == "right" for row in answers) == 6
    assert not any(value.startswith(("=", "+", "-", "@")) for row in answers for value in
                   row.values())  # fmt: skip


def test_one_answer_without_a_pair_is_said_in_the_singular():
    assert apart_words(3).startswith("are left out where passed steps are the control: they have")
    assert apart_words(1).startswith("is left out where passed steps are the control: it has no")


def test_arms_read_the_same_on_the_screen_in_the_command_and_in_the_file(world):
    found = world[3]
    table = arm_table(found.every_arm, "Arms")
    drawn = str(arms.arms(found, ExperimentDoors(filters=Filters(), experiment="e")))
    written = writers.lines(table)
    guided = next(line for line in written if line.startswith("Asked about failed steps"))
    assert "100 % (48–100) of 5" in guided
    for column in table.shown("text")[1:]:
        for row in table.rows:
            text = column.text(row)
            assert any(text in line for line in written)
            assert all(escape(part.rstrip(")")) in drawn for part in text.split(" ("))
    rows = list(csv.DictReader(io.StringIO(arms_csv(found))))
    assert [row["arm"] for row in rows] == [line.share.arm for line in found.every_arm]
    kept = rows[-1]
    # Of two right answers one stayed right: the file says right ones, the screen broken ones.
    assert (kept["cohort"], kept["fixed"], kept["wrong"], kept["share"]) == (
        "right",
        "1",
        "1",
        "0.5",
    )
    assert "1 kept" in written[-1]
    assert "50 % broken (7–93) of 2" in written[-1]


def test_several_models_make_the_papers_table(world):
    made, store, *_ = world
    found = table4_view(store, list_experiments(store, made.study.id))
    assert found is not None
    assert found.lines[0][-2:] == ("Average", "Gain (Δ)")
    average = {(line[0], line[1]): line[-2:] for line in found.lines[1:] if line[0]}
    # Told fixed 2 of 8, guided 5 of 5.
    assert average["model-a", "Re-eval."] == ("25.00", "+0.00")
    assert average["model-a", "Atom-Self-corr."] == ("100.00", "+75.00")
    assert average["model-b", "Re-eval."] == ("-", "-")
