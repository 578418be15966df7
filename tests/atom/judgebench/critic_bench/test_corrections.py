"""Corrections with the reference's critique, the judge's own, and none: asked, and by hand."""

from __future__ import annotations

import asyncio

import pytest

from atom.engine.bench.judging import BenchSpec
from atom.engine.bench.sets import make_probe_set
from atom.engine.work import carry_out, open_work
from atom.judge.servers.endpoints import builtin_endpoints
from atom.judgebench.critic_bench.ask import CORRECTIONS
from atom.judgebench.critic_bench.corrections import TITLE, WORDS, corrections_table
from atom.records import BenchItem, Call, Sampling, Verdict
from atom.store import Store
from atom.store.verdicts import verdicts_about
from atom.views.lab.page import bench_result, standings

OWN, EMPTY = CORRECTIONS[1:]


def item(at, domain="math_cot", truth="7"):
    data = {"kind": "answer", "domain": domain, "quality": "low", "truth": truth, "corrected": True}
    return BenchItem(set_id="s", id=f"i{at}", position=at, data=data)


def said(at, part, final="", value=None, state="scored"):
    return Verdict(
        key=f"{at}{part}", group="s", subject_id=f"i{at}", part=part, judge="j", prompt="p/1",
        sampling=Sampling(), state=state, value=value, data={"final_answer": final}, text=final,
    )  # fmt: skip


def test_only_answers_revised_in_every_way_count():
    items = [item(0), item(1), item(2), item(3, "code_exec", "")]
    verdicts = [
        said(0, "correction", "7"), said(0, OWN, "7"), said(0, EMPTY, "8"),
        said(1, "correction", "7"), said(1, OWN, "6"), said(1, EMPTY, state="unscored"),
        said(2, "correction", "7"),
    ]  # fmt: skip
    table = corrections_table(items, verdicts)
    # Of the first two: reference 2 of 2, own 1 of 2, none 0 of 2 with one unread.
    assert [(row.group, row.value, row.n, row.invalid) for row in table.rows] == [
        (WORDS["correction"], 100, 2, 0), (WORDS[OWN], 50, 2, 0), (WORDS[EMPTY], 0, 2, 1),
    ]  # fmt: skip
    assert corrections_table(items, [said(0, "correction", "7")]) is None


def test_a_program_counts_once_it_was_run_with_every_critique():
    def ran(at, part, value):
        end = "" if part == "correction" else f"/{part}"
        return said(at, f"code_run{end}", value=value)

    items = [item(at, "code_exec", "") for at in range(3)]
    made = [said(at, part, "x") for at in range(3) for part in CORRECTIONS]
    assert corrections_table(items, made) is None
    runs = [
        ran(0, "correction", 1.0), ran(0, OWN, 0.0), ran(0, EMPTY, 0.0),
        ran(1, "correction", 1.0), ran(1, OWN, 1.0), ran(1, EMPTY, 0.0),
        ran(2, "correction", 1.0), ran(2, OWN, 1.0),
    ]  # fmt: skip
    # The third still waits with no critique. Of the others: 2 of 2, 1 of 2, 0 of 2.
    table = corrections_table(items, [*made, *runs])
    assert [(row.value, row.n) for row in table.rows] == [(100, 2), (50, 2), (0, 2)]


def test_grades_are_means_over_the_same_answers():
    graded = [
        said(0, f"scorer/j/{part}", value=value)
        for part, value in (("correction", 8.0), (EMPTY, 5.0))
    ] + [
        said(1, f"scorer/j/{part}", value=value)
        for part, value in (("correction", 6.0), (EMPTY, 4.0))
    ] + [said(2, "scorer/j/correction", value=1.0)]  # fmt: skip
    made = [said(at, part, "x") for at in range(3) for part in ("correction", EMPTY)]
    table = corrections_table([item(at, "qa", "") for at in range(3)], [*made, *graded])
    assert [row.value for row in table.rows] == pytest.approx([7, 4.5])


@pytest.mark.slow
def test_a_judge_is_asked_with_its_own_critique_and_with_none(tmp_path):
    known = {endpoint.name: endpoint for endpoint in builtin_endpoints()}
    with Store.open(tmp_path / "s") as store:
        record = make_probe_set(store, "critic_bench", 8)
        spec = BenchSpec(set_id=record.id, judge="probe-judge", votes=1, parts=CORRECTIONS)
        run = open_work(store, spec, known)
        assert asyncio.run(carry_out(store, run.id, known)).state == "done"
        judge = standings(store, record.id)[0].judge
        about = verdicts_about(store, record.id, judge, scorer="scorer/", shared="scorer/any/")
        parts = {
            part: [one for one in about if one.part == part] for part in ("feedback", *CORRECTIONS)
        }
        assert all(parts.values())
        assert len({len(parts[part]) for part in CORRECTIONS}) == 1
        critiques = {one.subject_id: one.text for one in parts["feedback"]}
        calls = {one.id: one for one in store.select(Call)}
        for one in parts[OWN]:
            assert critiques[one.subject_id]
            assert one.call_id in calls
        result = bench_result(store, record.id, judge)
    table = next(one for one in result.tables if one.title == TITLE)
    assert {row.group for row in table.rows} == set(WORDS.values())
