"""The probe endpoint's batch service: `/v1/files` and `/v1/batches`, so that batches can be tried.

It is held in memory, and each look at a batch takes it one state further, so that no clock is
needed. Replies stand in an order of their own, as the real service's may.

Reference: OpenAI, "Batch API" guide; the shape of files, batches and their lines.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import parse_qs, urlsplit

from atom.probes.draws import Draws
from atom.probes.serving.config import ProbeConfig
from atom.probes.serving.endpoint import ProbeEndpoint
from atom.probes.serving.protocol import CREATED, HttpReply, error_reply, json_reply

CHAT = "/v1/chat/completions"
STATES = ("validating", "in_progress", "finalizing", "completed")
OVER = frozenset({"completed", "failed", "expired", "cancelled"})
Lines = list[dict[str, object]]
End = Literal["completed", "expired", "cancelled"]


@dataclass(kw_only=True)
class StoredFile:
    """A file at the service."""

    id: str
    name: str
    data: bytes
    purpose: str = "batch"

    @property
    def document(self) -> dict[str, object]:
        """What the service tells of it."""
        return {
            "id": self.id,
            "object": "file",
            "bytes": len(self.data),
            "created_at": CREATED,
            "filename": self.name,
            "purpose": self.purpose,
            "status": "processed",
        }


@dataclass(kw_only=True)
class StoredBatch:
    """A batch at the service."""

    id: str
    input_file: str
    tags: dict[str, object]
    status: str = "validating"
    output_file: str | None = None
    error_file: str | None = None
    total: int = 0
    completed: int = 0
    failed: int = 0
    problems: list[str] = field(default_factory=list)

    @property
    def document(self) -> dict[str, object]:
        """What the service tells of it."""
        rows = [{"code": "invalid", "message": text} for text in self.problems]
        return {
            "id": self.id,
            "object": "batch",
            "endpoint": CHAT,
            "completion_window": "24h",
            "created_at": CREATED,
            "input_file_id": self.input_file,
            "status": self.status,
            "output_file_id": self.output_file,
            "error_file_id": self.error_file,
            "errors": {"object": "list", "data": rows} if rows else None,
            "metadata": self.tags,
            "request_counts": {
                "total": self.total,
                "completed": self.completed,
                "failed": self.failed,
            },
        }


class BatchEndpoint(ProbeEndpoint):
    """A probe endpoint with a batch service.

    Args:
        config: the world's seed, latency and faults.
        states: the states that a batch goes through, one for each look.
    """

    def __init__(
        self, config: ProbeConfig | None = None, *, states: Sequence[str] = STATES
    ) -> None:
        super().__init__(config)
        self._states = tuple(states)
        self.files: dict[str, StoredFile] = {}
        self.batches: dict[str, StoredBatch] = {}

    def handle(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> HttpReply:
        """Answer an HTTP request; never raises."""
        parts = urlsplit(path).path.rstrip("/").removeprefix("/v1").strip("/").split("/")
        if parts[0] == "files":
            return self._file(method, parts[1:], headers, body)
        if parts[0] == "batches":
            return self._batch(method, parts[1:], body)
        return super().handle(method, path, headers, body)

    # Files

    def _file(
        self, method: str, parts: Sequence[str], headers: Mapping[str, str], body: bytes
    ) -> HttpReply:
        if method == "POST" and not parts:
            fields = read_form(headers.get("content-type", ""), body)
            if fields is None or "file" not in fields:
                return error_reply(400, "a multipart form with a field 'file' is needed")
            name, data = fields["file"]
            return json_reply(self.keep(name or "file", data).document)
        if method == "GET" and not parts:
            return _list([file.document for file in reversed(self.files.values())])
        found = self.files.get(parts[0]) if parts else None
        if method != "GET" or found is None or list(parts[1:]) not in ([], ["content"]):
            return error_reply(404, f"there is no {method} /v1/files/{'/'.join(parts)}")
        if len(parts) == 1:
            return json_reply(found.document)
        return HttpReply(
            status=200, headers={"content-type": "application/octet-stream"}, body=found.data
        )

    def keep(self, name: str, data: bytes, purpose: str = "batch") -> StoredFile:
        """Keep a file."""
        file = StoredFile(id=f"file-{len(self.files) + 1}", name=name, data=data, purpose=purpose)
        self.files[file.id] = file
        return file

    # Batches

    def _batch(self, method: str, parts: Sequence[str], body: bytes) -> HttpReply:
        if method == "POST" and not parts:
            return self._begin(body)
        if method == "GET" and not parts:
            return _list([batch.document for batch in reversed(self.batches.values())])
        batch = self.batches.get(parts[0]) if parts else None
        if batch is None:
            return error_reply(404, f"there is no batch {'/'.join(parts)!r}")
        if method == "GET" and len(parts) == 1:
            self._step(batch)
            return json_reply(batch.document)
        if method == "POST" and list(parts[1:]) == ["cancel"]:
            if batch.status not in OVER:
                self.finish(batch, [], "cancelled")
            return json_reply(batch.document)
        return error_reply(404, f"there is no {method} /v1/batches/{'/'.join(parts)}")

    def _begin(self, body: bytes) -> HttpReply:
        try:
            asked = json.loads(body)
        except (ValueError, RecursionError):
            return error_reply(400, "the body is not JSON")
        asked = asked if isinstance(asked, dict) else {}
        file_id, tags = asked.get("input_file_id"), asked.get("metadata")
        if not isinstance(file_id, str) or file_id not in self.files:
            return error_reply(400, f"there is no file {file_id!r}")
        if asked.get("endpoint") != CHAT:
            return error_reply(400, f"the endpoint must be {CHAT}")
        batch = StoredBatch(
            id=f"batch-{len(self.batches) + 1}",
            input_file=file_id,
            tags=tags if isinstance(tags, dict) else {},
        )
        self.batches[batch.id] = batch
        return json_reply(batch.document)

    def _step(self, batch: StoredBatch) -> None:
        """Take a batch one state further."""
        if batch.status in OVER:
            return
        if batch.status == "validating":
            lines, problems = read_requests(self.files[batch.input_file].data)
            batch.total, batch.problems = len(lines), problems
            if problems:
                batch.status = "failed"
                return
        at = self._states.index(batch.status) if batch.status in self._states else -1
        following = self._states[min(at + 1, len(self._states) - 1)]
        if following in OVER:
            lines, _ = read_requests(self.files[batch.input_file].data)
            self.finish(batch, [self.answer(line) for line in lines], _end(following))
        else:
            batch.status = following

    def answer(self, line: Mapping[str, object]) -> dict[str, object]:
        """Answer one request: a line of the output or of the error file."""
        body = json.dumps(line["body"], ensure_ascii=False).encode()
        reply = self.respond(body)
        try:
            told: object = json.loads(reply.body)
        except ValueError:
            told = reply.body.decode("utf-8", "replace")
        status = 500 if reply.wreck else reply.status
        return {
            "id": f"batch_req_{line['custom_id']}",
            "custom_id": line["custom_id"],
            "response": {"status_code": status, "request_id": "probe", "body": told},
            "error": None,
        }

    def finish(self, batch: StoredBatch, answers: Sequence[Mapping[str, object]], end: End) -> None:
        """Write the files of replies and errors, and end the batch."""
        good: Lines = []
        bad: Lines = []
        for answer in answers:
            response = answer.get("response")
            status = response.get("status_code") if isinstance(response, dict) else None
            (good if status == 200 else bad).append(dict(answer))
        for lines in (good, bad):
            lines.sort(key=lambda line: Draws("order", str(line.get("custom_id"))).uniform())
        if good:
            batch.output_file = self.keep(f"{batch.id}_output.jsonl", jsonl(good), "output").id
        if bad:
            batch.error_file = self.keep(f"{batch.id}_error.jsonl", jsonl(bad), "output").id
        batch.completed, batch.failed, batch.status = len(good), len(bad), end


def _end(state: str) -> End:
    return "expired" if state == "expired" else "cancelled" if state == "cancelled" else "completed"


def _list(rows: Sequence[Mapping[str, object]]) -> HttpReply:
    return json_reply({"object": "list", "data": list(rows), "has_more": False})


def jsonl(lines: Sequence[Mapping[str, object]]) -> bytes:
    """Return lines of JSON."""
    return b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines)


def read_requests(data: bytes) -> tuple[Lines, list[str]]:
    """Read a file of requests as strictly as the real service does.

    Returns:
        The requests, and what is wrong with the file.
    """
    lines: Lines = []
    names: set[str] = set()
    problems = []
    for number, raw in enumerate(data.split(b"\n"), start=1):
        if not raw.strip():
            continue
        try:
            line = json.loads(raw)
        except (ValueError, RecursionError):
            line = None
        name = line.get("custom_id") if isinstance(line, dict) else None
        if not isinstance(line, dict) or not isinstance(name, str):
            problems.append(f"line {number} is no request with a custom_id")
        elif name in names:
            problems.append(f"line {number}: the custom_id {name!r} stands there twice")
        elif line.get("method") != "POST" or line.get("url") != CHAT:
            problems.append(f"line {number} must POST to {CHAT}")
        elif not isinstance(line.get("body"), dict):
            problems.append(f"line {number} has no body")
        else:
            names.add(name)
            lines.append(line)
    if not lines and not problems:
        problems.append("the file is empty")
    models = {str(body.get("model")) for x in lines if isinstance(body := x["body"], dict)}
    if len(models) > 1:
        problems.append(f"one model a file is allowed, not {', '.join(sorted(models))}")
    return lines, problems


def read_form(content_type: str, body: bytes) -> dict[str, tuple[str, bytes]] | None:
    """Read a multipart form: file name and content by field; None when it is none."""
    kind, _, rest = content_type.partition(";")
    boundary = parse_qs(rest.strip().replace(";", "&")).get("boundary", [""])[0].strip('"')
    if kind.strip().lower() != "multipart/form-data" or not boundary:
        return None
    fields: dict[str, tuple[str, bytes]] = {}
    mark = b"--" + boundary.encode()
    for part in (b"\r\n" + body).split(b"\r\n" + mark)[1:-1]:
        head, _, content = part.partition(b"\r\n\r\n")
        words = head.decode("utf-8", "replace")
        fields[_attribute(words, "name")] = (_attribute(words, "filename"), content)
    return fields


def _attribute(head: str, name: str) -> str:
    for piece in head.replace("\r\n", ";").split(";"):
        key, _, value = piece.strip().partition("=")
        if key.lower() == name:
            return value.strip('"')
    return ""
