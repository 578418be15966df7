"""What one `ask` has sent, paid and got so far; and what a completion amounts to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from atom.judge.completion import Completion
from atom.judge.reply import ReplyState
from atom.judge.reply_json import extract_object
from atom.judge.request import Request, call_id
from atom.judge.usage import Estimate, add_usage, cost_of
from atom.records import Call, Endpoint, ReplyForm, Usage

LENGTHENED = 2
"""A reply cut by the token limit is asked for once more with so many times the tokens."""
FEWEST_LENGTHENED = 1024
MOST_TOKENS = 32_768


@dataclass(slots=True)
class Exchange:
    """The books of one `ask`: each turn and each try is entered."""

    request: Request
    hash: str
    literals: tuple[bytes, ...] = ()
    attempts: int = 0
    expected_tokens: int = 0
    usage: Usage | None = None
    cost: float | None = 0.0
    estimated_cost: float | None = 0.0
    form: ReplyForm = "text"
    repaired: bool = False
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)

    def pay(self, endpoint: Endpoint, usage: Usage, estimate: Estimate) -> float | None:
        """Enter a turn's tokens and return its cost, or None where it isn't known."""
        cost = cost_of(usage, endpoint.prices)
        assumed = estimate.cost if cost is None else cost
        self.usage = usage if self.usage is None else add_usage(self.usage, usage)
        self.cost = _sum(self.cost, cost)
        self.estimated_cost = _sum(self.estimated_cost, assumed)
        return cost

    def record(
        self,
        endpoint: Endpoint,
        now: datetime,
        *,
        reply: str | None = None,
        finish: str | None = None,
        error: str | None = None,
    ) -> Call:
        """Return the call's record."""
        return Call(
            id=call_id(self.hash, self.request.repeat),
            request_hash=self.hash,
            task=self.request.task,
            endpoint=endpoint.name,
            model=endpoint.model,
            prompt=self.request.prompt_id,
            reply=reply,
            error=error,
            form=self.form,
            finish=finish,
            attempts=max(1, self.attempts),
            repaired=self.repaired,
            usage=self.usage or Usage(),
            cost=self.cost if self.usage is not None else None,
            seconds=self.seconds,
            created=now.astimezone(UTC).isoformat(timespec="milliseconds"),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What a completion amounts to; see `ReplyState`."""

    state: ReplyState
    data: Mapping[str, object] | None = None
    reason: str = ""
    notes: tuple[str, ...] = ()


def judge_completion(request: Request, completion: Completion) -> Verdict:
    """Say whether a completion can be used.

    A complete object that fits the schema is used even when the token limit came after it.
    """
    content = completion.content or ""
    if completion.refusal:
        return Verdict(state="refused", reason=f"The model refused: {completion.refusal[:300]}")
    if completion.finish == "content_filter":
        return Verdict(state="filtered", reason="A content filter stopped the reply.")
    cut = completion.finish == "length"
    if not content.strip():
        if cut:
            return Verdict(state="cut", reason="The token limit was reached before any text came.")
        return Verdict(state="empty", reason="The reply has no content.")
    if request.schema is None:
        if cut:
            return Verdict(state="cut", reason="The reply was cut by the token limit.")
        return Verdict(state="ok")
    found = extract_object(content, request.schema, lines=not cut)
    if found.data is not None:
        return Verdict(state="ok", data=found.data, notes=found.notes)
    if cut:
        return Verdict(state="cut", reason=f"Cut by the token limit. {found.problem}")
    return Verdict(state="unreadable", reason=found.problem)


def more_tokens(max_tokens: int | None, usage: Usage) -> int:
    """Return the token limit for a second try after a cut reply."""
    reached = max_tokens or usage.completion_tokens or FEWEST_LENGTHENED
    return max(reached, min(MOST_TOKENS, max(FEWEST_LENGTHENED, LENGTHENED * reached)))


def _sum(total: float | None, part: float | None) -> float | None:
    return None if total is None or part is None else total + part
