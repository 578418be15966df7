"""The items behind the figures of the four benchmarks, from probes that a coin has judged."""

from __future__ import annotations

import asyncio
import csv
import io
import math

import pytest

from atom.engine.bench.judging import BenchSpec
from atom.engine.bench.sets import make_probe_set
from atom.engine.work import carry_out, open_work
from atom.judge.servers.endpoints import builtin_endpoints
from atom.judgebench.items import card_of, group_of, in_group, judged, one_way
from atom.records import BenchItem, Sampling, Verdict
from atom.store import Store
from atom.views.lab.items import (
    groups_of,
    item_list,
    item_rows,
    item_view,
    items_csv,
    read_facets,
    write_facets,
)
from atom.views.lab.page import bench_result, standings

ENDPOINTS = {endpoint.name: endpoint for endpoint in builtin_endpoints()}
COIN = "probe-judge-coin"
RATES = {
    "vl_rewardbench": {"overall_accuracy", "accuracy"},
    "multi_crit": {"pacc"},
    "mm_critic": {"acc_critic", "acc_prefer"},
    "critic_bench": {"accuracy"},
}
"""Figures that are the share of items which are right."""
AT_ONCE = "vl_rewardbench"
"""The benchmark whose items are looked at in the quick tests; the other three take longer."""
BENCHMARKS = [
    pytest.param(name, marks=() if name == AT_ONCE else pytest.mark.slow) for name in sorted(RATES)
]


@pytest.fixture(scope="module", params=BENCHMARKS)
def lab(request, tmp_path_factory):
    """Return a store with a set of one benchmark that two judges have worked through."""
    with Store.open(tmp_path_factory.mktemp("lab") / "store") as store:
        record = make_probe_set(store, request.param, 12)
        for judge in (COIN, "probe-judge"):
            spec = BenchSpec(set_id=record.id, judge=judge, scorer="probe-judge", votes=3)
            run = open_work(store, spec, ENDPOINTS)
            ended = asyncio.run(carry_out(store, run.id, ENDPOINTS))
            assert ended.state == "done", ended.message
        yield store, record


def judge_of(store, record, name):
    return next(one.judge for one in standings(store, record.id) if one.name == name)


def figures(result):
    yield from (("", row) for row in result.headline)
    yield from ((table.title, row) for table in result.tables for row in table.rows)


@pytest.mark.slow
def test_a_figure_is_the_share_of_its_items_that_are_right(lab):
    store, record = lab
    judge = judge_of(store, record, COIN)
    seen = 0
    for title, row in figures(bench_result(store, record.id, judge)):
        if row.metric not in RATES[record.benchmark] or row.rule not in ("", "strict"):
            continue
        counts = item_list(item_rows(store, record, judge), group_of(row, title)).counts
        asked = counts["right"] + counts["wrong"] + counts["unread"]
        assert asked == row.n, (title, row)
        assert counts["right"] == pytest.approx(row.value * row.n / 100), (title, row)
        seen += 1
    assert seen >= 2


@pytest.mark.parametrize("lab", ["vl_rewardbench"], indirect=True)
def test_error_rates_open_the_items_with_that_kind_of_error(lab):
    store, record = lab
    judge = judge_of(store, record, COIN)
    rows = [
        row
        for _, row in figures(bench_result(store, record.id, judge))
        if row.metric == "error_rate" and row.group
    ]
    assert rows
    for row in rows:
        counts = item_list(item_rows(store, record, judge), group_of(row)).counts
        assert (counts["all"], counts["wrong"]) == (row.n, round(row.value * row.n / 100)), row


