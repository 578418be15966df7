"""Servers on this computer: found by who answers, never beyond it, never slowly."""

from __future__ import annotations

import socket
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from atom.engine.endpoints.servers import FoundServer, find_servers, usual_places
from atom.errors import SettingsError
from atom.judge.servers.presets import PRESETS
from atom.records import Prices


class _Handler(BaseHTTPRequestHandler):
    status, body = 200, b""

    def do_GET(self) -> None:
        self.send_response(self.status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(self.body)))
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def served():
    """Return a function that serves one answer at a port of its own: (status, body) -> address."""
    servers = []

    def serve(status: int, body: bytes) -> str:
        handler = type("Handler", (_Handler,), {"status": status, "body": body})
        server = HTTPServer(("127.0.0.1", 0), handler)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        servers.append((server, thread))
        return f"http://127.0.0.1:{server.server_port}/v1"

    yield serve
    for server, thread in servers:
        server.shutdown()
        thread.join(5)
        server.server_close()


@pytest.fixture
def silent():
    """Return the address of a server that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"


@pytest.mark.slow
async def test_who_lists_models_is_there(served, silent):
    models = b'{"object": "list", "data": [{"id": "llava:7b"}, {"id": "qwen2.5vl:7b"}]}'
    with socket.create_server(("127.0.0.1", 0)) as closed:
        nobody = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
    places = {
        served(200, models): PRESETS["ollama"],
        served(401, b'{"error": {"message": "no key"}}'): PRESETS["litellm"],
        served(200, b"<html>my wiki</html>"): PRESETS["vllm"],
        served(404, b"{}"): PRESETS["llama.cpp"],
        silent: PRESETS["sglang"],
        nobody: PRESETS["lm-studio"],
    }
    found = await find_servers(places, seconds=0.5)
    assert [(server.preset.name, server.models, server.wants_key) for server in found] == [
        ("ollama", ("llava:7b", "qwen2.5vl:7b"), False),
        ("litellm", (), True),
    ]
    assert found[0].address in places


async def test_nothing_beyond_this_computer_is_asked():
    with pytest.raises(SettingsError, match="isn't on this computer"):
        await find_servers({"http://10.0.0.7:8000/v1": PRESETS["vllm"]})


def test_the_usual_ports():
    ports = sorted(int(address.rsplit(":", 1)[1].split("/")[0]) for address in usual_places())
    assert ports == [1234, 4000, 8000, 8080, 11434, 30000]


def test_a_model_becomes_an_endpoint():
    server = FoundServer(
        preset=PRESETS["ollama"], address="http://127.0.0.1:11434/v1", models=("qwen2.5vl:7b",)
    )
    made = server.endpoint("qwen2.5vl:7b", ["qwen2.5vl:7b", "other"])
    assert made.name == "qwen2.5vl:7b (2)"
    assert (made.preset, made.boxes) == ("ollama", "xyxy_pixels")
    assert made.prices == Prices(input=0.0, output=0.0)
    proxy = FoundServer(
        preset=PRESETS["litellm"], address="http://127.0.0.1:4000/v1", models=("m",)
    )
    assert proxy.endpoint("m", ()).prices == Prices()
