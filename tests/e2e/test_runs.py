"""Runs in a real browser: how judge and models are asked, repeats, and what they come to."""

from __future__ import annotations

from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import expect

from atom.engine.control import wait_for_end
from atom.store import Store
from tests.app.work_store import make_probes_store


@pytest.fixture(scope="module")
def probes(tmp_path_factory):
    """Return the folder of a synthetic study, its id and its samples."""
    folder = tmp_path_factory.mktemp("probes")
    return folder, *make_probes_store(folder)


@pytest.fixture(scope="module")
def opened(start_app, probes):
    """Return an app on that study."""
    return start_app(store=probes[0])


def address(opened, probes, page: str, **more: str) -> str:
    return f"{opened.url}/{page}?{urlencode({'study': probes[1], **more})}"


def number(page, key: str):
    return page.locator(f"[class*='{key}'] input")


def set_number(page, key: str, value: str) -> None:
    number(page, key).fill(value)
    number(page, key).press("Enter")


def test_repeats_are_set_run_and_seen(opened, probes, page, shot):
    page.goto(address(opened, probes, "runs"))
    set_number(page, "form_repeats_", "3")
    expect(page.get_by_text("the marks will hardly differ")).to_be_visible()
    # Another judge, so that something is left to do; one that errs, so that its marks differ.
    judge = page.locator("[class*='st-key-form_judge_'] input")
    judge.fill("probe-judge-noisy")
    judge.press("Enter")
    page.get_by_role("button", name="Sampling: judge at 0").click()
    set_number(page, "_judge_temperature", "0.7")
    expect(page.get_by_role("button", name="Sampling: judge at 0.7")).to_be_visible()
    expect(page.get_by_text("the marks will hardly differ")).to_have_count(0)
    shot(page, "runs-1-sampling")
    page.keyboard.press("Escape")
    start = page.locator(".st-key-run_start button")
    expect(start).to_be_enabled()
    start.click()
    page.wait_for_url("**run=**")
    run_id = parse_qs(urlsplit(page.url).query)["run"][0]
    with Store.open(probes[0]) as store:
        ended = wait_for_end(store, run_id, seconds=180)
    assert (ended.run.state, ended.run.task.repeats) == ("done", 3)
    expect(page.get_by_role("heading", name=f"Run {run_id[:8]}")).to_be_visible()

    judged = "probe-judge-noisy"
    page.goto(address(opened, probes, "failures", sample=probes[2][0], judge=judged, show="all"))
    expect(page.locator(".case")).to_be_visible()
    expect(page.get_by_text("3 marks:").first).to_be_visible()
    shot(page, "runs-2-marks")
