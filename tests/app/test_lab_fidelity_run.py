"""Judge lab, against people: asking by rival methods, rankings from files and from the truth."""

from __future__ import annotations

import html
import re
import shutil
from urllib.parse import parse_qs, urlsplit

import pytest

from atom.engine.consent import ConsentNeeded, ConsentQuestion, give_consent
from atom.engine.control import RunStatus
from atom.engine.studies.new import DEMO_COPY
from atom.methods.registry import ASKED, METHODS
from atom.records import Annotation, Run, Sample, Study
from atom.store import Store
from atom.ui.lab import fidelity_run as lab_fidelity_run
from tests.app.conftest import markup_of
from tests.app.work_store import CANDIDATES, SAMPLES, make_probes_store, settle
from tests.judged import open_judged

PAGE = "pages/trust/judge_lab.py"
TAB = {"tab": lab_fidelity_run.TAB}
CALLS = {
    "pointwise": f"{SAMPLES * CANDIDATES} calls",
    "batch": f"{SAMPLES} calls",
    "scan": f"{SAMPLES} calls, then about {SAMPLES * CANDIDATES}",
    "no_replay": f"{SAMPLES} calls, then about {SAMPLES * CANDIDATES}",
    "no_decomposition": f"{SAMPLES * CANDIDATES} calls",
}


@pytest.fixture(scope="module")
def probes(tmp_path_factory):
    """Return the folder of a synthetic study, its id and its samples."""
    folder = tmp_path_factory.mktemp("people")
    return folder, *make_probes_store(folder)


@pytest.fixture
def own(probes, tmp_path):
    """Return a store of this test alone, its study and samples."""
    folder, study_id, samples = probes
    shutil.copytree(folder, tmp_path / "own")
    return tmp_path / "own", study_id, samples


def has(elements, key: str) -> bool:
    return any(element.key == key for element in elements)


def box(test, name, study_id):
    return test.checkbox(key=f"people_method_{name}_{study_id[:12]}")


@pytest.mark.slow
def test_each_method_tells_its_calls_before_anything_starts(open_app, probes, monkeypatch):
    folder, study_id, _ = probes
    test = open_app(folder, PAGE, TAB).test
    settle(test)
    assert not test.exception
    for name in ASKED:
        label = box(test, name, study_id).label
        assert METHODS[name].about in label
        assert label.endswith(CALLS[name]), label
    # 12 + 6 + (6 + 12) * 2 + 12 calls.
    assert "6 samples: about 66 calls to probe-judge, free, offline." in markup_of(test)
    assert "People have ranked none of them yet" in markup_of(test)
    box(test, "scan", study_id).uncheck()
    box(test, "no_replay", study_id).uncheck().run()
    test.number_input(key=f"people_limit_{study_id[:12]}").set_value(4).run()
    settle(test)
    # 4 samples: 8 + 4 + 8 calls.
    assert "4 samples: 20 calls to probe-judge, free, offline." in markup_of(test)
    asked = []
    monkeypatch.setattr(lab_fidelity_run, "start_work", lambda *given: asked.append(given))
    test.button(key="people_start").click().run()
    assert not test.exception
    (_, spec, _) = asked[0]
    assert spec.methods == ("pointwise", "batch", "no_decomposition")
    assert (spec.study_id, spec.judge, spec.limit, spec.budget) == (
        study_id, "probe-judge", 4, None,
    )  # fmt: skip


@pytest.mark.slow
def test_nothing_ticked_starts_nothing(open_app, probes):
    folder, study_id, _ = probes
    test = open_app(folder, PAGE, TAB).test
    for name in ASKED:
        box(test, name, study_id).uncheck()
    test.run()
    settle(test)
    assert "Tick at least one method." in markup_of(test)
    assert test.button(key="people_start").disabled


@pytest.mark.slow
def test_a_far_host_is_asked_about_first(open_app, own, monkeypatch):
    folder, study_id, _ = own
    question = ConsentQuestion(host="far.example", endpoints=("far",), pictures=6, texts=6)
    started = []

    def start(store, spec, settings):
        del settings
        if "far.example" not in store.get(Study, spec.study_id).consent:
            raise ConsentNeeded([question])
        started.append(spec)

    monkeypatch.setattr(lab_fidelity_run, "start_work", start)
    test = open_app(folder, PAGE, TAB).test
    settle(test)
    test.button(key="people_start").click().run()
    assert "6 pictures and 6 questions with all candidates' answers" in html.unescape(
        markup_of(test)
    )
    assert not started
    assert has(test.button, "consent_yes")
    with Store.open(folder) as store:
        give_consent(store, study_id, ["far.example"])
    test.button(key="people_start").click().run()
    assert [spec.study_id for spec in started] == [study_id]


