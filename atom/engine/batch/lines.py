"""The lines of a batch's file, and what became of the request that each is about."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from atom.errors import UsageError
from atom.foreign import open_foreign
from atom.judge.batches import LONGEST_LINE
from atom.judge.replies.completion import Completion, read_completion
from atom.judge.replies.objects import clean_text
from atom.judge.retry import NOTHING_SENT, AttemptFailed, Fault, http_fault
from atom.judge.servers.dialect import SentRequest
from atom.judge.servers.words import read_error
from atom.records import Usage

_FILTERED = Completion(content=None, refusal=None, finish="content_filter", usage=Usage())
"""A question that a content filter stopped has its answer: it isn't asked again."""


def read_lines(file: Path) -> Iterator[bytes | None]:
    """Yield a file's lines that aren't blank; None for one that is too long to be a reply.

    Raises:
        UsageError: it can't be read.
    """
    try:
        with open_foreign(file) as opened:
            first = True
            while line := opened.readline(LONGEST_LINE + 1):
                whole = len(line) <= LONGEST_LINE
                while not whole and line and not line.endswith(b"\n"):
                    line = opened.readline(LONGEST_LINE + 1)
                if first:
                    line, first = line.removeprefix(b"\xef\xbb\xbf"), False
                if not whole:
                    yield None
                elif line.strip():
                    yield line
    except OSError as error:
        raise UsageError(f"{file.name!r} can't be read: {error.strerror or error}") from error


def parse_line(raw: bytes | None) -> dict[str, object] | None:
    """Return a line's object if it has a custom_id and a response or an error."""
    if raw is None:
        return None
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or not isinstance(value.get("custom_id"), str):
        return None
    return value if value.get("response") or value.get("error") else None


def read_outcome(
    value: Mapping[str, object], *, sent: SentRequest = NOTHING_SENT
) -> Completion | Fault | None:
    """Read what became of a request.

    Args:
        value: the line.

    Returns:
        The completion, or why there is none; None where the line says neither.
    """
    response = value.get("response")
    if isinstance(response, Mapping):
        status, body = response.get("status_code"), response.get("body")
        if isinstance(body, str):
            raw = body.encode("utf-8", "replace")
        else:
            raw = json.dumps(body).encode()
        if status is None or status == 200:
            try:
                return read_completion(raw, sent=sent)
            except AttemptFailed as failed:
                return failed.fault
        if isinstance(status, int) and 100 <= status <= 599:
            fault = http_fault(status, {}, body, sent=sent)
            return _FILTERED if fault.kind == "filtered" else fault
        return None
    error = value.get("error")
    if not error:
        return None
    said = read_error({"error": error})
    words = clean_text(said.message or said.code or "no message").rstrip(".")
    return Fault(kind="transient", message=f"The batch brought no reply: {words}.")