def test_the_list_is_worst_first_and_counts_what_it_offers(lab):
    store, record = lab
    judge = judge_of(store, record, COIN)
    rows = item_rows(store, record, judge)
    whole = item_list(rows)
    places = [{"wrong": 0, "unread": 1, "marked": 2, "right": 3, "silent": 4}[r.found.standing]
              for r in whole.rows]  # fmt: skip
    assert places == sorted(places)
    assert whole.counts["all"] == len(whole.rows) == record.n_items
    for shown in ("wrong", "torn", "right", "marked", "silent"):
        assert len(item_list(rows, "", shown).rows) == whole.counts[shown]


def test_an_item_shows_every_judge_with_reasons_and_raw_replies(lab):
    store, record = lab
    judge = judge_of(store, record, COIN)
    listed = item_list(item_rows(store, record, judge), "", "wrong")
    names = {one.judge: one.name for one in standings(store, record.id)}
    view = item_view(store, record, listed, None, names)
    assert (view.place, view.total, view.before) == (1, len(listed.rows), None)
    assert {name for _, name, _ in view.judges} == {COIN, "probe-judge"}
    assert view.row.card.question
    assert view.row.card.texts
    said = next(found for who, _, found in view.judges if who == judge).said
    assert any(one.reason for one in said)
    assert all(view.replies[one.verdict.call_id] for one in said)
    if view.after is not None:
        assert item_view(store, record, listed, view.after, names).before == view.row.item.id
    assert item_view(store, record, listed, "nobody", names) is None


@pytest.mark.slow
def test_every_door_opens_on_something(lab):
    store, record = lab
    judge = judge_of(store, record, COIN)
    result = bench_result(store, record.id, judge)
    groups = groups_of(store, record.id, [result])
    assert "" in groups
    for group in groups:
        assert item_list(item_rows(store, record, judge), group).rows
    named = {group_of(row, title) for title, row in figures(result) if math.isfinite(row.value)}
    assert len(groups) >= 0.5 * len(named)


def test_the_file_has_a_line_for_each_thing_that_was_said(lab):
    store, record = lab
    listed = item_list(item_rows(store, record, judge_of(store, record, COIN)))
    rows = list(csv.DictReader(io.StringIO(items_csv(listed, COIN))))
    assert len(rows) == sum(max(len(row.found.said), 1) for row in listed.rows)
    assert {row["judge"] for row in rows} == {COIN}


def test_filters_keep_items_that_have_every_chosen_word(lab):
    store, record = lab
    rows = item_rows(store, record, judge_of(store, record, COIN))
    whole = item_list(rows)
    for name, words in whole.facets.items():
        for word, count in words.items():
            kept = item_list(rows, "", "all", [(name, word)])
            assert len(kept.rows) == count > 0
            assert all((name, word) in row.card.facets for row in kept.rows)
            # The other words of the same name stay on offer, with all their items.
            assert kept.facets[name] == words


def test_an_order_shows_what_was_said_in_it_alone(lab):
    store, record = lab
    judge = judge_of(store, record, COIN)
    every = item_rows(store, record, judge)
    orders = {one.verdict.order for row in every for one in row.found.said} & {"ab", "ba"}
    for order in orders:
        rows = item_rows(store, record, judge, order)
        said = [one for row in rows for one in row.found.said]
        assert {one.verdict.order for one in said} == {order}
        there = [one for row in every for one in row.found.said if one.verdict.order == order]
        assert said == there


# --- by hand ----------------------------------------------------------------------------------


def verdict(label, *, state="scored", repeat=0, order="ab", part="pair", prompt="p/1"):
    return Verdict(
        key=f"{label}{repeat}{order}{prompt}", group="s", subject_id="i", part=part, judge="j",
        prompt=prompt, sampling=Sampling(), repeat=repeat, order=order, state=state, label=label,
    )  # fmt: skip


PAIR = BenchItem(
    set_id="s", id="i", position=0,
    data={"query": "q", "responses": ["x", "y"], "better": "a", "category": "reasoning",
          "tags": ["counting"]},
)  # fmt: skip


