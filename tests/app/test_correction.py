"""Self-correction: setting it up, watching it, what came of it, and the answers behind it."""

from __future__ import annotations

import html
import re
import time
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

from atom.analysis.correction.trials import blind_gate
from atom.engine.control import list_runs
from atom.engine.correction.forecast import forecast_experiment
from atom.records import Call, Response
from atom.store import Store, table
from atom.ui import work
from atom.ui.correction import forecast, start
from atom.ui.correction.gate import sentence
from atom.ui.correction.live import parse
from tests.app.conftest import markup_of
from tests.app.correction_store import put_experiment
from tests.app.screen_store import CANDIDATES, HOSTILE, make_store
from tests.app.work_store import make_probes_store, settle

PAGE = "pages/run/correction.py"
DOOR = re.compile(r'<a href="(\./correction\?[^"]*tab=cases[^"]*)"[^>]*>(.*?)</a>')


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """Return a store with an experiment that is over."""
    made = make_store(tmp_path_factory.mktemp("done"))
    return made, put_experiment(made)


@pytest.fixture(scope="module")
def probes(tmp_path_factory):
    """Return the folder of a synthetic study, its id and its samples."""
    folder = tmp_path_factory.mktemp("probes")
    return folder, *make_probes_store(folder)


def has(elements, key: str) -> bool:
    return any(element.key == key for element in elements)


def query_of(door: str) -> dict[str, str]:
    return {
        key: values[-1] for key, values in parse_qs(urlsplit(html.unescape(door)).query).items()
    }


@pytest.mark.slow
def test_the_answer_comes_first(open_app, done):
    made, experiment = done
    seen = open_app(made.folder, PAGE, {"study": made.study.id})
    assert not seen.test.exception
    first = "Asking about the failed steps fixes 80.0 points more than asking about passed steps"
    assert first in seen.markup
    assert "Luck alone fixed 25 % of 8." in seen.markup
    assert "It broke 50 % of 2 right answers." in seen.markup
    assert seen.markup.index(first) < seen.markup.index("Effects with their controls")
    assert "The gain as the paper prints it" in seen.markup
    assert f"experiment={experiment.id[:12]}" in seen.markup
    assert not has(seen.test.button, "correction_stop")


@pytest.mark.slow
def test_each_number_opens_as_many_answers(open_app, done):
    made, _ = done
    numbers = {}
    for tab in (None, "where"):
        query = {"study": made.study.id} | ({"tab": tab} if tab else {})
        for door, shown in DOOR.findall(open_app(made.folder, PAGE, query).markup):
            text = re.sub(r"<[^>]+>|kept|broken|answers", "", shown).strip()
            if text.isdigit() and text != "0":
                numbers[door] = int(text)
    assert len(numbers) > 30
    test = open_app(made.folder, PAGE, {"study": made.study.id, "tab": "cases"}).test
    # A door of each kind is walked; the counts of all are compared with the list's in the views.
    kinds = {}
    for door in numbers:
        asked = query_of(door)
        kinds.setdefault((asked.get("came"), "effect" in asked, "under" in asked), door)
    for door in kinds.values():
        test.query_params.clear()
        for key, value in query_of(door).items():
            test.query_params[key] = value
        test.run()
        assert f'data-count="{numbers[door]}"' in markup_of(test), query_of(door)


def test_before_and_after_stand_side_by_side(open_app, done):
    made, _ = done
    query = {"study": made.study.id, "tab": "cases", "arm": "guided", "came": "right"}
    query["sample"] = made.sample_ids[3]
    seen = open_app(made.folder, PAGE, query)
    assert not seen.test.exception
    assert "the answer was wrong, and is right" in seen.markup
    assert "failed ones: 2 → 1" in seen.markup
    assert "So here the feedback did more than its control did." in seen.markup
    assert "<del>" in seen.markup
    assert "<ins>" in seen.markup
    assert "Look again (guided)." in seen.markup
    assert 'class="region lit"' in seen.markup


@pytest.mark.slow
def test_filters_are_said_not_to_narrow_it(open_app, done):
    made, _ = done
    query = {"study": made.study.id, "tab": "new"}
    words = "Filters don't narrow an experiment"
    assert words not in html.unescape(open_app(made.folder, PAGE, query).markup)
    narrowed = open_app(made.folder, PAGE, {**query, "outcome": "wrong"})
    assert words in html.unescape(narrowed.markup)


