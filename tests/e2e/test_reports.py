"""The report's file in a real browser: offline, without a script, on paper; its doors lead home."""

from __future__ import annotations

import re

from atom.reports import pdf_file
from atom.reports.pdf_file import to_pdf
from tests.app.screen_store import make_store


def test_a_report_is_downloaded_read_offline_and_printed(
    start_app, browser, new_page, visit, tmp_path, tmp_path_factory
):
    made = make_store(tmp_path_factory.mktemp("reports"))
    app = start_app(store=made.folder, demo=tmp_path_factory.mktemp("no_demo"))
    page = new_page()
    page.goto(f"{app.url}/reports?of=0")
    button = page.get_by_role("button", name="Download as one HTML file")
    button.wait_for()
    with page.expect_download() as waiting:
        button.click()
    file = tmp_path / "report.html"
    waiting.value.save_as(file)
    shown = page.frame_locator("iframe").get_by_role("heading", name="model-a")
    assert shown.count() >= 1

    context = browser.new_context(offline=True, color_scheme="dark", java_script_enabled=False)
    reader = context.new_page()
    asked: list[str] = []
    reader.on("request", lambda request: asked.append(request.url))
    reader.goto(file.as_uri())
    assert reader.locator("h1").inner_text().startswith("Test study")
    pictures = reader.locator(".case img")
    assert pictures.count() >= 1
    assert pictures.first.evaluate("image => image.naturalWidth") > 0
    assert reader.locator("figure svg circle").count() >= 3
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    paper = reader.pdf(format="A4")
    assert paper.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", paper)) >= 2
    door = reader.locator("#findings a", has_text="samples with a failed criterion").first
    # Chapters out of sight aren't laid out: their text is there, and none of it is rendered.
    address, words = door.get_attribute("href"), door.text_content()
    context.close()

    page.goto(address)
    page.locator(".listing a.item").first.wait_for()
    number = int(words.split()[0])
    assert page.locator(".listing a.item").count() == number
    assert visit.foreign == []
    assert visit.errors == []


def test_chromium_prints_a_report(chromium_path, monkeypatch):
    monkeypatch.setattr(pdf_file, "BROWSERS", (chromium_path,))
    data = to_pdf("<!doctype html><title>Report</title><h1>Where it breaks</h1>")
    assert data.startswith(b"%PDF-")
    assert data.rstrip().endswith(b"%%EOF")
    assert len(data) > 2000
