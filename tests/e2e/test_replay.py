"""Live replay in a real browser: a judge is watched, corrected, and what came of it is kept."""

from __future__ import annotations

import re
import shutil
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.app.work_store import make_probes_store
from tests.e2e.looks import LOOKS

QUESTION = "[class*='st-key-question_'] textarea"
TRUTH = "[class*='st-key-truth_'] input"
WEIGHT = "[class*='st-key-weight_'] input"


@pytest.fixture(scope="module")
def probes(tmp_path_factory):
    """Return the folder of a synthetic study, its id and its samples."""
    folder = tmp_path_factory.mktemp("probes")
    return folder, *make_probes_store(folder)


@pytest.fixture(scope="module")
def opened(start_app, probes):
    """Return an app whose bundled study is that one."""
    return start_app(demo=probes[0])


def address(opened, probes, sample: int, page: str = "replay", **more: str) -> str:
    query = {"study": f"demo:{probes[1]}", "sample": probes[2][sample], **more}
    return f"{opened.url}/{page}?{urlencode(query)}"


def run_all(page):
    page.locator(".st-key-run_all button").click()
    expect(page.get_by_text("All steps are done.")).to_be_visible(timeout=150_000)
    expect(page.locator(".score .chip").first).to_be_visible()


def test_from_a_sample_to_a_saved_correction(opened, probes, page, visit, shot):
    page.goto(address(opened, probes, 0))
    run_all(page)
    expect(page.locator(".figure .region").first).to_be_visible()
    shot(page, "replay-1-done")
    expect(page.locator(QUESTION).first).to_be_visible()
    expect(page.locator(".score")).to_have_count(page.locator(QUESTION).count())

    page.locator(TRUTH).first.fill("purple")
    page.locator(TRUTH).first.press("Enter")
    expect(page.locator(".st-key-take_scoring button")).to_have_text("Score 1 criterion")
    expect(page.get_by_text("1 to be scored")).to_be_visible()
    page.locator(WEIGHT).first.fill("5")
    page.locator(WEIGHT).first.press("Enter")
    expect(page.locator(".st-key-edit_balance button")).to_be_enabled()
    page.locator(".st-key-edit_balance button").click()
    expect(page.locator(".st-key-edit_total")).to_contain_text("weights total 10 of 10")
    page.locator(".st-key-take_scoring button").click()
    expect(page.locator(".st-key-take_scoring button")).to_have_count(0)
    expect(page.get_by_text("to be scored")).to_have_count(0)

    page.locator(".st-key-save_now button").click()
    note = page.locator(".notice", has_text="Saved into Demo (yours)")
    expect(note).to_be_visible()
    shot(page, "replay-2-saved")
    note.get_by_role("link", name="Open in Failures").click()
    page.wait_for_url("**/failures?**")
    expect(page.locator(f".case[data-case='{probes[2][0]}']")).to_be_visible()
    expect(page.get_by_text("purple").first).to_be_visible()
    assert visit.errors == []


def test_a_number_lights_its_region_and_lives_in_the_address(opened, probes, page):
    page.goto(address(opened, probes, 1))
    run_all(page)
    door = page.locator("[class*='st-key-no_'] a").first
    number = door.inner_text()
    door.click()
    page.wait_for_url(re.compile("criterion="))
    expect(page.locator(".figure .tag.lit", has_text=number).first).to_be_visible()


def test_a_model_answers_now_and_is_scored(opened, probes, page):
    page.goto(address(opened, probes, 2))
    page.get_by_role("radio", name="Ask a model").or_(
        page.get_by_role("button", name="Ask a model")
    ).first.click()
    run_all(page)
    expect(page.locator(".oneanswer")).to_contain_text("model-a")


def test_what_was_typed_survives_another_screen(opened, probes, page):
    page.goto(address(opened, probes, 0, tab="upload"))
    page.locator(".st-key-own_question textarea").fill("How many gulls are there?")
    page.locator(".st-key-own_question textarea").press("Control+Enter")
    expect(page.get_by_text("The built-in test judge knows only test pictures")).to_be_visible()
    page.get_by_test_id("stPageLink").filter(has_text="Settings").locator("a").click()
    expect(page.get_by_role("link", name="Add an endpoint")).to_be_visible()
    page.go_back()
    expect(page.locator(".st-key-own_question textarea")).to_have_value("How many gulls are there?")


def test_nothing_is_sent_before_it_is_agreed(start_app, probes, page, tmp_path):
    store = tmp_path / "store"
    store.mkdir()
    (store / "endpoints.yaml").write_text(
        "- {name: far, base_url: 'https://far.example/v1', model: m, max_tries: 1}\n"
    )
    asked = start_app(store=store, demo=probes[0])
    page.goto(address(asked, probes, 0))
    page.locator(".st-key-replay_judge input").click()
    page.get_by_role("option", name=re.compile("^far")).click()
    expect(page.get_by_text("price unknown, to far.example").first).to_be_visible()
    page.locator(".st-key-take_replay button").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("1 picture and the question")
    expect(dialog).to_contain_text("far.example")
    dialog.get_by_role("button", name="Send nothing").click()
    expect(dialog).to_have_count(0)
    expect(page.locator(".st-key-take_replay button")).to_be_enabled()


def test_a_run_is_started_watched_and_ends(start_app, probes, page, tmp_path):

    store = tmp_path / "store"
    shutil.copytree(probes[0], store)
    own = start_app(store=store, demo=tmp_path / "no_demo")
    page.goto(f"{own.url}/runs?{urlencode({'study': probes[1]})}")
    page.locator("[class*='st-key-form_judge'] input").click()
    page.get_by_role("option", name="probe-judge-noisy").click()
    expect(page.get_by_text(re.compile("12 calls on 6 samples"))).to_be_visible()
    page.locator(".st-key-run_start button").click()
    expect(page.get_by_text("12 of 12 · nothing spent")).to_be_visible()
    expect(page.locator(".st-key-run_stop")).to_have_count(0)


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_no_working_screen_is_wider_than_the_window(opened, probes, new_page, scheme, width, shot):
    page = new_page(scheme=scheme, width=width, height=900)
    for name in ("replay", "runs", "settings"):
        page.goto(address(opened, probes, 0, name))
        page.locator(".atom h1").first.wait_for()
        if name == "replay":
            run_all(page)
        main = page.get_by_test_id("stMain")
        assert main.evaluate("box => box.scrollWidth <= box.clientWidth + 1")
        shot(page, f"{name}-{width}-{scheme}")
