"""Settable faults of the probe endpoint: what real servers do wrong, on demand and repeatably.

Whether and which fault hits is drawn from the request's bytes, so that two runs over the same study
meet the same faults. A *transport* fault hits the first tries of a request and is gone on the next
(the client counts its tries in the header `x-atomscope-attempt`); an *outcome* fault, such as a
refusal, stays with its request whatever the try, as a real model's would.

Reference: CLIENT.md, table of odd replies.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, model_validator

from atom.probes.draws import Draws

TransportFault = Literal[
    "rate_limit", "server_error", "unavailable_html", "reset", "stall", "truncated_body",
    "empty_choices", "null_content",
]  # fmt: skip
"""Gone on the next try."""
OutcomeFault = Literal["refusal", "length", "content_filter"]
"""Stay with the request."""
ContentFault = Literal[
    "fenced_json", "think_block", "prose_before_json", "score_seven", "weights_off", "missing_id",
    "duplicate_id",
]  # fmt: skip
"""Judge replies in an odd form; they stay with the request, a repair turn is another request."""
Fault = TransportFault | OutcomeFault | ContentFault

TRANSPORT_FAULTS: tuple[str, ...] = get_args(TransportFault)
OUTCOME_FAULTS: tuple[str, ...] = get_args(OutcomeFault)
CONTENT_FAULTS: tuple[str, ...] = get_args(ContentFault)
ALL_FAULTS: tuple[str, ...] = TRANSPORT_FAULTS + OUTCOME_FAULTS + CONTENT_FAULTS

Rate = Annotated[float, Field(ge=0, le=1)]


class FaultPlan(BaseModel):
    """Which faults hit, how often, and for how many tries."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rates: dict[Fault, Rate] = Field(default_factory=dict)
    """Fault → share of requests that it hits; the rates total at most 1."""
    seed: int = 0
    """Another seed hits other requests."""
    tries: int = Field(default=1, ge=1, le=100)
    """A transport fault hits this many tries of its request, then it is gone."""
    retry_after: float = Field(default=1.0, ge=0, le=3600)
    """Seconds in the Retry-After header of a 429."""
    stall: float = Field(default=30.0, ge=0, le=3600)
    """Seconds that a stalled reply hangs before the connection closes."""

    @model_validator(mode="after")
    def _possible(self) -> FaultPlan:
        total = sum(self.rates.values())
        if total > 1 + 1e-9:
            raise ValueError(f"the fault rates total {total:g}; they can total at most 1")
        return self

    def draw(self, request: bytes, attempt: int = 1) -> Fault | None:
        """Return the fault that hits a try of a request, if any.

        Args:
            request: the request's body.
            attempt: which try this is, from 1.

        Returns:
            The fault; equal arguments give equal faults.
        """
        if not self.rates:
            return None
        digest = hashlib.blake2b(request, digest_size=16).hexdigest()
        at = Draws("fault", self.seed, digest).uniform("which")
        for fault in sorted(self.rates):
            if at < self.rates[fault]:
                return None if fault in TRANSPORT_FAULTS and attempt > self.tries else fault
            at -= self.rates[fault]
        return None


def spoil(content: str, fault: Fault) -> str:
    """Put a judge's JSON reply into an odd form.

    Args:
        content: the reply, one JSON object.
        fault: a content fault; one that doesn't fit the reply leaves it as it is.

    Returns:
        The spoilt reply.
    """
    if fault == "fenced_json":
        return f"```json\n{content}\n```"
    if fault == "think_block":
        return f'<think>\nThe form asked for is {{"a": 1}}. Let me fill it in.\n</think>\n{content}'
    if fault == "prose_before_json":
        return f"Here is the object you asked for:\n\n{content}\n\nLet me know if it helps."
    document = json.loads(content)
    changed = _spoilt_items(document, fault) if isinstance(document, dict) else None
    return content if changed is None else json.dumps(changed, ensure_ascii=False)


def _spoilt_items(document: Mapping[str, object], fault: Fault) -> Mapping[str, object] | None:
    """Return the document with one item spoilt, or None where the fault doesn't apply."""
    for name in ("scores", "mappings", "criteria"):
        items = document.get(name)
        if not isinstance(items, list) or not items or not isinstance(items[-1], dict):
            continue
        last = items[-1]
        if fault == "score_seven" and name == "scores":
            items = [*items[:-1], {**last, "score": 7}]
        elif fault == "weights_off" and name == "criteria":
            items = [*items[:-1], {**last, "weight": int(last.get("weight") or 0) + 3}]
        elif fault == "missing_id" and name != "criteria":
            items = items[:-1]
        elif fault == "duplicate_id" and name != "criteria":
            items = [*items, last]
        else:
            return None
        return {**document, name: items}
    return None
