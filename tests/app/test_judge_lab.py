"""Judge lab: sets, figures beside chance, asking a judge, replies, files, and printed figures."""

from __future__ import annotations

import html
import re

import pytest

from atom.engine.consent import ConsentNeeded, ConsentQuestion
from atom.judgebench.registry import BENCHES
from atom.probes.bench.registry import MAKERS
from atom.records import BenchItem, BenchSet, Run, Verdict
from atom.store import Store
from atom.ui.lab.bench import asking
from tests.app.conftest import markup_of
from tests.app.lab_store import ITEMS, NAME, TOY, make_files, make_set
from tests.app.screen_store import HOSTILE, make_store
from tests.app.work_store import settle

PAGE = "pages/trust/judge_lab.py"
TAB = {"tab": NAME}
RIGHT, COIN, WRONG = ["a"] * ITEMS, ["a", "b"] * (ITEMS // 2), ["b"] * ITEMS


@pytest.fixture(autouse=True)
def toy(monkeypatch):
    """Register the tiny benchmark."""
    monkeypatch.setitem(BENCHES, NAME, TOY)
    monkeypatch.setitem(MAKERS, NAME, make_files)


def words(markup: str) -> str:
    return html.unescape(markup)


def rows_of(folder, kind):
    with Store.open(folder) as store:
        return store.select(kind)


# --- states -------------------------------------------------------------------------------------


def test_without_a_study_the_benchmarks_open(open_app, tmp_path):
    seen = open_app(None, PAGE)
    assert not seen.test.exception
    assert "There is no study yet" not in seen.markup
    for bench in BENCHES.values():
        assert bench.title in words(seen.markup)


def test_no_set_says_how_to_get_one(open_app, tmp_path):
    seen = open_app(tmp_path / "own", PAGE, TAB)
    assert not seen.test.exception
    assert "No Toy bench data yet" in seen.markup
    assert TOY.about in seen.markup
    assert seen.test.button(key="lab_make").label == "Make 60 items from probes"
    assert seen.test.button(key="lab_look")


def test_a_set_without_verdicts_offers_to_ask(open_app, tmp_path):
    make_set(tmp_path)
    test = open_app(tmp_path, PAGE, TAB).test
    settle(test)
    markup = markup_of(test)
    assert not test.exception
    assert "Nobody has judged this set yet." in markup
    assert "SYNTHETIC" in markup
    assert f"{ITEMS} items: {ITEMS} calls to probe-judge, free, offline." in markup
    assert not test.button(key="lab_start").disabled


def test_finished_judges_stand_side_by_side_with_chance(open_app, tmp_path):
    make_set(tmp_path, {"good": RIGHT, "coin": COIN, "upside": WRONG}, synthetic=False)
    seen = open_app(tmp_path, PAGE, {**TAB, "who": "good"})
    markup = words(seen.markup)
    assert not seen.test.exception
    # Wilson's interval of 12 in 12 begins at 12 / (12 + 1.96^2) = 75.75 %.
    assert "is better than guessing: accuracy 100.0 (75.8–100.0); guessing gives 50.0, n = 12." in (
        markup
    )
    assert "like guessing" in markup
    assert "below guessing" in markup
    assert markup.count("guessing gives 50.0") >= 4  # the sentence and each bar's label
    assert "By half (2)" in markup
    assert "data:text/csv" in markup
    assert "SYNTHETIC" not in markup


def test_the_link_names_set_and_judge(open_app, tmp_path):
    record = make_set(tmp_path, {"good": RIGHT, "upside": WRONG}, synthetic=False)
    make_set(tmp_path, name="Other")
    query = {**TAB, "set": record.id[:12], "who": "upside-id"}
    seen = open_app(tmp_path, PAGE, query)
    assert "upside</span> is worse than guessing" in seen.markup
    assert f"set={record.id[:12]}&amp;who=good-id" in seen.markup
    assert "Other sets:" in seen.markup


def test_a_link_to_a_set_that_is_gone_says_so(open_app, tmp_path):
    make_set(tmp_path)
    seen = open_app(tmp_path, PAGE, {**TAB, "set": "nowhere"})
    assert "The link names a set that isn't in your store" in words(seen.markup)


def test_unread_replies_are_counted_both_ways(open_app, tmp_path):
    make_set(tmp_path, {"mumbles": ["a"] * 6 + [""] * 3})
    markup = words(open_app(tmp_path, PAGE, TAB).markup)
    # 9 of 12 items answered; 3 of the 9 unread: 6/9 strict, 6/6 readable only.
    assert "3 replies unread" in markup
    assert "3 items of 12 have no verdict yet" in markup
    assert "66.7" in markup
    assert "3 (33 %)" in markup
    for rule in ("strict", "readable only"):
        assert f">{rule}</span>" in markup


def test_files_and_names_are_hostile(open_app, tmp_path):
    make_set(tmp_path, {HOSTILE: RIGHT}, name=HOSTILE, skipped=(HOSTILE,))
    seen = open_app(tmp_path, PAGE, TAB)
    assert not seen.test.exception
    assert "<script" not in seen.markup
    assert "<img" not in seen.markup


@pytest.mark.slow
def test_without_a_store_of_ones_own_the_first_set_makes_one(open_app, tmp_path, made):
    own = tmp_path / "own"
    test = open_app(own, PAGE, TAB, demo=made.folder).test
    test.button(key="lab_make").click().run()
    settle(test)
    assert not test.exception
    assert [row.n_items for row in rows_of(own, BenchSet)] == [60]
    assert rows_of(made.folder, BenchSet) == []
    assert "Nobody has judged this set yet." in markup_of(test)


@pytest.mark.slow
def test_the_lab_begins_with_a_verdict_and_old_links_open_their_part(open_app, made):
    """Walk B11: once six bullets and eight tabs held no verdict."""
    seen = open_app(made.folder, PAGE)
    assert not seen.test.exception
    assert 'data-testid="lab-verdict"' in seen.markup
    assert "isn’t known yet" in seen.markup
    assert ">All judges</h2>" in seen.markup
    assert "judge calibrate" in seen.markup
    # A newcomer has no terminal: a button leads to the same, and words say what it does.
    assert "Let it score answers about test pictures whose truth is known" in seen.markup
    assert re.search(r"tab=calibration[^>]*>Calibrate on test pictures</a>", seen.markup)
    current = re.compile(r'<a href="[^"]*tab=(\w+)" data-go aria-current="true">([^<]*)</a>')
    assert current.findall(seen.markup) == [("verdict", "Verdict")]
    seen = open_app(made.folder, PAGE, {"tab": "people"})
    assert [name for _, name in current.findall(seen.markup)] == ["In this study", "Against people"]


# --- asking -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_run_starts_with_what_the_form_says(open_app, tmp_path, monkeypatch):
    record = make_set(tmp_path)
    asked = []
    monkeypatch.setattr(asking, "start_work", lambda _, spec, __: asked.append(spec))
    test = open_app(tmp_path, PAGE, TAB).test
    settle(test)
    test.number_input(key=f"lab_votes_{record.id[:12]}").set_value(5).run()
    test.number_input(key=f"lab_limit_{record.id[:12]}").set_value(4).run()
    settle(test)
    assert "4 items: 4 calls to probe-judge" in markup_of(test)
    test.button(key="lab_start").click().run()
    (spec,) = asked
    assert (spec.judge, spec.votes, spec.limit, spec.parts) == ("probe-judge", 5, 4, ("pair",))


def test_nothing_is_sent_before_somebody_agrees(open_app, tmp_path, monkeypatch):
    record = make_set(tmp_path)

    def start(store, spec, settings):
        if "far.example" not in store.get(BenchSet, spec.set_id).consent:
            question = ConsentQuestion(host="far.example", endpoints=("far",), pictures=3, texts=12)
            raise ConsentNeeded([question])

    monkeypatch.setattr(asking, "start_work", start)
    test = open_app(tmp_path, PAGE, TAB).test
    settle(test)
    test.button(key="lab_start").click().run()
    assert "3 pictures and 12 questions with their answers would be sent to far.example" in (
        markup_of(test)
    )
    assert rows_of(tmp_path, BenchSet)[0].consent == ()
    test.button(key="lab_consent_yes").click().run()
    assert not test.exception
    with Store.open(tmp_path) as store:
        assert store.get(BenchSet, record.id).consent == ("far.example",)


def test_a_stopped_run_can_be_resumed(open_app, tmp_path):
    record = make_set(tmp_path, {"good": RIGHT[:5]})
    run = Run(id="run-1", study_id=record.id, bench_set_id=record.id, stages=(), methods=("pair",),
              judge="probe-judge", state="stopped", created="2026-01-02T03:04:05+00:00", done=5,
              total=12)  # fmt: skip
    with Store.open(tmp_path) as store:
        store.put([run])
    test = open_app(tmp_path, PAGE, TAB).test
    settle(test)
    assert "5 of 12 verdicts done" in markup_of(test)
    assert "Judge benchmark: pair" in markup_of(test)
    assert test.button(key="lab_run_resume")


# --- data in and out ----------------------------------------------------------------------------


@pytest.mark.slow
def test_files_are_looked_at_before_they_are_taken_in(open_app, tmp_path):
    path = tmp_path / "files" / "letters.jsonl"
    path.parent.mkdir()
    path.write_text('{"best": "a"}\n{"best": "b"}\nbroken\n', encoding="utf-8")
    own = tmp_path / "own"
    test = open_app(own, PAGE, TAB).test
    test.text_area(key=f"lab_paths_{NAME}").set_value(str(path.parent)).run()
    test.text_area(key=f"lab_columns_{NAME}").set_value("better = best").run()
    test.button(key="lab_look").click().run()
    settle(test)
    markup = words(markup_of(test))
    assert "2 items can be taken in." in markup
    assert "letters.jsonl line 3: no 'best'" in markup
    assert not own.exists()
    test.button(key="lab_take").click().run()
    settle(test)
    (record,) = rows_of(own, BenchSet)
    assert (record.name, record.n_items, record.synthetic) == ("letters", 2, False)


def test_a_wrong_path_keeps_what_was_typed(open_app, tmp_path):
    test = open_app(tmp_path / "own", PAGE, TAB).test
    test.button(key="lab_look").click().run()
    assert "choose the benchmark's files first" in words(markup_of(test))
    test.text_area(key=f"lab_paths_{NAME}").set_value("/no/such/place").run()
    test.button(key="lab_take").click().run()
    assert "there is no file or folder '/no/such/place'" in words(markup_of(test))
    assert test.text_area(key=f"lab_paths_{NAME}").value == "/no/such/place"


@pytest.mark.slow
def test_replies_made_elsewhere_are_scored(open_app, tmp_path):
    record = make_set(tmp_path, synthetic=False)
    test = open_app(tmp_path, PAGE, TAB).test
    test.button(key="lab_reply_score").click().run()
    assert "Choose the file that holds the replies first." in markup_of(test)
    uploads = [one for one in test.file_uploader if one.key == "lab_reply_files"]
    uploads[0].upload("replies.txt", " ".join(RIGHT).encode()).run()
    test.text_input(key="lab_reply_name").set_value("elsewhere").run()
    test.button(key="lab_reply_score").click().run()
    settle(test)
    markup = words(markup_of(test))
    assert "elsewhere</span> is better than guessing" in markup
    assert "Its replies were made elsewhere." in markup
    assert {row.group for row in rows_of(tmp_path, Verdict)} == {record.id}


@pytest.mark.slow
def test_a_set_is_deleted_after_a_question(open_app, tmp_path):
    make_set(tmp_path, {"good": RIGHT})
    test = open_app(tmp_path, PAGE, TAB).test
    test.button(key="lab_delete").click().run()
    assert "All verdicts on it go, too" in markup_of(test)
    assert rows_of(tmp_path, BenchSet)
    test.button(key="lab_delete_yes").click().run()
    assert "No Toy bench data yet" in markup_of(test)
    for kind in (BenchSet, BenchItem, Verdict):
        assert rows_of(tmp_path, kind) == []


# --- the papers' models -------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("synthetic", [True, False])
def test_the_judge_stands_among_the_papers_models(open_app, tmp_path, monkeypatch, synthetic):
    bench = BENCHES.get("vl_rewardbench", TOY)
    monkeypatch.setitem(BENCHES, "vl_rewardbench", TOY.__class__(
        **{**TOY.__dict__, "name": "vl_rewardbench", "title": bench.title}))  # fmt: skip
    record = make_set(tmp_path, {"good": RIGHT}, synthetic=synthetic)
    with Store.open(tmp_path) as store:
        store.replace([record.model_copy(update={"benchmark": "vl_rewardbench"})])
    markup = words(open_app(tmp_path, PAGE, {"tab": "vl_rewardbench"}).markup)
    assert "here 100.0 (75.8–100.0): place 1 of 17" in markup
    assert "Gemini-1.5-Pro (2024-09-24) 62.5" in markup
    assert ("NOT THEIR DATA" in markup) == synthetic


def test_printed_figures_come_with_their_errata(open_app, tmp_path):
    seen = open_app(tmp_path / "own", PAGE, {"tab": "published"})
    markup = words(seen.markup)
    assert not seen.test.exception
    assert "65.8 printed, 65.629 recomputed" in markup
    assert "VL-RewardBench: 14 figures that another one contradicts" in markup
    assert "4 of 16" in markup


@pytest.mark.slow
def test_runs_leads_to_the_runs_that_belong_to_no_study(open_app, tmp_path):
    folder = make_store(tmp_path / "own").folder
    record = make_set(folder)
    with Store.open(folder) as store:
        store.put([Run(id="run-1", study_id=record.id, bench_set_id=record.id, stages=(),
                       methods=("pair",), judge="j", state="done",
                       created="2026-01-02T03:04:05+00:00")])  # fmt: skip
    markup = words(open_app(folder, "pages/run/runs.py").markup)
    assert "1 run of a judge benchmark in this store" in markup
    assert "./judge-lab?" in markup
