"""The three forms: whole, escaped, without a request to anywhere, and the same every time."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from urllib.parse import parse_qs, urlsplit

import pytest

from atom.errors import UsageError
from atom.reports.draft import ReportDraft, ReportSpec
from atom.reports.findings.exhibits import excerpt
from atom.reports.html_file import thumbnails, to_html
from atom.reports.markdown_file import escaped, to_markdown
from atom.reports.output import file_name, render
from atom.reports.records import Mark, Passage, Report
from atom.views.filters import Filters
from tests.app.screen_store import HOSTILE

VOID = {"meta", "img", "br", "hr", "line", "circle", "rect", "path"}


class Reader(HTMLParser):
    """Collects tags, attributes and text; notes what isn't closed."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


@pytest.fixture(scope="module")
def page(store, report) -> str:
    return to_html(report, thumbnails(store))


def addresses(reader: Reader) -> list[str]:
    names = ("href", "src", "srcset", "action", "data", "poster", "xlink:href", "background")
    return [a[name] or "" for _, a in reader.tags for name in names if name in a]


def test_the_file_asks_nothing_of_anybody(page):
    reader = read(page)
    assert {tag for tag, _ in reader.tags} & {"script", "link", "iframe", "object", "base"} == set()
    assert [
        a for a in addresses(reader) if not a.startswith(("#", "data:image/webp;base64,"))
    ] == []
    assert not [name for _, a in reader.tags for name in a if name.startswith("on")]
    style = page.split("<style>")[1].split("</style>")[0]
    assert "url(" not in style
    assert "@import" not in style
    policy = next(a for tag, a in reader.tags if tag == "meta" and "content" in a)
    assert "default-src 'none'" in policy["content"]


def test_every_anchor_leads_somewhere(page):
    reader = read(page)
    ids = {a["id"] for _, a in reader.tags if "id" in a}
    assert {a[1:] for a in addresses(reader) if a.startswith("#")} <= ids


def test_hostile_texts_are_shown_and_do_nothing(store, draft):
    report = draft.report(ReportSpec(cases=3))
    exhibits = [e for section in report.sections for e in section.exhibits]
    hostile = exhibits[0].model_copy(
        update=dict.fromkeys(("question", "answer", "criterion", "truth", "reason"), HOSTILE)
        | {"quote": None, "picture_name": HOSTILE, "picture_id": None}
    )
    sections = [report.sections[0], report.sections[1].model_copy(update={"exhibits": (hostile,)})]
    poisoned = report.model_copy(update={"sections": tuple(sections), "title": HOSTILE})
    reader = read(to_html(poisoned, thumbnails(store)))
    assert {"script", "img"} & {tag for tag, _ in reader.tags} == set()
    assert "".join(reader.text).count("window.pwned = 1") >= 6
    text = to_markdown(poisoned)
    assert "<script" not in text
    assert re.search(r"(?<!\\)\]\(", text) is None
    assert "http://evil" not in text


def test_with_a_base_doors_are_links_and_without_one_they_are_text(store, report, page):
    linked = read(to_html(report, thumbnails(store), base="http://127.0.0.1:8501/"))
    outside = [a for a in addresses(linked) if not a.startswith(("#", "data:"))]
    doors = {f"http://127.0.0.1:8501/{f.door}" for f in report.told if f.door}
    assert doors
    assert doors <= set(outside)
    assert all(a.startswith("http://127.0.0.1:8501/") for a in outside)
    door = next(f.door for f in report.told if f.behind)
    assert door in "".join(read(page).text)
    assert f"]({'http://127.0.0.1:8501'}/{door})" in to_markdown(
        report, base="http://127.0.0.1:8501"
    )


@pytest.mark.parametrize("base", ["javascript:alert(1)", "ftp://x", "http://", "data:text/html,x"])
def test_a_base_that_is_no_app_is_refused(store, report, base):
    with pytest.raises(UsageError, match="isn't an app's address"):
        to_html(report, thumbnails(store), base=base)


def test_the_badge_stands_on_every_section_and_the_settings_are_told(page, report, data):
    assert page.count(">SYNTHETIC<") >= len(report.sections) + 2
    text = "".join(read(page).text)
    for words in (data.study.id, "probe-judge", "Seed", str(data.revision), "2026-01-01"):
        assert words in text


def test_the_json_reads_back_to_the_same_report(store, report):
    text = render(store, report, "json")
    assert Report.model_validate_json(text) == report
    assert {f["id"] for f in json.loads(text)["findings"]} == {f.id for f in report.findings}


