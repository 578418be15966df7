"""A study's judges as one panel."""

from __future__ import annotations

import csv
import io
import json
import math

import pytest

from atom.cli.main import main
from atom.display import numbers
from atom.display.numbers import money
from atom.records import Call, Checkpoint, Judge, content_id
from atom.reports.draft import ReportDraft, ReportSpec
from atom.reports.markdown_file import to_markdown
from atom.store import Store, table
from atom.store.reading.calls import cost_of_marks
from atom.ui.html import escape
from atom.ui.judges.panel import told
from atom.views.failures.page import failures
from atom.views.failures.sample import sample_view
from atom.views.filters import Filters
from atom.views.judges import panel_tables
from atom.views.judges.panel import panel_view
from atom.views.judges.panel_words import panel_words
from atom.views.overview.differing import judges_differ, where_most
from atom.views.overview.page import overview
from atom.views.overview.ranking_table import DIFFER, ranking_table
from atom.views.shards import in_threads
from atom.views.snapshot import open_study
from atom.views.study_data import load_study
from tests.app.screen_store import JUDGE, make_store
from tests.held import same_columns

KIND = Judge(id=content_id("judge", "kind"), name="kind", endpoint="kind")


@pytest.fixture(scope="module")
def panelled(tmp_path_factory):
    """Make a study whose marks a second judge repeats, a step higher where it can."""
    made = make_store(tmp_path_factory.mktemp("panel"))
    with Store.open(made.folder) as store:
        marks = store.select(Checkpoint, table(Checkpoint).c.judge_id == JUDGE.id)
        again = [
            one.model_copy(
                update={
                    "judge_id": KIND.id,
                    "key": Checkpoint.make_key(
                        one.criterion_id, one.response_id, KIND.id, one.prompt, one.sampling,
                        one.repeat,
                    ),
                    "score": min(one.score + 1, 5),
                }
            )
            for one in marks
            if one.score is not None
        ]  # fmt: skip
        store.put([KIND, *again])
    return made


def test_the_judges_are_put_together(panelled):
    with Store.open(panelled.folder) as store:
        data = load_study(store, panelled.study.id)
        view = panel_view(
            store, data, lambda name: load_study(store, data.study.id, name), Filters()
        )
    seats = {one.judge.name: one for one in view.seats}
    assert set(seats) == {JUDGE.name, "kind"}
    # One is as far above the other as that is below it, and no more than a step of 25 points.
    assert 0 < seats["kind"].shift == pytest.approx(-seats[JUDGE.name].shift)
    assert seats["kind"].shift <= 25
    assert (seats["kind"].flaw, seats[JUDGE.name].flaw) == ("lenient", "harsh")
    assert not view.calibrated
    assert view.drop == ""
    # Nobody was asked twice, so repeats aren't known; the calls behind the marks were free.
    options = {one.name: one for one in view.advice.options}
    assert options["samples"].half == pytest.approx(view.advice.half / 2**0.5)
    assert options["judge"].half <= view.advice.half
    assert math.isnan(options["repeat"].half)
    assert {one.price for one in view.advice.options} == {0.0}
    assert 0 <= view.advice.judges <= 1
    means = [one.mean for one in view.scores]
    assert means == sorted(means, reverse=True)
    # Two judges d apart: a standard deviation of d / sqrt(2); 25 / 1.414 = 17.7 at most.
    assert all(0 < one.disagreement < 17.7 for one in view.scores)


@pytest.fixture(scope="module")
def priced(tmp_path_factory):
    """Make the same study; marks of an answer are one call: $0.01, or $0.04 of "kind"."""
    made = make_store(tmp_path_factory.mktemp("priced"))
    with Store.open(made.folder) as store:
        marks = [
            one
            for one in store.select(Checkpoint, table(Checkpoint).c.judge_id == JUDGE.id)
            if one.score is not None
        ]
        calls, kept = [], []
        for name, cost in ((JUDGE.id, 0.01), (KIND.id, 0.04)):
            for answer in sorted({one.response_id for one in marks}):
                calls.append(
                    Call(id=content_id("call", name, answer), request_hash="h", task="scoring",
                         endpoint="e", model="m", prompt="scoring/1", reply="{}", cost=cost)
                )  # fmt: skip
            for one in marks:
                key = Checkpoint.make_key(one.criterion_id, one.response_id, name, one.prompt,
                                          one.sampling, one.repeat)  # fmt: skip
                score = min(one.score + (name == KIND.id), 5)
                kept.append(one.model_copy(update={
                    "judge_id": name, "key": key, "score": score,
                    "call_id": content_id("call", name, one.response_id)}))  # fmt: skip
        store.put([KIND, *calls])
        with store.write() as writer:
            writer.replace(kept)
    return made, len({one.response_id for one in marks}), len(marks)


