"""Live replay: pick or bring a question, take the steps, edit, score, save."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from atom.records import CriteriaSet, Response, Sample, StudySample
from atom.stages import replay
from atom.store import Store, list_studies
from atom.ui import work
from tests.app.conftest import markup_of
from tests.app.screen_store import HOSTILE
from tests.app.work_store import make_probes_store, settle

PAGE = "pages/run/replay.py"


@pytest.fixture(scope="session")
def probes(tmp_path_factory):
    """Return the folder of a synthetic study, its id and its samples."""
    folder = tmp_path_factory.mktemp("probes")
    return folder, *make_probes_store(folder)


@pytest.fixture
def bench(open_app, probes):
    """Open the page on a bundled study's sample: (sample=0) -> the harness."""
    folder, study, samples = probes

    def open_(sample: int = 0, **query: str):
        chosen = {"study": f"demo:{study}", "sample": samples[sample], **query}
        return open_app(page=PAGE, query=chosen, demo=folder).test

    return open_


def by_key(elements, start: str):
    """Return the elements whose key begins so."""
    return [element for element in elements if (element.key or "").startswith(start)]


def one(elements, start: str):
    """Return the only element whose key begins so."""
    found = by_key(elements, start)
    assert len(found) == 1, [element.key for element in elements]
    return found[0]


def has(elements, key: str) -> bool:
    """Say whether there is an element with this key."""
    return any(element.key == key for element in elements)


def take_all(test):
    test.button(key="run_all").click().run()
    settle(test)
    assert not test.exception


@pytest.mark.slow
def test_a_price_stands_before_each_step(bench):
    test = bench()
    assert not test.exception
    markup = markup_of(test)
    assert "free, offline" in markup or "the stored reply is used again" in markup
    assert "needs the judge&#x27;s solution" in markup
    assert not test.button(key="take_replay").disabled
    assert test.button(key="take_criteria").disabled
    assert test.button(key="take_scoring").disabled


def test_without_a_choice_the_first_sample_is_judged(open_app, probes):
    folder, study, _ = probes
    test = open_app(page=PAGE, query={"study": f"demo:{study}"}, demo=folder).test
    assert not test.exception
    assert has(test.button, "run_all")


@pytest.mark.slow
def test_steps_are_taken_one_by_one(bench):
    test = bench()
    test.button(key="take_replay").click().run()
    settle(test)
    assert "Final answer: " in markup_of(test)
    assert not has(test.button, "take_replay")
    test.button(key="take_criteria").click().run()
    settle(test)
    questions = by_key(test.text_area, "question_")
    assert 2 <= len(questions) <= 8
    test.button(key="take_mapping").click().run()
    settle(test)
    assert all(box.value for box in by_key(test.selectbox, "leaf_"))
    test.button(key="take_scoring").click().run()
    settle(test)
    assert "weighted mean" in markup_of(test)
    assert not test.exception


@pytest.mark.slow
def test_all_steps_run_one_after_the_other(bench):
    test = bench()
    take_all(test)
    markup = markup_of(test)
    assert "All steps are done." in markup
    assert markup.count('class="score"') == len(by_key(test.text_area, "question_"))
    assert "weights total" in markup


@pytest.mark.slow
def test_an_edited_criterion_alone_is_scored_anew(bench):
    test = bench()
    take_all(test)
    count = len(by_key(test.text_area, "question_"))
    by_key(test.text_input, "truth_")[0].set_value("purple").run()
    markup = markup_of(test)
    assert "Edited by hand." in markup
    assert f"{count - 1} scored, 1 to be scored" in markup
    assert test.button(key="take_scoring").label == "Score 1 criterion"
    test.button(key="edit_undo").click().run()
    assert f"{count} scored" in markup_of(test)
    assert not has(test.button, "take_scoring")


@pytest.mark.slow
def test_criteria_are_added_dropped_and_moved_and_weights_brought_to_ten(bench):
    test = bench()
    take_all(test)
    before = [box.value for box in by_key(test.text_area, "question_")]
    by_key(test.button, "down_")[0].click().run()
    moved = [box.value for box in by_key(test.text_area, "question_")]
    assert moved[:2] == [before[1], before[0]]
    by_key(test.button, "drop_")[-1].click().run()
    assert len(by_key(test.text_area, "question_")) == len(before) - 1
    test.button(key="edit_balance").click().run()
    assert sum(box.value for box in by_key(test.number_input, "weight_")) == 10
    test.button(key="edit_add").click().run()
    assert "has no question" in markup_of(test)
    added = by_key(test.text_area, "question_")[-1]
    added.set_value(HOSTILE).run()
    by_key(test.text_input, "truth_")[-1].set_value("yes").run()
    assert not test.exception
    assert "<script>window.pwned" not in markup_of(test)
    settle(test)
    test.button(key="take_scoring").click().run()
    settle(test)
    assert "unscored: not covered" in markup_of(test)


