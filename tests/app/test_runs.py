"""Runs: what a run would cost, starting one, watching it, and what came before."""

from __future__ import annotations

import shutil
import time

import pytest

from atom.engine.control import list_runs
from atom.records import Run, Sampling, Study, StudyTask
from atom.store import Store, table
from atom.ui import work
from atom.ui.runs import panel as judges_panel
from tests.app.conftest import markup_of
from tests.app.screen_store import HOSTILE, make_store
from tests.app.work_store import make_probes_store, settle

PAGE = "pages/run/runs.py"
RUN = Run(id="any", study_id="any", task=StudyTask(kind="study", stages=("scoring",)))


@pytest.fixture(scope="session")
def probes(tmp_path_factory):
    """Return the folder of a synthetic study, its id and its samples."""
    folder = tmp_path_factory.mktemp("probes")
    return folder, *make_probes_store(folder)


@pytest.fixture
def own(probes, tmp_path):
    """Return a store of one's own with that study, and no runs."""
    folder = tmp_path / "own"
    shutil.copytree(probes[0], folder)
    with Store.open(folder) as store, store.write() as writer:
        writer.delete(Run, table(Run).c.study_id == probes[1])
    return folder


def has(elements, key: str) -> bool:
    """Say whether there is an element with this key."""
    return any(element.key == key for element in elements)


def put_run(folder, study: str, **values) -> None:
    with Store.open(folder) as store:
        base = {
            "id": "run-1",
            "study_id": study,
            "stages": ("scoring",),
            "judge": "probe-judge",
            "state": "done",
            "created": "2026-01-02T03:04:05+00:00",
            "done": 10,
            "total": 10,
        }
        store.put([Run(**(base | values))])


@pytest.mark.slow
def test_a_study_without_runs_says_what_to_do(open_app, own, probes):
    seen = open_app(own, PAGE, {"study": probes[1]})
    settle(seen.test)
    assert not seen.test.exception
    markup = markup_of(seen.test)
    assert "Nothing has run in this study yet." in markup
    assert "Nothing is left to do" in markup
    assert seen.test.button(key="run_start").disabled


@pytest.mark.slow
def test_calls_and_price_stand_there_before_the_start(open_app, own, probes):
    test = open_app(own, PAGE, {"study": probes[1]}).test
    test.selectbox(key=f"form_judge_{probes[1]}").set_value("probe-judge-noisy").run()
    settle(test)
    markup = markup_of(test)
    assert "12 calls on 6 samples" in markup
    assert "free, offline" in markup
    assert not test.button(key="run_start").disabled


@pytest.mark.slow
def test_a_run_starts_goes_on_by_itself_and_ends(open_app, own, probes, monkeypatch):
    test = open_app(own, PAGE, {"study": probes[1]}).test
    test.selectbox(key=f"form_judge_{probes[1]}").set_value("probe-judge-noisy").run()
    settle(test)
    test.button(key="run_start").click().run()
    assert not test.exception
    with Store.open(own) as store:
        end = time.monotonic() + 60
        while list_runs(store)[0].alive and time.monotonic() < end:
            time.sleep(0.2)
        run = list_runs(store)[0].run
    assert run.state == "done"
    assert run.done == run.total == 12
    settle(test)
    markup = markup_of(test)
    assert "12 of 12 · nothing spent" in markup
    assert "All runs of this study (1)" in markup


@pytest.mark.slow
def test_how_many_processes_and_where_is_chosen_on_the_form(open_app, own, probes, monkeypatch):
    started = []

    def start(store, spec, settings, *, processes, executor):
        started.append((processes, executor and executor.address))
        return RUN

    monkeypatch.setattr(work, "start_work", start)
    monkeypatch.setenv("ATOM_CLUSTER", "http://127.0.0.1:9")
    test = open_app(own, PAGE, {"study": probes[1]}).test
    test.selectbox(key=f"form_judge_{probes[1]}").set_value("probe-judge-noisy").run()
    test.number_input(key=f"form_processes_{probes[1]}").set_value(3).run()
    settle(test)
    test.button(key="run_start").click().run()
    where = test.selectbox(key=f"form_cluster_{probes[1]}")
    assert where.options == ["On this computer", "On the cluster"]
    where.set_value(True).run()
    settle(test)
    test.button(key="run_start").click().run()
    assert started == [(3, None), (3, "http://127.0.0.1:9")]