def test_each_way_to_narrow_has_its_price(priced, capsys):
    made, answers, marks = priced
    with Store.open(made.folder) as store:
        data = load_study(store, made.study.id)
        view = panel_view(
            store, data, lambda name: load_study(store, data.study.id, name), Filters()
        )
    # Every answer took one call of each judge: $0.01 and $0.04. A mark costs so much over the
    # answer's marks, all marks $0.01 R and $0.04 R with R answers.
    costs = {one.judge.name: one.cost for one in view.seats}
    assert costs == pytest.approx({JUDGE.name: 0.01 * answers / marks,
                                   "kind": 0.04 * answers / marks})  # fmt: skip
    # As many samples again, or both judges once more: both judges' costs over the n marks that
    # both gave; another judge like these: the mean of theirs, (0.01 + 0.04) / 2.
    n = view.advice.marks
    all_ = (0.01 + 0.04) * answers * n / marks
    prices = {one.name: one.price for one in view.advice.options}
    assert prices == pytest.approx({"samples": all_, "repeat": all_, "judge": all_ / 2})
    # The best takes most variance away for its price: half of it for all_, or J + 1 = 3rd of the
    # judges' part for half as much.
    half = {one.name: one.half for one in view.advice.options}
    gain = {name: (view.advice.half**2 - half[name] ** 2) / prices[name]
            for name in ("samples", "judge")}  # fmt: skip
    assert view.advice.best == max(gain, key=gain.get)
    assert view.advice.by_price
    assert view.advice.why_repeat == "not every judge was asked twice"
    told = panel_words(view)
    assert any(f"± {half['samples']:.2f}, about {money(all_)}" in line for line in told)
    assert main(["judge", "panel", "--study", made.study.name, "--store", str(made.folder)]) == 0
    said = capsys.readouterr().out
    assert said.count(money(all_)) == 2
    assert money(all_ / 2) in said


def test_a_call_without_a_price_leaves_the_price_unknown(priced):
    made, _, _ = priced
    with Store.open(made.folder) as store:
        whole = cost_of_marks(store, made.study.id, KIND.id)
        one = store.select(Call, table(Call).c.cost == 0.04, limit=1)[0]
        with store.write() as writer:
            writer.replace([one.model_copy(update={"cost": None})])
        less = cost_of_marks(store, made.study.id, KIND.id)
        with store.write() as writer:
            writer.replace([one])
        none = cost_of_marks(store, "no-such-study", KIND.id)
    assert (less.marks, less.cost, less.each) == (whole.marks, None, None)
    assert whole.each == whole.cost / whole.marks
    assert (none.marks, none.each) == (0, None)


