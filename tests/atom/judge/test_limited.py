"""What a server sends is read up to a limit, packed or not, and then no further."""

from __future__ import annotations

import gzip
import json
import resource
import zlib

import pytest

from atom.judge import CallRefused
from atom.judge.limited import MOST_FILE, MOST_REPLY, Unpacker, most_of

BODY = json.dumps(
    {
        "choices": [{"finish_reason": "stop", "message": {"content": '{"score": 4}'}}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10},
    }
).encode()


def bomb(megabytes: int) -> bytes:
    """Pack zeros; 1 MB packs to 1 kB."""
    packer = zlib.compressobj(9, wbits=31)
    piece = b" " * 1_000_000
    return b"".join([*(packer.compress(piece) for _ in range(megabytes)), packer.flush()])


def endless(head: bytes, piece: bytes):
    """Serve without end."""

    async def act(script, writer):
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n" + head + b"\r\n\r\n")
        while True:
            writer.write(piece)
            await writer.drain()

    return act


@pytest.mark.parametrize(
    ("packed", "encoding"),
    [
        (gzip.compress(BODY), "gzip"),
        (gzip.compress(BODY[:20]) + gzip.compress(BODY[20:]), "x-gzip"),
        (zlib.compress(BODY), "deflate"),
        (zlib.compress(BODY)[2:-4], "deflate"),
        (BODY, "identity"),
    ],
)
async def test_packed_replies_are_unpacked(server, make_client, scoring, packed, encoding):
    server.plan(server.http(200, packed, Content_Encoding=encoding))
    assert (await make_client().ask(scoring)).data == {"score": 4}
    assert server.seen[0].headers["accept-encoding"] == "gzip, deflate"


@pytest.mark.slow
async def test_a_gzip_bomb_is_unpacked_no_further_than_the_limit(server, make_client, scoring):
    """Fall 5 of design/074."""
    packed = bomb(200)
    assert len(packed) < 250_000
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    server.plan(server.http(200, packed, Content_Encoding="gzip"))
    with pytest.raises(CallRefused, match="longer than 16 MB"):
        await make_client().ask(scoring)
    assert server.n == 1  # asked again it would be as long
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kB


@pytest.mark.parametrize(
    ("head", "piece"),
    [
        (b"Content-Type: application/json", b" " * 65_536),
        (b"Content-Type: text/event-stream", b"data: " + b"x" * 65_536),
        (b"Content-Type: text/event-stream", b": " + b"x" * 65_536 + b"\n\n"),
    ],
)
async def test_an_endless_body_is_read_no_further_than_the_limit(
    server, make_client, scoring, free_text, head, piece
):
    server.plan(endless(head, piece))
    with pytest.raises(CallRefused, match="longer than 16 MB"):
        await make_client().ask(scoring)
    with pytest.raises(CallRefused, match="longer than 16 MB"):
        async for _ in make_client().stream(free_text):
            pass


async def test_an_error_with_an_endless_body_is_read_no_further(server, make_client, scoring):
    async def act(script, writer):
        writer.write(b"HTTP/1.1 400 No\r\nConnection: close\r\n\r\n")
        while True:
            writer.write(b"x" * 65_536)
            await writer.drain()

    server.plan(act)
    with pytest.raises(CallRefused, match="longer than 16 MB"):
        await make_client().ask(scoring)


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip"])
async def test_what_was_not_offered_is_refused(server, make_client, scoring, encoding):
    server.plan(server.http(200, BODY, Content_Encoding=encoding))
    with pytest.raises(Exception, match="is packed as"):
        await make_client(max_tries=1).ask(scoring)


async def test_what_is_not_packed_as_it_says_is_a_sentence(server, make_client, scoring):
    server.plan(server.http(200, b"never packed", Content_Encoding="gzip"))
    with pytest.raises(Exception, match="can't be unpacked"):
        await make_client(max_tries=1).ask(scoring)


def test_pieces_are_never_large():
    unpacker = Unpacker()
    sizes = [len(piece) for piece in unpacker.pieces(bomb(20))]
    assert sum(sizes) == 20_000_000
    assert max(sizes) <= 1 << 18


def test_files_of_replies_may_be_longer():
    assert most_of("/v1/files/file-1/content") == MOST_FILE
    assert most_of("/v1/chat/completions") == MOST_REPLY
    assert MOST_REPLY < most_of("/v1/embeddings") < MOST_FILE
