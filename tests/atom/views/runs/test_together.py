"""How the processes at a run share what there is, in words."""

from __future__ import annotations

import socket

from atom.records import Endpoint, Run, StudyTask
from atom.store import Store
from atom.store.team.budgets import RemainingBudget
from atom.store.together.quotas import (
    MoneyAsked,
    QuotaShare,
    SlotsAsked,
    open_purse,
    shared_by,
    take_money,
    take_slots,
)
from atom.views.runs.together import all_runs_now, left_words, sharing_words

RUN = Run(id="r", study_id="s", budget=2.0, task=StudyTask(kind="study", stages=("scoring",)))
JUDGE = Endpoint(name="my-judge", base_url="http://judge.example/v1", model="m", concurrency=64)


def test_processes_calls_and_money_are_said_with_other_runs_beside(location):
    def share(writer) -> None:
        writer.claim(["run:r", "sample:a", "sample:b"], "host/1/9#r", 60)
        writer.claim(["run:r+1", "sample:c"], "host/2/9#r+1", 60)
        writer.claim(["run:r2", "sample:d"], "host/3/9#r2", 60)
        for owner, wants in (("host/1/9#r", 20), ("host/2/9#r+1", 20), ("host/3/9#r2", 24)):
            one = SlotsAsked(endpoint="my-judge", ceiling=64, wants=wants, in_force=wants)
            take_slots(writer, owner, [one], 15)
            writer.set_quotas(owner, {"slots:my-judge": (wants, wants)}, 15)
        open_purse(writer, "r", 0.5)
        asked = MoneyAsked(least=0.1, held=0.0, cap=2.0)
        take_money(writer, "r", "host/1/9#r", asked, 60)

    with Store.open(location) as store:
        store.transact(share)
        shared = shared_by(store, "r")
        together = all_runs_now(store, [RUN, RUN], {"my-judge": JUDGE})
    spent = RUN.model_copy(update={"cost": 0.5})
    assert sharing_words(spent, shared, {"my-judge": JUDGE}) == (
        "2 processes on host, with 2 + 1 samples in hand",
        "calls at once: 40 of 64 at my-judge (24 with other runs)",
        # $0.50 were spent; of a piece of 5 cents ten are taken, what the next call may cost.
        "$1.50 left of the run’s $2.00, $0.10 of that in hand for calls",
    )

    assert together == (
        "2 runs work", "calls at once: 64 of 64 at my-judge", "$4.00 may still be spent",
    )  # fmt: skip


def test_one_process_without_others_says_only_what_money_is_left():
    shared = QuotaShare(samples=(7,), slots={"my-judge": 64}, elsewhere={"my-judge": 0})
    assert sharing_words(RUN, shared, {}) == ("$2.00 left of the run’s $2.00",)
    gone = RUN.model_copy(update={"cost": 2.0})
    assert sharing_words(gone, shared, {}) == ("nothing left of the run’s $2.00",)
    free = RUN.model_copy(update={"budget": None})
    assert sharing_words(free, shared, {}) == ()


def test_where_several_work_is_said():
    here, free = socket.gethostname(), RUN.model_copy(update={"budget": None})

    def said(*machines, samples=(5, 5, 5)):
        return sharing_words(free, QuotaShare(samples=samples, machines=machines), {})

    each = "with 5 + 5 + 5 samples in hand"
    assert said(here) == (f"3 processes on this computer, {each}",)
    assert said(here, samples=(5,)) == ()
    assert said("node-7", samples=(5,)) == ("on node-7",)
    assert said("node-7", "node-8") == (f"3 processes on 2 machines (node-7, node-8), {each}",)


def test_processes_without_samples_are_counted():
    free = RUN.model_copy(update={"budget": None})

    def said(*samples):
        return sharing_words(
            free, QuotaShare(samples=samples, machines=(socket.gethostname(),)), {}
        )

    first = "3 processes on this computer"
    assert said(33, 0, 0) == (f"{first}, with 33 samples in hand (2 of them have none just now)",)
    assert said(1200, 7, 0) == (
        f"{first}, with 1,200 + 7 samples in hand (1 of them has none just now)",
    )
    assert said(0, 0, 0) == (f"{first}, with no samples in hand",)


def test_a_month_says_whose_money_is_left():
    assert left_words(RemainingBudget(usd=38.0, of=200.0, whose="your")) == (
        "$38.00 left of your $200.00 this month",
    )
    assert left_words(RemainingBudget(usd=None)) == ()


def test_a_run_alone_in_the_store_is_no_sum(location):
    with Store.open(location) as store:
        assert all_runs_now(store, [RUN], {}) == ()


def test_a_run_on_several_machines_says_where_it_is(location):
    def share(writer) -> None:
        writer.claim(["run:r", "sample:a"], "node-2/1/9#r", 60)
        writer.claim(["run:r+1", "sample:c"], "node-1/2/9#r+1", 60)

    with Store.open(location) as store:
        store.transact(share)
        words = sharing_words(RUN, shared_by(store, "r"), {})
    assert words[0] == "2 processes on 2 machines (node-1, node-2), with 1 + 1 samples in hand"


def test_a_process_that_died_isnt_counted_among_those_at_work(location):
    """Its leases last for up to a minute; after that nothing of it is told."""

    def share(writer) -> None:
        writer.claim(["run:r", "sample:a"], "host/1/9#r", 60)
        writer.claim(["run:r+1", "sample:b"], "host/2/9#r+1", 57)
        writer.claim(["run:r+2", "sample:c", "sample:d"], "host/3/9#r+2", 40)
        writer.claim(["run:r+3", "sample:e"], "host/4/9#r+3", -1)

    with Store.open(location) as store:
        store.transact(share)
        words = sharing_words(RUN, shared_by(store, "r"), {})
    assert words[:2] == (
        "2 processes on host, with 1 + 1 samples in hand",
        "1 more gives no sign of life (its 2 samples will go to the others within a minute)",
    )
    several = sharing_words(RUN, QuotaShare(samples=(3,), silent=(0, 0)), {})
    assert several[0] == "2 more give no sign of life"
