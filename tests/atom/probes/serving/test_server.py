import json
import socket

import httpx2
import openai
import pytest

from atom.errors import SettingsError
from atom.probes.serving.config import ProbeConfig
from atom.probes.serving.endpoint import ProbeEndpoint
from atom.probes.serving.faults import FaultPlan
from atom.probes.serving.server import address, bind, serving


@pytest.fixture
def payload(chart, make_payload):
    return make_payload(chart.pictures, "model-b", "answer", text=chart.program.question)


async def test_the_server_answers_as_the_endpoint_does(payload):
    endpoint = ProbeEndpoint()
    local = json.loads(endpoint.respond(json.dumps(payload).encode()).body)
    with serving(endpoint) as url:
        assert url.startswith("http://127.0.0.1:")
        async with openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:
            remote = await client.chat.completions.create(**payload)
            names = [m.id async for m in client.models.list()]
            assert "probe-judge" in names
            with pytest.raises(openai.NotFoundError):
                await client.chat.completions.create(**{**payload, "model": "x"})
            pieces = [
                chunk.choices[0].delta.content or ""
                async for chunk in await client.chat.completions.create(**payload, stream=True)
            ]
        health = httpx2.get(url.removesuffix("/v1") + "/health")
    text = local["choices"][0]["message"]["content"]
    assert remote.choices[0].message.content == text == "".join(pieces)
    assert health.json() == {"status": "ok"}


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("rate_limit", openai.RateLimitError),
        ("reset", openai.APIConnectionError),
        ("stall", openai.APITimeoutError),
        ("truncated_body", json.JSONDecodeError),
    ],
)
async def test_faults_over_the_wire(payload, fault, error):
    config = ProbeConfig(faults=FaultPlan(rates={fault: 1.0}, stall=0.4))
    with serving(ProbeEndpoint(config)) as url:
        async with openai.AsyncOpenAI(
            base_url=url, api_key="none", max_retries=0, timeout=httpx2.Timeout(30, read=0.2)
        ) as client:
            with pytest.raises(error):
                await client.chat.completions.create(**payload)
            again = await client.chat.completions.create(
                **payload, extra_headers={"x-atomscope-attempt": "2"}, timeout=30
            )
    assert again.choices[0].message.content


def test_a_taken_port_is_refused():
    with bind("127.0.0.1", 0) as listener:
        listener.listen()
        port = listener.getsockname()[1]
        assert address(listener) == f"http://127.0.0.1:{port}/v1"
        with pytest.raises(SettingsError, match="free port"):
            bind("127.0.0.1", port)


@pytest.mark.parametrize(("host", "port"), [("127.0.0.1", 70_000), ("203.0.113.7", 0)])
def test_an_impossible_address_is_refused(host, port):
    with pytest.raises(SettingsError):
        bind(host, port)


def test_nothing_listens_after_the_block():
    with serving() as url:
        port = int(url.split(":")[2].split("/")[0])
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=1)
