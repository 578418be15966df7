"""Several processes at one run, each test on both kinds of store; they are tasks of one loop here.

What is special to processes of their own is shown by `test_control` and by
`benchmarks/many_processes.py`.
"""

from __future__ import annotations

import asyncio

import pytest

from atom.engine.cluster.executor import LocalPool, Order
from atom.engine.control import start_helpers
from atom.engine.study.spec import RunSpec
from atom.engine.work import carry_out, open_work, run
from atom.errors import UsageError
from atom.records import BenchTask, Checkpoint, Prices, Run, Study, StudyTask
from atom.settings import load_settings
from atom.store import Store, copy_study
from atom.store.together.quotas import open_purse

CANDIDATES = ("model-h", "model-b")


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def stores(request, place):
    """Open one store several times, as several processes do."""
    where = place
    if request.param == "postgresql":
        where = request.getfixturevalue("pg_url")
        with Store.open(place) as small, Store.open(where) as server:
            (study,) = small.select(Study)
            copy_study(small, server, study.id, "Copy")
    opened = [Store.open(where) for _ in range(3)]
    yield opened
    for one in opened:
        one.close()


def spec_for(store: Store, **other) -> RunSpec:
    (study,) = store.select(Study)
    return RunSpec(study_id=study.id, judge="probe-judge", candidates=CANDIDATES, **other)


async def together(stores, spec, endpoints, counted) -> Run:
    row = open_work(stores[0], spec, endpoints)
    stores[0].transact(lambda writer: open_purse(writer, row.id, row.cost), alone=True)
    work = [
        carry_out(store, row.id, endpoints, make=counted.make, processes=3, number=number)
        for number, store in enumerate(stores)
    ]
    return (await asyncio.gather(*work))[0]


async def test_three_processes_ask_each_question_once_within_one_limit(stores, endpoints, counted):
    counted.latency = 0.01
    few = {n: e.model_copy(update={"concurrency": 3}) for n, e in endpoints.items()}
    row = await together(stores, spec_for(stores[0], limit=4), few, counted)
    assert (row.state, row.failed, row.done) == ("done", 0, row.total), row.message
    assert set(counted.asked.values()) == {1}
    assert counted.total >= row.total
    # The judge and two candidates, each three at once.
    assert counted.most_in_flight <= 9
    assert stores[0].select(Checkpoint)
    again = await run(stores[1], spec_for(stores[1], limit=4), endpoints, make=counted.make)
    assert (again.done, again.message) == (0, "nothing was missing")


async def test_three_processes_keep_one_budget(stores, endpoints, counted):
    priced = {
        name: one.model_copy(update={"prices": Prices(input=1.0, output=1.0)})
        for name, one in endpoints.items()
    }
    row = await together(stores, spec_for(stores[0], budget=0.05), priced, counted)
    assert (row.state, row.message[:26]) == ("stopped", "The spend cap of $0.05 is ")
    assert 0 < row.cost <= 0.05
    assert set(counted.asked.values()) == {1}


async def test_a_stop_ends_all_and_resuming_alone_asks_nothing_again(stores, endpoints, counted):
    counted.latency = 0.5  # a stop is seen at a sign of life, twice a second
    spec = spec_for(stores[0])
    working = asyncio.create_task(together(stores, spec, endpoints, counted))
    while counted.total < 10:
        await asyncio.sleep(0.01)
    (row,) = stores[0].select(Run)
    stores[0].replace([row.model_copy(update={"state": "stopping"})])
    stopped = await working
    assert stopped.state == "stopped"
    assert stopped.done < stopped.total
    counted.latency = 0.01
    ended = await carry_out(stores[1], stopped.id, endpoints, make=counted.make)
    assert (ended.state, ended.done) == ("done", ended.total)
    assert set(counted.asked.values()) == {1}


def test_only_a_studys_stages_are_done_by_several_and_by_no_more_than_64(store, study):
    task = StudyTask(kind="study", stages=("replay",))
    row = Run(id="r", study_id=study.id, created="", heartbeat="", task=task)
    settings = load_settings({}, store="s")
    with pytest.raises(UsageError, match="1 to 64"):
        start_helpers(store, row, Order(processes=65), LocalPool(settings=settings))
    bench = row.model_copy(update={"task": BenchTask(kind="bench")})
    with pytest.raises(UsageError, match="only a study's own stages"):
        start_helpers(store, bench, Order(processes=2), LocalPool(settings=settings))