@pytest.mark.slow
def test_a_typed_answer_is_scored(bench):
    test = bench()
    take_all(test)
    one(test.segmented_control, "answer_mode_").set_value("type").run()
    one(test.text_area, "answer_text_").set_value(f"{HOSTILE} I can't tell.\nAnswer: 3").run()
    test.button(key="use_typed").click().run()
    assert "typed by hand" in markup_of(test)
    test.button(key="take_scoring").click().run()
    settle(test)
    assert "weighted mean" in markup_of(test)
    assert "<script>window.pwned" not in markup_of(test)
    assert not test.exception


@pytest.mark.slow
def test_a_model_is_asked_now(bench):
    test = bench()
    one(test.segmented_control, "answer_mode_").set_value("ask").run()
    test.button(key="take_answer").click().run()
    settle(test)
    assert "model-a" in markup_of(test)
    assert not has(test.button, "take_answer")


@pytest.mark.slow
def test_what_was_made_is_saved_into_a_copy_of_the_bundled_study(bench, probes, tmp_path):
    test = bench(1)
    take_all(test)
    by_key(test.text_input, "truth_")[0].set_value("purple").run()
    test.button(key="take_scoring").click().run()
    settle(test)
    test.button(key="save_now").click().run()
    settle(test)
    markup = markup_of(test)
    assert "Saved into" in markup
    assert "Demo (yours)" in markup
    assert f"sample={probes[2][1]}" in markup
    with Store.open(tmp_path / "nothing") as store:
        copy = list_studies(store)[0]
        assert copy.copied_from == probes[1]
        place = store.get(StudySample, copy.id, probes[2][1])
        kept = store.get(CriteriaSet, place.criteria_set_id)
    assert kept.source == "hand"
    assert sum(use.weight for use in kept.uses) == 10


@pytest.mark.slow
def test_a_new_study_needs_a_free_name(bench, tmp_path):
    test = bench()
    take_all(test)
    one(test.selectbox, "save_to_").set_value("new").run()
    test.button(key="save_now").click().run()
    settle(test)
    assert "Nothing was saved" in markup_of(test)
    test.text_input(key="save_name").set_value("Mine").run()
    test.button(key="save_now").click().run()
    settle(test)
    assert "Saved into" in markup_of(test)
    with Store.open(tmp_path / "nothing") as store:
        assert [study.name for study in list_studies(store)] == ["Mine"]
        assert len(store.select(Response)) == 1


@pytest.mark.slow
def test_an_uploaded_probe_brings_its_question(bench, probes):
    with Store.open(probes[0], read_only=True) as store:
        slots = [store.get(Sample, sample).pictures for sample in probes[2]]
        alone = next(pictures[0] for pictures in slots if len(pictures) == 1)
        picture = store.pictures.read(alone.picture_id)
    test = bench(tab="upload")
    assert "What happens next" in markup_of(test)
    test.file_uploader[0].upload("probe.png", picture).run()
    assert test.text_area(key="own_question").value
    test.button(key="take_replay").click().run()
    settle(test)
    assert not test.exception
    assert "Final answer: " in markup_of(test)


def test_a_picture_that_is_no_probe_is_for_other_judges(bench):
    out = io.BytesIO()
    Image.new("RGB", (40, 30), "teal").save(out, "JPEG")
    test = bench(tab="upload")
    test.file_uploader[0].upload("photo.jpg", out.getvalue()).run()
    test.text_area(key="own_question").set_value("What is it?").run()
    markup = markup_of(test)
    assert "The built-in test judge knows only test pictures" in markup
    assert not has(test.button, "take_replay")
    assert not test.exception