@pytest.mark.slow
def test_exports_reports_and_profile_say_where_judges_differ(priced, tmp_path, capsys):
    made, _, _ = priced
    where = ["--study", made.study.name, "--store", str(made.folder)]
    with Store.open(made.folder) as store:
        data = load_study(store, made.study.id)
        shown = overview(data, Filters())
        rows = shown.ranking
    for name in ("csv", "judgments", "html"):
        suffix = {"csv": "", "judgments": ".csv", "html": ".html"}[name]
        out = tmp_path / f"{name}{suffix}"
        assert main(["export", name, *where, "--out", str(out)]) == 0
    ranking = list(csv.DictReader((tmp_path / "csv" / "ranking.csv").read_text().splitlines()))
    for line in ranking:
        mine = next(row for row in rows if row.name == line["model"])
        assert float(line["judges_differ_percent"]) == pytest.approx(mine.judges.share, abs=1e-3)
        assert float(line["disagreement"]) == pytest.approx(mine.judges.disagreement, abs=1e-3)
    # Two judges 25 points apart, or none at a 5: a standard deviation of 25 / sqrt(2) or 0.
    for path in (tmp_path / "csv" / "scores.csv", tmp_path / "judgments.csv"):
        told = [
            line for line in csv.DictReader(io.StringIO(path.read_text())) if line["disagreement"]
        ]
        assert told
        for line in told:
            assert float(line["disagreement"]) in (0.0, pytest.approx(25 / 2**0.5, abs=1e-3))
    page = (tmp_path / "html.html").read_text()
    # The page says what the table's column does.
    column = next(one for one in ranking_table(shown).shown("text") if one.title == DIFFER)
    assert column.text(rows[0]).startswith(numbers.percent(rows[0].judges.share, rows[0].judges.n))
    assert all(f'"{column.text(row)}"' in page for row in rows)
    assert "A panel of 2 judges" in page
    capsys.readouterr()
    assert main(["profile", "show", *where, "--model", rows[0].name, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)["judges_differ"]
    assert said == pytest.approx({"share": rows[0].judges.share, "n": rows[0].judges.n,
                                  "disagreement": rows[0].judges.disagreement})  # fmt: skip
    with Store.open(made.folder) as store:
        report = ReportDraft.of(store, load_study(store, made.study.id), Filters()).report(
            ReportSpec()
        )
    text = to_markdown(report)
    assert "| judges differ | disagreement |" in text
    assert f"| {rows[0].judges.share:.1f} % | {rows[0].judges.disagreement:.1f} |" in text
    assert "As many samples again (marking alone): ± " in text


def test_the_ranking_says_how_often_judges_differ(panelled):
    with Store.open(panelled.folder) as store:
        data = load_study(store, panelled.study.id)
        rows = overview(data, Filters()).ranking
        kind = load_study(store, panelled.study.id, KIND.id)
        cut = in_threads(data, 2)
    # "kind" gives every mark but a 5 one step more, so they differ on all that the other scored
    # under 5, by 25 points: a standard deviation of 25 / sqrt(2) there.
    table = data.table
    for row in rows:
        mine = (table.model[table.response] == row.colour) & (table.score > 0)
        mine &= ~table.quarantined[table.sample[table.response]]
        share = 100 * float((table.score[mine] < 5).mean())
        assert row.judges.n == int(mine.sum())
        assert row.judges.share == pytest.approx(share)
        assert row.judges.disagreement == pytest.approx(share / 100 * 25 / 2**0.5, rel=1e-5)
    # Whoever is looked at, the judges differ on the same checkpoints; so it is in parts.
    assert [one.judges.share for one in sorted(overview(kind, Filters()).ranking,
                                               key=lambda one: one.colour)] == pytest.approx(
        [one.judges.share for one in sorted(rows, key=lambda one: one.colour)])  # fmt: skip
    assert [one.judges for one in overview(cut, Filters()).ranking] == [one.judges for one in rows]


def test_the_list_and_a_case_show_where_judges_differ(panelled):
    with Store.open(panelled.folder) as store:
        data = load_study(store, panelled.study.id)
        door = overview(data, Filters(study="s")).ranking[0].judges.filters
        assert Filters.from_query(door.to_query()) == door
        found = failures(store, data, door)
        assert 0 < found.total <= len(data.table.sample_ids)
        assert sum(row.apart for row in found.rows) == found.checkpoints
        case = sample_view(store, data, door.but(sample=found.rows[0].sample_id,
                                                 criterion=found.rows[0].criterion_id))  # fmt: skip
    assert case.mark.apart
    labels = {one.judge.name: one.mark.label for one in case.mark.panel}
    assert int(labels["kind"]) == int(labels[JUDGE.name]) + 1


def test_capabilities_are_named_on_which_judges_differ_most(panelled):
    with Store.open(panelled.folder) as store:
        data = load_study(store, panelled.study.id)
    whole, most = judges_differ(data, Filters()), where_most(data, Filters(), least=1)
    assert whole.n >= sum(one.n for one in most) > 0
    shares = [one.share for one in most]
    assert shares == sorted(shares, reverse=True)
    for one in most:
        assert one == judges_differ(data, Filters(node=one.path))
    # Each model's checkpoints are some of all, and the shares' mean by checkpoints is the whole's.
    parts = [judges_differ(data, Filters(model=name)) for name in data.table.model_ids]
    assert sum(one.n for one in parts) == whole.n
    assert sum(one.n * one.share for one in parts) / whole.n == pytest.approx(whole.share)


def test_one_judge_differs_from_nobody(tmp_path):
    made = make_store(tmp_path)
    with Store.open(made.folder) as store:
        data = load_study(store, made.study.id)
        rows = overview(data, Filters()).ranking
        first = failures(store, data, Filters()).rows[0]
        case = sample_view(store, data, Filters(sample=first.sample_id))
    assert data.table.apart is None
    assert (judges_differ(data, Filters()), where_most(data, Filters())) == (None, ())
    assert {row.judges for row in rows} == {None}
    assert first.apart == 0
    assert all(not mark.panel for one in case.criteria for mark in one.marks)


def test_a_snapshot_keeps_where_judges_differ(panelled, tmp_path):
    with Store.open(panelled.folder) as store:
        read = load_study(store, panelled.study.id)
        held = [open_study(store, panelled.study.id, folder=tmp_path) for _ in range(2)]
    assert all(same_columns(read, one) for one in held)
    assert read.table.differ.any()


def test_the_command_says_the_same(panelled, capsys):
    where = ["--study", panelled.study.name, "--store", str(panelled.folder)]
    assert main(["judge", "panel", *where, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {one["judge"]: one["flaw"] for one in found["judges"]}["kind"] == "lenient"
    assert found["advice"]["best"] in ("samples", "judge")
    assert main(["judge", "panel", *where]) == 0
    said = capsys.readouterr().out
    assert "judge-scale" in said
    with Store.open(panelled.folder) as store:
        data = load_study(store, panelled.study.id)
        view = panel_view(
            store, data, lambda name: load_study(store, data.study.id, name), Filters()
        )
    drawn = told(view)
    tables = (
        panel_tables.seats(view),
        panel_tables.scores(view),
        panel_tables.options(view.advice),
    )
    for one in tables:
        texts = {column.text(row) for column in one.shown("text") for row in one.rows}
        assert all(text in said and escape(text) in drawn for text in texts)
    assert found["judges"][0]["shift"] == pytest.approx(view.seats[0].shift)
    assert f"± {view.advice.options[0].half:.2f}" in said


def test_one_judge_is_no_panel(tmp_path, capsys):
    made = make_store(tmp_path)
    where = ["--study", made.study.name, "--store", str(made.folder)]
    assert main(["judge", "panel", *where]) == 2
    assert "fewer than two judges" in capsys.readouterr().err
