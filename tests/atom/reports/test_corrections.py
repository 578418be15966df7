"""Self-correction in reports: the page's numbers, each feedback with its control, true doors."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

from atom.reports.checker import check
from atom.reports.compose import sentence
from atom.reports.draft import ReportDraft, ReportSpec
from atom.reports.findings.correction import correction_findings
from atom.reports.findings.looking import StudyLook
from atom.reports.findings.selection import select
from atom.reports.records import PART_TITLES, Finding
from atom.reports.writing import briefs
from atom.store import Store
from atom.views.correction.cases import find_cases, read_query
from atom.views.correction.page import Results, results
from atom.views.filters import Filters
from atom.views.study_data import StudyData, load_study
from tests.app.correction_store import put_experiment
from tests.app.screen_store import make_store


@pytest.fixture(scope="module")
def drafted(tmp_path_factory):
    """Return the draft of a study with one experiment, and what the page shows of it."""
    made = make_store(tmp_path_factory.mktemp("again"))
    experiment = put_experiment(made)
    with Store.open(made.folder) as store:
        data = load_study(store, made.study.id)
        draft = ReportDraft.of(store, data, Filters(study=made.study.id))
        yield draft, results(store, experiment.id), data


def found_in(tmp_path, **changes) -> tuple[list[Finding], Results, StudyData]:
    made = make_store(tmp_path)
    experiment = put_experiment(made, **changes)
    with Store.open(made.folder) as store:
        data = load_study(store, made.study.id)
        look = StudyLook(store, data, Filters(study=made.study.id))
        return list(correction_findings(look)), results(store, experiment.id), data


def of(findings, kind: str, name: str = "") -> Finding:
    return next(f for f in findings if f.kind == kind and f.id.endswith(name))


def wrong_doors(findings, shown: Results, data: StudyData) -> list[str]:
    wrong = []
    for finding in findings:
        where = urlsplit(finding.door)
        query = {key: values[-1] for key, values in parse_qs(where.query).items()}
        assert where.path == "correction"
        assert shown.experiment.id.startswith(query["experiment"])
        if finding.behind is None:
            continue
        assert query["tab"] == "cases"
        if find_cases(shown, data, read_query(query)).count != finding.behind:
            wrong.append(finding.id)
    return wrong


@pytest.mark.slow
def test_each_number_is_the_pages_own(drafted):
    draft, shown, _ = drafted
    effects = {effect.name: effect for effect in (*shown.effects, *shown.printed)}
    told = [f for f in draft.findings if f.kind in ("correction", "correction_printed")]
    assert {f.id.rsplit(":", 1)[1] for f in told} >= {"diagnostic value"}
    for finding in told:
        effect = effects[finding.id.rsplit(":", 1)[1]]
        number = finding.number("effect")
        assert number.n == effect.n
        assert number.value == pytest.approx(100 * effect.estimate)
        assert number.p == pytest.approx(effect.mid_p)
        assert number.q == (pytest.approx(effect.holm) if np.isfinite(effect.holm) else None)
    assert of(draft.findings, "correction_luck").number("share").n == 8
    broken = of(draft.findings, "correction_breaks").number("broken")
    assert (broken.value, broken.n) == (50.0, 2)


def test_the_diagnostic_value_by_hand(drafted):
    # Samples 3, 4, 6, 8 and 9 have failed and passed steps: guided 1 1 1 1 1, sham 0 0 0 1 0.
    # 5 of 5 less 1 of 5 is +80 points.
    draft, _, _ = drafted
    finding = of(draft.findings, "correction", "diagnostic value")
    text = sentence(finding)
    assert finding.number("effect").n == 5
    assert finding.printed("arm") == "100 %"
    assert finding.printed("control") == "20 %"
    assert "+80.0" in text
    assert "held against asking about passed steps" in text
    assert "n = 5 pairs" in text
    assert "mid-p" in text


def test_doors_lead_to_as_many_answers_as_they_say(drafted):
    draft, shown, data = drafted
    mine = [f for f in draft.findings if f.part == "again"]
    assert {f.kind for f in mine} == {
        "correction", "correction_luck", "correction_printed", "correction_breaks",
        "correction_repairs",
    }  # fmt: skip
    assert wrong_doors(mine, shown, data) == []


def test_the_report_tells_them_in_the_models_section_in_order(drafted):
    draft, shown, _ = drafted
    report = draft.report(ReportSpec(cases=0))
    section = next(s for s in report.sections if s.title == shown.model)
    part = section.parts[-1]
    assert PART_TITLES[part.part] == "When it tries again"
    text = [passage.text for passage in part.passages]
    assert text[0].startswith("After asking about the failed steps, held against")
    assert any(line.startswith("Luck alone: another try") for line in text)
    printed = next(line for line in text if "as the paper prints it" in line)
    assert "against saying that it is wrong" in printed
    assert "isn't the value of the diagnosis" in printed
    others = [s for s in report.sections if s.title != shown.model]
    assert not any(p.part == "again" for s in others for p in s.parts)


def test_the_sentences_pass_the_check(drafted):
    draft, shown, _ = drafted
    report = draft.report(ReportSpec(cases=0))
    brief = next(b for b in briefs(report, draft.look) if b.section.title == shown.model)
    passages = [p for part in brief.section.parts if part.part == "again" for p in part.passages]
    assert passages
    for passage in passages:
        assert check(passage.text, brief.given) == (), passage.text


def test_choices_give_their_reasons(drafted):
    draft, _, _ = drafted
    reasons = {c.finding_id: c for c in select(draft.findings)}
    luck = of(draft.findings, "correction_luck")
    assert reasons[luck.id].told
    assert reasons[luck.id].reason == "without it no feedback can be judged"


@pytest.mark.slow
def test_without_controls_nothing_is_called_a_gain(tmp_path):
    findings, shown, data = found_in(tmp_path, arms=("guided",))
    assert not any(f.kind == "correction_printed" for f in findings)
    alone = of(findings, "correction", "diagnostic value")
    assert alone.number("effect") is None
    assert "That is no gain" in sentence(alone)
    assert wrong_doors(findings, shown, data) == []


def test_an_experiment_without_results_says_nothing_untrue(tmp_path):
    findings, shown, data = found_in(tmp_path, drop_all=True)
    assert not any(f.number("effect") for f in findings)
    for finding in findings:
        assert sentence(finding)
    assert wrong_doors(findings, shown, data) == []


def test_one_answer_tried_again_is_no_finding(tmp_path):
    findings, _, _ = found_in(tmp_path, numbers=(3,))
    assert findings == []


def test_filters_do_not_narrow_an_experiment(drafted):
    draft, _, data = drafted
    look = draft.look
    narrowed = StudyLook(look.store, data, look.filters.but(tags=(("difficulty", "hard"),)))
    numbers = [f.numbers for f in correction_findings(narrowed)]
    assert numbers == [f.numbers for f in correction_findings(look)]