def test_a_report_begins_with_one_page_of_its_own_paragraphs(store, report, page):
    """Walk B12: once a report of eleven chapters had no first page."""
    told = {p.text for section in report.sections for part in section.parts for p in part.passages}
    assert 3 <= len(report.short) <= 14
    assert all(passage.text in told for _, passage in report.short)
    # It says who is ahead, not how many answers were counted.
    (ahead,) = [passage for title, passage in report.short if title == "Who is ahead"]
    kinds = {finding.id: finding.kind for finding in report.findings}
    assert {kinds[one] for one in ahead.findings} <= {"lead", "tie", "ranking"}
    first, *_, last = report.short
    assert page.index('id="short"') < page.index(first[1].text[:40]) < page.index('id="s0"')
    text = to_markdown(report)
    assert text.index("## On one page") < text.index(f"**{last[0]}.**") < text.index("### ")


def test_equal_input_gives_equal_files(store, data, report, page):
    again = ReportDraft.of(store, data, report_filters(report)).report(
        ReportSpec(made="2026-01-01")
    )
    assert again == report
    assert to_html(again, thumbnails(store)) == page


def report_filters(report):
    door = next(f.door for f in report.findings if f.kind == "ranking" and f.door)
    return Filters(study=parse_qs(urlsplit(door).query)["study"][0])


def test_what_is_unverified_is_marked_with_a_count_on_top(store, report):
    text = "Falcon has 99 of them."
    marks = (Mark(start=0, end=6, kind="name", text="Falcon"),
             Mark(start=11, end=13, kind="number", text="99"))  # fmt: skip
    section = report.sections[1]
    part = section.parts[0].model_copy(
        update={"passages": (Passage(text=text, by="judge", marks=marks),)}
    )
    judged = report.model_copy(
        update={
            "sections": (report.sections[0], section.model_copy(update={"parts": (part,)})),
            "written_by": "judge-x",
        }
    )
    page = to_html(judged, thumbnails(store))
    found = [a for tag, a in read(page).tags if tag == "mark" and a.get("class") == "unverified"]
    # In its chapter, and on the page that the report begins with.
    assert len(found) == 4
    assert all("unverified" in a["title"] for a in found)
    assert "2 numbers and names in this text are marked as unverified" in page
    assert "is beyond it" in page
    assert "Falcon *\\[unverified\\]* has 99 *\\[unverified\\]* of them." in to_markdown(judged)


def test_pictures_that_would_make_the_file_too_large_are_left_out(store, report, monkeypatch):
    monkeypatch.setattr("atom.reports.html_file.MAX_PICTURES", 10)
    page = to_html(report, thumbnails(store))
    assert "data:image" not in page
    assert "picture left out" in page


@pytest.mark.parametrize(
    "text", ["<b>x</b>", "![a](http://b)", "# x", "- x", "1. x", "a | b", "`c`"]
)
def test_markdown_shows_exactly_the_text(text):
    out = escaped(text)
    assert not out.startswith(("#", "-", "1. "))
    for mark in ("<b", "](", "| ", "`c`", "http://"):
        assert mark not in out.replace("\\" + mark[0], "")


def test_an_excerpt_keeps_the_quoted_words_in_place():
    text = "x" * 500 + "THE WORDS" + "y" * 500
    cut, span = excerpt(text, (500, 509))
    assert cut[span[0] : span[1]] == "THE WORDS"
    assert len(cut) < 400
    assert excerpt("short", None) == ("short", None)
    assert excerpt("short", (3, 99))[1] is None


def test_a_file_is_named_by_its_study(report):
    assert file_name(report, "markdown") == "test-study-report.md"


def test_a_study_of_outcomes_gives_a_whole_report(outcomes):
    report = outcomes.report(ReportSpec())
    reader = read(to_html(report, thumbnails(outcomes.look.store)))
    text = "".join(reader.text)
    assert "right answers" in text
    assert "no criteria" in text
    exhibits = [e for section in report.sections for e in section.exhibits]
    assert len(exhibits) == 9
    assert {e.right for e in exhibits} == {False}
    assert all(e.criterion == "" for e in exhibits)


def test_one_model_and_no_landscape(draft, made):
    spec = ReportSpec(models=made.candidate_ids[1:2], landscape=False, cases=1)
    report = draft.report(spec)
    assert [section.title for section in report.sections] == ["Read with care", "model-b"]
    assert len(report.sections[1].exhibits) == 1
    assert all(f.owner in (None, made.candidate_ids[1]) for f in report.findings)
    assert {f.part for f in report.findings if f.owner is None} == {"care"}


def test_exhibits_are_of_different_samples_and_of_the_model(report):
    for section in report.sections[1:]:
        names = [exhibit.sample_id for exhibit in section.exhibits]
        assert len(set(names)) == len(names) == 3
        assert {exhibit.model_id for exhibit in section.exhibits} == {section.id}
