"""Files dropped on the Data page, to the Overview of what they hold."""

from __future__ import annotations

import json
import re

from playwright.sync_api import expect

SLOW_MS = 150_000
TABLE = "question,answer,model,response,correct\n" + "".join(
    f"How many dots are in picture {n}?,{n},model-z,{n if n < 30 else 0},{int(n < 30)}\n"
    for n in range(40)
)


def drop(page, app, *files) -> None:
    page.goto(f"{app.url}/data")
    page.locator("input[type=file]").first.set_input_files(list(files))
    page.get_by_role("button", name="Import", exact=True).wait_for()


def bring(page) -> None:
    page.get_by_role("button", name="Import", exact=True).click()
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


def test_missing_pictures_are_attached_where_a_case_says_so(start_app, page, visit, tmp_path, shot):
    """Walk B10: once missing pictures could be attached by a command alone."""
    from PIL import Image

    app = start_app(demo=tmp_path / "no_demo")
    file = tmp_path / "rows.csv"
    file.write_text(
        "id,question,image,answer,model,response,correct\n"
        + "".join(f"{n},What is {n}?,p{n}.png,a,m,b,0\n" for n in range(1, 5)),
        encoding="utf-8",
    )
    drop(page, app, file)
    bring(page)
    page.get_by_role("link", name="Failures").first.click()
    page.locator(".missing").first.wait_for()
    expect(page.locator(".missing").first).to_contain_text("expected file: p1.png")
    page.locator(".missing").first.get_by_role("link", name="Attach pictures").click()
    expect(page.get_by_text("misses 4 pictures, in 4 samples")).to_be_visible()
    folder = tmp_path / "pics"
    folder.mkdir()
    for name, shade in (("p1.png", 10), ("p2.png", 20), ("3.png", 30), ("x.png", 40)):
        Image.new("RGB", (300, 200), (shade, 90, 160)).save(folder / name)
    box = page.locator("[class*='st-key-data_attach_paths_'] textarea")
    box.fill(str(folder))
    box.press("Control+Enter")
    page.get_by_role("button", name="Check first").click()
    expect(page.get_by_text("3 of 4 missing pictures would be attached")).to_be_visible()
    expect(page.get_by_text("misses 4 pictures")).to_be_visible()
    page.get_by_role("button", name="Attach", exact=True).click()
    expect(page.get_by_text("3 of 4 missing pictures attached")).to_be_visible()
    expect(page.get_by_text("misses 1 picture, in 1 sample")).to_be_visible()
    expect(page.get_by_text("x.png")).to_be_visible()
    shot(page, "data-pictures")
    assert visit.errors == []


def test_judgments_are_named_mapped_and_opened(
    start_app, page, visit, tmp_path, shared_folder, shot
):
    app = start_app(demo=tmp_path / "no_demo")
    page.goto(f"{app.url}/data")
    box = page.locator("[class*='st-key-data_paths_'] textarea")
    box.fill(str(shared_folder / "real" / "criteria" / "ttcw"))
    box.press("Control+Enter")
    expect(page.get_by_text("Recognised as judgments")).to_be_visible(timeout=SLOW_MS)
    expect(page.get_by_text("Mark as written")).to_be_visible()
    page.get_by_text("How the marks are read").click()
    expect(page.locator("[class*='st-key-data_map_text_'] textarea")).to_have_value(
        re.compile("torrance_dimension")
    )
    shot(page, "data-judgments")
    page.get_by_role("button", name="Check all rows first").click()
    expect(page.get_by_text("judged by 11 people, 1 program, 3 models")).to_be_visible(
        timeout=SLOW_MS
    )
    bring(page)
    expect(page.get_by_text("NewYorker").first).to_be_visible()
    assert visit.errors == []
