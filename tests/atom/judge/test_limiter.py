"""The limiter: how many at once, how fast, and what a crowd does."""

from __future__ import annotations

import asyncio

import pytest

from atom.judge import Limiter


async def take(limiter, order, name, *, crowded=False, hold=0):
    async with limiter.slot() as slot:
        order.append(name)
        for _ in range(hold):
            await asyncio.sleep(0)
        if crowded:
            slot.crowded()
        else:
            slot.clean()


async def test_first_come_first_served(patience):
    limiter = Limiter(1, timing=patience.timing)
    order: list[int] = []
    await asyncio.gather(*(take(limiter, order, n, hold=3) for n in range(6)))
    assert order == list(range(6))
    assert limiter.in_flight == 0


async def test_a_crowd_cuts_once_for_all_in_flight(patience):
    limiter = Limiter(16, timing=patience.timing)
    order: list[int] = []
    await asyncio.gather(*(take(limiter, order, n, crowded=True, hold=2) for n in range(16)))
    assert limiter.limit == 8
    await take(limiter, order, 17, crowded=True)
    assert limiter.limit == 4


async def test_the_limit_never_falls_below_one(patience):
    limiter = Limiter(2, timing=patience.timing)
    for n in range(5):
        await take(limiter, [], n, crowded=True)
    assert limiter.limit == 1


async def test_clean_answers_grow_it_back_to_the_ceiling_and_no_further(patience):
    limiter = Limiter(4, timing=patience.timing)
    await take(limiter, [], 0, crowded=True)
    assert limiter.limit == 2
    for n in range(30):
        await take(limiter, [], n)
    assert limiter.limit == 4


async def test_a_pause_holds_every_start(patience):
    limiter = Limiter(4, timing=patience.timing)
    limiter.pause(10.0)
    limiter.pause(3.0)  # A shorter one changes nothing.
    await asyncio.gather(*(take(limiter, [], n) for n in range(3)))
    assert patience.slept == [pytest.approx(10.0, abs=0.1)] * len(patience.slept)
    assert patience.slept


async def test_after_a_pause_the_starts_are_spread(patience):
    limiter = Limiter(4, timing=patience.timing)
    patience.chance = 0.5
    limiter.pause(4.0)
    await take(limiter, [], 0)
    assert patience.slept == [pytest.approx(4.5, abs=0.1)]  # 4 + 0.5 * (4 / 4)


async def test_no_slot_is_held_during_a_pause(patience):
    held: list[int] = []
    limiter = Limiter(1, timing=patience.timing)
    real = patience.sleep

    async def sleep(seconds):
        held.append(limiter.in_flight)
        await real(seconds)

    limiter = Limiter(1, timing=type(patience.timing)(clock=patience.clock, sleep=sleep))
    limiter.pause(5.0)
    await take(limiter, [], 0)
    assert held == [0]


async def test_a_rate_of_requests_holds(patience):
    limiter = Limiter(8, requests_per_minute=60, timing=patience.timing)
    started = patience.clock()
    for n in range(30):
        await take(limiter, [], n)
    # One a second, with a burst of 5 seconds' worth at the start.
    assert patience.clock() - started == pytest.approx(30 - 1 - 5, abs=0.5)


async def test_a_rate_of_tokens_holds_by_the_true_counts(patience):
    limiter = Limiter(8, tokens_per_minute=6000, timing=patience.timing)
    started = patience.clock()
    for _ in range(11):
        async with limiter.slot(tokens=100) as slot:
            slot.clean(tokens=200)
    # 200 tokens take 2 s at 100 a second; ten gaps, less the burst of 5 s.
    assert patience.clock() - started == pytest.approx(10 * 2 - 5, abs=0.5)


async def test_a_request_larger_than_the_burst_is_let_through(patience):
    limiter = Limiter(1, tokens_per_minute=60, timing=patience.timing)
    async with limiter.slot(tokens=100_000):
        assert patience.slept == []


async def test_a_cancelled_waiter_leaves_the_queue(patience):
    limiter = Limiter(1, timing=patience.timing)
    order: list[str] = []
    async with limiter.slot():
        waiting = [asyncio.create_task(take(limiter, order, name)) for name in "abc"]
        await asyncio.sleep(0)
        waiting[1].cancel()
        await asyncio.sleep(0)
    await asyncio.gather(*waiting, return_exceptions=True)
    assert order == ["a", "c"]
    assert limiter.in_flight == 0


async def test_a_waiter_cancelled_as_it_is_let_in_hands_the_place_on(patience):
    limiter = Limiter(1, timing=patience.timing)
    order: list[str] = []
    async with limiter.slot():
        first = asyncio.create_task(take(limiter, order, "a"))
        second = asyncio.create_task(take(limiter, order, "b"))
        await asyncio.sleep(0)
    first.cancel()
    await asyncio.gather(first, second, return_exceptions=True)
    assert order == ["b"]
    assert limiter.in_flight == 0
