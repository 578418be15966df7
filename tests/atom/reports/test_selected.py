"""A report on a part of a study: it says so, and compares nobody by answers chosen by outcome."""

from __future__ import annotations

import numpy as np
import pytest

from atom.analysis.capability.criteria_health import near_duplicates
from atom.records import Criterion
from atom.reports.draft import ReportDraft, ReportSpec
from atom.reports.html_file import thumbnails, to_html
from atom.reports.markdown_file import to_markdown
from atom.reports.output import file_name
from atom.reports.printed import lettered
from atom.views.filters import Filters
from atom.views.fingerprints.shape import shape
from atom.views.fingerprints.told_apart import told_apart

COMPARING = {
    "lead", "tie", "top_tie", "comparison", "separates", "fingerprint", "hard", "criterion",
    "weights", "weakness", "suspected", "strength", "none_found",
}  # fmt: skip
CHOSEN = [{"outcome": "wrong"}, {"outcome": "right"}, {"process": "failing"}]


def narrowed(whole: ReportDraft, **filters) -> ReportDraft:
    look = whole.look
    return ReportDraft.of(look.store, look.data, look.base.but(**filters))


@pytest.mark.parametrize("chosen", CHOSEN)
def test_answers_chosen_by_how_they_went_compare_nobody(demo, chosen):
    part = narrowed(demo, **chosen)
    kinds = {finding.kind for finding in part.findings}
    assert kinds & COMPARING == set()
    assert kinds >= {"coverage", "ranking", "criteria", "caveat"}
    assert not any(finding.number("rank") for finding in part.findings)
    assert any(finding.id == "caveat:selection" for finding in part.findings)
    report = part.report(ReportSpec(cases=0))
    for text in (to_markdown(report), to_html(report, thumbnails(part.look.store))):
        for claim in (
            "even the best",
            "Who is ahead",
            "leads",
            "tell models apart",
            "| rank |",
            "Ranking",
        ):
            assert claim not in text


def test_labels_still_compare(demo):
    facet, group = next(iter(demo.look.data.table.facets.items()))
    part = narrowed(demo, tags=((facet, group.values[0]),))
    assert {finding.kind for finding in part.findings} & COMPARING


def test_a_report_on_a_part_says_so_at_the_top_and_in_its_name(draft, report, store):
    part = narrowed(draft, tags=(("difficulty", "hard"),)).report(ReportSpec())
    line = "A selection, not the whole study: difficulty = hard."
    assert to_markdown(part).splitlines()[2] == f"**{line}**"
    page = to_html(part, thumbnails(store))
    assert page.index("<h1") < page.index(line) < page.index("Contents")
    assert part.sections[0].title == "The selection as a whole"
    assert file_name(part, "html") == "test-study-report-selection.html"
    assert report.selection == ""
    assert report.sections[0].title == "The study as a whole"
    assert "not the whole study" not in to_markdown(report)


def test_near_duplicates_are_counted_among_the_criteria_that_count(demo):
    table = demo.look.data.table
    facet, group = max(demo.look.data.table.facets.items(), key=lambda one: len(one[1].values))
    part = narrowed(demo, tags=((facet, group.values[0]),))
    found = next(f for f in part.findings if f.kind == "criteria")
    kept = part.look.rows & (table.score > 0)
    read = np.unique(table.criterion[kept])
    assert found.number("criteria").value == len(read) < len(table.criterion_ids)
    sample = np.zeros(len(table.criterion_ids), dtype=np.int64)
    sample[table.criterion] = table.sample[table.response]
    names = [table.criterion_ids[at] for at in read]
    texts = {c.id: c.question for c in part.look.store.get_many(Criterion, names)}
    twins = near_duplicates([texts[name] for name in names], sample[read])
    assert found.number("twins").value == len(twins.first)


def test_the_share_told_apart_is_the_fingerprints_page_s(demo):
    found = next(f for f in demo.findings if f.kind == "fingerprint")
    data = demo.look.data
    seen = told_apart(data, shape(data, Filters(study=demo.look.base.study)))
    assert found.number("recognised").value == 100 * seen.first
    assert found.number("recognised").n == seen.splits
    assert found.number("chance").value == 100 * seen.chance


def test_choices_have_the_letters_that_answers_name(report, store):
    assert lettered(("purple sphere", "red\n cube")) == "A) purple sphere · B) red cube"
    section = report.sections[1]
    case = section.exhibits[0].model_copy(update={"choices": ("purple sphere", "red cube")})
    lined = report.model_copy(
        update={"sections": (section.model_copy(update={"exhibits": (case,)}),)}
    )
    for text in (to_html(lined, thumbnails(store)), to_markdown(lined)):
        assert "A) purple sphere · B) red cube" in text
