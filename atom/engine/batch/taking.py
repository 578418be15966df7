"""Takes the replies of batches in: from any files, in any order, with whatever is missing.

A line is read as a live reply is. What can be used becomes the call's record, after which a run
finds it as if it had been asked live. A reply that can't be read, or was cut, is asked for once
more in the next batch, as the client does at once. Nothing of a good reply is ever replaced.

Reference: OpenAI, "Batch API" guide, output and error file formats.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal

from atom.engine.batch.files import (
    Failure,
    Ledger,
    Parcel,
    batch_folder,
    holding,
    learned_of,
    list_parcels,
    load_ledger,
    read_index,
    save_ledger,
    save_parcel,
)
from atom.engine.batch.lines import parse_line, read_lines, read_outcome
from atom.engine.clock import Clock, utc_now
from atom.errors import UsageError
from atom.judge import Request
from atom.judge.exchange import Exchange, judge_completion, more_tokens
from atom.judge.noting import EndpointLessons, Entry, UnfinishedReply
from atom.judge.replies.completion import Completion
from atom.judge.retry import Fault, advice
from atom.judge.servers.dialect import THIS_REQUEST, SentRequest
from atom.judge.usage import CostEstimate
from atom.records import Call, Endpoint, Prices
from atom.store import Store
from atom.store.holds import add_cost, replied_calls, replied_now

_TOGETHER = 200
_UNPRICED = CostEstimate(prompt_tokens=0, completion_tokens=0, cost=None, most=None)
Kind = Literal["failed", "again", "unusable", "reply", "known"]
RANK: Mapping[Kind, int] = {"failed": 1, "again": 2, "unusable": 3, "reply": 4, "known": 5}
"""Of two lines about one request, the one that ranks higher counts."""


@dataclass(frozen=True, kw_only=True)
class BatchReplies:
    """What the files brought.

    Args:
        lines: lines read.
        replies: requests that have a usable reply now.
        unusable: requests whose reply is kept and can't be used: refused, filtered, empty, or
            unreadable for the second time.
        again: requests whose reply was cut or unreadable, and that are asked once more.
        failed: requests that failed.
        known: requests that had a reply already.
        repeated: lines about a request that a better or an equal line was about.
        foreign: lines about requests that no batch of this store holds.
        broken: lines that aren't the reply to anything: half lines, no JSON, no custom_id.
        missing: requests of the batches that no line was about.
        taught: endpoints of which a refusal has taught how they want to be asked.
        cost: USD, as far as it is known.
        errors: the commonest errors, in words.
        parcels: names of the batches that the lines belong to.
    """

    lines: int = 0
    replies: int = 0
    unusable: int = 0
    again: int = 0
    failed: int = 0
    known: int = 0
    repeated: int = 0
    foreign: int = 0
    broken: int = 0
    missing: int = 0
    taught: int = 0
    cost: float = 0.0
    errors: tuple[str, ...] = ()
    parcels: tuple[str, ...] = ()

    @property
    def brought(self) -> int:
        """Requests that got further by it."""
        return self.replies + self.unusable + self.again + self.known

    @property
    def words(self) -> list[str]:
        """What the files brought, a sentence or two a line."""
        told = [
            (self.replies, "replies taken in"),
            (self.unusable, "kept that can't be used (refused, filtered, empty or unreadable)"),
            (self.again, "cut or unreadable: asked once more in the next batch"),
            (self.failed, "failed"),
            (self.known, "had a reply already; it stays"),
            (self.repeated, "lines repeat another"),
            (self.foreign, "lines belong to no batch of this store"),
            (self.broken, "lines can't be read (cut off, no JSON, or no custom_id)"),
            (self.missing, "have no line in these files: the next `run batch write` asks them "
             "again; take the other file first where there is one"),
        ]  # fmt: skip
        lines = [f"{count:,} {words}" for count, words in told if count]
        lines += [f"most often: {error}" for error in self.errors[:2]]
        return lines or ["the files are empty"]


@dataclass(kw_only=True)
class _Book:
    """What is known of one request while files are read."""

    entry: Entry
    parcel: Parcel
    kind: Kind | None = None
    cost: float = 0.0


@dataclass(kw_only=True)
class _Account:
    """What is found while files are read."""

    lines: int = 0
    repeated: int = 0
    foreign: int = 0
    broken: int = 0
    mine: set[str] = field(default_factory=set)
    failures: dict[str, Failure] = field(default_factory=dict)
    unfinished: dict[str, UnfinishedReply] = field(default_factory=dict)
    learned: dict[str, EndpointLessons] = field(default_factory=dict)
    errors: Counter[str] = field(default_factory=Counter)


def take_replies(store: Store, files: Sequence[Path], *, clock: Clock = utc_now) -> BatchReplies:
    """Take in files of replies and errors.

    Args:
        files: output and error files, in any order.
        clock: UTC time, for records.

    Returns:
        What they brought, by kind.

    Raises:
        UsageError: there is no such file, no batch was ever written here, or another process is
            busy with the batches.
        CorruptError: what is known of a batch can't be read.
    """
    for file in files:
        if not file.is_file():
            raise UsageError(f"there is no file {str(file)!r}")
    if not batch_folder(store).is_dir():
        raise UsageError(
            "no batch was written from this store, so no reply can belong to it; a pair of request "
            "and reply files made elsewhere is taken in by `import openai-batch`"
        )
    with holding(store, "files"):
        return _Taking(store, clock()).take(files)


class _Taking:
    def __init__(self, store: Store, now: datetime) -> None:
        self._store = store
        self._now = now
        self._parcels = list_parcels(store)
        self._ledger = load_ledger(store)
        self._requests: dict[str, _Book] = {}
        for parcel in self._parcels:
            for entry in read_index(store, parcel):
                before = self._requests.get(entry.custom_id)
                if before is None or parcel.waits or not before.parcel.waits:
                    self._requests[entry.custom_id] = _Book(entry=entry, parcel=parcel)
        self._found = _Account()

    def take(self, files: Sequence[Path]) -> BatchReplies:
        found = self._found
        waiting: list[tuple[_Book, Completion | Fault]] = []
        for raw in (line for file in files for line in read_lines(file)):
            found.lines += 1
            read = self._read(raw)
            if read is None:
                continue
            waiting.append(read)
            if len(waiting) >= _TOGETHER:
                self._write(waiting)
                waiting = []
        self._write(waiting)
        self._keep_ledger()
        return self._close()

    def _read(self, raw: bytes | None) -> tuple[_Book, Completion | Fault] | None:
        """Read a line; one that can't be used is counted."""
        value = parse_line(raw)
        if value is None:
            self._found.broken += 1
            return None
        book = self._requests.get(str(value["custom_id"]))
        if book is None:
            self._found.foreign += 1
            return None
        outcome = read_outcome(value, sent=_sent(book))
        if outcome is None:
            self._found.broken += 1
            return None
        return book, outcome

    # Each line

    def _write(self, lines: Sequence[tuple[_Book, Completion | Fault]]) -> None:
        """Write what some lines brought, in one transaction."""
        if not lines:
            return
        ids = {book.entry.call_id for book, _ in lines} - self._found.mine
        paid: dict[str, float] = {}
        with self._store.write() as writer:
            known = replied_now(writer, ids)
            for book, outcome in lines:
                if book.entry.call_id in known:
                    self._rank(book, "known")
                    continue
                call = self._judge(book, outcome)
                if call is None:
                    continue
                writer.replace([call])
                run_id, cost = book.parcel.run_id, call.cost or 0.0
                paid[run_id] = paid.get(run_id, 0.0) + cost - book.cost
                book.cost = cost
                if call.reply is not None:
                    self._found.mine.add(call.id)
            for run_id, cost in paid.items():
                if cost:
                    add_cost(writer, run_id, cost)

    def _rank(self, book: _Book, kind: Kind) -> bool:
        """Let the better of two lines count; True when this one is the better."""
        if book.kind is not None:
            self._found.repeated += 1
            if RANK[kind] <= RANK[book.kind]:
                return False
        book.kind = kind
        return True

    def _judge(self, book: _Book, outcome: Completion | Fault) -> Call | None:
        """Say what a line amounts to; None = there is no record to write."""
        if isinstance(outcome, Fault):
            return self._fail(book, outcome)
        entry, parcel = book.entry, book.parcel
        request = _request(entry, parcel)
        verdict = judge_completion(request, outcome)
        exchange = self._exchange(entry)
        exchange.pay(batch_priced(parcel.endpoint), outcome.usage, _UNPRICED)
        text = outcome.content or outcome.refusal or ""
        call = exchange.record(
            parcel.endpoint,
            self._now,
            reply=text,
            finish="refusal" if outcome.refusal else outcome.finish,
        )
        before = entry.earlier
        lengthened = before is not None and before.lengthened
        repaired = before is not None and before.repaired
        next_turn = None
        if verdict.state == "cut" and not lengthened and not repaired:
            next_turn = UnfinishedReply(
                call=call,
                reason=verdict.reason,
                max_tokens=more_tokens(entry.max_tokens, outcome.usage),
                lengthened=True,
                turns=exchange.attempts,
            )
        elif verdict.state == "unreadable" and not repaired:
            next_turn = UnfinishedReply(
                call=call,
                reason=verdict.reason,
                max_tokens=entry.max_tokens,
                lengthened=lengthened,
                repaired=True,
                turns=exchange.attempts,
            )
        if next_turn is not None:
            if self._rank(book, "again"):
                there = self._ledger.unfinished.get(entry.call_id)
                # A file that is taken in again mustn't undo a later turn.
                if there is None or there.turns <= next_turn.turns:
                    self._found.unfinished[entry.call_id] = next_turn
                self._found.failures.pop(entry.call_id, None)
            return None
        if not self._rank(book, "reply" if verdict.state == "ok" else "unusable"):
            return None
        self._found.unfinished.pop(entry.call_id, None)
        self._found.failures.pop(entry.call_id, None)
        return call

    def _exchange(self, entry: Entry) -> Exchange:
        """Open the books of a call where the turns before have left them."""
        exchange = Exchange(
            request=_request(entry, None), hash=entry.request_hash, form=entry.form, attempts=1
        )
        if entry.earlier is not None:
            first = entry.earlier.call
            exchange.attempts = entry.earlier.turns + 1
            exchange.usage, exchange.cost = first.usage, first.cost
            exchange.repaired = entry.earlier.repaired
        return exchange

    def _fail(self, book: _Book, fault: Fault) -> Call | None:
        entry, parcel = book.entry, book.parcel
        if not self._rank(book, "failed"):
            return None
        endpoint = parcel.endpoint
        message = f"Endpoint {endpoint.name!r} ({endpoint.host}), in a batch: {fault.message}"
        permanent = fault.kind in ("permanent", "picture", "form")
        if fault.kind == "refused":
            permanent = not self._learn(book, fault)
        before = self._ledger.failures.get(entry.call_id)
        # A refusal that has taught something doesn't count as a try.
        counted = (parcel.name,) if permanent or fault.kind in ("transient", "quota") else ()
        tried = dict.fromkeys((*(before.parcels if before else ()), *counted))
        self._found.errors[message] += 1
        told = f"{message} {advice(fault, endpoint)}"
        self._found.failures[entry.call_id] = Failure(
            parcels=tuple(tried), message=told, permanent=permanent
        )
        if entry.earlier is not None:
            return None
        return self._exchange(entry).record(endpoint, self._now, error=told)

    def _learn(self, book: _Book, fault: Fault) -> bool:
        """Learn from a refusal how the next batch is to ask; False when it's about one request."""
        lessons = [lesson for lesson in fault.lessons if lesson.only != THIS_REQUEST]
        endpoint = book.parcel.endpoint
        known = self._found.learned.get(endpoint.name) or learned_of(self._ledger, endpoint)
        self._found.learned[endpoint.name] = EndpointLessons(
            lessons=known.dialect.joined(lessons).lessons
        )
        return bool(lessons)

    # The end

    def _keep_ledger(self) -> None:
        done = {b.entry.call_id for b in self._requests.values() if b.kind in _DONE}
        found, ledger = self._found, self._ledger
        failures = {**ledger.failures, **found.failures}
        unfinished = {**ledger.unfinished, **found.unfinished}
        self._ledger = Ledger(
            failures={name: one for name, one in failures.items() if name not in done},
            unfinished={name: one for name, one in unfinished.items() if name not in done},
            learned={**ledger.learned, **found.learned},
        )
        save_ledger(self._store, self._ledger)

    def _close(self) -> BatchReplies:
        """Note in each batch what came of it, and count."""
        new = Counter(book.kind for book in self._requests.values() if book.kind is not None)
        names = {book.parcel.name for book in self._requests.values() if book.kind is not None}
        mine = [book for book in self._requests.values() if book.parcel.name in names]
        standing = self._standing(mine)
        missing = 0
        for parcel in self._parcels:
            if parcel.name in names:
                missing += standing[parcel.name][None]
                self._note(parcel, standing[parcel.name])
        found = self._found
        return BatchReplies(
            lines=found.lines,
            replies=new["reply"],
            unusable=new["unusable"],
            again=new["again"],
            failed=new["failed"],
            known=new["known"],
            repeated=found.repeated,
            foreign=found.foreign,
            broken=found.broken,
            missing=missing,
            taught=len(found.learned),
            cost=sum(book.cost for book in self._requests.values()),
            errors=tuple(error for error, _ in found.errors.most_common(3)),
            parcels=tuple(sorted(names)),
        )

    def _standing(self, books: Sequence[_Book]) -> dict[str, Counter[Kind | None]]:
        """Count by batch how its requests stand, files that were taken in earlier included."""
        silent = sorted({book.entry.call_id for book in books if book.kind is None})
        there = replied_calls(self._store, silent)
        counts: dict[str, Counter[Kind | None]] = {}
        for book in books:
            kind, name = book.kind, book.entry.call_id
            failure = self._ledger.failures.get(name)
            if kind is None and name in there:
                kind = "known"
            elif kind is None and name in self._ledger.unfinished:
                kind = "again"
            elif kind is None and failure is not None:
                kind = "failed"
            counts.setdefault(book.parcel.name, Counter())[kind] += 1
        return counts

    def _note(self, parcel: Parcel, mine: Counter[Kind | None]) -> None:
        save_parcel(
            self._store,
            parcel.model_copy(
                update={
                    "state": "taken",
                    "replies": sum(mine[kind] for kind in _DONE) + mine["again"],
                    "failures": mine["failed"],
                    "missing": mine[None],
                }
            ),
        )


_DONE: tuple[Kind, ...] = ("reply", "unusable", "known")


def _request(entry: Entry, parcel: Parcel | None) -> Request:
    """Make what the readers of replies need of a request."""
    schema = parcel.schemas.get(entry.schema_key) if parcel is not None else None
    return Request(
        task=entry.task,
        prompt_id=entry.prompt,
        system="",
        parts=(),
        schema=schema,
        schema_name=entry.schema_name,
        repeat=entry.repeat,
    )


def batch_priced(endpoint: Endpoint) -> Endpoint:
    """Return the endpoint with the prices that a batch pays."""
    prices, share = endpoint.prices, endpoint.prices.batch_share
    if share is None:
        return endpoint
    cut = {
        name: None if price is None else price * share
        for name in ("input", "output", "cached_input")
        for price in (getattr(prices, name),)
    }
    return endpoint.model_copy(update={"prices": Prices(**cut)})


def _sent(book: _Book) -> SentRequest:
    schema = book.parcel.schemas.get(book.entry.schema_key)
    return book.entry.sent(book.parcel.endpoint, schema)