@pytest.mark.slow
def test_hostile_texts_stay_texts(open_app, done):
    made, _ = done
    for number, arm in ((5, "guided"), (3, "peer")):
        query = {"study": made.study.id, "tab": "cases", "by": arm}
        seen = open_app(made.folder, PAGE, {**query, "sample": made.sample_ids[number]})
        assert not seen.test.exception
        assert "<script" not in seen.markup
        assert 'src="http' not in seen.markup
        assert "&lt;script&gt;window.pwned" in seen.markup
    assert "Who wrote the hints (1)" in seen.markup
    assert HOSTILE not in seen.markup


def test_files_can_be_had(open_app, done):
    made, _ = done
    seen = open_app(made.folder, PAGE, {"study": made.study.id})
    keys = {element.key for element in seen.test.get("download_button")}
    assert {"correction_effects_csv", "correction_arms_csv", "correction_cases_csv"} <= keys


@pytest.mark.slow
def test_without_controls_nothing_is_called_a_gain(open_app, tmp_path):
    made = make_store(tmp_path / "own")
    put_experiment(made, arms=("guided",))
    seen = open_app(made.folder, PAGE, {"study": made.study.id})
    assert not seen.test.exception
    assert "That is no gain: without controls nobody knows" in seen.markup
    assert "refused: no control ran" in seen.markup


@pytest.mark.slow
@pytest.mark.parametrize(("state", "words"), [("stopped", "stopped"), ("failed", "failed")])
def test_an_experiment_that_ended_early_can_go_on(open_app, tmp_path, state, words):
    made = make_store(tmp_path / "own")
    put_experiment(made, state=state)
    seen = open_app(made.folder, PAGE, {"study": made.study.id})
    assert "30 of 60 steps done" in seen.markup
    assert words in seen.markup
    assert has(seen.test.button, "correction_resume")
    assert not has(seen.test.button, "correction_stop")


@pytest.mark.slow
def test_all_dropped_and_one_trial_make_a_page(open_app, tmp_path):
    made = make_store(tmp_path / "own")
    dropped = put_experiment(made, drop_all=True, arms=("fresh", "guided"))
    one = put_experiment(made, arms=("sham", "guided"), numbers=(3,))
    for experiment, tab in ((dropped, "where"), (dropped, "cases"), (one, "where"), (one, "no")):
        query = {"study": made.study.id, "experiment": experiment.id, "tab": tab}
        assert not open_app(made.folder, PAGE, query).test.exception
    assert "All experiments of this study (2)" in open_app(
        made.folder, PAGE, {"study": made.study.id}
    ).markup  # fmt: skip


@pytest.mark.slow
def test_without_an_experiment_the_page_asks_what_to_try(open_app, probes):
    test = open_app(probes[0], PAGE, {"study": probes[1]}).test
    settle(test)
    assert not test.exception
    markup = markup_of(test)
    assert "failed;" in markup
    assert "free, offline" in markup
    assert "Calls and price by what is tried" in markup
    assert not test.button(key="correction_start").disabled
    box = test.checkbox(key=f"cform_arm_sham_{probes[1]}")
    box.uncheck().run()
    assert "a long message may do as much" in markup_of(test)


@pytest.mark.slow
def test_an_experiment_starts_goes_on_by_itself_and_is_read(open_app, probes, tmp_path):
    """The bundled study is copied first, and the page moves to the copy."""
    own = tmp_path / "own"
    test = open_app(own, PAGE, {"study": f"demo:{probes[1]}"}, probes[0]).test
    settle(test)
    assert "in your own copy, &#x27;Demo (yours)&#x27;" in markup_of(test)
    test.button(key="correction_start").click().run()
    settle(test)
    with Store.open(own) as store:
        end = time.monotonic() + 60
        while list_runs(store)[0].alive and time.monotonic() < end:
            time.sleep(0.2)
        run = list_runs(store)[0].run
    assert run.state == "done"
    assert run.experiment_id
    test.run()
    assert not test.exception
    assert test.query_params["study"] == run.study_id
    assert "What was tried, and how often it came right" in markup_of(test)
    back = open_app(own, PAGE, {"study": f"demo:{probes[1]}"}, probes[0]).test
    settle(back)
    assert "Tried already in your own copy" in markup_of(back)
    assert f"study={run.study_id}" in markup_of(back)


