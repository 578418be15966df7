"""What people spend is counted where calls are kept, and runs share what is left."""

from __future__ import annotations

import pytest

from atom.access import acting_as, operator
from atom.engine.clock import stamp, utc_now
from atom.engine.control import prepare_resume
from atom.errors import AccessError, UsageError
from atom.records import Call, Endpoint, Run, StudyTask
from atom.store.team.budgets import capped, list_budgets, may_ask, set_budget, what_is_left
from atom.store.team.people import events_of
from tests.atom.store.team.conftest import ADA, ANNA, VERA

PAID = Endpoint(name="j", base_url="https://api.internal/v1", model="m", family="f",
                roles=("judge",))  # fmt: skip
TASK = StudyTask(kind="study", stages=("scoring",))
FREE = Endpoint(name="p", base_url="probe:", model="m", family="f", roles=("judge",))


def call(name, cost):
    return Call(id=name, request_hash=name, task="t", endpoint="e", model="m", prompt="p",
                reply="r", cost=cost)  # fmt: skip


def begin(store, name, budget, *, cost=0.0):
    now = stamp(utc_now())
    run = Run(id=name, study_id="s", judge="j", budget=budget, cost=cost, state="running",
              created=now, heartbeat=now, task=TASK)  # fmt: skip
    with store.write("run") as writer:
        run = capped(writer, run)
        writer.replace([run])
        writer.tell("run", study="s", subject=run.id)
    return run


def test_calls_count_for_whoever_has_them_made(team, as_):
    with as_(ANNA):
        team.put([call("a", 1.5), call("b", None)])
        team.transact(lambda writer: writer.replace([call("c", 0.5)]), action=None)
        # 5 a month less 1.5 and 0.5
        assert what_is_left(team).usd == pytest.approx(3.0)
    with as_(ADA):
        # an admin has no budget of their own: 8 of everybody's less 2
        assert what_is_left(team).usd == pytest.approx(6.0)
    found = {one.name: (one.usd, one.spent) for one in list_budgets(team)}
    assert found["Anna"] == (5.0, 2.0)
    assert found["deployment"] == (8.0, 2.0)


def test_runs_at_one_time_share_what_is_left(team, as_):
    with as_(ANNA):
        assert begin(team, "one", 3.0).budget == 3.0
        assert begin(team, "two", None).budget == pytest.approx(2.0)
        with pytest.raises(AccessError, match=r"nothing is left of your \$5.00 this month"):
            begin(team, "three", 1.0)
        with pytest.raises(AccessError):
            may_ask(team, PAID)
        may_ask(team, FREE)
    with as_(ADA):
        with acting_as(operator("x")), team.write() as writer:
            silent = "2026-01-01T00:00:00+00:00"
            dead = team.get(Run, "one").model_copy(update={"id": "dead", "heartbeat": silent})
            writer.replace([dead])
        # 8 of everybody's less 5 that are promised; the run whose process is gone promises nothing
        assert begin(team, "four", 100.0).budget == pytest.approx(3.0)


def test_a_run_that_goes_on_is_capped_again(team, as_):
    with as_(ANNA):
        begin(team, "one", 3.0)
        team.put([call("a", 2.5)])
        with acting_as(operator("x")), team.write() as writer:
            writer.replace([begin_as(team, "one", budget=3.0, cost=2.5)])
        again = prepare_resume(team, "one", budget=50.0)
        # what it spent, and the 2.5 that are left of the month
        assert again.budget == pytest.approx(5.0)
    assert events_of(team)[0].subject == "one"


def begin_as(store, name, **changes):
    return store.get(Run, name).model_copy(update={**changes, "state": "stopped"})


def test_who_may_not_ask_pays_for_nothing(team, as_, tmp_path):
    with as_(VERA), pytest.raises(AccessError, match="asking models is for analysts"):
        may_ask(team, PAID)
    with as_(ANNA):
        with pytest.raises(AccessError, match="its own studies"):
            may_ask(None, PAID)
        with pytest.raises(AccessError, match="for admins"):
            set_budget(team, ANNA, 1000.0)
    with as_(ADA):
        set_budget(team, ANNA, 1.0)
        with pytest.raises(UsageError):
            set_budget(team, ANNA, -1.0)
    with as_(ANNA):
        may_ask(team, PAID)
        assert what_is_left(team).usd == 1.0
    with as_(ADA):
        set_budget(team, ANNA, None)
    with as_(ANNA):
        assert what_is_left(team).usd == 5.0
    assert events_of(team)[0].after == "as the file says"