@pytest.mark.slow
def test_further_judges_mark_after_their_price_is_shown(open_app, own, probes, monkeypatch):
    test = open_app(own, PAGE, {"study": probes[1]}).test
    test.toggle(key=f"panel_on_{probes[1]}").set_value(True).run()
    chosen = test.multiselect(key="panel_judges")
    assert "probe-judge" not in chosen.options  # the study's own
    chosen.set_value(["probe-judge-noisy", "probe-judge-coin"]).run()
    test.number_input(key="panel_samples").set_value(4).run()
    settle(test)
    # Two models answered each of six samples: 8 answers on 4 of them, for each of two judges.
    assert "Together 16 calls" in markup_of(test)
    started = []
    monkeypatch.setattr(judges_panel, "start_work", lambda _, spec, __: started.append(spec) or RUN)
    test.button(key="panel_start").click().run()
    assert [(one.judge, one.limit, one.at_random) for one in started] == [
        ("probe-judge-noisy", 4, True), ("probe-judge-coin", 4, True)]  # fmt: skip


@pytest.mark.slow
def test_an_impossible_form_is_said_before_anything_is_counted(open_app, own, probes):
    test = open_app(own, PAGE, {"study": probes[1]}).test
    key = f"form_stages_{probes[1]}"
    pills = next(element for element in test.pills if element.key == key)
    pills.set_value([]).run()
    assert "Choose at least one stage." in markup_of(test)
    assert not has(test.button, "run_start")


def test_states_and_messages_of_past_runs_are_shown(open_app, own, probes):
    put_run(own, probes[1], state="stopped", done=4, failed=2, unscored=1, message=HOSTILE)
    seen = open_app(own, PAGE, {"study": probes[1]})
    assert not seen.test.exception
    assert "4 of 10 done" in seen.markup
    assert "2 failed" in seen.markup
    assert "1 unscored" in seen.markup
    assert "<script>window.pwned" not in seen.markup
    assert has(seen.test.button, "run_resume")
    assert has(seen.test.button, "run_retry")
    assert not has(seen.test.button, "run_stop")


def test_a_run_that_has_not_counted_yet_says_no_number(open_app, own, probes):
    put_run(own, probes[1], state="running", done=0, total=0)
    seen = open_app(own, PAGE, {"study": probes[1]})
    assert "Runs of this study" in seen.markup
    assert "0 of 0" not in seen.markup


@pytest.mark.slow
def test_a_run_whose_process_is_gone_can_be_resumed(open_app, own, probes):
    put_run(own, probes[1], state="running", done=4, heartbeat="2026-01-02T03:04:05+00:00")
    seen = open_app(own, PAGE, {"study": probes[1]})
    assert "the process that ran it ended" in seen.markup
    assert has(seen.test.button, "run_resume")


@pytest.mark.slow
def test_a_run_that_works_can_be_stopped(open_app, own, probes):
    """Walk B5: once Stop took eight seconds without a sign."""
    now = time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(time.time() + 30))
    put_run(own, probes[1], state="running", done=4, heartbeat=now)
    test = open_app(own, PAGE, {"study": probes[1]}).test
    test.button(key="run_stop").click().run()
    assert not test.exception
    with Store.open(own) as store:
        assert store.get(Run, "run-1").state == "stopping"
    assert "calls in flight end first" in markup_of(test)


@pytest.mark.slow
def test_a_link_opens_one_run(open_app, own, probes):
    put_run(own, probes[1])
    put_run(own, probes[1], id="run-2", created="2026-02-02T03:04:05+00:00", done=3, total=7)
    seen = open_app(own, PAGE, {"study": probes[1], "run": "run-1"})
    assert "10 of 10 · " in seen.markup
    assert "3 of 7 · " not in seen.markup
    seen = open_app(own, PAGE, {"study": probes[1], "run": "nonsense"})
    assert "3 of 7 · " in seen.markup