@pytest.mark.parametrize(
    ("votes", "standing", "torn"),
    [
        ([verdict("a"), verdict("a", repeat=1), verdict("b", repeat=2)], "right", True),
        # Two against two decides nothing: METHODS A13 counts that as wrong.
        ([verdict("a"), verdict("b", repeat=1)], "wrong", True),
        ([verdict("b")], "wrong", False),
        ([verdict("", state="unscored")], "unread", False),
        ([verdict("", state="failed")], "silent", False),
        ([], "silent", False),
    ],
)
def test_votes_on_a_pair(votes, standing, torn):
    found = judged("vl_rewardbench", PAIR, votes)
    assert (found.standing, found.torn) == (standing, torn)


def test_one_way_of_asking_counts_as_in_the_figures():
    votes = [verdict("a"), verdict("a", repeat=1), verdict("b", prompt="p/2")]
    assert one_way(votes) == votes[:2]


def test_groups_ask_for_all_their_parts():
    card = card_of("vl_rewardbench", PAIR)
    assert in_group(card, "")
    assert in_group(card, "reasoning; kind of error: counting")
    # All of reasoning is a kind of error of its own, as the table of error rates has it.
    assert in_group(card, "kind of error: reasoning")
    assert not in_group(card, "kind of error: existence")


def test_chosen_words_survive_an_address():
    facets = (("Kind of error", "counting; all"), ("Category", "x=y&z"))
    assert read_facets(write_facets(facets)) == facets
    assert write_facets(()) == ""
    for strange in ("", "{", "[1]", '[["a"]]', "[" * 100_000, '{"a": 1}'):
        assert read_facets(strange) == ()


STEP = {"id": "s1", "question": "How many dots?", "ground_truth": "3", "score": 4,
        "leaf": ["Perception", "Counting"]}  # fmt: skip
PROBE = BenchItem(set_id="s", id="i", position=0, data={
    "probe": "p", "model": "m", "question": "q", "answer": "x",
    "steps": [STEP, STEP | {"id": "s2", "question": "Red?", "leaf": ["Perception", "Colour"]}],
})  # fmt: skip


def test_a_probe_of_known_truth_is_held_against_it_step_by_step():
    # Scored 5 and unread where the truth is 4 and 4: one wrong by +1, one unread.
    one = verdict("", part="scoring").model_copy(
        update={"value": 1.0, "data": {"scores": [5, None]}, "detail": "no usable score"}
    )
    found = judged("calibration", PROBE, [one])
    assert [(said.code, said.apart) for said in found.said] == [(0, 1.0), (-1, None)]
    assert (found.standing, found.apart) == ("wrong", 1.0)
    card = card_of("calibration", PROBE)
    assert in_group(card, "Perception")
    assert in_group(card, "Perception › Counting")
    assert card.truth[0] == ("How many dots?", "3 (scores 4)")


CODE = BenchItem(set_id="s", id="i", position=0, data={
    "kind": "answer", "domain": "code_exec", "quality": "low", "question": "q", "answer": "x",
    "critique": "off by one", "correction": "", "tests": "assert f(1) == 2",
})  # fmt: skip


def test_a_corrected_program_is_right_when_its_run_passed():
    correction = verdict("", part="correction").model_copy(update={"text": "def f(x): ..."})
    failed = verdict("failed", part="code_run").model_copy(update={"detail": "AssertionError"})
    found = judged("critic_bench", CODE, [correction, failed])
    run = next(one for one in found.said if one.about == "its correction, run")
    assert (run.words, run.code, run.reason) == ("failed", 0, "AssertionError")
    assert found.standing == "wrong"
    assert ("its critique", "Reference critique", "off by one") in card_of(
        "critic_bench", CODE
    ).beside


def test_a_benchmark_without_a_card_shows_its_own_fields():
    item = BenchItem(set_id="s", id="i", position=0, data={"question": "q", "note": "n", "k": 3})
    card = card_of("unknown", item)
    assert (card.question, card.texts) == ("q", (("note", "n"),))
