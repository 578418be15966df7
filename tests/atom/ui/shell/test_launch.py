"""Where the app listens, and under which names."""

from __future__ import annotations

import asyncio
import socket
import stat

import pytest

from atom.errors import UsageError
from atom.settings import load_settings
from atom.ui.shell import launch


def start(tmp_path, **options):
    settings = load_settings({}, store=str(tmp_path))
    launch.launch(settings, say=lambda opened: None, headless=True, **options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"port": 0}, "1 to 65535"),
        ({"port": 70000}, "1 to 65535"),
        ({"address": "example.org"}, "isn't an IP address"),
        ({"address": "0.0.0.0"}, "--name"),
        ({"address": "::"}, "--name"),
        ({"names": ["http://example.org"]}, "isn't a host's name"),
        ({"names": ["example.org:80"]}, "isn't a host's name"),
    ],
)
def test_what_cant_be_listened_to_is_said(options, words, tmp_path):
    with pytest.raises(UsageError, match=words):
        start(tmp_path, **options)


def test_a_browser_is_opened_by_a_file_that_only_the_user_reads(tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr(launch.webbrowser, "open", opened.append)
    note = tmp_path / "store" / "open-8501.html"
    launch._open_browser(note, "http://127.0.0.1:8501/?enter=abc&x=1")
    assert opened == [note.resolve().as_uri()]
    assert "abc" not in opened[0]
    assert stat.S_IMODE(note.stat().st_mode) == 0o600
    assert "url=http://127.0.0.1:8501/?enter=abc&amp;x=1" in note.read_text("utf-8")


def test_without_a_server_nothing_is_bare():
    assert not launch.is_bare()


def test_pieces_of_an_answer_are_sent_as_they_are_written():
    """Streamlit's socket leaves its protocol open, which asyncio takes for no TCP at all."""

    async def delays(*, mended):
        loop, held = asyncio.get_running_loop(), asyncio.Event()
        if mended:
            launch.send_at_once(loop)
        listener = socket.socket(socket.AF_INET)
        listener.bind((launch.LOOPBACK, 0))
        found = []

        class Server(asyncio.Protocol):
            def connection_made(self, transport):
                own = transport.get_extra_info("socket")
                found.append(own.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
                held.set()

        server = await loop.create_server(Server, sock=listener)
        _, writer = await asyncio.open_connection(*listener.getsockname())
        await held.wait()
        writer.close()
        server.close()
        return not found[0]

    assert asyncio.run(delays(mended=False))
    assert not asyncio.run(delays(mended=True))
