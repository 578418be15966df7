from __future__ import annotations

import asyncio
import json

import pytest

from atom.errors import SettingsError
from atom.judge import CallGaveUp, CallRefused
from atom.judge.batches import BatchService, read_batch
from atom.judge.retry import AttemptFailed
from atom.judge.timing import Timing
from atom.records import Endpoint


async def no_wait(_: float) -> None:
    return


def ask(script, work, **more):
    async def go():
        server = await asyncio.start_server(script.serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        endpoint = Endpoint(
            name="e", base_url=f"http://127.0.0.1:{port}/v1", model="m", max_tries=2, **more
        )
        timing = Timing(sleep=no_wait, random=lambda: 0.0)
        try:
            async with BatchService(
                endpoint, timing=timing, environ={"THE_KEY": "sk-secret"}
            ) as service:
                return await work(service)
        finally:
            server.close()
            await script.stop()

    return asyncio.run(go())


class Script:
    """Answers each request by the next (status, body); the last one is repeated."""

    def __init__(self, *answers) -> None:
        self.answers = answers
        self.seen: list[tuple[str, dict[str, str], bytes]] = []

    async def stop(self) -> None:
        return

    async def serve(self, reader, writer) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in head[1:] if ": " in line)
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        status, told = self.answers[min(len(self.seen), len(self.answers) - 1)]
        self.seen.append((head[0], headers, body))
        data = told if isinstance(told, bytes) else json.dumps(told).encode()
        writer.write(
            f"HTTP/1.1 {status} X\r\nContent-Length: {len(data)}\r\nConnection: close\r\n"
            "Content-Type: application/json\r\n\r\n".encode()
            + data
        )
        await writer.drain()
        writer.close()


BATCH = {"id": "b1", "status": "in_progress", "request_counts": {"total": 3, "completed": 1}}


def test_a_file_goes_up_as_a_form_with_the_key(tmp_path):
    file = tmp_path / "r.jsonl"
    file.write_bytes(b'{"custom_id": "a"}\n')
    script = Script((404, {"error": {"message": "no lists here"}}), (200, {"id": "file-9"}))
    assert ask(script, lambda s: s.upload(file), key_env="THE_KEY") == "file-9"
    (first, headers, _), (second, form, body) = script.seen
    assert first.startswith("GET /v1/files?purpose=batch")
    assert second.startswith("POST /v1/files ")
    assert form["content-type"].startswith("multipart/form-data")
    assert headers["authorization"] == "bearer sk-secret"
    assert b'filename="atomscope-r.jsonl"' in body
    assert b'{"custom_id": "a"}\n' in body


def test_a_file_or_a_batch_that_is_there_is_not_made_again(tmp_path):
    file = tmp_path / "r.jsonl"
    file.write_bytes(b"12345")
    there = {"data": [{"id": "other", "filename": "atomscope-r.jsonl", "bytes": 4},
                      {"id": "mine", "filename": "atomscope-r.jsonl", "bytes": 5}]}  # fmt: skip
    script = Script((200, there))
    assert ask(script, lambda s: s.upload(file)) == "mine"
    assert "authorization" not in script.seen[0][1]
    script = Script((200, {"data": [7, {**BATCH, "metadata": {"atomscope": "ours"}}]}))
    found = ask(script, lambda s: s.create("f", "ours"))
    assert (found.id, found.total, found.completed) == ("b1", 3, 1)
    assert len(script.seen) == 1


def test_a_batch_that_may_have_begun_is_looked_for_before_another_try():
    script = Script((200, {"data": []}), (503, {}), (200, {"data": []}), (200, BATCH))
    assert ask(script, lambda s: s.create("f", "ours")).id == "b1"
    assert [line.split()[0] for line, _, _ in script.seen] == ["GET", "POST", "GET", "POST"]
    assert json.loads(script.seen[-1][2]) == {
        "input_file_id": "f",
        "endpoint": "/v1/chat/completions",
        "completion_window": "24h",
        "metadata": {"atomscope": "ours"},
    }


@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [
        ((401, {"error": {"message": "bad key sk-secret"}}), CallRefused, r"\[key\]"),
        ((404, {}), CallRefused, "no batch service"),
        ((500, {}), CallGaveUp, "HTTP 500"),
        ((200, b"<html>"), CallGaveUp, "JSON object"),
        ((200, {"status": "completed"}), CallGaveUp, "without an id"),
    ],
)
def test_a_service_that_does_not_answer_well_ends_in_a_sentence(answer, error, words):
    with pytest.raises(error, match=words):
        ask(Script(answer), lambda s: s.retrieve("b1"), key_env="THE_KEY")


def test_a_download_is_there_whole_or_not_at_all(tmp_path):
    place = tmp_path / "out.jsonl"
    ask(Script((200, b"one\ntwo\n")), lambda s: s.download("f", place))
    assert place.read_bytes() == b"one\ntwo\n"
    missing = tmp_path / "none.jsonl"
    with pytest.raises(CallRefused):
        ask(Script((404, {})), lambda s: s.download("f", missing))
    assert [path.name for path in tmp_path.iterdir()] == ["out.jsonl"]


def test_a_line_that_does_not_end_is_held_in_no_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("atom.judge.batches.LONGEST_LINE", 100_000)
    place = tmp_path / "out.jsonl"
    kept = [b"one\n", b"y" * 90_000 + b"\n", b"two\n", b"three"]
    for long in (b"x" * 300_000 + b"\n", b"x" * 100_001 + b"\n"):
        body = b"".join([kept[0], long, *kept[1:]])
        ask(Script((200, body)), lambda s: s.download("f", place))
        assert place.read_bytes() == b"".join(kept)
    ask(Script((200, b"one\n" + b"x" * 300_000)), lambda s: s.download("f", place))
    assert place.read_bytes() == b"one\n"


def test_the_key_must_be_set():
    with pytest.raises(SettingsError, match="OTHER_KEY"):
        ask(Script((200, BATCH)), lambda s: s.retrieve("b1"), key_env="OTHER_KEY")


def test_odd_batches_are_read():
    odd = {"id": "b", "status": 7, "output_file_id": 3, "request_counts": [], "errors": {
        "data": [{"message": "too\nbig"}, {"message": "too\nbig"}, 5]}}  # fmt: skip
    found = read_batch(odd)
    assert (found.status, found.output_file, found.total) == ("", None, 0)
    assert found.problems == ("too big",)
    with pytest.raises(AttemptFailed):
        read_batch({"id": ""})
