"""An endpoint's batch service: files up, a batch, its state, files down.

It goes through the `openai` client's own `files` and `batches`. What the service answers is read
from its raw JSON, since a server that speaks the protocol by half mustn't end in a stack trace.

Reference: OpenAI, "Batch API" guide; statuses and file limits.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar

from atom.errors import StoreError
from atom.files import part_path, stream
from atom.judge.keys import Key, endpoint_key
from atom.judge.noting import CHAT_URL
from atom.judge.replies.objects import clean_text
from atom.judge.reply import CallGaveUp, CallRefused
from atom.judge.retry import (
    AttemptFailed,
    Fault,
    RetryPolicy,
    advice,
    transport_fault,
    with_retries,
)
from atom.judge.timing import Timing
from atom.judge.transport import as_faults, open_openai
from atom.records import Endpoint

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI
    from openai._legacy_response import LegacyAPIResponse
    from openai.resources.batches import AsyncBatchesWithRawResponse
    from openai.resources.files import AsyncFilesWithRawResponse

LONGEST_LINE = 32_000_000
"""Bytes of a line in a file of replies: a line needn't end, and is held until it does."""
WINDOW: Literal["24h"] = "24h"
TAG = "atomscope"
"""The name under which a batch says which of ours it is."""
TRANSFER_SECONDS = 1800.0
"""Seconds that a file may be on its way."""
_LOOKED_THROUGH = 100
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class RemoteBatch:
    """A batch as the service tells of it.

    Args:
        status: the service's word.
        output_file: the file of replies, when there is one.
        error_file: the file of errors, when there is one.
        total: requests.
        completed: of these, answered.
        failed: of these, failed.
        problems: why the whole file was refused.
    """

    id: str
    status: str
    output_file: str | None = None
    error_file: str | None = None
    total: int = 0
    completed: int = 0
    failed: int = 0
    problems: tuple[str, ...] = ()


