"""Boxes in a real browser: whatever a judge's habit, they lie where it pointed."""

from __future__ import annotations

import asyncio
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from atom.engine.live_replay import Live
from atom.engine.members import study_tree
from atom.judge.servers.endpoints import builtin_endpoints
from atom.probes.serving.server import serving
from atom.store import Store, find_study
from tests.app.work_store import make_probes_store
from tests.habits import HABITS, HabitualEndpoint
from tests.live import cut, solve

SAMPLE = 1
JUDGE = "probe-judge-synonyms"
"""As exact as `probe-judge`; the study holds no replies of its."""
TWO_PERCENT = 20
"""Thousandths."""


@pytest.fixture(scope="module")
def probes(tmp_path_factory):
    """Return the folder of a synthetic study, its id and its samples."""
    folder = tmp_path_factory.mktemp("boxes")
    return folder, *make_probes_store(folder)


@pytest.fixture(scope="module")
def meant(probes) -> list[list[tuple[int, ...]]]:
    """Return the boxes of each criterion as the plain probe judge writes them."""
    folder, study_id, samples = probes
    judge = next(one for one in builtin_endpoints() if one.name == "probe-judge")
    with Store.open(folder) as store:
        study = find_study(store, study_id)
        tree, _ = study_tree(store, study, "")
        live = Live.of_study(store, samples[SAMPLE], judge, study, tree)

        async def result():
            return await cut(live, await solve(live))

        uses = asyncio.run(result()).criteria_set.uses
    assert any(use.regions for use in uses)
    return [sorted(region.box for region in use.regions) for use in uses]


@pytest.fixture(scope="module")
def opened(start_app, probes, tmp_path_factory):
    """Return an app whose endpoints are judges of each habit, and one that is taken for another."""
    judges = {habit: (habit, habit) for habit in HABITS}
    judges |= {"mistaken": ("xyxy_unit", "xyxy_1000"), "unknown": ("xyxy_1000", "")}
    lines = []
    store = tmp_path_factory.mktemp("judges")
    servers = []
    try:
        for name, (habit, boxes) in judges.items():
            server = serving(HabitualEndpoint(habit))
            url = server.__enter__()
            servers.append(server)
            told = f", boxes: {boxes}" if boxes else ""
            lines.append(
                f"- {{name: {name}, base_url: 'probe:{url}', model: {JUDGE}, "
                f"pictures: {{max_side: 320}}, prices: {{input: 0, output: 0}}{told}}}\n"
            )
        (store / "endpoints.yaml").write_text("".join(lines))
        yield start_app(store=store, demo=probes[0])
    finally:
        for server in servers:
            server.__exit__(None, None, None)


def judge_by(page, opened, probes, name: str) -> None:
    query = {"study": f"demo:{probes[1]}", "sample": probes[2][SAMPLE]}
    page.goto(f"{opened.url}/replay?{urlencode(query)}")
    page.locator(".st-key-replay_judge input").click()
    page.get_by_role("option", name=name).first.click()
    expect(page.get_by_text("to 127.0.0.1").first).to_be_visible()
    page.locator("[data-test-script-state=notRunning]").wait_for()
    page.locator(".st-key-take_replay button").click()
    expect(page.locator(".st-key-take_criteria button")).to_be_enabled()
    page.locator(".st-key-take_criteria button").click()
    expect(page.locator("[class*='st-key-question_'] textarea").first).to_be_visible()


def on_screen(page) -> list[list[tuple[float, ...]]]:
    """Measure the drawn boxes by criterion, in thousandths of the picture on screen."""
    frame = page.locator(".figure img").bounding_box()
    found: dict[int, list[tuple[float, ...]]] = {}
    for region in page.locator(".figure .region").all():
        number = int(region.get_attribute("data-tip").split(".")[0])
        box = region.locator("rect.edge").bounding_box()
        left = 1000 * (box["x"] - frame["x"]) / frame["width"]
        top = 1000 * (box["y"] - frame["y"]) / frame["height"]
        right = left + 1000 * box["width"] / frame["width"]
        bottom = top + 1000 * box["height"] / frame["height"]
        found.setdefault(number, []).append((left, top, right, bottom))
    return [sorted(found.get(n, [])) for n in range(1, max(found, default=0) + 1)]


@pytest.mark.parametrize(
    "habit", [pytest.param(h, marks=[pytest.mark.sweep] * (n % 2)) for n, h in enumerate(HABITS)]
)
def test_boxes_of_each_convention_land_where_they_belong(opened, probes, meant, page, shot, habit):
    judge_by(page, opened, probes, habit)
    expect(page.locator(".figure .region").first).to_be_visible()
    shot(page, f"boxes-{habit}")
    found = on_screen(page)
    assert [len(boxes) for boxes in found] == [len(boxes) for boxes in meant][: len(found)]
    assert not any(meant[len(found) :])
    worst = max(
        abs(drawn - true)
        for boxes, truths in zip(found, meant, strict=False)
        for box, truth in zip(boxes, truths, strict=True)
        for drawn, true in zip(box, truth, strict=True)
    )
    assert worst <= TWO_PERCENT


def test_boxes_that_fit_no_convention_are_not_drawn(opened, probes, page):
    judge_by(page, opened, probes, "mistaken")
    expect(page.locator(".figure img")).to_be_visible()
    expect(page.locator(".figure .region")).to_have_count(0)


def test_an_unchecked_judge_is_told_once(opened, probes, page, shot):
    judge_by(page, opened, probes, "unknown")
    expect(page.get_by_text("wasn't checked")).to_have_count(1)
    shot(page, "boxes-unknown")