@pytest.mark.slow
def test_the_bundled_study_is_copied_first(open_app, probes, tmp_path):
    test = open_app(page=PAGE, query={"study": f"demo:{probes[1]}"}, demo=probes[0]).test
    assert "The bundled study is sealed" in markup_of(test)
    test.button(key="runs_copy").click().run()
    settle(test)
    assert not test.exception
    assert "Nothing has run in this study yet." in markup_of(test)
    assert "Demo (yours)" in markup_of(test)


@pytest.mark.slow
def test_a_far_judge_is_asked_about_first(open_app, own, probes, tmp_path, monkeypatch):
    file = tmp_path / "endpoints.yaml"
    file.write_text("- {name: far, base_url: 'https://far.example/v1', model: m}\n")
    monkeypatch.setenv("ATOM_ENDPOINTS", str(file))
    test = open_app(own, PAGE, {"study": probes[1]}).test
    test.selectbox(key=f"form_judge_{probes[1]}").set_value("far").run()
    settle(test)
    assert "price unknown, to far.example" in markup_of(test)
    test.button(key="run_start").click().run()
    assert has(test.button, "consent_yes")
    with Store.open(own) as store:
        assert list_runs(store) == []
    assert work.jobs().running() == []


@pytest.mark.slow
def test_a_study_without_samples_leads_on(open_app, tmp_path):
    made = make_store(tmp_path / "made", judged=False)
    with Store.open(made.folder) as store:
        store.put([made.study.model_copy(update={"id": "empty", "name": "Empty"})])
    seen = open_app(made.folder, PAGE, {"study": "empty"})
    assert not seen.test.exception
    assert "This study has no samples yet" in seen.markup


def test_no_study_at_all(open_app):
    seen = open_app(page=PAGE)
    assert not seen.test.exception
    assert "There is no study yet" in seen.markup


def field(test, kind: str, name: str):
    """Return the field of the sampling settings whose key ends so."""
    return next(one for one in getattr(test, kind) if (one.key or "").endswith(name))


@pytest.mark.slow
def test_a_run_sets_the_studys_sampling(open_app, own, probes):
    test = open_app(own, PAGE, {"study": probes[1]}).test
    settle(test)
    field(test, "number_input", "answer_temperature").set_value(0.2).run()
    test.multiselect(key=f"form_candidates_{probes[1]}").set_value(["model-a"]).run()
    test.number_input(key=f"form_answer_repeats_{probes[1]}").set_value(2).run()
    settle(test)
    markup = markup_of(test)
    # The six answers of each of two models were given at 0.7.
    assert "12 answers given under the old ones won&#x27;t count in it" in markup
    assert not test.exception
    test.button(key="run_start").click().run()
    assert not test.exception
    with Store.open(own) as store:
        end = time.monotonic() + 90
        while list_runs(store)[0].alive and time.monotonic() < end:
            time.sleep(0.2)
        run = list_runs(store)[0].run
        study = store.get(Study, probes[1])
    assert (run.state, run.task.answer_repeats) == ("done", 2)
    assert run.task.answer_sampling == study.answer_sampling == Sampling(temperature=0.2)
    assert study.judge_sampling == Sampling(temperature=0.0)


@pytest.mark.slow
def test_repeats_at_temperature_0_are_warned_of(open_app, own, probes):
    test = open_app(own, PAGE, {"study": probes[1]}).test
    test.number_input(key=f"form_repeats_{probes[1]}").set_value(3).run()
    settle(test)
    assert "At temperature 0 scoring an answer again sends the same request" in markup_of(test)
    field(test, "number_input", "judge_temperature").set_value(0.7).run()
    settle(test)
    assert "sends the same request" not in markup_of(test)


@pytest.mark.slow
def test_unscored_items_can_be_asked_again_and_no_price_is_made_up(open_app, own, probes):
    """Walk A3: once "nothing spent" stood beside calls of an unknown price."""
    (own / "endpoints.yaml").write_text(
        "- {name: mine, base_url: 'http://127.0.0.1:9/v1', model: m}\n", encoding="utf-8"
    )
    put_run(own, probes[1], unscored=3, judge="mine")
    seen = open_app(own, PAGE, {"study": probes[1]})
    assert has(seen.test.button, "run_unscored")
    assert "price unknown" in seen.markup
    assert "nothing spent" not in seen.markup
