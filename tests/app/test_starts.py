"""The one button that starts a run: the next look, and whether the judge looks."""

from __future__ import annotations

import pytest

from atom.records import SHOWN, Run, StudyTask
from atom.ui import work
from tests.app.conftest import markup_of
from tests.app.work_store import make_probes_store, settle

RUN = Run(id="any", study_id="any", task=StudyTask(kind="study", stages=("scoring",)))


@pytest.fixture(scope="module")
def probes(tmp_path_factory):
    """Return the folder of a synthetic study and its id."""
    folder = tmp_path_factory.mktemp("starts")
    study, _ = make_probes_store(folder)
    return folder, study


@pytest.fixture
def started(monkeypatch):
    """Keep what is started, without starting it."""
    specs = []
    monkeypatch.setattr(work, "start_work", lambda _, spec, *__, **___: specs.append(spec) or RUN)
    return specs


@pytest.mark.slow
def test_the_next_look_is_taken_at_its_price(open_app, probes, started):
    folder, study = probes
    test = open_app(folder, "pages/run/runs.py", {"study": study}).test
    test.selectbox(key=f"form_judge_{study}").set_value("probe-judge-noisy").run()
    test.toggle(key="settle_on_runs").set_value(True).run()
    settle(test)
    assert "Look 1:" in markup_of(test)
    test.button(key="settle_start").click().run()
    assert not test.exception
    (spec,) = started
    assert (spec.judge, spec.look.number) == ("probe-judge-noisy", 1)
    # The form hides while a run works; this is how it comes back.
    kept = test.session_state["settle_kept"]
    assert (kept["settle_on_runs"], kept["settle_goal"]) == (True, "Which weaknesses")


@pytest.mark.slow
def test_a_judge_is_asked_whether_it_looks(open_app, probes, started):
    folder, study = probes
    test = open_app(folder, "pages/trust/judge_lab.py", {"study": study, "tab": "sight"}).test
    assert "No judge was asked with and without the picture yet" in markup_of(test)
    test.selectbox(key="sight_judge").set_value("probe-judge-sighted").run()
    settle(test)
    assert "calls, free" in markup_of(test)
    test.button(key="sight_start").click().run()
    assert not test.exception
    (spec,) = started
    assert (spec.judge, spec.shown) == ("probe-judge-sighted", SHOWN)
    assert "sight" in test.query_params["tab"]