@pytest.mark.slow
def test_no_failed_answer_is_said_before_the_start(open_app, probes, monkeypatch):
    def nobody(*args):
        found = forecast_experiment(*args)
        return replace(found, failed=0, failed_subjects=0, arms=())

    monkeypatch.setattr(forecast, "forecast_experiment", nobody)
    test = open_app(probes[0], PAGE, {"study": probes[1]}).test
    settle(test)
    assert "Choose another rule, place or model." in markup_of(test)
    assert test.button(key="correction_start").disabled


@pytest.mark.slow
def test_a_model_without_an_endpoint_is_said_to_have_none(open_app, tmp_path):
    """Walk B10: once whoever uses a browser was told to edit a file."""
    made = make_store(tmp_path / "own")
    with Store.open(made.folder) as store:
        store.replace([CANDIDATES[0].model_copy(update={"name": "imported-model"})])
    test = open_app(made.folder, PAGE, {"study": made.study.id, "tab": "new"}).test
    settle(test)
    markup = markup_of(test)
    assert "&#x27;imported-model&#x27; can&#x27;t be asked again" in markup
    assert "Open Settings" in markup
    assert test.button(key="correction_start").disabled
    query = {"study": made.study.id, "tab": "one", "sample": made.sample_ids[3]}
    test = open_app(made.folder, PAGE, {**query, "model": made.candidate_ids[0]}).test
    settle(test)
    assert "can&#x27;t be asked again" in markup_of(test)
    assert not has(test.button, "one_start")


@pytest.mark.slow
def test_a_study_without_criteria_offers_what_is_left(open_app, made_outcomes):
    test = open_app(made_outcomes.folder, PAGE, {"study": made_outcomes.study.id}).test
    settle(test)
    assert not test.exception
    assert "no step can be asked about" in markup_of(test)
    assert test.checkbox(key=f"cform_arm_guided_{made_outcomes.study.id}").disabled


@pytest.mark.slow
def test_what_was_tried_on_one_answer_is_shown_again(open_app, done):
    made, _ = done
    query = {"study": made.study.id, "model": made.candidate_ids[0], "tab": "one", "by": "peer"}
    seen = open_app(made.folder, PAGE, {**query, "sample": made.sample_ids[3]})
    assert not seen.test.exception
    assert "After hints by peers: the answer was wrong, and is right." in seen.markup
    assert "data-luck" in seen.markup
    other = open_app(made.folder, PAGE, {**query, "sample": made.sample_ids[2]})
    assert "No new answer yet." in other.markup
    none = open_app(made.folder, PAGE, {"study": made.study.id, "tab": "one"})
    assert "Watch it again" in none.markup


def test_a_study_without_experiments_asks_for_an_answer(open_app, probes):
    query = {"study": f"demo:{probes[1]}", "tab": "one"}
    assert "Choose an answer first" in open_app(None, PAGE, query, probes[0]).markup


@pytest.mark.slow
def test_a_study_that_comes_up_meanwhile_takes_nobodys_place(open_app, probes, tmp_path):
    own = tmp_path / "own"
    test = open_app(own, PAGE, {"tab": "new"}, probes[0]).test
    looked_at = re.search(r'class="step study".*?study=(demo%3A\w+)', markup_of(test))[1]
    make_store(own)
    test.run()
    assert f"study={looked_at}" in markup_of(test)
    assert re.search(r'class="step study".*?study=([\w%]+)', markup_of(test))[1] == looked_at


@pytest.mark.slow
def test_one_answer_is_tried_again_on_demand(open_app, probes, tmp_path):
    own = tmp_path / "own"
    query = {"study": f"demo:{probes[1]}", "tab": "one", "by": "told"}
    with Store.open(probes[0], read_only=True) as store:
        model = next(r.candidate_id for r in store.select(Response) if r.sample_id == probes[2][0])
    query |= {"sample": probes[2][0], "model": model}
    test = open_app(own, PAGE, query, probes[0]).test
    settle(test)
    if not has(test.button, "one_start"):
        assert "only asking about its weakest steps" in markup_of(test)
        test.query_params["by"] = "guided"
        test.run()
        settle(test)
    test.button(key="one_start").click().run()
    settle(test)
    assert not test.exception
    markup = markup_of(test)
    assert "the answer was" in markup
    assert "Tried already" in markup
    assert not test.query_params["study"].startswith("demo:")


