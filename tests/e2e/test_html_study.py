"""The exported HTML study in a browser without a network."""

from __future__ import annotations

import re

import pytest

from atom.exports.base import ExportOptions, ExportSource
from atom.exports.registry import EXPORTERS
from atom.store import Store
from tests.atom.exports.whole_study import MOMENT, make_whole


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """Return a study's HTML file; one of its questions is hostile."""
    folder = tmp_path_factory.mktemp("html")
    store, study = make_whole(folder / "store")
    with store:
        EXPORTERS["html"].write(
            ExportSource(store, study.id), folder / "s.html", ExportOptions(moment=MOMENT)
        )
    assert isinstance(store, Store)
    return folder / "s.html"


def test_it_opens_and_filters_with_the_network_cut_off(file, browser):
    from playwright.sync_api import expect

    context = browser.new_context(offline=True)
    asked, faults = [], []
    try:
        page = context.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("dialog", lambda dialog: faults.append(dialog.message))
        page.on("console", lambda message: faults.append(message.text))
        page.goto(file.as_uri())
        count = page.locator("#count")
        # By the tables in tests/factories: of the five samples that count, B fails 4 steps (2 and 1
        # on the first, a 2 on the third) and C 3 + 1 + 0 + 3 + 3: samples 0 to 4 all hold one.
        expect(count).to_have_text(re.compile(r"^5 samples of 7 · 13 failed steps$"))
        page.select_option("#f-model", label="Candidate A")
        expect(count).to_have_text("0 samples of 7 · 0 failed steps")
        page.select_option("#f-show", "all")
        expect(count).to_have_text("5 samples of 7 · 0 failed steps")
        page.click("#clear")
        page.select_option("#f-tag", label="level: hard")
        # Samples 3, 4 and 5 are hard; the last is quarantined.
        expect(count).to_have_text(re.compile("^2 samples of 7"))
        page.click("#clear")
        page.select_option("#f-source", "late")
        expect(count).to_have_text(re.compile("^1 sample of 7"))
        page.click("#clear")
        page.click("#unfold")
        page.click("#heat td.cell button[title^='Candidate C'] >> nth=-1")
        expect(page.locator("#f-model")).to_have_value("2")
        assert page.locator("#f-node").input_value() != ""
        page.click("#clear")
        hostile = page.locator(".case .text", has_text="<script>alert(1)</script>").first
        expect(hostile).to_be_visible()
        assert page.locator("article.case img").first.evaluate("one => one.naturalWidth") > 0
        assert page.locator("article.case script").count() == 0
        # A request is refused by the file itself, network or not.
        refused = page.evaluate(
            "fetch('https://example.invalid/').then(() => 'sent', () => 'refused')"
        )
        assert refused == "refused"
    finally:
        context.close()
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert [one for one in faults if "example.invalid" not in one] == []
