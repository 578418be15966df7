"""Graded answers count, whatever their text; accuracy stands there both ways."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from atom.engine.imports.importing import import_reading
from atom.exports.base import ExportOptions, ExportSource
from atom.exports.registry import find_exporter
from atom.formats import ImportFile, read
from atom.records import Outcome, Response, Sample, Study
from atom.reports.compose import sentence
from atom.reports.draft import ReportDraft
from atom.reports.profile import find_model, profile
from atom.store import Store
from atom.store import table as columns_of
from atom.views.compare.page import compare
from atom.views.compare.sides import pick
from atom.views.failures.page import failures
from atom.views.filters import Filters
from atom.views.overview.accuracy import accuracies, answered_by_all
from atom.views.overview.page import overview
from atom.views.study_data import load_study
from tests.votes import MOMENT

HEAD = "id,question,model,response,correct,skill\n"


def rows() -> str:
    """Sixty questions: `refuser` is silent on the 30 that it fails; `steady` is right on 40."""
    lines = []
    for n in range(60):
        skill = "ab"[n % 2]
        silent = n >= 30
        lines.append(
            f"{n},Question {n}?,refuser,{'' if silent else 'yes'},{int(not silent)},{skill}"
        )
        lines.append(f"{n},Question {n}?,steady,yes,{int(n % 3 > 0)},{skill}")
    return HEAD + "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with Store.open(tmp_path_factory.mktemp("graded") / "store") as opened:
        made = ImportFile.from_bytes("graded.csv", rows().encode())
        import_reading(opened, read("table", [made]), "Graded", MOMENT)
        yield opened


@pytest.fixture(scope="module")
def data(store):
    return load_study(store, "Graded")


def test_a_silent_failure_counts_in_every_mean_and_rank(data):
    view = overview(data, Filters(measure="outcome"))
    found = {row.name: row for row in view.ranking}
    # 30 of 60 right against 40 of 60; of the answers given 30 of 30 against 40 of 60.
    assert [row.name for row in view.ranking] == ["steady", "refuser"]
    assert found["refuser"].score.value == found["refuser"].right.value == 50.0
    assert found["steady"].score.value == pytest.approx(200 / 3)
    assert (found["refuser"].given.value, found["refuser"].given.n) == (100.0, 30)
    assert found["refuser"].accuracy.withheld == (("empty", 30),)
    assert found["refuser"].accuracy.words == "30 empty"
    assert found["steady"].accuracy.withheld == ()
    assert (view.answers, view.unanswered, view.shared) == (120, 0, 30)


def test_a_ranking_can_be_cut_to_samples_that_every_model_answered(data):
    assert answered_by_all(data.table).sum() == 30
    filters = Filters.from_query({"shared": "1", "measure": "outcome"})
    assert filters.to_query()["shared"] == "1"
    assert filters.active == 1
    assert not filters.cleared.shared
    view = overview(data, filters)
    assert view.samples == 30
    # Of the first 30 questions `steady` has 20 right.
    assert {row.name: round(row.score.value, 1) for row in view.ranking} == {
        "refuser": 100.0,
        "steady": 66.7,
    }


def test_skills_failures_and_comparison_count_alike(store, data):
    view = overview(data, Filters(measure="outcome"))
    for skill in view.skills:
        for cell in skill.cells:
            model = data.table.model_ids.index(cell.model_id)
            group = data.table.facets[skill.label[0]]
            inside = group.response[group.value == group.values.index(skill.label[1])]
            mine = inside[data.table.model[inside] == model]
            assert cell.estimate.n == len(mine) == 30
    refuser = next(row for row in view.ranking if row.name == "refuser")
    wrong = failures(
        store, data, Filters(model=refuser.model_id, measure="outcome", outcome="wrong")
    )
    assert wrong.total == 30
    both = compare(data, Filters(measure="outcome"), pick(data, Filters(), {}))
    assert both.gap.samples == 60
    assert {one.n_given for one in both.accuracy} == {30, 60}


def test_profile_and_csv_say_the_same(store, data, tmp_path):
    found = profile(data, Filters(), find_model(data, "refuser"))
    assert (found.row.right.value, found.row.given.value) == (50.0, 100.0)
    source = ExportSource(store, data.study.id)
    find_exporter("csv").write(source, tmp_path / "tables", ExportOptions(moment=MOMENT))
    with (tmp_path / "tables" / "ranking.csv").open(encoding="utf-8-sig") as file:
        rows = {row["model"]: row for row in csv.DictReader(file)}
    mine = rows["refuser"]
    assert (float(mine["right"]), float(mine["right_of_given"])) == (50.0, 100.0)
    assert (mine["asked"], mine["given"], mine["withheld_empty"]) == ("60", "30", "30")


def test_the_report_says_both(store, data):
    draft = ReportDraft.of(store, data, Filters(study=data.study.id))
    (found,) = [one for one in draft.findings if one.facts.get("caveat") == "withheld"]
    told = sentence(found, measure="outcome")
    assert "refuser gave no answer to 30 of 60 questions (30 empty)" in told
    assert "50" in told.split("of all that it was asked")[0]
    assert "100" in told.split("of all that it was asked")[1]


def test_what_a_model_withholds_isnt_right_and_what_a_server_lost_says_nothing(tmp_path):
    with Store.open(tmp_path) as opened:
        import_reading(
            opened, read("table", [ImportFile.from_bytes("g.csv", rows().encode())]), "G", MOMENT
        )
        study = opened.get(Study, Study.make_id("G"))
        first = load_study(opened, study.id).table
        ids = [first.response_ids[at] for at in np.flatnonzero(first.outcome == 1)[:3]]
        changed = {answer.id: answer for answer in opened.get_many(Response, ids)}
        for name, update in zip(
            ids,
            (
                {"state": "unscored", "text": "No.", "cause": "refused"},
                {"state": "unscored", "text": "", "detail": "A content filter stopped the reply."},
                {"state": "failed", "text": "", "detail": "HTTP 500"},
            ),
            strict=True,
        ):
            opened.replace([changed[name].model_copy(update=update)])
        with opened.write() as writer:
            writer.delete(Outcome, columns_of(Outcome).c.response_id.in_(ids))
        samples = [answer.sample_id for answer in changed.values()]
        opened.replace(
            one.model_copy(update={"reference": "yes"}) for one in opened.get_many(Sample, samples)
        )
        table = load_study(opened, study.id).table
        at = {name: table.response_ids.index(name) for name in ids}
        assert [float(table.outcome[at[name]]) for name in ids[:2]] == [0.0, 0.0]
        assert np.isnan(table.outcome[at[ids[2]]])
        found = accuracies(table, np.isin(np.arange(len(table.sample)), list(at.values())))
        withheld = [cause for one in found for cause in one.withheld]
        assert sorted(withheld) == [("filtered", 1), ("refused", 1)]
        assert (sum(one.n_asked for one in found), sum(one.n_given for one in found)) == (2, 0)


def test_a_file_of_grades_alone_has_no_empty_answers(tmp_path):
    bare = "id,question,model,correct\n" + "".join(f"{n},Q{n}?,m,{n % 2}\n" for n in range(10))
    with Store.open(tmp_path) as opened:
        made = ImportFile.from_bytes("bare.csv", bare.encode())
        import_reading(opened, read("table", [made]), "Bare", MOMENT)
        (row,) = overview(load_study(opened, "Bare"), Filters()).ranking
    assert (row.right.value, row.given.value) == (50.0, 50.0)
    assert row.accuracy.withheld == ()


def test_the_real_case_of_empty_answers(shared_folder, tmp_path):
    with Store.open(tmp_path) as opened:
        file = ImportFile.from_path(shared_folder / "real/cases/rows/empty_answers.csv")
        import_reading(opened, read("table", [file]), "Empty", MOMENT)
        found = {row.name: row for row in overview(load_study(opened, "Empty"), Filters()).ranking}
    assert round(found["refuser"].score.value, 1) == 50.0
    assert round(found["steady"].score.value, 1) == 66.7
    assert found["refuser"].given.value == 100.0


def test_published_figures_stand_whatever_answers_say(shared_folder, tmp_path):
    """Real graded files, sixty of their texts taken away: every published share stays."""
    real = shared_folder / "real"
    place = real / "mathvista/output_bard.json"
    rows = json.loads(place.read_text(encoding="utf-8"))
    for row in [row for row in rows.values() if not row["true_false"]][:60]:
        row["response"] = ""
    made = ImportFile.from_bytes(place.name, json.dumps(rows).encode())
    published = json.loads((real / "expected.json").read_text(encoding="utf-8"))["mathvista"]
    expected = published["bard"]
    with Store.open(tmp_path) as opened:
        import_reading(opened, read("mathvista", [made]), "M", MOMENT, accept=True)
        data = load_study(opened, "M")
        view = overview(data, Filters(), facet="skills")
        (row,) = view.ranking
        source = ExportSource(opened, data.study.id)
        find_exporter("csv").write(source, tmp_path / "tables", ExportOptions(moment=MOMENT))
    assert row.score.value == row.right.value == pytest.approx(expected["accuracy_percent"])
    # 348 right of the 940 that have a text.
    assert row.given.value == pytest.approx(34800 / 940)
    assert row.accuracy.withheld == (("empty", 60),)
    found = {skill.name: skill.cells[0].estimate for skill in view.skills}
    for skill, (n, share) in expected["skills_percent"].items():
        assert (found[skill].n, round(found[skill].value, 2)) == (n, share)
    with (tmp_path / "tables/ranking.csv").open(encoding="utf-8-sig") as file:
        (line,) = csv.DictReader(file)
    assert float(line["right"]) == pytest.approx(expected["accuracy_percent"])
