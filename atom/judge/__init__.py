"""Asking models: the client, its requests and replies."""

from atom.judge.client import JudgeClient
from atom.judge.limiter import Limiter
from atom.judge.pictures.cache import PictureCache
from atom.judge.reply import (
    CallGaveUp,
    CallRefused,
    Reply,
    failed_call,
    is_server_fault,
)
from atom.judge.request import (
    PicturePart,
    Request,
    TextPart,
    call_id,
    request_hash,
)
from atom.judge.retry import RetryPolicy
from atom.judge.sampling import asked_request, asked_sampling
from atom.judge.timing import Timing
from atom.judge.usage import CostEstimate, SpendLedger

__all__ = [
    "CallGaveUp",
    "CallRefused",
    "CostEstimate",
    "JudgeClient",
    "Limiter",
    "PictureCache",
    "PicturePart",
    "Reply",
    "Request",
    "RetryPolicy",
    "SpendLedger",
    "TextPart",
    "Timing",
    "asked_request",
    "asked_sampling",
    "call_id",
    "failed_call",
    "is_server_fault",
    "request_hash",
]
