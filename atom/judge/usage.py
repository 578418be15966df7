"""Tokens and money: what a call cost, what the next one may cost, and when to stop."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass

from atom.errors import SpendCapReached, UsageError
from atom.judge.request import Request
from atom.records import PictureLimit, Prices, Usage

CHARACTERS_A_TOKEN = 4.0
"""English prose in current tokenisers; only for estimates."""
PICTURE_TILE = 512
"""Side of the tiles by which vision models commonly count pictures."""
TOKENS_A_TILE = 170
TOKENS_A_PICTURE = 85
TYPICAL_COMPLETION = 600
"""Tokens of a reply when nothing is known about it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CostEstimate:
    """What a request will probably cost.

    Args:
        prompt_tokens: by the length of the texts and the size of the pictures.
        completion_tokens: the mean of earlier replies to this task, else a typical length.
        cost: expected, in USD; None where the endpoint has no prices.
        most: with the longest reply allowed, in USD.
    """

    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    most: float | None


def estimate_request(
    request: Request,
    prices: Prices,
    limit: PictureLimit,
    *,
    typical_completion: float | None = None,
    thinking_tokens: int = 0,
) -> CostEstimate:
    """Estimate a request's tokens and cost before anything is sent.

    Args:
        request: the request; no picture is read.
        prices: the endpoint's prices for a million tokens.
        limit: the endpoint's picture limit; each picture counts as one of the largest size.
        typical_completion: mean tokens of earlier replies.
        thinking_tokens: the endpoint's room for thoughts, on top of the reply's own limit.

    Returns:
        The estimate. Formula: tokens = characters / 4 + pictures * (85 + 170 * tiles), with tiles
        of 512 x 512 pixels after the picture was scaled to at most 768 on its short side.
    """
    side = min(limit.max_side, 2048)
    tiles = math.ceil(side / PICTURE_TILE) * math.ceil(min(side, 768) / PICTURE_TILE)
    pictures = len(request.pictures) * (TOKENS_A_PICTURE + TOKENS_A_TILE * tiles)
    prompt = math.ceil(request.n_characters / CHARACTERS_A_TOKEN) + pictures
    limit_asked = request.sampling.max_tokens
    allowed = None if limit_asked is None else limit_asked + thinking_tokens
    typical = math.ceil(typical_completion or TYPICAL_COMPLETION)
    expected = typical if allowed is None else min(typical, allowed)
    most = max(expected, allowed or 2 * typical)
    return CostEstimate(
        prompt_tokens=prompt,
        completion_tokens=expected,
        cost=cost_of(Usage(prompt_tokens=prompt, completion_tokens=expected), prices),
        most=cost_of(Usage(prompt_tokens=prompt, completion_tokens=most), prices),
    )


def cost_of(usage: Usage, prices: Prices) -> float | None:
    """Return the cost of a call in USD, or None where a count or a price that it needs is missing.

    Formula: (prompt - cached) * input + cached * cached_input + completion * output, prices for a
    million tokens. Where `cached_input` isn't known, cached tokens cost as much as others.
    """
    prompt, completion = usage.prompt_tokens, usage.completion_tokens
    if prompt is None or completion is None or prices.input is None:
        return None
    if completion and prices.output is None:
        return None
    cached = min(usage.cached_tokens or 0, prompt)
    cached_price = prices.input if prices.cached_input is None else prices.cached_input
    total = (
        (prompt - cached) * prices.input + cached * cached_price + completion * (prices.output or 0)
    )
    return total / 1_000_000


def add_usage(first: Usage, second: Usage) -> Usage:
    """Add two counts; a total with an unknown part is unknown."""
    return Usage(
        prompt_tokens=_add(first.prompt_tokens, second.prompt_tokens),
        completion_tokens=_add(first.completion_tokens, second.completion_tokens),
        cached_tokens=_add(first.cached_tokens, second.cached_tokens),
        thinking_tokens=_add(first.thinking_tokens, second.thinking_tokens),
    )


def _add(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else first + second


_ROUNDING = 1e-9
"""USD: less than this, of what calls in flight may cost, is left behind by rounding."""


class SpendLedger:
    """Keeps a run's spending under a cap, calls in flight included.

    Args:
        cap: USD; None = no cap.
        spent: what the run has spent before, when it's resumed.

    One ledger is shared by all clients of a run, in one event loop. A request is let through when
    what is spent, what the requests in flight may cost and what it may cost itself stay within
    the cap. When only the requests in flight stand in the way, it waits for them.
    """

    def __init__(self, cap: float | None = None, *, spent: float = 0.0) -> None:
        if cap is not None and not (math.isfinite(cap) and cap >= 0):
            raise UsageError(f"A spend cap of {cap!r} was given; allowed is 0 or more (USD).")
        self._cap = cap
        self._spent = spent
        self._estimated = 0.0
        self._reserved = 0.0
        self._waiting: list[asyncio.Future[None]] = []

    @property
    def cap(self) -> float | None:
        """The cap in USD."""
        return self._cap

    @property
    def spent(self) -> float:
        """USD spent, estimates for replies without a count included."""
        return self._spent

    @property
    def estimated(self) -> float:
        """The part of `spent` that is an estimate."""
        return self._estimated

    @property
    def reserved(self) -> float:
        """USD that the requests in flight may cost."""
        return self._reserved

    async def reserve(self, most: float) -> None:
        """Set aside what a request may cost at most.

        Raises:
            SpendCapReached: it doesn't fit under the cap; nothing was sent.
        """
        while self._cap is not None:
            if self._spent + most > self._cap:
                raise SpendCapReached(
                    f"The spend cap of ${self._cap:.4g} is reached: ${self._spent:.4f} are spent "
                    f"and the next call may cost ${most:.4f}. Nothing more was sent. Raise the "
                    "cap and resume; what is done stays done."
                )
            if self._spent + self._reserved + most <= self._cap:
                break
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            await turn
        self._reserved += most

    def settle(self, most: float, cost: float | None, estimate: float | None = None) -> None:
        """Replace a reservation by what the request cost.

        Args:
            most: what was reserved.
            cost: what it cost; None = unknown.
            estimate: the cost to assume when it's unknown.
        """
        left = self._reserved - most
        self._reserved = left if left > _ROUNDING else 0.0
        if cost is None:
            self._estimated += estimate or 0.0
        self._spent += (estimate or 0.0) if cost is None else cost
        waiting, self._waiting = self._waiting, []
        for turn in waiting:
            if not turn.done():
                turn.set_result(None)
