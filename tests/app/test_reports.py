"""Reports: what goes in, what is told, who writes, and what can be taken along."""

from __future__ import annotations

import re
import threading

import pytest

from atom.engine.endpoints.configured import FAULTY_JUDGES
from atom.records import Study
from atom.reports import ReportDraft
from atom.store import Store
from atom.ui.reports import page
from tests.app.conftest import markup_of
from tests.app.work_store import settle

PAGE = "pages/share/reports.py"


def doors(markup: str, words: str) -> list[str]:
    found = re.findall(r'<a [^>]*href="([^"]*)"[^>]*>', markup)
    return [href for href in found if words in href]


@pytest.mark.slow
def test_the_answer_the_downloads_and_the_preview_are_there(open_app, made):
    """Walk B12: once test judges that err on purpose were offered as writers."""
    seen = open_app(made.folder, page=PAGE)
    assert not seen.test.exception
    assert re.search(r"The report includes \d+ of \d+ findings, in 4 chapters", seen.markup)
    assert "SYNTHETIC" in seen.markup
    assert "writer=probe-judge" in seen.markup
    assert not [name for name in FAULTY_JUDGES if f"writer={name}" in seen.markup]
    assert len(seen.test.get("download_button")) == 4
    (frame,) = seen.test.get("iframe")
    assert frame.proto.src.startswith("data:text/html;charset=utf-8;base64,")


def test_findings_have_ticks_reasons_and_doors(open_app, made):
    seen = open_app(made.folder, page=PAGE, query={"tab": "findings"})
    assert 'role="checkbox"' in seen.markup
    assert "a caveat is always told" in seen.markup
    assert doors(seen.markup, "failures?study=")
    assert "confirmed weakness" in seen.markup or "nothing confirmed" in seen.markup


@pytest.mark.slow
def test_a_tick_lives_in_the_address_and_turns_a_choice_round(open_app, made):
    first = open_app(made.folder, page=PAGE, query={"tab": "findings"})
    told = int(re.search(r"(\d+) of \d+ findings, in", first.markup)[1])
    code = re.search(r"pick=(\w{4})", first.markup)[1]
    second = open_app(made.folder, page=PAGE, query={"tab": "findings", "pick": code})
    now = int(re.search(r"(\d+) of \d+ findings, in", second.markup)[1])
    assert now != told
    assert "you left it out" in second.markup or "you added it" in second.markup


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "chapters"),
    [({"of": "0"}, 2), ({"of": "none"}, 1), ({"of": "0.1.2"}, 4), ({"of": "9.x"}, 1),
     ({"whole": "no", "of": "1", "cases": "0"}, 2), ({"cases": "77"}, 4)],
)  # fmt: skip
def test_what_goes_in_is_in_the_address(open_app, made, query, chapters):
    seen = open_app(made.folder, page=PAGE, query=query)
    assert not seen.test.exception
    word = "chapter" if chapters == 1 else "chapters"
    assert f"in {chapters} {word}" in seen.markup


@pytest.mark.slow
def test_a_judge_writes_and_what_it_made_up_is_counted(open_app, made):
    query = {"writer": "probe-judge-noisy", "of": "0", "cases": "0"}
    seen = open_app(made.folder, page=PAGE, query=query)
    assert "2 chapters, about " in seen.markup
    assert "free, offline" in seen.markup
    seen.test.button(key="reports_go").click().run()
    settle(seen.test)
    markup = markup_of(seen.test)
    assert not seen.test.exception
    assert "written by probe-judge-noisy" in markup
    assert "4 numbers and names that probe-judge-noisy was not given are marked" in markup


@pytest.mark.slow
def test_an_unknown_writer_and_a_study_without_results_have_their_own_words(
    open_app, made, tmp_path
):
    seen = open_app(made.folder, page=PAGE, query={"writer": "nobody"})
    assert "There is no judge" in seen.markup
    assert "The report includes" in seen.markup
    empty = tmp_path / "empty"
    with Store.open(empty) as store:
        store.put([Study(id="s", name="Empty")])
    seen = open_app(empty, page=PAGE)
    assert not seen.test.exception
    assert "There is nothing to report yet" in seen.markup


def test_filters_that_leave_nothing_can_be_cleared(open_app, made):
    seen = open_app(made.folder, page=PAGE, query={"tag": ["difficulty:easy", "difficulty:hard"]})
    assert not seen.test.exception
    assert "Nothing passes these filters" in seen.markup


def test_outcomes_alone_give_a_report(open_app, made_outcomes):
    seen = open_app(made_outcomes.folder, page=PAGE)
    assert not seen.test.exception
    assert "The report includes" in seen.markup


def test_a_large_study_says_what_is_looked_for_and_shows_it_when_found(open_app, made, monkeypatch):
    found, whole = threading.Event(), ReportDraft._found

    def slowly(self, wanted):
        assert found.wait(60)
        return whole(self, wanted)

    monkeypatch.setattr(ReportDraft, "_found", slowly)
    monkeypatch.setattr(page, "_QUICK", 0)
    page._draft.clear()
    seen = open_app(made.folder, page=PAGE)
    assert re.search(r"Looking for findings in [\d,]+ answers of \d+ models on \d+", seen.markup)
    assert "Who writes" in seen.markup
    assert "The report includes" not in seen.markup
    found.set()
    settle(seen.test)
    assert re.search(r"\d+ of \d+ findings, in", markup_of(seen.test))
