"""Every finding's count is the length of the list behind its door."""

from __future__ import annotations

import re
import shutil
from urllib.parse import parse_qs, urlsplit

import pytest

from atom.engine.imports.importing import import_reading
from atom.engine.people.annotations import give
from atom.formats import ImportFile, read
from atom.records import Checkpoint
from atom.reports.draft import ReportDraft, ReportSpec
from atom.reports.findings.looking import StudyLook
from atom.reports.findings.saturate import find_of, find_shared
from atom.reports.records import Finding
from atom.store import Store, list_studies
from atom.views.failures.page import failures
from atom.views.filters import Filters
from atom.views.overview.page import overview
from atom.views.study_data import load_study
from tests.app.screen_store import make_store
from tests.votes import MOMENT, vote_files


def find_all(store, data, filters):
    look = StudyLook(store, data, filters, 0)
    own, after = find_shared(look)
    return (*own, *(one for row in look.view.ranking for one in find_of(look, row)), *after)


def filters_of(finding: Finding) -> Filters:
    return Filters.from_query(parse_qs(urlsplit(finding.door).query))


def wrong_doors(draft) -> list[str]:
    look: StudyLook = draft.look
    wrong = []
    for finding in draft.findings:
        page = urlsplit(finding.door).path
        if page != "failures":
            if finding.behind is not None and page != "correction":
                wrong.append(f"{finding.id}: counts samples without a list")
            continue
        filters = filters_of(finding)
        seen = failures(look.store, look.data, filters)
        if filters.sample is not None:
            if finding.behind is not None or filters.sample not in seen.order:
                wrong.append(f"{finding.id}: its case isn't in the list")
        elif seen.total != finding.behind or not seen.total:
            wrong.append(f"{finding.id}: says {finding.behind}, the list holds {seen.total}")
    return wrong


@pytest.mark.slow
def test_every_door_of_a_small_study_leads_to_as_many_samples_as_it_says(draft):
    assert any(finding.behind for finding in draft.findings)
    assert wrong_doors(draft) == []


@pytest.mark.slow
def test_every_door_of_a_study_of_outcomes_leads_to_as_many_samples_as_it_says(outcomes):
    assert any(finding.behind for finding in outcomes.findings)
    assert wrong_doors(outcomes) == []


@pytest.mark.slow
def test_every_door_of_a_study_of_votes_leads_to_as_many_samples_as_it_says(votes):
    assert votes.look.measure == "preference"
    assert any(finding.behind for finding in votes.findings)
    assert wrong_doors(votes) == []
    told = {f.facts["caveat"] for f in votes.findings if f.kind == "caveat"}
    assert "judge-scale" not in told
    assert not any(f.kind == "hard" for f in votes.findings)


@pytest.mark.slow
def test_every_door_of_the_bundled_study_leads_to_as_many_samples_as_it_says(demo):
    assert {f.kind for f in demo.findings} >= {"weakness", "suspected", "strength", "lucky"}
    assert wrong_doors(demo) == []


def test_filters_stay_in_every_door(store, data, made):
    filters = Filters(study=made.study.id, tags=(("difficulty", "hard"),))
    for finding in find_all(store, data, filters):
        if finding.door:
            assert ("difficulty", "hard") in filters_of(finding).tags


def test_ids_are_unique_and_equal_input_gives_equal_findings(store, data, made, draft):
    ids = [finding.id for finding in draft.findings]
    assert len(set(ids)) == len(ids)
    assert find_all(store, data, Filters(study=made.study.id)) == draft.findings


def test_the_chain_changes_nothing(store, data, made, draft):
    deep = Filters(study=made.study.id, model=made.candidate_ids[0], sample=made.sample_ids[1])
    assert find_all(store, data, deep) == draft.findings


def test_numbers_are_those_of_the_overview(demo):
    view = overview(demo.look.data, demo.look.base)
    for row in view.ranking:
        finding = next(f for f in demo.findings if f.id == f"stands:{row.model_id}")
        score = finding.number("score")
        assert (score.value, score.lo, score.hi) == (row.score.value, row.score.lo, row.score.hi)
        named = [f for f in demo.findings if f.owner == row.model_id and f.kind == "weakness"]
        confirmed = [item for item in row.findings if item.status == "confirmed"]
        assert [f.place for f in named] == [item.path for item in confirmed]
        assert [f.number("effect").value for f in named] == [item.effect for item in confirmed]


def test_no_claim_is_without_frame_n_and_interval(demo):
    for finding in demo.findings:
        assert finding.frame
        if finding.kind in ("weakness", "suspected", "strength"):
            effect = finding.number("effect")
            assert effect.n
            assert None not in (effect.lo, effect.hi, effect.q)


