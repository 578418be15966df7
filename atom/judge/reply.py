"""What came back from a model, good or not; and the errors of calls that brought nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from atom.errors import PermanentError, TransientError
from atom.records import Call, ReplyForm
from atom.records.thoughts import tell_apart

ReplyState = Literal["ok", "refused", "filtered", "empty", "cut", "unreadable"]
"""`ok`: usable. `refused`: the model declined. `filtered`: a content filter stopped the question or
the reply. `empty`: no answer came. `cut`: the token limit was reached again and again.
`unreadable`: no JSON object that fits the schema, not even after the repair turn. All but `ok`
become *unscored* items."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """A model's answer to a request, as far as it can be used.

    Args:
        state: whether it's usable, and if not, what happened.
        text: the raw reply of the last turn, think blocks included; empty when none came.
        data: the JSON object that fits the schema; None without a schema or unless `ok`.
        reason: one plain sentence for anything but `ok`.
        call: the record of the call: tokens, cost, attempts, form.
        notes: what was done on the way (a picture scaled, a reply form given up, a comma removed).
        estimated_cost: cost from an estimate of the tokens, where the server counted none.
        thoughts: what the model thought aloud: in think blocks, or reported apart.
    """

    state: ReplyState
    text: str
    call: Call
    data: Mapping[str, object] | None = field(default=None, hash=False)
    reason: str = ""
    notes: tuple[str, ...] = ()
    estimated_cost: float | None = None
    thoughts: str = ""

    @property
    def ok(self) -> bool:
        """Whether the reply can be used."""
        return self.state == "ok"

    @property
    def form(self) -> ReplyForm:
        """How the structured reply was asked for in the end."""
        return self.call.form


class CallGaveUp(TransientError):
    """Every allowed try failed; a later run may succeed.

    Args:
        message: what happened, and what to do next.
        call: the record of the failed call, with its attempts and error.
    """

    def __init__(self, message: str, call: Call | None = None) -> None:
        super().__init__(message)
        self.call = call


class CallRefused(PermanentError):
    """The endpoint can't answer this request, however often it's asked.

    Args:
        message: what happened, and what to do next.
        call: the record of the failed call; None when none was sent.
    """

    def __init__(self, message: str, call: Call | None = None) -> None:
        super().__init__(message)
        self.call = call


def failed_call(error: BaseException) -> Call | None:
    """Return the record of the call that ended in this error, where one was sent."""
    return error.call if isinstance(error, CallGaveUp | CallRefused) else None


def is_server_fault(call: Call) -> bool:
    """Whether a call brought nothing usable through the server's fault, so that asking may help.

    Not so: a refusal, a content filter, a reply cut by the token limit, one that can't be read.
    """
    if call.finish in {"refusal", "content_filter", "length"}:
        return False
    if call.reply is None or call.finish == "error":
        return True
    return not tell_apart(call.reply).answer
