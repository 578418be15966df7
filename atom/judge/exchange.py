"""What one `ask` has sent, paid and got so far; and what a completion amounts to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from atom.judge.replies.completion import Completion
from atom.judge.replies.objects import extract_object
from atom.judge.reply import ReplyState
from atom.judge.request import Request, call_id
from atom.judge.servers.dialect import Dialect, SentRequest
from atom.judge.usage import CostEstimate, add_usage, cost_of
from atom.records import Call, Endpoint, ReplyForm, Usage
from atom.records.thoughts import SplitReply, tell_apart

LENGTHENED = 2
"""A reply cut by the token limit is asked for again with so many times the tokens."""
FEWEST_LENGTHENED = 1024
MOST_TOKENS = 32_768
MOST_LENGTHENED = 3
"""So often a reply that was cut while the model was still thinking is asked for again; one that
was cut within its answer, once."""


@dataclass(slots=True)
class Exchange:
    """The books of one `ask`: each turn and each try is entered."""

    request: Request
    hash: str
    literals: tuple[bytes, ...] = ()
    sides: tuple[tuple[int, int], ...] = ()
    sides_unpadded: tuple[tuple[int, int], ...] = ()
    attempts: int = 0
    estimate: CostEstimate | None = None
    own: Dialect = field(default_factory=Dialect)
    sent: SentRequest = field(default_factory=SentRequest)
    usage: Usage | None = None
    cost: float | None = 0.0
    estimated_cost: float | None = 0.0
    form: ReplyForm = "text"
    repaired: bool = False
    adapted: tuple[str, ...] = ()
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)

    @property
    def expected_tokens(self) -> int:
        """Tokens that a turn will probably take, for the token rate."""
        known = self.estimate
        return 0 if known is None else known.prompt_tokens + known.completion_tokens

    def assume(self) -> float:
        """Enter a reply that was of no use, but was written, at its estimate; return that."""
        assumed = (self.estimate.cost if self.estimate is not None else None) or 0.0
        self.estimated_cost = _sum(self.estimated_cost, assumed)
        return assumed

    def pay(self, endpoint: Endpoint, usage: Usage, estimate: CostEstimate) -> float | None:
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
            adapted=self.adapted,
            sampled=self.sent.dialect.let_through(self.request.sampling),
            created=now.astimezone(UTC).isoformat(timespec="milliseconds"),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class CompletionVerdict:
    """What a completion amounts to; see `ReplyState`.

    Args:
        state: whether it's usable.
        data: the object that fits the schema.
        reason: why it isn't.
        notes: what had to be overlooked.
        thoughts: what the model thought aloud, wherever it stood.
        thinking: whether the token limit came before the answer began.
        formless: whether there is no object of the form asked for at all, right or wrong inside.
    """

    state: ReplyState
    data: Mapping[str, object] | None = None
    reason: str = ""
    notes: tuple[str, ...] = ()
    thoughts: str = ""
    thinking: bool = False
    formless: bool = False


def judge_completion(request: Request, completion: Completion) -> CompletionVerdict:
    """Say whether a completion can be used.

    A complete object that fits the schema is used even when the token limit came after it.
    """
    content = completion.content or ""
    spoken = tell_apart(content)
    thoughts = "\n".join(part for part in (completion.thoughts, spoken.thoughts) if part)
    verdict = _verdict(request, completion, content, spoken, bool(thoughts))
    return replace(verdict, thoughts=thoughts)


def _verdict(
    request: Request, completion: Completion, content: str, spoken: SplitReply, thought: bool
) -> CompletionVerdict:
    if completion.refusal:
        return CompletionVerdict(
            state="refused", reason=f"The model refused: {completion.refusal[:300]}"
        )
    if completion.finish == "content_filter":
        return CompletionVerdict(state="filtered", reason="A content filter stopped the reply.")
    if completion.finish == "refusal":
        return CompletionVerdict(
            state="refused", reason=f"The model refused. {content[:300]}".strip()
        )
    cut = completion.finish == "length"
    if not content.strip():
        return _without_words(request, completion, cut=cut)
    if request.schema is None:
        if cut:
            return CompletionVerdict(
                state="cut",
                reason="The token limit was reached while the model was thinking."
                if not spoken.answer
                else "The reply was cut by the token limit.",
                thinking=not spoken.answer,
            )
        if thought and not spoken.answer:
            return CompletionVerdict(
                state="empty", reason="The reply holds no answer outside its think block."
            )
        return CompletionVerdict(state="ok")
    found = extract_object(content, request.schema, lines=not cut)
    if found.data is not None:
        return CompletionVerdict(state="ok", data=found.data, notes=found.notes)
    if cut:
        return CompletionVerdict(
            state="cut",
            reason=f"Cut by the token limit. {found.problem}",
            thinking=not spoken.answer,
        )
    shape = {"type": "object", "required": request.schema.get("required", [])}
    formless = extract_object(content, shape).data is None
    return CompletionVerdict(state="unreadable", reason=found.problem, formless=formless)


def _without_words(request: Request, completion: Completion, *, cut: bool) -> CompletionVerdict:
    """Judge a reply without content."""
    if cut:
        return CompletionVerdict(
            state="cut",
            reason="The token limit was reached before any text came.",
            thinking=True,
        )
    if not completion.thoughts.strip():
        return CompletionVerdict(state="empty", reason="The reply has no content.")
    if request.schema is None:
        return CompletionVerdict(
            state="empty", reason="All the reply's words are among its thoughts."
        )
    # Some servers file a whole structured reply under thoughts when its think block isn't closed.
    if completion.thoughts.lstrip().startswith("{"):
        found = extract_object(completion.thoughts, request.schema)
        if found.data is not None:
            note = "the server filed the reply under the model's thoughts"
            return CompletionVerdict(state="ok", data=found.data, notes=(*found.notes, note))
    return CompletionVerdict(
        state="unreadable", reason="All the reply's words are among its thoughts."
    )


def more_tokens(max_tokens: int | None, usage: Usage) -> int:
    """Return the token limit for another try after a cut reply."""
    reached = max_tokens or usage.completion_tokens or FEWEST_LENGTHENED
    return max(reached, min(MOST_TOKENS, max(FEWEST_LENGTHENED, LENGTHENED * reached)))


def _sum(total: float | None, part: float | None) -> float | None:
    return None if total is None or part is None else total + part
