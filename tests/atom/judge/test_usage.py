"""Tokens, money and the cap."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.errors import SpendCapReached, UsageError
from atom.judge import PicturePart, Request, SpendLedger, TextPart
from atom.judge.usage import add_usage, cost_of, estimate_request
from atom.records import PictureLimit, Prices, Sampling, Usage

PRICES = Prices(input=2.0, output=8.0, cached_input=0.5)


def request(text="x" * 400, pictures=0, max_tokens=None):
    parts = tuple(PicturePart.from_bytes(bytes([n])) for n in range(pictures))
    return Request(
        task="t",
        prompt_id="t/1",
        system="",
        parts=(*parts, TextPart(text=text)),
        sampling=Sampling(max_tokens=max_tokens),
    )


def test_cost_with_cached_tokens():
    usage = Usage(prompt_tokens=1000, completion_tokens=100, cached_tokens=400)
    # 600 * 2 + 400 * 0.5 + 100 * 8 = 2200 for a million.
    assert cost_of(usage, PRICES) == pytest.approx(0.0022)
    # Without a price of their own, cached tokens cost as much: 1000 * 2 + 100 * 8 = 2800.
    assert cost_of(usage, Prices(input=2.0, output=8.0)) == pytest.approx(0.0028)


def test_more_cached_than_prompt_tokens_is_no_discount():
    usage = Usage(prompt_tokens=10, completion_tokens=0, cached_tokens=99)
    assert cost_of(usage, PRICES) == pytest.approx(10 * 0.5 / 1e6)


@pytest.mark.parametrize(
    ("usage", "prices"),
    [
        (Usage(), PRICES),
        (Usage(prompt_tokens=1), PRICES),
        (Usage(completion_tokens=1), PRICES),
        (Usage(prompt_tokens=1, completion_tokens=1), Prices()),
        (Usage(prompt_tokens=1, completion_tokens=1), Prices(input=1.0)),
    ],
)
def test_an_unknown_part_makes_an_unknown_cost(usage, prices):
    assert cost_of(usage, prices) is None


def test_free_is_not_unknown():
    usage = Usage(prompt_tokens=1, completion_tokens=1)
    assert cost_of(usage, Prices(input=0.0, output=0.0)) == 0.0


def test_usage_adds_up_or_is_unknown():
    one = Usage(prompt_tokens=1, completion_tokens=2, cached_tokens=None)
    assert add_usage(one, one) == Usage(prompt_tokens=2, completion_tokens=4)
    assert add_usage(one, Usage()) == Usage()


def test_an_estimate_by_hand():
    limit = PictureLimit(max_side=2048)
    estimate = estimate_request(request(pictures=2, max_tokens=50), PRICES, limit)
    # 400 / 4 = 100, and for each picture 85 + 170 * (4 * 2) = 1445.
    assert estimate.prompt_tokens == 100 + 2 * 1445
    assert estimate.completion_tokens == 50
    assert estimate.cost == estimate.most == pytest.approx((2990 * 2 + 50 * 8) / 1e6)


def test_an_estimate_without_a_token_limit_leaves_room():
    estimate = estimate_request(request(), PRICES, PictureLimit(), typical_completion=100)
    assert estimate.completion_tokens == 100
    assert estimate.most == pytest.approx((100 * 2 + 200 * 8) / 1e6)


def test_without_prices_no_cost():
    estimate = estimate_request(request(), Prices(), PictureLimit())
    assert (estimate.cost, estimate.most) == (None, None)


async def test_a_ledger_without_a_cap_counts():
    ledger = SpendLedger()
    await ledger.reserve(5.0)
    ledger.settle(5.0, 3.0)
    await ledger.reserve(5.0)
    ledger.settle(5.0, None, 2.0)
    assert (ledger.spent, ledger.estimated, ledger.reserved) == (5.0, 2.0, 0.0)


async def test_a_resumed_run_goes_on_counting():
    ledger = SpendLedger(1.0, spent=0.9)
    with pytest.raises(SpendCapReached, match=r"\$1 is reached: \$0.9000 are spent"):
        await ledger.reserve(0.2)
    await ledger.reserve(0.1)


async def test_a_request_waits_for_those_in_flight_rather_than_stop_early():
    ledger = SpendLedger(1.0)
    await ledger.reserve(0.8)
    waiting = asyncio.create_task(ledger.reserve(0.5))
    await asyncio.sleep(0)
    assert not waiting.done()
    ledger.settle(0.8, 0.2)
    await waiting
    assert ledger.reserved == pytest.approx(0.5)


async def test_a_request_that_waited_in_vain_stops():
    ledger = SpendLedger(1.0)
    await ledger.reserve(0.8)
    waiting = asyncio.create_task(ledger.reserve(0.5))
    await asyncio.sleep(0)
    ledger.settle(0.8, 0.8)
    with pytest.raises(SpendCapReached):
        await waiting


@pytest.mark.parametrize("cap", [-1.0, float("nan"), float("inf")])
def test_an_odd_cap_is_refused(cap):
    with pytest.raises(UsageError, match="allowed is 0 or more"):
        SpendLedger(cap)


@given(costs=st.lists(st.floats(0, 1), max_size=30), cap=st.floats(0, 5))
async def test_what_is_spent_never_passes_the_cap_when_calls_keep_to_their_most(costs, cap):
    ledger = SpendLedger(cap)
    for cost in costs:
        try:
            await ledger.reserve(cost)
        except SpendCapReached:
            break
        ledger.settle(cost, cost)
    assert ledger.spent <= cap + 1e-9


async def test_rounding_leaves_nothing_reserved():
    ledger = SpendLedger(5.0)
    for most in (0.1, 0.2, 0.3):
        await ledger.reserve(most)
    for most in (0.3, 0.1, 0.2):  # 0.1 + 0.2 + 0.3 - 0.3 - 0.1 - 0.2 is 8e-17 in doubles.
        ledger.settle(most, 0.0)
    assert ledger.reserved == 0.0