class BatchService:
    """Sends batches to one endpoint and fetches what comes of them.

    Args:
        environ: where the key is read; the process's environment when None.
        timing: clock, sleep and chance.
        transport: replaces the network, in tests.
        policy: retry policy; from the endpoint when None.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        environ: Mapping[str, str] | None = None,
        timing: Timing | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
        policy: RetryPolicy | None = None,
    ) -> None:
        self.endpoint = endpoint
        self._environ = environ
        self._timing = timing or Timing()
        self._transport = transport
        self._policy = policy or RetryPolicy(
            max_tries=endpoint.max_tries, max_seconds=endpoint.max_seconds
        )
        self._key = Key(None)
        self._openai: AsyncOpenAI | None = None

    async def __aenter__(self) -> Self:
        self._key = endpoint_key(self.endpoint, self._environ)
        self._openai = open_openai(self.endpoint, self._key, self._transport)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        client, self._openai = self._openai, None
        if client is not None:
            await client.close()

    async def upload(self, file: Path) -> str:
        """Upload a file of requests, unless it's there already.

        Returns:
            The file's name at the service.

        Raises:
            CallGaveUp: every try failed.
            CallRefused: the service refuses it.
            StoreError: the file can't be read.
        """
        try:
            data = await asyncio.to_thread(file.read_bytes)
        except OSError as error:
            raise StoreError(f"{file.name!r} can't be read: {error}") from error
        name = f"{TAG}-{file.name}"

        async def attempt() -> str:
            there = await self._find_file(name, len(data))
            if there is not None:
                return there
            answer = await self._files.create(
                file=(name, data, "application/jsonl"),
                purpose="batch",
                timeout=TRANSFER_SECONDS,
            )
            return _name(self._object(answer.content))

        return await self._try(attempt, TRANSFER_SECONDS)

    async def _find_file(self, name: str, size: int) -> str | None:
        """Find a file that was uploaded before its name could be noted."""
        answer = await self._optional(lambda: self._files.list(purpose="batch"))
        for row in answer:
            if row.get("filename") == name and row.get("bytes") == size and row.get("id"):
                return _name(row)
        return None

    async def create(self, file_id: str, ours: str) -> RemoteBatch:
        """Begin a batch, unless it has begun already.

        Args:
            file_id: the uploaded file.
            ours: our name of the batch; it tells whether a killed process had begun it.

        Raises:
            CallGaveUp: every try failed.
            CallRefused: the service refuses it.
        """

        async def attempt() -> RemoteBatch:
            rows = await self._optional(lambda: self._batches.list(limit=_LOOKED_THROUGH))
            for row in rows:
                tags = row.get("metadata")
                if isinstance(tags, dict) and tags.get(TAG) == ours:
                    return read_batch(row)
            answer = await self._batches.create(
                input_file_id=file_id,
                endpoint=CHAT_URL,
                completion_window=WINDOW,
                metadata={TAG: ours},
            )
            return read_batch(self._object(answer.content))

        return await self._try(attempt)

    async def retrieve(self, batch_id: str) -> RemoteBatch:
        """Ask how a batch is.

        Raises:
            CallGaveUp: every try failed.
            CallRefused: the service doesn't know it.
        """

        async def attempt() -> RemoteBatch:
            answer = await self._batches.retrieve(batch_id)
            return read_batch(self._object(answer.content))

        return await self._try(attempt)

    async def cancel(self, batch_id: str) -> RemoteBatch:
        """Ask to cancel a batch.

        Raises:
            CallGaveUp: every try failed.
            CallRefused: it can't be cancelled.
        """

        async def attempt() -> RemoteBatch:
            answer = await self._batches.cancel(batch_id)
            return read_batch(self._object(answer.content))

        return await self._try(attempt)

    async def download(self, file_id: str, place: Path) -> None:
        """Fetch a file of replies or errors; it is there whole or not at all.

        Raises:
            CallGaveUp: every try failed.
            CallRefused: the service doesn't give it.
            StoreError: it can't be written.
        """
        part = part_path(place)

        async def attempt() -> None:
            async with AsyncExitStack() as stack:
                opened = await stack.enter_async_context(
                    self._client.files.with_streaming_response.content(
                        file_id, timeout=TRANSFER_SECONDS
                    )
                )
                try:
                    file = stack.enter_context(stream(part))
                    async for line in _lines(opened.iter_bytes(1 << 16)):
                        file.write(self._clean(line))
                except OSError as error:
                    if isinstance(error, ConnectionError | TimeoutError):
                        raise
                    raise StoreError(f"{place.name!r} can't be written: {error}") from error
            part.replace(place)

        try:
            await self._try(attempt, TRANSFER_SECONDS)
        finally:
            part.unlink(missing_ok=True)

    # The way there

    @property
    def _client(self) -> AsyncOpenAI:
        assert self._openai is not None, "use the service in an `async with`"
        return self._openai

    @property
    def _files(self) -> AsyncFilesWithRawResponse:
        return self._client.files.with_raw_response

    @property
    def _batches(self) -> AsyncBatchesWithRawResponse:
        return self._client.batches.with_raw_response

    def _clean(self, raw: bytes) -> bytes:
        """Take secrets out of what came, before it is read or kept."""
        return self._key.scrub(raw.decode("utf-8", "surrogateescape")).encode(
            "utf-8", "surrogateescape"
        )

    def _object(self, raw: bytes) -> dict[str, object]:
        return _object(self._clean(raw))

    async def _optional(
        self, ask: Callable[[], Awaitable[LegacyAPIResponse[Any]]]
    ) -> list[dict[str, object]]:
        """Return the rows of a list; none where the service keeps no lists."""
        import openai

        try:
            answer = await ask()
        except (openai.NotFoundError, openai.BadRequestError):
            return []
        except openai.APIStatusError as error:
            if error.status_code in (405, 501):
                return []
            raise
        rows = self._object(answer.content).get("data")
        return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []

    async def _try(self, attempt: Callable[[], Awaitable[T]], seconds: float | None = None) -> T:
        async def once(left: float) -> T:
            return await self._once(attempt, min(seconds or self.endpoint.timeout, left))

        policy = self._policy
        if seconds is not None:
            policy = RetryPolicy(
                max_tries=policy.max_tries, max_seconds=max(policy.max_seconds, 2 * seconds)
            )
        try:
            return await with_retries(once, policy, self._timing)
        except AttemptFailed as failed:
            fault = failed.fault
        words = self._key.scrub(
            f"Endpoint {self.endpoint.name!r} ({self.endpoint.host}), batch service: "
            f"{fault.message} {self._advice(fault)}"
        )
        raise (CallGaveUp if fault.kind == "transient" else CallRefused)(words)

    def _advice(self, fault: Fault) -> str:
        if fault.status == 404:
            return (
                "This server may have no batch service (or no longer the file): run without "
                "batches, or check base_url."
            )
        return advice(fault, self.endpoint)

    async def _once(self, attempt: Callable[[], Awaitable[T]], seconds: float) -> T:
        with as_faults(self._timing, seconds, key=self._key):
            async with asyncio.timeout(seconds):
                return await attempt()


async def _lines(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield whole lines, their ends included, but those that are too long for a reply."""
    held: list[bytes] = []
    size = 0
    async for piece in pieces:
        first, mark, rest = piece.partition(b"\n")
        size += len(first)
        if size <= LONGEST_LINE:
            held.append(first)
        else:
            held.clear()
        if not mark:
            continue
        if size <= LONGEST_LINE:
            yield b"".join(held) + mark
        whole, mark, last = rest.rpartition(b"\n")
        for line in (whole + mark).splitlines(keepends=True):
            yield line
        held, size = [last], len(last)
    yield b"".join(held)


def read_batch(row: Mapping[str, object]) -> RemoteBatch:
    """Read what the service tells of a batch; what is missing or odd counts as not said.

    Raises:
        AttemptFailed: it has no name.
    """
    counts = row.get("request_counts")
    counts = counts if isinstance(counts, dict) else {}
    status = row.get("status")
    return RemoteBatch(
        id=_name(row),
        status=clean_text(status[:40]) if isinstance(status, str) else "",
        output_file=_file(row.get("output_file_id")),
        error_file=_file(row.get("error_file_id")),
        total=_count(counts.get("total")),
        completed=_count(counts.get("completed")),
        failed=_count(counts.get("failed")),
        problems=_problems(row.get("errors")),
    )


def _problems(errors: object) -> tuple[str, ...]:
    rows = errors.get("data") if isinstance(errors, dict) else errors
    told = []
    for row in rows if isinstance(rows, list) else []:
        message = row.get("message") if isinstance(row, dict) else row
        if isinstance(message, str) and message:
            told.append(" ".join(clean_text(message[:300]).split()))
    return tuple(dict.fromkeys(told))


def _object(raw: bytes) -> dict[str, object]:
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise AttemptFailed(transport_fault("an answer that isn't a JSON object"))
    return value


def _name(row: Mapping[str, object]) -> str:
    name = row.get("id")
    if not isinstance(name, str) or not 0 < len(name) <= 300:
        raise AttemptFailed(transport_fault("an answer without an id"))
    return clean_text(name)


def _file(given: object) -> str | None:
    return given if isinstance(given, str) and 0 < len(given) <= 300 else None


def _count(given: object) -> int:
    return given if isinstance(given, int) and not isinstance(given, bool) and given > 0 else 0