@pytest.mark.slow
def test_ones_own_judge_and_model_come_first_for_ones_own_picture(bench, tmp_path, monkeypatch):
    """Walk B4: once all steps asked model-a, which knows test pictures only, and hung."""
    file = tmp_path / "endpoints.yaml"
    file.write_text(
        "- {name: mine, base_url: 'http://127.0.0.1:9/v1', model: m, max_tries: 1}\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("ATOM_ENDPOINTS", str(file))
    out = io.BytesIO()
    Image.new("RGB", (30, 30), "white").save(out, "PNG")
    test = bench(tab="upload")
    test.file_uploader[0].upload("photo.png", out.getvalue()).run()
    test.text_area(key="own_question").set_value("What is it?").run()
    assert test.selectbox(key="replay_judge").value == "mine"
    mode = one(test.button_group, "answer_mode_")
    if mode.value != "ask":
        mode.set_value("ask").run()
    assert one(test.selectbox, "answer_ask_").value == "mine"
    # The built-in one can't be asked: the steps are the judge's alone, and they end.
    one(test.selectbox, "answer_ask_").select("model-a").run()
    assert "knows only test pictures" in markup_of(test)
    test.button(key="run_all").click().run()
    settle(test)
    assert not has(test.button, "stop_all")
    assert "That didn&#x27;t work" in markup_of(test)


def test_a_broken_picture_is_left_out_in_words(bench):
    test = bench(tab="upload")
    test.text_area(key="own_question").set_value("What is it?").run()
    test.file_uploader[0].upload("broken.png", b"\x89PNG\r\n\x1a\nno").run()
    markup = markup_of(test)
    assert "&#x27;broken.png&#x27; can&#x27;t be used" in markup
    assert test.text_area(key="own_question").value == "What is it?"


@pytest.mark.slow
def test_a_choice_that_is_none_is_said(bench):
    test = bench(tab="upload")
    test.text_area(key="own_question").set_value("Which?").run()
    test.text_area(key="own_choices").set_value("red\nblue").run()
    test.text_input(key="own_reference").set_value("green").run()
    assert "isn&#x27;t among the choices" in markup_of(test)


@pytest.mark.slow
def test_a_judge_that_is_away_is_an_error_in_words_and_loses_nothing(bench, tmp_path, monkeypatch):
    """Walk B4: once a step that couldn't be taken left the page grey for ever."""
    file = tmp_path / "endpoints.yaml"
    file.write_text(
        "- {name: away, base_url: 'http://127.0.0.1:9/v1', model: m, max_tries: 1, timeout: 2}\n"
    )
    monkeypatch.setenv("ATOM_ENDPOINTS", str(file))
    test = bench()
    test.selectbox(key="replay_judge").set_value("away").run()
    assert "price unknown, to 127.0.0.1:9" in markup_of(test)
    test.button(key="take_replay").click().run()
    settle(test)
    markup = markup_of(test)
    assert 'class="fault"' in markup
    assert not test.button(key="take_replay").disabled
    test.selectbox(key="replay_judge").set_value("probe-judge").run()
    assert not test.exception


@pytest.mark.slow
def test_nothing_is_sent_to_a_far_host_before_it_was_agreed(bench, tmp_path, monkeypatch):
    file = tmp_path / "endpoints.yaml"
    file.write_text("- {name: far, base_url: 'https://far.example/v1', model: m}\n")
    monkeypatch.setenv("ATOM_ENDPOINTS", str(file))
    test = bench()
    test.selectbox(key="replay_judge").set_value("far").run()
    test.button(key="take_replay").click().run()
    assert work.jobs().running() == []
    assert "far.example" in markup_of(test)
    assert has(test.button, "consent_yes")


def test_an_unreadable_endpoints_file_is_said(bench, tmp_path, monkeypatch):
    file = tmp_path / "endpoints.yaml"
    file.write_text("just words")
    monkeypatch.setenv("ATOM_ENDPOINTS", str(file))
    test = bench()
    assert not test.exception
    assert "a list of endpoints is wanted" in markup_of(test)


def test_a_sample_without_its_picture_is_said(open_app, made):
    query = {"study": made.study.id, "sample": made.sample_ids[4]}
    seen = open_app(made.folder, PAGE, query)
    assert not seen.test.exception
    assert "This sample can&#x27;t be judged" in seen.markup


def test_hostile_texts_are_text(open_app, made):
    query = {"study": made.study.id, "sample": made.sample_ids[5]}
    seen = open_app(made.folder, PAGE, query)
    assert not seen.test.exception
    assert "<script>window.pwned" not in seen.markup
    assert "&lt;script&gt;window.pwned" in seen.markup


def test_no_study_at_all(open_app):
    seen = open_app(page=PAGE)
    assert not seen.test.exception
    assert "There is no study yet" in seen.markup


def test_the_probe_judge_stands_first_for_synthetic_studies(open_app, made):
    seen = open_app(made.folder, PAGE, {"study": made.study.id})
    assert seen.test.selectbox(key="replay_judge").value == "probe-judge"


@pytest.mark.slow
def test_other_settings_of_the_judge_are_another_bench(bench):
    test = bench()
    take_all(test)
    temperature = test.number_input(key="replay_sampling_judge_temperature")
    assert temperature.value == 0.0
    temperature.set_value(0.5).run()
    assert not test.exception
    assert has(test.button, "take_replay")
    test.number_input(key="replay_sampling_judge_temperature").set_value(0.0).run()
    assert "All steps are done." in markup_of(test)


@pytest.mark.slow
def test_a_model_is_asked_by_the_settings_of_the_page(bench):
    test = bench()
    take_all(test)
    test.number_input(key="replay_sampling_answer_temperature").set_value(0.1).run()
    # What the judge has made stays.
    assert "All steps are done." in markup_of(test)
    one(test.segmented_control, "answer_mode_").set_value("ask").run()
    test.button(key="take_answer").click().run()
    settle(test)
    assert not test.exception
    benches = test.session_state["replay_benches"]
    given = [a.response for b in benches.values() for a in b.answers.given]
    assert {r.sampling.temperature for r in given if r.prompt == "answer/1"} >= {0.1}


@pytest.mark.slow
def test_the_judge_can_be_shown_the_reference(bench):
    test = bench()
    test.checkbox(key="replay_show_reference").set_value(True).run()
    test.button(key="take_replay").click().run()
    settle(test)
    assert not test.exception
    benches = test.session_state["replay_benches"].values()
    (solved,) = [b.solved for b in benches if b.solved is not None]
    assert solved.prompt == replay.TOLD