@pytest.mark.parametrize(("state", "alive"), [("running", True), ("stopped", False)])
def test_a_run_shows_how_far_it_is(open_app, probes, monkeypatch, state, alive):
    folder, study_id, _ = probes
    row = Run(id="r" * 12, study_id=study_id, stages=(), judge="probe-judge", methods=("scan",),
              state=state, total=18, done=6)  # fmt: skip
    known = [RunStatus(run=row, alive=alive)]
    monkeypatch.setattr(lab_fidelity_run, "list_runs", lambda *_: known)
    test = open_app(folder, PAGE, TAB).test
    settle(test)
    assert not test.exception
    assert "6 of 18 questions done" in markup_of(test)
    assert "probe-judge: SCAN adapted" in markup_of(test)
    assert has(test.button, "people_run_stop") == alive
    assert has(test.button, "people_run_resume") != alive
    assert has(test.button, "people_start") != alive


@pytest.mark.slow
def test_a_file_is_looked_at_first_and_then_taken_in(open_app, own):
    folder, study_id, samples = own
    with Store.open(folder) as store:
        source = store.get(Sample, samples[0]).source_id
        names = ("model-a", "model-b")
    text = "sample,candidate,rank,annotator\n"
    text += "".join(f"{source},{name},{at},ann\n" for at, name in enumerate(names, start=1))
    text += f"{source},<b>nobody</b>,1,ann\nlost,model-a,1,ann\n"
    test = open_app(folder, PAGE, TAB).test
    upload = test.file_uploader(key=f"people_files_{study_id[:12]}_0")
    upload.set_value([("r.csv", text.encode(), "text/csv")]).run()
    settle(test)
    markup = markup_of(test)
    assert "4 rows read: 1 ranking or preference of 1 sample by ann can be taken in." in markup
    assert "2 left out, and why" in markup
    assert "&lt;b&gt;nobody&lt;/b&gt;" in markup
    assert "<b>nobody" not in markup
    with Store.open(folder) as store:
        assert store.select(Annotation) == []
    test.button(key="people_take").click().run()
    settle(test)
    assert "Taken in: 1 ranking or preference of 1 sample by ann." in markup_of(test)
    assert has(test.file_uploader, f"people_files_{study_id[:12]}_1")
    with Store.open(folder) as store:
        (label,) = store.select(Annotation)
    assert [one.rank for one in label.ranks] == [1, 2]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"colour,size\nred,3\n", "1 row read: none ranks two answers of this study."),
    ],
)
def test_a_file_without_rankings_says_so(open_app, probes, content, words):
    folder, study_id, _ = probes
    test = open_app(folder, PAGE, TAB).test
    upload = test.file_uploader(key=f"people_files_{study_id[:12]}_0")
    upload.set_value([("r.csv", content, "text/csv")]).run()
    settle(test)
    assert not test.exception
    assert words in markup_of(test)
    assert not has(test.button, "people_take") or test.button(key="people_take").disabled


@pytest.mark.slow
def test_rankings_of_a_synthetic_study_are_planted_once(open_app, own):
    folder, _, _ = own
    test = open_app(folder, PAGE, TAB).test
    settle(test)
    test.button(key="people_plant").click().run()
    settle(test)
    assert "Taken in: 6 rankings or preferences of 6 samples by planted people." in markup_of(test)
    assert test.button(key="people_plant").disabled
    assert "People have ranked 6 of them." in markup_of(test)
    with Store.open(folder) as store:
        assert {row.note.split(":")[0] for row in store.select(Annotation)} == {"synthetic"}


@pytest.mark.slow
def test_a_sealed_study_is_copied_first(open_app, probes, tmp_path):
    folder, study_id, _ = probes
    mine = tmp_path / "mine"
    test = open_app(mine, PAGE, TAB, demo=folder).test
    settle(test)
    assert not test.exception
    assert not has(test.button, "people_start")
    assert not has(test.button, "people_plant")
    assert test.button(key="people_copy").label == "Make a copy of my own"
    test.button(key="people_copy").click().run()
    settle(test)
    with Store.open(mine) as store:
        (copy,) = store.select(Study)
    assert (copy.name, copy.copied_from) == (DEMO_COPY, study_id)
    again = open_app(mine, PAGE, {**TAB, "study": copy.id}, demo=folder).test
    settle(again)
    assert has(again.button, "people_start")


@pytest.mark.slow
def test_a_share_opens_the_pairs_behind_it(open_app, tmp_path):
    with open_judged(tmp_path / "judged"):
        pass
    test = open_app(tmp_path / "judged", PAGE, TAB).test
    settle(test)
    doors = re.findall(r'href="(\./judge-lab\?[^"]*of=methods[^"]*)"', markup_of(test))
    assert doors
    query = parse_qs(urlsplit(html.unescape(doors[0])).query)
    asked = {key: values[-1] for key, values in query.items()} | {"verdict": "wrong"}
    test = open_app(tmp_path / "judged", PAGE, asked).test
    assert not test.exception
    shown = markup_of(test)
    # 17 of 72 pairs: 1 - 53 / 72 - 2 unread.
    assert "is wrong on 17 of 72 items, and right on 53" in shown
    assert "People together" in shown
    assert "failures?" in shown