def test_lucky_answers_are_counted_as_the_quadrant_does(draft):
    view = overview(draft.look.data, draft.look.base)
    for quadrant in view.quadrants:
        finding = next(f for f in draft.findings if f.id == f"lucky:{quadrant.model_id}")
        assert finding.number("lucky").value == quadrant.counts.lucky
        assert finding.number("share").n == quadrant.counts.sound + quadrant.counts.lucky


def test_clusters_count_failed_criteria_by_hand(draft, data):
    table = data.table
    for finding in draft.findings:
        if finding.kind != "cluster":
            continue
        model = data.model_index(finding.owner)
        leaf = table.leaves.index(finding.place)
        rows = draft.look.rows & (table.leaf == leaf) & (table.model[table.response] == model)
        failed = rows & (table.score > 0) & (table.score <= 2)
        assert finding.number("failed").value == failed.sum()
        assert finding.number("rate").n == (rows & (table.score > 0)).sum()


def test_caveats_name_what_limits_the_numbers(draft, outcomes):
    told = {f.facts["caveat"]: f for f in draft.findings if f.kind == "caveat"}
    # One sample of twelve is set aside; one answer of 36 is missing; everything is synthetic.
    assert told["quarantined"].printed("quarantined") == "1"
    assert told["quarantined"].printed("all_samples") == "12"
    assert told["unanswered"].printed("unanswered") == "1"
    assert {"synthetic", "judge-scale", "unscored", "pending", "few", "own_frame"} <= set(told)
    names = {f.facts["caveat"] for f in outcomes.findings if f.kind == "caveat"}
    assert "no_criteria" in names
    assert "judge-scale" not in names


@pytest.mark.slow
@pytest.mark.parametrize("kept", [1, 0])
def test_one_sample_or_none_gives_findings_and_no_exception(tmp_path, kept):
    made = make_store(tmp_path)
    with Store.open(made.folder) as store:
        data = load_study(store, made.study.id)
        tag = ("source", "nowhere") if not kept else ("difficulty", "hard")
        found = find_all(store, data, Filters(study=made.study.id, tags=(tag,)))
    assert any(f.kind == "coverage" for f in found)
    if not kept:
        assert not any(f.kind in ("weakness", "lead", "hard") for f in found)


@pytest.mark.slow
def test_people_s_labels_change_what_is_said_of_the_scale(tmp_path, made, monkeypatch):
    shutil.copytree(made.folder, tmp_path / "store")
    filters = Filters(study=made.study.id)
    with Store.open(tmp_path / "store") as store:
        data = load_study(store, made.study.id)
        points = [row for row in store.select(Checkpoint) if row.state == "scored"]
        for point in points:
            give(store, made.study.id, "score", point.key, "ada", value=max(point.score - 1, 1))
        few = ReportDraft.of(store, data, filters).report(ReportSpec(made="2026-01-01"))
        for place in (
            "views.people.scale_rows",
            "views.people.scale_words",
            "analysis.agreement.debias",
            "reports.findings.caveats",
        ):
            monkeypatch.setattr(f"atom.{place}.MIN_LABELLED", 3)
        enough = ReportDraft.of(store, data, filters).report(ReportSpec(made="2026-01-01"))
    text = few.model_dump_json()
    assert re.search(r"people have checked on \d+ samples only, where 30 are needed", text)
    assert "nobody has checked" not in text
    text = enough.model_dump_json()
    assert re.search(r"the judge is \d+\.\d \(\d+\.\d–\d+\.\d\) points of 100 kinder", text)
    assert "differences between models are safer" not in text


@pytest.mark.slow
def test_votes_in_one_order_carry_their_caveat(tmp_path, votes):
    files, _ = vote_files()
    table = [files[0], *(one_order(file) for file in files[1:])]
    with Store.open(tmp_path) as store:
        import_reading(store, read("mllm-bench", table), "One order", MOMENT)
        (study,) = list_studies(store)
        seen = ReportDraft.of(store, load_study(store, study.id), Filters(study=study.id)).findings
    (caveat,) = [one for one in seen if one.id == "caveat:single_order"]
    assert caveat.numbers[0].value > 0
    assert not [one for one in votes.findings if one.id == "caveat:single_order"]


def one_order(file):
    """Keep the votes of the first order only."""
    with file.open() as stream:
        lines = stream.read().decode().splitlines()
    kept = [line for line in lines if '_2", "model_1"' not in line]
    return ImportFile.from_bytes(file.name, "\n".join(kept).encode())
