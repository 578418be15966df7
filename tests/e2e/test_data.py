"""Files dropped on the Data page, to the Overview of what they hold."""

from __future__ import annotations

import json

from playwright.sync_api import expect

SLOW_MS = 150_000
TABLE = "question,answer,model,response,correct\n" + "".join(
    f"How many dots are in picture {n}?,{n},model-z,{n if n < 30 else 0},{int(n < 30)}\n"
    for n in range(40)
)


def drop(page, app, *files) -> None:
    page.goto(f"{app.url}/data")
    page.locator("input[type=file]").first.set_input_files(list(files))
    page.get_by_role("button", name="Bring it in").wait_for()


def bring(page) -> None:
    page.get_by_role("button", name="Bring it in").click()
    door = page.get_by_role("link", name="Open the Overview")
    expect(door).to_be_visible(timeout=SLOW_MS)
    door.click()


def test_a_table_is_dropped_checked_and_opened(start_app, page, visit, tmp_path):
    app = start_app(demo=tmp_path / "no_demo")
    file = tmp_path / "dots.csv"
    file.write_text(TABLE + "<b>bold</b>\n", encoding="utf-8")
    drop(page, app, file)
    expect(page.get_by_text("Recognised as table")).to_be_visible()
    expect(page.get_by_text("How many dots are in picture 0?")).to_be_visible()
    page.get_by_role("button", name="Check all rows first").click()
    # The hostile last row is a question without an answer.
    expect(page.get_by_text("Would come in: 41 samples, 1 model")).to_be_visible(timeout=SLOW_MS)
    bring(page)
    # 30 of 40 answers are right; under 200 answers a percent has no decimals.
    expect(page.get_by_text("model-z").first).to_be_visible()
    expect(page.get_by_text("75", exact=False).first).to_be_visible()
    assert visit.errors == []


def test_bards_published_accuracy_is_on_the_overview(
    start_app, page, visit, tmp_path, shared_folder
):
    published = json.loads((shared_folder / "real" / "expected.json").read_text(encoding="utf-8"))
    app = start_app(demo=tmp_path / "no_demo")
    drop(page, app, shared_folder / "real" / "mathvista" / "output_bard.json")
    expect(page.get_by_text("Recognised as mathvista")).to_be_visible()
    bring(page)
    accuracy = f"{published['mathvista']['bard']['accuracy_percent']:.1f}"
    assert accuracy == "34.8"
    expect(page.get_by_text(accuracy).first).to_be_visible()
    assert visit.errors == []