@pytest.mark.slow
def test_hints_are_tried_without_the_picture_on_demand(open_app, tmp_path):
    made = make_store(tmp_path / "own")
    hinted = put_experiment(made)
    plain = put_experiment(made, arms=("fresh", "guided"))
    query = {"study": made.study.id, "experiment": hinted.id}
    test = open_app(made.folder, PAGE, query).test
    settle(test)
    assert "Not tried yet." in markup_of(test)
    # Two answers got hints; each is asked with and without them.
    assert "4 calls: free, offline" in markup_of(test)
    test.button(key="gate_start").click().run()
    settle(test)
    assert not test.exception
    assert not has(test.button, "gate_start")
    assert "Too few answers to tell." in markup_of(test)
    assert '<dt class="num">2</dt><dd>answers compared' in markup_of(test)
    assert '<dt class="num">0</dt><dd>answers that can&#x27;t be read by rule' in markup_of(test)
    with Store.open(made.folder) as store:
        assert len(store.select(Call, table(Call).c.task == "blind")) == 4
    other = open_app(made.folder, PAGE, {**query, "experiment": plain.id})
    assert "Do the hints help without the picture?" not in other.markup


@pytest.mark.parametrize(
    ("only_with", "both", "missing", "words"),
    [
        # 6 only with, 0 only without: mid-p = 2 * (1/2 * 2**-6) = 2**-6 = .016.
        (6, 0, 0, "Without the picture the hints alone helped: they may give answers away."),
        (6, 0, 3, "So far: Without the picture the hints alone helped"),
        # 1 only with: mid-p = 2 * (1/2 * 1/2) = .5.
        (1, 9, 0, "No sign that the hints give answers away. Under 400 answers"),
        (0, 400, 0, "No sign that the hints give answers away."),
        (0, 4, 0, "Too few answers to tell."),
        (0, 0, 8, "Not tried yet."),
        (0, 0, 0, "No pair of answers can be read"),
    ],
)
def test_what_the_gate_found_is_said_in_plain_words(only_with, both, missing, words):
    without = np.array([0.0] * only_with + [1.0] * both)
    said = sentence(blind_gate(without, np.ones(only_with + both)), missing=missing)
    assert said.startswith(words)
    assert ("Under 400" in said) == ("No sign" in said and both < 400)


def test_a_stream_is_read_back_by_arm_and_step():
    text = (
        "\x1efresh\x1fretry\x1fThe \x1efresh\x1fretry\x1fbar\x1eguided\x1fscoring\x1f{\x1eno\x1fx"
    )
    assert parse(text) == [("fresh", "retry", "The bar"), ("guided", "scoring", "{")]


def test_failures_has_a_door_to_trying_again(open_app, done):
    made, _ = done
    query = {"study": made.study.id, "sample": made.sample_ids[3], "model": made.candidate_ids[0]}
    seen = open_app(made.folder, "pages/explore/failures.py", query)
    door = re.search(r'<a href="(\./correction\?[^"]*)"[^>]*>Let the model try again', seen.markup)
    asked = query_of(door[1])
    assert asked["tab"] == "one"
    assert asked["sample"] == made.sample_ids[3]


def test_a_start_moves_nobody_who_looks_at_another_study(open_app, done):
    """Walk A4: once a first experiment drew its reader back to its study from any other."""
    made, experiment = done
    seen = open_app(made.folder, PAGE, {"study": made.study.id})
    job = work.start("experiment", lambda: experiment)
    seen.test.session_state[start.STARTING] = ("another study", job)
    seen.test.run()
    assert not seen.test.exception
    assert "experiment" not in seen.test.query_params
    assert start.STARTING in seen.test.session_state


def test_a_start_is_taken_up_whatever_part_is_looked_at(open_app, done):
    """Walk A4: once a start was kept for later when another part was looked at."""
    made, experiment = done
    seen = open_app(made.folder, PAGE, {"study": made.study.id})
    job = work.start("experiment", lambda: experiment)
    seen.test.session_state[start.STARTING] = (made.study.id, job)
    seen.test.run()
    assert not seen.test.exception
    assert seen.test.query_params["experiment"] in (experiment.id[:12], [experiment.id[:12]])
    assert start.STARTING not in seen.test.session_state
